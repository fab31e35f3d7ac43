//! The guarantees of the levels, on clouds of every kind: coverage, cells, counts.

use super::cube::{Cube, DEEPEST};
use super::hierarchy::{Entry, PAGE, pages};
use super::levels::{Key, Levels};
use super::order::hilbert;
use super::spacing::Ordered;
use proptest::prelude::*;
use std::collections::{HashMap, HashSet};

/// Sorts places farthest first, with their selection distances: the obvious loop.
fn ordered(places: &[[f64; 3]]) -> (Vec<[f64; 3]>, Vec<f64>) {
    let mut squares = vec![f64::INFINITY; places.len()];
    let (mut order, mut distances) = (Vec::new(), Vec::new());
    let mut remaining: Vec<usize> = (0..places.len()).collect();
    while !remaining.is_empty() {
        let far = (0..remaining.len())
            .fold(0, |a, b| if squares[remaining[b]] > squares[remaining[a]] { b } else { a });
        let next = remaining.remove(far);
        distances.push(squares[next].sqrt());
        order.push(places[next]);
        for &other in &remaining {
            let square = (0..3).map(|a| (places[other][a] - places[next][a]).powi(2)).sum();
            squares[other] = squares[other].min(square);
        }
    }
    (order, distances)
}

fn cube(places: &[[f64; 3]], step: f64) -> Cube {
    let corner = |pick: fn(f64, f64) -> f64| -> [f64; 3] {
        let all = places.iter().copied();
        all.reduce(|a, b| std::array::from_fn(|i| pick(a[i], b[i]))).unwrap_or_default()
    };
    Cube::around([corner(f64::min), corner(f64::max)], [step; 3])
}

/// Returns the distance of the farthest of all places from those chosen.
fn radius(all: &[[f64; 3]], chosen: &[[f64; 3]]) -> f64 {
    let nearest = |place: &[f64; 3]| {
        let square = |c: &[f64; 3]| (0..3).map(|a| (place[a] - c[a]).powi(2)).sum::<f64>();
        chosen.iter().map(square).fold(f64::INFINITY, f64::min)
    };
    all.iter().map(nearest).fold(0.0, f64::max).sqrt()
}

/// Checks all guarantees for these places, which are multiples of the step.
fn check(places: &[[f64; 3]], step: f64, node_points: usize) -> Levels {
    let (order, distances) = ordered(places);
    let cube = cube(places, step);
    let cells: Vec<_> = order.iter().map(|place| cube.cell(*place)).collect();
    let points = Ordered { distances: &distances, cells: &cells, relative: 0.0, absolute: 0.0 };
    let levels = Levels::new(&points, cube.side, node_points);
    each_point_is_in_its_cell_once(&levels, &order, &cube);
    let distinct = points.distinct();
    let min_points = 1000.min(node_points / 8);
    for node in &levels.nodes {
        let unique = node.points.iter().filter(|&&point| (point as usize) < distinct).count();
        assert!(unique <= node_points, "{unique} points in {:?}", node.key);
        assert!(!node.points.is_empty() || places.is_empty(), "{:?} is empty", node.key);
        if node.key != Key::ROOT && node.points.len() < min_points {
            // Only where the one above is full.
            let above = levels.nodes.iter().find(|n| n.key == node.key.parent()).unwrap();
            assert!(above.points.len() + node.points.len() > node_points);
        }
    }
    let deepest = levels.nodes.iter().map(|node| node.key.level).max().unwrap_or(0);
    for level in 0..=deepest {
        let coarse = levels.nodes.iter().filter(|node| node.key.level <= level);
        let chosen: Vec<_> = coarse.flat_map(|n| &n.points).map(|&p| order[p as usize]).collect();
        let declared = levels.spacing / 2f64.powi(level as i32);
        let radius = radius(&order, &chosen);
        assert!(radius <= declared, "level {level}: radius {radius}, declared {declared}");
    }
    levels
}

