//! Reductions of the values of all places that name a row, such as the points of a voxel, and their gradients.

use super::shape::{check_indices, check_len};
use super::{RowIndex, ValueShape, parts};
use crate::unwind::caught;
use crate::{Cpu, Error, Scalar, memory};
use std::ops::Range;

/// Result of [`scatter_max()`]: `(clouds, rows, channels)` both.
#[derive(Debug, Clone, PartialEq)]
pub struct ScatterMax<T> {
    /// The maxima.
    pub values: Vec<T>,
    /// The flat place `m * k + j` within its cloud of each, used by gradients; -1 if no index names the row.
    pub chosen: Vec<i64>,
}

/// Returns the mean of the values of the places that name a row: `(clouds, rows, channels)`, 0 for rows that none
/// names. Sums of ascending flat places, beginning at 0, and their division by the number of places are computed in
/// double precision and rounded once.
///
/// `values` are `(clouds, places, k, channels)`, `indices` `(clouds, places, k)`; index -1 takes no part.
///
/// ```
/// use farpoint::{Cpu, VoxelGrid, values::{ValueShape, scatter_mean}};
/// let voxels = VoxelGrid::new(1.0).downsample(&[[0.1f32], [5.2], [0.7]])?;
/// let shape = ValueShape { clouds: 1, rows: voxels.len(), places: 3, k: 1, channels: 1 };
/// let means = scatter_mean(&Cpu::new(), &shape, &[1.0f32, 7.0, 2.0], &voxels.inverse)?;
/// assert_eq!(means, [1.5, 7.0]);
/// # Ok::<(), farpoint::Error>(())
/// ```
///
/// # Errors
/// If arrays are not of these sizes, and if an index is neither -1 nor a row of its cloud.
pub fn scatter_mean<T: Scalar, I: RowIndex>(
    cpu: &Cpu,
    shape: &ValueShape,
    values: &[T],
    indices: &[I],
) -> Result<Vec<T>, Error> {
    check_len("values", values.len(), shape.gathered()?)?;
    check_indices(cpu, shape, indices)?;
    let (numbers, channels) = (shape.values()?, shape.channels);
    parts::destinations(cpu, values.len(), numbers, channels, |range, means: &mut [T]| {
        let mut sums = memory::zeros::<f64>(means.len());
        let mut counts = memory::zeros::<u64>(range.len());
        for_each_named(shape, indices, &range, |flat, row| {
            counts[row] += 1;
            let sent = &values[flat * channels..][..channels];
            for (sum, &value) in sums[row * channels..][..channels].iter_mut().zip(sent) {
                *sum += value.to_f64();
            }
        });
        let rows = means.chunks_exact_mut(channels).zip(sums.chunks_exact(channels));
        for ((means, sums), count) in rows.zip(counts).filter(|(_, count)| *count > 0) {
            for (mean, sum) in means.iter_mut().zip(sums) {
                *mean = T::from_f64(sum / count as f64);
            }
        }
    })
}

/// Returns the gradient of the values from `grad`, that of the result of [`scatter_mean()`]: that of the row that a
/// place names, divided by the number of places that name it, in double precision and rounded once; 0 for index -1.
///
/// # Errors
/// As [`scatter_mean()`].
pub fn scatter_mean_backward<T: Scalar, I: RowIndex>(
    cpu: &Cpu,
    shape: &ValueShape,
    indices: &[I],
    grad: &[T],
) -> Result<Vec<T>, Error> {
    check_len("gradients", grad.len(), shape.values()?)?;
    check_indices(cpu, shape, indices)?;
    let alone = ValueShape { channels: 1, ..*shape };
    let rows = alone.values()?;
    let counts = parts::destinations(cpu, indices.len(), rows, 1, |range, counts: &mut [u64]| {
        for_each_named(shape, indices, &range, |_, row| counts[row] += 1);
    })?;
    let (numbers, channels) = (shape.gathered()?, shape.channels);
    let of_cloud = shape.places * shape.k;
    parts::rows(cpu, numbers, numbers, channels, |first, rows: &mut [T]| {
        for (flat, row) in (first..).zip(rows.chunks_exact_mut(channels)) {
            let cloud = flat / of_cloud;
            let sent = shape.row_of(grad, cloud, indices[flat]);
            let count = alone.row_of(&counts, cloud, indices[flat]);
            let Some((sent, count)) = sent.zip(count) else { continue };
            for (gradient, &sent) in row.iter_mut().zip(sent) {
                *gradient = T::from_f64(sent.to_f64() / count[0] as f64);
            }
        }
    })
}

