//! The order of every sum of distances, the same on every device.

/// Number of sums that run side by side in a leaf.
const COLUMNS: usize = 256;

/// Count of numbers that are summed together, all at once.
const LEAF: usize = 16 * COLUMNS;

/// Returns the sum of `value(0)` to `value(count - 1)`, none of them negative, in the order of every sum of
/// distances.
///
/// The numbers are cut into leaves of 4,096, the last one shorter. In a leaf number `i` belongs to
/// column `i % 256`. Each of the 256 columns is summed by ascending index; then the second half of
/// the columns is added to the first, column by column, until one is left. If there are several
/// leaves, their sums are numbers that are summed in the same way, until one is left.
///
/// All in double precision. It keeps vector units busy, blocks of threads as well, and its error
/// grows with the logarithm of the count.
pub fn total(count: usize, value: impl Fn(usize) -> f64) -> f64 {
    let mut sums: Vec<f64> = leaves(count).map(|rows| leaf(rows, &value)).collect();
    while sums.len() > 1 {
        sums = leaves(sums.len()).map(|rows| leaf(rows, |k| sums[k])).collect();
    }
    sums.first().copied().unwrap_or(0.0)
}

/// Returns the ranges of the leaves.
fn leaves(count: usize) -> impl Iterator<Item = std::ops::Range<usize>> {
    (0..count.div_ceil(LEAF)).map(move |k| k * LEAF..count.min((k + 1) * LEAF))
}

fn leaf(rows: std::ops::Range<usize>, value: impl Fn(usize) -> f64) -> f64 {
    let mut columns = [0.0; COLUMNS];
    for first in rows.clone().step_by(COLUMNS) {
        let width = COLUMNS.min(rows.end - first);
        for (k, column) in columns[..width].iter_mut().enumerate() {
            *column += value(first + k);
        }
    }
    let mut half = COLUMNS / 2;
    while half > 0 {
        let (to, from) = columns.split_at_mut(half);
        to.iter_mut().zip(from).for_each(|(to, from)| *to += *from);
        half /= 2;
    }
    columns[0]
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::random::SplitMix64;

    /// Sums by the rule of [`total`], as documented.
    fn reference(numbers: &[f64]) -> f64 {
        if numbers.len() == 1 {
            return numbers[0];
        }
        let leaf = |leaf: &[f64]| {
            let column = |c: usize| leaf.iter().skip(c).step_by(256).fold(0.0, |sum, x| sum + x);
            let mut columns: Vec<f64> = (0..256).map(column).collect();
            while columns.len() > 1 {
                let half = columns.len() / 2;
                columns = (0..half).map(|c| columns[c] + columns[c + half]).collect();
            }
            columns[0]
        };
        let sums: Vec<f64> = numbers.chunks(4096).map(leaf).collect();
        if sums.is_empty() { 0.0 } else { reference(&sums) }
    }

    #[test]
    fn sums_have_the_documented_order() {
        let mut random = SplitMix64::new(1);
        let numbers: Vec<f64> = (0..4096 * 4096 + 4097).map(|_| random.unit()).collect();
        for count in [0, 1, 2, 255, 256, 257, 4095, 4096, 4097, 100_000, numbers.len()] {
            let found = total(count, |k| numbers[k]);
            assert_eq!(found.to_bits(), reference(&numbers[..count]).to_bits(), "{count}");
        }
        // Not the order of the indices.
        let in_a_row: f64 = numbers[..4097].iter().sum();
        assert_ne!(total(4097, |k| numbers[k]).to_bits(), in_a_row.to_bits());
    }
}
