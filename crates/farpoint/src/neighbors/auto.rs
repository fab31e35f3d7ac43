//! Choice of the fastest method for the input.
//!
//! The rules were measured (docs/chamfer.md). They look at numbers of points only:
//! with many axes the boxes prune little, but then the tree is no slower than all pairs.

use crate::Method;

/// Trees cost about as much as this many pairs for each point of both clouds.
const PAIRS_A_POINT: usize = 200;

/// Returns the method to run: the requested one, or the fastest. `unbuilt` is true for the clouds whose
/// tree would have to be built.
pub(super) fn choose(requested: Method, points: [usize; 2], unbuilt: [bool; 2]) -> Method {
    match requested {
        Method::Auto => fastest(points, unbuilt),
        method => method,
    }
}

fn fastest([a, b]: [usize; 2], unbuilt: [bool; 2]) -> Method {
    // The walk takes about as long as building the queries a tree.
    let built = a.saturating_add(if unbuilt[1] { b } else { 0 });
    if a.saturating_mul(b) <= PAIRS_A_POINT.saturating_mul(built) {
        Method::Brute
    } else {
        Method::Tree
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_tree_is_built_for_small_clouds_or_few_queries() {
        assert_eq!(fastest([300, 300], [true; 2]), Method::Brute);
        assert_eq!(fastest([100, 1_000_000], [true; 2]), Method::Brute);
        assert_eq!(fastest([600, 600], [true; 2]), Method::Tree);
        assert_eq!(fastest([1_000_000, 1_000_000], [true; 2]), Method::Tree);
    }

    #[test]
    fn an_existing_tree_is_used() {
        assert_eq!(fastest([1, 1_000_000], [true, false]), Method::Tree);
        assert_eq!(fastest([300, 300], [false; 2]), Method::Tree);
        assert_eq!(fastest([300, 150], [true, false]), Method::Brute);
    }
}
