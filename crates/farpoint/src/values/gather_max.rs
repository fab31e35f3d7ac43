//! Maximum of several rows of values, channel by channel, and its gradients.

use super::shape::{check_indices, check_len};
use super::{RowIndex, ValueShape, parts};
use crate::simd::{self, Kernel, Program, Simd};
use crate::{Cpu, Error, Scalar, unwind};

/// Result of [`gather_max()`]: `(clouds, places, channels)` both.
#[derive(Debug, Clone, PartialEq)]
pub struct GatherMax<T> {
    /// The maxima.
    pub values: Vec<T>,
    /// The `j` of each, used by gradients; -1 if no index names a row.
    pub chosen: Vec<i32>,
}

/// Result of [`gather_max_backward`].
#[derive(Debug, Clone, PartialEq)]
pub struct GatherMaxGradients<T> {
    /// Gradient of the values, `(clouds, rows, channels)`.
    pub values: Vec<T>,
    /// Gradient of `add`, `(clouds, places, k, channels)`, if requested.
    pub add: Option<Vec<T>>,
}

/// Returns the largest of `values[i[m, j], c] + add[m, j, c]` over `j`, for each place `m` and channel `c`.
/// No array of the size of `add` is allocated.
///
/// `values` are `(clouds, rows, channels)`, `indices` `(clouds, places, k)`, `add` is
/// `(clouds, places, k, channels)`. Index -1 takes no part; a place without any row gets 0. Among equals
/// the lowest `j` is chosen. NaN is larger than any number, and the first one is chosen.
///
/// ```
/// use farpoint::{Cpu, values::{ValueShape, gather_max}};
/// let shape = ValueShape { clouds: 1, rows: 2, places: 1, k: 3, channels: 2 };
/// let largest = gather_max(&Cpu::new(), &shape, &[1.0f32, 4.0, 3.0, 2.0], &[-1i64, 0, 1], None)?;
/// assert_eq!(largest.values, [3.0, 4.0]);
/// assert_eq!(largest.chosen, [2, 1]);
/// # Ok::<(), farpoint::Error>(())
/// ```
///
/// # Errors
/// If arrays are not of these sizes, if an index is neither -1 nor a row of its cloud, and if `k` is
/// above `i32::MAX`.
pub fn gather_max<T: Scalar, I: RowIndex>(
    cpu: &Cpu,
    shape: &ValueShape,
    values: &[T],
    indices: &[I],
    add: Option<&[T]>,
) -> Result<GatherMax<T>, Error> {
    check_len("values", values.len(), shape.values()?)?;
    check_k(shape)?;
    if let Some(add) = add {
        check_len("add", add.len(), shape.gathered()?)?;
    }
    check_indices(cpu, shape, indices)?;
    let numbers = shape.reduced()?;
    let level = simd::choose(cpu.level)?;
    let fill = |first: usize, best: &mut [T], chosen: &mut [i32]| {
        simd::dispatch(level, Maxima { shape, values, indices, add, first, best, chosen });
    };
    let work = numbers.saturating_mul(shape.k);
    let (values, chosen) = parts::rows_of_two(cpu, work, (numbers, -1), shape.channels, fill)?;
    Ok(GatherMax { values, chosen })
}

/// Maxima of some places, from `first` on.
struct Maxima<'a, T, I> {
    shape: &'a ValueShape,
    values: &'a [T],
    indices: &'a [I],
    add: Option<&'a [T]>,
    first: usize,
    best: &'a mut [T],
    chosen: &'a mut [i32],
}

impl<T: Scalar, I: RowIndex> Program<T> for Maxima<'_, T, I> {
    type Output = ();
    fn run<S: Simd<T>>(self, simd: S) {
        simd.vectorize(self);
    }
}

impl<T: Scalar, I: RowIndex> Kernel<T> for Maxima<'_, T, I> {
    type Output = ();

    #[inline(always)]
    fn run<S: Simd<T>>(self, _: S) {
        let (channels, k) = (self.shape.channels, self.shape.k);
        let rows = self.best.chunks_exact_mut(channels).zip(self.chosen.chunks_exact_mut(channels));
        for (place, (best, chosen)) in (self.first..).zip(rows) {
            let cloud = place / self.shape.places;
            let row = |j: usize| {
                let flat = place * k + j;
                let values = self.shape.row_of(self.values, cloud, self.indices[flat])?;
                Some((values, self.add.map(|add| &add[flat * channels..][..channels])))
            };
            let at = blocks::<T, 32>(0, k, row, best, chosen);
            let at = blocks::<T, 8>(at, k, row, best, chosen);
            if at == channels {
                continue;
            }
            for (j, (values, add)) in (0..k).filter_map(|j| Some((j, row(j)?))) {
                let add = add.map(|add| &add[at..]);
                raise(&mut best[at..], &mut chosen[at..], &values[at..], add, j as i32);
            }
        }
    }
}

