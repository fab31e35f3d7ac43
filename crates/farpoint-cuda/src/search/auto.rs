//! Choice of the fastest method for a shape and a card.
//!
//! The rules look at numbers of rows and axes and at the card only, so that the choice is the same for all
//! batches of a shape.

use super::parameter::Shape;
use farpoint::Method;

/// Maximum number of axes for which boxes, which are over the first three, are selective enough; with more,
/// comparing all pairs is faster.
const MAX_DIMS: usize = 8;

/// Total number of pairs of points up to which comparing all takes no longer than to build and search a tree,
/// measured on an H100 for 16 neighbors: 0.031 and 0.045 ms for 4 million (one cloud), 0.051 and 0.035 ms for 8.4
/// million (8 clouds), 0.066 and 0.049 ms for 17 million (one cloud).
const PAIRS: u128 = 8_000_000;

/// The same if the tree already exists.
const PAIRS_INDEXED: u128 = 2_000_000;

/// The same for neighbors of lowest index by `kernels/search/search_few.cu`: 0.023 and 0.038 ms for 17 million,
/// 0.032 and 0.064 ms for 34 million, 0.079 and 0.055 ms for 134 million.
const PAIRS_FEW: u128 = 85_000_000;

/// The same if the tree already exists: 0.023 and 0.025 ms for 17 million, 0.032 and 0.031 ms for 34 million.
const PAIRS_FEW_INDEXED: u128 = 25_000_000;

/// Returns the method for a search of this shape; `has_index` if a tree over `y` already exists, `few` if comparing all
/// pairs is for `kernels/search/search_few.cu`.
pub(super) fn choose(shape: Shape, has_index: bool, few: bool) -> Method {
    let [x, y] = shape.rows.map(|rows| rows as u128);
    let max_pairs = match (few, has_index) {
        (false, false) => PAIRS,
        (false, true) => PAIRS_INDEXED,
        (true, false) => PAIRS_FEW,
        (true, true) => PAIRS_FEW_INDEXED,
    };
    match shape.dims > MAX_DIMS || shape.clouds as u128 * x * y <= max_pairs {
        true => Method::Brute,
        false => Method::Tree,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn choice(clouds: usize, rows: [usize; 2], dims: usize) -> Method {
        choose(Shape { clouds, rows, dims, k: 16 }, false, false)
    }

    #[test]
    fn each_shape_gets_a_suitable_method() {
        assert_eq!(choice(1, [2_048; 2], 3), Method::Brute);
        assert_eq!(choice(8, [1_024; 2], 3), Method::Tree);
        assert_eq!(choice(64, [4_096; 2], 3), Method::Tree);
        assert_eq!(choice(1, [4_096; 2], 3), Method::Tree);
        assert_eq!(choice(8, [6_000, 24_000], 3), Method::Tree);
        assert_eq!(choice(1, [126_356; 2], 3), Method::Tree);
        assert_eq!(choice(1, [126_356; 2], 9), Method::Brute);
        let small = Shape { clouds: 1, rows: [4_096; 2], dims: 3, k: 16 };
        assert_eq!(choose(small, true, false), Method::Tree);
    }

    #[test]
    fn few_neighbors_of_lowest_index_use_brute_force_for_longer() {
        let choice = |clouds, rows, has_index| {
            choose(Shape { clouds, rows, dims: 3, k: 32 }, has_index, true)
        };
        for has_index in [false, true] {
            assert_eq!(choice(32, [512, 1_024], has_index), Method::Brute);
            assert_eq!(choice(8, [2_048, 8_192], has_index), Method::Tree);
        }
        assert_eq!(choice(8, [1_024, 4_096], false), Method::Brute);
        assert_eq!(choice(8, [1_024, 4_096], true), Method::Tree);
    }

    /// Scratch memory is requested before it is known whether `few` holds.
    #[test]
    fn few_never_needs_a_tree_where_others_do_not() {
        const { assert!(PAIRS_FEW >= PAIRS && PAIRS_FEW_INDEXED >= PAIRS_INDEXED) };
    }
}
