//! Coordinates in C's memory.

use crate::arguments::{list, number};
use crate::constants::{FARPOINT_BYTE_SWAPPED, FARPOINT_FLOAT64, farpoint_scalar};
use crate::index::farpoint_index;
use crate::run::{Number, Precision};
use crate::status::{Failure, invalid};
use farpoint::{Index, Points, RawLayout, RawPoints, Selected, Subset};
use std::any::Any;
use std::ffi::c_void;
use std::mem::MaybeUninit;

/// A cloud: the layout of its coordinates. Nothing is copied, and nothing is kept after the call.
///
/// Coordinate `axis` of point `i` is the number at the address
/// `data + i * point_stride + axis * axis_stride`, or, with `axis_offsets`, at
/// `data + i * point_stride + axis_offsets[axis]`, all in bytes. Addresses need not be aligned.
/// farpoint_dense() describes an array without gaps. Other examples, for `float`:
///
/// | memory | point_stride | axis_stride | axis_offsets |
/// |---|---|---|---|
/// | `float xyz[n][3]` | 12 | 4 | NULL |
/// | `struct { float x, y, z, intensity; } points[n]` | 16 | 4 | NULL |
/// | `float x[n], y[n], z[n]` in one block | 4 | 4 * n | NULL |
/// | three arrays anywhere, `data` being the first | 4 | not used | the bytes from the first to each |
/// | from the last point to the first | negative | 4 | NULL |
#[repr(C)]
#[derive(Debug, Clone, Copy)]
pub struct farpoint_points {
    /// The first coordinate of the first point. May be NULL if `count` is 0.
    pub data: *const c_void,
    /// Number of points.
    pub count: usize,
    /// Coordinates of a point, at least 1.
    pub dimensions: usize,
    /// Bytes from a point to the next. May be negative; not 0, unless there is one point.
    pub point_stride: isize,
    /// Bytes from a coordinate to the next. May be negative; not 0, unless there is one coordinate.
    /// Ignored if there are `axis_offsets`.
    pub axis_stride: isize,
    /// `dimensions` numbers: offsets of the coordinates of a point, in bytes from the point. NULL to use
    /// `axis_stride`.
    pub axis_offsets: *const isize,
    /// The memory in which all coordinates must lie, if the library is to check that they do; NULL
    /// if not.
    pub buffer: *const c_void,
    /// Bytes of `buffer`.
    pub buffer_size: usize,
    /// FARPOINT_FLOAT32 or FARPOINT_FLOAT64.
    pub scalar: MaybeUninit<farpoint_scalar>,
    /// 0 or FARPOINT_BYTE_SWAPPED.
    pub flags: u32,
    /// The index whose points these are, if farpoint_index_points() made this description: of
    /// the other members only `count`, `dimensions` and `scalar` are then used, and must be the
    /// index's. NULL for coordinates in memory.
    pub index: *const farpoint_index,
}

/// Describes an array without gaps: coordinate `axis` of point `i` is number `i * dimensions + axis`.
///
/// @param data        the numbers, `count * dimensions` of them
/// @param count       number of points
/// @param dimensions  coordinates of a point
/// @param scalar      FARPOINT_FLOAT32 or FARPOINT_FLOAT64
/// @return the description of the array; errors in it are reported where it is used
#[unsafe(no_mangle)]
pub extern "C" fn farpoint_dense(
    data: *const c_void,
    count: usize,
    dimensions: usize,
    scalar: MaybeUninit<farpoint_scalar>,
) -> farpoint_points {
    let size: isize = if number(scalar) == FARPOINT_FLOAT64 as i32 { 8 } else { 4 };
    farpoint_points {
        data,
        count,
        dimensions,
        // Too many coordinates are refused where the points are used.
        point_stride: size.saturating_mul(dimensions.min(isize::MAX as usize) as isize),
        axis_stride: size,
        axis_offsets: std::ptr::null(),
        buffer: std::ptr::null(),
        buffer_size: 0,
        scalar,
        flags: 0,
        index: std::ptr::null(),
    }
}

