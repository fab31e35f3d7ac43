//! Gradients of several distances, compared with the straightforward loop by bits.

use crate::common::{as_f32, integers};
use farpoint::neighbors::{search_backward, within_backward};
use farpoint::{Cpu, Error, Neighbors, NonFinite, Norm, Points, Scalar, Searcher};
use farpoint_generate::{Kind, generate};

/// The documented rule: by ascending row and place, all sums from 0.
fn obvious<T: Scalar, X, Y>(
    (rows, indices): (&[std::ops::Range<usize>], &[u32]),
    norm: Norm,
    (x, y): (&X, &Y),
    grad: &[T],
) -> [Vec<T>; 2]
where
    X: Points<T> + ?Sized,
    Y: Points<T> + ?Sized,
{
    let dim = x.dim();
    let mut of_x = vec![T::from_f64(0.0); x.len() * dim];
    let mut of_y = vec![T::from_f64(0.0); y.len() * dim];
    for (row, places) in rows.iter().enumerate() {
        for place in places.clone() {
            let (g, other) = (grad[place], indices[place] as usize);
            for axis in 0..dim {
                let (p, q) = (x.coordinate(row, axis), y.coordinate(other, axis));
                let part = match norm {
                    Norm::Two => (g + g) * (p - q),
                    _ if p > q => g,
                    _ if p < q => T::from_f64(0.0) - g,
                    _ => T::from_f64(0.0),
                };
                of_x[row * dim + axis] = of_x[row * dim + axis] + part;
                of_y[other * dim + axis] = of_y[other * dim + axis] - part;
            }
        }
    }
    [of_x, of_y]
}

fn bits<T: Scalar>(values: &[T]) -> Vec<u64> {
    values.iter().map(|value| value.to_f64().to_bits()).collect()
}

/// Returns numbers of both signs and different sizes, zeros among them.
fn weights<T: Scalar>(count: usize) -> Vec<T> {
    let one = |k: usize| ((k * 37 % 19) as f64 - 9.0) / 3.0;
    (0..count).map(|k| T::from_f64(one(k))).collect()
}

fn check<T: Scalar, X, Y>(name: &str, searcher: &Searcher, x: &X, y: &Y)
where
    X: Points<T> + ?Sized,
    Y: Points<T> + ?Sized,
{
    let found = searcher.search(x, y).unwrap();
    let places = |row: usize| row * found.k..row * found.k + found.counts[row] as usize;
    let places: Vec<_> = (0..x.len()).map(places).collect();
    let mut grad = weights::<T>(x.len() * found.k);
    let truth = obvious((&places, &found.all_indices), found.norm, (x, y), &grad);
    // Numbers in places without a neighbor do not count.
    for (place, value) in grad.iter_mut().enumerate() {
        if found.all_indices[place] == Neighbors::<T>::NONE {
            *value = T::from_f64(f64::NAN);
        }
    }
    for threads in [1, 2, 5, 9] {
        let cpu = Cpu::new().threads(threads);
        let gradients = searcher.on(&cpu).search_backward(&found, x, y, &grad).unwrap();
        assert_eq!(bits(&gradients.a), bits(&truth[0]), "{name}, {threads} threads");
        assert_eq!(bits(&gradients.b), bits(&truth[1]), "{name}, {threads} threads");
    }
    assert_eq!(bits(&search_backward(&found, x, y, &grad).unwrap().b), bits(&truth[1]));
    if searcher.ball.is_none() {
        return;
    }
    let all = searcher.within(x, y).unwrap();
    let places: Vec<_> = (0..x.len()).map(|row| all.row(row)).collect();
    let grad = weights::<T>(all.indices.len());
    let truth = obvious((&places, &all.indices), all.norm, (x, y), &grad);
    for threads in [1, 3] {
        let cpu = Cpu::new().threads(threads);
        let gradients = searcher.on(&cpu).within_backward(&all, x, y, &grad).unwrap();
        assert_eq!(bits(&gradients.a), bits(&truth[0]), "{name}, all");
        assert_eq!(bits(&gradients.b), bits(&truth[1]), "{name}, all");
    }
    assert_eq!(bits(&within_backward(&all, x, y, &grad).unwrap().a), bits(&truth[0]));
}

#[test]
fn gradients_match_the_straightforward_loop() {
    for norm in [Norm::Two, Norm::One] {
        for searcher in [Searcher::nearest(1), Searcher::nearest(7), Searcher::ball(0.4, 5)] {
            let searcher = searcher.norm(norm);
            let (x, y) = (generate(Kind::Room, 300, 1), generate(Kind::Room, 200, 2));
            check("room", &searcher, &x, &y);
            check("room in itself", &searcher.clone().exclude_self(true), &x, &x);
            let (x, y) = (integers::<5>(90, 3, 0.25, 7), integers::<5>(150, 3, 0.25, 8));
            check("equal coordinates", &searcher, &x, &y);
            check("f32", &searcher, &as_f32(&x), &as_f32(&y));
        }
    }
}

/// More distances than one thread handles, and one point that all of them lead to.
#[test]
fn threads_do_not_change_a_bit() {
    let (x, y) = (generate(Kind::Room, 6000, 1), generate(Kind::Room, 900, 2));
    check("large", &Searcher::nearest(4), &x, &y);
    check("one target", &Searcher::nearest(1), &generate(Kind::Room, 20_000, 1), &y[..1]);
}

#[test]
fn skipped_rows_contribute_no_gradient() {
    let (x, y) = ([[f32::NAN], [1.0], [5.0]], [[2.0f32], [f32::INFINITY], [4.0]]);
    let searcher = Searcher::nearest(2).non_finite(NonFinite::Skip);
    let found = searcher.search(&x, &y).unwrap();
    let gradients = search_backward(&found, &x, &y, &[7.0, 7.0, 1.0, 2.0, 1.0, 2.0]).unwrap();
    assert_eq!(gradients.a, [0.0, -2.0 - 12.0, 2.0 + 12.0]);
    assert_eq!(gradients.b, [2.0 - 12.0, 0.0, 12.0 - 2.0]);
}

#[test]
fn mismatched_gradients_are_rejected() {
    let (x, y) = ([[0.0f32], [1.0]], [[0.5f32], [3.0]]);
    let mut found = Searcher::nearest(2).search(&x, &y).unwrap();
    for grads in [3, 5] {
        let error = search_backward(&found, &x, &y, &vec![1.0; grads]).unwrap_err().to_string();
        assert!(error.contains(&grads.to_string()), "{error}");
    }
    assert!(search_backward(&found, &x[..1], &y, &[1.0; 4]).is_err());
    let flat = [[0.5f32, 1.0], [3.0, 1.0]];
    assert!(matches!(search_backward(&found, &x, &flat, &[1.0; 4]), Err(Error::Shape(_))));
    found.all_indices[3] = 2;
    let wrong = Error::NearestOutOfRange { row: 1, index: 2, points: 2 };
    assert_eq!(search_backward(&found, &x, &y, &[1.0; 4]), Err(wrong));
    let mut all = Searcher::ball(9.0, 1).within(&x, &y).unwrap();
    all.indices[2] = 9;
    let wrong = Error::NearestOutOfRange { row: 1, index: 9, points: 2 };
    assert_eq!(within_backward(&all, &x, &y, &[1.0; 4]), Err(wrong));
    all.offsets[1] = 5;
    assert!(matches!(within_backward(&all, &x, &y, &[1.0; 4]), Err(Error::Shape(_))));
}
