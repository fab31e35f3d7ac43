//! Keys of cells.

use super::prepared::Prepared;
use crate::simd::{self, Kernel, Program, Simd};
use crate::{Level, Scalar, memory, threads};

/// A key for each point; points of one cell have one key.
pub(super) struct Keys {
    pub(super) all: Vec<u64>,
    /// True if points of one key are in one cell; keys then sort like cells.
    pub(super) unique: bool,
}

/// Points per task of a thread.
const CHUNK: usize = 1 << 14;

/// Points whose keys stay in the innermost cache while all axes are added.
const BLOCK: usize = 1 << 10;

impl Keys {
    /// Computes the keys of all points: the numbers of their cells side by side if they fit in 64 bits, else a hash.
    pub(super) fn new<T: Scalar>(cloud: &Prepared<T>, level: Level, threads: usize) -> Self {
        let span = |axis: usize| cloud.cells(axis).end().wrapping_sub(*cloud.cells(axis).start());
        let bits = |axis: usize| 32 - (span(axis) as u32).leading_zeros();
        // The first axis has the highest bits, so that keys sort like cells.
        let mut shifts = memory::filled(cloud.dims(), 0);
        let mut sum = 0;
        for axis in (0..cloud.dims()).rev() {
            shifts[axis] = sum;
            sum += bits(axis);
        }
        let unique = sum <= u64::BITS;
        let mut all = memory::zeros(cloud.points());
        threads::for_each_chunk(&mut all, CHUNK, threads, |chunk, keys| {
            let first = chunk * CHUNK;
            simd::dispatch(level, Fill { cloud, shifts: &shifts, unique, first, keys });
        });
        Self { all, unique }
    }

    /// Returns whether two points of one key are in one cell.
    #[inline(always)]
    pub(super) fn same<T: Scalar>(&self, cloud: &Prepared<T>, a: u32, b: u32) -> bool {
        let cell = |point: u32, axis| cloud.cell_at(axis, point as usize).0;
        self.unique || (0..cloud.dims()).all(|axis| cell(a, axis) == cell(b, axis))
    }
}

/// Computes the keys of some points, from `first` on.
struct Fill<'a, T> {
    cloud: &'a Prepared<T>,
    /// Lowest bit of each axis in a key.
    shifts: &'a [u32],
    unique: bool,
    first: usize,
    keys: &'a mut [u64],
}

impl<T: Scalar> Program<T> for Fill<'_, T> {
    type Output = ();
    fn run<S: Simd<T>>(self, simd: S) {
        simd.vectorize(self);
    }
}

impl<T: Scalar> Kernel<T> for Fill<'_, T> {
    type Output = ();

    #[inline(always)]
    fn run<S: Simd<T>>(self, _: S) {
        let Self { cloud, shifts, unique, mut first, keys } = self;
        for keys in keys.chunks_mut(BLOCK) {
            for axis in 0..cloud.dims() {
                let values = &cloud.axis(axis)[first..][..keys.len()];
                let (size, origin) = (cloud.size(axis), cloud.origin(axis));
                // SAFETY: the quotient lies between those of the axis's ends, whose floors fit.
                let cell = |x: T| unsafe { ((x - origin) / size).floor_to_i32() };
                if unique {
                    let (low, shift) = (*cloud.cells(axis).start(), shifts[axis]);
                    for (key, &x) in keys.iter_mut().zip(values) {
                        // An axis of one cell after 64 bits has nothing to shift.
                        let number = u64::from(cell(x).wrapping_sub(low) as u32);
                        *key |= number.wrapping_shl(shift);
                    }
                } else {
                    for (key, &x) in keys.iter_mut().zip(values) {
                        let mixed = *key ^ u64::from(cell(x) as u32);
                        let mixed = mixed.wrapping_mul(0xd6e8_feb8_6659_fd93);
                        *key = mixed ^ mixed >> 32;
                    }
                }
            }
            first += keys.len();
        }
    }
}
