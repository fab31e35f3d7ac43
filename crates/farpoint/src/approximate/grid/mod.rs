//! One point, or the centroid, of every occupied cell of a cubic grid.
//!
//! Cells are `floor((p - low) / cell)` along each axis, computed in double precision: never
//! rounded towards zero, which would double the cells around it. O(points) for a cell size, and
//! some ten times that to find one.

mod cells;
mod centroids;
mod search;

pub use centroids::Centroids;
pub(super) use centroids::{centroids_by_cell, centroids_by_count};

use super::frame::Frame;
use super::work::Run;
use super::{Details, Keep};
use crate::memory;
use crate::random::SplitMix64;
use crate::{Error, Scalar};
use cells::Cells;

/// Takes one point of each cell, ascending; also returns the grid's details.
pub(super) fn by_cell<T: Scalar>(
    run: &mut Run<'_, '_, T>,
    cell: f64,
    keep: Keep,
) -> Result<(Vec<u32>, Details), Error> {
    let frame = Frame::new(run.cloud);
    let cells = Cells::new(run, &frame, cell * frame.unit)?;
    let mut kept = cells.keep(&frame, keep);
    kept.sort_unstable();
    Ok((kept, Details::Grid { cell, cells: cells.count }))
}

/// Takes exactly `count` points, ascending; also returns the grid's details.
pub(super) fn by_count<T: Scalar>(
    run: &mut Run<'_, '_, T>,
    count: usize,
    keep: Keep,
) -> Result<(Vec<u32>, Details), Error> {
    let frame = Frame::new(run.cloud);
    let size = search::find(run, &frame, count)?.above;
    let cells = Cells::new(run, &frame, size)?;
    let mut kept = cells.keep(&frame, keep);
    let details = Details::Grid { cell: size / frame.unit, cells: cells.count };
    let mut chosen: Vec<u32> = if kept.len() >= count {
        kept.sort_unstable();
        let kept = |k| kept[(k * kept.len() as u64 / count as u64) as usize];
        memory::collected((0..count as u64).map(kept))
    } else {
        filled(kept, count, run.cloud.len)
    };
    chosen.sort_unstable();
    Ok((chosen, details))
}

/// Adds the points of lowest index that are not kept, up to `count` in all.
fn filled(mut kept: Vec<u32>, count: usize, points: usize) -> Vec<u32> {
    let mut is_kept = memory::zeros(points);
    kept.iter().for_each(|&point| is_kept[point as usize] = true);
    let free = (0..points as u32).filter(|&point| !is_kept[point as usize]);
    let more = count - kept.len();
    memory::extend(&mut kept, free.take(more));
    kept
}

impl Cells {
    /// Returns the kept point of every cell, in the order of cells.
    fn keep<T: Scalar>(&self, frame: &Frame<'_, T>, keep: Keep) -> Vec<u32> {
        let mut kept = memory::filled(self.count, u32::MAX);
        match keep {
            Keep::Center if self.size > 0.0 => return self.nearest_to_center(frame),
            Keep::First | Keep::Center => {
                for (point, &cell) in self.of.iter().enumerate().rev() {
                    kept[cell as usize] = point as u32;
                }
            }
            Keep::Random(seed) => {
                let mut random = SplitMix64::new(seed);
                // Number of points of the cell to pass over.
                let mut skips: Vec<u64> =
                    memory::collected(self.counts().iter().map(|&n| random.below(u64::from(n))));
                for (point, &cell) in self.of.iter().enumerate() {
                    let (skips, kept) = (&mut skips[cell as usize], &mut kept[cell as usize]);
                    if *skips == 0 && *kept == u32::MAX {
                        *kept = point as u32;
                    }
                    *skips = skips.saturating_sub(1);
                }
            }
        }
        kept
    }

    fn nearest_to_center<T: Scalar>(&self, frame: &Frame<'_, T>) -> Vec<u32> {
        let mut best = memory::filled(self.count, (f64::INFINITY, u32::MAX));
        for (point, &cell) in self.of.iter().enumerate() {
            let distance = (0..frame.dims()).fold(0.0, |sum, axis| {
                let at = frame.at(point, axis);
                // Relative to the cell, so that squares do not overflow.
                let off = at / self.size - (at / self.size).floor() - 0.5;
                // If quotients overflow, so did the cell: all its points are as good.
                sum + if off.is_finite() { off * off } else { 0.0 }
            });
            let best = &mut best[cell as usize];
            if distance < best.0 || best.1 == u32::MAX {
                *best = (distance, point as u32);
            }
        }
        memory::collected(best.into_iter().map(|(_, point)| point))
    }
}
