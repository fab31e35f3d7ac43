//! Numbers things in the order in which they are first seen.

/// Gives equal keys equal numbers, 0, 1, 2, ... in order of first appearance; returns the number
/// of each key, and how many there are.
pub(super) fn number(keys: impl ExactSizeIterator<Item = u64>) -> (Vec<u32>, usize) {
    let slots = (2 * keys.len()).next_power_of_two().max(16);
    let mut table = Table { slots: vec![(0, EMPTY); slots], shift: 64 - slots.trailing_zeros() };
    let mut count = 0;
    let numbers = keys.map(|key| table.number(key, &mut count)).collect();
    (numbers, count as usize)
}

const EMPTY: u32 = u32::MAX;

/// An open hash table, never more than half full.
struct Table {
    slots: Vec<(u64, u32)>,
    shift: u32,
}

impl Table {
    #[inline(always)]
    fn number(&mut self, key: u64, count: &mut u32) -> u32 {
        // Fibonacci hashing, after a mix that lets high bits of the key count.
        let mixed = (key ^ (key >> 29)).wrapping_mul(0x9e37_79b9_7f4a_7c15);
        let mut slot = (mixed >> self.shift) as usize;
        loop {
            match self.slots[slot] {
                (_, EMPTY) => {
                    self.slots[slot] = (key, *count);
                    *count += 1;
                    return *count - 1;
                }
                (other, number) if other == key => return number,
                _ => slot = (slot + 1) & (self.slots.len() - 1),
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::number;

    #[test]
    fn numbers_rise_with_first_appearance() {
        let keys = [7, u64::MAX, 7, 0, u64::MAX, 1 << 63];
        assert_eq!(number(keys.into_iter()), (vec![0, 1, 0, 2, 1, 3], 4));
        assert_eq!(number([].into_iter()), (vec![], 0));
    }
}
