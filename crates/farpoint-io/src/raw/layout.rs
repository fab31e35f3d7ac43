//! How many values a row of a raw file has, as far as the values show it.
//!
//! Columns differ in their sizes: a height spreads less than x, an intensity is within 0 and 1. With the
//! right number of columns, the place of a value in its row therefore says something of its sign and
//! exponent; with a wrong one all columns mix, and it says nothing. How much it says is the information
//! that the two share, in bits. The order of the rows does not matter.

use crate::error::Fault;

/// The numbers of columns that are compared.
const COLUMNS: std::ops::RangeInclusive<usize> = 3..=8;
/// Values that are looked at, in blocks spread over the file.
const BLOCKS: usize = 8;
const BLOCK: usize = 8192;
/// Sign and exponent of a float32.
const SIGNS: usize = 512;
/// Less information than this is chance: columns of one distribution, or too few rows.
const LEAST: f64 = 0.1;

/// Asks the values whether rows of `columns` can be. Returns a warning if they leave it open.
///
/// # Errors
/// If the values are no coordinates, or if another number of columns is clearly the right one.
pub(super) fn check(
    bytes: &[u8],
    columns: usize,
    xyz: [usize; 3],
) -> Result<Option<String>, Fault> {
    if !holds_coordinates(bytes, columns, xyz) {
        let what = format!(
            "the values are no coordinates: read as {columns} float32 a row, many are above 1e12 or below 1e-30"
        );
        return Err(Fault::new(what).fix(
            "if it is raw float32 nevertheless, give --columns; if the name is wrong, --input-format \
             (in Python: columns=, format=)",
        ));
    }
    let fits = informations(bytes);
    let others: Vec<String> =
        fits.iter().filter(|f| f.0 != columns).map(|f| f.0.to_string()).collect();
    if others.is_empty() {
        return Ok(None);
    }
    let own = fits.iter().find(|f| f.0 == columns).map_or(0.0, |f| f.1);
    match best(&fits) {
        Some((likely, _)) if likely == columns => Ok(None),
        Some((likely, most)) if own < 0.5 * most => {
            let what = format!(
                "the size fits rows of {columns} and of {} values, and the values look like {likely} a row",
                others.join(", ")
            );
            Err(Fault::new(what)
                .fix(format!("give --columns {likely}, or --columns {columns} if that is right")))
        }
        _ => Ok(Some(format!(
            "read as {columns} values a row; {} would fit too, and the values do not tell: give --columns if \
             that is wrong",
            others.join(", ")
        ))),
    }
}

/// The number of columns that the values show, if they show one.
pub(super) fn likely(bytes: &[u8]) -> Option<usize> {
    best(&informations(bytes)).map(|(columns, _)| columns)
}

/// The number of columns with the most information. Of nearly equal ones the smallest: a multiple of the
/// right number says as much.
fn best(fits: &[(usize, f64)]) -> Option<(usize, f64)> {
    let most = fits.iter().map(|f| f.1).fold(0.0, f64::max);
    fits.iter().copied().find(|f| f.1 >= LEAST && f.1 >= 0.9 * most)
}

/// The numbers of columns that fit the size, with what the place in a row says of a value.
fn informations(bytes: &[u8]) -> Vec<(usize, f64)> {
    let fitting = COLUMNS.filter(|c| bytes.len().is_multiple_of(4 * c));
    fitting.map(|columns| (columns, information(bytes, columns))).collect()
}

/// Numbers of the values that are looked at.
fn chosen(values: usize) -> impl Iterator<Item = usize> {
    let whole = values <= BLOCKS * BLOCK;
    let blocks = if whole { 1 } else { BLOCKS };
    let block = if whole { values } else { BLOCK };
    let step = if whole { 0 } else { (values - BLOCK) / (BLOCKS - 1) };
    (0..blocks).flat_map(move |b| b * step..b * step + block)
}

fn bits(bytes: &[u8], value: usize) -> u32 {
    let at = 4 * value;
    u32::from_le_bytes([bytes[at], bytes[at + 1], bytes[at + 2], bytes[at + 3]])
}

/// The mutual information of the column and the sign and exponent of a value, in bits, less what
/// chance gives in so few values.
fn information(bytes: &[u8], columns: usize) -> f64 {
    let mut counts = vec![[0u32; SIGNS]; columns];
    for value in chosen(bytes.len() / 4) {
        counts[value % columns][(bits(bytes, value) >> 23) as usize] += 1;
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

/// Whether x, y and z are numbers of a size that a coordinate has, but for a few. Doubles, integers and
/// text read as float32 are not.
fn holds_coordinates(bytes: &[u8], columns: usize, xyz: [usize; 3]) -> bool {
    let (mut all, mut strange) = (0usize, 0usize);
    for value in chosen(bytes.len() / 4).filter(|value| xyz.contains(&(value % columns))) {
        let value = f32::from_bits(bits(bytes, value));
        let size = value.abs();
        all += 1;
        strange += usize::from(value != 0.0 && !value.is_nan() && !(1e-30..1e12).contains(&size));
    }
    strange * 10 <= all
}
