//! The threads that read a caller's cloud. A process of its own: other tests would keep the threads of the
//! global pool busy.

use farpoint::approximate::{Keep, Method};
use farpoint::{ApproximateSampler, Cpu, Points, Sampler};
use farpoint_generate::{Kind, generate};
use std::collections::HashSet;
use std::sync::Mutex;
use std::thread::ThreadId;
use std::time::Duration;

/// A cloud that records the threads that read it, which takes a while.
struct Noting<'a> {
    rows: &'a [[f32; 3]],
    thread_ids: Mutex<HashSet<ThreadId>>,
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
            self.thread_ids.lock().unwrap().insert(std::thread::current().id());
            std::thread::sleep(Duration::from_millis(1));
        }
        self.rows[index][axis]
    }
}

/// Counts the threads that `work` reads a cloud of 100,000 points on; returns also whether this one is among them.
fn readers(work: impl FnOnce(&Noting<'_>)) -> (usize, bool) {
    let rows = generate(Kind::Cube, 100_000, 8);
    let cloud = Noting { rows: &rows, thread_ids: Mutex::default() };
    work(&cloud);
    let thread_ids = cloud.thread_ids.into_inner().unwrap();
    (thread_ids.len(), thread_ids.contains(&std::thread::current().id()))
}

#[test]
fn a_cloud_is_copied_on_the_requested_threads() {
    let sampler = Sampler::count(10);
    let grid = ApproximateSampler::count(Method::Grid { keep: Keep::First }, 10);
    let sampled = |threads: usize| {
        readers(|cloud| drop(sampler.on(&Cpu::new().threads(threads)).sample(cloud).unwrap()))
    };
    let approximated = |threads: usize| {
        readers(|cloud| drop(grid.on(&Cpu::new().threads(threads)).sample(cloud).unwrap()))
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
    // Small clouds are read by the caller alone.
    let rows = generate(Kind::Cube, 1_000, 8);
    let small = Noting { rows: &rows, thread_ids: Mutex::default() };
    sampler.sample(&small).unwrap();
    assert_eq!(*small.thread_ids.lock().unwrap(), HashSet::from([std::thread::current().id()]));
}