fn each_point_is_in_its_cell_once(levels: &Levels, order: &[[f64; 3]], cube: &Cube) {
    let mut seen = HashSet::new();
    let keys: HashSet<_> =
        levels.nodes.iter().map(|node| (node.key.level, node.key.cell)).collect();
    assert_eq!(keys.len(), levels.nodes.len(), "a node is there twice");
    for node in &levels.nodes {
        let side = cube.side / 2f64.powi(node.key.level as i32);
        if node.key != Key::ROOT {
            let above = node.key.parent();
            assert!(keys.contains(&(above.level, above.cell)), "{:?} has no parent", node.key);
        }
        for &point in &node.points {
            assert!(seen.insert(point), "point {point} is there twice");
            for (axis, value) in order[point as usize].into_iter().enumerate() {
                let cell = f64::from(node.key.cell[axis]);
                let [low, high] = [cell, cell + 1.0].map(|cell| cube.low[axis] + cell * side);
                assert!(low <= value && value <= high, "{value} is not in {:?}", node.key);
            }
        }
    }
    assert_eq!(seen.len(), order.len());
}

/// A number from 0 to 1 of a seed.
fn random(state: &mut u64) -> f64 {
    *state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
    (*state >> 11) as f64 / (1u64 << 53) as f64
}

/// Places on a lattice of the step 0.01 far from the origin, as maps have them.
fn cloud(kind: u8, points: usize, seed: u64) -> Vec<[f64; 3]> {
    let mut state = seed;
    let mut next = move |range: f64| (random(&mut state) * range * 100.0).round() / 100.0;
    let place = |i: usize| match kind {
        0 => [next(50.0), next(50.0), next(50.0)],
        // A sheet.
        1 => [next(80.0), next(60.0), 1.0],
        // A line.
        2 => [i as f64, 0.0, 0.0],
        // A lattice with ties everywhere.
        3 => [(i % 16) as f64, (i / 16 % 16) as f64, (i / 256) as f64],
        // Few places, many times.
        4 => [next(0.03), next(0.03), next(0.02)],
        // A small cluster, and a point far off.
        5 if i == 0 => [10_000.0, 0.0, 0.0],
        5 => [next(1.0), next(1.0), next(1.0)],
        // All at one place.
        _ => [7.0, 8.0, 9.0],
    };
    (0..points).map(place).map(|[x, y, z]| [637_000.0 + x, 849_000.0 + y, 400.0 + z]).collect()
}

#[test]
fn the_highest_point_is_in_the_cube_where_the_side_is_rounded() {
    for i in 0..10_000 {
        let (low, high) = (-0.3, f64::from(i) / 100.0);
        let cube = Cube::around([[low; 3], [high, low, low]], [0.01; 3]);
        assert!(cube.low[0] + cube.side >= high, "{high}");
    }
    check(&cloud(1, 1287, 3_818_565_818_770_167_209), 0.01, 110);
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(24))]
    #[test]
    fn levels_keep_their_spacing(
        kind in 0u8..7, points in 0usize..1500, seed: u64, node_points in 100usize..900,
    ) {
        check(&cloud(kind, points, seed), 0.01, node_points);
    }
}

#[test]
fn a_larger_cloud_has_several_full_levels() {
    for kind in [0, 1] {
        let levels = check(&cloud(kind, 12_000, 5), 0.01, 400);
        let deepest = levels.nodes.iter().map(|node| node.key.level).max();
        assert!(deepest >= Some(2), "{deepest:?}");
        // As fine as the nodes allow: the fullest one is nearly full.
        let fullest = levels.nodes.iter().map(|node| node.points.len()).max().unwrap();
        assert!((360..=400).contains(&fullest), "{fullest}");
        assert!(levels.nodes.iter().all(|node| node.points.len() >= 50));
    }
}

