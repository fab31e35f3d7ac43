//! The approximate samplers against plain references of themselves, index by index, and what
//! each promises: numbers, spacing, determinism, errors.

mod common;

use common::{integers, narrow, uniform};
use farpoint::approximate::{
    ApproximateSample, ApproximateSampler, Details, Estimator, Keep, Method, Order, Wanted,
};
use farpoint::{Algorithm, BadRows, Error, Points, Scalar, SplitMix64, reference};
use farpoint_generate::{Kind, generate};
use std::collections::{BTreeMap, HashSet};

/// Every method in every way.
fn methods() -> Vec<Method> {
    let mut all = vec![Method::Random { seed: 0 }, Method::Random { seed: 7 }];
    all.extend([Keep::First, Keep::Random(3), Keep::Centre].map(|keep| Method::Grid { keep }));
    all.extend([1, 10, 21].map(|bits| Method::Morton { bits }));
    for order in [Order::Input, Order::Morton, Order::Neighbours] {
        all.extend(
            [None, Some(1), Some(7), Some(100_000)].map(|window| Method::Npdu { window, order }),
        );
    }
    for estimator in [Estimator::Network, Estimator::Fit] {
        all.push(Method::FastPoint { first: Algorithm::Auto, estimator });
    }
    all
}

/// Clouds full of ties and repeats, on lines, tiny and at the ends of what numbers hold.
fn clouds() -> Vec<(String, Vec<[f32; 3]>)> {
    let mut all = Vec::new();
    for kind in Kind::ALL {
        for n in [1, 2, 5, 70, 900] {
            all.push((format!("{kind} {n}"), generate(kind, n, 1)));
        }
    }
    for (name, scale) in [("huge", 3e38f32), ("wide", 1e19), ("tiny", 1e-44), ("small", 1e-23)] {
        let rows = integers::<3>(300, 7, 1.0, 4);
        let row = |row: &[f64; 3]| row.map(|x| (x as f32 - 3.0) / 3.0 * scale);
        all.push((name.to_owned(), rows.iter().map(row).collect()));
    }
    all
}

fn assert_distinct(name: &str, sample: &ApproximateSample, count: usize, points: usize) {
    assert_eq!(sample.len(), count, "{name}");
    let different: HashSet<_> = sample.indices.iter().collect();
    assert_eq!(different.len(), count, "{name}: indices are different");
    assert!(sample.indices.iter().all(|&index| index < points), "{name}");
}

