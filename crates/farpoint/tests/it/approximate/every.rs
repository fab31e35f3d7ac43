//! Properties of every method.

use super::{assert_distinct, clouds, methods};
use crate::common::{integers, uniform};
use farpoint::Cpu;
use farpoint::approximate::{ApproximateSampler, Keep, Method};
use farpoint_generate::{Kind, generate};

#[test]
fn every_method_returns_the_requested_number_of_distinct_points() {
    for (name, cloud) in clouds() {
        let n = cloud.len();
        for method in methods() {
            for count in [1, n.div_ceil(4), n.div_ceil(2), n] {
                let name = format!("{name}, {count}, {method:?}");
                let sampler = ApproximateSampler::count(method, count);
                let sample = sampler.on(&Cpu::new().threads(1)).sample(&cloud).unwrap();
                assert_distinct(&name, &sample, count, n);
                assert_eq!(
                    sampler.on(&Cpu::new().threads(3)).sample(&cloud).unwrap(),
                    sample,
                    "{name}"
                );
            }
        }
    }
}

#[test]
fn any_number_of_axes_in_either_precision() {
    fn all<const D: usize>() {
        for cloud in [uniform::<D>(700, 1), integers::<D>(700, 3, 1e300, 2)] {
            for method in methods() {
                let sampler = ApproximateSampler::ratio(method, 0.5);
                let sample = sampler.sample(&cloud).unwrap();
                assert_distinct(&format!("{D} axes, {method:?}"), &sample, 350, 700);
            }
            let method = Method::Grid { keep: Keep::First };
            ApproximateSampler::ratio(method, 0.5).centroids(&cloud).unwrap();
        }
    }
    all::<1>();
    all::<2>();
    all::<5>();
    all::<70>();
}

/// Clouds so large that several threads work: smaller ones are left to one.
#[test]
fn threads_change_nothing() {
    let room = generate(Kind::Room, 17_000, 1);
    for method in methods() {
        for count in [2000, 12_000] {
            let sample = |threads| {
                let sampler = ApproximateSampler::count(method, count);
                sampler.on(&Cpu::new().threads(threads)).sample(&room).unwrap()
            };
            let one = sample(1);
            for other in [sample(2), sample(3)] {
                assert_eq!(other.indices, one.indices, "{count}, {method:?}");
                assert_eq!(other.details, one.details, "{count}, {method:?}");
            }
        }
    }
    // Cells of all axes that fit in 64 bits together, and such that don't; places for them.
    let grid = Method::Grid { keep: Keep::Center };
    for cloud in [uniform::<6>(20_000, 3), integers::<6>(20_000, 3, 1.0, 1)] {
        for size in [0.3, 1e-9] {
            let sample = |threads| {
                ApproximateSampler::cell(grid, size)
                    .on(&Cpu::new().threads(threads))
                    .centroids(&cloud)
                    .unwrap()
            };
            assert_eq!([2, 3].map(sample), [sample(1), sample(1)]);
        }
    }
}