#[test]
fn tiny_clouds_have_one_node() {
    for points in [0, 1, 5, 99] {
        for kind in 0..7 {
            let levels = check(&cloud(kind, points, 3), 0.01, 1 << 16);
            assert_eq!(levels.nodes.len(), 1);
            assert_eq!(levels.nodes[0].points.len(), points);
        }
    }
}

#[test]
fn duplicates_stay_where_the_last_node_is() {
    // Thousands of duplicates of a few places make no chain of nodes.
    let levels = check(&cloud(4, 3000, 11), 0.01, 200);
    assert!(levels.nodes.len() <= 20, "{}", levels.nodes.len());
    let levels = check(&cloud(6, 3000, 1), 0.01, 200);
    assert_eq!(levels.nodes.len(), 1);
}

#[test]
fn places_on_planes_are_where_readers_look_for_them() {
    // Steps of a hundredth far from the origin are rounded, and so are the planes.
    let at = |n: u32| 637_000.0 + f64::from(n) * 0.01;
    for steps in [1000, 1024, 1023, 7] {
        let cube = Cube::around([[at(0); 3], [at(steps), at(1), at(0)]], [0.01; 3]);
        assert_eq!(cube.side, at(steps) - at(0));
        for level in 0..=12 {
            let side = cube.side / 2f64.powi(level as i32);
            for n in 0..=steps {
                let cell = cube.cell([at(n); 3])[0] >> (DEEPEST - level);
                let (low, high) =
                    (at(0) + f64::from(cell) * side, at(0) + f64::from(cell + 1) * side);
                let last = n == steps && at(n) <= high;
                assert!(low <= at(n) && (at(n) < high || last), "{n} of {steps}, level {level}");
            }
        }
    }
    let cube = Cube::around([[0.0; 3], [8.0, 1.0, 1.0]], [1.0; 3]);
    assert_eq!(cube.cell([5000.0, -5000.0, 8.0]), [(1 << DEEPEST) - 1, 0, (1 << DEEPEST) - 1]);
    assert_eq!(cube.cell([4.0, 3.999, 0.0]).map(|at| at >> (DEEPEST - 1)), [1, 0, 0]);
    assert_eq!(Cube::around([[3.0; 3]; 2], [0.01; 3]).side, 0.01);
}

#[test]
fn places_that_are_rounded_to_one_make_no_nodes_of_their_own() {
    // Thousands of places within a step of the file, which only the distances tell apart.
    let places: Vec<_> = cloud(0, 1500, 9).iter().map(|p| p.map(|v| v / 1e6)).collect();
    let (order, distances) = ordered(&places);
    let stored: Vec<_> = order.iter().map(|place| place.map(f64::round)).collect();
    let cube = cube(&stored, 1.0);
    let cells: Vec<_> = stored.iter().map(|place| cube.cell(*place)).collect();
    let points = Ordered { distances: &distances, cells: &cells, relative: 0.0, absolute: 2.0 };
    let levels = Levels::new(&points, cube.side, 200);
    assert_eq!(levels.nodes.iter().map(|node| node.points.len()).sum::<usize>(), 1500);
    assert!(levels.nodes.len() < 5 && levels.spacing <= cube.side, "{levels:?}");
}

/// Offset, bytes and points of each node.
type Found = HashMap<(u32, [u32; 3]), [u64; 3]>;

/// Walks the pages, as a reader does; returns the entries and the length of each page.
fn walked(bytes: &[u8], start: u64, root: u64) -> (Found, Vec<usize>) {
    let number = |at: usize| u32::from_le_bytes(bytes[at..at + 4].try_into().unwrap());
    let long = |at: usize| u64::from_le_bytes(bytes[at..at + 8].try_into().unwrap());
    let (mut found, mut pages, mut remaining) = (HashMap::new(), Vec::new(), vec![(start, root)]);
    while let Some((from, length)) = remaining.pop() {
        pages.push(length as usize / 32);
        for at in ((from - start) as usize..(from - start + length) as usize).step_by(32) {
            let key = (number(at), [number(at + 4), number(at + 8), number(at + 12)]);
            let (offset, size) = (long(at + 16), u64::from(number(at + 24)));
            match number(at + 28) {
                u32::MAX => remaining.push((offset, size)),
                points => {
                    let before = found.insert(key, [offset, size, u64::from(points)]);
                    assert_eq!(before, None, "{key:?} has two entries");
                }
            }
        }
    }
    (found, pages)
}

