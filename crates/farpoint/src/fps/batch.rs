//! Many clouds at once, spread over the cores. A cloud's result does not depend on its batch.

use super::run::{self, SMALL};
use crate::scalar::compiled_once;
use crate::unwind::caught;
use crate::watch::Watch;
use crate::{Cpu, Error, Observer, Points, Progress, Sample, Sampler, Scalar, memory, threads};
use std::ops::ControlFlow;

compiled_once! {
    /// Samples each cloud, by one job or by one each, under one watch.
    pub(crate) fn sample<'a, 'b, T: Scalar>(
        cpu: &'a Cpu,
        jobs: &'a [Sampler],
        clouds: &'a [&'a dyn Points<T>],
        observer: Option<Observer<'b>>,
    ) -> Result<Vec<Sample<T>>, Error> {
        caught(|| sample_each(cpu, jobs, clouds, observer))
    }
}

fn sample_each<T: Scalar>(
    cpu: &Cpu,
    jobs: &[Sampler],
    clouds: &[&dyn Points<T>],
    observer: Option<Observer<'_>>,
) -> Result<Vec<Sample<T>>, Error> {
    if clouds.len() > 1 && jobs.iter().any(Sampler::ends_early) {
        return Err(Error::Shape(format!(
            "a deadline or a partial sample for a batch of {} clouds; sample them one by one",
            clouds.len()
        )));
    }
    let sample_limit =
        |(job, cloud): (&Sampler, &&dyn Points<T>)| job.amount.limit(cloud.len()).unwrap_or(0);
    let each_job = jobs.iter().cycle().zip(clouds);
    let watch = match observer {
        None => Watch::disabled(),
        some => Watch::new(some, each_job.map(sample_limit).fold(0, usize::saturating_add)),
    };
    let sampled = each(cpu.threads, jobs, clouds, |threads, job, points| {
        watched(&cpu.threads(threads), job, points, &watch)
    });
    // Cancellation is not an error of a cloud.
    watch.end(Error::Cancelled).and(sampled)
}

/// Samples one cloud of a batch; its samples are reported as part of the batch.
fn watched<T: Scalar>(
    cpu: &Cpu,
    job: &Sampler,
    points: &dyn Points<T>,
    watch: &Watch<'_>,
) -> Result<Sample<T>, Error> {
    if !watch.is_enabled() {
        return run::sample_on(cpu, job, points, None, Default::default());
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
    let sample = run::sample_on(cpu, job, points, Some(&mut report), Default::default())?;
    // Cancellation is checked before the next cloud.
    watch.step(sample.len() - done);
    Ok(sample)
}

/// Returns the result of `one` for each cloud, on the threads passed to it, by one job or by one each.
pub(super) fn each<T: Scalar, R: Send>(
    threads: Option<usize>,
    jobs: &[Sampler],
    clouds: &[&dyn Points<T>],
    one: impl Fn(usize, &Sampler, &dyn Points<T>) -> Result<R, Error> + Send + Sync,
) -> Result<Vec<R>, Error> {
    if jobs.len() != 1 && jobs.len() != clouds.len() {
        let (jobs, clouds) = (jobs.len(), clouds.len());
        return Err(Error::Shape(format!("{jobs} jobs for a batch of {clouds} clouds")));
    }
    let sizes = memory::collected(clouds.iter().map(|cloud| cloud.len()));
    threads::spread(&sizes, SMALL, threads, |cloud, threads| {
        let job = if jobs.len() == 1 { &jobs[0] } else { &jobs[cloud] };
        one(threads, job, clouds[cloud])
    })
}
