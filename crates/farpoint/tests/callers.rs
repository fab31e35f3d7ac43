//! What callers may do that is no data: numbers of threads, and coordinates that change while they
//! are read.

mod common;

use common::{narrow, uniform};
use farpoint::approximate::Method;
use farpoint::{
    Algorithm, ApproximateSampler, BadRows, Cpu, DeviceKind, Error, Points, Sampler, chamfer,
};
use std::collections::HashSet;
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread::ThreadId;
use std::time::Duration;

/// A cloud that notes the threads that read it, which takes a while.
struct Noting<'a> {
    rows: &'a [[f32; 3]],
    seen: Mutex<HashSet<ThreadId>>,
}

impl Points<f32> for Noting<'_> {
    fn len(&self) -> usize {
        self.rows.len()
    }
    fn dim(&self) -> usize {
        3
    }
    fn coordinate(&self, index: usize, axis: usize) -> f32 {
        if index.is_multiple_of(997) {
            self.seen.lock().unwrap().insert(std::thread::current().id());
            std::thread::sleep(Duration::from_millis(1));
        }
        self.rows[index][axis]
    }
}

/// How many threads `work` reads a cloud of 100,000 points on, and whether this one is among them.
fn readers(work: impl FnOnce(&Noting<'_>)) -> (usize, bool) {
    let rows = narrow(&uniform::<3>(100_000, 8));
    let cloud = Noting { rows: &rows, seen: Mutex::default() };
    work(&cloud);
    let seen = cloud.seen.into_inner().unwrap();
    (seen.len(), seen.contains(&std::thread::current().id()))
}

#[test]
fn a_cloud_is_copied_on_the_threads_asked_for() {
    let sampler = Sampler::count(10);
    let morton = ApproximateSampler::count(Method::Morton { bits: 10 }, 10);
    let sampled = |threads: usize| {
        readers(|cloud| drop(sampler.on(&Cpu::new().threads(threads)).sample(cloud).unwrap()))
    };
    let approximated = |threads: usize| {
        readers(|cloud| drop(morton.on(&Cpu::new().threads(threads)).sample(cloud).unwrap()))
    };
    let cores = std::thread::available_parallelism().map_or(1, usize::from);
    let cores = if cfg!(feature = "rayon") { cores } else { 1 };
    for threads in [2, 3, 5] {
        let (count, here) = sampled(threads);
        assert!((cores.min(2)..=threads).contains(&count) && here, "{count} of {threads}");
        let (count, _) = approximated(threads);
        assert!((cores.min(2)..=threads).contains(&count), "{count} of {threads}");
    }
    assert_eq!((sampled(1), approximated(1)), ((1, true), (1, true)));
    // Small clouds are nobody's but the caller's.
    let rows = narrow(&uniform::<3>(1_000, 8));
    let small = Noting { rows: &rows, seen: Mutex::default() };
    sampler.sample(&small).unwrap();
    assert_eq!(*small.seen.lock().unwrap(), HashSet::from([std::thread::current().id()]));
}

#[test]
fn no_threads_are_refused_everywhere() {
    let clouds = [vec![[0.0f32; 3]; 4], vec![[1.0; 3]; 4]];
    let data: Vec<f32> = clouds.iter().flatten().flatten().copied().collect();
    let (cpu, job) = (Cpu::new().threads(0), Sampler::count(1));
    let sampler = job.on(&cpu);
    let morton = ApproximateSampler::count(Method::Morton { bits: 10 }, 1);
    let refused = |error: Error| assert!(matches!(error, Error::BadThreads(0, _)), "{error}");
    refused(sampler.sample(&clouds[0]).unwrap_err());
    refused(sampler.sample_batch(&clouds).unwrap_err());
    refused(sampler.sample_padded(&data, [2, 4, 3], None).unwrap_err());
    refused(sampler.sample_ragged(&data, 3, &[0, 4, 8]).unwrap_err());
    refused(morton.on(&cpu).sample(&clouds[0]).unwrap_err());
}

/// A cloud that another thread writes to, as far as a caller can see: the first `bad` reads give
/// NaN, later ones of the same numbers do not; or the other way round.
struct Changing {
    reads: AtomicUsize,
    bad: std::ops::Range<usize>,
}

impl Points<f32> for Changing {
    fn len(&self) -> usize {
        300
    }
    fn dim(&self) -> usize {
        3
    }
    fn coordinate(&self, index: usize, axis: usize) -> f32 {
        let read = self.reads.fetch_add(1, Ordering::Relaxed);
        if self.bad.contains(&read) { f32::NAN } else { (index * 3 + axis) as f32 }
    }
}

#[test]
fn coordinates_that_change_while_they_are_read_are_an_error_or_a_result() {
    for bad in [0..1, 0..900, 10..20, 500..2_000, 900..1_800, 890..910] {
        for rows in [BadRows::Error, BadRows::Skip] {
            for algorithm in Algorithm::of(DeviceKind::Cpu) {
                let cloud = Changing { reads: AtomicUsize::new(0), bad: bad.clone() };
                let sampler = Sampler::count(5).bad_rows(rows).algorithm(algorithm);
                match sampler.sample(&cloud) {
                    Ok(sample) => assert_eq!(sample.len(), 5),
                    Err(Error::BadRows { first, count, points: 300 }) => {
                        assert!(first < 300 && (1..=300).contains(&count));
                    }
                    // Too few rows are good, or none.
                    Err(Error::TooManySamples { wanted: 5, .. } | Error::EmptyCloud) => {
                        assert_eq!(rows, BadRows::Skip);
                    }
                    Err(Error::StartIsBad { index: 0 }) => assert_eq!(rows, BadRows::Skip),
                    Err(other) => panic!("{bad:?}: {other}"),
                }
            }
        }
        let cloud = Changing { reads: AtomicUsize::new(0), bad };
        let _ = chamfer::<f32, _, _>(&cloud, &cloud).map(|chamfer| chamfer.sum());
    }
}
