//! Straightforward loops that define the results of all operators on values. They check nothing: arrays must
//! have the sizes of the shape, and indices be -1 or a row.

use super::{GatherMax, GatherMaxGradients, InverseDistance, RowIndex, ScatterMax, ValueShape};
use crate::Scalar;
use std::collections::BTreeMap;

/// Calls `visit` with each place of the batch, its flat index place, and the row of the batch at
/// that index, if any.
fn each<I: RowIndex>(
    shape: &ValueShape,
    indices: &[I],
    mut visit: impl FnMut(usize, usize, Option<usize>),
) {
    for cloud in 0..shape.clouds {
        for place in cloud * shape.places..(cloud + 1) * shape.places {
            let of_place = place * shape.k..(place + 1) * shape.k;
            for (flat, index) in of_place.clone().zip(&indices[of_place]) {
                visit(place, flat, index.row().map(|row| cloud * shape.rows + row));
            }
        }
    }
}

/// Defines [`super::gather()`].
pub fn gather<T: Scalar, I: RowIndex>(shape: &ValueShape, values: &[T], indices: &[I]) -> Vec<T> {
    let mut gathered = Vec::new();
    each(shape, indices, |_, _, row| {
        for c in 0..shape.channels {
            gathered.push(row.map_or(T::ZERO, |row| values[row * shape.channels + c]));
        }
    });
    gathered
}

/// Defines [`super::gather_backward`].
pub fn gather_backward<T: Scalar, I: RowIndex>(
    shape: &ValueShape,
    indices: &[I],
    grad: &[T],
) -> Vec<T> {
    let channels = shape.channels;
    let mut sums = vec![T::ZERO; shape.clouds * shape.rows * channels];
    for c in 0..channels {
        each(shape, indices, |_, flat, row| {
            if let Some(row) = row {
                sums[row * channels + c] = sums[row * channels + c] + grad[flat * channels + c];
            }
        });
    }
    sums
}

/// Defines [`super::gather_max()`].
pub fn gather_max<T: Scalar, I: RowIndex>(
    shape: &ValueShape,
    values: &[T],
    indices: &[I],
    add: Option<&[T]>,
) -> GatherMax<T> {
    let channels = shape.channels;
    let numbers = shape.clouds * shape.places * channels;
    let mut largest = GatherMax { values: vec![T::ZERO; numbers], chosen: vec![-1; numbers] };
    for c in 0..channels {
        each(shape, indices, |place, flat, row| {
            let Some(row) = row else { return };
            let value = values[row * channels + c];
            let sum = add.map_or(value, |add| value + add[flat * channels + c]);
            let at = place * channels + c;
            let best = largest.values[at].to_f64();
            let first_nan = sum.to_f64().is_nan() && !best.is_nan();
            if largest.chosen[at] == -1 || sum.to_f64() > best || first_nan {
                largest.values[at] = sum;
                largest.chosen[at] = (flat % shape.k) as i32;
            }
        });
    }
    largest
}

/// Defines [`super::gather_max_backward`], with the gradient of `add`.
pub fn gather_max_backward<T: Scalar, I: RowIndex>(
    shape: &ValueShape,
    indices: &[I],
    chosen: &[i32],
    grad: &[T],
) -> GatherMaxGradients<T> {
    let channels = shape.channels;
    let mut sums = vec![T::ZERO; shape.clouds * shape.rows * channels];
    let mut added = vec![T::ZERO; indices.len() * channels];
    for c in 0..channels {
        each(shape, indices, |place, flat, row| {
            let at = place * channels + c;
            if let Some(row) = row.filter(|_| chosen[at] == (flat % shape.k) as i32) {
                sums[row * channels + c] = sums[row * channels + c] + grad[at];
                added[flat * channels + c] = grad[at];
            }
        });
    }
    GatherMaxGradients { values: sums, add: Some(added) }
}