impl farpoint_points {
    /// Describes the points of an index.
    pub(crate) fn of_index(index: &farpoint_index) -> Self {
        let (count, dimensions, precision) = index.shape();
        let scalar = MaybeUninit::new(precision.scalar());
        Self { index, ..farpoint_dense(std::ptr::null(), count, dimensions, scalar) }
    }

    /// Reads the cloud.
    ///
    /// # Safety
    /// For as long as `'a`, there are as many axis offsets as coordinates if there are any, what is
    /// described of the cloud, and of its buffer if there is one, is memory that can be read, and
    /// nobody writes it; the index is NULL or one that is not freed.
    ///
    /// # Errors
    /// If the description contradicts itself, or leads beyond memory or out of the buffer.
    pub(crate) unsafe fn read<'a, T: Number>(&'a self) -> Result<InputPoints<'a, T>, Failure> {
        // SAFETY: by this function's contract.
        match unsafe { self.index.as_ref() } {
            Some(index) => {
                let shape = (self.count, self.dimensions, self.precision()?);
                index.of_shape(shape).map(InputPoints::Index)
            }
            // SAFETY: by this function's contract.
            None => unsafe { self.in_memory() }.map(InputPoints::Raw),
        }
    }

    /// Returns a cloud of coordinates in C's memory.
    ///
    /// # Safety
    /// Same as `read`.
    ///
    /// # Errors
    /// Same as `read`.
    unsafe fn in_memory<'a, T: Number>(&'a self) -> Result<RawPoints<'a, T>, Failure> {
        if self.flags & !FARPOINT_BYTE_SWAPPED != 0 {
            let text = "use 0 or FARPOINT_BYTE_SWAPPED (1)";
            return Err(invalid(format!("flags of the points are {}; {text}", self.flags)));
        }
        self.check_strides()?;
        let swapped = self.flags & FARPOINT_BYTE_SWAPPED != 0;
        let mut layout = RawLayout::dense(self.count, self.dimensions)
            .point_stride(self.point_stride)
            .axis_stride(self.axis_stride)
            .byte_swapped(swapped);
        if !self.axis_offsets.is_null() {
            // SAFETY: as many as there are coordinates, by this function's contract.
            let offsets = unsafe { list(self.axis_offsets, self.dimensions, "axis_offsets") }?;
            layout = layout.axis_offsets(offsets);
        }
        if self.buffer.is_null() && self.buffer_size == 0 {
            // SAFETY: the coordinates are there by this function's contract; that of other arrays that
            // axis offsets lead to comes from C and is exposed.
            return Ok(unsafe { RawPoints::from_ptr(self.data.cast(), layout) }?);
        }
        // SAFETY: the buffer is there by this function's contract.
        let buffer: &[u8] = unsafe { list(self.buffer.cast(), self.buffer_size, "buffer") }?;
        let offset = self.data.addr().wrapping_sub(self.buffer.addr()) as isize;
        Ok(RawPoints::new(buffer, layout.offset(offset))?)
    }

    /// Refuses all points, or all coordinates, in one place: a stride was forgotten.
    fn check_strides(&self) -> Result<(), Failure> {
        let missing = |member: &str, number: &str| {
            let text = "so that all would be the same number; set the bytes from one to the next";
            Err(invalid(format!("{member} is 0 with {number}, {text}")))
        };
        if self.count > 1 && self.point_stride == 0 {
            return missing("point_stride", &format!("{} points", self.count));
        }
        if self.dimensions > 1 && self.axis_offsets.is_null() && self.axis_stride == 0 {
            return missing("axis_stride", &format!("{} dimensions", self.dimensions));
        }
        Ok(())
    }

    /// Returns the precision of the coordinates.
    ///
    /// # Errors
    /// If the scalar type is unknown, or nothing was filled in.
    pub(crate) fn precision(&self) -> Result<Precision, Failure> {
        if self.dimensions == 0 {
            return Err(invalid(
                "points with no coordinates: dimensions is 0, as in a structure that is not filled in, or in the points of an index that is not there",
            ));
        }
        Precision::of(self.scalar)
    }
}

