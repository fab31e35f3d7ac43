//! Difficult clouds: ties without end, tiny and huge coordinates, lines, lattices, too few
//! points, more threads than cores.

use super::{check, same};
use crate::cases::some;
use crate::common::{as_f32, crowded, integers, uniform};
use farpoint::{Cpu, DeviceKind, Error, Index, Matcher, Method, NonFinite, Order, Searcher};
use farpoint_generate::{Kind, generate};

/// Returns a cloud of f64, scaled, moved and rounded to f32.
fn placed(cloud: &[[f64; 3]], scale: f64, shift: f64) -> Vec<[f32; 3]> {
    cloud.iter().map(|row| row.map(|x| (x * scale + shift) as f32)).collect()
}

#[test]
fn wide_tiny_and_overflowing_coordinates() {
    let (x, y) = (uniform::<3>(70, 1), uniform::<3>(200, 2));
    check("1e5 wide", &placed(&x, 1e5, -5e4), &placed(&y, 1e5, -5e4), 3e4, &[1]);
    check("far from the origin", &placed(&x, 1.0, 1e5), &placed(&y, 1.0, 1e5), 0.4, &[1]);
    // Squares overflow to infinity, and vanish to 0: ties like any others.
    check("1e19", &placed(&x, 1e20, -5e19), &placed(&y, 1e20, -5e19), 3e19, &[1]);
    check("1e-23", &placed(&x, 1e-23, 0.0), &placed(&y, 1e-23, 0.0), 3e-24, &[1]);
    let scaled = |cloud: &[[f64; 3]]| -> Vec<[f64; 3]> {
        cloud.iter().map(|row| row.map(|x| x * 1e160)).collect()
    };
    check("f64, 1e160", &scaled(&x), &scaled(&y), 3e159, &[1]);
}

#[test]
fn lattices_and_lines() {
    let lattice = integers::<3>(500, 6, 1.0, 3);
    check("lattice", &as_f32(&lattice), &as_f32(&integers::<3>(90, 6, 1.0, 4)), 2.0, &[1]);
    check("lattice in itself", &lattice, &lattice, 1.0, &[4]);
    let line: Vec<[f32; 2]> = (0..400).map(|i| [(i * 7 % 200) as f32, 0.0]).collect();
    check("line", &line[..80], &line, 5.0, &[1]);
    // Negative zeros are zeros.
    let zeros = [[-0.0f32, 0.0], [0.0, -0.0], [0.0, 0.0]];
    check("zeros", &zeros, &zeros, 1.0, &[1]);
}

#[test]
fn four_axes_and_f64() {
    check("4 axes", &uniform::<4>(70, 1), &uniform::<4>(300, 2), 0.4, &[2]);
    check("1 axis, f32", &as_f32(&uniform::<1>(70, 1)), &as_f32(&uniform::<1>(300, 2)), 0.1, &[1]);
}

/// Places where many points lie, in more leaves than one: of equals the lowest count, wherever they are found.
#[test]
fn crowded_places() {
    fn axes<const D: usize>() {
        for places in some(D % 3, 3, [1, 2, 40]) {
            let (x, y) = (crowded::<D>(90, places, 1), crowded::<D>(900, places, 2));
            let name = format!("{places} places, {D} axes");
            check(&name, &x, &y, 0.2, &[1]);
            check(&format!("{name}, f32"), &as_f32(&x), &as_f32(&y), 0.2, &[1]);
        }
    }
    axes::<1>();
    axes::<2>();
    axes::<3>();
    axes::<4>();
    axes::<5>();
    let cloud = as_f32(&crowded::<3>(500, 3, 3));
    check("in itself", &cloud, &cloud, 0.2, &[1, 9]);
}

/// Every number of threads, on clouds that are worth several.
#[test]
fn one_to_nine_threads() {
    threads_agree(&generate(Kind::Room, 5000, 1), &generate(Kind::Room, 4500, 2));
    let cloud = as_f32(&crowded::<3>(9000, 2, 1));
    threads_agree(&cloud, &cloud);
}

fn threads_agree(x: &[[f32; 3]], y: &[[f32; 3]]) {
    let searchers = [
        Searcher::nearest(3),
        Searcher::nearest(40).exclude_self(true),
        Searcher::ball(0.2, 16),
        Searcher::ball(0.2, 16).order(Order::Nearest),
    ];
    for searcher in searchers {
        for method in [Method::Brute, Method::Tree] {
            let searcher = searcher.clone().method(method);
            let truth = searcher.on(&Cpu::new().threads(1)).search(x, y).unwrap();
            for threads in some(0, 5, 2..=9) {
                let found = searcher.on(&Cpu::new().threads(threads)).search(x, y).unwrap();
                same(&format!("{searcher:?} {threads}"), &found, &truth);
            }
        }
    }
}

