//! Scales and offsets as the decimal numbers that they are meant to be: 0.01 is a hundredth, not the nearest double.
//! Sums and multiples of them are exact then.

/// Largest number of digits after the decimal point.
const MAX_DECIMALS: usize = 24;
/// The largest integer that a coordinate becomes.
const LARGEST: i128 = i32::MAX as i128;

/// A decimal number: `digits` times ten to the power of `-decimals`.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Decimal {
    digits: i128,
    decimals: usize,
}

impl Decimal {
    /// Returns the shortest decimal number that is read as this double; `None` if it has too many digits.
    fn from_f64(value: f64) -> Option<Decimal> {
        let text = format!("{value}");
        let (whole, fraction) = text.split_once('.').unwrap_or((&text, ""));
        if !value.is_finite() || fraction.len() > MAX_DECIMALS {
            return None;
        }
        let digits = format!("{whole}{fraction}").parse().ok()?;
        Some(Decimal { digits, decimals: fraction.len() })
    }

    /// Returns the number as a multiple of ten to the power of `-decimals`.
    fn with(self, decimals: usize) -> Option<i128> {
        let more = u32::try_from(decimals - self.decimals).ok()?;
        self.digits.checked_mul(10i128.checked_pow(more)?)
    }
}

/// Returns the double nearest to a decimal number.
fn double(digits: i128, decimals: usize) -> f64 {
    // Parsing rounds once, computing would round twice.
    format!("{digits}e-{decimals}").parse().unwrap_or(f64::NAN)
}

fn divisor(a: i128, b: i128) -> i128 {
    if b == 0 { a.abs() } else { divisor(b, a % b) }
}

/// Scale and offset of an axis.
pub(super) type Transform = (f64, f64);

/// Factor and summand that turn the integers of a file into those of the cloud.
pub(super) type Shift = (i64, i64);

/// Scale and offset of all files, and the conversion of each one's integers to them.
#[derive(Debug, PartialEq)]
pub(super) struct Axis {
    pub(super) transform: Transform,
    pub(super) shifts: Vec<Shift>,
}

/// Reason why there is no such scale.
#[derive(Debug, PartialEq)]
pub(super) enum Mismatch {
    /// The numbers of this file are no decimals, or too long.
    NoDecimal(usize),
    /// With this scale, the coordinates reach too far for 32 bits.
    TooFar(f64),
}

/// Returns the largest scale, at most the finest one, that counts all coordinates of all files from one offset:
/// exactly. `bounds` are the minimum and maximum coordinate, if they are known.
pub(super) fn axis(files: &[Transform], bounds: Option<[f64; 2]>) -> Result<Axis, Mismatch> {
    let first = files[0];
    if files.iter().all(|file| *file == first) {
        return Ok(Axis { transform: first, shifts: vec![(1, 0); files.len()] });
    }
    let mut numbers = Vec::with_capacity(files.len());
    for (file, &(scale, offset)) in files.iter().enumerate() {
        let pair = Decimal::from_f64(scale)
            .filter(|scale| scale.digits != 0)
            .zip(Decimal::from_f64(offset));
        numbers.push(pair.ok_or(Mismatch::NoDecimal(file))?);
    }
    let decimals = numbers.iter().map(|(s, o)| s.decimals.max(o.decimals)).max().unwrap_or(0);
    let whole = |(file, (scale, offset)): (usize, &(Decimal, Decimal))| {
        let pair = scale.with(decimals).zip(offset.with(decimals));
        pair.ok_or(Mismatch::NoDecimal(file))
    };
    let whole: Vec<(i128, i128)> =
        numbers.iter().enumerate().map(whole).collect::<Result<_, _>>()?;
    let start = whole[0].1;
    let step = whole.iter().fold(0, |step, (scale, offset)| {
        divisor(divisor(step, scale.abs()), (offset - start).abs())
    });
    let offset = offset(start, step, decimals, bounds)?;
    let shift = |&(scale, file_offset): &(i128, i128)| {
        let pair =
            (i64::try_from(scale / step).ok(), i64::try_from((file_offset - offset) / step).ok());
        pair.0.zip(pair.1).ok_or(Mismatch::TooFar(double(step, decimals)))
    };
    let shifts = whole.iter().map(shift).collect::<Result<_, _>>()?;
    Ok(Axis { transform: (double(step, decimals), double(offset, decimals)), shifts })
}

