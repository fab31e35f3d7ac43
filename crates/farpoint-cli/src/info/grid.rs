//! The grid over the ground of which occupied cells are counted.

/// Occupied cells of a grid through the origin.
pub(super) struct Grid {
    /// Power of two of the edge of a cell.
    pub(super) level: i32,
    /// Places and numbers of points, sorted.
    pub(super) cells: Vec<([i32; 2], u64)>,
}

impl Grid {
    pub(super) fn new(level: i32, mut cells: Vec<([i32; 2], u64)>) -> Self {
        cells.sort_by_key(|(place, _)| *place);
        cells.dedup_by(|one, before| {
            let same = one.0 == before.0;
            before.1 += if same { one.1 } else { 0 };
            same
        });
        Self { level, cells }
    }

    /// Joins cells to those of a level.
    pub(super) fn join(&mut self, level: i32) {
        while self.level < level {
            self.cells.iter_mut().for_each(|(place, _)| *place = place.map(|k| k >> 1));
            *self = Self::new(self.level + 1, std::mem::take(&mut self.cells));
        }
    }

    pub(super) fn cell(&self) -> f64 {
        f64::from(self.level).exp2()
    }

    pub(super) fn area(&self) -> f64 {
        self.cells.len() as f64 * self.cell() * self.cell()
    }

    /// Returns the lowest cell of the rectangle around all, and the number of cells each way.
    pub(super) fn rectangle(&self) -> ([i32; 2], [usize; 2]) {
        let along = |axis: usize| self.cells.iter().map(move |(place, _)| place[axis]);
        let low = [0, 1].map(|axis| along(axis).min().unwrap_or(0));
        let high = [0, 1].map(|axis| along(axis).max().unwrap_or(0));
        (low, [0, 1].map(|axis| (i64::from(high[axis]) - i64::from(low[axis])) as usize + 1))
    }
}
