//! Points counted in a grid, and tiles chosen by those counts.

use crate::disk::numbers::{Reader, Writer};
use farpoint::backend::memory as fallible;
use std::ops::Range;
use std::sync::atomic::{AtomicU32, Ordering};

/// Largest number of cells of a grid.
const CELLS: usize = 1 << 20;

/// A box cut into cells of one size.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Grid {
    low: [f64; 3],
    /// Cells per unit of length.
    finer: [f64; 3],
    cells: [usize; 3],
}

impl Grid {
    /// Grid over a box, with cells as near to cubes as their number allows. Points outside count as at the border.
    pub(crate) fn over([low, high]: [[f64; 3]; 2]) -> Grid {
        let widths: [f64; 3] = std::array::from_fn(|axis| (high[axis] - low[axis]).max(0.0));
        let fits = |cell: f64| -> [usize; 3] {
            widths.map(|width| ((width / cell).ceil() as usize).clamp(1, CELLS))
        };
        let number = |cells: [usize; 3]| cells.iter().fold(1usize, |all, n| all.saturating_mul(*n));
        let mut cell = widths.iter().fold(0.0, |a: f64, b| a.max(*b)) / CELLS as f64;
        if !(cell > 0.0 && cell.is_finite()) {
            return Grid { low, finer: [0.0; 3], cells: [1; 3] };
        }
        while number(fits(cell)) > CELLS {
            cell *= 1.02;
        }
        let cells = fits(cell);
        let finer = std::array::from_fn(|axis| match widths[axis] > 0.0 {
            true => cells[axis] as f64 / widths[axis],
            false => 0.0,
        });
        Grid { low, finer, cells }
    }

    pub(crate) fn encode(&self, out: &mut Writer) {
        self.low.iter().chain(&self.finer).for_each(|&x| out.real(x));
        self.cells.iter().for_each(|&cells| out.number(cells as u64));
    }

    pub(crate) fn decode(from: &mut Reader<'_>) -> Option<Grid> {
        let (low, finer) = (from.three()?, from.three()?);
        let mut cells = || from.number().map(|cells| cells as usize);
        let cells = [cells()?, cells()?, cells()?];
        let all = cells.iter().try_fold(1usize, |all, &cells| all.checked_mul(cells))?;
        (1..=CELLS).contains(&all).then_some(Grid { low, finer, cells })
    }

    /// Returns the number of cells.
    pub(crate) fn len(&self) -> usize {
        self.cells.iter().product()
    }

    /// Returns the cell of a point.
    pub(crate) fn cell(&self, at: [f64; 3]) -> usize {
        let along = |axis: usize| {
            let place = (at[axis] - self.low[axis]) * self.finer[axis];
            // Casting turns negative numbers and NaN into 0.
            (place as usize).min(self.cells[axis] - 1)
        };
        (along(2) * self.cells[1] + along(1)) * self.cells[0] + along(0)
    }

    /// Sums the counts of cells by planes across an axis.
    fn planes(&self, counts: &[u32], region: &[Range<usize>; 3], axis: usize) -> Vec<u64> {
        let mut planes = vec![0u64; region[axis].len()];
        let [xs, ys, zs] = region;
        for z in zs.clone() {
            for y in ys.clone() {
                let row = (z * self.cells[1] + y) * self.cells[0];
                for x in xs.clone() {
                    let along = [x, y, z][axis] - region[axis].start;
                    planes[along] += u64::from(counts[row + x]);
                }
            }
        }
        planes
    }
}

/// Counts that several threads add to.
pub(crate) struct Counts(Vec<AtomicU32>);

impl Counts {
    /// Adds to these.
    pub(crate) fn from(counts: Vec<u32>) -> Counts {
        Counts(counts.into_iter().map(AtomicU32::new).collect())
    }

    pub(crate) fn add(&self, cell: usize) {
        self.0[cell].fetch_add(1, Ordering::Relaxed);
    }

    pub(crate) fn finish(self) -> Vec<u32> {
        self.0.into_iter().map(AtomicU32::into_inner).collect()
    }
}

/// Assignment of points to tiles.
#[derive(Debug)]
pub(crate) struct Tiles {
    grid: Grid,
    /// The first tile of each cell.
    first: Vec<u32>,
    /// Number of tiles that share the points of one cell, by their first one; most cells have one.
    shared: Vec<u32>,
}

impl Tiles {
    /// Chooses tiles of at most `max_points` points, as nearly as whole cells allow, by halving the box across its longest
    /// side.
    pub(crate) fn choose(grid: Grid, counts: &[u32], max_points: u64) -> Tiles {
        let mut tiles = Tiles { first: fallible::zeros(grid.len()), shared: Vec::new(), grid };
        let whole = tiles.grid.cells.map(|cells| 0..cells);
        tiles.split(counts, whole, max_points.max(1));
        tiles
    }

