//! Growable working memory that comes from what the process keeps, and goes back there.

use super::fallible::out_of_memory;
use super::kept::{self, rounded};
use std::alloc::Layout;
use std::mem;
use std::ops::{Deref, DerefMut};

/// A vector whose memory is that of earlier runs, and is kept for later ones. If there is none,
/// [`crate::Error::OutOfMemory`] is raised. The methods here hide those of [`Vec`] that allocate.
#[derive(Debug, PartialEq)]
pub(crate) struct Buffer<T>(Vec<T>);

/// Minimum capacity.
const FEW: usize = 16;

impl<T> Default for Buffer<T> {
    fn default() -> Self {
        Self(Vec::new())
    }
}

impl<T> From<Vec<T>> for Buffer<T> {
    fn from(values: Vec<T>) -> Self {
        Self(values)
    }
}

impl<T: Clone> Clone for Buffer<T> {
    fn clone(&self) -> Self {
        Self::collected(self.iter().cloned())
    }
}

impl<T> Buffer<T> {
    /// Creates an empty array with room for `len` values.
    pub(crate) fn with_capacity(len: usize) -> Self {
        let mut array = Self::default();
        array.reserve(len);
        array
    }

    /// Creates an array of `len` equal values.
    pub(crate) fn filled(len: usize, value: T) -> Self
    where
        T: Clone,
    {
        let mut array = Self::default();
        array.resize(len, value);
        array
    }

    /// Creates an array of the values of an iterator.
    pub(crate) fn collected(values: impl IntoIterator<Item = T>) -> Self {
        let mut array = Self::default();
        array.extend(values);
        array
    }

    /// Makes room for `more` values.
    #[inline]
    pub(crate) fn reserve(&mut self, more: usize) {
        if self.0.capacity() - self.0.len() < more {
            self.grow(more);
        }
    }

    #[cold]
    fn grow(&mut self, more: usize) {
        const { assert!(size_of::<T>() > 0, "memory has a size") };
        let len = self.0.len();
        let least = len.saturating_add(more);
        let capacity = rounded(least.max(2 * self.0.capacity()).max(FEW));
        let memory = Layout::array::<T>(capacity).ok().and_then(kept::take);
        let Some(start) = memory else { out_of_memory::<T>(least) };
        // SAFETY: the memory is that of a vector of this capacity, to which the values move.
        let mut grown = unsafe { Vec::from_raw_parts(start.cast().as_ptr(), 0, capacity) };
        grown.append(&mut self.0);
        *self = Self(grown);
    }

    /// Adds a value to the end.
    #[inline]
    pub(crate) fn push(&mut self, value: T) {
        self.reserve(1);
        self.0.push(value);
    }

    /// Adds values to the end.
    pub(crate) fn extend(&mut self, values: impl IntoIterator<Item = T>) {
        let values = values.into_iter();
        let (lower, upper) = values.size_hint();
        self.reserve(lower);
        match upper == Some(lower) {
            true => self.0.extend(values),
            false => values.for_each(|value| self.push(value)),
        }
    }

    /// Sets the length; new values are equal to `value`.
    pub(crate) fn resize(&mut self, len: usize, value: T)
    where
        T: Clone,
    {
        self.reserve(len.saturating_sub(self.0.len()));
        self.0.resize(len, value);
    }

    /// Sets the length; new values are made by `value`.
    pub(crate) fn resize_with(&mut self, len: usize, value: impl FnMut() -> T) {
        self.reserve(len.saturating_sub(self.0.len()));
        self.0.resize_with(len, value);
    }

    /// Returns the values as a vector.
    pub(crate) fn into_vec(mut self) -> Vec<T> {
        mem::take(&mut self.0)
    }
}

impl<T> Drop for Buffer<T> {
    fn drop(&mut self) {
        let mut values = mem::ManuallyDrop::new(mem::take(&mut self.0));
        values.clear();
        // SAFETY: the layout is that of all vectors of this capacity, whose memory nothing uses from here on.
        unsafe {
            let layout = Layout::array::<T>(values.capacity()).unwrap_unchecked();
            if layout.size() > 0 {
                kept::give(std::ptr::NonNull::new_unchecked(values.as_mut_ptr()).cast(), layout);
            }
        }
    }
}

impl<T> Deref for Buffer<T> {
    type Target = Vec<T>;

    #[inline(always)]
    fn deref(&self) -> &Vec<T> {
        &self.0
    }
}

impl<T> DerefMut for Buffer<T> {
    #[inline(always)]
    fn deref_mut(&mut self) -> &mut Vec<T> {
        &mut self.0
    }
}

impl<'a, T> IntoIterator for &'a Buffer<T> {
    type Item = &'a T;
    type IntoIter = std::slice::Iter<'a, T>;

    fn into_iter(self) -> Self::IntoIter {
        self.0.iter()
    }
}

impl<'a, T> IntoIterator for &'a mut Buffer<T> {
    type Item = &'a mut T;
    type IntoIter = std::slice::IterMut<'a, T>;

    fn into_iter(self) -> Self::IntoIter {
        self.0.iter_mut()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Error;
    use crate::unwind::caught;
    use std::rc::Rc;

    #[test]
    fn arrays_are_those_of_the_standard_library() {
        let mut array = Buffer::collected(0..3);
        array.resize(2, 0);
        array.extend((0..100).filter(|x| x % 3 == 0));
        array.push(7);
        let expected: Vec<_> =
            [0, 1].into_iter().chain((0..34).map(|x| 3 * x)).chain([7]).collect();
        assert_eq!(*array, expected);
        assert_eq!(array.clone(), array);
        assert_eq!(array.into_vec(), expected);
        assert_eq!(*Buffer::filled(3, 7u8), [7; 3]);
    }

    #[test]
    fn values_are_dropped_once() {
        let one = Rc::new(());
        let mut array = Buffer::default();
        (0..100).for_each(|_| array.push(Rc::clone(&one)));
        array.truncate(90);
        assert_eq!(Rc::strong_count(&one), 91);
        drop(array);
        assert_eq!(Rc::strong_count(&one), 1);
    }

    #[test]
    fn an_array_that_is_too_large_is_an_error() {
        for len in [1usize << 50, usize::MAX / 8, usize::MAX] {
            let refused = Err(Error::OutOfMemory { bytes: len.saturating_mul(8) });
            assert_eq!(caught(|| Ok(Buffer::<u64>::with_capacity(len))), refused);
            assert_eq!(caught(|| Ok(Buffer::filled(len, 1u64))), refused);
        }
    }
}
