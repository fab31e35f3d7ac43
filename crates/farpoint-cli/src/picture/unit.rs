//! The unit of a cloud's coordinates, as far as its file states it.

use farpoint_io::Cloud;

/// A unit of length.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Unit {
    Meters,
    Feet,
    /// Not stated by the file.
    Unknown,
}

impl Unit {
    /// Returns the unit of a cloud.
    pub(crate) fn of(cloud: &Cloud) -> Self {
        Self::of_meters(cloud.meters_per_unit())
    }

    /// Returns the unit of this length in meters.
    pub(crate) fn of_meters(meters: Option<f64>) -> Self {
        let Some(meters) = meters else { return Self::Unknown };
        // International and US survey feet differ by 2 millionths.
        let is = |expected: f64| (meters / expected - 1.0).abs() < 1e-5;
        match meters {
            _ if is(1.0) => Self::Meters,
            _ if is(0.3048) => Self::Feet,
            _ => Self::Unknown,
        }
    }

    /// Returns the words that follow "distance, in".
    pub(super) fn name(self) -> &'static str {
        match self {
            Self::Meters => "meters",
            Self::Feet => "feet",
            Self::Unknown => "units of the file",
        }
    }

    /// Returns the symbol that follows a number, if the unit is known.
    pub(crate) fn symbol(self) -> &'static str {
        match self {
            Self::Meters => "m",
            Self::Feet => "ft",
            Self::Unknown => "",
        }
    }

    /// Returns a number with its unit, if the unit is known.
    pub(crate) fn of_number(self, number: String) -> String {
        format!("{number} {}", self.symbol()).trim_end().to_owned()
    }

    /// Returns the unit of areas, as it follows "per".
    pub(crate) fn square(self) -> &'static str {
        match self {
            Self::Meters => "m²",
            Self::Feet => "ft²",
            Self::Unknown => "square unit",
        }
    }

    /// Formats a round length with its unit.
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

/// Formats a number of few digits, without the traces of binary fractions.
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
    fn units_by_their_length() {
        for (meters, unit) in [
            (1.0, Unit::Meters),
            (0.3048, Unit::Feet),
            (1200.0 / 3937.0, Unit::Feet),
            (0.9144, Unit::Unknown),
        ] {
            assert_eq!(Unit::of_meters(Some(meters)), unit);
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
