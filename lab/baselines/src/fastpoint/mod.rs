//! FastPoint's sampler (ICCV 2025), made deterministic.
//!
//! 1. A tenth of the samples by exact farthest point sampling, by any algorithm.
//! 2. The inverse of their selection distances is a rising curve. It is predicted up to the last
//!    sample by a small network or by a fit ([`curve`], [`network`]).
//! 3. Six falling radii are read off it, at a sixth, two sixths, ... of the samples.
//! 4. Radius by radius, points are taken that are at least so far from all samples, until no such
//!    point is left ([`levels`]).
//! 5. The rest by farthest point sampling from the distances known by then: exactly M.
//!
//! The release races for points; here the lowest index comes first. It needs lists of neighbors in
//! memory; here points are struck out through a grid. Radii that come out of order are put in
//! order. The release ends a level when its share of the samples is there, wherever
//! that leaves holes; here a level that would need more is run again with a larger radius, and
//! later radii grow with it. So every level covers the cloud, however wrong the prediction, and
//! the covering radius of the result is known.
//!
//! Start points come before the first level, whatever their distances. The curve is predicted from
//! the first of them alone: it describes the cloud, not the sample.

mod curve;
mod levels;
mod network;

pub use curve::{INPUTS, OUTPUTS, fitted, inputs, predicted};
pub use network::Network;

use crate::run::Run;
use crate::{Estimator, First, quick};
use anyhow::Result;
use farpoint::{Axes, Sampler, Scalar, Start};
use levels::Levels;

/// Number of levels of falling radii.
const LEVELS: usize = 6;

/// Fewest first samples that a curve is predicted from; with fewer, all samples are exact.
const MIN_PREFIX: usize = 32;

/// Properties of a FastPoint sample.
#[derive(Debug, Clone, PartialEq)]
pub struct Details {
    /// Number of samples of the first stage, from which the curve was predicted.
    pub prefix: usize,
    /// Radii of the levels as used, falling; empty if all samples are exact, because they are few or
    /// the first of them lie on top of each other.
    pub radii: Vec<f64>,
    /// Number of samples that the levels found, start points among them; the others were filled
    /// in by exact updates.
    pub found: usize,
    /// No two of the samples found by the levels are nearer than this, unless both were start points.
    pub spacing: f64,
    /// Largest distance of any point to the sample.
    pub covering_radius: f64,
}

impl Details {
    /// Creates the details that a device found: radii as used, the square of `spacing`, and that of the
    /// covering radius.
    pub(crate) fn new<T: Scalar>(
        prefix: usize,
        found: usize,
        radii: &[T],
        [squared_spacing, squared_radius]: [T; 2],
    ) -> Self {
        Self {
            prefix,
            radii: radii.iter().map(|radius| radius.to_f64()).collect(),
            found,
            spacing: squared_spacing.sqrt().to_f64(),
            covering_radius: squared_radius.sqrt().to_f64(),
        }
    }
}

pub(crate) fn sample<T: Scalar>(
    run: &mut Run<'_, T>,
    first: First,
    estimator: Estimator,
) -> Result<(Vec<u32>, Details)> {
    let prefix = run.count.div_ceil(10);
    if prefix >= MIN_PREFIX {
        // None of these are the result's.
        let start = &run.starts[..1];
        let (_, distances) = farthest(run, first, prefix, start)?;
        if let Some(radii) = radii(run, &distances[1..], estimator)
            && let Some(found) = by_levels(run, prefix, &radii)?
        {
            return Ok(found);
        }
    }
    let (count, starts) = (run.count, run.starts);
    let (chosen, distances) = farthest(run, first, count, starts)?;
    Ok((chosen, Details::new(count, count, &[], [distances[count - 1], distances[count]])))
}

/// Takes samples level by level and fills up; `None` if the radii are not representable.
fn by_levels<T: Scalar>(
    run: &mut Run<'_, T>,
    prefix: usize,
    predicted: &[T],
) -> Result<Option<(Vec<u32>, Details)>> {
    let mut levels = Levels::new(run);
    levels.begin(run)?;
    // The remaining samples are divided evenly; a single start counts as found.
    let extra_starts = run.starts.len() - 1;
    let (mut radii, mut larger) = (Vec::with_capacity(LEVELS), 1.0);
    let mut last = T::INFINITY;
    for (level, &radius) in predicted.iter().enumerate() {
        let corrected = T::from_f64(radius.to_f64() * larger);
        let until = extra_starts + (level + 1) * (run.count - extra_starts) / LEVELS;
        let Some(used) = levels.level(corrected, until, run) else { return Ok(None) };
        // No point was left as far as the last radius: above it nothing is taken.
        let used = if used < last { used } else { last };
        larger = (used.to_f64() / radius.to_f64()).max(1.0);
        radii.push(used);
        last = used;
    }
    let found = levels.samples.len();
    let covering = levels.fill(last, run);
    Ok(Some((levels.samples, Details::new(prefix, found, &radii, [last * last, covering]))))
}

/// Samples exactly; returns the points, the squared selection distance of each, and the squared covering radius.
fn farthest<'a, T: Scalar>(
    run: &mut Run<'a, T>,
    first: First,
    count: usize,
    starts: &'a [u32],
) -> Result<(Vec<u32>, Vec<T>)> {
    let algorithm = match first {
        First::Exact(algorithm) => algorithm,
        First::Quick => {
            let whole = (run.count, run.starts);
            (run.count, run.starts) = (count, starts);
            let found = quick::sample(run, None);
            (run.count, run.starts) = whole;
            return Ok(found);
        }
    };
    let starts = starts.iter().map(|&point| point as usize).collect();
    let sampler = Sampler::count(count).start(Start::Indices(starts)).algorithm(algorithm);
    let sample = sampler.statistics(true).sample(&Axes::new(&run.axes)?)?;
    if let Some(counted) = &sample.statistics {
        run.statistics.distance_evaluations += counted.distance_evaluations;
        run.statistics.effective_updates += counted.effective_updates;
    }
    let mut distances = sample.squared_distances;
    distances.push(sample.squared_covering_radius);
    Ok((sample.indices.into_iter().map(|point| point as u32).collect(), distances))
}

/// Returns the falling radii of the levels for the squared selection distances of the samples after the first; `None` if
/// there is no curve to predict from.
fn radii<T: Scalar>(run: &Run<'_, T>, distances: &[T], estimator: Estimator) -> Option<Vec<T>> {
    let distances: Vec<_> = distances.iter().map(|d| d.to_f64().sqrt()).collect();
    let (inputs, scale) = curve::inputs(&distances, run.count)?;
    let curve = match estimator {
        Estimator::Network => {
            Network::trained().curve(&inputs, run.count as f64 / run.cloud.points() as f64)
        }
        Estimator::Fit => curve::fitted(&inputs),
    };
    let mut least = T::from_f64(scale);
    let radii = (1..=LEVELS).map(|level| {
        let inverse = curve::at(&curve, level as f64 / LEVELS as f64);
        let radius = T::from_f64(scale / inverse);
        // Radii never rise, whatever was predicted, and none is 0 or NaN.
        if radius > T::ZERO && radius < least {
            least = radius;
        }
        least
    });
    Some(radii.collect())
}
