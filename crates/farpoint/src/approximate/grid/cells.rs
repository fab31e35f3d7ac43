//! Assignment of points to cells.

use crate::approximate::frame::Frame;
use crate::approximate::work::Run;
use crate::memory;
use crate::threads;
use crate::voxels::numbering::{self, Numbers};
use crate::{Error, Scalar};

/// Points by cell; cells are numbered in the order of their first points.
pub(super) struct Cells {
    pub(super) of: Vec<u32>,
    pub(super) count: usize,
    /// Cell size in the frame's unit; 0 if every distinct position is a cell.
    pub(super) size: f64,
}

impl Cells {
    /// Assigns points to cells of a size, or to a cell for every distinct position if it is 0.
    pub(super) fn new<T: Scalar>(
        run: &mut Run<'_, '_, T>,
        frame: &Frame<'_, T>,
        size: f64,
    ) -> Result<Self, Error> {
        let division = Division::new(frame, size);
        let same = |a, b| division.same(a, b);
        let keys = division.keys(run.threads);
        let Numbers { of, first } = numbering::number(&keys, same, run.threads);
        run.watch.pass(run.cloud.len)?;
        let count = first.len();
        Ok(Self { of, count, size })
    }

    /// Returns the number of points of each cell.
    pub(super) fn counts(&self) -> Vec<u32> {
        let mut counts = memory::zeros(self.count);
        self.of.iter().for_each(|&cell| counts[cell as usize] += 1);
        counts
    }
}

/// Counts the occupied cells of a size; for size 0 the distinct positions.
pub(super) fn count<T: Scalar>(
    run: &mut Run<'_, '_, T>,
    frame: &Frame<'_, T>,
    size: f64,
) -> Result<usize, Error> {
    let division = Division::new(frame, size);
    let same = |a, b| division.same(a, b);
    let count = numbering::count(&division.keys(run.threads), same, run.threads);
    run.watch.pass(run.cloud.len)?;
    Ok(count)
}

/// Points per task of a thread.
const CHUNK: usize = 1 << 14;

/// Key of the cell of a point.
enum Division<'a, T> {
    Packed(Packed<'a, T>),
    Wide(Wide<'a, T>),
}

impl<'a, T: Scalar> Division<'a, T> {
    fn new(frame: &'a Frame<'a, T>, size: f64) -> Self {
        let axes: Vec<usize> = (0..frame.dims()).filter(|&a| frame.side(a) >= size).collect();
        // As whole numbers side by side, where they fit.
        let bits = |&axis: &usize| bits((frame.side(axis) / size).floor());
        let bits: Vec<u32> = axes.iter().map(bits).collect();
        if size > 0.0 && bits.iter().sum::<u32>() <= 64 {
            let axes = axes.into_iter().zip(bits).collect();
            Self::Packed(Packed { frame, size, axes })
        } else {
            Self::Wide(Wide { frame, size, axes })
        }
    }

    /// Returns the keys of all points; equal cells have equal keys.
    fn keys(&self, threads: usize) -> Vec<u64> {
        let (Self::Packed(Packed { frame, .. }) | Self::Wide(Wide { frame, .. })) = self;
        let mut keys = memory::zeros(frame.cloud.len);
        threads::for_each_chunk(&mut keys, CHUNK, threads, |chunk, keys| {
            let points = (chunk * CHUNK..).zip(keys);
            match self {
                Self::Packed(packed) => points.for_each(|(point, key)| *key = packed.key(point)),
                Self::Wide(wide) => points.for_each(|(point, key)| *key = wide.key(point)),
            }
        });
        keys
    }

    /// Returns whether two points of equal keys are in one cell.
    #[inline(always)]
    fn same(&self, a: u32, b: u32) -> bool {
        match self {
            Self::Packed(_) => true,
            Self::Wide(wide) => wide.same(a, b),
        }
    }
}

/// Returns the number of bits of whole numbers up to `max`; more than fit if it is beyond them.
fn bits(max: f64) -> u32 {
    if max < 2f64.powi(63) { 64 - (max as u64).leading_zeros() } else { 65 }
}

/// Cells whose numbers along all axes fit in a key.
struct Packed<'a, T> {
    frame: &'a Frame<'a, T>,
    size: f64,
    /// Axes with more than one cell, and the bits of their cells' numbers.
    axes: Vec<(usize, u32)>,
}

impl<T: Scalar> Packed<'_, T> {
    #[inline(always)]
    fn key(&self, point: usize) -> u64 {
        self.axes.iter().fold(0, |key: u64, &(axis, bits)| {
            let cell = (self.frame.at(point, axis) / self.size).floor() as u64;
            // All 64 bits of one axis leave nothing of the others.
            key.checked_shl(bits).unwrap_or(0) | cell
        })
    }
}

/// Cells by their numbers along each axis, or distinct positions if the size is 0.
struct Wide<'a, T> {
    frame: &'a Frame<'a, T>,
    size: f64,
    /// Axes with more than one cell.
    axes: Vec<usize>,
}

impl<T: Scalar> Wide<'_, T> {
    #[inline(always)]
    fn bits(&self, point: usize, axis: usize) -> u64 {
        let number = match self.size {
            // Adding 0 takes the sign from -0.
            0.0 => self.frame.cloud.axes[axis][point].to_f64() + 0.0,
            size => (self.frame.at(point, axis) / size).floor(),
        };
        number.to_bits()
    }

    #[inline(always)]
    fn key(&self, point: usize) -> u64 {
        self.axes.iter().fold(0, |key: u64, &axis| {
            let mixed = (key ^ self.bits(point, axis)).wrapping_mul(0xd6e8_feb8_6659_fd93);
            mixed ^ mixed >> 32
        })
    }

    #[inline(always)]
    fn same(&self, a: u32, b: u32) -> bool {
        self.axes.iter().all(|&axis| self.bits(a as usize, axis) == self.bits(b as usize, axis))
    }
}