/// Returns the largest of the values of the places that name a row, channel by channel: 0 for rows that none names.
/// Among equals the lowest flat place is chosen. NaN is larger than any number, and the first one is chosen.
///
/// `values` are `(clouds, places, k, channels)`, `indices` `(clouds, places, k)`; index -1 takes no part.
///
/// # Errors
/// As [`scatter_mean()`].
pub fn scatter_max<T: Scalar, I: RowIndex>(
    cpu: &Cpu,
    shape: &ValueShape,
    values: &[T],
    indices: &[I],
) -> Result<ScatterMax<T>, Error> {
    check_len("values", values.len(), shape.gathered()?)?;
    check_indices(cpu, shape, indices)?;
    let (numbers, channels) = (shape.values()?, shape.channels);
    let of_cloud = shape.places * shape.k;
    let chosen = parts::destinations(cpu, values.len(), numbers, channels, |range, chosen| {
        // Flat places of the batch.
        chosen.fill(-1i64);
        for_each_named(shape, indices, &range, |flat, row| {
            let of_row = chosen[row * channels..][..channels].iter_mut();
            for (chosen, (c, &value)) in
                of_row.zip(values[flat * channels..][..channels].iter().enumerate())
            {
                let is_larger = usize::try_from(*chosen).map_or(true, |best| {
                    let best = values[best * channels + c];
                    value > best || (is_nan(value) && !is_nan(best))
                });
                if is_larger {
                    *chosen = flat as i64;
                }
            }
        });
        let first = range.start;
        for (at, chosen) in chosen.iter_mut().enumerate().filter(|(_, chosen)| **chosen >= 0) {
            let cloud = (first + at / channels) / shape.rows;
            *chosen -= (cloud * of_cloud) as i64;
        }
    })?;
    let values = parts::rows(cpu, numbers, numbers, channels, |first, rows: &mut [T]| {
        for (at, value) in (first * channels..).zip(rows) {
            if let Ok(place) = usize::try_from(chosen[at]) {
                let cloud = at / channels / shape.rows;
                *value = values[(cloud * of_cloud + place) * channels + at % channels];
            }
        }
    })?;
    Ok(ScatterMax { values, chosen })
}

/// Returns the gradient of the values from `grad`, that of the maxima: each goes to the place that `chosen` names.
///
/// `chosen` is the one that [`scatter_max()`] returned for these `indices`.
///
/// # Errors
/// As [`scatter_mean()`], and if a number of `chosen` is neither -1 nor a place.
pub fn scatter_max_backward<T: Scalar, I: RowIndex>(
    cpu: &Cpu,
    shape: &ValueShape,
    indices: &[I],
    chosen: &[i64],
    grad: &[T],
) -> Result<Vec<T>, Error> {
    check_len("gradients", grad.len(), shape.values()?)?;
    check_len("chosen places", chosen.len(), shape.values()?)?;
    check_indices(cpu, shape, indices)?;
    let of_cloud = shape.places * shape.k;
    let wrong = |&place: &i64| place < -1 || place >= of_cloud as i64;
    if let Some(at) = parts::first(cpu, chosen, wrong)? {
        return Err(Error::Shape(format!(
            "chosen place {} of number {at} is outside -1..{of_cloud}; pass the result of scatter_max",
            chosen[at]
        )));
    }
    let (numbers, channels) = (shape.gathered()?, shape.channels);
    parts::rows(cpu, numbers, numbers, channels, |first, rows: &mut [T]| {
        for (flat, row) in (first..).zip(rows.chunks_exact_mut(channels)) {
            let (cloud, place) = (flat / of_cloud, (flat % of_cloud) as i64);
            let sent = shape.row_of(grad, cloud, indices[flat]);
            let chosen = shape.row_of(chosen, cloud, indices[flat]);
            let Some((sent, chosen)) = sent.zip(chosen) else { continue };
            for (gradient, (&sent, &chosen)) in row.iter_mut().zip(sent.iter().zip(chosen)) {
                if chosen == place {
                    *gradient = sent;
                }
            }
        }
    })
}

