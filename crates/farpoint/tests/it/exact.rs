//! Every algorithm on every instruction set with one, two and three threads agrees with
//! `reference`: indices, distances and covering radius, bit for bit.

use crate::cases::{random, some, thorough};
use crate::common::{as_f32, assert_prefix, check, configs, full_sample, integers, uniform};
use farpoint::{Algorithm, Cpu, Level, Sampler, Start, reference};
use farpoint_generate::{Kind, generate};
use proptest::prelude::*;

const SIZES: [usize; 9] = [1, 2, 31, 32, 33, 100, 1023, 1024, 1025];

/// Returns the cloud in `f64`, with lower bits that `f32` has not.
fn as_f64(cloud: &[[f32; 3]]) -> Vec<[f64; 3]> {
    cloud.iter().map(|row| row.map(|x| f64::from(x) * (1.0 + 2f64.powi(-40)))).collect()
}

fn check_kind(kind: Kind) {
    let (alone, many) = (configs(&[1]), configs(&[1, 2, 3]));
    let mut all = Vec::new();
    for (seed, n) in (1..).zip(SIZES) {
        for (start, configs) in [(0, &many), (n / 3, &alone)] {
            all.extend(
                [false, true]
                    .map(|double| (n, seed, double, vec![1, n.div_ceil(4), n], start, configs)),
            );
        }
    }
    all.push((5000, 77, false, vec![1250], 4999, &many));
    all.push((5000, 77, true, vec![1250], 4999, &many));
    all.push((5000, 77, false, vec![5000], 0, &alone));
    let rotated = Kind::ALL.iter().position(|&other| other == kind).expect("one of all");
    for (n, seed, double, counts, start, configs) in some(rotated % 5, 5, all) {
        let cloud = generate(kind, n, seed);
        match double {
            false => check(&format!("{kind} f32 {n}"), &cloud, &counts, start, configs),
            true => check(&format!("{kind} f64 {n}"), &as_f64(&cloud), &counts, start, configs),
        }
    }
    // Large enough that threads share the work.
    let tied = [Kind::Lattice, Kind::Line, Kind::Equal, Kind::Duplicated];
    if thorough() || tied.contains(&kind) {
        let cloud = generate(kind, 40_000, 78);
        check(&format!("{kind} f32 40000"), &cloud, &[300], 0, &many);
    }
}

/// One test for each kind of cloud.
macro_rules! stamp {
    ($($name:ident: $kind:ident),* $(,)?) => {
        $(#[test]
        fn $name() {
            check_kind(Kind::$kind);
        })*

        #[test]
        fn every_kind_is_tested() {
            assert_eq!([$(Kind::$kind),*], Kind::ALL);
        }
    };
}

stamp! {
    room: Room,
    lidar: Lidar,
    object: Object,
    cube: Cube,
    lattice: Lattice,
    line: Line,
    equal: Equal,
    duplicated: Duplicated,
    clusters: Clusters,
    sphere: Sphere,
}

#[test]
fn unavailable_levels_are_named() {
    let here = Level::available();
    for level in [Level::Portable, Level::Neon, Level::Avx2, Level::Avx512] {
        if !here.contains(&level) {
            println!("skipped: this machine has no {level}");
            let error =
                Sampler::count(1).on(&Cpu::new().level(level)).sample(&[[0.0f32]]).unwrap_err();
            assert!(error.to_string().contains(level.name()));
        }
    }
}

/// Threads share the brute force from 65,536 points on, the other methods from 32,768.
#[test]
fn large_cloud_on_many_threads() {
    let cloud = generate(Kind::Room, 140_000, 3);
    check("room 140000", &cloud, &[40], 70_000, &configs(&[1, 2, 4]));
    // One more, whose distance is the covering radius of the others.
    let truth = Sampler::count(35_001)
        .algorithm(Algorithm::Tree)
        .on(&Cpu::new().threads(1))
        .sample(&cloud)
        .unwrap();
    for threads in [2, 3, 4] {
        for algorithm in [Algorithm::Auto, Algorithm::Tree, Algorithm::peak()] {
            let (job, cpu) =
                (Sampler::ratio(0.25).algorithm(algorithm), Cpu::new().threads(threads));
            let sampler = job.on(&cpu);
            let sample = sampler.sample(&cloud).unwrap();
            assert_prefix(&format!("{algorithm}, {threads} threads"), &sample, &truth, 1);
        }
    }
}

fn dimensions<const D: usize>() {
    for (n, counts) in [(1, &[1][..]), (33, &[1, 9, 33]), (700, &[175, 700])] {
        for (name, cloud) in [("any", uniform::<D>(n, 1)), ("tied", integers(n, 3, 0.1, 2))] {
            let name = format!("{name}, {n} points, {D} axes");
            check(&name, &cloud, counts, n / 2, &configs(&[1, 2]));
            check(&name, &as_f32(&cloud), counts, n / 2, &configs(&[1, 2]));
        }
    }
    if thorough() || D == 4 {
        let cloud = uniform::<D>(40_000, 3);
        check(&format!("{D} axes"), &as_f32(&cloud), &[100], 0, &configs(&[1, 3]));
    }
}

#[test]
fn any_number_of_axes() {
    dimensions::<1>();
    dimensions::<2>();
    dimensions::<4>();
    dimensions::<5>();
    dimensions::<16>();
}

