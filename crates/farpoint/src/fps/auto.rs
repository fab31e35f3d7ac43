//! Choice of the fastest algorithm for the input.
//!
//! The rules were measured (docs/auto.md): generated rooms, cubes and LiDAR turns of 128 to a
//! million points, one thread. They look at numbers of points, samples and axes only, so that
//! the choice is the same for every cloud of a shape.

use super::selection::Selection;
use crate::cloud::WorkingCopy;
use crate::{Algorithm, Sampler, Scalar};

/// Up to this many points a vector loop over all of them beats any structure.
const FEW_POINTS: usize = 512;

/// Up to this many samples a structure is not worth building, however many points there are:
/// it costs as much as passing over the points this many times.
const FEW_SAMPLES: usize = 256;

/// From this many points and samples on, bands are large enough to pay.
const PEAK_POINTS: usize = 1 << 14;
const PEAK_SAMPLES: usize = 1_000;

/// Boxes are over the first three axes. With this many axes they still prune enough; with more,
/// the gain of a band is lost on candidates that further axes separate.
const PEAK_DIMS: usize = 8;

/// With more axes than that, the tree pays from this many points on.
const TREE_POINTS: usize = 4_096;

/// Returns the algorithm to run: the requested one, or the fastest.
pub(crate) fn choose<T: Scalar>(
    sampler: &Sampler,
    cloud: &WorkingCopy<T>,
    selection: &Selection<'_, T>,
) -> Algorithm {
    // With a spacing, this is the number of points: the number of samples is not known before.
    let samples = selection.remaining();
    match sampler.algorithm {
        Algorithm::Auto => fastest(cloud.len, samples, cloud.dims()),
        algorithm => algorithm,
    }
}

fn fastest(points: usize, samples: usize, dims: usize) -> Algorithm {
    if points <= FEW_POINTS || samples <= FEW_SAMPLES {
        Algorithm::Naive
    } else if dims > PEAK_DIMS {
        if points < TREE_POINTS { Algorithm::Naive } else { Algorithm::Tree }
    } else if points < PEAK_POINTS || samples < PEAK_SAMPLES {
        Algorithm::Tree
    } else {
        Algorithm::peak()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_tree_is_built_for_small_inputs() {
        assert_eq!(fastest(200, 100, 3), Algorithm::Naive);
        assert_eq!(fastest(1_000_000, 100, 3), Algorithm::Naive);
        assert_eq!(fastest(512, 500, 3), Algorithm::Naive);
        assert_eq!(fastest(1_024, 512, 3), Algorithm::Tree);
        assert_eq!(fastest(2_048, 1_024, 3), Algorithm::Tree);
        assert_eq!(fastest(8_192, 2_048, 3), Algorithm::Tree);
        assert_eq!(fastest(24_000, 6_000, 3), Algorithm::peak());
        assert_eq!(fastest(24_000, 6_000, 64), Algorithm::Tree);
    }
}
