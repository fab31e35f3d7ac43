//! Coordinates in records of any layout: by address, strides in bytes and byte order.

use super::Points;
use crate::{Error, Scalar};
use std::marker::PhantomData;
use std::mem::MaybeUninit;
use std::ops::Range;
use std::ptr::with_exposed_provenance;

/// Memory layout of points, in bytes from an address: coordinate `a` of point `i` is at
/// `offset + i * point_stride + a * axis_stride`, or at `offset + i * point_stride + axis_offsets[a]`.
///
/// Strides and offsets may be negative and need not be multiples of anything.
///
/// ```
/// use farpoint::RawLayout;
///
/// // x, y and z of `float` at the beginning of records of 32 bytes.
/// let pcl = RawLayout::dense(1000, 3).point_stride(32);
/// // One array per axis.
/// let planes = RawLayout::dense(1000, 3).point_stride(4).axis_stride(4000);
/// // A sensor's records of 26 bytes, big endian, z first.
/// let message = RawLayout::dense(1000, 3).point_stride(26).axis_offsets(&[8, 4, 0]).byte_swapped(true);
/// # let _ = (pcl, planes, message);
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct RawLayout<'a> {
    points: usize,
    dims: usize,
    offset: isize,
    point_stride: Option<isize>,
    axis_stride: Option<isize>,
    axis_offsets: Option<&'a [isize]>,
    swapped: bool,
}

impl<'a> RawLayout<'a> {
    /// Creates the layout of `points` points of `dims` coordinates, one after another without gaps.
    pub fn dense(points: usize, dims: usize) -> Self {
        let (point_stride, axis_stride, axis_offsets) = (None, None, None);
        Self { points, dims, offset: 0, point_stride, axis_stride, axis_offsets, swapped: false }
    }

    /// Sets the offset of the coordinates, in bytes from the address; 0 by default.
    pub fn offset(self, offset: isize) -> Self {
        Self { offset, ..self }
    }

    /// Sets the stride from a point to the next, in bytes; the size of its coordinates by default.
    pub fn point_stride(self, bytes: isize) -> Self {
        Self { point_stride: Some(bytes), ..self }
    }

    /// Sets the stride from a coordinate to the next, in bytes; the size of a number by default.
    pub fn axis_stride(self, bytes: isize) -> Self {
        Self { axis_stride: Some(bytes), axis_offsets: None, ..self }
    }

    /// Sets the offset of each coordinate, in bytes from the point, in place of an axis stride.
    pub fn axis_offsets(self, bytes: &'a [isize]) -> Self {
        Self { axis_offsets: Some(bytes), ..self }
    }

    /// Sets whether the bytes of each number are in the other order than this machine's.
    pub fn byte_swapped(self, swapped: bool) -> Self {
        Self { swapped, ..self }
    }

    /// Returns the bytes that numbers of `size` bytes occupy, from the first to behind the last, relative to the
    /// address; `None` if there is no number.
    fn extent(&self, size: usize) -> Result<Option<Range<i128>>, Error> {
        if self.dims == 0 {
            return Err(Error::Shape("the points have no coordinates".into()));
        }
        if let Some(offsets) = self.axis_offsets.filter(|offsets| offsets.len() != self.dims) {
            let (count, dims) = (offsets.len(), self.dims);
            return Err(Error::Shape(format!("{count} axis offsets for points of {dims} axes")));
        }
        if self.points == 0 {
            return Ok(None);
        }
        let reach = |steps: usize, stride: isize| (steps - 1) as i128 * stride as i128;
        let along_points = reach(self.points, self.stride_of_points(size)?);
        let (low, high) = match self.axis_offsets {
            None => {
                let along = reach(self.dims, self.axis_stride.unwrap_or(size as isize));
                (along.min(0), along.max(0))
            }
            Some(offsets) => {
                let ends = (offsets.iter().min(), offsets.iter().max());
                let (Some(&low), Some(&high)) = ends else { unreachable!("an axis") };
                (low as i128, high as i128)
            }
        };
        // Saturated values are far beyond memory.
        let from = self.offset as i128;
        let first = from.saturating_add(low).saturating_add(along_points.min(0));
        let last = from.saturating_add(high).saturating_add(along_points.max(0));
        Ok(Some(first..last.saturating_add(size as i128)))
    }

    fn stride_of_points(&self, size: usize) -> Result<isize, Error> {
        let dense = || isize::try_from(self.dims as u128 * size as u128).ok();
        self.point_stride.or_else(dense).ok_or_else(|| self.too_large())
    }

    fn too_large(&self) -> Error {
        Error::Shape(format!("{} points of {} axes do not fit in memory", self.points, self.dims))
    }

