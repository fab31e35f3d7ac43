//! Which method is fastest for a shape and a card.
//!
//! The rules look at numbers of rows and axes and at the card only, so that the choice is the same for all
//! batches of a shape.

use super::parameter::Shape;
use crate::Properties;
use farpoint::Method;

/// Boxes are over the first three axes: with more axes than this they say too little, and comparing all
/// pairs is faster.
const MOST_DIMS: usize = 8;

/// Pairs of points in all up to which comparing all takes no longer than to build a tree and go down it,
/// measured on an H100: one cloud of 4,096 points, 32 of 512 in 1,024.
const PAIRS: u128 = 18_000_000;

/// The same where the tree is there already.
const PAIRS_INDEXED: u128 = 2_000_000;

/// The method for a search of this shape; `indexed` if there is a tree over `y` already.
pub(super) fn choose(card: &Properties, shape: Shape, indexed: bool) -> Method {
    let [x, y] = shape.rows.map(|rows| rows as u128);
    let few = if indexed { PAIRS_INDEXED } else { PAIRS };
    let can_build = card.cooperative || indexed;
    match shape.dims > MOST_DIMS || !can_build || shape.clouds as u128 * x * y <= few {
        true => Method::Brute,
        false => Method::Tree,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::properties::tests::card;

    fn chosen(clouds: usize, rows: [usize; 2], dims: usize) -> Method {
        choose(&card(90), Shape { clouds, rows, dims, k: 16 }, false)
    }

    #[test]
    fn each_shape_gets_what_suits_it() {
        assert_eq!(chosen(32, [512, 1_024], 3), Method::Brute);
        assert_eq!(chosen(64, [4_096; 2], 3), Method::Tree);
        assert_eq!(chosen(1, [4_096; 2], 3), Method::Brute);
        assert_eq!(chosen(8, [2_048; 2], 3), Method::Tree);
        assert_eq!(chosen(8, [6_000, 24_000], 3), Method::Tree);
        assert_eq!(chosen(1, [126_356; 2], 3), Method::Tree);
        assert_eq!(chosen(1, [126_356; 2], 9), Method::Brute);
        // A card that can't wait for all blocks builds no trees, but may be given one.
        let old = Properties { cooperative: false, ..card(75) };
        let shape = Shape { clouds: 1, rows: [1_000_000; 2], dims: 3, k: 16 };
        assert_eq!(choose(&old, shape, false), Method::Brute);
        assert_eq!(choose(&old, shape, true), Method::Tree);
        let small = Shape { rows: [4_096; 2], ..shape };
        assert_eq!(choose(&card(90), small, true), Method::Tree);
    }
}
