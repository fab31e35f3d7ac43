//! CUDA graphs: a captured run samples the content of its memory at launch.

use crate::clouds::Cloud;
use crate::resident::{Expected, Resident};
use crate::runner::Group;
use crate::tally::Tally;
use crate::variants::{self, ALL, Variant};
use anyhow::Result;
use farpoint::Sampler;
use farpoint_cuda::{Error, Gpu, Stream};
use farpoint_generate::Kind;

/// Launches of a graph, each with different points.
const REPLAYS: usize = 5;

pub(crate) fn groups() -> Vec<Group> {
    vec![
        group("graph, 20,000 -> 2,000", [1, 20_000, 3], 2_000),
        group("graph, 5 x 1,500 -> 400", [5, 1_500, 3], 400),
        group("graph, 32 x 1,024 -> 512", [32, 1_024, 3], 512),
        group("graph, 3 x 700 x 5 axes -> 100", [3, 700, 5], 100),
    ]
}

/// For the sanitizer.
pub(crate) fn small() -> Vec<Group> {
    vec![group("graph, 3 x 300 -> 40", [3, 300, 3], 40)]
}

fn clouds([b, n, d]: [usize; 3], seed: usize) -> Vec<Cloud<f32>> {
    let kinds = [Kind::Room, Kind::Object, Kind::Lattice, Kind::Duplicated];
    let cloud = |k: usize| match d {
        3 => Cloud::of(kinds[(seed + k) % 4], n, (seed * 100 + k) as u64),
        _ => Cloud::random(n, d, (k == 1).then_some(3), (seed * 100 + k) as u64),
    };
    (0..b).map(cloud).collect()
}

fn group(name: &'static str, shape: [usize; 3], samples: usize) -> Group {
    Group::new(name, ALL, move || {
        let expected = |seed| Expected::new(&clouds(shape, seed), samples);
        let all_expected = (0..REPLAYS).map(expected).collect::<Result<Vec<_>>>()?;
        Ok(move |device: &Gpu, part: &str, tally: &mut Tally| {
            for provided in [true, false] {
                let label = if provided { "scratch given" } else { "scratch from the pool" };
                match replayed(device, part, provided, shape, samples, &all_expected, tally) {
                    // Older drivers can't capture a cooperative launch.
                    Err(Error::Driver { call, reason }) if part == "peak" || part == "auto" => {
                        tally.refuse(format!("{label}: {call}: {reason}"));
                    }
                    Err(Error::Kernel { name, reason }) if part == "peak" || part == "auto" => {
                        tally.refuse(format!("{label}: the kernel {name}: {reason}"));
                    }
                    result => drop(tally.take(label, result)),
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
    shape: [usize; 3],
    samples: usize,
    all_expected: &[Expected<f32>],
    tally: &mut Tally,
) -> Result<(), Error> {
    let stream = Stream::new(device)?;
    let sampler = Variant::plain(variants::algorithm(part)).of(Sampler::count(samples));
    let mut batch = Resident::new(&stream, shape, samples, provided.then_some(&sampler))?;
    // The first use of a kernel loads it, which a capture may not.
    batch.write(&all_expected[0].data)?;
    batch.enqueue(device, &stream, &sampler)?;
    stream.synchronize()?;
    let graph = stream.capture(|| batch.enqueue(device, &stream, &sampler))?;
    for (replay, expected) in all_expected.iter().enumerate() {
        batch.write(&expected.data)?;
        // SAFETY: the batch outlives the launches, which `compare` waits for.
        unsafe { graph.launch(&stream)? };
        tally
            .check(format!("scratch given: {provided}, replay {replay}"), batch.compare(expected)?);
    }
    Ok(())
}
