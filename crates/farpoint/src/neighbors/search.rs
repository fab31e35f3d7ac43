//! A search that is ready to be run, whatever it is for.

use super::gather::{Kind, Search};
use super::metric::{Absolute, Metric, Squared};
use super::pair::Structure;
use super::{brute, descent};
use crate::scalar::number::EitherPrecision;
use crate::simd::{self, Simd};
use crate::watch::Watch;
use crate::{Level, Norm, Scalar};
use std::marker::PhantomData;

/// A search that is ready to be run.
pub(super) struct Job<'a, 'b, T: Scalar, K: Kind> {
    pub(super) structure: Structure<'a, T>,
    pub(super) norm: Norm,
    pub(super) threads: usize,
    pub(super) watch: &'a Watch<'b>,
    pub(super) output: K::Of<'a, T>,
}

impl<T: Scalar, K: Kind> Job<'_, '_, T, K> {
    /// Searches until done or canceled.
    pub(super) fn run(self, level: Level) {
        T::run::<Start<'_, '_, K>>((level, self));
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

impl<T: Scalar, K: Kind> simd::Program<T> for Job<'_, '_, T, K> {
    type Output = ();

    fn run<S: Simd<T>>(self, simd: S) {
        match self.norm {
            Norm::One => self.search::<S, Absolute>(simd),
            Norm::Two => self.search::<S, Squared>(simd),
        }
    }
}

/// Starts searches in either precision.
struct Start<'a, 'b, K: Kind>(PhantomData<Job<'a, 'b, f32, K>>);

impl<'a, 'b, K: Kind> EitherPrecision for Start<'a, 'b, K> {
    type Of<T: Scalar> = (Level, Job<'a, 'b, T, K>);
    type Output = ();

    fn single((level, job): Self::Of<f32>) {
        simd::dispatch(level, job);
    }

    fn double((level, job): Self::Of<f64>) {
        simd::dispatch(level, job);
    }
}
