//! Selection of the smallest keys of a list, in order.

use crate::Scalar;
use crate::memory::{self, MAX_LANES};
use crate::simd::{Kernel, Simd};

/// Lists up to this length are sorted by counting, for every key, the smaller ones: more
/// comparisons than sorting needs, but all in vectors and without a branch.
const RANKED: usize = 128;

/// Up to this many keys are selected by keeping them in order during a pass over the list.
const SMALL_K: usize = 4;

/// Sorts keys; one for each thread.
#[repr(align(64))]
pub(super) struct Sorted<T: Scalar> {
    /// Values that the keys are sorted by, and their ranks. Two vectors more than there are keys.
    values: [T; RANKED + 2 * MAX_LANES],
    ranks: [T; RANKED + 2 * MAX_LANES],
    keys: [T::Key; RANKED],
    /// True if ranks are used: for indices they are no faster than sorting.
    by_rank: bool,
}

impl<T: Scalar> Sorted<T> {
    /// Creates the buffers for keys by index or by distance.
    pub(super) fn new(by_index: bool) -> Self {
        Self {
            values: [T::ZERO; RANKED + 2 * MAX_LANES],
            ranks: [T::ZERO; RANKED + 2 * MAX_LANES],
            keys: [T::LAST_KEY; RANKED],
            by_rank: !by_index,
        }
    }

    /// Brings the `k` smallest keys of a list to its front, ascending; returns their number. No key may be
    /// in the list twice.
    #[inline(always)]
    pub(super) fn select_best<S: Simd<T>>(
        &mut self,
        simd: S,
        list: &mut [T::Key],
        k: usize,
    ) -> usize {
        simd.vectorize(Best { sorted: self, list, k })
    }

    /// Sorts by ranks, unless two keys have the same value.
    #[inline(always)]
    fn rank<S: Simd<T>>(&mut self, simd: S, list: &mut [T::Key], count: usize) -> bool {
        let Self { values, ranks, keys, .. } = self;
        for (value, &key) in values.iter_mut().zip(&*list) {
            *value = T::near_value(key);
        }
        // Two vectors at a time, so that a sum need not wait for the one before.
        for at in (0..list.len()).step_by(2 * S::LANES) {
            // SAFETY: the arrays are two vectors longer than any list.
            let of = unsafe {
                [memory::load(simd, values, at), memory::load(simd, values, at + S::LANES)]
            };
            let mut smaller = [simd.splat(T::ZERO); 2];
            for &value in &values[..list.len()] {
                let value = simd.splat(value);
                smaller[0] = simd.count_lt(smaller[0], value, of[0]);
                smaller[1] = simd.count_lt(smaller[1], value, of[1]);
            }
            // SAFETY: the arrays are two vectors longer than any list.
            unsafe {
                memory::store(simd, ranks, at, smaller[0]);
                memory::store(simd, ranks, at + S::LANES, smaller[1]);
            }
        }
        let mut sum = 0;
        for (&key, rank) in list.iter().zip(&*ranks) {
            let rank = rank.to_index();
            sum += rank;
            keys[rank % RANKED] = key;
        }
        // Of two equal values neither is smaller, which is missing in the sum.
        let different = sum == list.len() * (list.len() - 1) / 2;
        if different {
            list[..count].copy_from_slice(&keys[..count]);
        }
        different
    }
}

/// One function for all callers of [`Sorted::select_best`].
struct Best<'a, T: Scalar> {
    sorted: &'a mut Sorted<T>,
    list: &'a mut [T::Key],
    k: usize,
}

impl<T: Scalar> Kernel<T> for Best<'_, T> {
    type Output = usize;

    #[inline(always)]
    fn run<S: Simd<T>>(self, simd: S) -> usize {
        let Self { sorted, list, k } = self;
        let count = k.min(list.len());
        if k <= SMALL_K {
            select_small::<T>(list, count);
        } else if list.len() > 1
            && !(sorted.by_rank && list.len() <= RANKED && sorted.rank(simd, list, count))
        {
            if list.len() > k {
                list.select_nth_unstable(k - 1);
            }
            list[..count].sort_unstable();
        }
        count
    }
}

/// Brings the `count` smallest keys to the front, ascending. The order of two cannot be predicted, so
/// that both are placed without a branch.
#[inline(always)]
fn select_small<T: Scalar>(list: &mut [T::Key], count: usize) {
    let mut best = [T::LAST_KEY; SMALL_K];
    for &key in &*list {
        let mut key = key;
        for kept in &mut best {
            let smaller = key < *kept;
            (*kept, key) = if smaller { (key, *kept) } else { (*kept, key) };
        }
    }
    for (place, key) in list[..count].iter_mut().zip(best) {
        *place = key;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Level;
    use crate::simd::{Program, dispatch};

    /// Sorts lists of all lengths, of keys by distance or by index.
    struct Check(bool);

    impl<T: Scalar> Program<T> for Check {
        type Output = ();

        fn run<S: Simd<T>>(self, simd: S) {
            for (len, different) in
                (0..70).chain([127, 128, 129, 300]).flat_map(|n| [(n, 3), (n, 10_007)])
            {
                // In no order; distances are equal where only few are different.
                let keys = (0..len).map(|i: u32| {
                    let distance = T::from_f64(f64::from((i * 7919 + 13) % different));
                    let index = (i * 31 + 7) % 1009;
                    if self.0 { T::index_key(index, distance) } else { distance.near_key(index) }
                });
                let keys: Vec<T::Key> = keys.collect();
                for k in [1, 2, 3, 4, 5, 16, 32, 150, 300] {
                    let mut expected = keys.clone();
                    expected.sort_unstable();
                    expected.truncate(k);
                    let (mut list, mut sorted) = (keys.clone(), Sorted::<T>::new(self.0));
                    let count = sorted.select_best(simd, &mut list, k);
                    assert_eq!(list[..count], expected, "{k} of {len}");
                }
            }
        }
    }

    #[test]
    fn the_smallest_are_found_in_order() {
        for level in Level::available() {
            for by_index in [false, true] {
                dispatch::<f32, _>(level, Check(by_index));
                dispatch::<f64, _>(level, Check(by_index));
            }
        }
    }
}
