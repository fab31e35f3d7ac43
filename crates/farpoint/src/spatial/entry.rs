//! Points on their way into the tree.

use crate::Scalar;

/// A point on its way into a group: three coordinates, and the point's number as the bits of
/// a fourth, so that an entry is one vector.
#[derive(Clone, Copy)]
#[repr(transparent)]
pub(super) struct Entry<T>([T; 4]);

impl<T: Scalar> Entry<T> {
    pub(super) fn new([x, y, z]: [T; 3], point: u32) -> Self {
        Self([x, y, z, T::from_bits_u32(point)])
    }

    pub(super) fn point(&self) -> u32 {
        self.0[3].to_bits_u32()
    }

    pub(super) fn at(&self, axis: usize) -> T {
        self.0[axis]
    }
}

/// A box around points, and the lowest of them.
#[derive(Clone, Copy)]
pub(super) struct GroupBox<T> {
    pub(super) low: [T; 3],
    pub(super) high: [T; 3],
    pub(super) lowest: u32,
}

/// Returns the corners of the box around `entries`, which must not be empty. The fourth numbers mean nothing: without
/// them entries would be compared number by number, not as vectors.
#[inline(never)]
pub(super) fn bounds<T: Scalar>(entries: &[Entry<T>]) -> ([T; 4], [T; 4]) {
    // Four at a time, so that a comparison need not wait for the one before.
    let mut low = [entries[0].0; 4];
    let mut high = low;
    let fours = entries.chunks_exact(4);
    let rest = fours.remainder();
    for four in fours {
        for (k, entry) in four.iter().enumerate() {
            low[k] = lower(low[k], entry.0);
            high[k] = higher(high[k], entry.0);
        }
    }
    for entry in rest {
        low[0] = lower(low[0], entry.0);
        high[0] = higher(high[0], entry.0);
    }
    let low = lower(lower(low[0], low[1]), lower(low[2], low[3]));
    (low, higher(higher(high[0], high[1]), higher(high[2], high[3])))
}

#[inline(always)]
fn lower<T: Scalar>(a: [T; 4], b: [T; 4]) -> [T; 4] {
    std::array::from_fn(|k| if b[k] < a[k] { b[k] } else { a[k] })
}

#[inline(always)]
fn higher<T: Scalar>(a: [T; 4], b: [T; 4]) -> [T; 4] {
    std::array::from_fn(|k| if b[k] > a[k] { b[k] } else { a[k] })
}