/// Defines [`super::interpolate()`].
pub fn interpolate<T: Scalar, I: RowIndex>(
    shape: &ValueShape,
    values: &[T],
    indices: &[I],
    weights: &[T],
) -> Vec<T> {
    let channels = shape.channels;
    let mut sums = vec![T::ZERO; shape.clouds * shape.places * channels];
    for c in 0..channels {
        each(shape, indices, |place, flat, row| {
            if let Some(row) = row {
                let at = place * channels + c;
                sums[at] = sums[at] + weights[flat] * values[row * channels + c];
            }
        });
    }
    sums
}

/// Defines [`super::interpolate_backward`].
pub fn interpolate_backward<T: Scalar, I: RowIndex>(
    shape: &ValueShape,
    indices: &[I],
    weights: &[T],
    grad: &[T],
) -> Vec<T> {
    let channels = shape.channels;
    let mut sums = vec![T::ZERO; shape.clouds * shape.rows * channels];
    for c in 0..channels {
        each(shape, indices, |place, flat, row| {
            if let Some(row) = row {
                let at = row * channels + c;
                sums[at] = sums[at] + weights[flat] * grad[place * channels + c];
            }
        });
    }
    sums
}

/// Defines [`super::interpolate_weights_backward`].
pub fn interpolate_weights_backward<T: Scalar, I: RowIndex>(
    shape: &ValueShape,
    values: &[T],
    indices: &[I],
    grad: &[T],
) -> Vec<T> {
    let channels = shape.channels;
    let mut gradients = vec![T::ZERO; indices.len()];
    each(shape, indices, |place, flat, row| {
        let Some(row) = row else { return };
        let mut parts = vec![T::ZERO; 32];
        for c in 0..channels {
            let product = grad[place * channels + c] * values[row * channels + c];
            parts[c % 32] = parts[c % 32] + product;
        }
        while parts.len() > 1 {
            let upper = parts.split_off(parts.len() / 2);
            parts = parts.iter().zip(&upper).map(|(&a, &b)| a + b).collect();
        }
        gradients[flat] = parts[0];
    });
    gradients
}

/// Returns the flat places of the batch that name each row of the batch, ascending.
fn named<I: RowIndex>(shape: &ValueShape, indices: &[I]) -> Vec<Vec<usize>> {
    let mut places = vec![Vec::new(); shape.clouds * shape.rows];
    each(shape, indices, |_, flat, row| {
        if let Some(row) = row {
            places[row].push(flat);
        }
    });
    places
}

/// Defines [`super::scatter_mean()`].
pub fn scatter_mean<T: Scalar, I: RowIndex>(
    shape: &ValueShape,
    values: &[T],
    indices: &[I],
) -> Vec<T> {
    let mut means = Vec::new();
    for places in named(shape, indices) {
        for c in 0..shape.channels {
            let add = |sum: f64, &flat: &usize| sum + values[flat * shape.channels + c].to_f64();
            let mean = places.iter().fold(0.0, add) / places.len() as f64;
            means.push(if places.is_empty() { T::ZERO } else { T::from_f64(mean) });
        }
    }
    means
}

/// Defines [`super::scatter_mean_backward`].
pub fn scatter_mean_backward<T: Scalar, I: RowIndex>(
    shape: &ValueShape,
    indices: &[I],
    grad: &[T],
) -> Vec<T> {
    let channels = shape.channels;
    let mut gradients = vec![T::ZERO; indices.len() * channels];
    for (row, places) in named(shape, indices).into_iter().enumerate() {
        for &flat in &places {
            for c in 0..channels {
                let sent = grad[row * channels + c].to_f64();
                gradients[flat * channels + c] = T::from_f64(sent / places.len() as f64);
            }
        }
    }
    gradients
}

/// Defines [`super::scatter_max()`].
pub fn scatter_max<T: Scalar, I: RowIndex>(
    shape: &ValueShape,
    values: &[T],
    indices: &[I],
) -> ScatterMax<T> {
    let of_cloud = shape.places * shape.k;
    let mut largest = ScatterMax { values: Vec::new(), chosen: Vec::new() };
    for places in named(shape, indices) {
        for c in 0..shape.channels {
            let value = |flat: usize| values[flat * shape.channels + c].to_f64();
            let larger = |a: usize, b: usize| {
                let first_nan = value(b).is_nan() && !value(a).is_nan();
                if value(b) > value(a) || first_nan { b } else { a }
            };
            let best = places.iter().copied().reduce(larger);
            largest.values.push(best.map_or(T::ZERO, |best| values[best * shape.channels + c]));
            largest.chosen.push(best.map_or(-1, |best| (best % of_cloud) as i64));
        }
    }
    largest
}

