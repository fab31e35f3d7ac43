//! Memory of searches beside their results, and errors if there is none. A process of its own,
//! whose allocator counts and refuses.

mod refusing;

use farpoint::approximate::ApproximateSampler;
use farpoint::values::{self, InverseDistance, ValueShape};
use farpoint::{
    Cpu, Error, Index, Matcher, Method, Order, Sampler, Searcher, Selected, Start, measure,
};
use refusing::{PEAK, USED};
use std::sync::atomic::Ordering::Relaxed;
use std::sync::{Mutex, PoisonError};

/// Bytes of an allocation that can be refused.
const LARGE: usize = 128 << 10;

/// One test at a time: all have the same allocator.
static TURN: Mutex<()> = Mutex::new(());

/// 64 queries search together; each has all points in its ball.
#[test]
fn large_balls_need_memory_for_the_result_and_one_ball() {
    let _turn = TURN.lock().unwrap_or_else(PoisonError::into_inner);
    const QUERIES: usize = 64;
    const POINTS: usize = 50_000;
    let x: Vec<[f32; 1]> = (0..QUERIES).map(|i| [i as f32]).collect();
    let y: Vec<[f32; 1]> = (0..POINTS).map(|i| [(i * 7919 % POINTS) as f32]).collect();
    for (method, order) in [(Method::Tree, Order::Nearest), (Method::Brute, Order::Index)] {
        let searcher = Searcher::ball(1e6, 1).order(order).method(method);
        let before = USED.load(Relaxed);
        PEAK.store(before, Relaxed);
        let all = searcher.on(&Cpu::new().threads(1)).within(&x, &y).unwrap();
        let peak = PEAK.load(Relaxed) - before;
        assert_eq!(all.indices.len(), QUERIES * POINTS);
        let result = (all.indices.len() * 8) as isize;
        // The clouds, their structures, and the keys of one ball.
        let more = (POINTS * 100) as isize;
        assert!(peak < result + more, "{peak} bytes for a result of {result}");
    }
}

const POINTS: usize = 100_000;

fn cloud() -> Vec<[f32; 3]> {
    farpoint_generate::generate(farpoint_generate::Kind::Room, POINTS, 1)
}

type Call = Box<dyn Fn(&Cpu, &[[f32; 3]]) -> Result<(), Error> + Sync>;

