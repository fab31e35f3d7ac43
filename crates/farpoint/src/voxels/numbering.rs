//! Numbering of distinct elements.

use crate::memory;
use crate::threads::each;

/// Equality of points.
pub(crate) trait Equality: Sync {
    /// Returns a key; equal points have equal keys.
    fn key(&self, point: usize) -> u64;

    /// Returns whether two points of equal keys are equal.
    fn same(&self, a: u32, b: u32) -> bool;
}

/// Numbers distinct points 0, 1, 2, ... in order of first appearance; returns the number
/// of each point, and the number of distinct points.
pub(crate) fn number(points: usize, equality: &impl Equality, threads: usize) -> (Vec<u32>, usize) {
    let partition = Partition::new(points, equality, threads);
    let firsts = each(partition.parts, threads, |part| {
        let mut table = Table::new(partition.len(part));
        let first = |(key, point)| table.first(key, point, equality);
        memory::collected(partition.part(part).map(first))
    });
    // First each point's first equal, then its number: the first has its own by then.
    let mut numbers = memory::zeros(points);
    for (part, firsts) in firsts.iter().enumerate() {
        for ((_, point), &first) in partition.part(part).zip(firsts) {
            numbers[point as usize] = first;
        }
    }
    let mut count = 0;
    for point in 0..points {
        let first = numbers[point] as usize;
        numbers[point] = if first == point { count } else { numbers[first] };
        count += u32::from(first == point);
    }
    (numbers, count as usize)
}

/// Counts the distinct points.
pub(crate) fn count(points: usize, equality: &impl Equality, threads: usize) -> usize {
    let partition = Partition::new(points, equality, threads);
    let different = |part: usize| {
        let mut table = Table::new(partition.len(part));
        let new = |&(key, point): &(u64, u32)| table.first(key, point, equality) == point;
        partition.part(part).filter(new).count()
    };
    each(partition.parts, threads, different).into_iter().sum()
}

/// Points per chunk.
const CHUNK: usize = 1 << 16;

/// Points per part: few enough for its table to stay in a core's cache.
const PART: usize = 1 << 14;

/// Keys and points, partitioned so that equal points are in one part, in their order.
struct Partition {
    /// Keys and points, by chunk of the points, then by part.
    chunks: Vec<Vec<Vec<(u64, u32)>>>,
    parts: usize,
}

impl Partition {
    fn new(points: usize, equality: &impl Equality, threads: usize) -> Self {
        let parts = (points / PART).next_power_of_two().min(1 << 10);
        let partition_chunk = |chunk: usize| {
            let range = chunk * CHUNK..((chunk + 1) * CHUNK).min(points);
            let room = range.len() * 3 / 2 / parts;
            let mut lists: Vec<_> = (0..parts).map(|_| memory::with_capacity(room)).collect();
            for point in range {
                let key = equality.key(point);
                // Other bits than those of slots: a part's table must be filled evenly.
                let part = (mixed(key) >> 20) as usize & (parts - 1);
                memory::push(&mut lists[part], (key, point as u32));
            }
            lists
        };
        Self { chunks: each(points.div_ceil(CHUNK), threads, partition_chunk), parts }
    }

    fn len(&self, part: usize) -> usize {
        self.chunks.iter().map(|parts| parts[part].len()).sum()
    }

    fn part(&self, part: usize) -> impl Iterator<Item = (u64, u32)> {
        self.chunks.iter().flat_map(move |parts| &parts[part]).copied()
    }
}

/// Fibonacci hashing, after a mix that lets high bits of the key count.
#[inline(always)]
fn mixed(key: u64) -> u64 {
    (key ^ (key >> 29)).wrapping_mul(0x9e37_79b9_7f4a_7c15)
}

const EMPTY: u32 = u32::MAX;

/// An open hash table of keys and first points, never more than half full.
struct Table {
    slots: Vec<(u64, u32)>,
    shift: u32,
}

impl Table {
    fn new(points: usize) -> Self {
        let slots = (2 * points).next_power_of_two().max(16);
        Self { slots: memory::filled(slots, (0, EMPTY)), shift: 64 - slots.trailing_zeros() }
    }

    /// Returns the first point looked up that is equal to this one: itself if there was none.
    #[inline(always)]
    fn first(&mut self, key: u64, point: u32, equality: &impl Equality) -> u32 {
        let mut slot = (mixed(key) >> self.shift) as usize;
        loop {
            match self.slots[slot] {
                (_, EMPTY) => {
                    self.slots[slot] = (key, point);
                    return point;
                }
                (other, first) if other == key && equality.same(first, point) => return first,
                _ => slot = (slot + 1) & (self.slots.len() - 1),
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{Equality, count, number};
    use crate::random::SplitMix64;
    use std::collections::BTreeMap;

    /// Keys; those from 1000 on are all of one key, and equal if they are the same.
    struct Keys(Vec<u64>);

    impl Equality for Keys {
        fn key(&self, point: usize) -> u64 {
            self.0[point].min(1000)
        }
        fn same(&self, a: u32, b: u32) -> bool {
            self.0[a as usize] == self.0[b as usize]
        }
    }

    #[test]
    fn numbers_rise_with_first_appearance() {
        let keys = [7, u64::MAX, 7, 0, u64::MAX, 1 << 63];
        assert_eq!(number(6, &Keys(keys.into()), 1), (vec![0, 1, 0, 2, 1, 3], 4));
        assert_eq!(number(0, &Keys(vec![]), 1), (vec![], 0));
    }

    #[test]
    fn parts_and_threads_change_nothing() {
        let mut random = SplitMix64::new(1);
        for points in [1, 100, 70_000, 200_000] {
            let keys: Vec<u64> = (0..points).map(|_| random.below(1050)).collect();
            let mut number_by_key = BTreeMap::new();
            let number_of = |&key: &u64| {
                let next = number_by_key.len() as u32;
                *number_by_key.entry(key).or_insert(next)
            };
            let expected: Vec<u32> = keys.iter().map(number_of).collect();
            let keys = Keys(keys);
            for threads in [1, 2] {
                assert_eq!(number(points, &keys, threads), (expected.clone(), number_by_key.len()));
                assert_eq!(count(points, &keys, threads), number_by_key.len());
            }
        }
    }
}
