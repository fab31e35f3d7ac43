//! All neighbors in balls.

use crate::common::uniform;
use farpoint::{Cpu, Error, Method, NonFinite, Order, Searcher};
use farpoint_generate::{Kind, generate};
use std::ops::ControlFlow;

#[test]
fn a_search_with_k_of_all_points_finds_the_same() {
    let (x, y) = (generate(Kind::Room, 500, 1), generate(Kind::Room, 900, 2));
    for order in [Order::Index, Order::Nearest] {
        let searcher = Searcher::ball(0.5, 900).order(order).min_radius(0.1);
        let (best, all) = (searcher.search(&x, &y).unwrap(), searcher.within(&x, &y).unwrap());
        for row in 0..500 {
            assert_eq!(&all.indices[all.row(row)], best.indices(row));
            assert_eq!(&all.raw_distances[all.row(row)], best.raw_distances(row));
        }
        assert_eq!((all.len(), all.is_empty(), all.offsets[500]), (500, false, all.indices.len()));
    }
}

#[test]
fn everything_may_be_in_every_ball() {
    let cloud = uniform::<3>(700, 1);
    for method in [Method::Brute, Method::Tree] {
        let searcher = Searcher::ball(1e9, 1).method(method);
        let all = searcher.on(&Cpu::new().threads(3)).within(&cloud, &cloud).unwrap();
        assert_eq!(all.indices.len(), 700 * 700);
        assert!((0..700).all(|row| all.indices[all.row(row)].iter().copied().eq(0..700)));
        let none = Searcher::ball(0.0, 1).method(method).within(&cloud, &cloud).unwrap();
        assert_eq!((none.indices.len(), none.offsets), (0, vec![0; 701]));
    }
}

#[test]
fn skipped_rows_have_no_neighbors() {
    let (x, y) = ([[f32::NAN], [1.0], [5.0]], [[2.0f32], [f32::INFINITY], [4.0]]);
    let searcher = Searcher::ball(1.0, 1).inclusive(true).non_finite(NonFinite::Skip);
    let all = searcher.within(&x, &y).unwrap();
    assert_eq!((all.offsets.as_slice(), all.indices.as_slice()), (&[0, 0, 1, 2][..], &[0, 2][..]));
    assert_eq!((all.dropped, all.raw_distances), (1, vec![1.0, 1.0]));
}

#[test]
fn raw_limits_are_compared_as_they_are() {
    let (x, y) = ([[0.0f32]], [[0.001f32], [1.0], [2.0], [3.0]]);
    let rows = |searcher: Searcher| searcher.within(&x, &y).unwrap().indices;
    assert_eq!(rows(Searcher::raw_ball(9.0, 1)), [0, 1, 2]);
    assert_eq!(rows(Searcher::raw_ball(9.0, 1).inclusive(true)), [0, 1, 2, 3]);
    assert_eq!(rows(Searcher::raw_ball(9.0, 1).min_radius(4.0)), [2]);
    assert_eq!(rows(Searcher::raw_ball(9.0, 1).min_radius(4.0).near(1e-5)), [0, 2]);
    // In plain units the square of the radius is compared.
    assert_eq!(rows(Searcher::ball(3.0, 1).min_radius(2.0).near(0.01)), [0, 2]);
}

#[test]
fn impossible_searches_are_rejected() {
    let cloud = [[0.0f32]];
    assert_eq!(Searcher::nearest(3).within(&cloud, &cloud), Err(Error::NoBall));
    let wrong = Searcher::ball(1.0, 1).near(-1.0).within(&cloud, &cloud);
    assert_eq!(wrong, Err(Error::BadRadius(-1.0)));
    let nan = Searcher::raw_ball(f64::NAN, 1).search(&cloud, &cloud);
    assert!(matches!(nan, Err(Error::BadRadius(_))));
    // k does not matter.
    assert_eq!(Searcher::ball(1.0, 0).within(&cloud, &cloud).unwrap().indices, [0]);
    let error = Searcher::nearest(1 << 60).search(&cloud, &cloud).unwrap_err();
    assert!(error.to_string().contains("1152921504606846976 neighbors"), "{error}");
}

#[test]
fn progress_counts_points_twice_and_can_cancel() {
    let cloud = generate(Kind::Room, 3000, 1);
    let searcher = Searcher::ball(0.1, 1).method(Method::Tree);
    let cpu = Cpu::new().threads(1);
    let mut last = (0, 0);
    let mut observer = |progress: farpoint::Progress| {
        last = (progress.samples, progress.total);
        ControlFlow::Continue(())
    };
    searcher.on(&cpu).observe(&mut observer).within(&cloud, &cloud).unwrap();
    assert_eq!(last, (6000, 6000));
    for stop in [0, 1000, 3000, 5000] {
        let mut observer = |progress: farpoint::Progress| match progress.samples > stop {
            true => ControlFlow::Break(()),
            false => ControlFlow::Continue(()),
        };
        let canceled = searcher.on(&cpu).observe(&mut observer).within(&cloud, &cloud);
        assert!(matches!(canceled, Err(Error::SearchCancelled(done)) if done > stop));
        let mut observer = |progress: farpoint::Progress| match progress.samples > stop {
            true => ControlFlow::Break(()),
            false => ControlFlow::Continue(()),
        };
        let clouds = [&cloud[..]; 2];
        let canceled = searcher.on(&cpu).observe(&mut observer).within_batch(&clouds, &clouds);
        assert!(matches!(canceled, Err(Error::SearchCancelled(_))));
    }
}
