//! Every method on every kind of pair returns the CPU's result: distances, indices and gradients, bit
//! for bit.

use super::expected::{grads, on_cpu, same, same_gradients, same_nearest};
use super::pairs::{Pair, PairKind, made, moved};
use super::{ALL, HIGH, Team, variants};
use crate::runner::Group;
use crate::tally::Tally;
use anyhow::Result;
use farpoint::neighbors::backward;
use farpoint::{Chamfer, Gradients, Matcher, Norm, Points};
use farpoint_cuda::{CudaScalar, Gpu};
use farpoint_generate::Kind;

const NORMS: [Norm; 2] = [Norm::Two, Norm::One];

/// Numbers of points around the sizes of blocks, warps and groups.
const SIZES: &[[usize; 2]] = &[
    [1, 1],
    [1, 33],
    [32, 1],
    [31, 100],
    [255, 257],
    [512, 513],
    [700, 1_025],
    [2_048, 2_048],
    [4_096, 4_000],
    [4_097, 4_096],
    [5_000, 900],
];

/// All kinds; without the large ones if `quick`.
pub(crate) fn groups(quick: bool) -> Vec<Group> {
    let mut groups = Vec::new();
    for dims in [1, 2, 3, 4, 5, 16] {
        groups.extend([pair_kinds::<f32>(dims, SIZES), pair_kinds::<f64>(dims, SIZES)]);
    }
    groups.extend(
        Kind::ALL
            .into_iter()
            .flat_map(|kind| [kinds::<f32>(kind, SIZES, ALL), kinds::<f64>(kind, SIZES, ALL)]),
    );
    let middle: &[[usize; 2]] = &[[40_000, 40_000], [10_000, 25_000], [30, 40_000]];
    groups.extend(
        [Kind::Room, Kind::Object, Kind::Lidar, Kind::Lattice]
            .into_iter()
            .flat_map(|kind| [kinds::<f32>(kind, middle, ALL), kinds::<f64>(kind, middle, ALL)]),
    );
    groups.push(pair_kinds::<f32>(3, &[[16_384, 16_384]]));
    groups.push(pair_kinds::<f32>(5, &[[8_000, 12_000]]));
    groups.push(large::<f32>("room moved 200,000", || moved(Kind::Room, 200_000, 3)));
    groups.push(large::<f32>("crowded 200,000", || PairKind::Crowded.pair([200_000; 2], 3, 5)));
    groups.push(large::<f32>("equal 200,000", || PairKind::Equal.pair([200_000; 2], 3, 5)));
    if !quick {
        groups.push(large::<f32>("room moved 1,000,000", || moved(Kind::Room, 1_000_000, 1)));
        for kind in [Kind::Room, Kind::Lidar, Kind::Clusters] {
            let name = format!("{kind} 1,000,000 and 700,000");
            groups.push(large::<f32>(&name, move || made(kind, [1_000_000, 700_000], 1)));
        }
        groups.push(large::<f64>("room 1,000,000", || made(Kind::Room, [1_000_000; 2], 1)));
        groups.push(large::<f64>("object 200,000", || made(Kind::Object, [200_000; 2], 1)));
    }
    groups
}

/// Clouds that are processed by several blocks, in both precisions.
pub(crate) fn several_blocks() -> Vec<Group> {
    let sizes = &[[30_000, 20_000], [5_000, 40_000]];
    let parts = &["tree", "backward"];
    vec![kinds::<f32>(Kind::Room, sizes, parts), kinds::<f64>(Kind::Lattice, sizes, parts)]
}

/// For the sanitizer.
pub(crate) fn small() -> Vec<Group> {
    let mut groups = alone();
    // Gradients by several blocks.
    groups.push(kinds::<f32>(Kind::Equal, &[[5_000, 700]], &["backward"]));
    groups
}

/// Small pairs, for each of which one block is enough.
pub(crate) fn alone() -> Vec<Group> {
    let sizes = &[[33, 300], [1, 1_025], [600, 513]];
    vec![
        pair_kinds::<f32>(2, sizes),
        pair_kinds::<f64>(5, &[[33, 300]]),
        kinds::<f32>(Kind::Room, sizes, ALL),
        kinds::<f32>(Kind::Duplicated, sizes, ALL),
        kinds::<f32>(Kind::Equal, sizes, &["backward"]),
        kinds::<f64>(Kind::Room, sizes, ALL),
    ]
}

/// Pairs of all kinds of coordinates in some sizes.
fn pair_kinds<T: CudaScalar>(dims: usize, sizes: &'static [[usize; 2]]) -> Group {
    let parts = if dims > 3 { HIGH } else { ALL };
    let largest = sizes.iter().map(|[n, m]| n.max(m)).max().unwrap_or(&0);
    let name = format!("chamfer {dims} axes {}, n <= {largest}", T::SUFFIX);
    compared(name, parts, move || {
        let pairs = PairKind::ALL.into_iter().flat_map(|pair_kind| {
            (1..).zip(sizes).map(move |(seed, &sizes)| {
                let name = format!("{}, {} and {}", pair_kind.name(), sizes[0], sizes[1]);
                (name, pair_kind.pair::<T>(sizes, dims, seed))
            })
        });
        pairs.collect()
    })
}

