//! Choice of the fastest method for an input and a card, and of GPU or CPU.
//!
//! The rules look at numbers of rows, pairs and axes and at the card only, so that the choice is
//! the same for all batches of a shape.

use super::matching::Shape;
use super::pairs::BRUTE_DIMS;
use crate::Properties;
use farpoint::Method;

/// Maximum number of axes for which boxes, which are over the first three, are selective enough; with more,
/// comparing all pairs is faster.
const MAX_DIMS: usize = 8;

/// Pairs of points up to which comparing all takes no longer than to build and search trees ...
const PAIRS: u128 = 400_000_000;

/// ... plus this many for every point of the batch, measured on an H100 ...
const PAIRS_A_POINT: u128 = 3_000;

/// ... if no cloud has more points than this: few queries with many points each do not fill the card.
const LARGEST: usize = 65_536;

/// Pairs of points, and points per cloud, up to which a batch is done before `brute` has started.
const TINY: u128 = 2_000_000;
const TINY_CLOUD: usize = 512;

/// Returns the method for pairs of this shape.
pub(crate) fn choose(card: &Properties, shape: Shape) -> Method {
    let [a, b] = shape.rows.map(|rows| rows as u128);
    let (pairs, largest) = (shape.pairs as u128, shape.rows[0].max(shape.rows[1]));
    let directions = shape.requested.into_iter().filter(|requested| *requested).count() as u128;
    let comparisons = a * b * pairs * directions;
    let is_small = comparisons <= PAIRS + PAIRS_A_POINT * pairs * (a + b) && largest <= LARGEST;
    let is_tiny = comparisons <= TINY && largest <= TINY_CLOUD;
    if shape.dims > MAX_DIMS || is_tiny {
        Method::Plain
    } else if is_small || !card.cooperative {
        if shape.dims > BRUTE_DIMS { Method::Plain } else { Method::Brute }
    } else {
        Method::Tree
    }
}

/// Points of both clouds from which on a single comparison is faster on a GPU that has to be opened
/// first (about half a second, mostly in the driver) than on two cores of a CPU.
const MIN_POINTS: usize = 8_000_000;

/// Returns whether comparing clouds of `a` and `b` points once is faster on a GPU, including the time
/// to open it. A program that has a [`Gpu`](crate::Gpu) open and compares clouds of some thousand
/// points is always faster on it.
pub fn is_worthwhile(a: usize, b: usize) -> bool {
    a.saturating_add(b) >= MIN_POINTS
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::properties::tests::card;

    fn choice(pairs: usize, rows: [usize; 2], dims: usize) -> Method {
        choose(&card(90), Shape { pairs, rows, dims, requested: [true; 2] })
    }

    #[test]
    fn each_shape_gets_a_suitable_method() {
        assert_eq!(choice(32, [2_048; 2], 3), Method::Brute);
        assert_eq!(choice(64, [2_048; 2], 3), Method::Brute);
        assert_eq!(choice(1, [8_192; 2], 3), Method::Brute);
        assert_eq!(choice(4, [16_384; 2], 3), Method::Tree);
        assert_eq!(choice(1, [40_000; 2], 3), Method::Tree);
        assert_eq!(choice(1, [1_000_000; 2], 2), Method::Tree);
        assert_eq!(choice(32, [2_048; 2], 5), Method::Plain);
        assert_eq!(choice(1, [100_000; 2], 5), Method::Tree);
        assert_eq!(choice(1, [1_000_000; 2], 9), Method::Plain);
        assert_eq!(choice(1, [1; 2], 1), Method::Plain);
        assert_eq!(choice(1_000, [512; 2], 3), Method::Brute);
        // A few queries against many points.
        assert_eq!(choice(1, [10, 1_000_000], 3), Method::Tree);
    }

    #[test]
    fn trees_need_cooperative_launches() {
        let old = Properties { cooperative: false, ..card(75) };
        for (dims, method) in [(3, Method::Brute), (5, Method::Plain)] {
            let shape = Shape { pairs: 1, rows: [1_000_000; 2], dims, requested: [true; 2] };
            assert_eq!(choose(&old, shape), method);
        }
    }

    #[test]
    fn a_gpu_is_not_opened_for_small_inputs() {
        assert!(!is_worthwhile(1_000_000, 1_000_000));
        assert!(is_worthwhile(5_000_000, 5_000_000) && is_worthwhile(usize::MAX, 1));
    }
}
