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
/// | what `gather` gives, what `gather_max` adds | `(clouds, places, k, channels)` |
/// | what `gather_max` and `interpolate` give | `(clouds, places, channels)` |
///
/// A ragged batch is one cloud.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct ValueShape {
    /// Clouds of the batch.
    pub clouds: usize,
    /// Rows of values of each cloud.
    pub rows: usize,
    /// Rows of the result of each cloud.
    pub places: usize,
    /// Indices of each row of the result.
    pub k: usize,
    /// Channels of a row of values.
    pub channels: usize,
}

impl ValueShape {
    /// Numbers of the values.
    ///
    /// # Errors
    /// If they are more than memory can hold.
    pub fn values(&self) -> Result<usize, Error> {
        self.product(&[self.clouds, self.rows, self.channels])
    }

    /// Indices.
    ///
    /// # Errors
    /// As [`ValueShape::values`].
    pub fn indices(&self) -> Result<usize, Error> {
        self.product(&[self.clouds, self.places, self.k])
    }

    /// Numbers of a result with a row per index.
    ///
    /// # Errors
    /// As [`ValueShape::values`].
    pub fn gathered(&self) -> Result<usize, Error> {
        self.product(&[self.clouds, self.places, self.k, self.channels])
    }

    /// Numbers of a result with a row per place.
    ///
    /// # Errors
    /// As [`ValueShape::values`].
    pub fn reduced(&self) -> Result<usize, Error> {
        self.product(&[self.clouds, self.places, self.channels])
    }

    /// The clouds that have one of these rows of the whole batch.
    pub(super) fn clouds_of(&self, rows: &Range<usize>) -> Range<usize> {
        rows.start / self.rows..rows.end.div_ceil(self.rows)
    }

    /// Which of these rows of the whole batch an index of a cloud names, if one of them.
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

    /// The row of the values that an index of a cloud names.
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

    /// The row of a cloud that an index names. All were checked, but the caller's memory may have changed since.
    #[inline(always)]
    fn row<I: RowIndex>(&self, index: I) -> Option<usize> {
        let row = index.row()?;
        if row < self.rows { Some(row) } else { raise(Error::IndicesChanged) }
    }

    fn product(&self, sizes: &[usize]) -> Result<usize, Error> {
        let most = isize::MAX as usize / 8;
        // One 0 makes all 0, whatever the others are.
        if sizes.contains(&0) {
            return Ok(0);
        }
        let product = sizes.iter().try_fold(1usize, |product, &size| product.checked_mul(size));
        product.filter(|&numbers| numbers <= most).ok_or_else(|| {
            let sizes: Vec<_> = sizes.iter().map(ToString::to_string).collect();
            Error::Shape(format!("{} numbers are more than memory can hold", sizes.join(" x ")))
        })
    }
}

/// The type of indices: `i32` and `i64`, of which -1 names no row, and `u32`, of which `u32::MAX` does.
/// No other type can implement it.
pub trait RowIndex: sealed::Index {}

impl RowIndex for u32 {}
impl RowIndex for i32 {}
impl RowIndex for i64 {}

pub(crate) mod sealed {
    /// What an index stands for.
    pub trait Index: Copy + Send + Sync + 'static {
        /// The row it names; `None` for -1, and for numbers that no row can have.
        fn row(self) -> Option<usize>;
        /// The number, with -1 for "no row".
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

/// Refuses an array of another size than the shape says.
pub(super) fn check_len(what: &str, found: usize, expected: usize) -> Result<(), Error> {
    if found == expected {
        return Ok(());
    }
    Err(Error::Shape(format!("{what}: {found} numbers were given where the shape has {expected}")))
}

/// Refuses indices that are as many as the shape says, but neither -1 nor a row; the error names the first.
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
    fn sizes_are_products_that_are_checked() {
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
