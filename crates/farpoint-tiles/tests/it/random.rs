//! Any cloud, any cut, any way to work: the indices of the obvious loop.

use crate::cases::random;
use crate::common::{Setup, check, integers, uniform};
use farpoint::{Amount, Start};
use farpoint_tiles::Mode;
use proptest::prelude::*;

fn cloud() -> impl Strategy<Value = Vec<[f64; 3]>> {
    let size = 1usize..900;
    let kinds = prop_oneof![
        (size.clone(), any::<u64>()).prop_map(|(n, seed)| uniform(n, seed)),
        (size.clone(), 1u64..30, any::<u64>()).prop_map(|(n, side, s)| integers(n, side, 0.1, s)),
        // A survey in UTM, in steps of a centimeter.
        (size.clone(), any::<u64>()).prop_map(|(n, seed)| {
            let at = |at: &[f64; 3]| [447_000.0 + at[0], 5_411_000.0 + at[1], at[2]];
            integers(n, 700, 0.01, seed).iter().map(at).collect()
        }),
        // Every point several times.
        (size.clone(), any::<u64>()).prop_map(|(n, seed)| {
            let points = uniform(n.div_ceil(4), seed);
            (0..n).map(|k| points[(k * 7) % points.len()]).collect()
        }),
        // Distances overflow in f32.
        (size.clone(), any::<u64>()).prop_map(|(n, seed)| {
            uniform(n, seed).iter().map(|at| at.map(|x| x * 1e20)).collect()
        }),
        // Distances are subnormal in f32.
        (size, any::<u64>()).prop_map(|(n, seed)| {
            uniform(n, seed).iter().map(|at| at.map(|x| x * 1e-22)).collect()
        }),
    ];
    (kinds, 0usize..3, prop::collection::vec((any::<prop::sample::Index>(), 0usize..3), 0..4))
        .prop_map(|(mut cloud, flat, non_finite)| {
            // In a volume, on a sheet, on a line.
            cloud.iter_mut().for_each(|at| at[3 - flat..].fill(1.0));
            for (row, axis) in non_finite {
                // The first row stays, to start from.
                let row = row.index(cloud.len());
                if row > 0 {
                    cloud[row][axis] = [f64::NAN, f64::INFINITY, f64::NEG_INFINITY][axis];
                }
            }
            cloud
        })
}

fn amount() -> impl Strategy<Value = Amount> {
    prop_oneof![
        (0.0..=1.0).prop_map(Amount::Ratio),
        Just(Amount::All),
        (0.0f64..0.6).prop_map(Amount::Spacing),
    ]
}

fn setup() -> impl Strategy<Value = Setup> {
    let start = prop_oneof![Just(Start::Index(0)), any::<u64>().prop_map(Start::Random)];
    let choices = (1usize..40, 1usize..5, any::<[bool; 4]>(), 0u32..12, 0u32..12, 0u32..16);
    (choices, amount(), start, prop_oneof![Just(0.25), Just(0.6), Just(1.0), Just(0.02)]).prop_map(
        |(
            (tiles, pages, [sweep, resident, threads, gather], max_candidates, narrow, room),
            amount,
            start,
            deep,
        )| {
            Setup {
                tiles,
                page_points: 64 * pages,
                mode: if sweep { Mode::Sweep } else { Mode::Rounds },
                resident,
                max_candidates: 1 << max_candidates,
                narrow: 1 << narrow,
                cached_pages: pages,
                threads,
                deep,
                gather: if gather { u64::MAX } else { u64::from(pages as u32) },
                carried: if room > 12 { u64::MAX } else { 1 << room },
                amount,
                start,
            }
        },
    )
}

proptest! {
    #![proptest_config(random(400))]

    #[test]
    fn double(cloud in cloud(), setup in setup()) {
        check(&cloud, setup);
    }

    #[test]
    fn single(cloud in cloud(), setup in setup()) {
        let cloud: Vec<[f32; 3]> = cloud.iter().map(|at| at.map(|x| x as f32)).collect();
        check(&cloud, setup);
    }
}
