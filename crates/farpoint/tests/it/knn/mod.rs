//! Several neighbors by every method, on every instruction set, with one, two and three threads, agree
//! with the straightforward loop: distances bit for bit, indices one by one.

mod backward;
mod batch;
mod edge_cases;
mod index;
mod within;

use crate::cases::{random, some};
use crate::common::{as_f32, integers, uniform};
use farpoint::{
    Cpu, Error, Level, Method, Neighbors, NonFinite, Norm, Order, Points, Scalar, Searcher,
    WithinBall,
};
use farpoint_generate::{Kind, generate};
use proptest::prelude::*;

/// Returns the searches to compare.
fn searchers(radius: f64) -> Vec<Searcher> {
    let mut all = Vec::new();
    for k in [1, 3, 4, 16, 33, 70] {
        all.push(Searcher::nearest(k));
        all.push(Searcher::nearest(k).exclude_self(true));
        all.push(Searcher::raw_ball(radius, k).min_radius(radius / 3.0).near(radius / 9.0));
        all.push(Searcher::ball(radius, k));
        all.push(Searcher::ball(radius, k).order(Order::Nearest).inclusive(true));
        let hollow = Searcher::ball(radius, k).min_radius(radius / 2.0);
        all.push(hollow.clone().exclude_self(true));
        all.push(hollow.order(Order::Nearest));
    }
    all
}

fn same<T: Scalar>(name: &str, found: &Neighbors<T>, truth: &Neighbors<T>) {
    assert_eq!(found.counts, truth.counts, "{name}");
    assert_eq!(found.all_indices, truth.all_indices, "{name}");
    let bits = |all: &Neighbors<T>| -> Vec<u64> {
        all.all_distances.iter().map(|d| d.to_f64().to_bits()).collect()
    };
    assert_eq!(bits(found), bits(truth), "{name}");
}

/// Checks that all neighbors agree with the reference.
fn same_balls<T: Scalar>(name: &str, found: &WithinBall<T>, truth: &WithinBall<T>) {
    assert_eq!(found.offsets, truth.offsets, "{name}");
    assert_eq!(found.indices, truth.indices, "{name}");
    let bits = |all: &WithinBall<T>| -> Vec<u64> {
        all.raw_distances.iter().map(|d| d.to_f64().to_bits()).collect()
    };
    assert_eq!(bits(found), bits(truth), "{name}");
}

fn check<T: Scalar, X, Y>(name: &str, x: &X, y: &Y, radius: f64, threads: &[usize])
where
    X: Points<T> + ?Sized,
    Y: Points<T> + ?Sized,
{
    for norm in [Norm::Two, Norm::One] {
        // Seven kinds for each of six k: every fifth covers all kinds and all k.
        for searcher in some(0, 5, searchers(radius)) {
            let searcher = searcher.norm(norm);
            let reference = searcher.clone().method(Method::Reference);
            let truth = reference.search(x, y).unwrap();
            let all = searcher.ball.map(|_| reference.within(x, y).unwrap());
            for method in [Method::Auto, Method::Brute, Method::Tree] {
                for level in Level::available() {
                    for &threads in threads {
                        let searcher = searcher.clone().method(method);
                        let name = format!("{name}: {searcher:?} {level} {threads}");
                        let cpu = Cpu::new().level(level).threads(threads);
                        same(&name, &searcher.on(&cpu).search(x, y).unwrap(), &truth);
                        if let Some(all) = &all {
                            same_balls(&name, &searcher.on(&cpu).within(x, y).unwrap(), all);
                        }
                    }
                }
            }
        }
    }
}

/// Returns the cloud in `f64`, with lower bits that `f32` has not.
fn as_f64(cloud: &[[f32; 3]]) -> Vec<[f64; 3]> {
    cloud.iter().map(|row| row.map(|x| f64::from(x) * (1.0 + 2f64.powi(-40)))).collect()
}

#[test]
fn generated_clouds() {
    for (part, (kind, seed)) in Kind::ALL.into_iter().zip(1..).enumerate() {
        let sizes = [(1, 1), (2, 64), (65, 1), (64, 63), (129, 600), (400, 300)];
        for (n, m) in some(part % 6, 6, sizes) {
            let (x, y) = (generate(kind, n, seed), generate(kind, m, seed + 50));
            check(&format!("{kind} {n} {m}"), &x, &y, 0.4, &[1]);
        }
        let (x, y) = (as_f64(&generate(kind, 70, seed)), as_f64(&generate(kind, 200, seed + 50)));
        check(&format!("{kind} f64"), &x, &y, 0.4, &[1]);
    }
}

#[test]
fn threads_share_large_clouds() {
    let (x, y) = (generate(Kind::Room, 7000, 1), generate(Kind::Lattice, 1500, 2));
    let searcher = Searcher::nearest(8);
    let truth = searcher.clone().method(Method::Reference).search(&x, &y).unwrap();
    for threads in [1, 2, 3, 9] {
        let cpu = Cpu::new().threads(threads);
        for method in [Method::Brute, Method::Tree] {
            let found = searcher.clone().method(method).on(&cpu).search(&x, &y).unwrap();
            same(&format!("{method} {threads}"), &found, &truth);
        }
    }
}

