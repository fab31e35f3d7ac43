//! Shared input and output of sampling and matching: checks of addresses, uploads of clouds in host
//! memory, lists of numbers.

use crate::memory::Buffer;
use crate::{CudaScalar, Error, Stream};
use farpoint::NonFinite;
use farpoint::backend::memory as fallible;

/// Maximum number of clouds or axes per launch.
const MAX_BATCH: usize = 1 << 24;

/// Maximum number of rows per cloud: kernels count rows in 32 bits, and step beyond the last one by the number of
/// threads of a card; 2^20 are those of 512 multiprocessors.
pub(crate) const MAX_ROWS: usize = (1 << 32) - (1 << 20);

fn shape_error(message: String) -> Result<(), Error> {
    Err(farpoint::Error::Shape(message).into())
}

/// Refuses more clouds or axes than a launch can have, and points without coordinates.
pub(crate) fn check_batch(clouds: usize, dims: usize) -> Result<(), Error> {
    if clouds > MAX_BATCH || dims > MAX_BATCH {
        return shape_error(format!(
            "{clouds} clouds of {dims} axes exceed the limit of one launch, 2^24 of each"
        ));
    }
    if dims == 0 {
        return shape_error("the points have no coordinates".into());
    }
    Ok(())
}

/// Refuses more rows per cloud than kernels can count.
pub fn check_rows(rows: usize) -> Result<(), Error> {
    if rows >= u32::MAX as usize {
        return Err(farpoint::Error::TooManyPoints(rows).into());
    }
    if rows > MAX_ROWS {
        return shape_error(format!(
            "a cloud of {rows} rows exceeds the limit of {MAX_ROWS} on a GPU; use the CPU, or \
             fewer rows"
        ));
    }
    Ok(())
}

/// Refuses more rows per cloud than kernels can count, and misaligned or null addresses of points.
pub(crate) fn check_points<T>(points: u64, clouds: usize, rows: usize) -> Result<(), Error> {
    check_rows(rows)?;
    if clouds > 0 && rows > 0 && points == 0 {
        return shape_error("the address of the points is null".into());
    }
    check_aligned::<T>(points, "points")
}

/// Returns an error if an address is not aligned for this type.
pub(crate) fn check_aligned<N>(address: u64, name: &str) -> Result<(), Error> {
    if address.is_multiple_of(size_of::<N>() as u64) {
        return Ok(());
    }
    shape_error(format!("the {name} at {address:#x} are not aligned"))
}

/// Refuses to drop rows of clouds in device memory.
pub(crate) fn check_non_finite(non_finite: NonFinite) -> Result<(), Error> {
    match non_finite {
        NonFinite::Error => Ok(()),
        _ => Err(Error::Unsupported(
            "non-finite rows of clouds in device memory can't be dropped; find them with \
             find_non_finite"
                .into(),
        )),
    }
}

/// A cloud in host memory, axis by axis.
pub(crate) trait Columns<T> {
    /// Number of points.
    fn points(&self) -> usize;
    /// Coordinates per point.
    fn dims(&self) -> usize;
    /// The coordinates of all points on one axis.
    fn axis(&self, axis: usize) -> &[T];
}

/// Uploads clouds of at most `dims` axes: axis by axis, clouds one after another.
pub(crate) fn upload<T: CudaScalar>(
    stream: &Stream,
    clouds: &[impl Columns<T>],
    dims: usize,
) -> Result<Buffer<T>, Error> {
    let rows: usize = clouds.iter().map(Columns::points).sum();
    let mut points = Buffer::new(stream, rows * dims, "the points")?;
    if let [cloud] = clouds {
        for axis in 0..dims {
            points.write(axis * rows, cloud.axis(axis))?;
        }
    } else {
        // One large copy takes less time than many small ones.
        points.write(0, &gather(clouds, dims, rows))?;
    }
    Ok(points)
}

/// Gathers coordinates axis by axis, clouds one after another. A cloud with fewer axes than others gets
/// zeros, which change no distance.
fn gather<T: CudaScalar>(clouds: &[impl Columns<T>], dims: usize, rows: usize) -> Vec<T> {
    let mut all = fallible::with_capacity(rows * dims);
    for axis in 0..dims {
        for cloud in clouds {
            if axis < cloud.dims() {
                all.extend_from_slice(cloud.axis(axis));
            } else {
                all.resize(all.len() + cloud.points(), T::ZERO);
            }
        }
    }
    all
}

/// Returns 0 and the running sums.
pub(crate) fn sums(numbers: impl Iterator<Item = usize>) -> Vec<i64> {
    let mut sum = 0;
    let sums = numbers.map(|number| {
        sum += number as i64;
        sum
    });
    std::iter::once(0).chain(sums).collect()
}

/// Returns the address of each of several lists in an array that holds them one after another; 0 for
/// empty ones.
pub(crate) fn addresses<const N: usize>(buffer: &Buffer<i64>, lists: &[Vec<i64>; N]) -> [u64; N] {
    let mut next = buffer.pointer();
    lists.each_ref().map(|list| {
        let begin = next;
        next += 8 * list.len() as u64;
        if list.is_empty() { 0 } else { begin }
    })
}

/// Error of an invalid number in a kernel's result.
pub(crate) fn invalid_result(kernel: &str, number: i64) -> Error {
    let reason = format!("its result holds the invalid number {number}");
    Error::Kernel { name: kernel.into(), reason }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_beyond_32_bits_with_a_stride_are_rejected() {
        let message = |rows| check_rows(rows).unwrap_err().to_string();
        assert!(check_rows(MAX_ROWS).is_ok());
        // The largest strides: the threads of a card, and a tile of points per block.
        assert!(u32::try_from(MAX_ROWS + 512 * 2_048 - 1).is_ok());
        let text = message(MAX_ROWS + 1);
        assert!(
            text.contains("4293918721 rows") && text.contains("limit of 4293918720 "),
            "{text}"
        );
        assert!(message(u32::MAX as usize).contains("4294967295 points"));
    }
}
