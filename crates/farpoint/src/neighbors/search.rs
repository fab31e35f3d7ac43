//! A search that is ready to run, for any output.

use super::gather::{Kind, Search};
use super::metric::{Absolute, Metric, Squared};
use super::pair::Structure;
use super::{brute, descent};
use crate::simd::{self, Simd};
use crate::watch::Watch;
use crate::{Level, Norm, Scalar};

/// A search that is ready to run.
pub(super) struct SearchRun<'a, 'b, T: Scalar, K: Kind> {
    pub(super) structure: Structure<'a, T>,
    pub(super) norm: Norm,
    pub(super) threads: usize,
    pub(super) watch: &'a Watch<'b>,
    pub(super) output: K::Of<'a, T>,
}

impl<T: Scalar, K: Kind> SearchRun<'_, '_, T, K> {
    /// Searches until done or canceled.
    pub(super) fn run(self, level: Level) {
        simd::dispatch(level, self);
    }

    fn search<S: Simd<T>, M: Metric>(self, simd: S) {
        let Self { structure, threads, watch, output, .. } = self;
        match structure {
            Structure::Reference => output.reference::<M>(watch),
            Structure::Brute([x, y]) => {
                brute::search::<T, S, M, _>(simd, [x, y], threads, &output, watch);
            }
            Structure::Tree([x, y]) => {
                descent::search::<T, S, M, _>(simd, [x, y], threads, &output, watch);
            }
        }
    }
}

impl<T: Scalar, K: Kind> simd::Program<T> for SearchRun<'_, '_, T, K> {
    type Output = ();

    fn run<S: Simd<T>>(self, simd: S) {
        match self.norm {
            Norm::One => self.search::<S, Absolute>(simd),
            Norm::Two => self.search::<S, Squared>(simd),
        }
    }
}
