//! Samples that a deadline or an observer ends early: the beginning of the complete one, with its covering radius.

use crate::cases::some;
use crate::common::{as_f32, configs, integers, uniform};
use farpoint::{
    Cpu, DeviceKind, Error, NonFinite, Points, Progress, Sample, Sampler, Scalar, Start, reference,
};
use farpoint_generate::{Kind, generate};
use std::ops::ControlFlow;
use std::time::Duration;

/// Panics unless a sample is the beginning of the complete one.
fn check<T: Scalar>(name: &str, sample: &Sample<T>, complete: &Sample<T>) {
    let len = sample.len();
    assert_eq!(sample.indices, complete.indices[..len], "{name}");
    assert_eq!(sample.squared_distances, complete.squared_distances[..len], "{name}");
    assert!(sample.complete || len < complete.len(), "{name}");
    assert!(len >= complete.starts, "{name}");
    let covering = complete.covering_radius_of(len.max(1));
    assert!(sample.covering_radius() == covering, "{name}, {len} samples");
}

/// Ends runs on a cloud after various times and calls of the observer.
fn check_cloud<T: Scalar, const D: usize>(name: &str, cloud: &[[T; D]], start: Start)
where
    [[T; D]]: Points<T>,
{
    let job = Sampler::ratio(0.5).start(start).non_finite(NonFinite::Skip);
    let complete = job.sample(cloud).unwrap();
    assert!(complete.complete);
    let mut ended = 0;
    for config in some(0, 6, configs(&[1, 2, 7])) {
        let name = format!("{name}, {}", config.name);
        let job = config.job(job.clone());
        for micros in [0, 50, 500, 3_000] {
            let job = job.clone().deadline(Duration::from_micros(micros));
            let sample = job.on(&config.cpu).sample(cloud).unwrap();
            check(&name, &sample, &complete);
            ended += usize::from(!sample.complete);
        }
        let patient = job.clone().deadline(Duration::from_secs(3600));
        assert_eq!(patient.on(&config.cpu).sample(cloud).unwrap().indices, complete.indices);
        for calls in 0..3 {
            let mut left = calls;
            let mut observer = |_: Progress| {
                left -= 1;
                if left < 0 { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
            };
            let job = job.clone().partial(true);
            let sample = job.on(&config.cpu).observe(&mut observer).sample(cloud).unwrap();
            check(&name, &sample, &complete);
        }
    }
    assert!(ended > 0, "{name}");
}

#[test]
fn samples_that_end_early_begin_the_complete_one() {
    let first = Start::First;
    let room = generate(Kind::Room, 20_000, 3);
    check_cloud("room", &room, first.clone());
    check_cloud("several starts", &room, Start::Indices(vec![9, 4_000, 77]));
    check_cloud("uniform", &uniform::<3>(6_000, 1), Start::Random(4));
    check_cloud("ties", &as_f32(&integers::<3>(6_000, 6, 1.0, 3)), first.clone());
    check_cloud("one place", &vec![[0.5f32; 3]; 4_000], first.clone());
    let large: Vec<_> =
        uniform::<3>(3_000, 2).into_iter().map(|point| point.map(|x| x * 1e200)).collect();
    check_cloud("overflow", &large, first.clone());
    check_cloud("five axes", &uniform::<5>(5_000, 5), first.clone());
    let mut gaps = uniform::<3>(5_000, 6);
    (0..500).for_each(|row| gaps[10 * row][1] = f64::NAN);
    check_cloud("non-finite rows", &gaps, first);
}

#[test]
fn a_run_without_time_has_the_start_and_its_covering_radius() {
    let cloud = uniform::<3>(30_000, 8);
    let job = Sampler::count(10_000).start(Start::Indices(vec![5, 700]));
    let sample = job.deadline(Duration::ZERO).sample(&cloud).unwrap();
    assert_eq!((sample.indices, sample.complete), (vec![5, 700], false));
    let one = Sampler::count(100).deadline(Duration::ZERO).sample(&cloud).unwrap();
    let truth = reference(&cloud, 1, 0).unwrap();
    assert_eq!(one.squared_covering_radius, truth.squared_covering_radius);
    let none = Sampler::count(0).deadline(Duration::ZERO).sample(&cloud).unwrap();
    assert!(none.complete && none.is_empty());
}

/// Building a structure takes several milliseconds here: all of them look at the clock meanwhile.
#[test]
fn every_algorithm_looks_at_the_clock_while_it_builds() {
    let cloud = generate(Kind::Room, 200_000, 7);
    for algorithm in ["radius", "tree", "peak"] {
        let job = Sampler::ratio(0.5).algorithm(algorithm.parse().unwrap()).partial(true);
        for threads in [1, 2] {
            let mut seen = Vec::new();
            let mut observer = |progress: Progress| {
                seen.push(progress.samples);
                ControlFlow::Break(())
            };
            let cpu = Cpu::new().threads(threads);
            let sample = job.on(&cpu).observe(&mut observer).sample(&cloud).unwrap();
            assert_eq!((sample.indices, seen), (vec![0], vec![0]), "{algorithm}, {threads}");
        }
    }
}

/// The observer that ends a run is not called again, whatever the threads do meanwhile.
#[test]
fn an_observer_that_ends_a_run_is_not_called_again() {
    let cloud = generate(Kind::Room, 60_000, 5);
    for (threads, partial) in [(1, false), (2, false), (5, true)] {
        let mut calls = 0;
        let mut observer = |_: Progress| {
            calls += 1;
            if calls < 2 { ControlFlow::Continue(()) } else { ControlFlow::Break(()) }
        };
        let (cpu, job) = (Cpu::new().threads(threads), Sampler::ratio(0.5).partial(partial));
        let sample = job.on(&cpu).observe(&mut observer).sample(&cloud);
        assert_eq!((sample.is_ok(), calls), (partial, 2), "{threads} threads");
    }
}

#[test]
fn early_ends_are_for_single_clouds_on_the_cpu() {
    let job = Sampler::count(2).deadline(Duration::from_secs(3600));
    let cloud = vec![[0.0f32; 3]; 9];
    assert_eq!(job.sample_batch(std::slice::from_ref(&cloud)).unwrap()[0].len(), 2);
    let refused = job.sample_batch(&[cloud.clone(), cloud]).unwrap_err();
    assert!(refused.to_string().contains("batch of 2 clouds"), "{refused}");
    for job in [job, Sampler::count(2).partial(true)] {
        let refused = job.check(DeviceKind::Gpu);
        assert!(matches!(refused, Err(Error::NotOnDevice { .. })), "{refused:?}");
    }
}
