//! A growable array, behind whose end a vector can always be read.

use super::buffer::Buffer;
use super::vectors::{MAX_LANES, check};
use crate::simd::Simd;
use std::ops::{Deref, DerefMut};

/// Plain values, followed by as many more as the widest vector has. Those are unspecified:
/// callers mask their lanes out.
pub(crate) struct Padded<T> {
    /// [`MAX_LANES`] longer than the array; empty before its length is set.
    values: Buffer<T>,
}

impl<T> Default for Padded<T> {
    fn default() -> Self {
        Self { values: Buffer::default() }
    }
}

impl<T: Copy + Default> Padded<T> {
    /// Sets the length of the array. Values beyond its old end are unspecified.
    pub(crate) fn resize(&mut self, len: usize) {
        self.values.resize(len + MAX_LANES, T::default());
    }

    /// Loads the vector from `at` on; it may reach beyond the end.
    ///
    /// # Safety
    /// `at` must not be above the length, which must have been set.
    #[inline(always)]
    pub(crate) unsafe fn load<S: Simd<T>>(&self, simd: S, at: usize) -> S::V {
        check(at, S::LANES, self.values.len());
        // SAFETY: no vector has more than `MAX_LANES` numbers, and as many follow every place up
        // to a length that was set.
        unsafe { simd.load(self.values.as_ptr().add(at)) }
    }

    /// Stores the vector from `at` on; it may reach beyond the end.
    ///
    /// # Safety
    /// `at` must not be above the length, which must have been set.
    #[inline(always)]
    pub(crate) unsafe fn store<S: Simd<T>>(&mut self, simd: S, at: usize, value: S::V) {
        check(at, S::LANES, self.values.len());
        // SAFETY: as many numbers as the widest vector has follow every place up to a length that was set.
        unsafe { simd.store(self.values.as_mut_ptr().add(at), value) }
    }

    /// Writes the lanes of `mask` one after another from `at` on, and overwrites up to a vector.
    ///
    /// # Safety
    /// `at` must not be above the length, which must have been set.
    #[inline(always)]
    pub(crate) unsafe fn compress<S: Simd<T>>(
        &mut self,
        simd: S,
        mask: u32,
        value: S::V,
        at: usize,
    ) {
        check(at, S::LANES, self.values.len());
        // SAFETY: as many numbers as the widest vector has follow every place up to a length that was set.
        unsafe { simd.compress(mask, value, self.values.as_mut_ptr().add(at)) }
    }
}

impl<T> Deref for Padded<T> {
    type Target = [T];

    #[inline(always)]
    fn deref(&self) -> &[T] {
        &self.values[..self.values.len().saturating_sub(MAX_LANES)]
    }
}

impl<T> DerefMut for Padded<T> {
    #[inline(always)]
    fn deref_mut(&mut self) -> &mut [T] {
        let len = self.values.len().saturating_sub(MAX_LANES);
        &mut self.values[..len]
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::simd::Sets;

    fn simd() -> <f32 as Sets>::Portable {
        // SAFETY: every machine has the portable set.
        unsafe { <f32 as Sets>::Portable::new_unchecked() }
    }

    #[test]
    fn a_vector_is_readable_from_every_place_to_the_end() {
        let mut array = Padded::<f32>::default();
        assert!(array.is_empty());
        for len in [0usize, 1, 15, 16, 17, 100] {
            array.resize(len);
            array.fill(2.0);
            for at in 0..=len {
                // SAFETY: `at` is not above the length.
                let vector = unsafe { array.load(simd(), at) };
                let inside = vector.len().min(len - at);
                assert!(vector[..inside].iter().all(|&x| x == 2.0));
            }
        }
    }

    #[test]
    #[cfg(debug_assertions)]
    #[should_panic = "a vector of 4 elements at 20 exceeds a slice of length 23"]
    fn a_load_beyond_the_padding_is_found() {
        let mut array = Padded::<f32>::default();
        array.resize(7);
        // SAFETY: none; the check stops it before anything is read.
        unsafe { array.load(simd(), 20) };
    }
}
