//! Nearest points, Chamfer distance and gradients: every method in every form returns the CPU's result,
//! bit for bit.

mod batches;
mod equality;
mod errors;
mod expected;
mod pairs;
mod pointers;
mod real;
mod resident;
mod streams;
mod values;

use crate::runner::Group;
use farpoint::{Matcher, Method};
use farpoint_cuda::{Error, Gpu};
use std::path::Path;

pub(crate) use expected::grads;
pub(crate) use resident::Resident;
pub(crate) use streams::ExpectedPairs;

/// Names of all methods, in the order of the report.
pub(crate) const METHODS: &[&str] = &["plain", "brute", "tree", "auto"];

/// Methods for any number of axes.
const ANY_AXES: &[&str] = &["plain", "tree", "auto"];

/// Methods, and the gradients, which need none; all, and those for any number of axes.
const ALL: &[&str] = &["plain", "brute", "tree", "auto", "backward"];
const HIGH: &[&str] = &["plain", "tree", "auto", "backward"];

/// Returns the method of a part's name.
pub(crate) fn method(part: &str) -> Method {
    part.parse().expect("parts are named after methods")
}

/// A job for a method, with `team` blocks per pair.
pub(crate) struct Variant {
    name: String,
    matcher: Matcher,
    team: Option<u32>,
}

/// Returns the method with every option worth testing.
fn variants(part: &str) -> Vec<Variant> {
    let matcher = Matcher::new().method(method(part));
    let plain = Variant { name: part.to_owned(), matcher: matcher.clone(), team: None };
    let team = |&team: &u32| Variant {
        name: format!("tree, team {team}"),
        matcher: matcher.clone(),
        team: Some(team),
    };
    match part {
        "tree" if crate::variants::is_alone() => vec![team(&1)],
        "tree" => std::iter::once(plain).chain([1, 2, 3, 7].iter().map(team)).collect(),
        _ => vec![plain],
    }
}

/// Sets the number of blocks per pair until dropped.
struct Team<'a>(&'a Gpu);

impl<'a> Team<'a> {
    fn new(device: &'a Gpu, team: Option<u32>) -> Self {
        device.set_tree_team(team);
        Self(device)
    }
}

impl Drop for Team<'_> {
    fn drop(&mut self) {
        self.0.set_tree_team(None);
    }
}

/// Returns whether an error is of a driver that can't capture a cooperative launch.
fn is_capture_unsupported(error: &Error) -> bool {
    matches!(error, Error::Driver { .. } | Error::Kernel { .. })
}

/// All checks but those of real clouds.
pub(crate) fn groups(quick: bool) -> Vec<Group> {
    let mut groups = errors::groups();
    groups.extend(equality::groups(quick));
    groups.extend(batches::groups());
    groups.extend(pointers::groups());
    groups.extend(streams::groups());
    groups.extend(values::groups());
    groups
}

/// Pairs of clouds that are processed by several blocks.
pub(crate) fn several_blocks() -> Vec<Group> {
    equality::several_blocks()
}

/// Small pairs, each processed by one block.
pub(crate) fn alone() -> Vec<Group> {
    equality::alone()
}

/// A few seconds of everything, for compute-sanitizer.
pub(crate) fn small() -> Vec<Group> {
    let mut groups = equality::small();
    groups.extend(batches::small());
    groups.extend(pointers::small());
    groups.extend(streams::small());
    groups.extend(values::small());
    groups
}

/// Real clouds, each compared with its neighbor in its folder.
pub(crate) fn real(folder: &Path) -> anyhow::Result<Vec<Group>> {
    real::groups(folder)
}
