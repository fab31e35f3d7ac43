//! The spacing of the root node: as fine as the nodes allow.

use super::cube::DEEPEST;
use crate::bytes::parallel;

/// The finest spacing is this share of the cube: readers draw a node of 512 points a side at most.
const FINEST: f64 = 512.0;
/// Up to this level the points of all cells are counted in an array, below by sorting.
const COUNTED: u32 = 6;
/// Spacings that differ by less than this factor count as one.
const CLOSE: f64 = 1.003;

/// Points in farthest-first order.
pub(super) struct Ordered<'a> {
    /// Selection distances, which never increase.
    pub(super) distances: &'a [f64],
    /// The cell of each point, at the deepest level.
    pub(super) cells: &'a [[u32; 3]],
    /// Relative and absolute rounding error of each distance.
    pub(super) relative: f64,
    pub(super) absolute: f64,
}

impl Ordered<'_> {
    /// Returns the number of points of the levels 0 to l, for each l, if the root has this spacing: all whose
    /// distance is no less than the spacing of the level.
    pub(super) fn cuts(&self, spacing: f64) -> Vec<usize> {
        let cut = |level: u32| {
            let limit = spacing / 2f64.powi(level as i32);
            let limit = limit * (1.0 - self.relative) - self.absolute;
            self.distances.partition_point(|distance| *distance >= limit)
        };
        (0..DEEPEST).map(cut).chain([self.distances.len()]).collect()
    }

    /// Returns the number of points with coordinates of their own, regardless of rounding.
    pub(super) fn distinct(&self) -> usize {
        self.distances.partition_point(|distance| *distance > self.absolute)
    }

    /// Returns the smallest spacing for which no node holds more points than `max_points`, duplicates not counted.
    pub(super) fn finest(&self, side: f64, max_points: usize) -> f64 {
        let mut low = side / FINEST;
        if self.fits(low, max_points) {
            return low;
        }
        let mut high = 2.0 * low;
        // At the latest when each stored place has a cell of its own.
        for _ in 0..2 * DEEPEST {
            if self.fits(high, max_points) {
                break;
            }
            (low, high) = (high, 2.0 * high);
        }
        while high / low > CLOSE {
            let middle = (low * high).sqrt();
            match self.fits(middle, max_points) {
                true => high = middle,
                false => low = middle,
            }
        }
        high
    }

    fn fits(&self, spacing: f64, max_points: usize) -> bool {
        let (cuts, distinct) = (self.cuts(spacing), self.distinct());
        let fits = |level: usize| {
            let from = if level == 0 { 0 } else { cuts[level - 1] }.min(distinct);
            let cells = &self.cells[from..cuts[level].min(distinct)];
            cells.len() <= max_points || fullest(cells, level as u32) <= max_points
        };
        parallel::all(0..cuts.len(), fits)
    }
}

/// Returns the number of points of the fullest cell of a level.
fn fullest(cells: &[[u32; 3]], level: u32) -> usize {
    let cell = |cell: &[u32; 3]| cell.map(|at| at >> (DEEPEST - level));
    if level <= COUNTED {
        let mut counts = vec![0u32; 1 << (3 * level)];
        for [x, y, z] in cells.iter().map(cell) {
            counts[((x << (2 * level)) | (y << level) | z) as usize] += 1;
        }
        return counts.into_iter().max().unwrap_or(0) as usize;
    }
    let mut all: Vec<[u32; 3]> = cells.iter().map(cell).collect();
    parallel::sort(&mut all);
    all.chunk_by(|a, b| a == b).map(<[_]>::len).max().unwrap_or(0)
}
