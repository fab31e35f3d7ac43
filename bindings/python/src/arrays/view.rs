//! NumPy arrays as points, read in place: any strides, not even aligned.

use farpoint::{Points, Scalar};
use numpy::{Element, PyArrayDyn, PyArrayMethods, PyUntypedArrayMethods};
use pyo3::prelude::*;
use std::marker::PhantomData;

/// One cloud of an array of shape `(n, d)` or `(b, n, d)`.
///
/// Strides count bytes, as NumPy's do.
#[derive(Clone, Copy)]
pub(crate) struct View<'a, T> {
    start: *const u8,
    shape: [usize; 2],
    strides: [isize; 2],
    array: PhantomData<&'a [T]>,
}

// SAFETY: the pointer is to memory that the borrowed array keeps alive, whatever thread reads it.
unsafe impl<T: Sync> Send for View<'_, T> {}
// SAFETY: no method writes, so that several threads may read at once.
unsafe impl<T: Sync> Sync for View<'_, T> {}

impl<'a, T: Scalar> View<'a, T> {
    /// Returns the cloud without the rows from `len` on.
    pub(crate) fn first(self, len: usize) -> Self {
        Self { shape: [len.min(self.shape[0]), self.shape[1]], ..self }
    }

    /// Returns the rows `from..to`, which must be in it.
    pub(crate) fn part(self, from: usize, to: usize) -> Self {
        assert!(from <= to && to <= self.shape[0], "rows outside the array");
        let start = self.start.wrapping_offset(from as isize * self.strides[0]);
        Self { start, shape: [to - from, self.shape[1]], ..self }
    }

    /// Returns the address of its first number.
    pub(crate) fn address(&self) -> usize {
        self.start.addr()
    }

    /// Returns the rows as arrays of three, if they lie in memory like that.
    pub(crate) fn triples(&self) -> Option<&'a [[T; 3]]> {
        let size = size_of::<T>() as isize;
        let dense = self.shape[1] == 3 && self.strides == [3 * size, size];
        let aligned = self.start.addr().is_multiple_of(align_of::<T>());
        // SAFETY: `shape[0]` rows of three numbers lie one after another from `start` on, which was
        // found to be aligned; `of` holds the array borrowed for as long as the slice.
        (dense && aligned && self.shape[0] > 0)
            .then(|| unsafe { std::slice::from_raw_parts(self.start.cast(), self.shape[0]) })
    }
}

impl<T: Scalar> Points<T> for View<'_, T> {
    fn len(&self) -> usize {
        self.shape[0]
    }
    fn dim(&self) -> usize {
        self.shape[1]
    }
    #[inline(always)]
    fn coordinate(&self, index: usize, axis: usize) -> T {
        assert!(index < self.shape[0] && axis < self.shape[1], "outside the array");
        let at = index as isize * self.strides[0] + axis as isize * self.strides[1];
        // SAFETY: within the shape the array's strides lead to numbers of its own, aligned or not;
        // it is borrowed for as long as the view.
        unsafe { self.start.offset(at).cast::<T>().read_unaligned() }
    }
}

/// Returns the clouds of an array, and true if it is a batch; `None` if it has no coordinates or
/// another number of axes.
///
/// The array must outlive the views, which the borrow ensures. Python may write to it while it is
/// read without the GIL: the result then belongs to neither state, as in NumPy. Readers copy
/// coordinates first and use only the copy.
pub(crate) fn of<'a, T: Scalar + Element>(
    array: &'a Bound<'_, PyArrayDyn<T>>,
) -> Option<(Vec<View<'a, T>>, bool)> {
    let start = array.data().cast::<u8>().cast_const();
    let view = |start, n, d, strides| View { start, shape: [n, d], strides, array: PhantomData };
    match (array.shape(), array.strides()) {
        (&[_, 0] | &[_, _, 0], _) => None,
        (&[n, d], &[row, axis]) => Some((vec![view(start, n, d, [row, axis])], false)),
        (&[b, n, d], &[cloud, row, axis]) => {
            let at = |k: usize| start.wrapping_offset(k as isize * cloud);
            Some(((0..b).map(|k| view(at(k), n, d, [row, axis])).collect(), true))
        }
        _ => None,
    }
}
