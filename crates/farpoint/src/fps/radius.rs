//! RadiusFPS (to come).
use super::RadiusOptions;
use super::selection::Selection;
use crate::arch::Simd;
use crate::cloud::Cloud;
use crate::{Error, Scalar};

pub(crate) fn run<T: Scalar, S: Simd<T>>(
    simd: S,
    cloud: &Cloud<T>,
    _options: &RadiusOptions,
    selection: &mut Selection<'_, T>,
) -> Result<(), Error> {
    super::naive::run(simd, cloud, 1, selection)
}
