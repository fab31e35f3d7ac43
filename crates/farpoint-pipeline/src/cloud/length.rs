//! Lengths as people write them, such as `5cm`, and the unit of a file.

use crate::{Watch, text::number};
use farpoint_io::Cloud;
use std::fmt;
use std::str::FromStr;

/// A length: `0.05`, in the unit of the file, or `5cm`.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Length {
    number: f64,
    unit: Option<Unit>,
}

/// A unit by its symbol: this many of it are a meter, or it is this many meters, whichever is a whole number; `5cm`
/// is then 0.05 to the last bit.
#[derive(Debug, Clone, Copy, PartialEq)]
struct Unit {
    symbol: &'static str,
    in_meter: f64,
    meters: f64,
}

const fn by(symbol: &'static str, in_meter: f64, meters: f64) -> Unit {
    Unit { symbol, in_meter, meters }
}

const UNITS: [Unit; 10] = [
    by("mm", 1000.0, 1.0),
    by("cm", 100.0, 1.0),
    by("m", 1.0, 1.0),
    by("km", 1.0, 1000.0),
    by("ft", 10_000.0, 3048.0),
    by("feet", 10_000.0, 3048.0),
    by("usft", 3937.0, 1200.0),
    by("us-ft", 3937.0, 1200.0),
    by("ftUS", 3937.0, 1200.0),
    by("in", 10_000.0, 254.0),
];

/// The units, for messages.
const SYMBOLS: &str = "units are mm, cm, m, km, in, ft, and usft for US survey feet";

impl Length {
    /// Returns the number in a file whose unit is `meters` meters.
    pub fn in_units_of(self, meters: f64) -> f64 {
        match self.unit {
            None => self.number,
            Some(unit) => self.number * unit.meters / unit.in_meter / meters,
        }
    }

    /// Returns the number in a file in meters.
    pub fn in_meters(self) -> f64 {
        self.in_units_of(1.0)
    }

    /// Returns whether a unit was given.
    pub fn has_unit(self) -> bool {
        self.unit.is_some()
    }
}

impl fmt::Display for Length {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}{}", self.number, self.unit.map_or("", |unit| unit.symbol))
    }
}

impl FromStr for Length {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let advice = || format!("use a length such as 0.05, 5cm or 50mm; {SYMBOLS}");
        // The longest symbol that fits: 5cm ends in m too.
        let unit = UNITS
            .into_iter()
            .filter(|unit| text.ends_with(unit.symbol))
            .max_by_key(|unit| unit.symbol.len());
        let digits = &text[..text.len() - unit.map_or(0, |unit| unit.symbol.len())];
        let number = digits.trim_end().parse().map_err(|_| advice())?;
        Ok(Self { number, unit })
    }
}

/// Returns the unit of a file in meters, if a length among `given` has a unit of its own; the names of the options
/// are for messages. A file that states no unit is assumed to be in meters.
///
/// # Errors
/// A text, if the coordinates are degrees.
pub fn unit(
    cloud: &Cloud,
    name: &str,
    options: &[(&str, Option<Length>)],
    watch: &dyn Watch,
) -> Result<f64, String> {
    let lengths = options.iter().filter_map(|(option, length)| Some((*option, (*length)?)));
    let Some((option, length)) = lengths.into_iter().find(|(_, length)| length.has_unit()) else {
        return Ok(1.0);
    };
    let crs = cloud.crs();
    if let Some(crs) = crs.filter(|crs| crs.geographic) {
        return Err(format!(
            "{name}: {option} {length}: the coordinates are degrees ({}); use a number of degrees, or \
             project the cloud first",
            crs.name
        ));
    }
    match cloud.meters_per_unit() {
        Some(meters) if (meters - 1.0).abs() > 1e-9 => {
            let converted = number(length.in_units_of(meters));
            let unit = number(meters);
            watch
                .note(&format!("{name}: {option} {length} is {converted} in its unit of {unit} m"));
            Ok(meters)
        }
        Some(_) => Ok(1.0),
        None => {
            let converted = length.in_meters();
            let taken =
                format!("{name}: {option} {length} is taken as {converted}, for meters; the file");
            let advice = "use a number without a unit if it is another";
            match crs {
                None => watch.note(&format!("{taken} states no unit; {advice}")),
                Some(crs) => watch
                    .warn(&format!("{taken} does not state the unit of {}; {advice}", crs.name)),
            }
            Ok(1.0)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lengths() {
        for text in ["0.05", "5e-2", "5cm", "50mm", "50 mm", "0.05m", "0.00005km"] {
            let length = text.parse::<Length>().unwrap();
            assert_eq!(length.in_meters(), 0.05, "{text}");
        }
        let length = |text: &str| text.parse::<Length>().unwrap();
        assert_eq!(length("10ft").in_meters(), 3.048);
        assert_eq!(length("10ft").in_units_of(0.3048), 10.0);
        assert_eq!(length("7").in_units_of(0.3048), 7.0);
        assert_eq!(length("1in").in_meters(), 0.0254);
        assert_eq!(length("5 cm").to_string(), "5cm");
        let error = "5 furlongs".parse::<Length>().unwrap_err();
        assert_eq!(error, format!("use a length such as 0.05, 5cm or 50mm; {SYMBOLS}"));
        for text in ["3937usft", "3937 us-ft", "3937ftUS"] {
            assert_eq!(length(text).in_meters(), 1200.0, "{text}");
        }
        assert_eq!(length("10 feet").in_meters(), 3.048);
        for text in ["", "m", "cm", "5cmm", "5 c m"] {
            assert!(text.parse::<Length>().is_err(), "{text}");
        }
    }
}