#[test]
fn every_method_gives_as_many_different_points_as_asked_for() {
    for (name, cloud) in clouds() {
        let n = cloud.len();
        for method in methods() {
            for count in [1, n.div_ceil(4), n.div_ceil(2), n] {
                let name = format!("{name}, {count}, {method:?}");
                let sampler = ApproximateSampler::count(method, count);
                let sample = sampler.clone().threads(1).sample(&cloud).unwrap();
                assert_distinct(&name, &sample, count, n);
                assert_eq!(sampler.threads(3).sample(&cloud).unwrap(), sample, "{name}");
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

#[test]
fn random_is_a_shuffle() {
    let cloud = generate(Kind::Cube, 1000, 1);
    let sample = |seed, count| {
        ApproximateSampler::count(Method::Random { seed }, count).sample(&cloud).unwrap().indices
    };
    let mut random = SplitMix64::new(5);
    let mut cards: Vec<usize> = (0..1000).collect();
    for k in 0..1000 {
        let other = k + random.below(1000 - k as u64) as usize;
        cards.swap(k, other);
    }
    assert_eq!(sample(5, 1000), cards);
    // Every prefix is a sample, and every point as likely as another.
    assert_eq!(sample(5, 10), cards[..10]);
    let mut counts = [0; 4];
    (0..400).for_each(|seed| sample(seed, 10).iter().for_each(|&k| counts[k / 250] += 1));
    assert!(counts.iter().all(|&n| (900..1100).contains(&n)), "{counts:?}");
}

/// Points of each cell, in the order of cells' first points.
fn cells<const D: usize>(cloud: &[[f64; D]], size: f64) -> Vec<Vec<usize>> {
    let low: [f64; D] =
        std::array::from_fn(|a| cloud.iter().map(|p| p[a]).fold(f64::INFINITY, f64::min));
    let mut cells: BTreeMap<Vec<i64>, Vec<usize>> = BTreeMap::new();
    for (k, p) in cloud.iter().enumerate() {
        let cell = (0..D).map(|a| ((p[a] - low[a]) / size).floor() as i64).collect();
        cells.entry(cell).or_default().push(k);
    }
    let mut cells: Vec<_> = cells.into_values().collect();
    cells.sort();
    cells
}

fn grid_references<const D: usize>(cloud: &[[f64; D]], size: f64) {
    let cells = cells(cloud, size);
    let low: [f64; D] =
        std::array::from_fn(|a| cloud.iter().map(|p| p[a]).fold(f64::INFINITY, f64::min));
    let off = |k: usize| {
        let part = |a: usize| {
            let at = (cloud[k][a] - low[a]) / size;
            at - at.floor() - 0.5
        };
        (0..D).map(|a| part(a) * part(a)).fold(0.0, |sum, x| sum + x)
    };
    let centre = |cell: &Vec<usize>| {
        *cell.iter().min_by(|&&a, &&b| off(a).total_cmp(&off(b)).then(a.cmp(&b))).unwrap()
    };
    let mut random = SplitMix64::new(9);
    let any: Vec<usize> =
        cells.iter().map(|cell| cell[random.below(cell.len() as u64) as usize]).collect();
    let wanted = [
        (Keep::First, cells.iter().map(|cell| cell[0]).collect()),
        (Keep::Centre, cells.iter().map(centre).collect()),
        (Keep::Random(9), any),
    ];
    for (keep, mut wanted) in wanted {
        wanted.sort_unstable();
        let sample = ApproximateSampler::cell(Method::Grid { keep }, size).sample(cloud).unwrap();
        assert_eq!(sample.indices, wanted, "{keep:?}, cells of {size}");
        assert_eq!(sample.details, Details::Grid { cell: size, cells: cells.len() });
    }
    let grid = Method::Grid { keep: Keep::First };
    let centroids = ApproximateSampler::cell(grid, size).centroids(cloud).unwrap();
    assert_eq!(centroids.dims, D);
    assert_eq!(Points::<f64>::len(&centroids), cells.len());
    for (k, cell) in cells.iter().enumerate() {
        assert_eq!(centroids.counts[k] as usize, cell.len());
        let found = &centroids.coordinates[k * D..(k + 1) * D];
        for (a, found) in found.iter().enumerate() {
            let mean = cell.iter().map(|&p| cloud[p][a]).sum::<f64>() / cell.len() as f64;
            assert!((found - mean).abs() <= 1e-12 * mean.abs().max(1.0));
        }
    }
}

#[test]
fn grids_keep_what_the_obvious_grid_keeps() {
    for size in [0.01, 0.05, 0.3, 2.0] {
        // Around zero: cells are floored, not cut towards it.
        let moved = |p: &[f64; 3]| p.map(|x| x - 0.5);
        grid_references(&uniform::<3>(800, 1).iter().map(moved).collect::<Vec<_>>(), size);
        grid_references(&uniform::<1>(300, 2), size);
        grid_references(&uniform::<6>(300, 3), size);
        grid_references(&integers::<3>(500, 4, 0.1, 3), size);
    }
    // So small that cells of all axes don't fit in 64 bits together.
    grid_references(&uniform::<6>(300, 3), 1e-9);
    grid_references(&uniform::<2>(300, 3), 1e-15);
}

#[test]
fn a_wanted_count_takes_the_largest_cell_that_gives_it() {
    let cloud = generate(Kind::Room, 20_000, 1);
    let grid = Method::Grid { keep: Keep::First };
    for count in [2, 10, 333, 5000, 12_000] {
        let sample = ApproximateSampler::count(grid, count).sample(&cloud).unwrap();
        let Details::Grid { cell, cells } = sample.details else { panic!("a grid") };
        assert!(cells >= count, "{count}: {cells} cells");
        assert!(count < 100 || cells as f64 <= 1.02 * count as f64, "{count}: {cells} cells");
        let again = ApproximateSampler::cell(grid, cell).sample(&cloud).unwrap();
        assert_eq!(again.len(), cells);
        let kept: HashSet<_> = again.indices.iter().collect();
        assert!(sample.indices.iter().all(|index| kept.contains(index)));
        let centroids = ApproximateSampler::count(grid, count).centroids(&cloud).unwrap();
        let found = centroids.counts.len();
        assert!(found <= count && (count < 100 || found as f64 >= 0.98 * count as f64), "{found}");
        assert_eq!(centroids.counts.iter().sum::<u32>(), 20_000);
    }
    // Two to four points in each place: what duplicates can't give, the lowest indices do.
    let twice = generate(Kind::Duplicated, 1000, 1);
    let sample = ApproximateSampler::count(grid, 900).sample(&twice).unwrap();
    let places: HashSet<_> = twice.iter().map(|p| p.map(f32::to_bits)).collect();
    assert_eq!(sample.details, Details::Grid { cell: 0.0, cells: places.len() });
    let sampled: HashSet<_> = sample.indices.iter().map(|&k| twice[k].map(f32::to_bits)).collect();
    assert_eq!(sampled, places);
}

/// Positions along the curve, by sorting whole codes bit by bit.
fn morton_reference(cloud: &[[f32; 3]], bits: u32) -> Vec<usize> {
    let end =
        |a: usize, f: fn(f64, f64) -> f64| cloud.iter().map(|p| f64::from(p[a])).reduce(f).unwrap();
    let low: [f64; 3] = std::array::from_fn(|a| end(a, f64::min));
    let longest = (0..3).map(|a| end(a, f64::max) - low[a]).fold(0.0, f64::max);
    let cell = longest / f64::from(1 << bits);
    let code = |k: &usize| {
        let at = |a: usize| {
            let at = (f64::from(cloud[*k][a]) - low[a]) / cell;
            if at.is_nan() { 0 } else { (at.floor() as u64).min((1 << bits) - 1) }
        };
        let bit = |k: u32| (at(0) >> k & 1) | (at(1) >> k & 1) << 1 | (at(2) >> k & 1) << 2;
        (0..bits).rev().fold(0, |code, k| code << 3 | bit(k))
    };
    let mut order: Vec<usize> = (0..cloud.len()).collect();
    order.sort_by_key(code);
    order
}

#[test]
fn morton_steps_evenly_along_the_whole_curve() {
    for (name, cloud) in clouds().into_iter().filter(|(name, _)| name != "huge") {
        for bits in [1, 10, 21] {
            let (order, n) = (morton_reference(&cloud, bits), cloud.len());
            for count in [1, n.div_ceil(3), n] {
                let wanted: Vec<_> = (0..count).map(|i| order[i * n / count]).collect();
                let sampler = ApproximateSampler::count(Method::Morton { bits }, count);
                let sample = sampler.sample(&cloud).unwrap();
                assert_eq!(sample.indices, wanted, "{name}, {bits} bits, {count}");
            }
        }
    }
}

/// Squared distances in the order that the crate promises.
fn squared<T: Scalar>(a: &[T; 3], b: &[T; 3]) -> T {
    let square = |x: usize| (a[x] - b[x]) * (a[x] - b[x]);
    (square(0) + square(1)) + square(2)
}

/// The largest of the distances, the lowest index among equals; chosen points have none.
fn farthest(distance: &[Option<f32>]) -> usize {
    let key = |k: &usize| distance[*k].map(|d| (d.to_bits(), std::cmp::Reverse(*k)));
    (0..distance.len()).max_by_key(key).unwrap()
}

fn npdu_reference(
    cloud: &[[f32; 3]],
    count: usize,
    window: Option<usize>,
    order: Order,
) -> Vec<usize> {
    let n = cloud.len();
    let window = window.unwrap_or((16 * n).div_ceil(count)).min(n);
    let order_of = match order {
        Order::Morton => morton_reference(cloud, 21),
        _ => (0..n).collect(),
    };
    let mut distance = vec![Some(f32::INFINITY); n];
    let mut chosen = Vec::new();
    while chosen.len() < count {
        let next = farthest(&distance);
        let position = order_of.iter().position(|&k| k == next).unwrap();
        let start = position.saturating_sub(window / 2).min(n - window);
        let mut near = match (chosen.len(), order) {
            (0, _) => (0..n).collect(),
            (_, Order::Neighbours) => {
                let mut all: Vec<usize> = (0..n).collect();
                all.sort_by(|&a, &b| {
                    let far = |k: usize| squared(&cloud[k], &cloud[next]);
                    far(a).total_cmp(&far(b)).then(a.cmp(&b))
                });
                all.truncate(window);
                all
            }
            _ => order_of[start..start + window].to_vec(),
        };
        distance[next] = None;
        chosen.push(next);
        near.retain(|&k| distance[k].is_some());
        for k in near {
            distance[k] = distance[k].map(|d| d.min(squared(&cloud[k], &cloud[next])));
        }
    }
    chosen
}

#[test]
fn npdu_is_the_obvious_loop_with_a_window() {
    for (name, cloud) in clouds().into_iter().filter(|(name, _)| name != "huge") {
        for order in [Order::Input, Order::Morton, Order::Neighbours] {
            for window in [None, Some(1), Some(2), Some(9), Some(1 << 20)] {
                for count in [1, cloud.len().div_ceil(4), cloud.len()] {
                    let method = Method::Npdu { window, order };
                    let sample = ApproximateSampler::count(method, count).sample(&cloud).unwrap();
                    let wanted = npdu_reference(&cloud, count, window, order);
                    assert_eq!(sample.indices, wanted, "{name}, {count}, {method:?}");
                }
            }
        }
    }
}

#[test]
fn npdu_with_a_window_of_all_points_is_exact() {
    let cloud = generate(Kind::Lidar, 3000, 2);
    for order in [Order::Input, Order::Morton, Order::Neighbours] {
        let method = Method::Npdu { window: Some(3000), order };
        let sample = ApproximateSampler::count(method, 700).sample(&cloud).unwrap();
        assert_eq!(sample.indices, reference(&cloud, 700, 0).unwrap().indices);
    }
}

/// The levels and the fill by the obvious loops, for radii that are given.
fn levels_reference(cloud: &[[f32; 3]], count: usize, radii: &[f64]) -> (Vec<usize>, usize) {
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
    for (level, &radius) in radii.iter().enumerate() {
        let radius = radius as f32;
        let until = (level + 1) * count / 6;
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

#[test]
fn fastpoint_is_its_obvious_loops() {
    for kind in Kind::ALL {
        for estimator in [Estimator::Network, Estimator::Fit] {
            for first in [Algorithm::Auto, Algorithm::Naive, Algorithm::Quick] {
                let cloud = generate(kind, 3000, 3);
                let method = Method::FastPoint { first, estimator };
                let sample = ApproximateSampler::count(method, 1000).sample(&cloud).unwrap();
                let Details::FastPoint(coverage) = &sample.details else { panic!("its details") };
                if coverage.radii.is_empty() {
                    let exact = reference(&cloud, 1000, 0).unwrap().indices;
                    assert_eq!(sample.indices, exact, "{kind}");
                    continue;
                }
                assert_eq!((coverage.radii.len(), coverage.prefix), (6, 100));
                assert!(coverage.radii.windows(2).all(|pair| pair[0] >= pair[1]));
                let (wanted, found) = levels_reference(&cloud, 1000, &coverage.radii);
                assert_eq!(sample.indices, wanted, "{kind}, {method:?}");
                assert_eq!(coverage.found, found, "{kind}, {method:?}");
                let taken: Vec<_> = sample.indices[..found].iter().map(|&k| cloud[k]).collect();
                let least = coverage.spacing as f32;
                for (k, a) in taken.iter().enumerate() {
                    for b in &taken[..k] {
                        assert!(squared(a, b) >= least * least, "{kind}: {a:?} and {b:?}");
                    }
                }
                let truth = farpoint::measure::covering_radius(&cloud, &sample.indices);
                assert_eq!(f64::from(truth.unwrap()), coverage.covering_radius, "{kind}");
                assert!(coverage.covering_radius <= coverage.radii[5], "{kind}");
            }
        }
    }
}

#[test]
fn a_few_fastpoint_samples_are_exact() {
    let cloud = generate(Kind::Room, 2000, 4);
    for method in methods().into_iter().filter(|method| method.name() == "fastpoint") {
        for count in [1, 2, 310] {
            let sample = ApproximateSampler::count(method, count).sample(&cloud).unwrap();
            assert_eq!(sample.indices, reference(&cloud, count, 0).unwrap().indices);
        }
    }
}

#[test]
fn impossible_wishes_are_refused_as_by_the_exact_sampler() {
    let cloud = narrow(&uniform::<3>(20, 1));
    let mut bad = cloud.clone();
    (bad[3][1], bad[8][0]) = (f32::NAN, f32::INFINITY);
    let none: [[f32; 3]; 0] = [];
    for method in methods() {
        let count = |count| ApproximateSampler::count(method, count);
        let error = |sampler: ApproximateSampler| sampler.sample(&cloud).unwrap_err();
        assert_eq!(error(count(21)), Error::TooManySamples { wanted: 21, points: 20 });
        assert_eq!(error(ApproximateSampler::ratio(method, 1.5)), Error::BadRatio(1.5));
        assert_eq!(count(0).sample(&cloud).unwrap().indices, []);
        assert_eq!(count(0).sample(&none[..]).unwrap().indices, []);
        assert_eq!(count(1).sample(&none[..]).unwrap_err(), Error::EmptyCloud);
        let named = Error::BadRows { first: 3, count: 2, points: 20 };
        assert_eq!(count(5).sample(&bad).unwrap_err(), named);
        let left = count(18).bad_rows(BadRows::Skip).sample(&bad).unwrap();
        assert_distinct("bad rows", &left, 18, 20);
        assert!(!left.indices.contains(&3) && !left.indices.contains(&8));
        assert_eq!(left.dropped, 2);
        let cell = ApproximateSampler::cell(method, 0.5).sample(&cloud);
        match method {
            Method::Grid { .. } => assert!(!cell.unwrap().is_empty()),
            _ => assert!(cell.unwrap_err().to_string().contains(method.name())),
        }
    }
    let grid = Method::Grid { keep: Keep::First };
    for size in [0.0, -1.0, f64::INFINITY] {
        let sampler = ApproximateSampler::new(grid, Wanted::Cell(size));
        assert_eq!(sampler.sample(&cloud).unwrap_err(), Error::BadCell(size));
    }
    let with = |method| ApproximateSampler::count(method, 3).sample(&cloud).unwrap_err();
    assert_eq!(with(Method::Morton { bits: 0 }), Error::BadBits(0));
    assert_eq!(with(Method::Morton { bits: 22 }), Error::BadBits(22));
    let none = Method::Npdu { window: Some(0), order: Order::Input };
    assert_eq!(with(none), Error::BadWindow);
    let random = ApproximateSampler::count(Method::Random { seed: 0 }, 3);
    assert!(random.centroids(&cloud).unwrap_err().to_string().contains("random"));
}

#[test]
fn names_parse_and_traits_are_told() {
    for method in Method::ALL {
        assert_eq!(method.name().parse::<Method>(), Ok(method));
        assert!(!method.traits().exact && method.traits().deterministic);
    }
    assert!("fps".parse::<Method>().unwrap_err().contains("fastpoint"));
    for algorithm in Algorithm::ALL {
        assert!(algorithm.traits().exact && !algorithm.traits().needs_order);
    }
}

/// The table in the documents says what the traits say.
#[test]
fn documented_traits_are_those_of_the_code() {
    let page = include_str!("../../../docs/samplers.md");
    let exact = Algorithm::ALL.map(|algorithm| (algorithm.name(), algorithm.traits()));
    let others = Method::ALL.map(|method| (method.name(), method.traits()));
    for (name, traits) in exact.into_iter().chain(others) {
        let row = page.lines().find(|line| {
            line.starts_with("| `")
                && line.split('|').nth(1).unwrap().contains(&format!("`{name}`"))
        });
        let cells: Vec<_> = row.expect(name).split('|').map(str::trim).collect();
        let said = |cell: usize| cells[cell].starts_with("yes") || cells[cell].contains(" yes");
        assert_eq!(said(2), traits.exact, "{name}: exact");
        assert_eq!(said(3), traits.needs_order, "{name}: needs an order");
        assert_eq!(said(4), traits.exact_count, "{name}: exactly M");
        assert_eq!(said(5), traits.deterministic, "{name}: deterministic");
        assert_eq!(cells[6], traits.source, "{name}: source");
    }
}