/// Entries of nodes, whose numbers are those of their places in the file.
fn numbered(keys: &[Key]) -> Vec<Entry> {
    let entry =
        |(i, key): (u64, &Key)| Entry { key: *key, offset: 1000 * i, bytes: i + 1, points: 7 + i };
    (0..).zip(keys).map(entry).collect()
}

/// Returns the nodes of a tree, level by level; each of the levels has those children of the last that are in the tree.
fn tree(levels: u32, mut is_in: impl FnMut(Key) -> bool) -> Vec<Key> {
    let (mut keys, mut above) = (Vec::new(), vec![Key::ROOT]);
    for _ in 0..=levels {
        keys.extend(&above);
        let children = above.iter().flat_map(|key| (0..8).map(|octant| key.child(octant)));
        above = children.filter(|child| is_in(*child)).collect();
    }
    keys
}

#[test]
fn pages_hold_every_node_once_and_start_with_the_root() {
    let chain = tree(9, |key| key.parent().cell == [0; 3]);
    let sheet = tree(6, |key| key.cell[2] == 0);
    let small = vec![Key::ROOT, Key { level: 1, cell: [1, 0, 0] }];
    let cases =
        [(small, 1), (chain, 1), (tree(3, |_| true), 1), (tree(4, |_| true), 8), (sheet, 16)];
    for (keys, expected_pages) in cases {
        let entries = numbered(&keys);
        let made = pages(&entries, 12_345);
        let (found, lengths) = walked(&made.bytes, 12_345, made.root);
        assert_eq!((found.len(), lengths.len()), (entries.len(), expected_pages));
        assert!(lengths.iter().all(|&length| length <= PAGE), "{lengths:?}");
        for Entry { key, offset, bytes, points } in entries {
            assert_eq!(found[&(key.level, key.cell)], [offset, bytes, points]);
        }
        assert_eq!(made.bytes[..16], [0; 16], "the root comes first");
    }
}

#[test]
fn pages_of_an_uneven_tree_hold_hundreds_of_nodes() {
    let mut state = 3;
    let keys = tree(9, |_| random(&mut state) < 0.45);
    let made = pages(&numbered(&keys), 0);
    let (found, lengths) = walked(&made.bytes, 0, made.root);
    assert_eq!(found.len(), keys.len());
    assert!(keys.len() > 5000, "{}", keys.len());
    assert!(keys.len() / lengths.len() > PAGE / 3, "{} nodes, {lengths:?}", keys.len());
}

#[test]
fn a_hilbert_curve_goes_from_cell_to_neighbor() {
    for bits in 0..4u32 {
        let side = 1u32 << bits;
        let cells = (0..side.pow(3)).map(|i| [i % side, i / side % side, i / side / side]);
        let mut curve: Vec<_> = cells.map(|cell| (hilbert(cell, bits), cell)).collect();
        curve.sort_unstable();
        for (place, (code, _)) in curve.iter().enumerate() {
            assert_eq!(*code, place as u64);
        }
        for pair in curve.windows(2) {
            let steps: u32 = (0..3).map(|axis| pair[0].1[axis].abs_diff(pair[1].1[axis])).sum();
            assert_eq!(steps, 1, "{pair:?}");
        }
    }
    // All bits are used, without overflow.
    assert!(hilbert([(1 << 21) - 1; 3], 21) < 1 << 63);
}
