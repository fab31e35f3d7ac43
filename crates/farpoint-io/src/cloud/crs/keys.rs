//! GeoTIFF keys (records 34735 to 34737), in which most LAS files before 1.4 state their coordinate system.

use super::{Crs, projected_unit, registry};

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

    /// Returns the meters of a unit: by its code, or its size if the file defines it.
    fn unit(&self, id: u16) -> Option<f64> {
        if let Some(code) = self.code(id) {
            return registry::unit(code);
        }
        let [_, _, at] = self.entry(id + 1).filter(|[place, ..]| *place == DOUBLES)?;
        let (doubles, _) = self.doubles.as_chunks();
        let meters = f64::from_le_bytes(*doubles.get(usize::from(at))?);
        (meters.is_finite() && meters > 0.0).then_some(meters)
    }

    /// Returns the system that the keys state.
    pub(super) fn crs(&self) -> Option<Crs> {
        let projected = self.value(3072);
        let geographic = match self.value(1024) {
            Some(model) => model == 2,
            None => projected.is_none() && self.value(2048).is_some(),
        };
        // The geographic system is the base of a projected one.
        let code = if projected.is_some() { 3072 } else { 2048 };
        let stated = self.code(code).filter(|_| geographic || code == 3072);
        let of_code = stated.and_then(registry::wkt).as_deref().and_then(projected_unit);
        let own = self.unit(3076);
        let differs = own.zip(of_code).is_some_and(|(a, b)| (a / b - 1.0).abs() > 1e-9);
        let epsg = stated.filter(|_| !differs);
        let citation = || self.text(1026).or_else(|| self.text(3073)).or_else(|| self.text(2049));
        let name = match (stated, own) {
            (Some(code), Some(meters)) if differs => {
                format!("EPSG:{code} in units of {meters} m")
            }
            (Some(code), _) => format!("EPSG:{code}"),
            (None, _) => citation()?,
        };
        let meters = own.or(of_code).filter(|_| !geographic);
        let vertical = self.vertical();
        let name = match &vertical {
            Some(vertical) => format!("{name} + {}", vertical.name),
            None => name,
        };
        Some(Crs { name, epsg, wkt: None, geographic, meters, vertical })
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

#[cfg(test)]
mod tests {
    use super::*;

    fn keys(keys: &[[u16; 4]], ascii: &[u8]) -> Option<Crs> {
        let head = [[1, 1, 0, keys.len() as u16]];
        let directory: Vec<u8> =
            head.iter().chain(keys).flatten().flat_map(|n| n.to_le_bytes()).collect();
        let doubles: Vec<u8> = [1.0f64, 0.9].iter().flat_map(|n| n.to_le_bytes()).collect();
        Keys { directory: &directory, doubles: &doubles, ascii }.crs()
    }

    #[test]
    fn keys_give_code_or_citation() {
        let crs = keys(&[[1024, 0, 1, 1], [3072, 0, 1, 2992]], b"").unwrap();
        assert_eq!((crs.name.as_str(), crs.geographic), ("EPSG:2992", false));
        // The base of a projected system is not the system.
        let custom = [
            [1024, 0, 1, 1],
            [2048, 0, 1, 4269],
            [3072, 0, 1, 32767],
            [3073, 34737, 8, 2],
            [3076, 0, 1, 9003],
        ];
        let crs = keys(&custom, b"a|My grid|").unwrap();
        assert_eq!((crs.name.as_str(), crs.epsg), ("My grid", None));
        assert!((crs.meters.unwrap() - 0.304_800_609_6).abs() < 1e-9);
        assert_eq!(keys(&[[3073, 34737, 90, 0]], b"cut"), None);
        assert_eq!(Keys { directory: &[1, 2, 3], doubles: b"", ascii: b"" }.crs(), None);
        let crs = keys(&[[2048, 0, 1, 4326]], b"").unwrap();
        assert_eq!((crs.epsg, crs.geographic, crs.meters), (Some(4326), true, None));
    }

    #[test]
    fn units_are_those_of_the_code_unless_the_keys_state_others() {
        let meters = |keys_: &[[u16; 4]]| keys(keys_, b"").unwrap().meters.unwrap();
        assert_eq!(meters(&[[3072, 0, 1, 2227]]), 1200.0 / 3937.0);
        assert_eq!(meters(&[[3072, 0, 1, 2992]]), 0.3048);
        assert_eq!(meters(&[[3072, 0, 1, 32632]]), 1.0);
        assert_eq!(meters(&[[3072, 0, 1, 29901], [3076, 0, 1, 9001]]), 1.0);
        // British yards; a unit of the file's own.
        assert_eq!(meters(&[[3072, 0, 1, 27291]]), 0.914_398_414_616_028_7);
        let own = keys(&[[3072, 0, 1, 26910], [3076, 0, 1, 32767], [3077, 34736, 1, 1]], b"");
        assert_eq!(own.as_ref().unwrap().meters, Some(0.9));
        assert_eq!(own.unwrap().epsg, None);
        let feet = keys(&[[3072, 0, 1, 26943], [3076, 0, 1, 9003]], b"").unwrap();
        assert_eq!((feet.epsg, feet.meters), (None, Some(1200.0 / 3937.0)));
        assert!(feet.name.starts_with("EPSG:26943 in units of 0.3048"), "{}", feet.name);
    }

    #[test]
    fn heights_have_a_system_of_their_own() {
        let vertical = |stated: &[[u16; 4]]| {
            let all = [&[[3072, 0, 1, 2227]], stated].concat();
            let crs = keys(&all, b"NAVD88 - Geoid12B|").unwrap();
            assert_eq!(crs.epsg, Some(2227));
            crs.vertical.map(|vertical| (vertical.name, vertical.epsg))
        };
        let known = |code: u32| Some((format!("EPSG:{code}"), Some(code)));
        assert_eq!(vertical(&[[4096, 0, 1, 5703]]), known(5703));
        // The same datum in another unit, and the datum by its number alone.
        assert_eq!(vertical(&[[4096, 0, 1, 5703], [4099, 0, 1, 9003]]), known(6360));
        assert_eq!(vertical(&[[4096, 0, 1, 5703], [4099, 0, 1, 9002]]), known(8228));
        assert_eq!(vertical(&[[4096, 0, 1, 5103]]), known(5703));
        assert_eq!(vertical(&[[4098, 0, 1, 5103], [4099, 0, 1, 9003]]), known(6360));
        assert_eq!(vertical(&[[4099, 0, 1, 9001]]), None);
        assert_eq!(vertical(&[[4096, 0, 1, 6]]), Some(("EPSG:6".to_owned(), None)));
        let cited = vertical(&[[4096, 0, 1, 32767], [4097, 34737, 18, 0]]);
        assert_eq!(cited, Some(("NAVD88 - Geoid12B".to_owned(), None)));
        let datum = vertical(&[[4098, 0, 1, 7]]);
        assert_eq!(datum, Some(("heights of datum EPSG:7".to_owned(), None)));
    }
}
