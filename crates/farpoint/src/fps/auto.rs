//! Which algorithm is fastest for the input at hand; the rules are measured (docs/auto.md).

use super::selection::Selection;
use crate::cloud::Cloud;
use crate::{Algorithm, Sampler, Scalar};

pub(crate) fn choose<T: Scalar>(
    sampler: &Sampler,
    _cloud: &Cloud<T>,
    _selection: &Selection<'_, T>,
    _threads: usize,
) -> Algorithm {
    if sampler.algorithm != Algorithm::Auto {
        return sampler.algorithm;
    }
    Algorithm::Peak
}
