//! Sizes of the arrays, types of indices, and the checks that all operators share.

use super::parts;
use crate::unwind::raise;
use crate::{Cpu, Error};
use std::ops::Range;

/// Sizes of the arrays of an operator. All arrays are dense, the last axis first in memory:
///
/// | array | shape |
/// |---|---|
/// | values, and their gradients | `(clouds, rows, channels)` |
/// | indices, weights | `(clouds, places, k)` |
/// | result of `gather`, `add` of `gather_max` | `(clouds, places, k, channels)` |
/// | results of `gather_max` and `interpolate` | `(clouds, places, channels)` |
///
/// A ragged batch is one cloud.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct ValueShape {
    /// Number of clouds of the batch.
    pub clouds: usize,
    /// Number of rows of values of each cloud.
    pub rows: usize,
    /// Number of rows of the result of each cloud.
    pub places: usize,
    /// Number of indices of each row of the result.
    pub k: usize,
    /// Number of channels of a row of values.
    pub channels: usize,
}

impl ValueShape {
    /// Returns the size of the values.
    ///
    /// # Errors
    /// If it is more than memory can hold.
    pub fn values(&self) -> Result<usize, Error> {
        self.product(&[self.clouds, self.rows, self.channels])
    }

    /// Returns the number of indices.
    ///
    /// # Errors
    /// Same as [`ValueShape::values`].
    pub fn indices(&self) -> Result<usize, Error> {
        self.product(&[self.clouds, self.places, self.k])
    }

    /// Returns the size of a result with a row per index.
    ///
    /// # Errors
    /// Same as [`ValueShape::values`].
    pub fn gathered(&self) -> Result<usize, Error> {
        self.product(&[self.clouds, self.places, self.k, self.channels])
    }

    /// Returns the size of a result with a row per place.
    ///
    /// # Errors
    /// Same as [`ValueShape::values`].
    pub fn reduced(&self) -> Result<usize, Error> {
        self.product(&[self.clouds, self.places, self.channels])
    }

    /// Returns the clouds that have one of these rows of the whole batch.
    pub(super) fn clouds_of(&self, rows: &Range<usize>) -> Range<usize> {
        rows.start / self.rows..rows.end.div_ceil(self.rows)
    }

    /// Returns the one of these rows of the whole batch at an index of a cloud, if it is one of them.
    #[inline(always)]
    pub(super) fn row_in<I: RowIndex>(
        &self,
        rows: &Range<usize>,
        cloud: usize,
        index: I,
    ) -> Option<usize> {
        let row = (cloud * self.rows + self.row(index)?).wrapping_sub(rows.start);
        (row < rows.len()).then_some(row)
    }

    /// Returns the row of the values at an index of a cloud.
    #[inline(always)]
    pub(super) fn row_of<'v, T, I: RowIndex>(
        &self,
        values: &'v [T],
        cloud: usize,
        index: I,
    ) -> Option<&'v [T]> {
        let row = cloud * self.rows + self.row(index)?;
        Some(&values[row * self.channels..][..self.channels])
    }

    /// Returns the row of a cloud at an index. All were checked, but the caller's memory may have changed since.
    #[inline(always)]
    fn row<I: RowIndex>(&self, index: I) -> Option<usize> {
        let row = index.row()?;
        if row < self.rows { Some(row) } else { raise(Error::IndicesChanged) }
    }

    fn product(&self, sizes: &[usize]) -> Result<usize, Error> {
        let max_len = isize::MAX as usize / 8;
        // One 0 makes the product 0, whatever the others are.
        if sizes.contains(&0) {
            return Ok(0);
        }
        let product = sizes.iter().try_fold(1usize, |product, &size| product.checked_mul(size));
        product.filter(|&numbers| numbers <= max_len).ok_or_else(|| {
            let sizes: Vec<_> = sizes.iter().map(ToString::to_string).collect();
            Error::Shape(format!("{} numbers are more than memory can hold", sizes.join(" x ")))
        })
    }
}

/// Type of indices: `i32` and `i64`, of which -1 names no row, and `u32`, of which `u32::MAX` names none.
/// No other type can implement it.
pub trait RowIndex: sealed::Index {}

impl RowIndex for u32 {}
impl RowIndex for i32 {}
impl RowIndex for i64 {}

pub(crate) mod sealed {
    /// Conversion of an index.
    pub trait Index: Copy + Send + Sync + 'static {
        /// Returns the row; `None` for -1, and for numbers that no row can have.
        fn row(self) -> Option<usize>;
        /// Returns the number, with -1 for "no row".
        fn number(self) -> i64;
    }

    impl Index for u32 {
        #[inline(always)]
        fn row(self) -> Option<usize> {
            (self != Self::MAX).then_some(self as usize)
        }
        fn number(self) -> i64 {
            if self == Self::MAX { -1 } else { i64::from(self) }
        }
    }

    macro_rules! signed {
        ($($number:ty),*) => { $(
            impl Index for $number {
                #[inline(always)]
                fn row(self) -> Option<usize> {
                    usize::try_from(self).ok()
                }
                fn number(self) -> i64 {
                    i64::from(self)
                }
            }
        )* };
    }
    signed!(i32, i64);
}

/// Checks the size of an array against the shape.
pub(super) fn check_len(what: &str, found: usize, expected: usize) -> Result<(), Error> {
    if found == expected {
        return Ok(());
    }
    Err(Error::Shape(format!("{what}: {found} numbers, but the shape has {expected}")))
}

/// Checks the number of indices against the shape, and that each is -1 or a row; the error names the first bad one.
pub(super) fn check_indices<I: RowIndex>(
    cpu: &Cpu,
    shape: &ValueShape,
    indices: &[I],
) -> Result<(), Error> {
    check_len("indices", indices.len(), shape.indices()?)?;
    let rows = shape.rows;
    let wrong = |index: &I| index.row().map_or(index.number() != -1, |row| row >= rows);
    match parts::first(cpu, indices, wrong)? {
        None => Ok(()),
        Some(place) if wrong(&indices[place]) => {
            Err(Error::IndexOutOfRange { place, index: indices[place].number(), rows })
        }
        Some(_) => Err(Error::IndicesChanged),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_are_checked_products() {
        let shape = ValueShape { clouds: 2, rows: 3, places: 5, k: 7, channels: 11 };
        assert_eq!(shape.values(), Ok(66));
        assert_eq!(shape.indices(), Ok(70));
        assert_eq!(shape.gathered(), Ok(770));
        assert_eq!(shape.reduced(), Ok(110));
        let large = ValueShape { rows: usize::MAX, ..shape };
        let text = large.values().unwrap_err().to_string();
        assert!(text.contains("2 x 18446744073709551615 x 11"), "{text}");
        assert_eq!(ValueShape { channels: 0, ..large }.values(), Ok(0));
    }

    #[test]
    fn minus_one_names_no_row() {
        use sealed::Index;
        assert_eq!([(-1i32).row(), 5i32.row(), i32::MIN.row()], [None, Some(5), None]);
        assert_eq!([(-1i64).row(), (1i64 << 40).row()], [None, Some(1 << 40)]);
        assert_eq!([u32::MAX.row(), 5u32.row()], [None, Some(5)]);
        assert_eq!([u32::MAX.number(), i64::from(u32::MAX - 1)], [-1, (u32::MAX - 1).number()]);
    }
}
