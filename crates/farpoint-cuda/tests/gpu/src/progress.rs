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
    vec![sampling(), matching(), jobs_of_clouds()]
}

/// Returns the calls of an observer that cancels at its `last` call.
fn observe_calls<R>(
    last: usize,
    run: impl FnOnce(farpoint::Observer<'_>) -> Result<R, Error>,
) -> (Vec<(usize, usize)>, Result<R, Error>) {
    let mut calls = Vec::new();
    let mut observer = |progress: Progress| {
        calls.push((progress.samples, progress.total));
        if calls.len() < last { ControlFlow::Continue(()) } else { ControlFlow::Break(()) }
    };
    let result = run(&mut observer);
    (calls, result)
}

fn is_complete(calls: &[(usize, usize)], total: usize) -> bool {
    let has_ends = calls.first() == Some(&(0, total)) && calls.last() == Some(&(total, total));
    has_ends && calls.is_sorted()
}

/// Samples of a cloud, and of a batch.
fn sampling() -> Group {
    const COUNT: usize = 3_000;
    Group::new("progress of sampling", ALL, || {
        let cloud = Cloud::<f32>::of(Kind::Room, 20_000, 1);
        let clouds = [cloud.first(8_000), cloud.clone()];
        let truth = Sampler::count(COUNT).sample(&cloud)?;
        Ok(move |gpu: &Gpu, part: &str, tally: &mut Tally| {
            let job = Sampler::count(COUNT).algorithm(variants::algorithm(part));
            let (calls, sample) =
                observe_calls(usize::MAX, |observer| job.on(gpu).observe(observer).sample(&cloud));
            tally.is(format!("{calls:?} rises"), is_complete(&calls, COUNT));
            tally.is("radius reports in between", part != "radius" || calls.len() > 10);
            let ordinal = gpu.ordinal();
            let expected_device = RanOn::Gpu { ordinal };
            tally
                .is("ran on", sample.as_ref().is_ok_and(|sample| sample.ran_on == expected_device));
            tally.sample("watched", sample, &truth);
            let (calls, samples) = observe_calls(usize::MAX, |observer| {
                job.on(gpu).observe(observer).sample_batch(&clouds)
            });
            tally.is("a batch", is_complete(&calls, 2 * COUNT) && samples.is_ok());
            let gpus = Gpus::new(vec![gpu.clone(), gpu.clone()])?;
            let (calls, samples) = observe_calls(usize::MAX, |observer| {
                job.on(&gpus).observe(observer).sample_batch(&clouds)
            });
            tally.is("two GPUs", is_complete(&calls, 2 * COUNT) && samples.is_ok());
            let max_calls = if part == "radius" { 5 } else { 2 };
            for last in 1..=max_calls {
                let (calls, sample) =
                    observe_calls(last, |observer| job.on(gpu).observe(observer).sample(&cloud));
                let expected = farpoint::Error::Cancelled(calls.last().map_or(0, |last| last.0));
                let canceled = matches!(&sample, Err(Error::Sampling(error)) if *error == expected);
                tally.is(format!("canceled at call {last}"), canceled && calls.len() == last);
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
            let (calls, found) =
                observe_calls(usize::MAX, |observer| job.on(gpu).observe(observer).chamfer(&a, &b));
            tally
                .is("both", is_complete(&calls, 12_000) && found.is_ok_and(|found| found == truth));
            let (calls, found) =
                observe_calls(usize::MAX, |observer| job.on(gpu).observe(observer).nearest(&a, &b));
            tally.is(
                "one",
                is_complete(&calls, 5_000) && found.is_ok_and(|found| found == truth.a_to_b),
            );
            for last in 1..=2 {
                let (_, found) =
                    observe_calls(last, |observer| job.on(gpu).observe(observer).chamfer(&a, &b));
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
fn jobs_of_clouds() -> Group {
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
