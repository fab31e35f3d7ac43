//! Options of voxel downsampling.

use super::NonFinite;
use crate::{Error, Scalar};

/// Downsampling by voxels: the points of each occupied cell of a grid become one.
///
/// ```
/// use farpoint::{Reduce, VoxelGrid};
///
/// let line = [[0.1f32], [0.9], [-0.5], [0.2], [7.0]];
/// let voxels = VoxelGrid::new(1.0).downsample(&line)?;
/// assert_eq!(voxels.inverse, [0, 0, 1, 0, 2]); // numbered in the order of their first rows
/// assert_eq!(voxels.counts, [3, 1, 1]);
/// assert_eq!(voxels.coordinates, [0.4, -0.5, 7.0]); // means
///
/// let first = VoxelGrid::new(1.0).reduce(Reduce::First).sorted(true).downsample(&line)?;
/// assert_eq!(first.rows, [2, 0, 4]);
/// # Ok::<(), farpoint::Error>(())
/// ```
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct VoxelGrid {
    /// Edge lengths of a voxel: one for all axes, or one for each.
    pub size: Vec<f64>,
    /// A corner of a voxel, from which all others follow.
    pub origin: Origin,
    /// Point that represents a voxel: the mean of its points, or one of them.
    pub reduce: Reduce,
    /// True if voxels are numbered by cell, the first axis counting most; else in the order of their first rows.
    pub sorted: bool,
    /// Voxels of fewer points are left out.
    pub min_points: u32,
    /// Treatment of NaN and infinity.
    pub non_finite: NonFinite,
}

/// Origin of a [`VoxelGrid`].
#[derive(Debug, Clone, PartialEq, Default)]
#[non_exhaustive]
pub enum Origin {
    /// Zero on every axis, so that clouds share their voxels.
    #[default]
    Zero,
    /// The smallest coordinate of each axis.
    Min,
    /// A point.
    At(Vec<f64>),
}

/// Point that stands for those of a voxel.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
#[non_exhaustive]
pub enum Reduce {
    /// Their mean, which is none of them in general.
    #[default]
    Mean,
    /// The one of the lowest row.
    First,
    /// The one nearest to the voxel's center, the lowest row among equals.
    Center,
    /// A random one, drawn by this seed and the voxel's cell.
    Random(u64),
}

impl VoxelGrid {
    /// Creates a grid of voxels with this edge length.
    pub fn new(size: f64) -> Self {
        Self::per_axis([size])
    }

    /// Creates a grid of voxels with an edge length for each axis.
    pub fn per_axis(size: impl Into<Vec<f64>>) -> Self {
        Self {
            size: size.into(),
            origin: Origin::default(),
            reduce: Reduce::default(),
            sorted: false,
            min_points: 1,
            non_finite: NonFinite::default(),
        }
    }

    /// Sets the origin; zero by default.
    pub fn origin(self, origin: Origin) -> Self {
        Self { origin, ..self }
    }

    /// Sets what becomes of the points of a voxel; their mean by default.
    pub fn reduce(self, reduce: Reduce) -> Self {
        Self { reduce, ..self }
    }

    /// Sets whether voxels are numbered by cell; by default they are in the order of their first rows.
    pub fn sorted(self, sorted: bool) -> Self {
        Self { sorted, ..self }
    }

    /// Leaves out voxels of fewer points, as outliers; none by default.
    pub fn min_points(self, min_points: u32) -> Self {
        Self { min_points, ..self }
    }

    /// Sets the treatment of NaN and infinity; an error by default. Rows left out are in no voxel.
    pub fn non_finite(self, non_finite: NonFinite) -> Self {
        Self { non_finite, ..self }
    }

    /// Rejects options that are invalid for every cloud. Every device calls it.
    ///
    /// # Errors
    /// [`Error::BadVoxelSize`], and [`Error::BadOption`] for an origin that is not finite.
    pub fn check(&self) -> Result<(), Error> {
        self.rounded::<f64>().map(|_| ())
    }

    /// Returns edge length and origin of each of `dims` axes, rounded to the precision of the points. The origin is
    /// `None` if it is [`Origin::Min`].
    ///
    /// # Errors
    /// As [`VoxelGrid::check`], and if there are not as many numbers as axes.
    pub fn on_axes<T: Scalar>(&self, dims: usize) -> Result<(Vec<T>, Option<Vec<T>>), Error> {
        let (mut size, mut origin) = self.rounded()?;
        if size.len() == 1 {
            size.resize(dims, size[0]);
        }
        if self.origin == Origin::Zero {
            origin = Some(vec![T::ZERO; dims]);
        }
        let lengths =
            [("voxel sizes", Some(&size)), ("coordinates of the origin", origin.as_ref())];
        for (what, numbers) in lengths {
            if let Some(numbers) = numbers.filter(|numbers| numbers.len() != dims) {
                let found = numbers.len();
                return Err(Error::Shape(format!("{found} {what} for points of {dims} axes")));
            }
        }
        Ok((size, origin))
    }

    /// Returns sizes and origin, rounded and checked; no number for an origin that needs none.
    fn rounded<T: Scalar>(&self) -> Result<(Vec<T>, Option<Vec<T>>), Error> {
        let size: Vec<T> = self.size.iter().map(|&size| T::from_f64(size)).collect();
        if let Some(axis) = size.iter().position(|&size| !(size > T::ZERO && size.is_finite())) {
            return Err(Error::BadVoxelSize { axis, size: self.size[axis] });
        }
        let origin: Option<Vec<T>> = match &self.origin {
            Origin::At(origin) => Some(origin.iter().map(|&x| T::from_f64(x)).collect()),
            Origin::Zero | Origin::Min => None,
        };
        match origin.iter().flatten().find(|x| !x.is_finite()) {
            None => Ok((size, origin)),
            Some(x) => Err(Error::BadOption {
                name: "origin",
                value: x.to_string(),
                range: "the finite numbers",
            }),
        }
    }
}