/// Takes the maxima of a place in blocks of `N` channels from channel `at` on, which stay in registers while all `k`
/// rows are read; returns the first channel that is left. `row` returns values and what is added to them.
#[inline(always)]
fn blocks<'a, T: Scalar, const N: usize>(
    mut at: usize,
    k: usize,
    row: impl Fn(usize) -> Option<(&'a [T], Option<&'a [T]>)>,
    best: &mut [T],
    chosen: &mut [i32],
) -> usize {
    let block = |row: &'a [T], at: usize| row[at..].first_chunk::<N>();
    while at + N <= best.len() {
        let (mut largest, mut of) = ([T::ZERO; N], [-1; N]);
        for j in 0..k {
            let Some((values, add)) = row(j) else { continue };
            let Some(mut sums) = block(values, at).copied() else { continue };
            if let Some(add) = add.and_then(|add| block(add, at)) {
                for c in 0..N {
                    sums[c] = sums[c] + add[c];
                }
            }
            raise(&mut largest, &mut of, &sums, None, j as i32);
        }
        best[at..at + N].copy_from_slice(&largest);
        chosen[at..at + N].copy_from_slice(&of);
        at += N;
    }
    at
}

/// Raises the maxima of a place to a row's values: where they are larger or NaN, unless a NaN was chosen.
#[inline(always)]
fn raise<T: Scalar>(best: &mut [T], chosen: &mut [i32], row: &[T], add: Option<&[T]>, j: i32) {
    for (c, (best, chosen)) in best.iter_mut().zip(chosen).enumerate() {
        let sum = add.map_or(row[c], |add| row[c] + add[c]);
        let takes = ((sum > *best) | is_nan(sum)) & !is_nan(*best) | (*chosen < 0);
        *best = if takes { sum } else { *best };
        *chosen = if takes { j } else { *chosen };
    }
}

#[inline(always)]
#[expect(clippy::eq_op, reason = "only NaN differs from itself")]
fn is_nan<T: Scalar>(value: T) -> bool {
    value != value
}

/// Returns the gradients from `grad`, that of the maxima: each goes to the place that `chosen` names. A row of
/// values adds its contributions by ascending place.
///
/// `chosen` is the one that [`gather_max()`] returned for these `indices`.
///
/// # Errors
/// Same as [`gather_max()`], and if a number of `chosen` is outside `-1..k`.
pub fn gather_max_backward<T: Scalar, I: RowIndex>(
    cpu: &Cpu,
    shape: &ValueShape,
    indices: &[I],
    chosen: &[i32],
    grad: &[T],
    with_add: bool,
) -> Result<GatherMaxGradients<T>, Error> {
    let numbers = shape.reduced()?;
    check_len("gradients", grad.len(), numbers)?;
    check_len("chosen places", chosen.len(), numbers)?;
    check_k(shape)?;
    check_indices(cpu, shape, indices)?;
    check_chosen(cpu, shape, chosen)?;
    let (rows, channels) = (shape.values()?, shape.channels);
    let values = parts::destinations(cpu, numbers, rows, channels, |range, rows: &mut [T]| {
        for cloud in shape.clouds_of(&range) {
            for place in cloud * shape.places..(cloud + 1) * shape.places {
                let sent = &grad[place * channels..][..channels];
                let chosen = &chosen[place * channels..][..channels];
                let of_place = &indices[place * shape.k..][..shape.k];
                for (c, (&sent, &j)) in sent.iter().zip(chosen).enumerate() {
                    let index = usize::try_from(j).ok().map(|j| of_place.get(j).copied());
                    let index = index
                        .map(|index| index.unwrap_or_else(|| unwind::raise(Error::IndicesChanged)));
                    if let Some(to) = index.and_then(|index| shape.row_in(&range, cloud, index)) {
                        let sum = &mut rows[to * channels + c];
                        *sum = *sum + sent;
                    }
                }
            }
        }
    })?;
    let add = with_add.then(|| of_added(cpu, shape, chosen, grad)).transpose()?;
    Ok(GatherMaxGradients { values, add })
}

/// Returns the gradient of `add`.
fn of_added<T: Scalar>(
    cpu: &Cpu,
    shape: &ValueShape,
    chosen: &[i32],
    grad: &[T],
) -> Result<Vec<T>, Error> {
    let (numbers, channels) = (shape.gathered()?, shape.channels);
    parts::rows(cpu, numbers, numbers, channels, |first, rows: &mut [T]| {
        for (flat, row) in (first..).zip(rows.chunks_exact_mut(channels)) {
            let (place, j) = (flat / shape.k, (flat % shape.k) as i32);
            let of_place = place * channels..(place + 1) * channels;
            let sent = grad[of_place.clone()].iter().zip(&chosen[of_place]);
            for (gradient, (&sent, &chosen)) in row.iter_mut().zip(sent) {
                *gradient = if chosen == j { sent } else { T::ZERO };
            }
        }
    })
}

fn check_k(shape: &ValueShape) -> Result<(), Error> {
    match i32::try_from(shape.k) {
        Ok(_) => Ok(()),
        Err(_) => Err(Error::Shape(format!(
            "k = {} is more than the {} that a maximum can be chosen from",
            shape.k,
            i32::MAX
        ))),
    }
}

fn check_chosen(cpu: &Cpu, shape: &ValueShape, chosen: &[i32]) -> Result<(), Error> {
    let wrong = |&j: &i32| j < -1 || j >= shape.k as i32;
    match parts::first(cpu, chosen, wrong)? {
        None => Ok(()),
        Some(at) => Err(Error::Shape(format!(
            "chosen place {} of number {at} is outside -1..{}; pass the result of gather_max",
            chosen[at], shape.k
        ))),
    }
}
