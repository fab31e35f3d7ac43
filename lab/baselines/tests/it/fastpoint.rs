//! FastPoint: the straightforward loops, and the properties of the result.

use super::{assert_distinct, farthest, from, methods, sample, squared, starts};
use farpoint::{Algorithm, Sampler, Start, reference};
use farpoint_baselines::{Estimator, First, Found, Method};
use farpoint_generate::{Kind, generate};

/// Computes the levels and the fill by the straightforward loops, for given radii, after start points.
fn levels_reference(
    cloud: &[[f32; 3]],
    count: usize,
    radii: &[f64],
    starts: &[usize],
) -> (Vec<usize>, usize) {
    let mut distance = vec![Some(f32::INFINITY); cloud.len()];
    let mut chosen: Vec<usize> = Vec::new();
    let mut take = |next: usize, distance: &mut Vec<Option<f32>>| {
        distance[next] = None;
        chosen.push(next);
        for (k, d) in distance.iter_mut().enumerate() {
            *d = d.map(|d| d.min(squared(&cloud[k], &cloud[next])));
        }
        chosen.len()
    };
    let mut found = 0;
    for &start in starts {
        found = take(start, &mut distance);
    }
    let extra_starts = starts.len() - 1;
    for (level, &radius) in radii.iter().enumerate() {
        let radius = radius as f32;
        let until = extra_starts + (level + 1) * (count - extra_starts) / 6;
        while found < until {
            let free = distance.iter().position(|d| d.is_some_and(|d| d >= radius * radius));
            let Some(next) = free else { break };
            found = take(next, &mut distance);
        }
    }
    let mut len = found;
    while len < count {
        len = take(farthest(&distance), &mut distance);
    }
    (chosen, found)
}

/// Compares a sample of 1000 points with the straightforward loops, and checks its details.
fn compare(name: &str, cloud: &[[f32; 3]], sample: &Found<f32>, starts: &[usize]) {
    let coverage = sample.fastpoint.as_ref().expect("its details");
    if coverage.radii.is_empty() {
        let exact = Sampler::count(1000).start(Start::Indices(starts.to_vec()));
        assert_eq!(sample.indices, exact.sample(cloud).unwrap().indices, "{name}");
        return;
    }
    assert_eq!((coverage.radii.len(), coverage.prefix), (6, 100));
    assert!(coverage.radii.windows(2).all(|pair| pair[0] >= pair[1]));
    let (expected, found) = levels_reference(cloud, 1000, &coverage.radii, starts);
    assert_eq!(sample.indices, expected, "{name}");
    assert_eq!(coverage.found, found, "{name}");
    let level_samples: Vec<_> = sample.indices[..found].iter().map(|&k| cloud[k]).collect();
    let least = coverage.spacing as f32;
    for (k, a) in level_samples.iter().enumerate().skip(starts.len()) {
        for b in &level_samples[..k] {
            assert!(squared(a, b) >= least * least, "{name}: {a:?} and {b:?}");
        }
    }
    let truth = farpoint::measure::covering_radius(cloud, &sample.indices);
    assert_eq!(f64::from(truth.unwrap()), coverage.covering_radius, "{name}");
    assert!(coverage.covering_radius <= coverage.radii[5], "{name}");
}

#[test]
fn fastpoint_matches_its_straightforward_loops() {
    let firsts = [First::Exact(Algorithm::Auto), First::Exact(Algorithm::Naive), First::Quick];
    let methods = [Estimator::Network, Estimator::Fit]
        .map(|estimator| firsts.map(|first| Method::FastPoint { first, estimator }));
    for (kind, method) in Kind::ALL.into_iter().zip(methods.concat().into_iter().cycle()) {
        let cloud = generate(kind, 3000, 3);
        let found = sample(method, 1000, &cloud);
        compare(&format!("{kind}, {method:?}"), &cloud, &found, &[0]);
    }
}

#[test]
fn fastpoint_starts_at_the_requested_points() {
    let method =
        Method::FastPoint { first: First::Exact(Algorithm::Auto), estimator: Estimator::Network };
    for kind in Kind::ALL.into_iter().step_by(3) {
        let cloud = generate(kind, 3000, 3);
        // Crowded ones, more than a level's share; nearly all; all.
        let many = [400, 995, 1000].map(|many| (Start::Indices((0..many).collect()), many));
        let many = many.map(|(start, many)| (start, (0..many).collect()));
        for (start, points) in starts(3000).into_iter().chain(many) {
            let sample = from(method, 1000, &start, &cloud);
            let name = format!("{kind}, {} starts from {}", points.len(), points[0]);
            assert_distinct(&name, &sample.indices, 1000, 3000);
            compare(&name, &cloud, &sample, &points);
        }
    }
}

#[test]
fn a_few_fastpoint_samples_are_exact() {
    let cloud = generate(Kind::Room, 2000, 4);
    for method in methods().into_iter().filter(|method| method.name() == "fastpoint") {
        for count in [1, 2, 310] {
            let found = sample(method, count, &cloud);
            assert_eq!(found.indices, reference(&cloud, count, 0).unwrap().indices);
            let found = from(method, count, &Start::Index(1500), &cloud);
            assert_eq!(found.indices, reference(&cloud, count, 1500).unwrap().indices);
        }
    }
}

/// Radii that an H100 used, whose kernels are code of their own: a level begins with the predicted radius, enlarged as much
/// as the level before needed.
#[test]
fn a_level_passes_on_its_correction() {
    let cases: [(usize, usize, Estimator, usize, &[f64]); 3] = [
        (
            1025,
            512,
            Estimator::Network,
            383,
            &[1.8379762172698975, 1.198232889175415, 0.917958676815033, 0.7404960989952087],
        ),
        (
            5000,
            311,
            Estimator::Fit,
            308,
            &[2.9640884399414063, 1.659908652305603, 1.1527196168899536, 0.953982412815094],
        ),
        (
            30_000,
            7500,
            Estimator::Network,
            5364,
            &[0.4569080173969269, 0.3154500424861908, 0.2520350515842438, 0.21346944570541382],
        ),
    ];
    for (points, count, estimator, found, radii) in cases {
        let cloud = farpoint_generate::room(points, 7);
        let method = Method::FastPoint { first: First::Exact(Algorithm::Auto), estimator };
        let details = sample(method, count, &cloud).fastpoint.unwrap();
        assert_eq!((details.found, &details.radii[..4]), (found, radii), "{points} {count}");
    }
}
