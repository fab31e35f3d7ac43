//! Graphs, which use the content of their memory at launch; two threads with a stream each; and
//! repeated runs.

use super::PARTS;
use super::case::{Case, IndexPattern, Truth};
use super::fixture::{Fixture, Memory};
use super::numbers::{Half, Number, Single};
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

type KnownCase<N> = (Case<N>, Truth<N>);

fn known<N: Number>(seed: u64) -> Result<KnownCase<N>> {
    let case = Case::new(SHAPE, IndexKind::I64, IndexPattern::Wrong, seed);
    let truth = case.truth()?;
    Ok((case, truth))
}

fn graph<N: Number>() -> Group {
    Group::new(format!("values {}, graph", N::NAME), PARTS, || {
        let cases = (0..REPLAYS).map(|seed| known::<N>(seed as u64)).collect::<Result<Vec<_>>>()?;
        Ok(move |device: &Gpu, part: &str, tally: &mut Tally| {
            for memory in [Memory::List, Memory::Provided, Memory::Pool] {
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
    cases: &[KnownCase<N>],
    tally: &mut Tally,
) -> Result<()> {
    let stream = Stream::new(device)?;
    let mut fixture = Fixture::new(&stream, &cases[0].0, 0)?;
    let both = |fixture: &Fixture<N>| -> Result<(), Error> {
        fixture.enqueue(part, true, None)?;
        fixture.enqueue(part, true, Some(memory))
    };
    // The first use of a kernel loads it, which a capture may not.
    both(&fixture)?;
    stream.synchronize()?;
    let graph = stream.capture(|| both(&fixture))?;
    for (replay, (case, truth)) in cases.iter().enumerate() {
        fixture.write(case)?;
        // SAFETY: the rig outlives the launches, which are waited for.
        unsafe { graph.launch(&stream)? };
        stream.synchronize()?;
        for backward in [false, true] {
            let label = format!("{part}, {memory:?}, replay {replay}, backward: {backward}");
            tally.check(label, fixture.compare(part, true, backward, truth)?);
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
                        let mut thread_tally = Tally::new(part);
                        let stream = Stream::new(device)?;
                        let fixture = Fixture::new(&stream, &known.0, 0)?;
                        for run in 0..REPEATS {
                            fixture.check(
                                &format!("run {run}"),
                                part,
                                &known.1,
                                &mut thread_tally,
                            )?;
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
