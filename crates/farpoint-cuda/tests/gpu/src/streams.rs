//! Streams: runs beside other work, several concurrently, on borrowed ones.

use crate::clouds::Cloud;
use crate::resident::{Expected, Resident};
use crate::runner::Group;
use crate::tally::Tally;
use crate::variants::{self, ALL, Variant};
use anyhow::Result;
use farpoint::{Algorithm, Sampler};
use farpoint_cuda::{Error, Gpu, Stream};
use farpoint_generate::Kind;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;

/// Clouds, rows, samples.
type Shape = [usize; 3];

pub(crate) fn groups() -> Vec<Group> {
    vec![
        repeated("20 times under load, 20,000 -> 5,000", [1, 20_000, 5_000]),
        repeated("20 times under load, 16 x 2,000 -> 500", [16, 2_000, 500]),
        two_threads(),
        legacy(),
    ]
}

/// For the sanitizer.
pub(crate) fn small() -> Vec<Group> {
    vec![legacy()]
}

fn clouds([b, n, _]: Shape, seed: u64) -> Vec<Cloud<f32>> {
    let kinds = [Kind::Room, Kind::Lattice, Kind::Object, Kind::Clusters];
    (0..b).map(|k| Cloud::of(kinds[k % 4], n, seed + k as u64)).collect()
}

/// One cloud or batch repeatedly while another stream keeps the card busy.
fn repeated(name: &'static str, shape: Shape) -> Group {
    Group::new(name, ALL, move || {
        let expected = Expected::new(&clouds(shape, 1), shape[2])?;
        let small = Expected::new(&clouds([64, 4_096, 256], 2), 256)?;
        Ok(move |device: &Gpu, part: &str, tally: &mut Tally| {
            under_load(device, &small, || {
                let plain = Variant::plain(variants::algorithm(part));
                let sampler = plain.of(Sampler::count(shape[2]));
                repeat(device, &sampler, shape, &expected, 20, part, tally)
            })
        })
    })
}

/// Runs `work` while another thread queues a brute force on half of the card without end.
fn under_load(
    device: &Gpu,
    load: &Expected<f32>,
    work: impl FnOnce() -> Result<(), Error>,
) -> Result<()> {
    let stop = AtomicBool::new(false);
    thread::scope(|scope| {
        let load_thread = scope.spawn(|| -> Result<(), Error> {
            let stream = Stream::new(device)?;
            let sampler = Sampler::count(256).algorithm(Algorithm::Naive);
            let mut batch = Resident::new(&stream, [64, 4_096, 3], 256, Some(&sampler))?;
            batch.write(&load.data)?;
            while !stop.load(Ordering::Relaxed) {
                // Two at a time, so that there is always one at work.
                batch.enqueue(device, &stream, &sampler)?;
                batch.enqueue(device, &stream, &sampler)?;
                stream.synchronize()?;
            }
            Ok(())
        });
        let result = work();
        stop.store(true, Ordering::Relaxed);
        load_thread.join().map_err(|_| anyhow::anyhow!("the load panicked"))??;
        Ok(result?)
    })
}

/// Runs on a stream of its own, each compared with the CPU, so that all agree.
fn repeat(
    device: &Gpu,
    sampler: &Sampler,
    [b, n, m]: Shape,
    expected: &Expected<f32>,
    times: usize,
    label: &str,
    tally: &mut Tally,
) -> Result<(), Error> {
    let stream = Stream::new(device)?;
    let mut batch = Resident::new(&stream, [b, n, 3], m, Some(sampler))?;
    batch.write(&expected.data)?;
    for time in 0..times {
        batch.enqueue(device, &stream, sampler)?;
        tally.check(format!("{label}, run {time}"), batch.compare(expected)?);
    }
    Ok(())
}

/// Two threads with a stream each, by one algorithm and by two.
fn two_threads() -> Group {
    let shapes: [Shape; 2] = [[1, 10_000, 2_500], [7, 1_500, 400]];
    Group::new("two threads with a stream each", ALL, move || {
        let all_expected = [
            Expected::new(&clouds(shapes[0], 3), 2_500)?,
            Expected::new(&clouds(shapes[1], 9), 400)?,
        ];
        Ok(move |device: &Gpu, part: &str, tally: &mut Tally| {
            for other in [part, "peak"] {
                let tallies = thread::scope(|scope| {
                    let threads = [(part, 0), (other, 1)].map(|(algorithm, index)| {
                        let (expected, shape) = (&all_expected[index], shapes[index]);
                        scope.spawn(move || {
                            let plain = Variant::plain(variants::algorithm(algorithm));
                            let sampler = plain.of(Sampler::count(shape[2]));
                            let mut thread_tally = Tally::new(algorithm);
                            let label = format!("{algorithm} beside {other}");
                            let result = repeat(
                                device,
                                &sampler,
                                shape,
                                expected,
                                10,
                                &label,
                                &mut thread_tally,
                            );
                            thread_tally.take(label, result);
                            thread_tally
                        })
                    });
                    threads.map(|thread| thread.join())
                });
                for thread_tally in tallies {
                    tally.add(thread_tally.map_err(|_| anyhow::anyhow!("a thread panicked"))?);
                }
            }
            Ok(())
        })
    })
}

/// The legacy default stream, which can't be captured.
fn legacy() -> Group {
    let shape: Shape = [3, 1_000, 250];
    Group::new("legacy default stream", ALL, move || {
        let expected = Expected::new(&clouds(shape, 5), shape[2])?;
        Ok(move |device: &Gpu, part: &str, tally: &mut Tally| {
            let [b, n, m] = shape;
            // SAFETY: the legacy default stream is always there.
            let stream = unsafe { Stream::borrowed(device, 0) };
            for variant in variants::all(part) {
                let sampler = variant.of(Sampler::count(m));
                for scratch_for in [Some(&sampler), None] {
                    let mut batch = Resident::new(&stream, [b, n, 3], m, scratch_for)?;
                    batch.write(&expected.data)?;
                    let label =
                        format!("{}, scratch given: {}", variant.name, scratch_for.is_some());
                    if tally.take(&label, batch.enqueue(device, &stream, &sampler)).is_some() {
                        tally.check(label, batch.compare(&expected)?);
                    }
                }
            }
            Ok(())
        })
    })
}