/// Returns the first file's offset, if all coordinates are near enough to it; else one in their middle.
fn offset(
    start: i128,
    step: i128,
    decimals: usize,
    bounds: Option<[f64; 2]>,
) -> Result<i128, Mismatch> {
    let Some([low, high]) = bounds else { return Ok(start) };
    let size = double(step, decimals);
    let from = |offset: i128, value: f64| ((value - double(offset, decimals)) / size).abs();
    // A few steps less: a header's bounds may be rounded.
    let reaches = |offset: i128| from(offset, low).max(from(offset, high)) < (LARGEST - 16) as f64;
    let steps = ((low + high) / 2.0 - double(start, decimals)) / size;
    let middle = start + steps.round() as i128 * step;
    [start, middle].into_iter().find(|&offset| reaches(offset)).ok_or(Mismatch::TooFar(size))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_scale_and_offset_stay() {
        let third = (1.0 / 3.0, 0.1);
        let found = axis(&[third; 3], None).unwrap();
        assert_eq!((found.transform, found.shifts), (third, vec![(1, 0); 3]));
    }

    #[test]
    fn the_finest_scale_counts_from_the_first_offset() {
        let found = axis(&[(0.01, 637_000.0), (0.001, 638_000.0), (0.25, 0.0)], None).unwrap();
        assert_eq!(found.transform, (0.001, 637_000.0));
        assert_eq!(found.shifts, [(10, 0), (1, 1_000_000), (250, -637_000_000)]);
    }

    #[test]
    fn offsets_beside_the_grid_make_the_step_finer() {
        let found = axis(&[(0.01, 0.0), (0.01, 0.005)], None).unwrap();
        assert_eq!((found.transform, found.shifts), ((0.005, 0.0), vec![(2, 0), (2, 1)]));
        let found = axis(&[(0.0004, 1.0), (0.001, 1.0)], None).unwrap();
        assert_eq!((found.transform.0, found.shifts), (0.0002, vec![(2, 0), (5, 0)]));
        let found = axis(&[(-0.01, 0.0), (0.01, 0.0)], None).unwrap();
        assert_eq!((found.transform.0, found.shifts), (0.01, vec![(-1, 0), (1, 0)]));
    }

    #[test]
    fn the_offset_moves_where_32_bits_need_it() {
        let tiles = [(0.001, 0.0), (0.001, 1.0)];
        let found = axis(&tiles, Some([2_000_000.0, 5_000_000.0])).unwrap();
        assert_eq!(found.transform, (0.001, 3_500_000.0));
        assert_eq!(found.shifts, [(1, -3_500_000_000), (1, -3_499_999_000)]);
        let wide = axis(&tiles, Some([0.0, 5_000_000.0]));
        assert_eq!(wide, Err(Mismatch::TooFar(0.001)));
    }

    #[test]
    fn feet_have_many_digits() {
        let feet = 0.003_280_833_333_333_333_5;
        let found = axis(&[(feet, 0.0), (feet, feet * 1000.0)], None);
        assert!(matches!(found, Ok(_) | Err(Mismatch::TooFar(_))), "{found:?}");
        assert_eq!(axis(&[(0.0, 0.0), (1.0, 0.0)], None), Err(Mismatch::NoDecimal(0)));
        assert_eq!(axis(&[(1.0, 0.0), (f64::NAN, 0.0)], None), Err(Mismatch::NoDecimal(1)));
        assert_eq!(axis(&[(1.0, 0.0), (1e-30, 0.0)], None), Err(Mismatch::NoDecimal(1)));
    }
}
