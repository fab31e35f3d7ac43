//! A hashed grid over candidate points, for finding all that lie within a small ball.
//!
//! Points are sorted by cell, cells by the slot their coordinates hash to. Several cells may
//! share a slot: a search then sees points too far away, which its distance test leaves out.

use crate::Scalar;

/// Where the cells lie and how wide they are.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Cells<T> {
    low: [T; 3],
    scale: T,
    /// The last cell of each axis.
    last: [i32; 3],
}

/// The cells along one axis that a ball touches.
type Range = (i32, i32);

impl<T: Scalar> Cells<T> {
    /// Cells of about `width` over the box from `low` to `high`: so wide that an axis has at
    /// most `2^20`, and only one where numbers do not suffice for more.
    pub(crate) fn new(low: [T; 3], high: [T; 3], width: T) -> Self {
        let side = (0..3).map(|a| high[a].to_f64() - low[a].to_f64()).fold(0.0, f64::max);
        let scale = T::from_f64(1.0 / width.to_f64().max(side / (1 << 20) as f64));
        // With a scale of 0 all falls in cell 0: infinity * 0 is NaN, which becomes 0.
        let scale = if scale.is_finite() { scale } else { T::ZERO };
        let mut cells = Self { low, scale, last: [0; 3] };
        cells.last = std::array::from_fn(|a| cells.cell(a, high[a]));
        cells
    }

    /// The cell of a coordinate. Never falls as the coordinate rises, as no step of it does.
    #[inline(always)]
    fn cell(&self, a: usize, x: T) -> i32 {
        ((x - self.low[a]) * self.scale).to_cell()
    }

    /// The cells along axis `a` that may hold a point whose computed squared distance to a
    /// point at `x` is below `reach * reach`, where `reach` is rounded up.
    #[inline(always)]
    fn range(&self, a: usize, x: T, reach: T) -> Range {
        let last = self.cell(a, (x + reach).next_up()).min(self.last[a]);
        (self.cell(a, (x - reach).next_down()).max(0), last)
    }

    /// Neighbours along x share neighbouring slots.
    #[inline(always)]
    fn slot(x: i32, y: i32, z: i32) -> u32 {
        (x as u32)
            .wrapping_add((y as u32).wrapping_mul(0x9e37_79b1))
            .wrapping_add((z as u32).wrapping_mul(0x85eb_ca77))
    }
}

/// Points sorted into a hashed grid.
pub(crate) struct Grid<T> {
    cells: Cells<T>,
    mask: u32,
    /// First point of each slot; one more than there are slots.
    first: Vec<u32>,
}

impl<T: Scalar> Grid<T> {
    pub(crate) fn new(cells: Cells<T>) -> Self {
        Self { cells, mask: 0, first: vec![0, 0] }
    }

    /// Sorts points into cells; returns the place of each, and remembers where cells begin.
    pub(crate) fn sort(
        &mut self,
        cells: Cells<T>,
        points: impl ExactSizeIterator<Item = [T; 3]> + Clone,
        places: &mut Vec<u32>,
    ) {
        let slots = points.len().next_power_of_two().max(16);
        self.cells = cells;
        self.mask = slots as u32 - 1;
        self.first.clear();
        self.first.resize(slots + 1, 0);
        places.clear();
        places.extend(points.map(|at| {
            let [x, y, z] = std::array::from_fn(|a| cells.cell(a, at[a]));
            Cells::<T>::slot(x, y, z) & self.mask
        }));
        for &slot in places.iter() {
            self.first[slot as usize + 1] += 1;
        }
        let mut sum = 0;
        for first in &mut self.first[1..] {
            // For now where the slot begins; counted up to its end below.
            sum += std::mem::replace(first, sum);
        }
        for place in places.iter_mut() {
            let next = &mut self.first[*place as usize + 1];
            *place = *next;
            *next += 1;
        }
    }

    /// A point `y` whose computed squared distance to `x` is below `squared` has, along an axis,
    /// `fl((y - x)^2) < squared`; rounding is monotone and `squared` a number, so
    /// `|fl(y - x)| < sqrt(squared)` as real numbers; so `|y - x|` is at most the first number
    /// that is not below the root. Sums with it are rounded outwards.
    ///
    /// Lists runs of places, `start..end`, that hold every point whose computed squared
    /// distance to `at` is below `squared`, and others.
    #[inline]
    pub(crate) fn search(&self, at: [T; 3], squared: T, runs: &mut Vec<(u32, u32)>) {
        runs.clear();
        let reach = squared.sqrt().next_up();
        let range = |a: usize| self.cells.range(a, at[a], reach);
        let (x, y, z) = (range(0), range(1), range(2));
        for z in z.0..=z.1 {
            for y in y.0..=y.1 {
                let slot = Cells::<T>::slot(x.0, y, z) & self.mask;
                let last = slot + (x.1 - x.0) as u32;
                self.push(slot, last.min(self.mask), runs);
                if last > self.mask {
                    self.push(0, (last & self.mask).min(slot), runs);
                }
            }
        }
    }

    #[inline(always)]
    fn push(&self, first: u32, last: u32, runs: &mut Vec<(u32, u32)>) {
        let (start, end) = (self.first[first as usize], self.first[last as usize + 1]);
        if start < end {
            runs.push((start, end));
        }
    }
}
