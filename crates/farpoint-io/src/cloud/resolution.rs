//! The resolution of coordinates: the scale that a format states or that the numbers show, and the resolution that
//! float32 would keep.

use crate::bytes::parallel;
use crate::cloud::Cloud;
use crate::cloud::column::Column;
use crate::cloud::coordinates::Coordinates;
use crate::cloud::header::Header;

/// Digits after the decimal point that are checked.
const MAX_DECIMALS: u32 = 9;
/// The step of numbers without one, as a share of the cloud's extent.
const UNKNOWN: f64 = 1e-6;
/// The same, at most: a tenth of a millimeter.
const UNKNOWN_AT_MOST: f64 = 1e-4;

/// Returns the distance from a number to the next larger float32.
pub(crate) fn float_spacing(value: f64) -> f64 {
    let value = value.abs() as f32;
    f64::from(value.next_up()) - f64::from(value)
}

/// `10^-digits`, as written: closer to the value that readers expect than the computed power.
fn power_of_ten(digits: i32) -> f64 {
    format!("1e{}", -digits).parse().unwrap_or(1.0)
}

/// Returns the largest power of ten that is hardly above the spacing of float32 at a size.
fn float_step(size: f64) -> f64 {
    // Above the largest float32 there is no spacing.
    let spacing = (float_spacing(size) * 1.1).clamp(1e-12, f64::from(f32::MAX));
    power_of_ten(-spacing.log10().floor() as i32)
}

/// Formats a step without dozens of zeros.
pub(crate) fn step_text(step: f64) -> String {
    if step < 1e-4 { format!("{step:e}") } else { step.to_string() }
}

/// Digits after the decimal point of the numbers of an axis, at most [`MAX_DECIMALS`]; `None` if
/// they have more.
pub(crate) fn decimals(coordinates: &Coordinates, axis: usize, rows: &[usize]) -> Option<u32> {
    let has = |row: usize, digits: u32| {
        let power = 10f64.powi(digits as i32);
        match coordinates {
            Coordinates::F32(points) => {
                let value = points[row][axis];
                ((f64::from(value) * power).round() / power) as f32 == value || !value.is_finite()
            }
            Coordinates::F64(points) => {
                let value = points[row][axis];
                (value * power).round() / power == value || !value.is_finite()
            }
        }
    };
    let of_rows = |rows: &[usize]| {
        let mut digits = 0;
        for &row in rows {
            while digits <= MAX_DECIMALS && !has(row, digits) {
                digits += 1;
            }
        }
        digits
    };
    let max_digits = parallel::map(rows.chunks(1 << 16), of_rows).into_iter().max().unwrap_or(0);
    (max_digits <= MAX_DECIMALS).then_some(max_digits)
}

/// Returns an axis as shown in text: multiples of a decimal scale without the digits that computing them in binary
/// adds, `849393.95` and not `849393.9500000001`.
pub(crate) fn shown_axis(cloud: &Cloud, axis: usize, rows: &[usize]) -> Column {
    let column = cloud.coordinates().axis(axis, rows);
    let (Column::F64(values), Header::Las(header)) = (&column, &cloud.header) else {
        return column;
    };
    let raw = &header.raw;
    let scale = [raw.x_scale_factor, raw.y_scale_factor, raw.z_scale_factor][axis];
    let offset = [raw.x_offset, raw.y_offset, raw.z_offset][axis];
    let has = |digits: &u32| {
        let power = 10f64.powi(*digits as i32);
        [scale, offset].iter().all(|value| (value * power).round() / power == *value)
    };
    let Some(digits) = (0..=MAX_DECIMALS).find(has) else { return column };
    let power = 10f64.powi(digits as i32);
    let shown = |i: usize| {
        let value = values[i];
        let decimal = (value * power).round() / power;
        // Too large for this many digits, or not of this file.
        if (decimal - value).abs() <= scale.abs() * 1e-3 { decimal } else { value }
    };
    Column::F64(parallel::values(values.len(), shown))
}

