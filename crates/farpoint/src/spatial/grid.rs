//! A hashed grid over candidate points, for finding all that lie within a small ball.
//!
//! Points are sorted by cell, cells by the slot their coordinates hash to. Several cells may
//! share a slot: a search then sees points too far away, which its distance test leaves out.

use crate::Scalar;
use crate::memory::{self, Buffer};

/// Position and width of the cells, and the reach of a search.
#[derive(Clone, Copy, Debug)]
pub struct Cells<T> {
    low: [T; 3],
    scale: T,
    /// Distance along an axis that a search covers on either side of a coordinate.
    reach: [T; 3],
    /// The last cell of each axis.
    last: [usize; 3],
    /// True if cells are much wider than intended.
    wide: bool,
}

/// Maximum number of cells along an axis.
const CELLS: usize = 1 << 20;

/// Factor over the intended width from which cells are too wide.
const WIDE: f64 = 4.0;

impl<T: Scalar> Cells<T> {
    /// Creates cells over the box from `low` to `high`, about `width` times as wide as the reach of
    /// a search for points within the squared distance `squared`: wider if there would be too many,
    /// and only one if more are not representable.
    ///
    /// A point `y` whose computed squared distance to `x` is below `squared` has, along an axis,
    /// `fl((y - x)^2) < squared`; rounding is monotone and `squared` a number, so
    /// `|fl(y - x)| < sqrt(squared)` as real numbers; so `|y - x|` is at most the first number
    /// `r` that is not below the root. The reach is so much more than `r` that the computed
    /// `x - reach` and `x + reach`, each off by half a unit in the last place of a number of at
    /// most `|x| + reach`, still lie outside of `x - r` and `x + r`.
    pub fn new(low: [T; 3], high: [T; 3], squared: T, width: f64) -> Self {
        let side = (0..3).map(|a| high[a].to_f64() - low[a].to_f64()).fold(0.0, f64::max);
        let r = squared.sqrt().next_up().to_f64();
        let reach = std::array::from_fn(|a| {
            let max_abs = low[a].to_f64().abs().max(high[a].to_f64().abs());
            T::from_f64(r + 4.0 * T::EPSILON.to_f64() * (max_abs + r)).next_up()
        });
        let width = width * r;
        let least = side / CELLS as f64;
        let scale = T::from_f64(1.0 / width.max(least));
        // Coordinates must not be too far apart to be subtracted, including the reach of a search.
        let widest = T::from_f64(side + 4.0 * reach.iter().fold(0.0, |a, b| b.to_f64().max(a)));
        // With a scale of 0 all falls in cell 0: infinity * 0 is NaN, which goes there too.
        let scale = if scale.is_finite() && widest.is_finite() { scale } else { T::ZERO };
        let wide = least > WIDE * width || scale == T::ZERO;
        let mut cells = Self { low, scale, reach, last: [0; 3], wide };
        cells.last = std::array::from_fn(|a| cells.cell(a, high[a]));
        cells
    }

    /// Returns whether cells are so much wider than intended that one may hold far too many points.
    pub(crate) fn are_wide(&self) -> bool {
        self.wide
    }

    /// Returns the cell of a coordinate. Never falls as the coordinate rises, as no step of it does.
    #[inline(always)]
    fn cell(&self, a: usize, x: T) -> usize {
        let cell = (x - self.low[a]) * self.scale;
        // Not a maximum: NaN goes to cell 0.
        let cell = if cell > T::ZERO { cell } else { T::ZERO };
        // SAFETY: not negative, and `CELLS` is below 2^20.
        unsafe { cell.to_bin(T::from_f64((CELLS - 1) as f64)) }
    }

    /// Returns the cells that a search from `at` must visit.
    #[inline(always)]
    pub(crate) fn ranges(&self, at: [T; 3]) -> Ranges {
        Ranges([0, 1, 2].map(|a| self.range(a, at[a])))
    }

    /// Returns the cells along axis `a` that a search from `x` must visit.
    #[inline(always)]
    fn range(&self, a: usize, x: T) -> (usize, usize) {
        let reach = self.reach[a];
        (self.cell(a, x - reach), self.cell(a, x + reach).min(self.last[a]))
    }
}

/// Returns a number for a cell, of which tables take the lower bits. Neighbors along x have neighboring numbers.
#[inline(always)]
fn number(x: usize, y: usize, z: usize) -> u32 {
    (x as u32)
        .wrapping_add((y as u32).wrapping_mul(0x9e37_79b1))
        .wrapping_add((z as u32).wrapping_mul(0x85eb_ca77))
}

