//! Which method is fastest for the input at hand.
//!
//! The rules were measured (docs/chamfer.md). They look at numbers of points and axes only.

use super::Method;

/// Trees cost about as much as this many pairs for each point of both clouds.
const PAIRS_A_POINT: usize = 200;

/// The method to run: the one asked for, or the fastest.
pub(super) fn choose(wanted: Option<Method>, a: usize, b: usize, dims: usize) -> Method {
    match wanted {
        None | Some(Method::Auto) => fastest(a, b, dims),
        Some(method) => method,
    }
}

fn fastest(a: usize, b: usize, _dims: usize) -> Method {
    if a.saturating_mul(b) <= PAIRS_A_POINT * (a + b) { Method::Brute } else { Method::Tree }
}