#[test]
fn random_start_is_seeded() {
    let cloud = generate(Kind::Object, 2000, 5);
    for seed in 0..4 {
        let of = |config: &crate::common::Config| {
            config.sample(Sampler::count(500).start(Start::Random(seed)), &cloud).unwrap()
        };
        let samples: Vec<_> = configs(&[1, 2]).iter().map(of).collect();
        let truth = reference(&cloud, 501, samples[0].indices[0]).unwrap();
        samples.iter().for_each(|s| assert_prefix(&format!("seed {seed}"), s, &truth, 1));
    }
    let start =
        |seed| Sampler::count(1).start(Start::Random(seed)).sample(&cloud).unwrap().indices[0];
    assert!((0..20).any(|seed| start(seed) != start(20)));
}

#[test]
fn continued_samples_match_uninterrupted_ones() {
    let kinds = [Kind::Room, Kind::Lattice, Kind::Duplicated, Kind::Equal];
    let cases = [1, 2, 65, 700, 1500]
        .into_iter()
        .flat_map(|start_count| kinds.map(|kind| (kind, start_count)));
    for (kind, start_count) in some(0, 5, cases) {
        let cloud = generate(kind, 1500, 6);
        let truth = full_sample(&cloud, 9);
        let start = Start::Indices(truth.indices[..start_count].to_vec());
        for config in configs(&[1, 3]) {
            for m in [start_count, (start_count + 400).min(1500), 1500] {
                let name = format!("{kind}, {start_count} given of {m}: {}", config.name);
                let sample = config.sample(Sampler::count(m).start(start.clone()), &cloud);
                assert_prefix(&name, &sample.unwrap(), &truth, start_count);
            }
        }
    }
}

/// Start points that no sampler would have chosen: compared with `reference` from them.
#[test]
fn any_layout_of_points_is_accepted() {
    let cloud = generate(Kind::Clusters, 1200, 7);
    let start = Start::Indices(vec![1199, 0, 3, 4, 5, 600]);
    let sampler = Sampler::count(1000).start(start);
    let truth = sampler.clone().algorithm(Algorithm::Reference).sample(&cloud).unwrap();
    for config in configs(&[1, 2]) {
        let sample = config.sample(sampler.clone(), &cloud).unwrap();
        assert_eq!(sample.indices, truth.indices, "{}", config.name);
        assert_eq!(sample.squared_distances, truth.squared_distances, "{}", config.name);
        assert_eq!(
            sample.squared_covering_radius, truth.squared_covering_radius,
            "{}",
            config.name
        );
    }
}

#[test]
fn spacing_and_ratio_stop_where_reference_stops() {
    for (rotated, kind) in
        [Kind::Room, Kind::Lattice, Kind::Equal, Kind::Sphere].into_iter().enumerate()
    {
        let cloud = generate(kind, 1600, 8);
        let middle = f64::from(full_sample(&cloud, 0).distance(400));
        let mut amounts: Vec<_> =
            [0.0, middle, middle * 0.999, middle * 1.001, 1e9].map(Sampler::spacing).to_vec();
        amounts.extend([0.0, 0.1, 0.3333, 1.0].map(Sampler::ratio));
        amounts.push(Sampler::whole());
        for sampler in some(rotated, 4, amounts) {
            let truth = sampler.clone().algorithm(Algorithm::Reference).sample(&cloud).unwrap();
            for config in configs(&[1, 2]) {
                let sample = config.sample(sampler.clone(), &cloud).unwrap();
                let name = format!("{kind}, {sampler:?}: {}", config.name);
                assert_eq!(sample.indices, truth.indices, "{name}");
                assert_eq!(sample.squared_covering_radius, truth.squared_covering_radius, "{name}");
            }
        }
    }
}

#[test]
fn counting_changes_nothing() {
    for kind in [Kind::Lidar, Kind::Lattice, Kind::Duplicated] {
        let cloud = generate(kind, 3000, 9);
        let plain = reference(&cloud, 1000, 0).unwrap();
        for config in configs(&[1, 2]) {
            let job = config.job(Sampler::count(1000).statistics(true));
            let sampler = job.on(&config.cpu);
            let sample = sampler.sample(&cloud).unwrap();
            assert_eq!(sample.indices, plain.indices, "{}", config.name);
            assert_eq!(sample.squared_distances, plain.squared_distances, "{}", config.name);
            let counted = sample.statistics.expect("statistics");
            assert!(counted.effective_updates > 0, "{}", config.name);
            assert!(counted.effective_updates <= counted.distance_evaluations, "{}", config.name);
            assert!(counted.regions_pruned <= counted.regions_tested, "{}", config.name);
        }
    }
}

proptest! {
    #![proptest_config(random(300))]

    /// Small clouds on coarse grids: nearly every choice is tied, many points are equal.
    #[test]
    fn ties_everywhere(
        rows in prop::collection::vec(prop::array::uniform3(-3i8..4), 1..150),
        scale in prop::sample::select(vec![1.0f32, 0.1, 1e-23, 1e18, 3e37]),
        start in any::<prop::sample::Index>(),
    ) {
        let cloud: Vec<[f32; 3]> = rows.iter().map(|r| r.map(|x| f32::from(x) * scale)).collect();
        let n = cloud.len();
        check("grid", &cloud, &[n.div_ceil(3), n], start.index(n), &configs(&[1]));
    }

    #[test]
    fn flat_ties(rows in prop::collection::vec(prop::array::uniform2(0u8..9), 1..300)) {
        let cloud: Vec<[f64; 2]> = rows.iter().map(|row| row.map(f64::from)).collect();
        check("flat grid", &cloud, &[cloud.len()], 0, &configs(&[1]));
    }
}
