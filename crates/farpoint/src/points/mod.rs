//! Layouts of coordinates: one small trait, a few layouts, no cloud type.

mod raw;
mod selected;

pub use raw::{RawLayout, RawPoints};
pub use selected::{Selected, Subset};

use crate::unwind::caught;
use crate::{Error, Scalar, memory};
use std::any::Any;
use std::mem::MaybeUninit;

/// A cloud of `len` points with `dim` coordinates each.
///
/// Implemented for slices, arrays and vectors of `[T; D]`, for [`Strided`] views (any `(n, d)` array,
/// transposed and sliced ones too), for [`Axes`] (one slice per axis), for [`RawPoints`] (records in memory,
/// by address and strides in bytes) and for [`Selected`] (some rows of any of these).
pub trait Points<T: Scalar>: Sync {
    /// Returns the number of points, N.
    fn len(&self) -> usize;
    /// Returns the number of coordinates of a point, D.
    fn dim(&self) -> usize;
    /// Returns coordinate `axis < dim` of point `index < len`.
    fn coordinate(&self, index: usize, axis: usize) -> T;
    /// Returns whether there are no points.
    fn is_empty(&self) -> bool {
        self.len() == 0
    }
    /// Writes coordinate `axis` of the points from `first` on.
    #[doc(hidden)]
    fn copy_axis(&self, axis: usize, first: usize, to: &mut [MaybeUninit<T>]) {
        for (index, value) in (first..).zip(to) {
            value.write(self.coordinate(index, axis));
        }
    }
    /// Returns the rows of a larger cloud that these points are, if they are a selection. Results then name
    /// those rows.
    fn subset(&self) -> Option<&Subset> {
        None
    }
    /// Returns the memory layout of these points, or of those that they are selected from, if it is regular: they are
    /// then copied faster than one by one.
    #[doc(hidden)]
    fn raw(&self) -> Option<RawPoints<'_, T>> {
        None
    }
    /// Returns the places of these points in `raw`, if they are not all of it.
    #[doc(hidden)]
    fn places(&self) -> Option<&[u32]> {
        None
    }
    /// Returns the `Index` that this is, if it is one; its type is not known here.
    #[doc(hidden)]
    fn index(&self) -> Option<&dyn Any> {
        None
    }
}

impl<T: Scalar, const D: usize> Points<T> for [[T; D]] {
    fn len(&self) -> usize {
        <[[T; D]]>::len(self)
    }
    fn dim(&self) -> usize {
        D
    }
    #[inline(always)]
    fn coordinate(&self, index: usize, axis: usize) -> T {
        self[index][axis]
    }
    fn raw(&self) -> Option<RawPoints<'_, T>> {
        RawPoints::from_slice(self.as_flattened(), D)
    }
}

impl<T: Scalar, const D: usize, const N: usize> Points<T> for [[T; D]; N] {
    fn len(&self) -> usize {
        N
    }
    fn dim(&self) -> usize {
        D
    }
    #[inline(always)]
    fn coordinate(&self, index: usize, axis: usize) -> T {
        self[index][axis]
    }
    fn raw(&self) -> Option<RawPoints<'_, T>> {
        self[..].raw()
    }
}

impl<T: Scalar, const D: usize> Points<T> for Vec<[T; D]> {
    fn len(&self) -> usize {
        Vec::len(self)
    }
    fn dim(&self) -> usize {
        D
    }
    #[inline(always)]
    fn coordinate(&self, index: usize, axis: usize) -> T {
        self[index][axis]
    }
    fn raw(&self) -> Option<RawPoints<'_, T>> {
        self[..].raw()
    }
}

impl<T: Scalar, P: Points<T> + ?Sized> Points<T> for &P {
    fn len(&self) -> usize {
        (**self).len()
    }
    fn dim(&self) -> usize {
        (**self).dim()
    }
    #[inline(always)]
    fn coordinate(&self, index: usize, axis: usize) -> T {
        (**self).coordinate(index, axis)
    }
    fn copy_axis(&self, axis: usize, first: usize, to: &mut [MaybeUninit<T>]) {
        (**self).copy_axis(axis, first, to);
    }
    fn subset(&self) -> Option<&Subset> {
        (**self).subset()
    }
    fn raw(&self) -> Option<RawPoints<'_, T>> {
        (**self).raw()
    }
    fn places(&self) -> Option<&[u32]> {
        (**self).places()
    }
    fn index(&self) -> Option<&dyn Any> {
        (**self).index()
    }
}

/// Returns the clouds of a batch without their type.
pub fn erased<T: Scalar, P: Points<T>>(clouds: &[P]) -> Vec<&dyn Points<T>> {
    clouds.iter().map(|cloud| cloud as &dyn Points<T>).collect()
}

/// A strided `(n, d)` view of a flat slice: element `(i, a)` is `data[offset + i*row + a*col]`.
///
/// Strides count elements, not bytes, and may be negative (a reversed array).
#[derive(Debug, Clone, Copy)]
pub struct Strided<'a, T> {
    data: &'a [T],
    shape: [usize; 2],
    offset: isize,
    strides: [isize; 2],
}