/// A cloud of C: coordinates in its memory, or an index.
pub(crate) enum InputPoints<'a, T> {
    Raw(RawPoints<'a, T>),
    Index(&'a Index<T>),
}

/// Points of one of two kinds, copied and searched as these are.
macro_rules! either_points {
    ($type:ident, $one:ident, $other:ident) => {
        impl<T: Number> Points<T> for $type<'_, T> {
            fn len(&self) -> usize {
                either_points!(self, $one, $other, points => points.len())
            }
            fn dim(&self) -> usize {
                either_points!(self, $one, $other, points => points.dim())
            }
            #[inline(always)]
            fn coordinate(&self, index: usize, axis: usize) -> T {
                either_points!(self, $one, $other, points => points.coordinate(index, axis))
            }
            fn subset(&self) -> Option<&Subset> {
                either_points!(self, $one, $other, points => points.subset())
            }
            fn raw(&self) -> Option<RawPoints<'_, T>> {
                either_points!(self, $one, $other, points => points.raw())
            }
            fn places(&self) -> Option<&[u32]> {
                either_points!(self, $one, $other, points => points.places())
            }
            fn index(&self) -> Option<&dyn Any> {
                either_points!(self, $one, $other, points => Points::<T>::index(points))
            }
        }
    };
    ($self:ident, $one:ident, $other:ident, $points:ident => $work:expr) => {
        match $self {
            Self::$one($points) => $work,
            Self::$other($points) => $work,
        }
    };
}
either_points!(InputPoints, Raw, Index);
either_points!(Cloud, All, Some);

/// Returns the precision of several clouds, which must be one.
pub(crate) fn precision_of(clouds: &[farpoint_points]) -> Result<Precision, Failure> {
    let Some(first) = clouds.first() else { return Ok(Precision::Single) };
    let precision = first.precision()?;
    for (cloud, points) in clouds.iter().enumerate() {
        precision.expect(points.precision()?, &format!("cloud {cloud}"))?;
    }
    Ok(precision)
}

/// Reads the clouds of a batch.
///
/// # Safety
/// Same as `farpoint_points::read` of each.
///
/// # Errors
/// Those of the first cloud at fault, which is named.
pub(crate) unsafe fn read_all<'a, T: Number>(
    clouds: &'a [farpoint_points],
) -> Result<Vec<InputPoints<'a, T>>, Failure> {
    let read = |(cloud, points): (usize, &'a farpoint_points)| {
        // SAFETY: by this function's contract.
        unsafe { points.read() }.map_err(|failure| failure.of_cloud(cloud))
    };
    clouds.iter().enumerate().map(read).collect()
}

/// Selection of rows of a cloud, in C's terms.
pub(crate) struct RowSelection {
    pub(crate) rows: *const usize,
    pub(crate) row_count: usize,
    pub(crate) mask: *const u8,
}

/// A cloud, or selected rows of it.
pub(crate) enum Cloud<'a, T: Number> {
    All(InputPoints<'a, T>),
    Some(Selected<InputPoints<'a, T>>),
}

impl RowSelection {
    /// Selects rows of a cloud.
    ///
    /// # Safety
    /// There are as many rows as counted, and as many bytes of the mask as points, if there are any.
    ///
    /// # Errors
    /// If both are given, if a row is outside the cloud or listed twice.
    pub(crate) unsafe fn apply<'a, T: Number>(
        &self,
        points: InputPoints<'a, T>,
    ) -> Result<Cloud<'a, T>, Failure> {
        let rows = !self.rows.is_null() || self.row_count > 0;
        match (rows, self.mask.is_null()) {
            (true, false) => Err(invalid("rows and mask are both set; set one of them")),
            (true, true) => {
                // SAFETY: by this function's contract.
                let rows = unsafe { list(self.rows, self.row_count, "rows") }?;
                Ok(Cloud::Some(Selected::rows(points, rows)?))
            }
            (false, false) => {
                // SAFETY: by this function's contract.
                let mask = unsafe { list(self.mask, points.len(), "mask") }?;
                Ok(Cloud::Some(Selected::mask(points, mask)?))
            }
            (false, true) => Ok(Cloud::All(points)),
        }
    }
}