/// Thousands of equal points: every leaf of the tree ties.
#[test]
fn more_twins_than_k_in_many_leaves() {
    let twins = vec![[0.5f32, 0.25, -1.0]; 5000];
    for k in some(1, 5, [1, 4, 16, 32]) {
        let searcher = Searcher::nearest(k).method(Method::Tree);
        let found = searcher.search(&twins, &twins).unwrap();
        let lowest: Vec<u32> = (0..k as u32).collect();
        assert!((0..5000).all(|row| found.indices(row) == lowest), "{k}");
        assert!(found.all_distances.iter().all(|&distance| distance == 0.0));
        let others = searcher.exclude_self(true).search(&twins, &twins).unwrap();
        let expected = |row: u32| (0..k as u32 + 1).filter(move |&i| i != row).take(k);
        assert!((0..5000).all(|row| others.indices(row).iter().copied().eq(expected(row as u32))));
    }
}

/// k above the points, by itself and where one of them does not count.
#[test]
fn k_above_the_points() {
    let cloud = generate(Kind::Room, 100, 1);
    for method in [Method::Brute, Method::Tree, Method::Reference] {
        let searcher = Searcher::nearest(150).method(method);
        let found = searcher.search(&cloud, &cloud).unwrap();
        assert!(found.counts.iter().all(|&count| count == 100));
        let others = searcher.exclude_self(true).search(&cloud, &cloud).unwrap();
        assert!(others.counts.iter().all(|&count| count == 99));
        assert!((0..100).all(|row| !others.indices(row as usize).contains(&row)));
    }
}

/// 0 queries have 0 results, whatever is searched and how; rows left out have none. What has no value for an empty
/// cloud refuses it.
#[test]
fn no_queries_have_no_results() {
    let (none, nan, y): (Vec<[f32; 3]>, _, _) =
        (Vec::new(), vec![[f32::NAN; 3]; 2], as_f32(&uniform::<3>(500, 1)));
    let index = Index::new(&y).unwrap();
    let empty = |which| Error::InPair { which, source: Box::new(Error::EmptyCloud) };
    let methods = std::iter::once(Method::Auto).chain(Method::of(DeviceKind::Cpu));
    for (method, threads) in methods.flat_map(|method| [1, 3].map(|threads| (method, threads))) {
        let cpu = Cpu::new().threads(threads);
        let skip = NonFinite::Skip;
        let matcher = Matcher::new().method(method).non_finite(skip);
        let searcher = Searcher::ball(0.5, 4).method(method).non_finite(skip);
        for x in [&none, &nan] {
            for nearest in [
                matcher.on(&cpu).nearest(x, &y).unwrap(),
                matcher.on(&cpu).nearest(x, &index).unwrap(),
                matcher.on(&cpu).nearest(x, &none).unwrap(),
                matcher.on(&cpu).nearest_batch(&[x], &[&y]).unwrap().remove(0),
            ] {
                assert_eq!((nearest.len(), nearest.dropped), (x.len(), x.len()));
                assert!(nearest.mean().is_nan() && nearest.max_distance().is_nan());
            }
            let found = searcher.on(&cpu).search(x, &y).unwrap();
            assert_eq!((found.counts.len(), found.k, found.dropped), (x.len(), 4, x.len()));
            assert!(found.counts.iter().all(|&count| count == 0));
            let gradients = vec![0.0; 4 * x.len()];
            let back = searcher.on(&cpu).search_backward(&found, x, &y, &gradients).unwrap();
            assert_eq!((back.a.len(), back.b), (3 * x.len(), vec![0.0; 3 * y.len()]));
            let all = searcher.on(&cpu).within(x, &y).unwrap();
            assert_eq!((all.offsets, all.indices), (vec![0; x.len() + 1], vec![]));
            assert_eq!(matcher.on(&cpu).chamfer(x, &y).unwrap_err(), empty("first"));
            assert_eq!(matcher.on(&cpu).nearest(&y, x).unwrap_err(), empty("second"));
            assert_eq!(searcher.on(&cpu).search(&y, x).unwrap_err(), empty("second"));
        }
    }
    assert!(Matcher::new().nearest(&none, &[[0.0f32; 2]]).is_err(), "other dimensions");
    assert!(Matcher::new().nearest(&nan, &y).is_err(), "NaN that is not to be skipped");
}