/// More twins than k, all at one place, on a line: nothing but ties.
#[test]
fn ties_go_to_the_lowest_index() {
    let twins = vec![[1.0f32, 2.0, 3.0]; 300];
    check("twins", &twins, &twins, 0.5, &[1, 3]);
    let line: Vec<[f32; 3]> = (0..300).map(|i| [(i % 150) as f32, 0.0, 0.0]).collect();
    check("line", &line, &line, 1.0, &[1, 3]);
    let found = Searcher::nearest(2).exclude_self(true).search(&twins, &twins).unwrap();
    assert_eq!((found.indices(0), found.indices(299)), (&[1, 2][..], &[0, 1][..]));
}

#[test]
fn any_number_of_axes() {
    let (x, y) = (uniform::<1>(90, 1), uniform::<1>(150, 2));
    check("1 axis", &x, &y, 0.1, &[1]);
    let (x, y) = (uniform::<2>(90, 1), uniform::<2>(150, 2));
    check("2 axes", &x, &y, 0.1, &[1]);
    let (x, y) = (uniform::<5>(90, 1), uniform::<5>(150, 2));
    check("5 axes", &x, &y, 0.4, &[1]);
    let (x, y) = (integers::<3>(90, 3, 1.0, 7), integers::<3>(150, 3, 1.0, 8));
    check("integers", &as_f32(&x), &as_f32(&y), 1.0, &[1]);
}

#[test]
fn missing_neighbors_leave_places_empty() {
    let found = Searcher::nearest(5).search(&[[0.0f32]], &[[3.0f32], [1.0]]).unwrap();
    assert_eq!((found.counts[0], found.indices(0)), (2, &[1, 0][..]));
    assert_eq!(found.all_indices[2..], [Neighbors::<f32>::NONE; 3]);
    assert_eq!(found.all_distances, [1.0, 9.0, f32::INFINITY, f32::INFINITY, f32::INFINITY]);
    let none = Searcher::ball(0.0, 2).search(&[[0.0f32]], &[[0.0f32]]).unwrap();
    assert_eq!(none.counts, [0]);
    let itself = Searcher::ball(0.0, 2).inclusive(true).search(&[[0.0f32]], &[[0.0f32]]).unwrap();
    assert_eq!(itself.indices(0), [0]);
}

#[test]
fn skipped_rows_are_no_neighbors_and_have_none() {
    let x = [[f32::NAN], [1.0], [5.0]];
    let y = [[2.0f32], [f32::INFINITY], [4.0]];
    let searcher = Searcher::nearest(2).non_finite(NonFinite::Skip);
    for method in [Method::Reference, Method::Brute, Method::Tree] {
        let found = searcher.clone().method(method).search(&x, &y).unwrap();
        assert_eq!((found.counts.as_slice(), found.dropped), (&[0, 2, 2][..], 1));
        assert_eq!((found.indices(1), found.indices(2)), (&[0, 2][..], &[2, 0][..]));
        let others = searcher.clone().exclude_self(true).method(method).search(&x, &y).unwrap();
        assert_eq!((others.indices(1), others.indices(2)), (&[0, 2][..], &[0][..]));
    }
    assert!(matches!(Searcher::nearest(2).search(&x, &y), Err(Error::InPair { .. })));
}

#[test]
fn impossible_searches_are_rejected() {
    let cloud = [[0.0f32]];
    assert_eq!(Searcher::nearest(0).search(&cloud, &cloud), Err(Error::NoNeighbors));
    for radius in [-1.0, f64::NAN] {
        assert!(matches!(
            Searcher::ball(radius, 1).search(&cloud, &cloud),
            Err(Error::BadRadius(_))
        ));
        let hollow = Searcher::ball(1.0, 1).min_radius(radius);
        assert!(matches!(hollow.search(&cloud, &cloud), Err(Error::BadRadius(_))));
    }
    let huge = Searcher::nearest(usize::MAX).search(&cloud, &cloud);
    assert!(huge.is_err());
}

proptest! {
    #![proptest_config(random(256))]

    #[test]
    fn any_clouds(
        x in prop::collection::vec([-4i8..4, -4..4, -2..2], 1..200),
        y in prop::collection::vec([-4i8..4, -4..4, -2..2], 1..200),
        k in 1usize..40,
        radius in 0.0f64..4.0,
    ) {
        let [x, y] = [x, y].map(|cloud| -> Vec<[f32; 3]> {
            cloud.into_iter().map(|row| row.map(f32::from)).collect()
        });
        let ball = Searcher::ball(radius, k);
        let hollow = ball.clone().min_radius(radius / 2.0).inclusive(true).exclude_self(true);
        for searcher in [Searcher::nearest(k), ball.clone().order(Order::Nearest), ball, hollow] {
            let reference = searcher.clone().method(Method::Reference);
            let truth = reference.search(&x, &y).unwrap();
            let all = searcher.ball.map(|_| reference.within(&x, &y).unwrap());
            for method in [Method::Brute, Method::Tree] {
                let searcher = searcher.clone().method(method);
                same("any", &searcher.search(&x, &y).unwrap(), &truth);
                if let Some(all) = &all {
                    same_balls("any", &searcher.within(&x, &y).unwrap(), all);
                }
            }
        }
    }
}
