//! Tiles give the indices of the obvious loop, one by one.

use crate::cases::some;
use crate::common::{Setup, check, check_both, integers, uniform};
use farpoint::{Amount, NonFinite, Sampler, Start};
use farpoint_generate::{Kind, generate};
use farpoint_tiles::{Local, Mode, Tiled, sample};

#[test]
fn any_number_of_tiles() {
    for (seed, tiles) in [1, 2, 3, 8, 17, 64].into_iter().enumerate() {
        let cloud = uniform(3000, seed as u64);
        check_both(&cloud, Setup { tiles, ..Setup::default() });
    }
}

#[test]
fn ties_and_duplicates() {
    for (seed, side) in [2, 5, 9, 20].into_iter().enumerate() {
        let cloud = integers(1500, side, 0.25, seed as u64);
        for tiles in [2, 7, 32] {
            check_both(&cloud, Setup { tiles, amount: Amount::Ratio(0.6), ..Setup::default() });
            check_both(&cloud, Setup { tiles, amount: Amount::All, ..Setup::default() });
        }
    }
}

#[test]
fn all_kinds_of_clouds() {
    for (seed, kind) in Kind::ALL.into_iter().enumerate() {
        let cloud = generate(kind, 2500, seed as u64);
        let cloud: Vec<[f64; 3]> = cloud.iter().map(|at| at.map(f64::from)).collect();
        for tiles in some(seed % 2, 2, [4, 16]) {
            check_both(&cloud, Setup { tiles, ..Setup::default() });
        }
    }
}

#[test]
fn few_candidates_at_a_time() {
    for max_candidates in [1, 3, 50] {
        for cloud in [uniform(600, 1), integers(600, 4, 1.0, 2)] {
            let carried = 3 * max_candidates;
            let setup = Setup {
                max_candidates,
                narrow: max_candidates as usize,
                carried,
                ..Setup::default()
            };
            check_both(&cloud, setup.clone());
            check_both(&cloud, Setup { tiles: 16, ..setup });
        }
    }
}

#[test]
fn one_point_a_tile() {
    check_both(&uniform(40, 3), Setup { tiles: 40, amount: Amount::All, ..Setup::default() });
    check_both(&uniform(10, 3), Setup { tiles: 16, amount: Amount::All, ..Setup::default() });
}

#[test]
fn spacings_starts_and_counts() {
    let cloud = uniform(2000, 7);
    for spacing in [0.0, 0.05, 0.2, 3.0] {
        check_both(&cloud, Setup { amount: Amount::Spacing(spacing), ..Setup::default() });
    }
    for count in [0, 1, 2, 3, 10, 1999, 2000] {
        check_both(&cloud, Setup { amount: Amount::Count(count), ..Setup::default() });
    }
    for start in [Start::Index(77), Start::Random(5), Start::Indices(vec![1900, 3, 500])] {
        check_both(&cloud, Setup { start, ..Setup::default() });
    }
}

/// With a low limit of carried points, sweeps are less deep, some restart, and some bands are thin.
#[test]
fn low_limit_of_carried_points() {
    let (mut restarts, mut deep) = (0, 0);
    for (carried, narrow) in [(1, 1), (20, 3), (30, 1), (100, 10)] {
        let line: Vec<[f64; 3]> = uniform(3000, 5).iter().map(|at| [at[0], 0.0, 0.0]).collect();
        let sheet: Vec<[f64; 3]> = uniform(3000, 6).iter().map(|at| [at[0], at[1], 0.0]).collect();
        for cloud in [line, sheet, uniform(3000, 7), integers(3000, 12, 1.0, 3)] {
            let (mode, resident, amount) = (Mode::Sweep, false, Amount::Ratio(0.9));
            let setup =
                Setup { mode, resident, carried, narrow, tiles: 7, amount, ..Setup::default() };
            let counts = check(&cloud, setup);
            (restarts, deep) = (restarts + counts.again, deep + counts.deep_bands);
        }
    }
    assert!(restarts > 10 && deep > 50, "{restarts} restarts, {deep} deep bands");
}

/// Tiles large enough that samples are filtered for spans of parts first, one of which is not full.
#[test]
fn tiles_of_many_parts() {
    let truth = |cloud: &[[f32; 3]], ratio| {
        let sample = Sampler::new(Amount::Ratio(ratio)).sample(cloud).unwrap();
        (sample.indices, sample.squared_distances)
    };
    for (kind, points, ratio) in [(Kind::Room, 300_001, 0.05), (Kind::Lattice, 289_000, 0.02)] {
        let cloud = generate(kind, points, 3);
        let (indices, distances) = truth(&cloud, ratio);
        for (tiles, threads, page_points) in [(1, false, 256), (1, true, 64), (3, false, 256)] {
            let amount = Amount::Ratio(ratio);
            let setup = Setup { tiles, threads, page_points, amount, ..Setup::default() };
            let tiled = Tiled::new(&cloud, NonFinite::Error, tiles, page_points).unwrap();
            let options = setup.options().threads(threads);
            let mut workers = Local(tiled.workers(options));
            let found = sample(setup.plan(&tiled), tiled.tiles(), &mut workers).unwrap();
            assert!(found.indices.iter().map(|&row| row as usize).eq(indices.iter().copied()));
            assert_eq!(found.squared_distances, distances, "{setup:?}");
        }
    }
}

/// Nearly all points of dense tiles are blocked at first, by points beside them.
#[test]
fn dense_places_along_the_borders_of_tiles() {
    for gather in [256, u64::MAX] {
        for kind in [Kind::Lidar, Kind::Clusters] {
            let cloud = generate(kind, 12_000, 9);
            for deep in [0.25, 0.5] {
                check(&cloud, Setup { tiles: 8, deep, gather, ..Setup::default() });
            }
        }
    }
}
