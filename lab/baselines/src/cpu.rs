//! From a job and points to a sample on the CPU.

use crate::run::Run;
use crate::{Found, Job, Method, fastpoint, morton, npdu, quick};
use anyhow::{Result, ensure};
use farpoint::backend::PreparedCloud;
use farpoint::{Points, Scalar, Start, Statistics};

/// Samples one cloud.
///
/// # Errors
/// As for [`farpoint::Sampler::sample`], and if options are out of range.
pub fn sample<T: Scalar, P: Points<T> + ?Sized>(job: &Job, points: &P) -> Result<Found<T>> {
    let pool = rayon::ThreadPoolBuilder::new().num_threads(job.threads.unwrap_or(0)).build()?;
    let points: &dyn Points<T> = &points;
    pool.install(|| sample_here(job, points))
}

fn sample_here<T: Scalar>(job: &Job, points: &dyn Points<T>) -> Result<Found<T>> {
    job.method.check()?;
    let has_start = !matches!(job.method, Method::Morton { .. });
    ensure!(has_start || job.start == Start::First, "morton takes no start");
    let cloud = PreparedCloud::new(&job.exact(), &points)?;
    ensure!(
        cloud.stop_radius().is_none(),
        "a spacing is for exact samplers; use a count or a ratio"
    );
    let mut found = Found {
        indices: Vec::new(),
        squared_distances: Vec::new(),
        window: None,
        fastpoint: None,
        dropped: cloud.dropped(),
        statistics: Statistics::default(),
    };
    if cloud.max_samples() == 0 {
        return Ok(found);
    }
    let mut run = Run {
        cloud: &cloud,
        axes: (0..cloud.dims().max(3)).map(|axis| cloud.axis(axis)).collect(),
        count: cloud.max_samples(),
        starts: cloud.starts(),
        statistics: Statistics::default(),
    };
    let chosen = match job.method {
        Method::Quick { height } => {
            let (chosen, distances) = quick::sample(&mut run, height);
            found.squared_distances = distances;
            chosen
        }
        Method::Morton { bits } => morton::sample(&run, bits),
        Method::Npdu { window, order } => {
            let (chosen, window) = npdu::sample(&mut run, window, order)?;
            found.window = Some(window);
            chosen
        }
        Method::FastPoint { first, estimator } => {
            let (chosen, details) = fastpoint::sample(&mut run, first, estimator)?;
            found.fastpoint = Some(details);
            chosen
        }
    };
    found.indices = chosen.into_iter().map(|point| cloud.row(point as usize)).collect();
    found.statistics = run.statistics;
    Ok(found)
}
