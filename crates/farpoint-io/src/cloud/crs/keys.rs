//! GeoTIFF keys (records 34735 to 34737), in which most LAS files before 1.4 state their coordinate system.

use super::{Crs, registry};

pub(super) const DIRECTORY: u16 = 34735;
pub(super) const DOUBLES: u16 = 34736;
pub(super) const ASCII: u16 = 34737;

/// The value of a code that the file defines itself.
const USER_DEFINED: u16 = 32767;

/// The system of the heights.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Vertical {
    /// Name for messages.
    pub(crate) name: String,
    /// The EPSG code, if its definition is known.
    pub(crate) epsg: Option<u32>,
}

/// Meters of a unit, or the code of one that is not known.
type Unit = Result<f64, u32>;

/// The keys, and the records that hold their numbers and texts.
#[derive(Clone, Copy)]
pub(super) struct Keys<'a> {
    pub(super) directory: &'a [u8],
    pub(super) doubles: &'a [u8],
    pub(super) ascii: &'a [u8],
}

impl Keys<'_> {
    /// Returns place, count and value of a key: four numbers each, the first four describe the directory.
    fn entry(&self, id: u16) -> Option<[u16; 3]> {
        let (keys, _) = self.directory.as_chunks::<8>();
        let key = |key: &[u8; 8]| [0, 2, 4, 6].map(|at| u16::from_le_bytes([key[at], key[at + 1]]));
        let [_, place, count, value] = keys.iter().skip(1).map(key).find(|key| key[0] == id)?;
        Some([place, count, value])
    }

    fn value(&self, id: u16) -> Option<u16> {
        self.entry(id).filter(|[place, ..]| *place == 0).map(|[.., value]| value)
    }

    fn code(&self, id: u16) -> Option<u32> {
        self.value(id).filter(|&code| code > 0 && code != USER_DEFINED).map(u32::from)
    }

    fn text(&self, id: u16) -> Option<String> {
        let [_, length, start] = self.entry(id).filter(|[place, ..]| *place == ASCII)?;
        let bytes = self.ascii.get(usize::from(start)..)?.get(..usize::from(length))?;
        let text = String::from_utf8_lossy(bytes);
        let text = text.trim_matches(|c: char| c == '|' || c == '\0' || c.is_whitespace());
        (!text.is_empty()).then(|| text.to_owned())
    }

    /// Returns a unit: by its code, or its size if the file defines it.
    fn unit(&self, id: u16) -> Option<Unit> {
        if let Some(code) = self.code(id) {
            return Some(registry::unit(code).ok_or(code));
        }
        let [_, _, at] = self.entry(id + 1).filter(|[place, ..]| *place == DOUBLES)?;
        let (doubles, _) = self.doubles.as_chunks();
        let meters = f64::from_le_bytes(*doubles.get(usize::from(at))?);
        (meters.is_finite() && meters > 0.0).then_some(Ok(meters))
    }

    /// Returns the system that the keys state.
    pub(super) fn crs(&self) -> Option<Crs> {
        let has = |id: u16| self.value(id).is_some_and(|value| value > 0);
        let model = match self.value(1024) {
            Some(model @ 1..=3) => Some(model),
            _ if has(3072) => Some(1),
            _ => has(2048).then_some(2),
        };
        let (projected, geodetic) = (self.code(3072), self.code(2048));
        let is_base = |code: &u32| Crs::of_code(*code).is_none_or(|crs| crs.geographic);
        let stated = match model {
            // The geographic system is the base of a projected one, unless the keys are swapped.
            Some(1) => projected.or_else(|| geodetic.filter(|code| !is_base(code))),
            Some(2) => geodetic.or(projected),
            _ => geodetic.and_then(registry::geocentric),
        };
        let own = self.unit(if model == Some(3) { 2052 } else { 3076 });
        let horizontal = match stated {
            Some(code) => Some(self.of_code(code, model == Some(2), own)),
            None => self.of_own(model, own),
        };
        let vertical = self.vertical();
        let names = horizontal.iter().map(|crs| &crs.name);
        let names: Vec<&str> =
            names.chain(vertical.iter().map(|heights| &heights.name)).map(String::as_str).collect();
        let name = (!names.is_empty()).then(|| names.join(" + "))?;
        let of_heights =
            vertical.as_ref().and_then(|vertical| Crs::of_code(vertical.epsg?)?.heights);
        let crs = horizontal.unwrap_or_else(|| Crs::named(String::new()));
        let heights = self.unit(4099).and_then(Result::ok).or(of_heights).or(crs.heights);
        Some(Crs { name, heights, vertical, ..crs })
    }

    /// Returns the system of a code, which is another one if the keys state another unit.
    fn of_code(&self, code: u32, geographic: bool, own: Option<Unit>) -> Crs {
        let named = Crs { epsg: Some(code), geographic, ..Crs::named(format!("EPSG:{code}")) };
        let crs = Crs::of_code(code).unwrap_or(named);
        let Some(own) = own.filter(|_| !crs.geographic) else { return crs };
        let differs =
            |meters: f64| crs.meters.is_some_and(|other| (meters / other - 1.0).abs() > 1e-9);
        match own {
            Ok(meters) if !differs(meters) => Crs { meters: Some(meters), ..crs },
            Ok(meters) => Crs {
                meters: Some(meters),
                ..Crs::named(format!("{} in units of {meters} m", crs.name))
            },
            Err(unit) => Crs::named(format!("{} in units of EPSG:{unit}", crs.name)),
        }
    }

    /// Returns the system that the keys define by themselves, named by a citation, which of Esri holds its text.
    fn of_own(&self, model: Option<u16>, own: Option<Unit>) -> Option<Crs> {
        let citation = [1026, 3073, 2049].into_iter().find_map(|id| self.text(id));
        let esri = citation.as_deref().and_then(|text| text.split_once("ESRI PE String = "));
        if let Some(crs) =
            esri.and_then(|(_, text)| Crs::from_wkt(text)).filter(|crs| crs.wkt.is_some())
        {
            return Some(crs);
        }
        let kind = match model {
            Some(1) => "projected ",
            Some(2) => "geographic ",
            Some(3) => "geocentric ",
            _ if citation.is_some() || own.is_some() => "",
            _ => return None,
        };
        let unnamed = match self.code(2048) {
            Some(base) => format!("a {kind}system of its own based on EPSG:{base}"),
            None => format!("a {kind}system of its own"),
        };
        let name = citation.unwrap_or(unnamed);
        Some(match own.filter(|_| model != Some(2)) {
            Some(Err(unit)) => Crs::named(format!("{name} in units of EPSG:{unit}")),
            Some(Ok(meters)) => Crs { meters: Some(meters), ..Crs::named(name) },
            // GeoTIFF's unit of geocentric systems is the meter unless another is stated.
            None => Crs {
                geographic: model == Some(2),
                meters: (model == Some(3)).then_some(1.0),
                ..Crs::named(name)
            },
        })
    }

    /// Returns the system of the heights. Its unit alone says nothing of their origin.
    fn vertical(&self) -> Option<Vertical> {
        let (system, datum) = (self.code(4096), self.code(4098));
        let citation = self.text(4097);
        let epsg = registry::vertical(system, datum, self.code(4099));
        let name = match (epsg.or(system), datum) {
            (Some(code), _) => format!("EPSG:{code}"),
            (None, None) => citation?,
            (None, Some(datum)) => citation.unwrap_or(format!("heights of datum EPSG:{datum}")),
        };
        Some(Vertical { name, epsg })
    }
}