/// Returns the most frequent of the labels of the places that name a row, the lowest among equals; `none` for rows that
/// none names: `(clouds, rows)`.
///
/// `labels` and `indices` are `(clouds, places, k)`; the channels of the shape are not used.
///
/// ```
/// use farpoint::{Cpu, values::{ValueShape, scatter_mode}};
/// let shape = ValueShape { clouds: 1, rows: 3, places: 5, k: 1, channels: 1 };
/// let labels = scatter_mode(&Cpu::new(), &shape, &[9, 4, 4, 7, 3], &[0i64, 0, 0, 1, 1], -1)?;
/// assert_eq!(labels, [4, 3, -1]);
/// # Ok::<(), farpoint::Error>(())
/// ```
///
/// # Errors
/// As [`scatter_mean()`].
pub fn scatter_mode<L: Copy + Ord + Send + Sync, I: RowIndex>(
    cpu: &Cpu,
    shape: &ValueShape,
    labels: &[L],
    indices: &[I],
    none: L,
) -> Result<Vec<L>, Error> {
    check_len("labels", labels.len(), shape.indices()?)?;
    check_indices(cpu, shape, indices)?;
    let rows = ValueShape { channels: 1, ..*shape }.values()?;
    caught(|| {
        let (mut sorted, ends) = by_row(shape, labels, indices, rows);
        let mut begin = 0;
        Ok(memory::collected(ends.into_iter().map(|end| {
            let of_row = &mut sorted[begin..end];
            begin = end;
            of_row.sort_unstable();
            most_frequent(of_row).unwrap_or(none)
        })))
    })
}

/// Returns the labels of all rows, one row after another, and where each row ends.
fn by_row<L: Copy, I: RowIndex>(
    shape: &ValueShape,
    labels: &[L],
    indices: &[I],
    rows: usize,
) -> (Vec<L>, Vec<usize>) {
    let mut next = memory::zeros::<usize>(rows);
    if rows == 0 || labels.is_empty() {
        return (Vec::new(), next);
    }
    for_each_named(shape, indices, &(0..rows), |_, row| next[row] += 1);
    let mut sum = 0;
    for count in &mut next {
        sum += std::mem::replace(count, sum);
    }
    let mut sorted = memory::filled(sum, labels[0]);
    for_each_named(shape, indices, &(0..rows), |flat, row| {
        sorted[next[row]] = labels[flat];
        next[row] += 1;
    });
    (sorted, next)
}

/// Returns the first of the longest runs of equal labels.
fn most_frequent<L: Copy + Ord>(sorted: &[L]) -> Option<L> {
    let runs = sorted.chunk_by(|a, b| a == b);
    let longest = runs.reduce(|best, run| if run.len() > best.len() { run } else { best });
    longest.map(|run| run[0])
}

/// Calls `visit` with each flat place, ascending, that names one of these rows of the whole batch, and with the row's
/// number among them.
#[inline(always)]
fn for_each_named<I: RowIndex>(
    shape: &ValueShape,
    indices: &[I],
    rows: &Range<usize>,
    mut visit: impl FnMut(usize, usize),
) {
    let of_cloud = shape.places * shape.k;
    for cloud in shape.clouds_of(rows) {
        let places = cloud * of_cloud..(cloud + 1) * of_cloud;
        for (flat, index) in places.clone().zip(&indices[places]) {
            if let Some(row) = shape.row_in(rows, cloud, *index) {
                visit(flat, row);
            }
        }
    }
}

#[expect(clippy::eq_op, reason = "only NaN differs from itself")]
fn is_nan<T: Scalar>(value: T) -> bool {
    value != value
}
