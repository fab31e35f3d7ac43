//! What a sample is judged by (the paper's figure 2).

use crate::{Error, Points, Scalar};

/// Distances from each sample to its nearest other sample.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Spacing {
    /// Mean over the samples.
    pub mean: f64,
    /// Smallest.
    pub min: f64,
    /// Largest.
    pub max: f64,
}

/// Largest distance of any point to its nearest sample, in the unit of the coordinates.
///
/// `sample` holds row indices. Works for any sample, not only those of this crate. Errors on
/// an empty sample, an index outside the cloud, bad rows.
pub fn covering_radius<T: Scalar, P: Points<T> + ?Sized>(
    points: &P,
    sample: &[usize],
) -> Result<T, Error> {
    let _ = (points, sample);
    todo!()
}

/// Nearest neighbour distances among the samples; zero spacing where a point occurs twice.
///
/// Errors on fewer than two samples, an index outside the cloud, bad rows.
pub fn spacing<T: Scalar, P: Points<T> + ?Sized>(
    points: &P,
    sample: &[usize],
) -> Result<Spacing, Error> {
    let _ = (points, sample);
    todo!()
}
