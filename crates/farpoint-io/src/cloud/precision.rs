//! Coordinates on their way into a format that may hold float32.
//!
//! Float32 has seven digits, too few for map coordinates to the millimeter. A format that may hold float64 then takes
//! that; from what is to be float32 the minimum corner is subtracted first.

use crate::Precision;
use crate::bytes::parallel;
use crate::cloud::column::{Column, NumberType};
use crate::cloud::coordinates::Coordinates;
use crate::cloud::resolution::{float_spacing, meaningful_step};
use crate::cloud::{Cloud, degrees};

impl Precision {
    /// The type of the numbers.
    pub(crate) fn kind(self) -> NumberType {
        match self {
            Precision::Single => NumberType::F32,
            Precision::Double => NumberType::F64,
        }
    }
}

/// The x, y and z of the rows to be written.
pub(crate) struct OutputCoordinates {
    pub(crate) axes: [Column; 3],
    /// Offset that was subtracted.
    pub(crate) offset: Option<[f64; 3]>,
}

impl OutputCoordinates {
    /// The offset as text, such as `637000 849000 400`.
    pub(crate) fn offset_text(&self) -> Option<String> {
        Some(self.offset?.map(|value| value.to_string()).join(" "))
    }
}

/// Returns the precision of a format whose readers expect float32: that, if it keeps the coordinates to a tenth of a
/// millimeter.
pub(crate) fn usual_precision(cloud: &Cloud, warnings: &mut Vec<String>) -> Precision {
    let spacing = spacing_around(cloud, [0.0; 3]);
    if keeps(cloud, spacing) || cloud.is_single() {
        return Precision::Single;
    }
    warnings.push(format!(
        "x, y and z are written as float64, since float32 would round them by up to {}; for PCL and Open3D, which \
         read float64 as 0, set `precision=single`, which subtracts an offset",
        rounding(spacing)
    ));
    Precision::Double
}

/// Returns the distance of adjacent float32 at the far ends of the cloud, after subtracting an offset.
fn spacing_around(cloud: &Cloud, offset: [f64; 3]) -> [f64; 3] {
    // Of the whole cloud, so that all samples of a file have the same offset.
    let [low, high] = cloud.bounds().unwrap_or_default();
    std::array::from_fn(|axis| {
        float_spacing((low[axis] - offset[axis]).abs().max((high[axis] - offset[axis]).abs()))
    })
}

/// Returns whether numbers that far apart keep coordinates to a tenth of a millimeter, also in degrees.
fn keeps(cloud: &Cloud, spacing: [f64; 3]) -> bool {
    let kept = if degrees::are_in(cloud) { 1e-9 } else { 1e-4 };
    spacing.iter().all(|spacing| spacing / 2.0 <= kept)
}

/// Returns the coordinates of the rows in this precision; in that of the cloud unless set.
pub(crate) fn output_coordinates(
    cloud: &Cloud,
    rows: &[usize],
    precision: Option<Precision>,
    warnings: &mut Vec<String>,
) -> OutputCoordinates {
    let whole = |axis: usize| cloud.coordinates.axis(axis, rows);
    match (&cloud.coordinates, precision) {
        (Coordinates::F64(points), Some(Precision::Single)) => {
            let keep = "double precision (`precision=double`) keeps them as they are";
            narrowed(cloud, points, rows, keep, warnings)
        }
        (Coordinates::F32(_), Some(Precision::Double)) => {
            let wide = |axis| whole(axis).cast(NumberType::F64);
            OutputCoordinates { axes: std::array::from_fn(wide), offset: None }
        }
        _ => OutputCoordinates { axes: std::array::from_fn(whole), offset: None },
    }
}

/// Like [`output_coordinates`], in single precision; `keep` names the way to keep the coordinates unchanged.
pub(crate) fn output_coordinates_single(
    cloud: &Cloud,
    rows: &[usize],
    keep: &str,
    warnings: &mut Vec<String>,
) -> OutputCoordinates {
    match &cloud.coordinates {
        Coordinates::F64(points) => narrowed(cloud, points, rows, keep, warnings),
        Coordinates::F32(_) => output_coordinates(cloud, rows, None, warnings),
    }
}

