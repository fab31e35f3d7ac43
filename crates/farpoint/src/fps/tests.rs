//! `peak` by teams larger than the machine, on clouds where threads wait for each other all the time, and `tree`: the
//! same as `reference`. Parts and steps of `peak` are much smaller here than in use.

use crate::clock::Clock;
use crate::cloud::WorkingCopy;
use crate::fps::reference;
use crate::fps::run::Run;
use crate::fps::selection::Selection;
use crate::random::SplitMix64;
use crate::simd;
use crate::threads::Team;
use crate::{Algorithm, Amount, Error, Level, NonFinite, Sampler, Scalar, Start};

type Result3<T> = (Vec<u32>, Vec<T>, T);

fn sampled<T: Scalar>(
    cloud: &WorkingCopy<T>,
    amount: Amount,
    start: &Start,
    run: impl FnOnce(&mut Selection<'_, T>) -> Result<(), Error>,
) -> Result3<T> {
    let job = Sampler::new(amount).start(start.clone());
    let mut selection = Selection::new(&job, cloud, cloud.len, Clock::now(), None, vec![]).unwrap();
    run(&mut selection).unwrap();
    (selection.points.into_vec(), selection.values, selection.covering)
}

fn check<T: Scalar, const D: usize>(name: &str, rows: &[[T; D]], amount: Amount)
where
    [[T; D]]: crate::Points<T>,
{
    let cloud = WorkingCopy::new(&rows, NonFinite::Error, 1).unwrap();
    for start in [Start::Index(0), Start::Indices(vec![7, 3, rows.len() - 1])] {
        let truth = sampled(&cloud, amount, &start, |selection| reference::run(&cloud, selection));
        let peak = [1, 2, 3, 8, 16].map(|size| (Algorithm::peak(), size));
        for (algorithm, size) in [(Algorithm::Tree, 1)].into_iter().chain(peak) {
            let team = &Team::oversubscribed(size);
            for level in Level::available() {
                let found = sampled(&cloud, amount, &start, |selection| {
                    simd::dispatch(level, Run { algorithm, team, cloud: &cloud, selection })
                });
                let points = rows.len();
                assert!(
                    found == truth,
                    "{name}, {points} points, {algorithm}, {size} threads, {level}"
                );
            }
        }
    }
}

/// Coordinates that are whole numbers below `side` if that is not 0, else any.
fn cloud<const D: usize>(random: &mut SplitMix64, points: usize, side: u64) -> Vec<[f64; D]> {
    let mut number = || match side {
        0 => random.below(1 << 30) as f64 / f64::from(1 << 30),
        side => random.below(side) as f64,
    };
    (0..points).map(|_| std::array::from_fn(|_| number())).collect()
}

fn as_f32<const D: usize>(rows: &[[f64; D]]) -> Vec<[f32; D]> {
    rows.iter().map(|row| row.map(|x| x as f32)).collect()
}

fn axes<const D: usize>(seed: u64) {
    let mut random = SplitMix64::new(seed);
    for points in [20, 700, 3_000] {
        for side in [0, 4, 13, 60] {
            let rows = cloud::<D>(&mut random, points, side);
            let name = format!("{D} axes, side {side}");
            check(&name, &rows, Amount::Count(points / 3));
            check(&name, &as_f32(&rows), Amount::Count(points / 3));
        }
    }
}

#[test]
fn one_axis() {
    axes::<1>(1);
}

#[test]
fn three_axes() {
    axes::<3>(2);
}

#[test]
fn five_axes() {
    axes::<5>(3);
}

#[test]
fn all_points_and_spacings() {
    let mut random = SplitMix64::new(4);
    let rows = as_f32(&cloud::<3>(&mut random, 2_000, 9));
    check("all", &rows, Amount::Count(2_000));
    let rows = as_f32(&cloud::<3>(&mut random, 4_000, 0));
    for spacing in [0.3, 0.04, 0.0] {
        check("spacing", &rows, Amount::Spacing(spacing));
    }
}

#[test]
fn squares_that_overflow_or_vanish() {
    let mut random = SplitMix64::new(5);
    for scale in [1e30, 1e19, 1e-22] {
        let mut rows = as_f32(&cloud::<3>(&mut random, 900, 0));
        rows.iter_mut().flatten().for_each(|x| *x *= scale);
        check(&format!("times {scale}"), &rows, Amount::Count(500));
    }
}

/// Coordinates of all exponents, distances that overflow or vanish, far outliers.
fn edges<T: Scalar, const D: usize>(number: fn(&mut SplitMix64) -> T, [tiny, edge, huge]: [f64; 3])
where
    [[T; D]]: crate::Points<T>,
{
    let mut random = SplitMix64::new(7);
    let unit = cloud::<D>(&mut random, 600, 0);
    let times = |scale: f64| -> Vec<[T; D]> {
        unit.iter().map(|row| row.map(|x| T::from_f64(x * scale))).collect()
    };
    let mut damaged = |every: usize| -> Vec<[T; D]> {
        let mut rows = times(1.0);
        rows.iter_mut().step_by(every).for_each(|row| *row = row.map(|_| number(&mut random)));
        rows
    };
    let mut far = times(1.0);
    far[300] = [T::from_f64(huge); D];
    let mut places = times(1.0);
    let gap = T::from_f64(1e3 / T::EPSILON.to_f64().sqrt());
    places.iter_mut().step_by(2).for_each(|row| *row = row.map(|x| x + gap));
    let clouds = [
        ("garbage", damaged(1)),
        ("some garbage", damaged(9)),
        ("underflow", times(tiny)),
        ("around the overflow", times(edge)),
        ("overflow", times(huge)),
        ("equal", vec![[T::from_f64(huge); D]; 100]),
        ("an outlier", far),
        ("two places", places),
    ];
    for (name, rows) in clouds {
        for count in [rows.len() / 3, rows.len()] {
            check(&format!("{name}, {D} axes"), &rows, Amount::Count(count));
        }
    }
}

/// A finite number of any exponent.
fn single(random: &mut SplitMix64) -> f32 {
    let x = f32::from_bits(random.next_u64() as u32);
    if x.is_finite() { x } else { single(random) }
}

/// A finite number of any exponent, in double precision.
fn double(random: &mut SplitMix64) -> f64 {
    let x = f64::from_bits(random.next_u64());
    if x.is_finite() { x } else { double(random) }
}

#[test]
fn edges_of_single_precision() {
    let scales = [1e-22, 4e19, 1e30];
    edges::<f32, 2>(single, scales);
    edges::<f32, 3>(single, scales);
    edges::<f32, 4>(single, scales);
}

#[test]
fn edges_of_double_precision() {
    let scales = [1e-161, 3e154, 1e200];
    edges::<f64, 2>(double, scales);
    edges::<f64, 3>(double, scales);
    edges::<f64, 4>(double, scales);
}

/// A team repeats a run again and again, so that threads meet in many orders.
#[test]
fn many_runs() {
    let mut random = SplitMix64::new(6);
    let rows = as_f32(&cloud::<3>(&mut random, 5_000, 40));
    let cloud = WorkingCopy::new(&rows, NonFinite::Error, 1).unwrap();
    let (amount, start) = (Amount::Count(2_000), Start::Index(0));
    let truth = sampled(&cloud, amount, &start, |selection| reference::run(&cloud, selection));
    for size in [2, 3, 5, 12] {
        let team = &Team::oversubscribed(size);
        for _ in 0..40 {
            let algorithm = Algorithm::peak();
            let found = sampled(&cloud, amount, &start, |selection| {
                simd::dispatch(Level::detect(), Run { algorithm, team, cloud: &cloud, selection })
            });
            assert!(found == truth, "{size} threads");
        }
    }
}
