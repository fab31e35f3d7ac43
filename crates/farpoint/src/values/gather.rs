//! Gathers of rows of values by index, and their gradients.

use super::shape::{check_indices, check_len};
use super::{RowIndex, ValueShape, parts};
use crate::{Cpu, Error, Scalar};

/// Returns the rows of `values` at `indices`: `(clouds, places, k, channels)`, zeros for index -1.
///
/// `values` are `(clouds, rows, channels)`, `indices` `(clouds, places, k)`.
///
/// ```
/// use farpoint::{Cpu, values::{ValueShape, gather}};
/// let shape = ValueShape { clouds: 1, rows: 2, places: 3, k: 1, channels: 2 };
/// let rows = gather(&Cpu::new(), &shape, &[1.0f32, 2.0, 3.0, 4.0], &[1i64, -1, 1])?;
/// assert_eq!(rows, [3.0, 4.0, 0.0, 0.0, 3.0, 4.0]);
/// # Ok::<(), farpoint::Error>(())
/// ```
///
/// # Errors
/// If arrays are not of these sizes, and if an index is neither -1 nor a row of its cloud.
pub fn gather<T: Scalar, I: RowIndex>(
    cpu: &Cpu,
    shape: &ValueShape,
    values: &[T],
    indices: &[I],
) -> Result<Vec<T>, Error> {
    check_len("values", values.len(), shape.values()?)?;
    let numbers = shape.gathered()?;
    check_indices(cpu, shape, indices)?;
    let (channels, of_cloud) = (shape.channels, shape.places * shape.k);
    parts::rows(cpu, numbers, numbers, channels, |first, rows: &mut [T]| {
        let named = rows.chunks_exact_mut(channels).zip(&indices[first..]);
        for (place, (row, index)) in (first..).zip(named) {
            if let Some(from) = shape.row_of(values, place / of_cloud, *index) {
                row.copy_from_slice(from);
            }
        }
    })
}

/// Returns the gradient of the values from `grad`, that of the result of [`gather()`]: a row adds the gradients
/// of the places that name it, by ascending flat place.
///
/// # Errors
/// Same as [`gather()`].
pub fn gather_backward<T: Scalar, I: RowIndex>(
    cpu: &Cpu,
    shape: &ValueShape,
    indices: &[I],
    grad: &[T],
) -> Result<Vec<T>, Error> {
    check_len("gradients", grad.len(), shape.gathered()?)?;
    check_indices(cpu, shape, indices)?;
    let (numbers, channels) = (shape.values()?, shape.channels);
    parts::destinations(cpu, grad.len(), numbers, channels, |range, rows: &mut [T]| {
        let of_cloud = shape.places * shape.k;
        for cloud in shape.clouds_of(&range) {
            let places = cloud * of_cloud..(cloud + 1) * of_cloud;
            for (place, index) in places.clone().zip(&indices[places]) {
                let Some(to) = shape.row_in(&range, cloud, *index) else { continue };
                let row = &mut rows[to * channels..][..channels];
                let sent = &grad[place * channels..][..channels];
                for (sum, &sent) in row.iter_mut().zip(sent) {
                    *sum = *sum + sent;
                }
            }
        }
    })
}