fn narrowed(
    cloud: &Cloud,
    points: &[[f64; 3]],
    rows: &[usize],
    keep: &str,
    warnings: &mut Vec<String>,
) -> OutputCoordinates {
    let step = meaningful_step(cloud, rows);
    let single = cloud.is_single();
    let loses = |spacing: [f64; 3]| !single && (0..3).any(|axis| spacing[axis] >= step[axis]);
    let plain = spacing_around(cloud, [0.0; 3]);
    let corner = cloud.bounds().unwrap_or_default()[0].map(f64::floor);
    let moved = spacing_around(cloud, corner);
    let shift =
        loses(plain) && !keeps(cloud, plain) && (0..3).any(|axis| moved[axis] < plain[axis]);
    let offset = if shift { corner } else { [0.0; 3] };
    let final_spacing = if shift { moved } else { plain };
    let output = OutputCoordinates {
        axes: std::array::from_fn(|axis| {
            let value = |i: usize| (points[rows[i]][axis] - offset[axis]) as f32;
            Column::F32(parallel::values(rows.len(), value))
        }),
        offset: shift.then_some(offset),
    };
    if let Some(offset) = output.offset_text() {
        warnings.push(format!(
            "the offset {offset} is subtracted from the coordinates, which float32 would round by \
             up to {}; {keep}",
            rounding(plain)
        ));
    }
    if loses(final_spacing) {
        warnings.push(format!(
            "coordinates are rounded to float32, by up to {}; {keep}",
            rounding(final_spacing)
        ));
    }
    output
}

/// Half the largest spacing.
fn rounding(spacing: [f64; 3]) -> String {
    format!("{:.1e}", spacing.into_iter().fold(0.0, f64::max) / 2.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn single(points: Vec<[f64; 3]>) -> (OutputCoordinates, Vec<String>) {
        let cloud = Cloud::new(Coordinates::F64(points));
        let rows: Vec<usize> = (0..cloud.len()).collect();
        let mut warnings = Vec::new();
        (output_coordinates(&cloud, &rows, Some(Precision::Single), &mut warnings), warnings)
    }

    #[test]
    fn places_on_a_map_are_moved() {
        let points = vec![[637_012.34, 849_000.5, 406.26], [637_179.25, 849_497.75, 520.5]];
        let (output, warnings) = single(points);
        assert_eq!(output.offset_text().as_deref(), Some("637012 849000 406"));
        assert_eq!(output.axes[0], Column::F32(vec![0.34, 167.25]));
        assert_eq!(warnings.len(), 1, "{warnings:?}");
        assert!(warnings[0].contains("637012 849000 406"), "{warnings:?}");
    }

    #[test]
    fn float32_is_usual_where_it_keeps_a_tenth_of_a_millimeter() {
        let usual = |points: Vec<[f64; 3]>| {
            let mut warnings = Vec::new();
            (usual_precision(&Cloud::new(Coordinates::F64(points)), &mut warnings), warnings.len())
        };
        let (third, single, double) = (1.0 / 3.0, (Precision::Single, 0), (Precision::Double, 1));
        assert_eq!(usual(vec![[third; 3], [2047.0 + third, 0.0, 0.0]]), single);
        assert_eq!(usual(vec![[third; 3], [0.0, 0.0, -2048.0 - third]]), double);
        assert_eq!(usual(vec![[f64::NAN; 3], [637_012.34, 849_000.5, 406.26]]), double);
        assert_eq!(usual(vec![[637_012.0, 849_000.5, 406.25], [f64::NAN; 3]]), single);
        assert_eq!(usual(vec![[-94.683_471, 31.03, 0.0], [-94.68, 31.04, 40.0]]), double);
        assert_eq!(usual(Vec::new()), single);
    }

    #[test]
    fn small_clouds_stay_where_they_are() {
        let (output, warnings) = single(vec![[0.125, -7.5, 80.01], [1.0, 2.0, 3.0]]);
        assert_eq!((output.offset, warnings.len()), (None, 0));
        assert_eq!(output.axes[2], Column::F32(vec![80.01, 3.0]));
        let third = 1.0 / 3.0;
        let (output, warnings) = single(vec![[third, -third, 0.1], [0.7, 0.9, third]]);
        assert_eq!((output.offset, warnings.len()), (None, 0));
        // More digits than float32 has, beyond a tenth of a millimeter.
        let (output, warnings) = single(vec![[80.123_456_7, 0.0, 0.0], [80.5, 1.0, 2.0]]);
        assert_eq!((output.offset, warnings.len()), (None, 1));
        // Float32 that were made doubles lose nothing, wherever they are.
        let far = f64::from(637_000.06f32);
        let (output, warnings) = single(vec![[far, f64::from(0.1f32), 0.0]]);
        assert_eq!((output.offset, warnings.len()), (None, 0));
    }

    #[test]
    fn unavoidable_rounding_is_warned_of() {
        let third = 1e5 / 3.0;
        let (output, warnings) = single(vec![[third; 3], [3.0 * third, 0.0, 0.0]]);
        assert!(output.offset.is_none() && warnings.len() == 1, "{warnings:?}");
        let (output, warnings) = single(vec![[0.001, 0.0, 0.0], [2e6, 0.0, 0.0], [1e6, 0.5, 0.0]]);
        assert_eq!(output.offset, None);
        assert!(warnings.len() == 1 && warnings[0].contains("rounded"), "{warnings:?}");
    }
}