/// First and last cells of a box of cells along each axis.
#[derive(Clone, Copy)]
pub(crate) struct Ranges([(usize, usize); 3]);

impl Ranges {
    /// Calls `row` for each row of cells along x with the number of the first, and the number of further ones.
    #[inline(always)]
    pub(super) fn rows(self, mut row: impl FnMut(u32, u32)) {
        let Self([x, y, z]) = self;
        for z in z.0..=z.1 {
            for y in y.0..=y.1 {
                row(number(x.0, y, z), (x.1 - x.0) as u32);
            }
        }
    }
}

/// Points sorted into a hashed grid.
pub struct Grid<T> {
    cells: Cells<T>,
    mask: u32,
    /// First point of each slot, then the total.
    first: Buffer<u32>,
}

impl<T: Scalar> Grid<T> {
    /// Creates a grid without points.
    pub fn new(cells: Cells<T>) -> Self {
        Self { cells, mask: 0, first: Buffer::filled(2, 0) }
    }

    /// Sorts `count` points, given by axis in runs, into cells; returns the place of each, and keeps the start of
    /// each cell. Calls back with the number of each point's cell.
    pub(crate) fn sort<'a>(
        &mut self,
        cells: Cells<T>,
        count: usize,
        runs: impl Iterator<Item = [&'a [T]; 3]>,
        places: &mut Buffer<u32>,
        cell: impl FnMut(u32),
    ) {
        places.clear();
        for [xs, ys, zs] in runs {
            places.extend(xs.iter().zip(ys).zip(zs).map(|((&x, &y), &z)| {
                let [x, y, z] = [cells.cell(0, x), cells.cell(1, y), cells.cell(2, z)];
                number(x, y, z)
            }));
        }
        self.place(cells, count, places, cell);
    }

    /// Sorts points given one after another.
    pub fn sort_points(
        &mut self,
        cells: Cells<T>,
        points: impl ExactSizeIterator<Item = [T; 3]>,
        places: &mut Vec<u32>,
    ) {
        let count = points.len();
        places.clear();
        memory::reserve(places, count);
        places.extend(points.map(|at| {
            let [x, y, z] = std::array::from_fn(|a| cells.cell(a, at[a]));
            number(x, y, z)
        }));
        self.place(cells, count, places, |_| {});
    }

    /// Replaces the number of each point's cell by the point's place.
    fn place(
        &mut self,
        cells: Cells<T>,
        count: usize,
        places: &mut [u32],
        mut cell: impl FnMut(u32),
    ) {
        let slots = count.next_power_of_two().max(16);
        self.cells = cells;
        self.mask = slots as u32 - 1;
        self.first.clear();
        self.first.resize(slots + 1, 0);
        for place in places.iter_mut() {
            cell(*place);
            *place &= self.mask;
            self.first[*place as usize + 1] += 1;
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

    /// Lists runs of places, `start..end`, that hold every point whose computed squared
    /// distance to `at` is below that of the cells, and others.
    #[inline]
    pub fn search(&self, at: [T; 3], runs: &mut Vec<(u32, u32)>) {
        self.runs(self.cells.ranges(at), runs);
    }

    /// Lists the runs for the cells of such a search.
    #[inline]
    pub(crate) fn runs(&self, cells: Ranges, runs: &mut Vec<(u32, u32)>) {
        runs.clear();
        cells.rows(|number, more| {
            let slot = number & self.mask;
            let last = slot + more;
            self.push(slot, last.min(self.mask), runs);
            if last > self.mask {
                self.push(0, (last & self.mask).min(slot), runs);
            }
        });
    }

    #[inline(always)]
    fn push(&self, first: u32, last: u32, runs: &mut Vec<(u32, u32)>) {
        let (start, end) = (self.first[first as usize], self.first[last as usize + 1]);
        if start < end {
            runs.push((start, end));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::Cells;

    #[test]
    fn cells_report_insufficient_precision() {
        let wide =
            |side: f32, squared| Cells::new([0.0; 3], [1.0, side, 1.0], squared, 6.0).are_wide();
        assert!(!wide(1.0, 1e-8) && !wide(1e3, 1e-4) && !wide(1e25, 1e38));
        assert!(wide(1e30, 1e-4) && wide(1e6, 1e-4) && wide(f32::MAX, f32::INFINITY));
    }
}
