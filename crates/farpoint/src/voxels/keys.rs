//! Keys of cells.

use super::prepared::Prepared;
use crate::memory::{self, Aligned};
use crate::simd::{self, Kernel, Program, Simd};
use crate::{Level, Scalar, threads};

/// A key for each point; points of one cell have one key.
pub(crate) struct Keys {
    pub(crate) all: Aligned<u64>,
    /// True if points of one key are in one cell; keys then sort like cells.
    pub(super) unique: bool,
    /// Places of the cells in keys; none if each distinct position is a cell.
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
    pub(crate) fn new<T: Scalar>(cloud: &Prepared<T>, level: Level, threads: usize) -> Self {
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

    /// Computes a hash of the position of each point: each distinct position is a cell, without a number.
    pub(crate) fn of_positions<T: Scalar>(cloud: &Prepared<T>, threads: usize) -> Self {
        let mut all = Aligned::new(cloud.points(), 0);
        threads::for_each_chunk(&mut all, CHUNK, threads, |chunk, keys| {
            for axis in 0..cloud.dims() {
                for (key, x) in keys.iter_mut().zip(&cloud.axis(axis)[chunk * CHUNK..]) {
                    // Adding 0 takes the sign from -0.
                    *key = mixed(*key, (x.to_f64() + 0.0).to_bits());
                }
            }
        });
        Self { all, unique: false, axes: Vec::new() }
    }

    /// Returns the cells of these points, one point after another; nothing for positions.
    pub(crate) fn cells<T: Scalar>(&self, cloud: &Prepared<T>, points: &[u32]) -> Vec<i32> {
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
    pub(crate) fn same<T: Scalar>(&self, cloud: &Prepared<T>, a: u32, b: u32) -> bool {
        let cell = |point: u32, axis| cloud.cell_at(axis, point as usize).0;
        let value = |point: u32, axis| cloud.axis(axis)[point as usize];
        let same = |axis| match self.axes.is_empty() {
            true => value(a, axis) == value(b, axis),
            false => cell(a, axis) == cell(b, axis),
        };
        self.unique || (0..cloud.dims()).all(same)
    }
}

/// Adds a number to a hash.
#[inline(always)]
fn mixed(hash: u64, number: u64) -> u64 {
    let mixed = (hash ^ number).wrapping_mul(0xd6e8_feb8_6659_fd93);
    mixed ^ mixed >> 32
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
                        *key = mixed(*key, u64::from(cell(x) as u32));
                    }
                }
            }
            first += keys.len();
        }
    }
}
