//! Parallel loops. For each of its own, rayon instantiates a hundred times the code of the loop body; here it does so
//! once, and calls the body through a pointer.

use crate::bytes::share::Counter;
use rayon::prelude::*;
use std::iter::repeat_with;
use std::ops::Range;
use std::sync::{Mutex, PoisonError};

/// Values that a thread computes at a time.
const BLOCK: usize = 1 << 14;

/// Calls `work` `times` times, until it returns `false`; returns whether it never did.
#[inline(never)]
fn repeated(times: usize, work: &(dyn Fn() -> bool + Sync)) -> bool {
    match times {
        0 => true,
        1 => work(),
        _ => (0..times).into_par_iter().with_max_len(1).all(|_| work()),
    }
}

/// Returns whether the test holds for all items. It starts with them in order, with none after one that
/// failed, and ends with all that it started with.
pub(crate) fn all<T: Send>(
    items: impl ExactSizeIterator<Item = T> + Send,
    test: impl Fn(T) -> bool + Sync,
) -> bool {
    let count = items.len();
    // A single item may consist of loops.
    let counter = (count > 1).then(|| Counter::new(count));
    let items = Mutex::new(items);
    let next = || items.lock().unwrap_or_else(PoisonError::into_inner).next();
    repeated(count, &|| {
        let passed = next().is_none_or(&test);
        counter.iter().for_each(|counter| counter.add(1));
        passed
    })
}

/// Does the work on each item.
pub(crate) fn each<T: Send>(
    items: impl ExactSizeIterator<Item = T> + Send,
    work: impl Fn(T) + Sync,
) {
    all(items, |item| {
        work(item);
        true
    });
}

/// The results of the work on each item, in their order.
pub(crate) fn map<T: Send, R: Send>(
    items: impl ExactSizeIterator<Item = T> + Send,
    work: impl Fn(T) -> R + Sync,
) -> Vec<R> {
    let mut results: Vec<Option<R>> = repeat_with(|| None).take(items.len()).collect();
    each(results.iter_mut().zip(items), |(place, item)| *place = Some(work(item)));
    results.into_iter().flatten().collect()
}

/// The results of the work on each item, in their order, or the error of the first that has one.
pub(crate) fn try_map<T: Send, R: Send, E: Send>(
    items: impl ExactSizeIterator<Item = T> + Send,
    work: impl Fn(T) -> Result<R, E> + Sync,
) -> Result<Vec<R>, E> {
    let mut results: Vec<Option<Result<R, E>>> = repeat_with(|| None).take(items.len()).collect();
    all(results.iter_mut().zip(items), |(place, item)| place.insert(work(item)).is_ok());
    results.into_iter().flatten().collect()
}

/// Blocks of the numbers below `count`.
pub(crate) fn blocks(count: usize) -> impl ExactSizeIterator<Item = Range<usize>> + Send {
    (0..count.div_ceil(BLOCK)).map(move |k| k * BLOCK..count.min((k + 1) * BLOCK))
}

/// Returns `count` values, each block written by `fill` from its first number on.
pub(crate) fn filled<T: Copy + Default + Send>(
    count: usize,
    fill: impl Fn(usize, &mut [T]) + Sync,
) -> Vec<T> {
    let filled = try_filled(count, &|first, values| {
        fill(first, values);
        true
    });
    filled.unwrap_or_default()
}

/// Like [`filled`]; `None` if a block fails.
fn try_filled<T: Copy + Default + Send>(
    count: usize,
    fill: &(dyn Fn(usize, &mut [T]) -> bool + Sync),
) -> Option<Vec<T>> {
    // The system zeroes pages when they are touched, first by the thread of each block.
    let mut values = vec![T::default(); count];
    let blocks = values.chunks_mut(BLOCK).enumerate();
    all(blocks, |(k, block)| fill(k * BLOCK, block)).then_some(values)
}

/// The values of the numbers below `count`.
pub(crate) fn values<T: Copy + Default + Send>(
    count: usize,
    value: impl Fn(usize) -> T + Sync,
) -> Vec<T> {
    filled(count, |first, values| {
        values.iter_mut().zip(first..).for_each(|(place, k)| *place = value(k));
    })
}

/// Like [`values`]; `None` if one has none.
pub(crate) fn try_values<T: Copy + Default + Send>(
    count: usize,
    value: impl Fn(usize) -> Option<T> + Sync,
) -> Option<Vec<T>> {
    try_filled(count, &|first, values| {
        let mut places = values.iter_mut().zip(first..);
        places.all(|(place, k)| value(k).map(|value| *place = value).is_some())
    })
}

/// Sorts large values.
pub(crate) fn sort<T: Ord + Send>(values: &mut [T]) {
    values.par_sort_unstable();
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn results_are_in_order() {
        for count in [0, 1, 2, 1000] {
            let expected: Vec<usize> = (0..count).map(|k| 2 * k).collect();
            assert_eq!(map(0..count, |k| 2 * k), expected);
            assert_eq!(try_map(0..count, |k| Ok::<_, ()>(2 * k)), Ok(expected));
        }
    }

    #[test]
    fn the_first_error_counts() {
        for _ in 0..100 {
            let late = |k: usize| if k % 7 == 6 { Err(k) } else { Ok(k) };
            assert_eq!(try_map(0..500, late), Err(6));
        }
        assert!(all(0..500, |k: usize| k < 500) && !all(0..500, |k: usize| k < 499));
    }

    #[test]
    fn blocks_cover_all_values() {
        for count in [0, 1, BLOCK, 2 * BLOCK + 1] {
            assert!(blocks(count).flatten().eq(0..count));
            assert!(values(count, |k| k).into_iter().eq(0..count));
            assert_eq!(try_values(count, |k| (k + 1 < count).then_some(k)).is_some(), count == 0);
        }
    }
}