/// Defines [`super::scatter_max_backward`].
pub fn scatter_max_backward<T: Scalar, I: RowIndex>(
    shape: &ValueShape,
    indices: &[I],
    chosen: &[i64],
    grad: &[T],
) -> Vec<T> {
    let channels = shape.channels;
    let mut gradients = vec![T::ZERO; indices.len() * channels];
    for (row, places) in named(shape, indices).into_iter().enumerate() {
        for flat in places {
            for c in 0..channels {
                let at = row * channels + c;
                if chosen[at] == (flat % (shape.places * shape.k)) as i64 {
                    gradients[flat * channels + c] = grad[at];
                }
            }
        }
    }
    gradients
}

/// Defines [`super::scatter_mode()`].
pub fn scatter_mode<L: Copy + Ord, I: RowIndex>(
    shape: &ValueShape,
    labels: &[L],
    indices: &[I],
    none: L,
) -> Vec<L> {
    let most_frequent = |places: Vec<usize>| {
        let mut counts = BTreeMap::new();
        for flat in places {
            *counts.entry(labels[flat]).or_insert(0) += 1;
        }
        let more = |a: (L, i32), b: (L, i32)| if b.1 > a.1 { b } else { a };
        counts.into_iter().reduce(more).map_or(none, |(label, _)| label)
    };
    named(shape, indices).into_iter().map(most_frequent).collect()
}

fn divided<T: Scalar>(a: T, b: T) -> T {
    T::from_f64(a.to_f64() / b.to_f64())
}

/// Returns `1 / (d^power + eps)` of each distance, and their sum.
fn terms<T: Scalar>(distances: &[T], options: InverseDistance) -> (Vec<T>, T) {
    let one = T::from_f64(1.0);
    let power = |d: T| if options.power == 2 { d * d } else { d };
    let term = |&d: &T| divided(one, power(d) + T::from_f64(options.eps));
    let terms: Vec<T> = distances.iter().map(term).collect();
    let sum = terms.iter().fold(T::ZERO, |sum, &term| sum + term);
    (terms, sum)
}

/// Defines [`super::inverse_distance_weights`].
pub fn inverse_distance_weights<T: Scalar>(
    k: usize,
    distances: &[T],
    options: InverseDistance,
) -> Vec<T> {
    let mut weights = Vec::new();
    for distances in distances.chunks(k.max(1)) {
        let (terms, sum) = terms(distances, options);
        let weight = |&term: &T| if sum == T::ZERO { T::ZERO } else { divided(term, sum) };
        weights.extend(terms.iter().map(weight));
    }
    weights
}

/// Defines [`super::inverse_distance_weights_backward`].
pub fn inverse_distance_weights_backward<T: Scalar>(
    k: usize,
    distances: &[T],
    options: InverseDistance,
    grad: &[T],
) -> Vec<T> {
    let mut gradients = Vec::new();
    for (distances, grad) in distances.chunks(k.max(1)).zip(grad.chunks(k.max(1))) {
        let (terms, sum) = terms(distances, options);
        let mut mean = T::ZERO;
        for (&grad, &term) in grad.iter().zip(&terms) {
            mean = mean + grad * divided(term, sum);
        }
        for ((&distance, &grad), &term) in distances.iter().zip(grad).zip(&terms) {
            let slope = if options.power == 2 { distance + distance } else { T::from_f64(1.0) };
            let gradient = T::ZERO - (divided(grad - mean, sum) * (term * term)) * slope;
            let none = sum == T::ZERO || distance == T::INFINITY;
            gradients.push(if none { T::ZERO } else { gradient });
        }
    }
    gradients
}