/// Returns the step of each axis below which differences of the coordinates mean nothing.
pub(crate) fn meaningful_step(cloud: &Cloud, rows: &[usize]) -> [f64; 3] {
    if let Some(scale) = cloud.scale() {
        return scale.map(f64::abs);
    }
    let Some([low, high]) = cloud.bounds() else { return [1.0; 3] };
    let extent = (0..3).map(|axis| high[axis] - low[axis]).fold(0.0, f64::max);
    std::array::from_fn(|axis| match decimals(cloud.coordinates(), axis, rows) {
        Some(digits) => 10f64.powi(-(digits as i32)),
        None => (extent * UNKNOWN).min(UNKNOWN_AT_MOST),
    })
}

/// Returns a scale for storing the coordinates as integers: that of their format, or their decimals, or what float32
/// would keep of the cloud at the origin.
pub(crate) fn integer_step(cloud: &Cloud, rows: &[usize]) -> [f64; 3] {
    if let Some(scale) = cloud.scale() {
        return scale.map(f64::abs);
    }
    let coordinates = cloud.coordinates();
    let Some([low, high]) = cloud.bounds() else { return [0.01; 3] };
    let extent = (0..3).map(|axis| high[axis] - low[axis]).fold(0.0, f64::max);
    let float = float_step(extent);
    // More decimals than that are digits of a computed number. Floats have none beyond it.
    let smallest = if cloud.is_single() { float } else { float / 10.0 };
    let steps = std::array::from_fn(|axis| match decimals(coordinates, axis, rows) {
        Some(digits) if power_of_ten(digits as i32) > smallest => power_of_ten(digits as i32),
        Some(_) => smallest,
        None => float,
    });
    let finest = steps.into_iter().fold(f64::INFINITY, f64::min);
    // One scale for all axes, unless they differ as degrees and meters do.
    steps.map(|step| if step <= finest * 101.0 { finest } else { step })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn step(points: Coordinates) -> [f64; 3] {
        let cloud = Cloud::new(points);
        let rows: Vec<usize> = (0..cloud.len()).collect();
        integer_step(&cloud, &rows)
    }

    #[test]
    fn steps_of_the_largest_numbers_are_finite() {
        for size in [3e38, f64::from(f32::MAX), 1e39, f64::MAX, f64::INFINITY] {
            let step = float_step(size);
            assert!(step > 0.0 && step.is_finite(), "{size}: {step}");
        }
    }

    #[test]
    fn decimals_are_the_step() {
        let doubles = vec![[637_000.2, 1.0, 0.001], [637_001.5, 2.3, 17.0], [f64::NAN, 0.0, 0.5]];
        assert_eq!(step(Coordinates::F64(doubles)), [0.001; 3]);
        let degrees = vec![[-94.683_471_2, 31.036_731_5, 39.08], [-94.68, 31.03, 78.1]];
        assert_eq!(step(Coordinates::F64(degrees)), [1e-7, 1e-7, 0.01]);
        let floats = vec![[0.1f32, 0.25, 3.0], [80.5, 7.75, -2.0]];
        assert_eq!(step(Coordinates::F32(floats)), [0.01; 3]);
    }

    #[test]
    fn numbers_without_decimals_have_the_step_of_float32() {
        let third = 1.0 / 3.0;
        let doubles = vec![[third, third, third], [100.0, 0.0, 0.0]];
        assert_eq!(step(Coordinates::F64(doubles)), [1e-6; 3]);
        // Heights keep their resolution where x and y have little.
        let height = 295.0 + third as f32;
        let floats = vec![[513_000.03f32, 5_400_000.5, height], [513_100.0, 5_400_100.0, 300.7]];
        assert_eq!(step(Coordinates::F32(floats)), [0.01, 0.1, 1e-5]);
        // Numbers of six digits have many decimals where they are small.
        let six = vec![[-0.000_012_345, 0.0, 0.0], [0.456_789, 0.5, 1.0]];
        assert_eq!(step(Coordinates::F64(six))[0], 1e-8);
    }

    #[test]
    fn float32_has_a_spacing() {
        assert_eq!(float_spacing(637_000.0), 0.0625);
        assert_eq!(float_spacing(-1.0), f64::from(f32::EPSILON));
        assert_eq!((float_step(10.0), float_step(160.0)), (1e-6, 1e-5));
        assert_eq!((step_text(1e-7), step_text(0.01)), ("1e-7".into(), "0.01".into()));
    }
}
