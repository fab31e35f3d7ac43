//! Graphs, which use the content of their memory at launch; two threads with a stream each; and
//! repeated runs.

use super::PARTS;
use super::case::{Case, Names, Truth};
use super::numbers::{Half, Number, Single};
use super::rig::{Memory, Rig};
use crate::runner::Group;
use crate::tally::Tally;
use anyhow::Result;
use farpoint::values::ValueShape;
use farpoint_cuda::{Error, Gpu, IndexKind, Stream};
use std::thread;

/// Launches of a graph, each with different input; and runs that must agree.
const REPLAYS: usize = 3;
const REPEATS: usize = 20;

const SHAPE: ValueShape = ValueShape { clouds: 3, rows: 900, places: 500, k: 9, channels: 32 };

pub(super) fn groups() -> Vec<Group> {
    let mut groups = small();
    groups.extend([two_threads(), graph::<Half>()]);
    groups
}

/// For the sanitizer.
pub(super) fn small() -> Vec<Group> {
    vec![graph::<Single>()]
}

type Known<N> = (Case<N>, Truth<N>);

fn known<N: Number>(seed: u64) -> Result<Known<N>> {
    let case = Case::new(SHAPE, IndexKind::I64, Names::Wrong, seed);
    let truth = case.truth()?;
    Ok((case, truth))
}

fn graph<N: Number>() -> Group {
    Group::new(format!("values {}, graph", N::NAME), PARTS, || {
        let cases = (0..REPLAYS).map(|seed| known::<N>(seed as u64)).collect::<Result<Vec<_>>>()?;
        Ok(move |device: &Gpu, part: &str, tally: &mut Tally| {
            for memory in [Memory::List, Memory::Given, Memory::Pool] {
                replayed(device, part, memory, &cases, tally)?;
            }
            Ok(())
        })
    })
}

fn replayed<N: Number>(
    device: &Gpu,
    part: &str,
    memory: Memory,
    cases: &[Known<N>],
    tally: &mut Tally,
) -> Result<()> {
    let stream = Stream::new(device)?;
    let mut rig = Rig::new(&stream, &cases[0].0, 0)?;
    let both = |rig: &Rig<N>| -> Result<(), Error> {
        rig.enqueue(part, true, None)?;
        rig.enqueue(part, true, Some(memory))
    };
    // The first use of a kernel loads it, which a capture may not.
    both(&rig)?;
    stream.synchronize()?;
    let graph = stream.capture(|| both(&rig))?;
    for (replay, (case, truth)) in cases.iter().enumerate() {
        rig.write(case)?;
        // SAFETY: the rig outlives the launches, which are waited for.
        unsafe { graph.launch(&stream)? };
        stream.synchronize()?;
        for backward in [false, true] {
            let what = format!("{part}, {memory:?}, replay {replay}, backward: {backward}");
            tally.check(what, rig.compare(part, true, backward, truth)?);
        }
    }
    Ok(())
}

fn two_threads() -> Group {
    Group::new("values f32, two threads with a stream each", PARTS, || {
        let cases = [known::<Single>(7)?, known::<Single>(8)?];
        Ok(move |device: &Gpu, part: &str, tally: &mut Tally| {
            let tallies = thread::scope(|scope| {
                let threads = cases.each_ref().map(|known| {
                    scope.spawn(move || -> Result<Tally> {
                        let mut own = Tally::new(part);
                        let stream = Stream::new(device)?;
                        let rig = Rig::new(&stream, &known.0, 0)?;
                        for run in 0..REPEATS {
                            rig.check(&format!("run {run}"), part, &known.1, &mut own)?;
                        }
                        Ok(own)
                    })
                });
                threads.map(|thread| thread.join())
            });
            for own in tallies {
                tally.add(own.map_err(|_| anyhow::anyhow!("a thread panicked"))??);
            }
            Ok(())
        })
    })
}
