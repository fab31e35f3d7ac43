//! Runs report their progress and can be canceled; several jobs are one batch; several GPUs are one
//! device.

use crate::clouds::Cloud;
use crate::runner::Group;
use crate::tally::Tally;
use crate::variants::{self, ALL};
use anyhow::Result;
use farpoint::{Device, Matcher, Progress, RanOn, Sampler, Start};
use farpoint_cuda::{Error, Gpu, Gpus};
use farpoint_generate::Kind;
use std::ops::ControlFlow;

pub(crate) fn groups() -> Vec<Group> {
    vec![sampling(), matching(), own_jobs()]
}

/// Returns the calls of an observer that cancels at its `last` call.
fn watched<R>(
    last: usize,
    run: impl FnOnce(farpoint::Observer<'_>) -> Result<R, Error>,
) -> (Vec<(usize, usize)>, Result<R, Error>) {
    let mut told = Vec::new();
    let mut observer = |progress: Progress| {
        told.push((progress.samples, progress.wanted));
        if told.len() < last { ControlFlow::Continue(()) } else { ControlFlow::Break(()) }
    };
    let result = run(&mut observer);
    (told, result)
}

fn rises(told: &[(usize, usize)], wanted: usize) -> bool {
    let ends = told.first() == Some(&(0, wanted)) && told.last() == Some(&(wanted, wanted));
    ends && told.is_sorted()
}

/// Samples of a cloud, and of a batch.
fn sampling() -> Group {
    const WANTED: usize = 3_000;
    Group::new("progress of sampling", ALL, || {
        let cloud = Cloud::<f32>::of(Kind::Room, 20_000, 1);
        let clouds = [cloud.first(8_000), cloud.clone()];
        let truth = Sampler::count(WANTED).sample(&cloud)?;
        Ok(move |gpu: &Gpu, part: &str, tally: &mut Tally| {
            let job = Sampler::count(WANTED).algorithm(variants::algorithm(part));
            let (told, sample) =
                watched(usize::MAX, |observer| job.on(gpu).observe(observer).sample(&cloud));
            tally.is(format!("{told:?} rises"), rises(&told, WANTED));
            tally.is("radius reports in between", part != "radius" || told.len() > 10);
            let ordinal = gpu.ordinal();
            let here = RanOn::Gpu { ordinal };
            tally.is("ran on", sample.as_ref().is_ok_and(|sample| sample.ran_on == here));
            tally.sample("watched", sample, &truth);
            let (told, samples) =
                watched(usize::MAX, |observer| job.on(gpu).observe(observer).sample_batch(&clouds));
            tally.is("a batch", rises(&told, 2 * WANTED) && samples.is_ok());
            let gpus = Gpus::new(vec![gpu.clone(), gpu.clone()])?;
            let (told, samples) = watched(usize::MAX, |observer| {
                job.on(&gpus).observe(observer).sample_batch(&clouds)
            });
            tally.is("two GPUs", rises(&told, 2 * WANTED) && samples.is_ok());
            let most = if part == "radius" { 5 } else { 2 };
            for last in 1..=most {
                let (told, sample) =
                    watched(last, |observer| job.on(gpu).observe(observer).sample(&cloud));
                let expected = farpoint::Error::Cancelled(told.last().map_or(0, |last| last.0));
                let canceled = matches!(&sample, Err(Error::Sampling(error)) if *error == expected);
                tally.is(format!("canceled at call {last}"), canceled && told.len() == last);
            }
            tally.sample("the next call", job.on(gpu).sample(&cloud), &truth);
            Ok(())
        })
    })
}

/// Nearest points of a pair.
fn matching() -> Group {
    Group::new("progress of matching", &[""], || {
        let (a, b) = (Cloud::<f32>::of(Kind::Room, 5_000, 1), Cloud::of(Kind::Room, 7_000, 2));
        let truth = farpoint::chamfer(&a, &b)?;
        Ok(move |gpu: &Gpu, _: &str, tally: &mut Tally| {
            let job = Matcher::new();
            let (told, found) =
                watched(usize::MAX, |observer| job.on(gpu).observe(observer).chamfer(&a, &b));
            tally.is("both", rises(&told, 12_000) && found.is_ok_and(|found| found == truth));
            let (told, found) =
                watched(usize::MAX, |observer| job.on(gpu).observe(observer).nearest(&a, &b));
            tally.is("one", rises(&told, 5_000) && found.is_ok_and(|found| found == truth.a_to_b));
            for last in 1..=2 {
                let (_, found) =
                    watched(last, |observer| job.on(gpu).observe(observer).chamfer(&a, &b));
                let canceled =
                    matches!(found, Err(Error::Sampling(farpoint::Error::SearchCancelled(_))));
                tally.is(format!("canceled at call {last}"), canceled);
            }
            let gpus = Gpus::new(vec![gpu.clone(), gpu.clone()])?;
            let pairs = [vec![a.clone(), b.clone()], vec![b.clone(), a.clone()]];
            let found = tally.take("two GPUs", job.on(&gpus).chamfer_batch(&pairs[0], &pairs[1]));
            let right = |found: Vec<farpoint::Chamfer<f32>>| {
                found[0] == truth && found[1].a_to_b == truth.b_to_a
            };
            tally.is("two GPUs", found.is_some_and(right));
            Ok(())
        })
    })
}

/// Jobs of a batch that differ in all options.
fn own_jobs() -> Group {
    Group::new("a job for each cloud", &[""], || {
        let clouds: Vec<_> = (1..7).map(|seed| Cloud::<f32>::of(Kind::Room, 900, seed)).collect();
        let jobs = [
            Sampler::count(20),
            Sampler::count(300).start(Start::Index(7)),
            Sampler::spacing(0.5),
            Sampler::spacing(0.7),
            Sampler::ratio(0.3).algorithm(variants::algorithm("radius")),
            Sampler::whole().algorithm(variants::algorithm("naive")),
        ];
        let truth = jobs.iter().zip(&clouds).map(|(job, cloud)| {
            let cpu = job.clone().algorithm(farpoint::Algorithm::Auto);
            Ok(cpu.sample(cloud)?)
        });
        let truth = truth.collect::<Result<Vec<_>>>()?;
        Ok(move |gpu: &Gpu, _: &str, tally: &mut Tally| {
            tally.batch("jobs", gpu.sample_batch(&jobs, &clouds, None), &truth);
            let gpus = Gpus::new(vec![gpu.clone(); 3])?;
            tally.batch("jobs on three", gpus.sample_batch(&jobs, &clouds, None), &truth);
            let found: Result<Vec<farpoint::Sample<f32>>, _> =
                gpu.sample_batch(&jobs[..2], &clouds, None);
            tally.is("too few jobs", matches!(found, Err(Error::Sampling(_))));
            Ok(())
        })
    })
}
