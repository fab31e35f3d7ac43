//! Many clouds at once, spread over the cores. A cloud's result does not depend on its batch.

use super::run::{self, SMALL};
use crate::watch::Watch;
use crate::{Cpu, Error, Observer, Points, Progress, Sample, Sampler, Scalar, threads};
use std::ops::ControlFlow;

/// Samples each cloud, by one job or by one each, under one watch.
pub(crate) fn sample<T: Scalar, P: Points<T>>(
    cpu: &Cpu,
    jobs: &[Sampler],
    clouds: &[P],
    observer: Option<Observer<'_>>,
) -> Result<Vec<Sample<T>>, Error> {
    let wanted = |(job, cloud): (&Sampler, &P)| job.amount.limit(cloud.len()).unwrap_or(0);
    let each_job = jobs.iter().cycle().zip(clouds);
    let watch = match observer {
        None => Watch::off(),
        some => Watch::new(some, each_job.map(wanted).fold(0, usize::saturating_add)),
    };
    let sampled = each(cpu.threads, jobs, clouds, |threads, job, points| {
        watched(&cpu.threads(threads), job, points, &watch)
    });
    // That the observer canceled is no fault of a cloud.
    watch.end(Error::Cancelled).and(sampled)
}

/// One cloud of a batch, whose samples are reported as part of the batch.
fn watched<T: Scalar, P: Points<T>>(
    cpu: &Cpu,
    job: &Sampler,
    points: &P,
    watch: &Watch<'_>,
) -> Result<Sample<T>, Error> {
    if !watch.is_on() {
        return run::sample(cpu, job, points, None);
    }
    if !watch.step(0) {
        return Err(Error::Cancelled(0));
    }
    let mut done = 0;
    let mut report = |progress: Progress| {
        let more = progress.samples - done;
        done = progress.samples;
        if watch.step(more) { ControlFlow::Continue(()) } else { ControlFlow::Break(()) }
    };
    let sample = run::sample(cpu, job, points, Some(&mut report))?;
    // Whether to go on is asked before the next cloud.
    watch.step(sample.len() - done);
    Ok(sample)
}

/// What `one` gives for each cloud, on the threads that it is given, by one job or by one each.
pub(super) fn each<P: Points<T>, T: Scalar, R: Send>(
    threads: Option<usize>,
    jobs: &[Sampler],
    clouds: &[P],
    one: impl Fn(usize, &Sampler, &P) -> Result<R, Error> + Send + Sync,
) -> Result<Vec<R>, Error> {
    if jobs.len() != 1 && jobs.len() != clouds.len() {
        let (jobs, clouds) = (jobs.len(), clouds.len());
        return Err(Error::Shape(format!("{jobs} jobs for a batch of {clouds} clouds")));
    }
    let sizes: Vec<_> = clouds.iter().map(Points::len).collect();
    threads::spread(&sizes, SMALL, threads, |cloud, threads| {
        let job = if jobs.len() == 1 { &jobs[0] } else { &jobs[cloud] };
        one(threads, job, &clouds[cloud])
    })
}
