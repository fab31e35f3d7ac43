//! Search for the cell size with a given number of occupied cells.

use super::cells;
use crate::approximate::frame::Frame;
use crate::approximate::work::Run;
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
struct Search<'a, 'b, 'c, 'd, T> {
    run: &'a mut Run<'b, 'c, T>,
    frame: &'a Frame<'d, T>,
    count: usize,
    above: Candidate,
    below: Candidate,
}

/// Searches for the cell size with `count` occupied cells, at least one.
pub(super) fn find<T: Scalar>(
    run: &mut Run<'_, '_, T>,
    frame: &Frame<'_, T>,
    count: usize,
) -> Result<Found, Error> {
    let all = Candidate { size: 0.0, cells: cells::count(run, frame, 0.0)? };
    if all.cells <= count {
        return Ok(Found { above: 0.0, below: 0.0 });
    }
    let size = frame.longest() * 2.0;
    let one = Candidate { size: if size > 0.0 { size } else { 1.0 }, cells: 1 };
    if count == 1 {
        return Ok(Found { above: one.size, below: one.size });
    }
    let mut search = Search { run, frame, count, above: all, below: one };
    search.run()?;
    Ok(Found { above: search.above.size, below: search.below.size })
}

impl<T: Scalar> Search<'_, '_, '_, '_, T> {
    fn run(&mut self) -> Result<(), Error> {
        // From one cell down to sizes that leave enough points.
        let mut high = self.below.size;
        let mut size = self.frame.longest() / (self.count as f64).sqrt();
        let mut low = loop {
            if size < f64::MIN_POSITIVE {
                return Ok(());
            }
            let candidate = self.try_size(size)?;
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
        loop {
            let next = self.cells(2.0 * found.size)?;
            if next.cells < self.count {
                self.keep_if_better(found);
                return Ok(found);
            }
            found = next;
        }
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
            let candidate = self.try_size(middle)?;
            if candidate.cells >= self.count {
                low = candidate;
            } else {
                high = middle;
            }
        }
        Ok(())
    }

    fn try_size(&mut self, size: f64) -> Result<Candidate, Error> {
        let candidate = self.cells(size)?;
        self.keep_if_better(candidate);
        Ok(candidate)
    }

    fn cells(&mut self, size: f64) -> Result<Candidate, Error> {
        Ok(Candidate { size, cells: cells::count(self.run, self.frame, size)? })
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
