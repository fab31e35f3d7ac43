//! A checked job with its cloud, from which every device starts, and what it hands back.

use crate::cloud::WorkingCopy;
use crate::memory;
use crate::points::erased;
use crate::random::SplitMix64;
use crate::scalar::{compiled_once, extremes};
use crate::threads::{self, on_threads};
use crate::unwind::caught;
use crate::{Error, Points, Scalar, VoxelGrid, Voxels};
use std::ops::RangeInclusive;

/// Clouds of fewer points are handled by one thread: waking others would take longer.
pub(super) const SMALL: usize = 1 << 15;

/// A cloud without its non-finite rows, and a grid whose cells fit in 32 bits on every axis.
pub struct Prepared<T> {
    pub(super) cloud: WorkingCopy<T>,
    dims: usize,
    input_rows: usize,
    size: Vec<T>,
    origin: Vec<T>,
    /// Lowest and highest coordinate of each axis.
    ends: Vec<(T, T)>,
    cells: Vec<RangeInclusive<i32>>,
}

/// Voxels of the points of a [`Prepared`] cloud.
pub struct Found<T> {
    /// Voxel of each point; [`Voxels::NONE`] if it is in none.
    pub of: Vec<u32>,
    /// Number of points of each voxel.
    pub counts: Vec<u32>,
    /// Point that stands for each voxel.
    pub chosen: Vec<u32>,
    /// Coordinates of each voxel, one voxel after another.
    pub coordinates: Vec<T>,
    /// Cells of each voxel, one voxel after another.
    pub cells: Vec<i32>,
}

compiled_once! {
    fn prepare<'a, T: Scalar>(
        job: &'a VoxelGrid,
        points: &'a dyn Points<T>,
    ) -> Result<Prepared<T>, Error> {
        let threads = threads::count_for(points.len() >= SMALL, None)?;
        caught(|| on_threads(threads, || Prepared::with_threads(threads, job, points)))
    }
}

compiled_once! {
    fn prepare_each<'a, T: Scalar>(
        job: &'a VoxelGrid,
        clouds: &'a [&'a dyn Points<T>],
    ) -> Result<Vec<Prepared<T>>, Error> {
        let sizes = memory::collected(clouds.iter().map(|cloud| cloud.len()));
        threads::spread(&sizes, SMALL, None, |cloud, threads| {
            on_threads(threads, || Prepared::with_threads(threads, job, clouds[cloud]))
        })
    }
}

impl<T: Scalar> Prepared<T> {
    /// Copies and checks a cloud, as [`VoxelGrid::downsample`] does.
    ///
    /// # Errors
    /// As [`VoxelGrid::downsample`].
    pub fn new<P: Points<T> + ?Sized>(job: &VoxelGrid, points: &P) -> Result<Self, Error> {
        prepare(job, &points)
    }

    /// Copies and checks each cloud of a batch; the error names the first cloud at fault.
    ///
    /// # Errors
    /// As [`VoxelGrid::downsample_batch`].
    pub fn batch<P: Points<T>>(job: &VoxelGrid, clouds: &[P]) -> Result<Vec<Self>, Error> {
        prepare_each(job, &erased(clouds))
    }

    pub(super) fn with_threads(
        threads: usize,
        job: &VoxelGrid,
        points: &dyn Points<T>,
    ) -> Result<Self, Error> {
        job.check()?;
        let cloud = WorkingCopy::new(points, job.non_finite, threads)?;
        let mut prepared = Self::unfitted(job, cloud, points.dim(), points.len())?;
        prepared.fit()?;
        Ok(prepared)
    }

    /// Like [`Prepared::new`], of a copied cloud of `input_rows` rows, without cells.
    pub(crate) fn unfitted(
        job: &VoxelGrid,
        cloud: WorkingCopy<T>,
        dims: usize,
        input_rows: usize,
    ) -> Result<Self, Error> {
        let (size, origin) = job.on_axes(dims)?;
        let ends = |axis: usize| match cloud.low.get(axis).zip(cloud.high.get(axis)) {
            Some((low, high)) => (*low, *high),
            None => extremes(&cloud.axes[axis][..cloud.len]).unwrap_or_default(),
        };
        let ends: Vec<(T, T)> = (0..dims).map(ends).collect();
        // Adding 0 takes the sign from -0.
        let origin = origin.unwrap_or_else(|| ends.iter().map(|ends| ends.0 + T::ZERO).collect());
        Ok(Self { cloud, dims, input_rows, size, origin, ends, cells: Vec::new() })
    }

    /// Finds the lowest and highest cell of each axis.
    pub(crate) fn fit(&mut self) -> Result<(), Error> {
        self.cells.clear();
        for axis in 0..self.dims {
            // No step of a cell's formula falls as the coordinate rises, so all cells lie between these two.
            let (low, high) = self.ends[axis];
            match [low, high].map(|x| self.cell(axis, x)) {
                [Some(low), Some(high)] => self.cells.push(low..=high),
                // No point is out of range: a cloud without points may have any origin.
                _ if self.cloud.len == 0 => self.cells.push(0..=0),
                _ => return Err(self.out_of_range(axis)),
            }
        }
        Ok(())
    }

