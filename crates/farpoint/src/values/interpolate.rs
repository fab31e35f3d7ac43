//! Weighted sums of rows of values, and their gradients.

use super::shape::{check_indices, check_len};
use super::{RowIndex, ValueShape, parts};
use crate::{Cpu, Error, Scalar};

/// Returns the sum of `weights[m, j] * values[i[m, j], c]` over `j` ascending, for each place `m` and channel
/// `c`: `(clouds, places, channels)`. Product and sum are rounded separately; index -1 adds nothing.
///
/// `values` are `(clouds, rows, channels)`, `indices` and `weights` `(clouds, places, k)`.
///
/// ```
/// use farpoint::{Cpu, values::{ValueShape, interpolate}};
/// let shape = ValueShape { clouds: 1, rows: 2, places: 1, k: 2, channels: 2 };
/// let values = [1.0f32, 2.0, 3.0, 4.0];
/// let between = interpolate(&Cpu::new(), &shape, &values, &[0i64, 1], &[0.25, 0.75])?;
/// assert_eq!(between, [2.5, 3.5]);
/// # Ok::<(), farpoint::Error>(())
/// ```
///
/// # Errors
/// If arrays are not of these sizes, and if an index is neither -1 nor a row of its cloud.
pub fn interpolate<T: Scalar, I: RowIndex>(
    cpu: &Cpu,
    shape: &ValueShape,
    values: &[T],
    indices: &[I],
    weights: &[T],
) -> Result<Vec<T>, Error> {
    check_len("values", values.len(), shape.values()?)?;
    check_len("weights", weights.len(), shape.indices()?)?;
    check_indices(cpu, shape, indices)?;
    let numbers = shape.reduced()?;
    let (channels, k) = (shape.channels, shape.k);
    parts::rows(cpu, numbers.saturating_mul(k), numbers, channels, |first, rows: &mut [T]| {
        for (place, row) in (first..).zip(rows.chunks_exact_mut(channels)) {
            let of_place = place * k..(place + 1) * k;
            for (index, &weight) in indices[of_place.clone()].iter().zip(&weights[of_place]) {
                if let Some(from) = shape.row_of(values, place / shape.places, *index) {
                    add_weighted(row, weight, from);
                }
            }
        }
    })
}

fn add_weighted<T: Scalar>(sums: &mut [T], weight: T, values: &[T]) {
    for (sum, &value) in sums.iter_mut().zip(values) {
        *sum = *sum + weight * value;
    }
}

/// Returns the gradient of the values from `grad`, that of the result of [`interpolate()`]: a row adds
/// `weights[m, j] * grad[m, c]` of the places that name it, by ascending flat place.
///
/// # Errors
/// Same as [`interpolate()`].
pub fn interpolate_backward<T: Scalar, I: RowIndex>(
    cpu: &Cpu,
    shape: &ValueShape,
    indices: &[I],
    weights: &[T],
    grad: &[T],
) -> Result<Vec<T>, Error> {
    check_len("gradients", grad.len(), shape.reduced()?)?;
    check_len("weights", weights.len(), shape.indices()?)?;
    check_indices(cpu, shape, indices)?;
    let (numbers, channels, k) = (shape.values()?, shape.channels, shape.k);
    let work = grad.len().saturating_mul(k);
    parts::destinations(cpu, work, numbers, channels, |range, rows: &mut [T]| {
        for cloud in shape.clouds_of(&range) {
            let of_cloud = cloud * shape.places * k..(cloud + 1) * shape.places * k;
            for (flat, index) in of_cloud.clone().zip(&indices[of_cloud]) {
                let Some(to) = shape.row_in(&range, cloud, *index) else { continue };
                let sent = &grad[flat / k * channels..][..channels];
                add_weighted(&mut rows[to * channels..][..channels], weights[flat], sent);
            }
        }
    })
}

/// Returns the gradient of the weights from `grad`, that of the result of [`interpolate()`]: for each index the
/// sum of `grad[m, c] * values[i[m, j], c]` over the channels, as 32 partial sums; 0 for index -1.
///
/// # Errors
/// Same as [`interpolate()`].
pub fn interpolate_weights_backward<T: Scalar, I: RowIndex>(
    cpu: &Cpu,
    shape: &ValueShape,
    values: &[T],
    indices: &[I],
    grad: &[T],
) -> Result<Vec<T>, Error> {
    check_len("values", values.len(), shape.values()?)?;
    check_len("gradients", grad.len(), shape.reduced()?)?;
    check_indices(cpu, shape, indices)?;
    let (channels, k) = (shape.channels, shape.k);
    let work = grad.len().saturating_mul(k);
    parts::rows(cpu, work, indices.len(), k.max(1), |first, rows: &mut [T]| {
        for (place, row) in (first..).zip(rows.chunks_exact_mut(k)) {
            let sent = &grad[place * channels..][..channels];
            for (gradient, index) in row.iter_mut().zip(&indices[place * k..][..k]) {
                if let Some(from) = shape.row_of(values, place / shape.places, *index) {
                    *gradient = dot(sent, from);
                }
            }
        }
    })
}

/// Number of partial sums over channels.
const PARTS: usize = 32;

/// Returns the sum of the products, in the order of all sums over channels.
fn dot<T: Scalar>(a: &[T], b: &[T]) -> T {
    let mut sums = [T::ZERO; PARTS];
    for (a, b) in a.chunks(PARTS).zip(b.chunks(PARTS)) {
        for (sum, (&a, &b)) in sums.iter_mut().zip(a.iter().zip(b)) {
            *sum = *sum + a * b;
        }
    }
    let mut half = PARTS / 2;
    while half > 0 {
        for part in 0..half {
            sums[part] = sums[part] + sums[part + half];
        }
        half /= 2;
    }
    sums[0]
}
