//! Allocations of samplers that are called again and again, and the memory that the process keeps for them. A process of
//! its own, whose allocator counts.

mod refusing;

use farpoint::{Algorithm, Cpu, NonFinite, Points, Sampler, Scalar, trim_memory};
use farpoint_generate::{Kind, generate};
use refusing::USED;
use std::sync::atomic::Ordering::Relaxed;

/// All allocations are counted.
const LARGE: usize = 1;

const POINTS: usize = 30_000;

/// Returns the number of allocations of each of several calls, with some threads.
fn counts<T: Scalar>(job: &Sampler, threads: usize, cloud: &dyn Points<T>) -> [isize; 4] {
    let cpu = Cpu::new().threads(threads);
    let expected = job.on(&cpu).sample(&cloud).unwrap();
    assert!(matches!(expected.algorithm, Algorithm::Peak(_)), "{:?}", expected.algorithm);
    trim_memory();
    let mut sample = Sampler::count(1).non_finite(job.non_finite).on(&cpu).sample(&cloud).unwrap();
    std::array::from_fn(|_| {
        let run = || job.on(&cpu).sample_into(&cloud, &mut sample).unwrap();
        let ((), count) = refusing::refused(isize::MAX / 2, run);
        assert!(sample == expected, "{job:?}");
        count
    })
}

fn check<T: Scalar>(name: &str, job: &Sampler, cloud: &dyn Points<T>) {
    let [first, more @ ..] = counts(job, 1, cloud);
    assert!(first > 0, "{name}: nothing was counted");
    assert_eq!(more, [0; 3], "{name}, {} axes: {job:?}", cloud.dim());
}

/// One test, for all have the same allocator.
#[test]
fn repeated_calls_allocate_nothing() {
    let jobs = [Sampler::ratio(0.25), Sampler::ratio(0.9).non_finite(NonFinite::Skip)];
    for kind in [Kind::Cube, Kind::Lidar, Kind::Clusters, Kind::Duplicated] {
        let mut single = generate(kind, POINTS, 1);
        let double: Vec<[f64; 3]> = single.iter().map(|row| row.map(f64::from)).collect();
        let further: Vec<[f32; 5]> =
            single.iter().map(|&[x, y, z]| [x, y, z, x * y, y - z]).collect();
        let name = format!("{kind:?}");
        check(&name, &jobs[0], &single);
        check(&name, &jobs[0], &double);
        check(&name, &jobs[0], &further);
        single[7][1] = f32::NAN;
        check(&name, &jobs[1], &single);
    }
    let cloud = generate(Kind::Lidar, POINTS, 1);
    keeps_what_it_may(&cloud);
    // Last: a helper frees its part of the team a moment after the call.
    println!("with two threads: {:?} allocations", counts(&jobs[0], 2, &cloud));
}

fn keeps_what_it_may(cloud: &[[f32; 3]]) {
    let run = || drop(Sampler::ratio(0.25).on(&Cpu::new().threads(1)).sample(cloud).unwrap());
    trim_memory();
    let before = USED.load(Relaxed);
    run();
    let kept = USED.load(Relaxed) - before;
    assert!((1 << 20..16 << 20).contains(&kept), "{kept} bytes kept");
    let freed = trim_memory() as isize;
    assert!(freed > kept / 2 && freed <= kept, "{freed} of {kept} bytes freed");
    assert_eq!(USED.load(Relaxed), before);
    assert_eq!(trim_memory(), 0);
    for limit in [1 << 20, 0] {
        run();
        farpoint::set_kept_memory(limit);
        let kept = USED.load(Relaxed) - before;
        assert!(kept < limit as isize + (64 << 10), "{kept} bytes kept of {limit}");
        run();
        assert!(trim_memory() <= limit);
    }
    farpoint::set_kept_memory(64 << 20);
}
