//! Searches of an index agree with searches without.

use super::{same, same_balls};
use crate::cases::some;
use farpoint::{Cpu, Error, Index, Matcher, Method, NonFinite, Order, Points, Sampler, Searcher};
use farpoint_generate::{Kind, generate};

#[test]
fn an_index_finds_the_same_as_its_cloud() {
    for (n, m) in some(1, 5, [(1, 1), (300, 900), (70, 3), (3000, 9000)]) {
        let (x, y) = (generate(Kind::Room, n, 1), generate(Kind::Room, m, 2));
        let [of_x, of_y] = [&x, &y].map(|cloud| Index::new(cloud).unwrap());
        for method in [Method::Auto, Method::Brute, Method::Tree, Method::Reference] {
            if method == Method::Reference && m > 1000 {
                continue;
            }
            for searcher in [Searcher::nearest(9), Searcher::ball(0.3, 4)] {
                let searcher = searcher.method(method);
                let truth = searcher.search(&x, &y).unwrap();
                let name = format!("{n} {m} {searcher:?}");
                same(&name, &of_y.search(&searcher, &x).unwrap(), &truth);
                same(&name, &of_y.search(&searcher, &of_x).unwrap(), &truth);
                same(&name, &searcher.search(&of_x, &y).unwrap(), &truth);
                let itself = searcher.clone().exclude_self(true);
                let truth = itself.search(&y, &y.clone()).unwrap();
                same(&name, &of_y.search_self(&itself).unwrap(), &truth);
                same(&name, &itself.search(&y, &of_y).unwrap(), &truth);
            }
            let matcher = Matcher::new().method(method);
            assert_eq!(of_y.nearest(&matcher, &x), matcher.nearest(&x, &y));
            assert_eq!(matcher.chamfer(&of_x, &of_y), matcher.chamfer(&x, &y));
        }
    }
}

#[test]
fn all_neighbors_in_balls_match_the_reference() {
    let (x, y) = (generate(Kind::Room, 700, 1), generate(Kind::Room, 600, 2));
    let index = Index::new(&y).unwrap();
    for order in [Order::Index, Order::Nearest] {
        let searcher = Searcher::ball(0.4, 1).order(order);
        let truth = searcher.within(&x, &y).unwrap();
        same_balls("of another", &index.within(&searcher, &x).unwrap(), &truth);
        let truth = searcher.within(&y, &y).unwrap();
        same_balls("of itself", &index.within_self(&searcher).unwrap(), &truth);
    }
}

#[test]
fn threads_batches_and_observers_take_an_index() {
    let cloud = generate(Kind::Room, 20_000, 1);
    let searcher = Searcher::nearest(5);
    let truth = searcher.search(&cloud, &cloud).unwrap();
    for threads in [1, 2, 9] {
        let cpu = Cpu::new().threads(threads);
        let index = Index::build(&cpu, &cloud, NonFinite::Error).unwrap();
        same("threads", &searcher.on(&cpu).search(&index, &index).unwrap(), &truth);
        let batch = [&index, &index];
        let found = searcher.on(&cpu).search_batch(&batch, &batch).unwrap();
        found.iter().for_each(|found| same("batch", found, &truth));
        let mut last = 0;
        let mut observer = |progress: farpoint::Progress| {
            last = progress.samples;
            std::ops::ControlFlow::Continue(())
        };
        let found = searcher.on(&cpu).observe(&mut observer).search(&index, &index).unwrap();
        same("observed", &found, &truth);
        assert!(last > 0);
    }
}

#[test]
fn non_finite_rows_stay_skipped_in_every_search() {
    let cloud = [[2.0f32, 0.0], [f32::NAN, 1.0], [4.0, 0.0], [2.0, 0.0]];
    assert!(matches!(Index::new(&cloud), Err(Error::NonFinite { first: 1, .. })));
    let index = Index::build(&Cpu::new(), &cloud, NonFinite::Skip).unwrap();
    assert_eq!((index.dropped(), Points::<f32>::len(&index)), (1, 4));
    let skipping = Searcher::nearest(2).non_finite(NonFinite::Skip);
    let truth = skipping.search(&cloud, &cloud).unwrap();
    for searcher in [skipping, Searcher::nearest(2)] {
        same("in itself", &index.search_self(&searcher).unwrap(), &truth);
    }
    let found = index.search(&Searcher::nearest(1), &[[3.9f32, 0.0]]).unwrap();
    assert_eq!(found.all_indices, [2]);
    assert!(index.coordinate(1, 0).is_nan());
    assert_eq!((index.coordinate(2, 0), index.coordinate(3, 1)), (4.0, 0.0));
}

#[test]
fn an_index_is_points() {
    let cloud = generate(Kind::Sphere, 200, 4);
    let index = Index::new(&cloud).unwrap();
    assert_eq!(Sampler::count(9).sample(&index), Sampler::count(9).sample(&cloud));
    assert_eq!(format!("{index:?}"), "Index of 200 points with 3 coordinates");
    let none: Vec<[f32; 3]> = Vec::new();
    assert!(matches!(Index::new(&none), Err(Error::EmptyCloud)));
    let wrong = index.search(&Searcher::nearest(1), &[[1.0f32]]);
    assert!(matches!(wrong, Err(Error::Shape(_))));
}

/// A cloud is recognized by its points, and only if they are in the same rows.
#[test]
fn clouds_that_are_nearly_the_same_are_not_taken_for_the_same() {
    let x = generate(Kind::Room, 1200, 1);
    let mut y = x.clone();
    y.swap(3, 900);
    let searcher = Searcher::nearest(3).method(Method::Tree);
    let reference = searcher.clone().method(Method::Reference);
    same("swapped", &searcher.search(&x, &y).unwrap(), &reference.search(&x, &y).unwrap());
    let (x, y) = ([[f32::NAN], [1.0], [2.0]], [[1.0f32], [f32::NAN], [2.0]]);
    let searcher = searcher.non_finite(NonFinite::Skip).exclude_self(true);
    let found = searcher.search(&x, &y).unwrap();
    assert_eq!((found.indices(1), found.indices(2)), (&[0, 2][..], &[0][..]));
}
