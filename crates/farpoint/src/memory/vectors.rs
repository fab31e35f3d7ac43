//! Vectors in slices: with [`super::Aligned`], [`super::Padded`] and [`super::Shared`] the only
//! places that load and store vectors. Debug builds check each one.

use crate::simd::Simd;

/// Number of lanes of the widest vector of all instruction sets.
pub(crate) const MAX_LANES: usize = 16;

/// Panics in debug builds if a vector of `lanes` elements at `at` exceeds a slice of length `len`.
#[inline(always)]
pub(super) fn check(at: usize, lanes: usize, len: usize) {
    debug_assert!(
        at.checked_add(lanes).is_some_and(|end| end <= len),
        "a vector of {lanes} elements at {at} exceeds a slice of length {len}"
    );
}

/// Loads the vector from `at` on.
///
/// # Safety
/// `at + S::LANES` must not be above the slice's length.
#[inline(always)]
pub(crate) unsafe fn load<T, S: Simd<T>>(simd: S, from: &[T], at: usize) -> S::V {
    check(at, S::LANES, from.len());
    // SAFETY: the caller ensures that the vector lies in the slice.
    unsafe { simd.load(from.as_ptr().add(at)) }
}

/// Stores a vector from `at` on.
///
/// # Safety
/// `at + S::LANES` must not be above the slice's length.
#[inline(always)]
pub(crate) unsafe fn store<T, S: Simd<T>>(simd: S, to: &mut [T], at: usize, value: S::V) {
    check(at, S::LANES, to.len());
    // SAFETY: the caller ensures that the vector lies in the slice.
    unsafe { simd.store(to.as_mut_ptr().add(at), value) }
}