impl<'a, T: Scalar> Strided<'a, T> {
    /// Creates a view of a dense row-major `(n, d)` array.
    ///
    /// # Errors
    /// If the data is not whole rows.
    pub fn rows(data: &'a [T], d: usize) -> Result<Self, Error> {
        if d == 0 || !data.len().is_multiple_of(d) {
            return Err(Error::Shape(format!("{} numbers are not whole rows of {d}", data.len())));
        }
        Self::new(data, [data.len() / d, d], 0, [d as isize, 1])
    }

    /// Creates any strided view.
    ///
    /// # Errors
    /// If an element would lie outside `data`.
    pub fn new(
        data: &'a [T],
        shape: [usize; 2],
        offset: isize,
        strides: [isize; 2],
    ) -> Result<Self, Error> {
        let [mut low, mut high] = [offset as i128; 2];
        for (n, stride) in shape.into_iter().zip(strides) {
            let reach = n.saturating_sub(1) as i128 * stride as i128;
            low += reach.min(0);
            high += reach.max(0);
        }
        let empty = shape.contains(&0);
        if shape[1] == 0 || !(empty || (low >= 0 && high < data.len() as i128)) {
            return Err(Error::Shape(format!(
                "a view of shape {shape:?} with strides {strides:?} from {offset} does not lie \
                 inside {} numbers",
                data.len()
            )));
        }
        Ok(Self { data, shape, offset, strides })
    }
}

impl<T: Scalar> Points<T> for Strided<'_, T> {
    fn len(&self) -> usize {
        self.shape[0]
    }
    fn dim(&self) -> usize {
        self.shape[1]
    }
    #[inline(always)]
    fn coordinate(&self, index: usize, axis: usize) -> T {
        let at = self.offset + index as isize * self.strides[0] + axis as isize * self.strides[1];
        self.data[at as usize]
    }
}

/// One slice per axis: `Axes::new(&[&x, &y, &z])`.
#[derive(Debug, Clone, Copy)]
pub struct Axes<'a, T> {
    axes: &'a [&'a [T]],
}

impl<'a, T: Scalar> Axes<'a, T> {
    /// Creates a cloud of one slice per axis, all of one length.
    ///
    /// # Errors
    /// If there is no axis or the axes differ in length.
    pub fn new(axes: &'a [&'a [T]]) -> Result<Self, Error> {
        let lengths: Vec<_> = axes.iter().map(|axis| axis.len()).collect();
        if axes.is_empty() || lengths.windows(2).any(|pair| pair[0] != pair[1]) {
            return Err(Error::Shape(format!(
                "the axes must be one or more slices of one length, not {lengths:?}"
            )));
        }
        Ok(Self { axes })
    }
}

impl<T: Scalar> Points<T> for Axes<'_, T> {
    fn len(&self) -> usize {
        self.axes[0].len()
    }
    fn dim(&self) -> usize {
        self.axes.len()
    }
    #[inline(always)]
    fn coordinate(&self, index: usize, axis: usize) -> T {
        self.axes[axis][index]
    }
}

/// Returns the clouds of a padded batch: `data` is a dense `(b, n, d)` array, of which only the first
/// `lengths[i]` rows of cloud `i` count (all `n` if `lengths` is `None`).
///
/// # Errors
/// If shape or lengths do not fit the data.
pub fn padded<'a, T: Scalar>(
    data: &'a [T],
    [b, n, d]: [usize; 3],
    lengths: Option<&[usize]>,
) -> Result<Vec<Strided<'a, T>>, Error> {
    if b.checked_mul(n).and_then(|rows| rows.checked_mul(d)) != Some(data.len()) || d == 0 {
        return Err(Error::Shape(format!(
            "{} numbers do not form a ({b}, {n}, {d}) array",
            data.len()
        )));
    }
    if let Some(lengths) = lengths {
        if lengths.len() != b {
            return Err(Error::Shape(format!("{} lengths for a batch of {b}", lengths.len())));
        }
        if let Some((cloud, length)) = lengths.iter().enumerate().find(|(_, length)| **length > n) {
            return Err(Error::Shape(format!("length {length} of cloud {cloud} is over {n}")));
        }
    }
    let cloud = |cloud: usize| {
        let length = lengths.map_or(n, |lengths| lengths[cloud]);
        Strided::rows(&data[cloud * n * d..][..length * d], d)
    };
    caught(|| memory::try_collected((0..b).map(cloud)))
}

/// Returns the clouds of a ragged batch: cloud `i` is rows `offsets[i]..offsets[i + 1]` of the dense
/// `(rows, d)` array `data`.
///
/// # Errors
/// If the offsets do not rise from 0 to the number of rows.
pub fn ragged<'a, T: Scalar>(
    data: &'a [T],
    d: usize,
    offsets: &[usize],
) -> Result<Vec<Strided<'a, T>>, Error> {
    let rows = Strided::rows(data, d).map(|all| Points::len(&all))?;
    let ordered = offsets.windows(2).all(|pair| pair[0] <= pair[1]);
    if !ordered || offsets.first() != Some(&0) || offsets.last() != Some(&rows) {
        return Err(Error::Shape(format!(
            "offsets must rise from 0 to the number of rows, {rows}, not {offsets:?}"
        )));
    }
    let cloud = |pair: &[usize]| Strided::rows(&data[pair[0] * d..pair[1] * d], d);
    caught(|| memory::try_collected(offsets.windows(2).map(cloud)))
}
