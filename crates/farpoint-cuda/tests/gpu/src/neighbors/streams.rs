//! Runs that are repeated, concurrent on two streams, on a borrowed stream, and captured into graphs:
//! always the same bits.

use super::expected::Expected;
use super::{METHODS, Resident, is_capture_unsupported, method};
use crate::clouds::Cloud;
use crate::runner::Group;
use crate::tally::Tally;
use anyhow::Result;
use farpoint::{Matcher, Norm};
use farpoint_cuda::{Error, Gpu, Stream};
use farpoint_generate::Kind;
use std::thread;

/// Pairs, and rows of either side.
type Shape = (usize, [usize; 2]);

/// Launches of a graph, each with different points; and runs that must agree.
const REPLAYS: usize = 3;
const REPEATS: usize = 20;

pub(super) fn groups() -> Vec<Group> {
    vec![
        repeated("20 times, 20,000 and 15,000", (1, [20_000, 15_000])),
        repeated("20 times, 16 x 2,000", (16, [2_000, 2_000])),
        two_threads(),
        graph("graph, 20,000 and 30,000", (1, [20_000, 30_000])),
        graph("graph, 8 x 1,500 and 1,000", (8, [1_500, 1_000])),
        legacy((3, [1_000, 700])),
    ]
}

/// For the sanitizer.
pub(super) fn small() -> Vec<Group> {
    vec![legacy((2, [300, 200])), graph("graph, 3 x 300", (3, [300, 260]))]
}

/// Points of both sides, and the expected results.
pub(crate) struct ExpectedPairs {
    points: [Vec<f32>; 2],
    pub(crate) truth: [Expected<f32>; 2],
}

impl ExpectedPairs {
    pub(crate) fn new((pairs, rows): Shape, seed: usize) -> Result<Self> {
        let kinds = [Kind::Room, Kind::Lattice, Kind::Object, Kind::Duplicated];
        let side = |side: usize| -> Vec<Cloud<f32>> {
            let seeds = (0..pairs).map(|k| 100 * seed + 2 * k);
            let cloud =
                |seed: usize| Cloud::of(kinds[seed / 2 % 4], rows[side], (seed + side) as u64);
            seeds.map(cloud).collect()
        };
        let clouds = [side(0), side(1)];
        let truth = Expected::of([&clouds[0], &clouds[1]], rows.map(Some), Norm::Two, [true; 2])?;
        let flat = |clouds: Vec<Cloud<f32>>| clouds.into_iter().flat_map(|c| c.data).collect();
        Ok(Self { points: clouds.map(flat), truth })
    }

    /// The points of both sides.
    pub(crate) fn clouds(&self) -> [Cloud<f32>; 2] {
        self.points.clone().map(|data| Cloud { data, dims: 3 })
    }

    pub(crate) fn write(&self, batch: &mut Resident<f32>) -> Result<(), Error> {
        batch.write(self.points.each_ref().map(Vec::as_slice))?;
        batch.write_grads(self.truth.each_ref().map(|side| side.grads.as_slice()))
    }
}

fn matcher(part: &str) -> Matcher {
    Matcher::new().method(method(part))
}

/// Forward and backward `times` times on a stream, each time compared with the CPU.
fn repeat(
    stream: &Stream,
    part: &str,
    (pairs, rows): Shape,
    expected: &ExpectedPairs,
    times: usize,
    tally: &mut Tally,
) -> Result<(), Error> {
    let matcher = matcher(part);
    for scratch_for in [Some(&matcher), None] {
        let mut batch = Resident::new(stream, pairs, rows, 3, scratch_for)?;
        expected.write(&mut batch)?;
        for time in 0..times {
            let label = format!("{part}, scratch given: {}, run {time}", scratch_for.is_some());
            batch.enqueue(stream, &matcher)?;
            batch.enqueue_backward(stream, &matcher)?;
            tally.check(&label, batch.compare(&expected.truth)?);
            tally.check(label, batch.compare_gradients(&expected.truth)?);
        }
    }
    Ok(())
}