    /// Returns strides and offsets, for messages.
    fn describe(&self, size: usize) -> String {
        let axes = match self.axis_offsets {
            None => format!("axis stride {}", self.axis_stride.unwrap_or(size as isize)),
            Some(offsets) => format!("axis offsets {offsets:?}"),
        };
        let stride = self.stride_of_points(size).unwrap_or(isize::MAX);
        let Self { points, dims, offset, .. } = self;
        format!("{points} points of {dims} axes, point stride {stride}, {axes}, offset {offset}")
    }
}

/// Points with coordinates anywhere in memory: records of a sensor, structures of C, columns, arrays of
/// other languages; in either byte order, aligned or not. They are read in place.
///
/// ```
/// use farpoint::{RawLayout, RawPoints, Sampler};
///
/// // Records of 16 bytes: x, y, z as big-endian floats from byte 2 on.
/// let mut bytes = vec![0u8; 2 + 16 * 100];
/// for (i, record) in bytes[2..].chunks_exact_mut(16).enumerate() {
///     record[..4].copy_from_slice(&(i as f32).to_be_bytes());
/// }
/// let swapped = cfg!(target_endian = "little");
/// let layout = RawLayout::dense(100, 3).offset(2).point_stride(16).byte_swapped(swapped);
/// let points = RawPoints::<f32>::new(&bytes, layout)?;
/// assert_eq!(Sampler::count(3).sample(&points)?.indices, [0, 99, 49]);
/// # Ok::<(), farpoint::Error>(())
/// ```
#[derive(Debug, Clone, Copy)]
pub struct RawPoints<'a, T> {
    /// The address of the first point, whose provenance is exposed.
    start: usize,
    points: usize,
    dims: usize,
    point_stride: isize,
    axes: Axes<'a>,
    swapped: bool,
    numbers: PhantomData<&'a [T]>,
}

/// Offsets of the coordinates of a point.
#[derive(Debug, Clone, Copy)]
enum Axes<'a> {
    Stride(isize),
    Offsets(&'a [isize]),
}

impl<'a, T: Scalar> RawPoints<'a, T> {
    /// Creates a view of points in a buffer.
    ///
    /// # Errors
    /// If a coordinate would lie outside the buffer, if points have no coordinates, and if there is not one
    /// offset per axis.
    pub fn new(bytes: &'a [u8], layout: RawLayout<'a>) -> Result<Self, Error> {
        let size = size_of::<T>();
        let outside = |extent: &Range<i128>| extent.start < 0 || extent.end > bytes.len() as i128;
        if let Some(extent) = layout.extent(size)?.filter(outside) {
            return Err(Error::Shape(format!(
                "{} reach from byte {} to byte {} of a buffer of {} bytes",
                layout.describe(size),
                extent.start,
                extent.end,
                bytes.len()
            )));
        }
        // SAFETY: all numbers lie in the buffer, which is borrowed for as long as the points.
        unsafe { Self::from_ptr(bytes.as_ptr(), layout) }
    }

    /// Creates a view of points at an address.
    ///
    /// # Safety
    /// For as long as `'a`, every coordinate that `layout` describes must lie in memory that may be read, and
    /// nothing may write to it; the numbers need not be aligned, and any bits are numbers. Nothing is read of
    /// what lies between them. Where `layout` leads from `data` into another allocation, that
    /// one's provenance must have been exposed, which memory that comes from C is
    /// ([`std::ptr::with_exposed_provenance`]). With no points, `data` may be anything.
    ///
    /// # Errors
    /// If `data` is null though there are points, if strides lead beyond the ends of the address space, if
    /// points have no coordinates, and if there is not one offset per axis.
    pub unsafe fn from_ptr(data: *const u8, layout: RawLayout<'a>) -> Result<Self, Error> {
        let size = size_of::<T>();
        let address = data.expose_provenance();
        if let Some(extent) = layout.extent(size)? {
            let describe = || layout.describe(size);
            if data.is_null() {
                return Err(Error::Shape(format!("the address is null: {}", describe())));
            }
            let at = |byte: i128| byte.saturating_add(address as i128);
            let (first, end) = (at(extent.start), at(extent.end));
            let long = extent.end.saturating_sub(extent.start) > isize::MAX as i128;
            if long || first < 0 || end > usize::MAX as i128 {
                return Err(Error::Shape(format!(
                    "{} from {address:#x} on lie outside memory",
                    describe()
                )));
            }
        }
        Ok(Self {
            start: address.wrapping_add_signed(layout.offset),
            points: layout.points,
            dims: layout.dims,
            point_stride: layout.stride_of_points(size)?,
            axes: match layout.axis_offsets {
                None => Axes::Stride(layout.axis_stride.unwrap_or(size as isize)),
                Some(offsets) => Axes::Offsets(offsets),
            },
            swapped: layout.swapped,
            numbers: PhantomData,
        })
    }

