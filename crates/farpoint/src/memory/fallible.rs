//! Arrays as long as the input or the output. If there is no memory for one, [`Error::OutOfMemory`] is
//! raised: `vec!` and `collect` would end the process. For small arrays those are fine.

use crate::Error;
use crate::unwind::raise;
use std::alloc::{Layout, alloc_zeroed};

/// Raises [`Error::OutOfMemory`] for an array of `len` values.
#[cold]
pub(crate) fn out_of_memory<V>(len: usize) -> ! {
    raise(Error::OutOfMemory { bytes: len.saturating_mul(size_of::<V>()) })
}

/// Makes room for `more` values.
#[inline]
pub fn reserve<V>(array: &mut Vec<V>, more: usize) {
    if array.try_reserve(more).is_err() {
        out_of_memory::<V>(array.len().saturating_add(more));
    }
}

/// Makes room for exactly `more` values.
pub fn reserve_exact<V>(array: &mut Vec<V>, more: usize) {
    if array.try_reserve_exact(more).is_err() {
        out_of_memory::<V>(array.len().saturating_add(more));
    }
}

/// Returns an empty array with room for `len` values.
pub fn with_capacity<V>(len: usize) -> Vec<V> {
    let mut array = Vec::new();
    reserve_exact(&mut array, len);
    array
}

/// Returns `len` equal values.
pub fn filled<V: Clone>(len: usize, value: V) -> Vec<V> {
    let mut array = with_capacity(len);
    array.resize(len, value);
    array
}

/// Sets the length of an array; new values are equal to `value`.
pub fn resize<V: Clone>(array: &mut Vec<V>, len: usize, value: V) {
    reserve(array, len.saturating_sub(array.len()));
    array.resize(len, value);
}

/// Adds values to the end of an array.
pub fn extend<V>(array: &mut Vec<V>, values: impl IntoIterator<Item = V>) {
    let values = values.into_iter();
    let (lower, upper) = values.size_hint();
    reserve(array, lower);
    if upper == Some(lower) {
        return array.extend(values);
    }
    for value in values {
        push(array, value);
    }
}

/// Adds a value to the end of an array.
#[inline]
pub fn push<V>(array: &mut Vec<V>, value: V) {
    if array.len() == array.capacity() {
        reserve(array, 1);
    }
    array.push(value);
}

/// Returns the values of an iterator.
pub fn collected<V>(values: impl IntoIterator<Item = V>) -> Vec<V> {
    let values = values.into_iter();
    let mut array = with_capacity(values.size_hint().0);
    extend(&mut array, values);
    array
}

/// Returns the values of an iterator of results.
///
/// # Errors
/// The first error of the iterator.
pub fn try_collected<V, E>(values: impl Iterator<Item = Result<V, E>>) -> Result<Vec<V>, E> {
    let mut array = with_capacity(values.size_hint().0);
    for value in values {
        push(&mut array, value?);
    }
    Ok(array)
}

/// Numbers whose zero is all zero bits.
///
/// # Safety
/// Zero bytes must be a value of the type.
pub unsafe trait Zero: Copy {}

macro_rules! zero {
    ($($number:ty),*) => { $(
        // SAFETY: every pattern of bits is a number of this type.
        unsafe impl Zero for $number {}
    )* };
}
zero!(u8, u32, i32, u64, i64, usize, f32, f64);
// SAFETY: a zero byte is `false`.
unsafe impl Zero for bool {}

/// Returns `len` zeros, in untouched pages of the system.
pub fn zeros<V: Zero>(len: usize) -> Vec<V> {
    let Ok(layout) = Layout::array::<V>(len) else { out_of_memory::<V>(len) };
    if layout.size() == 0 {
        return Vec::new();
    }
    // SAFETY: the layout has a size.
    let start = unsafe { alloc_zeroed(layout) };
    if start.is_null() {
        out_of_memory::<V>(len);
    }
    // SAFETY: the global allocator gave it for an array of so many values, all of them zero bytes.
    unsafe { Vec::from_raw_parts(start.cast(), len, len) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::unwind::caught;

    #[test]
    fn arrays_are_those_of_the_standard_library() {
        assert_eq!(filled(3, 7u8), [7; 3]);
        assert_eq!(zeros::<f64>(4), [0.0; 4]);
        assert_eq!(zeros::<f64>(0), []);
        assert_eq!(
            collected((0..100).filter(|x| x % 3 == 0)),
            (0..34).map(|x| 3 * x).collect::<Vec<_>>()
        );
        let mut array = collected(0..3);
        resize(&mut array, 2, 0);
        extend(&mut array, [5, 6]);
        push(&mut array, 7);
        resize(&mut array, 6, 9);
        assert_eq!(array, [0, 1, 5, 6, 7, 9]);
    }

    #[test]
    fn an_array_that_is_too_large_is_an_error() {
        for len in [1usize << 50, usize::MAX / 8, usize::MAX] {
            let refused = Err(Error::OutOfMemory { bytes: len.saturating_mul(8) });
            assert_eq!(caught(|| Ok(zeros::<u64>(len))), refused);
            assert_eq!(caught(|| Ok(with_capacity::<u64>(len))), refused);
            assert_eq!(caught(|| Ok(filled(len, 1u64))), refused);
            assert_eq!(caught(|| Ok(collected(0..len as u64))), refused);
        }
    }
}
