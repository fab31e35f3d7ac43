//! Nearest points, Chamfer distance and gradients: every method in every form gives what the CPU
//! gives, bit for bit.

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
use farpoint_cuda::neighbors::{Method, TreeOptions};
use farpoint_cuda::{Error, Matcher};
use std::path::Path;

pub(crate) use expected::Expected;
pub(crate) use pairs::moved;
pub(crate) use resident::Resident;
pub(crate) use streams::Answer;

/// The names of all methods, in the order of the report.
pub(crate) const METHODS: &[&str] = &["plain", "brute", "tree", "auto"];

/// Those for any number of axes.
const ANY_AXES: &[&str] = &["plain", "tree", "auto"];

/// The methods, and the gradients, which need none; all, and those for any number of axes.
const ALL: &[&str] = &["plain", "brute", "tree", "auto", "backward"];
const HIGH: &[&str] = &["plain", "tree", "auto", "backward"];

/// The method of a part's name.
pub(crate) fn method(part: &str) -> Method {
    part.parse().expect("parts are named after methods")
}

/// The method with every switch worth a test.
fn variants(part: &str) -> Vec<(String, Matcher)> {
    let plain = Matcher::new().method(method(part));
    let mut all = vec![(part.to_owned(), plain.clone())];
    if part == "tree" {
        let teams: &[u32] = if crate::variants::is_alone() { &[1] } else { &[1, 2, 3, 7] };
        if crate::variants::is_alone() {
            all.clear();
        }
        for &team in teams {
            let options = TreeOptions { team: Some(team) };
            all.push((format!("tree, team {team}"), plain.clone().tree(options)));
        }
    }
    all
}

/// Whether an error is a driver's that can't capture a cooperative launch.
fn captures_not(error: &Error) -> bool {
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

/// Pairs of clouds that are worked on by several blocks.
pub(crate) fn several_blocks() -> Vec<Group> {
    equality::several_blocks()
}

/// Small pairs, of which each is worked on by one block.
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
