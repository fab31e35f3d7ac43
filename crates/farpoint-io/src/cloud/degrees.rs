//! Axes in different units, such as degrees and meters, between which a distance in space has no meaning.

use crate::cloud::Cloud;
use crate::cloud::coordinates::Coordinates;
use crate::cloud::crs::Crs;

/// Warning of the reader of such a cloud.
pub(crate) const WARNING: &str = "x and y are degrees while z is a length, so distances mix units; \
                                  project the coordinates first, for example to UTM";

/// Adds the warning of a cloud whose axes have different units, as its system states or else its coordinates show.
pub(crate) fn warn(crs: Option<&Crs>, warnings: &mut Vec<String>, shown: impl FnOnce() -> bool) {
    if warnings.iter().any(|warning| warning.contains("distances mix units")) {
        return;
    }
    let mixed = crs.and_then(|crs| mixed([crs.meters, crs.meters, crs.heights]));
    warnings.extend(match crs.is_some_and(|crs| crs.geographic) || mixed.is_none() && shown() {
        true => Some(WARNING.to_owned()),
        false => mixed,
    });
}

/// Returns the warning of axes in different units, in meters. Kinds of feet differ by millionths.
pub(crate) fn mixed(units: [Option<f64>; 3]) -> Option<String> {
    let mut stated =
        ["x", "y", "z"].into_iter().zip(units).filter_map(|(axis, unit)| Some((axis, unit?)));
    let (first, unit) = stated.next()?;
    let (other, differing) = stated.find(|(_, other)| (other / unit - 1.0).abs() > 1e-5)?;
    Some(format!(
        "{first} is in units of {unit} m and {other} in units of {differing} m, so distances mix units; convert \
         one first"
    ))
}

/// The widest extent in degrees that is checked; larger maps are projected.
const WIDEST: f64 = 2.0;

/// Returns whether a cloud is known or looks to be in degrees.
pub(crate) fn are_in(cloud: &Cloud) -> bool {
    cloud.crs().is_some_and(|crs| crs.geographic)
        || cloud.warnings.iter().any(|warning| warning == WARNING)
        || (cloud.statistics_of_all().is_none() && beside_lengths(&cloud.coordinates))
}

/// Returns whether the numbers alone show it: x and y within a degree or two, far from the origin for their extent,
/// and z many times wider. A projected or local cloud is not of that shape.
pub(crate) fn beside_lengths(coordinates: &Coordinates) -> bool {
    let (mut low, mut high) = ([f64::INFINITY; 3], [f64::NEG_INFINITY; 3]);
    for row in 0..coordinates.len() {
        let point = coordinates.get(row);
        if !point.iter().all(|v| v.is_finite()) {
            continue;
        }
        for axis in 0..3 {
            low[axis] = low[axis].min(point[axis]);
            high[axis] = high[axis].max(point[axis]);
        }
        // The first points of most clouds show that these are no degrees.
        let wide = high[0] - low[0] > WIDEST || high[1] - low[1] > WIDEST;
        if wide || point[0].abs() > 180.0 || point[1].abs() > 90.0 {
            return false;
        }
    }
    let wide = (high[0] - low[0]).max(high[1] - low[1]);
    let distance = |axis: usize| low[axis].abs().min(high[axis].abs());
    wide > 0.0 && high[2] - low[2] > 50.0 * wide && distance(0).min(distance(1)) > 10.0 * wide
}

#[cfg(test)]
mod tests {
    use super::{beside_lengths, mixed};
    use crate::cloud::coordinates::Coordinates;

    fn cloud(origin: [f64; 3], extent: [f64; 3]) -> Coordinates {
        let at = |t: f64| [0, 1, 2].map(|a| origin[a] + t * extent[a]);
        Coordinates::F64(vec![at(0.0), [f64::NAN; 3], at(0.4), at(1.0)])
    }

    #[test]
    fn degrees_are_distinguished_from_other_clouds() {
        assert!(beside_lengths(&cloud([-94.68, 31.03, 39.0], [0.02, 0.01, 39.0])));
        // A mast and a borehole around the origin, a room, UTM, a flat place in degrees, nothing.
        assert!(!beside_lengths(&cloud([-0.5, -0.5, 0.0], [1.0, 1.0, 100.0])));
        assert!(!beside_lengths(&cloud([3.0, 2.0, 0.0], [8.0, 5.0, 3.0])));
        assert!(!beside_lengths(&cloud([512_700.0, 5.4e6, 295.0], [100.0, 200.0, 50.0])));
        assert!(!beside_lengths(&cloud([8.5, 47.3, 400.0], [0.01, 0.01, 0.1])));
        assert!(!beside_lengths(&Coordinates::F64(Vec::new())));
    }

    #[test]
    fn units_differ_by_more_than_kinds_of_feet_do() {
        assert_eq!(mixed([None, Some(0.3048), Some(1200.0 / 3937.0)]), None);
        let warning = mixed([Some(1.0), Some(1.0), Some(0.3048)]).unwrap();
        assert!(
            warning.starts_with("x is in units of 1 m and z in units of 0.3048 m"),
            "{warning}"
        );
        assert!(mixed([Some(0.3048), Some(1.0), None]).unwrap().contains("and y in units of 1 m"));
    }
}
