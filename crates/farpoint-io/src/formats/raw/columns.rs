//! Number of values in a row of a raw file, as far as the values show it.
//!
//! Columns differ in their sizes: a height spreads less than x, an intensity is within 0 and 1. With the right number
//! of columns, the place of a value in its row therefore informs about its sign and exponent; with a wrong one all
//! columns mix, and it does not. The measure is the mutual information of the two, in bits. The order of the rows
//! does not matter.

use crate::error::ParseError;
use std::io;
use std::ops::Range;

/// The numbers of columns that are compared.
const COLUMNS: std::ops::RangeInclusive<usize> = 3..=8;
/// Values that are sampled, in blocks spread over the file.
const BLOCKS: usize = 8;
const BLOCK: usize = 8192;
/// Number of signs and exponents of a float32.
const SIGNS: usize = 512;
/// Less information than this is chance: columns of one distribution, or too few rows.
const MIN_INFORMATION: f64 = 0.1;

/// Checks by the values that rows can have `columns`. Returns a warning if they leave it open.
///
/// # Errors
/// If the values are no coordinates, or if another number of columns is clearly the right one.
pub(super) fn check(
    values: &Values,
    columns: usize,
    xyz: [usize; 3],
) -> Result<Option<String>, ParseError> {
    if !holds_coordinates(values, columns, xyz) {
        let what = format!(
            "the values are not coordinates: read as {columns} float32 a row, many are above 1e12 or below 1e-30"
        );
        return Err(ParseError::new(what).fix(
            "if it is raw float32 nevertheless, set `columns`; if the name is wrong, `input_format`",
        ));
    }
    let fits = information_by_columns(values);
    let others: Vec<String> =
        fits.iter().filter(|f| f.0 != columns).map(|f| f.0.to_string()).collect();
    if others.is_empty() {
        return Ok(None);
    }
    let score = fits.iter().find(|f| f.0 == columns).map_or(0.0, |f| f.1);
    match best(&fits) {
        Some((likely, _)) if likely == columns => Ok(None),
        Some((likely, best_score)) if score < 0.5 * best_score => {
            let what = format!(
                "the size fits rows of {columns} and of {} values, and the values look like {likely} a row",
                others.join(", ")
            );
            Err(ParseError::new(what)
                .fix(format!("set `columns={likely}`, or `columns={columns}` if that is right")))
        }
        _ => Ok(Some(format!(
            "read as {columns} values a row; {} would fit too, and the values do not decide: set `columns` if that is \
             wrong",
            others.join(", ")
        ))),
    }
}

/// Returns the number of columns that the values show, if they show one.
pub(super) fn likely(values: &Values) -> Option<usize> {
    best(&information_by_columns(values)).map(|(columns, _)| columns)
}

/// Returns the number of columns with the most information. Of nearly equal ones the smallest: a multiple of the
/// right number has as much.
fn best(fits: &[(usize, f64)]) -> Option<(usize, f64)> {
    let best_score = fits.iter().map(|f| f.1).fold(0.0, f64::max);
    fits.iter().copied().find(|f| f.1 >= MIN_INFORMATION && f.1 >= 0.9 * best_score)
}

/// Returns the numbers of columns that fit the size, with their information.
fn information_by_columns(values: &Values) -> Vec<(usize, f64)> {
    let candidates = COLUMNS.filter(|c| values.length.is_multiple_of(4 * *c as u64));
    candidates.map(|columns| (columns, information(values, columns))).collect()
}

/// The values that are sampled.
pub(super) struct Values {
    /// Bytes of the file.
    length: u64,
    /// A value's number in the file, and its bits.
    seen: Vec<(u64, u32)>,
}

impl Values {
    /// Samples a file in memory.
    pub(super) fn from_bytes(bytes: &[u8]) -> Values {
        let read = |at: u64, length: usize| Ok(bytes[at as usize..at as usize + length].to_vec());
        match Values::read(bytes.len() as u64, read) {
            Ok(values) => values,
            Err(_) => unreachable!("bytes in memory are read without error"),
        }
    }

    /// Samples a file of `length` bytes; `read` returns a number of bytes from an offset on.
    pub(super) fn read(
        length: u64,
        mut read: impl FnMut(u64, usize) -> io::Result<Vec<u8>>,
    ) -> io::Result<Values> {
        let mut seen = Vec::new();
        for block in blocks(length / 4) {
            let bytes = read(4 * block.start, 4 * (block.end - block.start) as usize)?;
            let bits = bytes.as_chunks().0.iter().map(|value| u32::from_le_bytes(*value));
            seen.extend(block.zip(bits));
        }
        Ok(Values { length, seen })
    }
}

/// Returns the ranges of the values that are sampled.
fn blocks(values: u64) -> impl Iterator<Item = Range<u64>> {
    let (number, block) = (BLOCKS as u64, BLOCK as u64);
    let whole = values <= number * block;
    let number = if whole { 1 } else { number };
    let block = if whole { values } else { block };
    let step = if whole { 0 } else { (values - block) / (BLOCKS as u64 - 1) };
    (0..number).map(move |b| b * step..b * step + block)
}

/// Returns the mutual information of the column and the sign and exponent of a value, in bits, less the part that
/// chance gives for this number of values.
fn information(values: &Values, columns: usize) -> f64 {
    let mut counts = vec![[0u32; SIGNS]; columns];
    for (value, bits) in &values.seen {
        counts[(value % columns as u64) as usize][(bits >> 23) as usize] += 1;
    }
    let mut total = [0u32; SIGNS];
    for column in &counts {
        total.iter_mut().zip(column).for_each(|(sum, n)| *sum += n);
    }
    let all: u32 = total.iter().sum();
    if all == 0 {
        return 0.0;
    }
    let share = |column: &[u32; SIGNS]| f64::from(column.iter().sum::<u32>()) / f64::from(all);
    let within: f64 = counts.iter().map(|column| share(column) * entropy(column)).sum();
    let kinds = total.iter().filter(|&&n| n > 0).count();
    let freedom = (kinds - 1) as f64 * (columns - 1) as f64;
    let chance = freedom / (2.0 * f64::from(all) * std::f64::consts::LN_2);
    (entropy(&total) - within - chance).max(0.0)
}

fn entropy(counts: &[u32; SIGNS]) -> f64 {
    let all = f64::from(counts.iter().sum::<u32>());
    let part = |&n: &u32| {
        let p = f64::from(n) / all;
        if n == 0 { 0.0 } else { -p * p.log2() }
    };
    counts.iter().map(part).sum()
}

/// Returns whether x, y and z have the size of coordinates, with few exceptions. Doubles, integers and text read as
/// float32 do not.
fn holds_coordinates(values: &Values, columns: usize, xyz: [usize; 3]) -> bool {
    let (mut all, mut implausible) = (0usize, 0usize);
    let coordinate = |value: u64| xyz.contains(&((value % columns as u64) as usize));
    for (_, bits) in values.seen.iter().filter(|(value, _)| coordinate(*value)) {
        let value = f32::from_bits(*bits);
        let size = value.abs();
        all += 1;
        implausible +=
            usize::from(value != 0.0 && !value.is_nan() && !(1e-30..1e12).contains(&size));
    }
    implausible * 10 <= all
}
