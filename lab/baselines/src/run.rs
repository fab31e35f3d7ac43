//! Input and counters of all methods.

use farpoint::backend::PreparedCloud;
use farpoint::{Scalar, Statistics};

/// Input and counters of a method.
pub(crate) struct Run<'a, T> {
    pub(crate) cloud: &'a PreparedCloud<T>,
    /// Coordinates by axis, of at least three axes.
    pub(crate) axes: Vec<&'a [T]>,
    /// Number of samples, at least one.
    pub(crate) count: usize,
    /// Start points: at least one, and no more than the count.
    pub(crate) starts: &'a [u32],
    pub(crate) statistics: Statistics,
}

/// Returns the squared distance of two places of these axes.
#[inline(always)]
pub(crate) fn squared<T: Scalar, A: AsRef<[T]>>(axes: &[A], a: usize, b: usize) -> T {
    let square = |axis: usize| {
        let values = axes[axis].as_ref();
        let difference = values[a] - values[b];
        difference * difference
    };
    (1..axes.len()).fold(square(0), |sum, axis| sum + square(axis))
}