/// Returns calls of functions of the interface.
fn calls() -> Vec<(String, Call)> {
    let mut calls: Vec<(String, Call)> = Vec::new();
    let mut add = |name: &str, call: Call| calls.push((name.to_owned(), call));
    for (name, count) in
        [("peak", POINTS), ("tree", 2000), ("radius", 500), ("naive", 3), ("reference", 3)]
    {
        let start = Start::Indices(vec![5, 0, 7]);
        let job = Sampler::count(count).algorithm(name.parse().unwrap()).start(start);
        add(name, Box::new(move |cpu, cloud| job.on(cpu).sample(cloud).map(drop)));
    }
    let job = Sampler::spacing(0.05);
    add("spacing", Box::new(move |cpu, cloud| job.on(cpu).sample(cloud).map(drop)));
    let job = Sampler::ratio(0.5);
    add("batch", Box::new(move |cpu, cloud| job.on(cpu).sample_batch(&[cloud, cloud]).map(drop)));
    let rows: Vec<usize> = (0..POINTS).rev().collect();
    add(
        "rows",
        Box::new(move |cpu, cloud| {
            Sampler::ratio(0.5).on(cpu).sample(&Selected::rows(cloud, &rows)?).map(drop)
        }),
    );
    for method in ["random", "grid"] {
        let job = ApproximateSampler::count(method.parse().unwrap(), 1000);
        add(method, Box::new(move |cpu, cloud| job.on(cpu).sample(cloud).map(drop)));
    }
    let sample: Vec<usize> = (0..POINTS).step_by(2).collect();
    add(
        "measure",
        Box::new(move |cpu, cloud| measure::Measure.on(cpu).quality(cloud, &sample).map(drop)),
    );
    let grads = [vec![1.0; POINTS], vec![1.0; POINTS / 2]];
    add(
        "chamfer",
        Box::new(move |cpu, cloud| {
            let found = Matcher::new().on(cpu).chamfer(cloud, &cloud[..POINTS / 2])?;
            let grads = [&grads[0][..], &grads[1][..]];
            farpoint::Device::backward(cpu, &found, cloud, &cloud[..POINTS / 2], grads).map(drop)
        }),
    );
    add(
        "index",
        Box::new(|cpu, cloud| {
            let index = Index::build(cpu, cloud, farpoint::NonFinite::Error)?;
            Searcher::nearest(4).on(cpu).search(cloud, &index).map(drop)
        }),
    );
    add(
        "within",
        Box::new(|cpu, cloud| Searcher::ball(0.05, 1).on(cpu).within(cloud, cloud).map(drop)),
    );
    let indices: Vec<u32> = (0..2 * POINTS as u32).map(|k| k / 3).collect();
    let near = vec![1.0; 2 * POINTS];
    add(
        "values",
        Box::new(move |cpu, cloud| {
            let shape = ValueShape { clouds: 1, rows: POINTS, places: POINTS, k: 2, channels: 3 };
            let values = cloud.as_flattened();
            let all = values::gather(cpu, &shape, values, &indices)?;
            values::gather_backward(cpu, &shape, &indices, &all)?;
            let largest = values::gather_max(cpu, &shape, values, &indices, Some(&all))?;
            let (chosen, grad) = (&largest.chosen, &largest.values);
            values::gather_max_backward(cpu, &shape, &indices, chosen, grad, true)?;
            let weights =
                values::inverse_distance_weights(cpu, 2, &near, InverseDistance::default())?;
            values::interpolate(cpu, &shape, values, &indices, &weights)?;
            values::interpolate_backward(cpu, &shape, &indices, &weights, grad)?;
            values::interpolate_weights_backward(cpu, &shape, values, &indices, grad).map(drop)
        }),
    );
    calls
}

/// Makes the call while nothing is kept, and refuses the large allocation of this number; returns also the number of
/// large allocations.
fn refused(
    number: isize,
    call: &Call,
    cpu: &Cpu,
    cloud: &[[f32; 3]],
) -> (Result<(), Error>, isize) {
    farpoint::trim_memory();
    let result = refusing::refused(number, || call(cpu, cloud));
    farpoint::trim_memory();
    result
}

/// Memory runs out at every large allocation of every call.
#[test]
fn failed_allocations_are_errors() {
    let _turn = TURN.lock().unwrap_or_else(PoisonError::into_inner);
    let cloud = cloud();
    for (name, call) in calls() {
        for threads in [1, 2] {
            let cpu = Cpu::new().threads(threads);
            let (result, allocations) = refused(isize::MAX / 2, &call, &cpu, &cloud);
            assert_eq!(result, Ok(()), "{name}");
            let used = USED.load(Relaxed);
            let mut errors = 0;
            // Every fifth, or all: the last is the result's own.
            let all = std::env::var_os("FARPOINT_THOROUGH").is_some_and(|value| value == "1");
            let step = if all && threads == 1 { 1 } else { 5 };
            // The first, too, without which there is no other: with several threads the number varies.
            for number in (0..allocations).rev().step_by(step).chain([0]) {
                match refused(number, &call, &cpu, &cloud).0 {
                    Err(Error::OutOfMemory { bytes: 1.. } | Error::TooManyNeighbors(_)) => {
                        errors += 1
                    }
                    Ok(()) if threads > 1 => {}
                    other => panic!("{name}, allocation {number} of {allocations}: {other:?}"),
                }
                if threads == 1 {
                    let more = USED.load(Relaxed) - used;
                    assert!(
                        more < LARGE as isize,
                        "{name}, allocation {number}: {more} bytes leaked"
                    );
                }
            }
            assert!(errors > 0, "{name}: none of {allocations} was refused");
            let (repeated, _) = refused(isize::MAX / 2, &call, &cpu, &cloud);
            assert_eq!(repeated, Ok(()), "{name}");
        }
    }
}
