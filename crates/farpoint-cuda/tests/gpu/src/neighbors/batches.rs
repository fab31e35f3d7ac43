//! Batches of clouds in host memory return the results of their pairs one by one.

use super::expected::{on_cpu, same, same_nearest};
use super::{METHODS, Team, Variant, variants};
use crate::clouds::Cloud;
use crate::runner::Group;
use crate::tally::Tally;
use anyhow::Result;
use farpoint::{Chamfer, Matcher, NonFinite, Norm, Points};
use farpoint_cuda::{CudaScalar, Gpu};
use farpoint_generate::Kind;

/// Sizes of the clouds of some pairs.
type Sizes = &'static [[usize; 2]];

const MIXED: Sizes = &[[100, 90], [1, 700], [64, 1], [33, 32], [1_500, 2_000], [513, 511]];

pub(crate) fn groups() -> Vec<Group> {
    vec![
        group::<f32>("mixed", MIXED),
        group::<f64>("mixed", MIXED),
        group::<f32>("32 x 2,048", &[[2_048, 2_048]; 32]),
        group::<f32>("200 x 300", &[[300, 280]; 200]),
        group::<f32>("5,000 x 20", &[[20, 21]; 5_000]),
        group::<f32>("sizes far apart", &[[50_000, 10], [10, 50_000], [20_000, 20_000], [1, 1]]),
        non_finite(),
    ]
}

/// For the sanitizer.
pub(crate) fn small() -> Vec<Group> {
    vec![group::<f32>("small", &[[100, 90], [1, 300], [64, 1], [33, 32]])]
}

fn group<T: CudaScalar>(name: &'static str, sizes: Sizes) -> Group {
    Group::new(format!("chamfer batch, {}, {name}", T::SUFFIX), METHODS, move || {
        let kinds = [Kind::Room, Kind::Lattice, Kind::Object, Kind::Duplicated];
        let side = |side: usize| -> Vec<Cloud<T>> {
            let cloud = |(k, sizes): (usize, &[usize; 2])| {
                Cloud::of(kinds[k % 4], sizes[side], (2 * k + side) as u64)
            };
            sizes.iter().enumerate().map(cloud).collect()
        };
        let (a, b) = (side(0), side(1));
        let truth =
            a.iter().zip(&b).map(|(a, b)| Ok(on_cpu(Norm::Two, a.len(), b.len()).chamfer(a, b)?));
        let truth = truth.collect::<Result<Vec<_>>>()?;
        Ok(move |device: &Gpu, part: &str, tally: &mut Tally| {
            compare(device, part, [&a, &b], &truth, tally);
            Ok(())
        })
    })
}

fn compare<T: CudaScalar>(
    device: &Gpu,
    part: &str,
    [a, b]: [&[Cloud<T>]; 2],
    truth: &[Chamfer<T>],
    tally: &mut Tally,
) {
    for Variant { name, matcher, team } in variants(part) {
        let _team = Team::new(device, team);
        if let Some(found) = tally.take(&name, matcher.on(device).chamfer_batch(a, b)) {
            tally.is(format!("{name}: as many as pairs"), found.len() == truth.len());
            for (pair, (found, truth)) in found.iter().zip(truth).enumerate() {
                tally.check(format!("{name}, pair {pair}"), same(found, truth));
            }
        }
        if let Some(found) = tally.take(&name, matcher.on(device).nearest_batch(a, b)) {
            for (pair, (found, truth)) in found.iter().zip(truth).enumerate() {
                let same = same_nearest("one-sided", found, &truth.a_to_b);
                tally.check(format!("{name}, pair {pair}"), same);
            }
        }
    }
}

/// Rows with NaN and infinity are dropped from either cloud, of one pair and of a batch.
fn non_finite() -> Group {
    Group::new("chamfer, rows with NaN and infinity f32", METHODS, || {
        let mut a = Cloud::<f32>::of(Kind::Room, 600, 1);
        let mut b = Cloud::<f32>::of(Kind::Room, 900, 2);
        for (row, value) in [(0, f32::NAN), (8, f32::INFINITY), (599, f32::NEG_INFINITY)] {
            a.data[row * 3 + row % 3] = value;
            b.data[row * 4] = value;
        }
        let clean = Cloud::<f32>::of(Kind::Object, 300, 3);
        let pairs = [vec![a.clone(), clean.clone(), a], vec![b.clone(), b, clean]];
        let cpu = Matcher::new().non_finite(NonFinite::Skip);
        let truth = cpu.chamfer_batch(&pairs[0], &pairs[1])?;
        Ok(move |device: &Gpu, part: &str, tally: &mut Tally| {
            for Variant { name, matcher, team } in variants(part) {
                let _team = Team::new(device, team);
                let matcher = matcher.non_finite(NonFinite::Skip);
                let found = matcher.on(device).chamfer_batch(&pairs[0], &pairs[1]);
                let Some(found) = tally.take(&name, found) else { continue };
                for (pair, (found, truth)) in found.iter().zip(&truth).enumerate() {
                    tally.check(format!("{name}, pair {pair}"), same(found, truth));
                }
            }
            Ok(())
        })
    })
}
