//! Graphs, which use the content of their memory at launch; two threads with a stream each; and repeated runs.

use super::batch::{Batch, Rig, Way};
use super::{PARTS, reduced};
use crate::clouds::Cloud;
use crate::pointers::RowLayout;
use crate::runner::Group;
use crate::tally::Tally;
use anyhow::Result;
use farpoint::VoxelGrid;
use farpoint_cuda::{Error, Gpu, Stream};
use farpoint_generate::Kind;
use std::thread;

/// Launches of a graph, each with different points; and runs that must agree.
const REPLAYS: u64 = 4;
const REPEATS: usize = 30;

pub(super) fn groups() -> Vec<Group> {
    vec![graph("voxels, graph, 2 x 20,000", 20_000), two_threads()]
}

/// For the sanitizer.
pub(super) fn small() -> Vec<Group> {
    vec![graph("voxels, graph, 2 x 500", 500)]
}

fn batch(n: usize, seed: u64) -> Batch<f32> {
    let kinds = [Kind::Room, Kind::Duplicated, Kind::Cube, Kind::Equal];
    let cloud = |k: u64| Cloud::of(kinds[((seed + k) % 4) as usize], n, 10 * seed + k);
    Batch { clouds: vec![cloud(0), cloud(1)], layout: RowLayout::Rows, ragged: false }
}

/// Room for as many voxels as there are rows, so that both steps are one graph and nothing waits.
fn graph(name: &'static str, n: usize) -> Group {
    Group::new(name, PARTS, move || {
        let batches: Vec<_> = (0..REPLAYS).map(|seed| batch(n, seed)).collect();
        Ok(move |device: &Gpu, part: &str, tally: &mut Tally| {
            for sorted in [false, true] {
                for scratch in [true, false] {
                    let job = reduced(&VoxelGrid::new(0.2).min_points(2).sorted(sorted), part);
                    let way = Way { spare: usize::MAX, ranges: false, scratch, ..Way::PLAIN };
                    replayed(device, &job, way, &batches, tally)?;
                }
            }
            Ok(())
        })
    })
}

fn replayed(
    device: &Gpu,
    job: &VoxelGrid,
    way: Way,
    batches: &[Batch<f32>],
    tally: &mut Tally,
) -> Result<()> {
    let stream = Stream::new(device)?;
    let mut rig = Rig::new(&stream, &batches[0], job)?;
    let outputs = rig.outputs(job, 0, way)?;
    let both = |rig: &Rig<'_, f32>| -> Result<(), Error> {
        rig.enqueue_voxels(job)?;
        rig.enqueue_points(job, &outputs, None)
    };
    // The first use of a kernel loads it, which a capture may not.
    both(&rig)?;
    stream.synchronize()?;
    let graph = stream.capture(|| both(&rig))?;
    for (replay, batch) in batches.iter().enumerate() {
        rig.write(batch)?;
        // SAFETY: the rig and the outputs outlive the launches, which are waited for.
        unsafe { graph.launch(&stream)? };
        stream.synchronize()?;
        let result = rig.compare(job, &outputs, &batch.truth(job)?);
        let label = format!("replay {replay}, {job:?}, {way:?}");
        tally.check(label, result.map_err(|error| format!("{error:#}")));
    }
    Ok(())
}

fn two_threads() -> Group {
    Group::new("voxels, two threads with a stream each", PARTS, || {
        let batches = [batch(6_000, 1), batch(30_000, 2)];
        Ok(move |device: &Gpu, part: &str, tally: &mut Tally| {
            let tallies = thread::scope(|scope| {
                let threads = batches.each_ref().map(|batch| {
                    scope.spawn(move || -> Result<Tally> {
                        let mut thread_tally = Tally::new(part);
                        let stream = Stream::new(device)?;
                        let job = reduced(&VoxelGrid::new(0.1).sorted(true), part);
                        let (rig, truth) = (Rig::new(&stream, batch, &job)?, batch.truth(&job)?);
                        for run in 0..REPEATS {
                            let result = rig.check(&job, Way::ALL[run % 4], &truth);
                            let result = result.map_err(|error| format!("{error:#}"));
                            thread_tally.check(format!("run {run}"), result);
                        }
                        Ok(thread_tally)
                    })
                });
                threads.map(|thread| thread.join())
            });
            for thread_tally in tallies {
                tally.add(thread_tally.map_err(|_| anyhow::anyhow!("a thread panicked"))??);
            }
            Ok(())
        })
    })
}