    fn split(&mut self, counts: &[u32], region: [Range<usize>; 3], max_points: u64) {
        let long = |&axis: &usize| {
            let finer = self.grid.finer[axis];
            let width = if finer > 0.0 { region[axis].len() as f64 / finer } else { 0.0 };
            if region[axis].len() > 1 { width } else { -1.0 }
        };
        let axis = (0..3).max_by(|a, b| long(a).total_cmp(&long(b))).unwrap_or(0);
        let planes = self.grid.planes(counts, &region, axis);
        let all: u64 = planes.iter().sum();
        if all <= max_points || planes.len() < 2 {
            return self.assign(&region, all.div_ceil(max_points).max(1) as u32);
        }
        // A multiple of whole tiles on either side, so that none is much smaller than it may be.
        let parts = all.div_ceil(max_points);
        let target = all * (parts / 2) / parts;
        let mut low_count = 0;
        let mut cut = 0;
        while cut + 1 < planes.len() && (cut == 0 || low_count + planes[cut] / 2 < target) {
            low_count += planes[cut];
            cut += 1;
        }
        let middle = region[axis].start + cut;
        let (mut low, mut high) = (region.clone(), region);
        low[axis].end = middle;
        high[axis].start = middle;
        self.split(counts, low, max_points);
        self.split(counts, high, max_points);
    }

    /// Makes tiles of the cells of a region.
    fn assign(&mut self, region: &[Range<usize>; 3], tiles: u32) {
        let first = self.shared.len() as u32;
        self.shared.extend((0..tiles).map(|_| tiles));
        let [xs, ys, zs] = region;
        for z in zs.clone() {
            for y in ys.clone() {
                let row = (z * self.grid.cells[1] + y) * self.grid.cells[0];
                self.first[row + xs.start..row + xs.end].fill(first);
            }
        }
    }

    /// Returns the number of tiles.
    pub(crate) fn len(&self) -> usize {
        self.shared.len()
    }

    /// Returns the tile of a point of the input.
    pub(crate) fn of(&self, at: [f64; 3], row: u64) -> usize {
        let first = self.first[self.grid.cell(at)];
        match self.shared[first as usize] {
            1 => first as usize,
            shared => first as usize + (row % u64::from(shared)) as usize,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn tiles(points: &[[f64; 3]], max_points: u64) -> Vec<usize> {
        let mut ends = [[f64::INFINITY; 3], [f64::NEG_INFINITY; 3]];
        for at in points {
            for axis in 0..3 {
                ends[0][axis] = ends[0][axis].min(at[axis]);
                ends[1][axis] = ends[1][axis].max(at[axis]);
            }
        }
        let grid = Grid::over(ends);
        let counts = Counts::from(vec![0; grid.len()]);
        points.iter().for_each(|&at| counts.add(grid.cell(at)));
        let tiles = Tiles::choose(grid, &counts.finish(), max_points);
        let mut sizes = vec![0; tiles.len()];
        points.iter().enumerate().for_each(|(row, &at)| sizes[tiles.of(at, row as u64)] += 1);
        sizes
    }

    #[test]
    fn tiles_are_even_and_not_too_large() {
        let room = farpoint_generate::room(100_000, 3);
        let room: Vec<[f64; 3]> = room.into_iter().map(|at| at.map(f64::from)).collect();
        for max_points in [200_000, 50_000, 10_000, 1_000] {
            let sizes = tiles(&room, max_points);
            assert_eq!(sizes.iter().sum::<usize>(), room.len());
            assert!(sizes.iter().all(|&n| n as u64 <= max_points), "{max_points}: {sizes:?}");
            assert!(
                sizes.len() as u64 <= 3 * 100_000u64.div_ceil(max_points),
                "{max_points}: {}",
                sizes.len()
            );
        }
    }

    #[test]
    fn points_at_one_place_are_shared_out() {
        assert_eq!(tiles(&[[3.0, 4.0, 5.0]; 100], 30), [25; 4]);
        let line: Vec<[f64; 3]> = (0..100).map(|k| [f64::from(k), 0.0, 0.0]).collect();
        assert!(tiles(&line, 30).iter().all(|&n| n <= 30));
        let dense: Vec<[f64; 3]> =
            (0..100).map(|k| [if k == 7 { 1e9 } else { 0.001 }; 3]).collect();
        assert!(tiles(&dense, 20).iter().all(|&n| n <= 20));
    }

    #[test]
    fn points_outside_are_at_the_border() {
        let grid = Grid::over([[0.0; 3], [1.0; 3]]);
        let inside = [[0.0; 3], [1.0; 3]].map(|at| grid.cell(at));
        assert_eq!([[-5.0; 3], [9e30; 3]].map(|at| grid.cell(at)), inside);
        assert!(grid.cell([f64::NAN; 3]) < grid.len());
    }
}