    /// Sets the edge length of all axes; returns whether the cells fit in 32 bits.
    pub(crate) fn resize(&mut self, size: f64) -> bool {
        let size = T::from_f64(size);
        self.size.fill(size);
        size > T::ZERO && size.is_finite() && self.fit().is_ok()
    }

    /// Returns the length of the longest side of the box around the cloud.
    pub(crate) fn longest(&self) -> f64 {
        let side = |(low, high): &(T, T)| high.to_f64() - low.to_f64();
        self.ends.iter().map(side).fold(0.0, f64::max)
    }

    /// Returns the number of remaining points.
    pub fn points(&self) -> usize {
        self.cloud.len
    }

    /// Returns the input row of a point.
    pub(crate) fn row(&self, point: u32) -> usize {
        self.cloud.row(point)
    }

    /// Returns the number of coordinates of a point.
    pub fn dims(&self) -> usize {
        self.dims
    }

    /// Returns all points' coordinates on one axis.
    pub fn axis(&self, axis: usize) -> &[T] {
        &self.cloud.axes[axis][..self.cloud.len]
    }

    /// Returns the edge length of a voxel along an axis.
    pub fn size(&self, axis: usize) -> T {
        self.size[axis]
    }

    /// Returns the origin on an axis.
    pub fn origin(&self, axis: usize) -> T {
        self.origin[axis]
    }

    /// Returns the lowest and the highest cell of the points along an axis.
    pub fn cells(&self, axis: usize) -> RangeInclusive<i32> {
        self.cells[axis].clone()
    }

    /// Returns the coordinates of these points, one point after another.
    pub(super) fn coordinates(&self, points: &[u32]) -> Vec<T> {
        let mut coordinates = memory::zeros(points.len() * self.dims);
        for (row, &point) in coordinates.chunks_exact_mut(self.dims.max(1)).zip(points) {
            for (value, values) in row.iter_mut().zip(&self.cloud.axes) {
                *value = values[point as usize];
            }
        }
        coordinates
    }

    /// Returns the quotient whose floor is the cell of a coordinate.
    #[inline(always)]
    fn quotient(&self, axis: usize, x: T) -> T {
        (x - self.origin[axis]) / self.size[axis]
    }

    /// Returns the cell of a coordinate; `None` if it does not fit in 32 bits.
    fn cell(&self, axis: usize, x: T) -> Option<i32> {
        let cell = self.quotient(axis, x).to_f64().floor();
        (f64::from(i32::MIN)..=f64::from(i32::MAX)).contains(&cell).then_some(cell as i32)
    }

    /// Returns the cell of a point along an axis, and the quotient whose floor it is.
    #[inline(always)]
    pub(super) fn cell_at(&self, axis: usize, point: usize) -> (i32, T) {
        let q = self.quotient(axis, self.cloud.axes[axis][point]);
        // SAFETY: the quotient lies between those of the axis's ends, whose floors fit.
        (unsafe { q.floor_to_i32() }, q)
    }

    /// Returns the error for the first row whose cell on this axis does not fit in 32 bits.
    fn out_of_range(&self, axis: usize) -> Error {
        let at = self.axis(axis).iter().position(|&x| self.cell(axis, x).is_none()).unwrap_or(0);
        Error::VoxelOutOfRange {
            axis,
            row: self.row(at as u32),
            coordinate: self.axis(axis)[at].to_f64(),
            size: self.size[axis].to_f64(),
            origin: self.origin[axis].to_f64(),
        }
    }

    /// Returns voxels of points as voxels of the input's rows.
    pub fn voxels(self, found: Found<T>) -> Voxels<T> {
        let Found { of, counts, chosen, coordinates, cells } = found;
        let dropped = self.input_rows - self.cloud.len;
        let inverse = match dropped {
            0 => of,
            _ => {
                let mut inverse = memory::filled(self.input_rows, Voxels::<T>::NONE);
                (0..).zip(of).for_each(|(point, voxel)| inverse[self.cloud.place(point)] = voxel);
                inverse
            }
        };
        let rows = memory::collected(chosen.iter().map(|&point| self.row(point) as u32));
        let (dims, origin) = (self.dims, self.origin);
        Voxels { inverse, counts, rows, coordinates, cells, dims, origin, dropped }
    }
}

/// Returns the place of the random point among the `count` points of a voxel, ascending by row: the first number below
/// `count` of the generator seeded by the hash of the cell, which begins as the seed and becomes, for each number
/// `c` of the cell, the first of the generator seeded by `hash ^ (c as u32)`.
pub fn random_place(seed: u64, cell: &[i32], count: u32) -> u32 {
    let mixed = |hash: u64, &c: &i32| SplitMix64::new(hash ^ u64::from(c as u32)).next_u64();
    SplitMix64::new(cell.iter().fold(seed, mixed)).below(u64::from(count)) as u32
}
