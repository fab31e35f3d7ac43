//! Voxels on a GPU against the CPU library, bit by bit: every way to choose a point, clouds in every layout, padded and
//! one after another, rows that are in no voxel, lists of every length, in graphs and on several streams.

mod batch;
mod host;
mod large;
mod pointers;
mod streams;

use crate::runner::Group;
use farpoint::{Reduce, VoxelGrid};

/// Ways to choose the point of a voxel, in the order of the report.
const PARTS: &[&str] = &["mean", "first", "center", "random"];

/// Returns the job that a part is named after.
fn reduced(job: &VoxelGrid, part: &str) -> VoxelGrid {
    let reduce = match part {
        "mean" => Reduce::Mean,
        "first" => Reduce::First,
        "center" => Reduce::Center,
        _ => Reduce::Random(0x1234_5678_9abc_def0),
    };
    job.clone().reduce(reduce)
}

/// All checks; without the large clouds if `quick`.
pub(crate) fn groups(quick: bool) -> Vec<Group> {
    let mut groups = pointers::groups();
    groups.extend(host::groups());
    groups.extend(streams::groups());
    groups.extend(large::groups(quick));
    groups
}

/// A few seconds of everything, for compute-sanitizer and older cards.
pub(crate) fn small() -> Vec<Group> {
    let mut groups = pointers::small();
    groups.extend(streams::small());
    groups
}
