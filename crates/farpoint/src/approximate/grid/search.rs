//! Search for the cell size with a given number of occupied cells.

use super::Grid;
use crate::{Error, Scalar};

/// Maximum number of cell sizes tried between one that leaves enough points and twice that.
const TRIES: usize = 24;

/// Relative excess of cells that ends the search.
const TOLERANCE: f64 = 1e-3;

/// A cell size, 0 for a cell for every distinct position, and its number of occupied cells.
#[derive(Clone, Copy)]
struct Candidate {
    size: f64,
    cells: usize,
}

/// Cell sizes found by the search.
pub(super) struct Found {
    /// Size with the fewest cells of at least the requested number; with fewer only if there cannot be
    /// more.
    pub(super) above: f64,
    /// Size with the most cells of at most the requested number.
    pub(super) below: f64,
}

/// State of the search: the best sizes so far on either side of the count.
struct Search<'a, 'b, T> {
    grid: &'a mut Grid<'b, T>,
    count: usize,
    above: Candidate,
    below: Candidate,
}

impl<T: Scalar> Grid<'_, T> {
    /// Searches for the cell size with `count` occupied cells, at least one.
    pub(super) fn find(&mut self, count: usize) -> Result<Found, Error> {
        let all = Candidate { size: 0.0, cells: self.count(0.0)?.unwrap_or(0) };
        if all.cells <= count {
            return Ok(Found { above: 0.0, below: 0.0 });
        }
        let one = Candidate { size: self.cloud.longest() * 2.0, cells: 1 };
        if count == 1 {
            // The extent of a cloud may overflow.
            let above = if self.cloud.resize(one.size) { one.size } else { 0.0 };
            return Ok(Found { above, below: one.size });
        }
        let mut search = Search { grid: self, count, above: all, below: one };
        search.run()?;
        Ok(Found { above: search.above.size, below: search.below.size })
    }
}

impl<T: Scalar> Search<'_, '_, T> {
    fn run(&mut self) -> Result<(), Error> {
        // From one cell down to sizes that leave enough points, or are too small for cells of 32 bits.
        let mut high = self.below.size;
        let mut size = 0.5 * high / (self.count as f64).sqrt();
        let mut low = loop {
            let Some(candidate) = self.try_size(size)? else { return Ok(()) };
            if candidate.cells >= self.count {
                break candidate;
            }
            high = size;
            size /= 2.0;
        };
        if high > 2.0 * low.size {
            low = self.coarsen(low)?;
            high = 2.0 * low.size;
        }
        self.narrow(low, high)
    }

    /// Doubles a size that leaves enough points while it does.
    fn coarsen(&mut self, mut found: Candidate) -> Result<Candidate, Error> {
        while let Some(next) = self.cells(2.0 * found.size)?
            && next.cells >= self.count
        {
            found = next;
        }
        self.keep_if_better(found);
        Ok(found)
    }

    /// Tries sizes between one that leaves enough points and one that does not.
    fn narrow(&mut self, mut low: Candidate, mut high: f64) -> Result<(), Error> {
        for attempt in 0..TRIES {
            if self.above.cells as f64 <= (1.0 + TOLERANCE) * self.count as f64 {
                break;
            }
            // On a surface there are as many cells as their square is small; half way every other
            // time, in case it is none.
            let guess = low.size * (low.cells as f64 / self.count as f64).sqrt();
            let margin = 0.02 * (high - low.size);
            let half_way = 0.5 * (low.size + high);
            let middle = match attempt % 2 {
                0 => guess.clamp(low.size + margin, high - margin),
                _ => half_way,
            };
            let Some(candidate) = self.try_size(middle)? else { break };
            if candidate.cells >= self.count {
                low = candidate;
            } else {
                high = middle;
            }
        }
        Ok(())
    }

    /// Returns the number of cells of a size; `None` if they do not fit in 32 bits.
    fn try_size(&mut self, size: f64) -> Result<Option<Candidate>, Error> {
        let candidate = self.cells(size)?;
        candidate.into_iter().for_each(|candidate| self.keep_if_better(candidate));
        Ok(candidate)
    }

    fn cells(&mut self, size: f64) -> Result<Option<Candidate>, Error> {
        Ok(self.grid.count(size)?.map(|cells| Candidate { size, cells }))
    }

    /// Keeps a size if it is nearer to the count than the best on its side.
    fn keep_if_better(&mut self, candidate: Candidate) {
        if candidate.cells == self.count
            || (self.below.cells < candidate.cells && candidate.cells < self.count)
        {
            self.below = candidate;
        }
        if self.count <= candidate.cells && candidate.cells < self.above.cells {
            self.above = candidate;
        }
    }
}
