//! One point, or the centroid, of every occupied cell of a grid: [`crate::VoxelGrid`] behind the interface of
//! approximate samplers, and a search of the cell size for a count.
//!
//! Cells of a given size are counted from 0, so that clouds share them. For a count they are counted from the lowest
//! corner of the cloud: the size is this cloud's alone, and from 0 no size puts a cloud around it in one cell.

mod search;

use super::watch::Watch;
use super::{ApproximateSample, Details, Keep, Method};
use crate::cloud::WorkingCopy;
use crate::voxels::groups::Groups;
use crate::voxels::keys::Keys;
use crate::voxels::numbering;
use crate::voxels::prepared::{Found, Prepared};
use crate::{Error, Level, Origin, Points, Scalar, VoxelGrid, memory};

/// Centroids of cells, which are not points of the cloud, and the number of points in each. Can be used
/// as [`Points`].
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct Centroids<T> {
    /// Coordinates, `dims` for each centroid, in the order of the cells' first points.
    pub coordinates: Vec<T>,
    /// Number of coordinates of a centroid.
    pub dims: usize,
    /// Number of points in each cell.
    pub counts: Vec<u32>,
    /// Centroid of each input row; [`crate::Voxels::NONE`] of those left out.
    pub inverse: Vec<u32>,
    /// The cell size; 0 if every distinct position had to be kept.
    pub cell: f64,
    /// Number of rows left out because they hold NaN or infinity.
    pub dropped: usize,
}

impl<T: Scalar> Points<T> for Centroids<T> {
    fn len(&self) -> usize {
        self.counts.len()
    }
    fn dim(&self) -> usize {
        self.dims
    }
    #[inline(always)]
    fn coordinate(&self, index: usize, axis: usize) -> T {
        self.coordinates[index * self.dims + axis]
    }
}

/// A grid over a cloud, of one cell size after another.
pub(super) struct Grid<'a, T> {
    cloud: Prepared<T>,
    /// Cell size that is given.
    given: Option<f64>,
    level: Level,
    threads: usize,
    watch: Watch<'a>,
}

impl<'a, T: Scalar> Grid<'a, T> {
    /// Creates a grid of the cell size that is given, if one is.
    pub(super) fn new(
        (cloud, points): (WorkingCopy<T>, &dyn Points<T>),
        given: Option<f64>,
        (level, threads): (Level, usize),
        watch: Watch<'a>,
    ) -> Result<Self, Error> {
        let job = match given {
            Some(cell) => VoxelGrid::new(cell),
            None => VoxelGrid::new(1.0).origin(Origin::Min),
        };
        let mut cloud = Prepared::unfitted(&job, cloud, points.dim(), points.len())?;
        if given.is_some() {
            cloud.fit()?;
        }
        Ok(Self { cloud, given, level, threads, watch })
    }

    /// Takes one point of each cell, or exactly `count` points, ascending.
    pub(super) fn sample(mut self, count: usize, keep: Keep) -> Result<ApproximateSample, Error> {
        let cell = match self.given {
            Some(cell) => cell,
            None => self.find(count)?.above,
        };
        let (keys, groups) = self.groups(cell)?;
        let cells = groups.counts.len();
        let kept = match keep {
            Keep::Center if cell > 0.0 => groups.nearest_to_center(&self.cloud),
            Keep::First | Keep::Center => groups.first,
            Keep::Random(seed) => {
                let numbers = keys.cells(&self.cloud, &groups.first);
                groups.random(seed, &numbers, numbers.len() / cells.max(1))
            }
        };
        let points = groups.of.len();
        let mut kept = if self.given.is_some() { kept } else { exactly(kept, count, points) };
        kept.sort_unstable();
        let kept = memory::collected(kept.into_iter().map(|point| self.cloud.row(point)));
        let (method, details) = (Method::Grid { keep }, Details::Grid { cell, cells });
        Ok(ApproximateSample { indices: kept, method, details, dropped: 0 })
    }

    /// Computes the centroids of the cells, or at most `count`.
    pub(super) fn centroids(mut self, count: usize) -> Result<Centroids<T>, Error> {
        let cell = match self.given {
            Some(cell) => cell,
            None => self.find(count)?.below,
        };
        let (_, groups) = self.groups(cell)?;
        let coordinates = groups.means(&self.cloud, self.threads);
        let Groups { of, counts, .. } = groups;
        let (chosen, cells) = (Vec::new(), Vec::new());
        let found = self.cloud.voxels(Found { of, counts, chosen, coordinates, cells });
        let crate::Voxels { inverse, counts, coordinates, dims, dropped, .. } = found;
        Ok(Centroids { coordinates, dims, counts, inverse, cell, dropped })
    }

    /// Returns the points by cell of a size, or by position if it is 0.
    fn groups(&mut self, size: f64) -> Result<(Keys, Groups), Error> {
        // Fails for a cloud alone whose extent overflows.
        if size > 0.0 && !self.cloud.resize(size) {
            self.cloud.fit()?;
        }
        let keys = self.keys(size);
        let same = |a, b| keys.same(&self.cloud, a, b);
        let groups = Groups::new(numbering::number(&keys.all, same, self.threads));
        self.watch.pass(self.cloud.points())?;
        Ok((keys, groups))
    }

    /// Counts the occupied cells of a size, or the distinct positions if it is 0; `None` if cells do not fit in 32 bits.
    fn count(&mut self, size: f64) -> Result<Option<usize>, Error> {
        if size > 0.0 && !self.cloud.resize(size) {
            return Ok(None);
        }
        let keys = self.keys(size);
        let same = |a, b| keys.same(&self.cloud, a, b);
        let count = numbering::count(&keys.all, same, self.threads);
        self.watch.pass(self.cloud.points())?;
        Ok(Some(count))
    }

    fn keys(&self, size: f64) -> Keys {
        match size > 0.0 {
            true => Keys::new(&self.cloud, self.level, self.threads),
            false => Keys::of_positions(&self.cloud, self.threads),
        }
    }
}

/// Takes `count` of the kept points at even intervals in the order of rows; if there are fewer, adds the points of
/// lowest rows that are not kept.
fn exactly(mut kept: Vec<u32>, count: usize, points: usize) -> Vec<u32> {
    if kept.len() >= count {
        kept.sort_unstable();
        let place = |k| (k * kept.len() as u64 / count as u64) as usize;
        return memory::collected((0..count as u64).map(|k| kept[place(k)]));
    }
    let mut is_kept = memory::zeros(points);
    kept.iter().for_each(|&point| is_kept[point as usize] = true);
    let free = (0..points as u32).filter(|&point| !is_kept[point as usize]);
    let more = count - kept.len();
    memory::extend(&mut kept, free.take(more));
    kept
}
