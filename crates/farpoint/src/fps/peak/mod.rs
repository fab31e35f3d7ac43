//! The peak method: exact FPS that chooses thousands of points at a time.
//!
//! docs/peak.md has the method, docs/development/proofs.md its proof. A *band* is all unchosen points whose
//! distance is above a floor `beta`. Until every distance is at or below it, FPS chooses only
//! points of the band, and what happens outside can wait. So: collect the band
//! (`candidates`), find out which of its points are chosen and with what distances (`solve`), and
//! apply all of them to the cloud in one go (`update`). Then the next band. Sorted by distance and index,
//! the choices of a band are in the order of FPS; all bands are sorted at the end.
//!
//! Samples are taken one by one (`tree`) if bands would not pay: as long as distances are infinite, for then all
//! candidates reach each other, and if small cells of a grid are not representable.
//!
//! Each stage is a step of a team of threads: a part of the tree's nodes, of the band, of the tree.

mod bands;
mod candidates;
mod first;
mod floor;
mod leaves;
mod list;
mod queue;
mod search;
mod share;
mod single_part;
mod slots;
mod solve;
mod staged;
mod update;
mod walk;

use super::selection::Selection;
use super::tree::{Walker, finish};
use crate::clock::Clock;
use crate::cloud::WorkingCopy;
use crate::simd::Simd;
use crate::spatial::BoxTree;
use crate::threads::Team;
use crate::{Error, Scalar};
use bands::Bands;

pub(crate) fn run<T: Scalar, S: Simd<T>>(
    simd: S,
    team: &Team,
    cloud: &WorkingCopy<T>,
    selection: &mut Selection<'_, T>,
) -> Result<(), Error> {
    let tree = selection
        .build(team, |statistics| BoxTree::with_team(team, cloud, &mut statistics.seconds))?;
    let mut clock = Clock::now();
    let mut bands = Bands::new(simd, team, cloud, tree, selection.count);
    let complete = bands.begin(selection)?;
    clock.lap(&mut selection.statistics.seconds.single);
    if complete {
        return Ok(());
    }
    let ended = bands.run(selection);
    let mut clock = Clock::now();
    let mut complete = selection.offer_all(team, &mut bands.accepted, &bands.ends);
    clock.lap(&mut selection.statistics.seconds.sort);
    if !(complete && selection.has_ended()) {
        ended?;
    }
    if !complete && bands.tree.largest() > T::ZERO {
        complete = Walker::new(simd, &mut bands.tree).run(selection, T::ZERO)?;
        clock.lap(&mut selection.statistics.seconds.single);
    }
    if !complete {
        finish(cloud, selection);
        clock.lap(&mut selection.statistics.seconds.sort);
    }
    if team.size() > 1 && selection.count {
        selection.statistics.counters.push(("long waits", team.long_waits()));
    }
    Ok(())
}
