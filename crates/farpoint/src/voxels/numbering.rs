//! Numbering of distinct elements by hash tables that store keys: one table that grows while it stays small, else a
//! small one for each part of the elements.

use crate::memory::{self, Aligned, Shared};
use crate::threads::{each, for_each};

/// Distinct elements, numbered 0, 1, 2, ... in order of first appearance.
#[derive(Debug, PartialEq)]
pub(crate) struct Numbers {
    /// Number of each element.
    pub(crate) of: Vec<u32>,
    /// First element of each number.
    pub(crate) first: Vec<u32>,
}

/// Numbers elements by their keys; `same` returns whether two elements of equal keys are equal.
pub(crate) fn number(
    keys: &[u64],
    same: impl Fn(u32, u32) -> bool + Sync,
    threads: usize,
) -> Numbers {
    let directly = if threads == 1 { direct(keys, &same) } else { None };
    directly.unwrap_or_else(|| in_parts(keys, &same, threads))
}

/// Counts the distinct elements.
pub(crate) fn count(keys: &[u64], same: impl Fn(u32, u32) -> bool + Sync, threads: usize) -> usize {
    let partition = Partition::new(keys, threads);
    let different = |part: usize| {
        let entries = partition.part(part);
        let mut table = Table::new(2 * entries.len());
        entries.iter().filter(|entry| table.first(entry, &same) == entry.element).count()
    };
    each(partition.parts(), threads, different).into_iter().sum()
}

/// Number of distinct elements from which a growing table falls out of the caches.
const LARGE: usize = 1 << 13;

/// Numbers elements by one table that grows. `None` if it would become large, and every fourth element or more is new:
/// growing then takes more time than parts do.
fn direct(keys: &[u64], same: impl Fn(u32, u32) -> bool) -> Option<Numbers> {
    let mut table = Table::new(1 << 10);
    let mut numbers = Numbers { of: memory::with_capacity(keys.len()), first: Vec::new() };
    let mut last = (0, Table::EMPTY);
    for (element, &key) in (0..).zip(keys) {
        let first = &mut numbers.first;
        // Neighbors in a scan are mostly in one voxel.
        let number =
            if last.1 != Table::EMPTY && last.0 == key && same(first[last.1 as usize], element) {
                last.1
            } else {
                let entry = Entry { key, element: first.len() as u32 };
                table.first(&entry, |number, _| same(first[number as usize], element))
            };
        if number as usize == first.len() {
            memory::push(first, element);
            if first.len() > table.slots.len() / 2 {
                if first.len() >= LARGE && first.len() * 4 > element as usize {
                    return None;
                }
                table.grow();
            }
        }
        numbers.of.push(number);
        last = (key, number);
    }
    Some(numbers)
}

/// Numbers elements by a table for each part.
fn in_parts(keys: &[u64], same: &(impl Fn(u32, u32) -> bool + Sync), threads: usize) -> Numbers {
    let partition = Partition::new(keys, threads);
    // First each element's first equal, then its number: the first has its own by then.
    let mut of = memory::zeros(keys.len());
    let firsts = Shared::new(&mut of);
    for_each(partition.parts(), threads, &|part| {
        let entries = partition.part(part);
        let mut table = Table::new(2 * entries.len());
        for entry in entries {
            let first = table.first(entry, same);
            // SAFETY: the element is below the number of keys, and in this part alone.
            unsafe { firsts.write(entry.element as usize, first) };
        }
    });
    let mut first = Vec::new();
    for element in 0..of.len() {
        let equal = of[element] as usize;
        of[element] = if equal == element { first.len() as u32 } else { of[equal] };
        if equal == element {
            memory::push(&mut first, element as u32);
        }
    }
    Numbers { of, first }
}

/// An element with its key.
#[derive(Clone, Copy)]
struct Entry {
    key: u64,
    element: u32,
}

/// Mean number of elements in a part: few enough for its table to stay in a core's cache.
const PART: usize = 1 << 11;

/// Maximum number of parts: more would be written to than the caches have room for.
const PARTS: usize = 1 << 10;

/// Elements, partitioned so that equal ones are in one part, in their order.
struct Partition {
    entries: Aligned<Entry>,
    /// First entry of each part, then their number.
    starts: Vec<u32>,
}