    /// Creates a view of rows of `dims` numbers, one after another; `None` if there are no coordinates.
    pub(super) fn from_slice(numbers: &'a [T], dims: usize) -> Option<Self> {
        let layout = RawLayout::dense(numbers.len().checked_div(dims)?, dims);
        // SAFETY: the rows are the slice's, or its first ones; it is borrowed for as long as the points.
        unsafe { Self::from_ptr(numbers.as_ptr().cast(), layout) }.ok()
    }

    /// Copies a coordinate of the points from `first` on to all places of `to`.
    ///
    /// # Panics
    /// If there are fewer points, or no such axis.
    pub(crate) fn copy(&self, axis: usize, first: usize, to: &mut [MaybeUninit<T>]) {
        assert!(to.len() <= self.points && first <= self.points - to.len(), "outside the points");
        let along = self.along(axis);
        let before = (first as isize).wrapping_mul(self.point_stride).wrapping_add(along);
        let from = with_exposed_provenance(self.start.wrapping_add_signed(before));
        // SAFETY: so many points from `first` on are there, by the assertion, and all their coordinates may be
        // read, as in `coordinate`.
        unsafe {
            match self.swapped {
                false => strided(from, self.point_stride, to, |bits| T::from_memory(bits, false)),
                true => strided(from, self.point_stride, to, |bits| T::from_memory(bits, true)),
            }
        }
    }

    /// Copies a coordinate of the points at these places, one for each of `to`.
    ///
    /// # Panics
    /// If there is no such point or axis.
    pub(crate) fn pick(&self, axis: usize, places: &[u32], to: &mut [MaybeUninit<T>]) {
        let start = self.start.wrapping_add_signed(self.along(axis));
        for (to, &place) in to.iter_mut().zip(places) {
            assert!((place as usize) < self.points, "outside the points");
            let before = (place as isize).wrapping_mul(self.point_stride);
            let from = with_exposed_provenance::<T::Bits>(start.wrapping_add_signed(before));
            // SAFETY: the point is there, by the assertion, and all its coordinates may be read, as in
            // `coordinate`.
            to.write(T::from_memory(unsafe { from.read_unaligned() }, self.swapped));
        }
    }

    /// Returns the offset of a coordinate from its point, in bytes.
    #[inline(always)]
    fn along(&self, axis: usize) -> isize {
        assert!(axis < self.dims, "outside the points");
        match self.axes {
            Axes::Stride(bytes) => (axis as isize).wrapping_mul(bytes),
            Axes::Offsets(offsets) => offsets[axis],
        }
    }

    /// Returns a range of the points: a cloud of a batch.
    ///
    /// # Errors
    /// If the range is outside the points.
    pub fn part(&self, points: Range<usize>) -> Result<Self, Error> {
        if points.start > points.end || points.end > self.points {
            let count = self.points;
            return Err(Error::Shape(format!("{points:?} is not a range of the {count} points")));
        }
        let before = (points.start as isize).wrapping_mul(self.point_stride);
        Ok(Self { start: self.start.wrapping_add_signed(before), points: points.len(), ..*self })
    }
}

impl<T: Scalar> Points<T> for RawPoints<'_, T> {
    fn len(&self) -> usize {
        self.points
    }
    fn dim(&self) -> usize {
        self.dims
    }
    #[inline(always)]
    fn coordinate(&self, index: usize, axis: usize) -> T {
        assert!(index < self.points, "outside the points");
        let at = (index as isize).wrapping_mul(self.point_stride).wrapping_add(self.along(axis));
        let number = with_exposed_provenance::<T::Bits>(self.start.wrapping_add_signed(at));
        // SAFETY: a coordinate of a point, by the assertion, which may be read: `new` found it in the buffer,
        // or the caller of `from_ptr` ensured it. The address does not overflow, as was checked there.
        T::from_memory(unsafe { number.read_unaligned() }, self.swapped)
    }
    fn raw(&self) -> Option<RawPoints<'_, T>> {
        Some(*self)
    }
}

/// Reads a number every `stride` bytes, for each place of `to`.
///
/// # Safety
/// All of them may be read.
#[inline(always)]
unsafe fn strided<B: Copy, T>(
    mut from: *const B,
    stride: isize,
    to: &mut [MaybeUninit<T>],
    number: impl Fn(B) -> T,
) {
    for place in to {
        // SAFETY: the caller ensures that it may be read.
        place.write(number(unsafe { from.read_unaligned() }));
        from = from.wrapping_byte_offset(stride);
    }
}
