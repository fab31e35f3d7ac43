//! The unit of a cloud's coordinates, as far as its file states it.

use farpoint_io::{Cloud, Crs, Format};

/// A unit of length.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Unit {
    Meters,
    Feet,
    /// The file doesn't say.
    Unknown,
}

/// Degrees of latitude and longitude, or no length that is known, leave the unit open.
const UNITS: [(&str, Unit); 5] = [
    ("metre", Unit::Meters),
    ("meter", Unit::Meters),
    ("us survey foot", Unit::Feet),
    ("foot_us", Unit::Feet),
    ("foot", Unit::Feet),
];

impl Unit {
    /// E57 files are in meters; others say it, if at all, in their coordinate reference system.
    pub(crate) fn of(cloud: &Cloud) -> Self {
        match cloud.format() {
            Some(Format::E57) => Self::Meters,
            _ => cloud.crs().map_or(Self::Unknown, Self::of_crs),
        }
    }

    fn of_crs(crs: &Crs) -> Self {
        match (&crs.wkt, crs.epsg) {
            (Some(wkt), _) => Self::of_wkt(wkt),
            // UTM on WGS 84, ETRS89 and NAD83.
            (None, Some(32601..=32660 | 32701..=32760 | 25828..=25838 | 26901..=26923)) => {
                Self::Meters
            }
            _ => Self::Unknown,
        }
    }

    /// From well-known text: the unit of a projected system is its last horizontal one.
    fn of_wkt(wkt: &str) -> Self {
        let text = wkt.to_lowercase();
        // The heights of a compound system may have a unit of their own.
        let text = text.split("vert_cs").next().unwrap_or_default();
        let text = text.split("vertcrs").next().unwrap_or_default();
        if !(text.contains("projcs[") || text.contains("projcrs[")) {
            return Self::Unknown;
        }
        let Some(last) = text.rsplit("unit[\"").find(|part| !part.starts_with("degree")) else {
            return Self::Unknown;
        };
        let found = UNITS.iter().find(|(name, _)| last.starts_with(name));
        found.map_or(Self::Unknown, |(_, unit)| *unit)
    }

    /// What follows "distance, in".
    pub(super) fn name(self) -> &'static str {
        match self {
            Self::Meters => "meters",
            Self::Feet => "feet",
            Self::Unknown => "units of the file",
        }
    }

    /// A round length with its unit.
    pub(super) fn length(self, value: f64) -> String {
        match self {
            Self::Meters if value >= 1000.0 => format!("{} km", plain(value / 1000.0)),
            Self::Meters if value >= 1.0 => format!("{} m", plain(value)),
            Self::Meters if value >= 0.01 => format!("{} cm", plain(value * 100.0)),
            Self::Meters => format!("{} mm", plain(value * 1000.0)),
            Self::Feet => format!("{} ft", plain(value)),
            Self::Unknown if value == 1.0 => "1 unit".to_owned(),
            Self::Unknown => format!("{} units", plain(value)),
        }
    }
}

/// A number of few digits, without the traces of binary fractions.
pub(super) fn plain(value: f64) -> String {
    if value != 0.0 && !(1e-4..1e6).contains(&value.abs()) {
        return format!("{value:e}");
    }
    let text = format!("{value:.7}");
    text.trim_end_matches('0').trim_end_matches('.').to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn units_of_coordinate_systems() {
        let utm = "PROJCS[\"WGS 84 / UTM zone 13N\",GEOGCS[\"WGS 84\",UNIT[\"degree\",0.0174]],\
                   PROJECTION[\"Transverse_Mercator\"],UNIT[\"metre\",1]]";
        let feet = "COMPD_CS[\"a\",PROJCS[\"b\",GEOGCS[\"c\",UNIT[\"degree\",0.0174]],\
                    UNIT[\"US survey foot\",0.3048006]],VERT_CS[\"d\",UNIT[\"metre\",1]]]";
        let new = "PROJCRS[\"x\",BASEGEOGCRS[\"y\",LENGTHUNIT[\"metre\",1]],\
                   CS[Cartesian,2],LENGTHUNIT[\"metre\",1]]";
        let degrees = "GEOGCS[\"WGS 84\",SPHEROID[\"s\",6378137,298.2],UNIT[\"degree\",0.0174]]";
        let cases = [
            (utm, Unit::Meters),
            (feet, Unit::Feet),
            (new, Unit::Meters),
            (degrees, Unit::Unknown),
        ];
        for (wkt, unit) in cases {
            assert_eq!(Unit::of_wkt(wkt), unit, "{wkt}");
        }
    }

    #[test]
    fn lengths_read_well() {
        assert_eq!(Unit::Meters.length(20.0), "20 m");
        assert_eq!(Unit::Meters.length(0.05), "5 cm");
        assert_eq!(Unit::Meters.length(0.002), "2 mm");
        assert_eq!(Unit::Meters.length(2000.0), "2 km");
        assert_eq!(Unit::Unknown.length(1.0), "1 unit");
        assert_eq!(Unit::Unknown.length(0.1 + 0.2), "0.3 units");
        assert_eq!(Unit::Feet.length(5e-7), "5e-7 ft");
    }
}
