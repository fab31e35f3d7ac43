//! Keys of cells.

use super::prepared::Prepared;
use crate::memory::{self, Aligned};
use crate::simd::{self, Kernel, Program, Simd};
use crate::{Level, Scalar, threads};

/// A key for each point; points of one cell have one key.
pub(super) struct Keys {
    pub(super) all: Aligned<u64>,
    /// True if points of one key are in one cell; keys then sort like cells.
    pub(super) unique: bool,
    axes: Vec<Axis>,
}

/// Place of the cells along an axis in keys.
#[derive(Clone, Copy)]
struct Axis {
    /// Lowest cell.
    low: i32,
    /// Lowest bit.
    shift: u32,
    /// Largest number, as bits.
    mask: u64,
}

impl Axis {
    /// Returns the cell in a key.
    #[inline(always)]
    fn cell(self, key: u64) -> i32 {
        // An axis of one cell after 64 bits has nothing to shift.
        self.low.wrapping_add((key.wrapping_shr(self.shift) & self.mask) as i32)
    }
}

/// Points per task of a thread.
const CHUNK: usize = 1 << 14;

/// Points whose keys stay in the innermost cache while all axes are added.
const BLOCK: usize = 1 << 10;

impl Keys {
    /// Computes the keys of all points: the numbers of their cells side by side if they fit in 64 bits, else a hash.
    pub(super) fn new<T: Scalar>(cloud: &Prepared<T>, level: Level, threads: usize) -> Self {
        // The first axis has the highest bits, so that keys sort like cells.
        let mut axes = memory::with_capacity(cloud.dims());
        let mut sum = 0;
        for axis in (0..cloud.dims()).rev() {
            let (low, high) = cloud.cells(axis).into_inner();
            let bits = u32::BITS - (high.wrapping_sub(low) as u32).leading_zeros();
            axes.push(Axis { low, shift: sum, mask: (1 << bits) - 1 });
            sum += bits;
        }
        axes.reverse();
        let unique = sum <= u64::BITS;
        let mut all = Aligned::new(cloud.points(), 0);
        threads::for_each_chunk(&mut all, CHUNK, threads, |chunk, keys| {
            let first = chunk * CHUNK;
            simd::dispatch(level, Fill { cloud, axes: &axes, unique, first, keys });
        });
        Self { all, unique, axes }
    }

    /// Returns the cells of these points, one point after another.
    pub(super) fn cells<T: Scalar>(&self, cloud: &Prepared<T>, points: &[u32]) -> Vec<i32> {
        let mut cells = memory::zeros(points.len() * self.axes.len());
        for (cells, &point) in cells.chunks_exact_mut(self.axes.len().max(1)).zip(points) {
            let point = point as usize;
            let key = self.all[point];
            for (axis, (cell, place)) in cells.iter_mut().zip(&self.axes).enumerate() {
                *cell = if self.unique { place.cell(key) } else { cloud.cell_at(axis, point).0 };
            }
        }
        cells
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
    axes: &'a [Axis],
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
        let Self { cloud, axes, unique, mut first, keys } = self;
        for keys in keys.chunks_mut(BLOCK) {
            for (axis, &Axis { low, shift, .. }) in axes.iter().enumerate() {
                let values = &cloud.axis(axis)[first..][..keys.len()];
                let (size, origin) = (cloud.size(axis), cloud.origin(axis));
                // SAFETY: the quotient lies between those of the axis's ends, whose floors fit.
                let cell = |x: T| unsafe { ((x - origin) / size).floor_to_i32() };
                if unique {
                    for (key, &x) in keys.iter_mut().zip(values) {
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
