//! A vector of numbers that starts on a cache line, so that no vector load crosses two.

use std::ops::{Deref, DerefMut};

#[derive(Clone, Copy)]
#[repr(C, align(64))]
struct Line<T>([T; 16]);

/// A fixed-length array of `T`, aligned to 64 bytes.
pub(crate) struct Aligned<T> {
    lines: Vec<Line<T>>,
    len: usize,
}

impl<T: Copy> Aligned<T> {
    pub(crate) fn new(len: usize, value: T) -> Self {
        Self { lines: vec![Line([value; 16]); len.div_ceil(16)], len }
    }
}

impl<T> Deref for Aligned<T> {
    type Target = [T];

    fn deref(&self) -> &[T] {
        // SAFETY: `lines` holds at least `len` numbers without gaps: a line is 16 numbers of 4
        // or 8 bytes, a multiple of its alignment.
        unsafe { std::slice::from_raw_parts(self.lines.as_ptr().cast(), self.len) }
    }
}

impl<T> DerefMut for Aligned<T> {
    fn deref_mut(&mut self) -> &mut [T] {
        // SAFETY: as above.
        unsafe { std::slice::from_raw_parts_mut(self.lines.as_mut_ptr().cast(), self.len) }
    }
}
