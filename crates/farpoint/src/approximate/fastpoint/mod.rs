//! FastPoint's sampler (ICCV 2025), made deterministic.
//!
//! 1. A tenth of the samples by exact farthest point sampling, by any algorithm of `fps`.
//! 2. The inverse of their selection distances is a rising curve. It is predicted up to the last
//!    sample by a small network or by a fit ([`curve`], [`network`]).
//! 3. Six falling radii are read off it, at a sixth, two sixths, ... of the samples.
//! 4. Radius by radius, points are taken that are at least so far from all samples, until no such
//!    point is left ([`levels`]).
//! 5. The rest by farthest point sampling from the distances that are known by then: exactly M.
//!
//! Where the release races for points, the lowest index comes first; where it needs lists of
//! neighbours in memory, points are struck out through a grid; and radii that come out of order
//! are put in order. The release ends a level when its share of the samples is there, wherever
//! that leaves holes; here a level that would need more is run again with a larger radius, and
//! later radii grow with it. So every level covers the cloud, however wrong the prediction, and
//! the covering radius of the result is known.

mod curve;
mod levels;
mod network;

pub use curve::{INPUTS, OUTPUTS, fitted, inputs, predicted};
pub use network::Network;

use super::{Details, Estimator};
use crate::cloud::Cloud;
use crate::{Algorithm, Axes, Error, Sample, Sampler, Scalar, Statistics};
use levels::Levels;

/// Levels of falling radii.
const LEVELS: usize = 6;

/// With fewer first samples there is no curve to predict from: all samples are exact then.
const FEWEST: usize = 32;

/// What is to be done.
pub(super) struct Job {
    pub(super) count: usize,
    pub(super) first: Algorithm,
    pub(super) estimator: Estimator,
    pub(super) threads: usize,
}

/// What FastPoint's sampler tells of its sample.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct Coverage {
    /// Samples of the first stage, which the curve was predicted from.
    pub prefix: usize,
    /// The radii of the levels as they were used, falling; empty if all samples are exact, because they are few or
    /// the first of them lie on top of each other.
    pub radii: Vec<f64>,
    /// Samples that the levels found; the others were filled in by exact updates.
    pub found: usize,
    /// No two of the samples found by the levels are nearer than this.
    pub spacing: f64,
    /// Largest distance of any point to the sample.
    pub covering_radius: f64,
}

/// Chooses `count` points, at least one.
pub(super) fn sample<T: Scalar>(
    cloud: &Cloud<T>,
    job: &Job,
    statistics: &mut Statistics,
) -> Result<(Vec<u32>, Details), Error> {
    let prefix = job.count.div_ceil(10);
    let radii = if prefix < FEWEST {
        None
    } else {
        radii(&farthest(cloud, job, prefix, statistics)?, job, cloud.len)
    };
    let levels = radii.and_then(|radii| run(cloud, job, prefix, &radii, statistics));
    match levels {
        Some((samples, coverage)) => Ok((samples, Details::FastPoint(coverage))),
        None => exact(cloud, job, statistics),
    }
}

/// Takes samples level by level and fills up; `None` if numbers do not suffice for the radii.
fn run<T: Scalar>(
    cloud: &Cloud<T>,
    job: &Job,
    prefix: usize,
    predicted: &[T],
    statistics: &mut Statistics,
) -> Option<(Vec<u32>, Coverage)> {
    let mut levels = Levels::new(cloud, job.count);
    let (mut radii, mut larger) = (Vec::with_capacity(LEVELS), 1.0);
    let mut last = T::INFINITY;
    for (level, &radius) in predicted.iter().enumerate() {
        let wanted = T::from_f64(radius.to_f64() * larger);
        let until = (level + 1) * job.count / LEVELS;
        let used = levels.run(wanted, until, statistics)?;
        // No point was left as far as the last radius: above it nothing is taken.
        let used = if used < last { used } else { last };
        larger = (used.to_f64() / radius.to_f64()).max(1.0);
        radii.push(used.to_f64());
        last = used;
    }
    let found = levels.samples.len();
    let covering_radius = levels.fill(last, statistics).sqrt().to_f64();
    let spacing = (last * last).sqrt().to_f64();
    Some((levels.samples, Coverage { prefix, radii, found, spacing, covering_radius }))
}

/// All samples by the exact algorithm.
fn exact<T: Scalar>(
    cloud: &Cloud<T>,
    job: &Job,
    statistics: &mut Statistics,
) -> Result<(Vec<u32>, Details), Error> {
    let sample = farthest(cloud, job, job.count, statistics)?;
    let covering_radius = sample.covering_radius().to_f64();
    let points = sample.indices.iter().map(|&point| point as u32).collect();
    let spacing = sample.squared_distances.last().map_or(0.0, |d| d.sqrt().to_f64());
    let (prefix, found) = (job.count, job.count);
    let coverage = Coverage { prefix, radii: Vec::new(), found, spacing, covering_radius };
    Ok((points, Details::FastPoint(coverage)))
}

/// The first samples, exactly. Indices are points of the copied cloud.
fn farthest<T: Scalar>(
    cloud: &Cloud<T>,
    job: &Job,
    count: usize,
    statistics: &mut Statistics,
) -> Result<Sample<T>, Error> {
    let axes: Vec<&[T]> = cloud.axes.iter().map(|values| &values[..cloud.len]).collect();
    let sampler = Sampler::count(count).algorithm(job.first).threads(job.threads).statistics(true);
    let sample = sampler.sample(&Axes::new(&axes)?)?;
    if let Some(counted) = &sample.statistics {
        statistics.distance_evaluations += counted.distance_evaluations;
        statistics.effective_updates += counted.effective_updates;
    }
    Ok(sample)
}

/// The falling radii of the levels; `None` if there is no curve to predict from.
fn radii<T: Scalar>(first: &Sample<T>, job: &Job, points: usize) -> Option<Vec<T>> {
    // The selection distance of sample k, for k from 1 to the number of first samples.
    let distances = first.squared_distances[1..].iter().chain([&first.squared_covering_radius]);
    let distances: Vec<f64> = distances.map(|d| d.to_f64().sqrt()).collect();
    let (inputs, scale) = curve::inputs(&distances, job.count)?;
    let curve = match job.estimator {
        Estimator::Network => Network::trained().curve(&inputs, job.count as f64 / points as f64),
        Estimator::Fit => curve::fitted(&inputs),
    };
    let mut least = T::from_f64(scale);
    let radii = (1..=LEVELS).map(|level| {
        let inverse = curve::at(&curve, level as f64 / LEVELS as f64);
        let radius = T::from_f64(scale / inverse);
        // Radii never rise, whatever was predicted, and none is 0 or no number.
        if radius > T::ZERO && radius < least {
            least = radius;
        }
        least
    });
    Some(radii.collect())
}