/// Generated clouds of one kind.
fn kinds<T: CudaScalar>(
    kind: Kind,
    sizes: &'static [[usize; 2]],
    parts: &'static [&'static str],
) -> Group {
    let largest = sizes.iter().map(|[n, m]| n.max(m)).max().unwrap_or(&0);
    compared(format!("chamfer {kind} {}, n <= {largest}", T::SUFFIX), parts, move || {
        let pair = |(seed, &sizes): (u64, &[usize; 2])| {
            (format!("{} and {}", sizes[0], sizes[1]), made::<T>(kind, sizes, seed))
        };
        (1..).zip(sizes).map(pair).collect()
    })
}

/// Clouds that only trees are suited for.
fn large<T: CudaScalar>(name: &str, pair: impl FnOnce() -> Pair<T> + Send + 'static) -> Group {
    let title = format!("chamfer {name} {}", T::SUFFIX);
    let group = Group::new(title, &["tree", "backward"], move || {
        let case = Case::new(pair(), Norm::Two)?;
        Ok(move |device: &Gpu, part: &str, tally: &mut Tally| {
            case.compare(device, part, "", tally);
            Ok(())
        })
    });
    group.heavy()
}

fn compared<T: CudaScalar>(
    name: String,
    parts: &'static [&'static str],
    pairs: impl FnOnce() -> Vec<(String, Pair<T>)> + Send + 'static,
) -> Group {
    Group::new(name, parts, move || {
        let mut cases = Vec::new();
        for (name, pair) in pairs() {
            for norm in NORMS {
                cases.push((format!("{name}, norm {norm:?}"), Case::new(pair.clone(), norm)?));
            }
        }
        Ok(move |device: &Gpu, part: &str, tally: &mut Tally| {
            cases.iter().for_each(|(name, case)| case.compare(device, part, name, tally));
            Ok(())
        })
    })
}

/// A pair, and the CPU's result.
pub(super) struct Case<T> {
    pair: Pair<T>,
    norm: Norm,
    truth: Chamfer<T>,
    grads: [Vec<T>; 2],
    gradients: Gradients<T>,
}

/// Number of points of either cloud up to which every option of a method is tried, and one side alone.
const MAX_EXHAUSTIVE: usize = 2_100;

impl<T: CudaScalar> Case<T> {
    pub(super) fn new(pair: Pair<T>, norm: Norm) -> Result<Self> {
        let (n, m) = (pair.a.len(), pair.b.len());
        let truth = on_cpu(norm, n, m).chamfer(&pair.a, &pair.b)?;
        let grads = [grads(n, 1), grads(m, 2)];
        let gradients = backward(&truth, &pair.a, &pair.b, &grads[0], &grads[1])?;
        Ok(Self { pair, norm, truth, grads, gradients })
    }

    /// Points of the larger and the number of pairs of points.
    pub(super) fn size(&self) -> (usize, u128) {
        let (n, m) = (self.pair.a.len(), self.pair.b.len());
        (n.max(m), n as u128 * m as u128)
    }

    /// Compares one method, or the gradients.
    pub(super) fn compare(&self, device: &Gpu, part: &str, name: &str, tally: &mut Tally) {
        let Pair { a, b } = &self.pair;
        if part == "backward" {
            let [ga, gb] = &self.grads;
            let found = Matcher::new().on(device).backward(&self.truth, a, b, ga, gb);
            if let Some(found) = tally.take(name, found) {
                tally.check(name, same_gradients(&found, &self.gradients));
            }
            return;
        }
        let variants_of_part = variants(part);
        let count = if self.size().0 > MAX_EXHAUSTIVE { 1 } else { variants_of_part.len() };
        for variant in &variants_of_part[..count] {
            let matcher =
                variant.matcher.clone().norm(self.norm).non_finite(farpoint::NonFinite::Skip);
            let label = format!("{}, {name}", variant.name);
            let _team = Team::new(device, variant.team);
            if let Some(found) = tally.take(&label, matcher.on(device).chamfer(a, b)) {
                tally.check(&label, same(&found, &self.truth));
            }
            if count > 1 {
                let sides = [
                    (matcher.on(device).nearest(a, b), &self.truth.a_to_b),
                    (matcher.on(device).nearest(b, a), &self.truth.b_to_a),
                ];
                for (found, truth) in sides {
                    if let Some(found) = tally.take(&label, found) {
                        tally.check(&label, same_nearest("one-sided", &found, truth));
                    }
                }
            }
        }
    }
}