impl Partition {
    fn new(keys: &[u64], threads: usize) -> Self {
        let parts = (keys.len() / PART).next_power_of_two().min(PARTS);
        let part = |key: u64| ((mixed(key) >> 20) as usize) & (parts - 1);
        let chunks = if threads == 1 { 1 } else { 4 * threads };
        let size = keys.len().div_ceil(chunks).max(1);
        let chunks = memory::collected(keys.chunks(size));
        let mut counts = each(chunks.len(), threads, |chunk| {
            let mut counts = memory::zeros::<u32>(parts);
            chunks[chunk].iter().for_each(|&key| counts[part(key)] += 1);
            counts
        });
        // Counts become where the chunk's entries of the part begin.
        let mut starts = memory::with_capacity(parts + 1);
        let mut sum = 0;
        for part in 0..parts {
            starts.push(sum);
            for counts in &mut counts {
                sum += std::mem::replace(&mut counts[part], sum);
            }
        }
        starts.push(sum);
        let mut entries = Aligned::new(keys.len(), Entry { key: 0, element: 0 });
        let places = Shared::new(&mut entries);
        for_each(chunks.len(), threads, &|chunk| {
            let mut next = counts[chunk].clone();
            for (element, &key) in ((chunk * size) as u32..).zip(chunks[chunk]) {
                let place = &mut next[part(key)];
                // SAFETY: the ranges that were counted are disjoint and together as long as the array.
                unsafe { places.write(*place as usize, Entry { key, element }) };
                *place += 1;
            }
        });
        Self { entries, starts }
    }

    fn parts(&self) -> usize {
        self.starts.len() - 1
    }

    fn part(&self, part: usize) -> &[Entry] {
        &self.entries[self.starts[part] as usize..self.starts[part + 1] as usize]
    }
}

/// Fibonacci hashing, after a mix that lets high bits of the key count.
#[inline(always)]
fn mixed(key: u64) -> u64 {
    (key ^ (key >> 29)).wrapping_mul(0x9e37_79b9_7f4a_7c15)
}

/// An open hash table of entries, never more than half full.
struct Table {
    slots: Aligned<Entry>,
    shift: u32,
}

impl Table {
    const EMPTY: u32 = u32::MAX;

    /// Creates a table with at least this many slots.
    fn new(slots: usize) -> Self {
        let slots = slots.next_power_of_two().max(16);
        let empty = Entry { key: 0, element: Self::EMPTY };
        Self { slots: Aligned::new(slots, empty), shift: 64 - slots.trailing_zeros() }
    }

    /// Returns the first element looked up that is equal to this one: itself if there was none.
    #[inline(always)]
    fn first(&mut self, entry: &Entry, same: impl Fn(u32, u32) -> bool) -> u32 {
        let last = self.slots.len() - 1;
        let mut slot = (mixed(entry.key) >> self.shift) as usize;
        loop {
            let found = self.slots[slot & last];
            if found.element == Self::EMPTY {
                self.slots[slot & last] = *entry;
                return entry.element;
            }
            if found.key == entry.key && same(found.element, entry.element) {
                return found.element;
            }
            slot += 1;
        }
    }

    /// Makes four times as many slots.
    fn grow(&mut self) {
        let old = std::mem::replace(self, Self::new(4 * self.slots.len()));
        for entry in old.slots.iter().filter(|entry| entry.element != Self::EMPTY) {
            self.first(entry, |_, _| false);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::random::SplitMix64;
    use std::collections::BTreeMap;

    fn expected(elements: &[u64]) -> Numbers {
        let (mut number_by_element, mut first) = (BTreeMap::new(), Vec::new());
        let number_of = |(place, &element): (u32, &u64)| {
            *number_by_element.entry(element).or_insert_with(|| {
                first.push(place);
                first.len() as u32 - 1
            })
        };
        let of = (0..).zip(elements).map(number_of).collect();
        Numbers { of, first }
    }

    #[test]
    fn numbers_rise_with_first_appearance() {
        let keys = [7, u64::MAX, 7, 0, u64::MAX, 1 << 63];
        let numbers = Numbers { of: vec![0, 1, 0, 2, 1, 3], first: vec![0, 1, 3, 5] };
        assert_eq!(expected(&keys), numbers);
        assert_eq!(number(&keys, |_, _| true, 1), numbers);
        assert_eq!(number(&[], |_, _| true, 1), Numbers { of: vec![], first: vec![] });
        assert_eq!(in_parts(&[], &|_, _| true, 1), Numbers { of: vec![], first: vec![] });
    }

    #[test]
    fn ways_and_threads_change_nothing() {
        let mut random = SplitMix64::new(1);
        for points in [1, 100, 70_000, 200_000] {
            for different in [1_050, 9_000, 1 << 40] {
                let elements: Vec<u64> = (0..points).map(|_| random.below(different)).collect();
                // Those from 1000 on have one key, if they are few.
                let limit = if different < 2_000 { 1_000 } else { u64::MAX };
                let keys: Vec<u64> = elements.iter().map(|&element| element.min(limit)).collect();
                let same = |a: u32, b: u32| elements[a as usize] == elements[b as usize];
                let expected = expected(&elements);
                let directly = direct(&keys, same);
                assert_eq!(directly.is_none(), points > 50_000 && different > 2_000);
                assert!(directly.is_none_or(|numbers| numbers == expected));
                for threads in [1, 2, 5] {
                    assert_eq!(number(&keys, same, threads), expected);
                    assert_eq!(in_parts(&keys, &same, threads), expected);
                    assert_eq!(count(&keys, same, threads), expected.first.len());
                }
            }
        }
    }
}