fn repeated(name: &'static str, shape: Shape) -> Group {
    Group::new(format!("chamfer {name}"), METHODS, move || {
        let expected = ExpectedPairs::new(shape, 1)?;
        Ok(move |device: &Gpu, part: &str, tally: &mut Tally| {
            let stream = Stream::new(device)?;
            Ok(repeat(&stream, part, shape, &expected, REPEATS, tally)?)
        })
    })
}

/// Two threads with a stream each, by two methods.
fn two_threads() -> Group {
    let shapes: [Shape; 2] = [(1, [10_000, 9_000]), (7, [1_500, 1_400])];
    Group::new("chamfer, two threads with a stream each", METHODS, move || {
        let all_expected = [ExpectedPairs::new(shapes[0], 3)?, ExpectedPairs::new(shapes[1], 4)?];
        Ok(move |device: &Gpu, part: &str, tally: &mut Tally| {
            let tallies = thread::scope(|scope| {
                let threads = [(part, 0), ("tree", 1)].map(|(part, index)| {
                    let expected = &all_expected[index];
                    scope.spawn(move || {
                        let mut thread_tally = Tally::new(part);
                        let run = Stream::new(device).and_then(|stream| {
                            repeat(&stream, part, shapes[index], expected, 10, &mut thread_tally)
                        });
                        thread_tally.take(part, run);
                        thread_tally
                    })
                });
                threads.map(|thread| thread.join())
            });
            for thread_tally in tallies {
                tally.add(thread_tally.map_err(|_| anyhow::anyhow!("a thread panicked"))?);
            }
            Ok(())
        })
    })
}

/// The legacy default stream, which can't be captured.
fn legacy(shape: Shape) -> Group {
    Group::new("chamfer, legacy default stream", METHODS, move || {
        let expected = ExpectedPairs::new(shape, 5)?;
        Ok(move |device: &Gpu, part: &str, tally: &mut Tally| {
            // SAFETY: the legacy default stream is always there.
            let stream = unsafe { Stream::borrowed(device, 0) };
            Ok(repeat(&stream, part, shape, &expected, 1, tally)?)
        })
    })
}

/// A captured search with its gradients uses the content of its memory at launch.
fn graph(name: &'static str, shape: Shape) -> Group {
    Group::new(format!("chamfer {name}"), METHODS, move || {
        let all_expected = (0..REPLAYS).map(|seed| ExpectedPairs::new(shape, seed));
        let all_expected = all_expected.collect::<Result<Vec<_>>>()?;
        Ok(move |device: &Gpu, part: &str, tally: &mut Tally| {
            for provided in [true, false] {
                match replayed(device, part, provided, shape, &all_expected, tally) {
                    // Older drivers can't capture a cooperative launch.
                    Err(error) if is_capture_unsupported(&error) => tally.refuse(error),
                    result => drop(tally.take(format!("scratch given: {provided}"), result)),
                }
            }
            Ok(())
        })
    })
}

fn replayed(
    device: &Gpu,
    part: &str,
    provided: bool,
    (pairs, rows): Shape,
    all_expected: &[ExpectedPairs],
    tally: &mut Tally,
) -> Result<(), Error> {
    let stream = Stream::new(device)?;
    let matcher = matcher(part);
    let mut batch = Resident::new(&stream, pairs, rows, 3, provided.then_some(&matcher))?;
    // The first use of a kernel loads it, which a capture may not.
    all_expected[0].write(&mut batch)?;
    let both = |batch: &Resident<f32>| {
        batch.enqueue(&stream, &matcher)?;
        batch.enqueue_backward(&stream, &matcher)
    };
    both(&batch)?;
    stream.synchronize()?;
    let graph = stream.capture(|| both(&batch))?;
    for (replay, expected) in all_expected.iter().enumerate() {
        expected.write(&mut batch)?;
        // SAFETY: the batch outlives the launches, which `compare` waits for.
        unsafe { graph.launch(&stream)? };
        let label = format!("scratch given: {provided}, replay {replay}");
        tally.check(&label, batch.compare(&expected.truth)?);
        tally.check(label, batch.compare_gradients(&expected.truth)?);
    }
    Ok(())
}
