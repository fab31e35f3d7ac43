//! Which method is fastest for the input at hand.
//!
//! The rules were measured (docs/chamfer.md). They look at numbers of points only:
//! with many axes the boxes tell little, but then the tree is no slower than all pairs.

use crate::Method;

/// Trees cost about as much as this many pairs for each point of both clouds.
const PAIRS_A_POINT: usize = 200;

/// The method to run: the one that is wanted, or the fastest.
pub(super) fn choose(wanted: Method, a: usize, b: usize) -> Method {
    match wanted {
        Method::Auto => fastest(a, b),
        method => method,
    }
}

fn fastest(a: usize, b: usize) -> Method {
    if a.saturating_mul(b) <= PAIRS_A_POINT.saturating_mul(a.saturating_add(b)) {
        Method::Brute
    } else {
        Method::Tree
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn small_clouds_and_few_queries_are_not_built_a_tree_for() {
        assert_eq!(fastest(300, 300), Method::Brute);
        assert_eq!(fastest(100, 1_000_000), Method::Brute);
        assert_eq!(fastest(600, 600), Method::Tree);
        assert_eq!(fastest(1_000_000, 1_000_000), Method::Tree);
    }
}
