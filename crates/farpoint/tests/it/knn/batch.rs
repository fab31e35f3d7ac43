//! Batches of pairs of clouds agree with each pair alone.

use super::{same, same_balls};
use farpoint::{Cpu, Error, Points, Searcher, Strided, padded, ragged};
use farpoint_generate::{Kind, generate};

type Cloud = Vec<[f32; 3]>;

/// Returns pairs of very different sizes.
fn pairs() -> (Vec<Cloud>, Vec<Cloud>) {
    let sizes = [(1, 700), (300, 1), (64, 65), (9000, 2000), (5, 5)];
    let cloud = |n, seed| generate(Kind::Room, n, seed);
    sizes.into_iter().zip(1..).map(|((n, m), seed)| (cloud(n, seed), cloud(m, seed + 9))).unzip()
}

#[test]
fn batches_of_any_sizes_match_single_pairs() {
    let (x, y) = pairs();
    let searcher = Searcher::ball(0.5, 4);
    for threads in [1, 2, 9] {
        let cpu = Cpu::new().threads(threads);
        let best = searcher.on(&cpu).search_batch(&x, &y).unwrap();
        let all = searcher.on(&cpu).within_batch(&x, &y).unwrap();
        for pair in 0..x.len() {
            let name = format!("pair {pair}, {threads} threads");
            same(&name, &best[pair], &searcher.search(&x[pair], &y[pair]).unwrap());
            same_balls(&name, &all[pair], &searcher.within(&x[pair], &y[pair]).unwrap());
        }
    }
}

#[test]
fn padded_and_ragged_clouds_are_the_same_clouds() {
    let numbers: Vec<f32> = generate(Kind::Room, 50, 3).into_iter().flatten().collect();
    let rows = |cloud: &Strided<'_, f32>| cloud.len();
    let x = padded(&numbers, [2, 25, 3], Some(&[25, 4])).unwrap();
    let y = ragged(&numbers, 3, &[0, 10, 50]).unwrap();
    assert_eq!((x.iter().map(rows).collect::<Vec<_>>(), rows(&y[1])), (vec![25, 4], 40));
    let searcher = Searcher::nearest(3);
    let found = searcher.search_batch(&x, &y).unwrap();
    for pair in 0..2 {
        same("views", &found[pair], &searcher.search(&x[pair], &y[pair]).unwrap());
    }
}

#[test]
fn an_empty_batch_gives_an_empty_result() {
    let none: [Vec<[f32; 3]>; 0] = [];
    assert_eq!(Searcher::nearest(3).search_batch(&none, &none), Ok(vec![]));
    assert_eq!(Searcher::ball(1.0, 3).within_batch(&none, &none), Ok(vec![]));
    let refused = Searcher::nearest(0).search_batch(&none, &none);
    assert_eq!(refused, Err(Error::NoNeighbors));
}

#[test]
fn the_offending_pair_is_named() {
    let (mut x, y) = pairs();
    x[2][7][1] = f32::NAN;
    let error = Searcher::nearest(3).search_batch(&x, &y).unwrap_err().to_string();
    assert!(error.contains("cloud 2 of the batch: the first cloud") && error.contains("is row 7"));
    let emptied: Vec<_> =
        (0..y.len()).map(|k| if k == 2 { Vec::new() } else { y[k].clone() }).collect();
    x[2][7][1] = 0.0;
    let error = Searcher::ball(1.0, 3).within_batch(&x, &emptied).unwrap_err().to_string();
    assert!(error.contains("cloud 2") && error.contains("no usable point"), "{error}");
    let error = Searcher::nearest(3).search_batch(&x, &y[1..]).unwrap_err().to_string();
    assert!(error.contains("a batch of 5 clouds"), "{error}");
}
