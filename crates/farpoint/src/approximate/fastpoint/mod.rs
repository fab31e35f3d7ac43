//! FastPoint's sampler (ICCV 2025), made deterministic.
//!
//! 1. A tenth of the samples by exact farthest point sampling, by any algorithm of `fps`.
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

use super::work::Run;
use super::{Details, Estimator};
use crate::memory;
use crate::{Algorithm, Axes, Cpu, Error, Progress, Sample, Sampler, Scalar, Start};
use levels::Levels;

/// Number of levels of falling radii.
const LEVELS: usize = 6;

/// Fewest first samples that a curve is predicted from; with fewer, all samples are exact.
const MIN_PREFIX: usize = 32;

/// Parameters of this method.
pub(super) struct Parameters<'a> {
    /// Number of samples, at least one.
    pub(super) count: usize,
    /// Start points: at least one, and no more than the count.
    pub(super) starts: &'a [u32],
    pub(super) first: Algorithm,
    pub(super) estimator: Estimator,
}

/// Properties of a FastPoint sample.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct FastPointDetails {
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

impl FastPointDetails {
    /// Creates the details that a device found: radii as used, the square of `spacing`, and that of the
    /// covering radius.
    #[doc(hidden)]
    pub fn new<T: Scalar>(
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

pub(super) fn sample<T: Scalar>(
    run: &mut Run<'_, '_, T>,
    parameters: &Parameters<'_>,
) -> Result<(Vec<u32>, Details), Error> {
    let prefix = parameters.count.div_ceil(10);
    let radii = if prefix < MIN_PREFIX {
        None
    } else {
        radii(&first(run, parameters, prefix)?, parameters, run.cloud.len)
    };
    let levels = match radii {
        Some(radii) => by_levels(run, parameters, prefix, &radii)?,
        None => None,
    };
    match levels {
        Some((samples, coverage)) => Ok((samples, Details::FastPoint(coverage))),
        None => exact(run, parameters),
    }
}

/// Takes samples level by level and fills up; `None` if the radii are not representable.
fn by_levels<T: Scalar>(
    run: &mut Run<'_, '_, T>,
    parameters: &Parameters<'_>,
    prefix: usize,
    predicted: &[T],
) -> Result<Option<(Vec<u32>, FastPointDetails)>, Error> {
    let mut levels = Levels::new(run.cloud, parameters);
    levels.begin(run)?;
    // The remaining samples are divided evenly; a single start counts as found.
    let extra_starts = parameters.starts.len() - 1;
    let (mut radii, mut larger) = (Vec::with_capacity(LEVELS), 1.0);
    let mut last = T::INFINITY;
    for (level, &radius) in predicted.iter().enumerate() {
        let corrected = T::from_f64(radius.to_f64() * larger);
        let until = extra_starts + (level + 1) * (parameters.count - extra_starts) / LEVELS;
        let Some(used) = levels.level(corrected, until, run)? else { return Ok(None) };
        // No point was left as far as the last radius: above it nothing is taken.
        let used = if used < last { used } else { last };
        larger = (used.to_f64() / radius.to_f64()).max(1.0);
        radii.push(used.to_f64());
        last = used;
    }
    let found = levels.samples.len();
    let covering_radius = levels.fill(last, run)?.sqrt().to_f64();
    let spacing = (last * last).sqrt().to_f64();
    let coverage = FastPointDetails { prefix, radii, found, spacing, covering_radius };
    Ok(Some((levels.samples, coverage)))
}

/// Takes all samples by the exact algorithm.
fn exact<T: Scalar>(
    run: &mut Run<'_, '_, T>,
    parameters: &Parameters<'_>,
) -> Result<(Vec<u32>, Details), Error> {
    let sample =
        farthest(run, parameters, parameters.count, parameters.starts, |progress| progress)?;
    let covering_radius = sample.covering_radius().to_f64();
    let points = memory::collected(sample.indices.iter().map(|&point| point as u32));
    let spacing = sample.squared_distances.last().map_or(0.0, |d| d.sqrt().to_f64());
    let (prefix, found) = (parameters.count, parameters.count);
    let coverage = FastPointDetails { prefix, radii: Vec::new(), found, spacing, covering_radius };
    Ok((points, Details::FastPoint(coverage)))
}

/// Returns the samples that the curve is predicted from. They are none of the result's.
fn first<T: Scalar>(
    run: &mut Run<'_, '_, T>,
    parameters: &Parameters<'_>,
    prefix: usize,
) -> Result<Sample<T>, Error> {
    let none =
        |progress: Progress| Progress { samples: 0, covering_radius: f64::INFINITY, ..progress };
    farthest(run, parameters, prefix, &parameters.starts[..1], none).map_err(|error| match error {
        Error::Cancelled(_) => Error::Cancelled(0),
        error => error,
    })
}

/// Samples by the exact algorithm. Indices are points of the copied cloud.
fn farthest<T: Scalar>(
    run: &mut Run<'_, '_, T>,
    parameters: &Parameters<'_>,
    count: usize,
    starts: &[u32],
    adjust: fn(Progress) -> Progress,
) -> Result<Sample<T>, Error> {
    let Run { cloud, threads, watch, statistics } = run;
    let axes: Vec<&[T]> = cloud.axes.iter().map(|values| &values[..cloud.len]).collect();
    let starts = memory::collected(starts.iter().map(|&point| point as usize));
    let sampler = Sampler::count(count).start(Start::Indices(starts)).algorithm(parameters.first);
    let (sampler, cpu) = (sampler.statistics(true), Cpu::new().threads(*threads));
    let mut observer = |progress| watch.notify(adjust(progress));
    let sample = sampler.on(&cpu).observe(&mut observer).sample(&Axes::new(&axes)?)?;
    if let Some(counted) = &sample.statistics {
        statistics.distance_evaluations += counted.distance_evaluations;
        statistics.effective_updates += counted.effective_updates;
    }
    Ok(sample)
}

/// Returns the falling radii of the levels; `None` if there is no curve to predict from.
fn radii<T: Scalar>(
    first: &Sample<T>,
    parameters: &Parameters<'_>,
    points: usize,
) -> Option<Vec<T>> {
    // The selection distance of sample k, for k from 1 to the number of first samples.
    let distances = first.squared_distances[1..].iter().chain([&first.squared_covering_radius]);
    let distances = memory::collected(distances.map(|d| d.to_f64().sqrt()));
    let (inputs, scale) = curve::inputs(&distances, parameters.count)?;
    let curve = match parameters.estimator {
        Estimator::Network => {
            Network::trained().curve(&inputs, parameters.count as f64 / points as f64)
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
