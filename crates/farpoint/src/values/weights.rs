//! Weights from distances, and their gradients.

use super::parts;
use super::shape::check_len;
use crate::{Cpu, Error, Scalar};

/// Formula of [`inverse_distance_weights`].
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct InverseDistance {
    /// Weights are proportional to `1 / (d^power + eps)`: 1 or 2. (Other powers are not the same on all devices.)
    pub power: u32,
    /// Term that keeps weights of distance 0 finite, rounded to the type of the distances.
    pub eps: f64,
}

impl Default for InverseDistance {
    /// Power 1, `eps` 1e-8.
    fn default() -> Self {
        Self { power: 1, eps: 1e-8 }
    }
}

impl InverseDistance {
    /// Checks both options.
    ///
    /// # Errors
    /// If the power is neither 1 nor 2, or `eps` negative, infinite or NaN.
    pub fn check(&self) -> Result<(), Error> {
        if !matches!(self.power, 1 | 2) {
            let value = self.power.to_string();
            return Err(Error::BadOption { name: "power", value, range: "1..=2" });
        }
        if !(self.eps >= 0.0 && self.eps < f64::INFINITY) {
            let value = self.eps.to_string();
            return Err(Error::BadOption { name: "eps", value, range: "0..inf" });
        }
        Ok(())
    }

    /// Returns the weight of a distance before division by the sum.
    fn of<T: Scalar>(&self, distance: T) -> T {
        let powered = if self.power == 2 { distance * distance } else { distance };
        divided(T::from_f64(1.0), powered + T::from_f64(self.eps))
    }

    /// Returns the slope of `d^power`.
    fn slope<T: Scalar>(&self, distance: T) -> T {
        if self.power == 2 { distance + distance } else { T::from_f64(1.0) }
    }
}

/// Returns the quotient, rounded once: that of two `f32` has the bits of theirs if it is computed in `f64`.
fn divided<T: Scalar>(a: T, b: T) -> T {
    T::from_f64(a.to_f64() / b.to_f64())
}

/// Returns the sum, in this order.
fn total<T: Scalar>(terms: impl Iterator<Item = T>) -> T {
    terms.fold(T::ZERO, |sum, term| sum + term)
}

/// Returns weights for [`super::interpolate()`] from the distances of the `k` neighbors of each place: `u / S` with
/// `u = 1 / (d^power + eps)` and `S` the sum of the `u` over `j` ascending.
///
/// `distances` are `(.., k)`, of any number of places. A distance of infinity (no neighbor) gets 0, a
/// place without any neighbor zeros.
///
/// ```
/// use farpoint::{Cpu, values::{InverseDistance, inverse_distance_weights}};
/// let how = InverseDistance { power: 1, eps: 0.0 };
/// let weights = inverse_distance_weights(&Cpu::new(), 3, &[1.0f32, 1.0, f32::INFINITY], how)?;
/// assert_eq!(weights, [0.5, 0.5, 0.0]);
/// # Ok::<(), farpoint::Error>(())
/// ```
///
/// # Errors
/// If `options` is out of range, and if there are not `k` distances a place.
pub fn inverse_distance_weights<T: Scalar>(
    cpu: &Cpu,
    k: usize,
    distances: &[T],
    options: InverseDistance,
) -> Result<Vec<T>, Error> {
    options.check()?;
    check_places(k, distances.len())?;
    parts::rows(cpu, distances.len(), distances.len(), k.max(1), |first, rows: &mut [T]| {
        for (place, row) in (first..).zip(rows.chunks_exact_mut(k)) {
            let of_place = &distances[place * k..][..k];
            let sum = total(of_place.iter().map(|&distance| options.of(distance)));
            if sum == T::ZERO {
                continue;
            }
            for (weight, &distance) in row.iter_mut().zip(of_place) {
                *weight = divided(options.of(distance), sum);
            }
        }
    })
}

/// Returns the gradient of the distances from `grad`, that of the weights.
///
/// With `t` the sum of `grad * (u / S)` over `j` ascending it is
/// `-(((grad - t) / S) * (u * u)) * slope`, `slope` being 1 for power 1 and `d + d` for power 2. A
/// distance of infinity, and a place without any neighbor, gets 0.
///
/// # Errors
/// Same as [`inverse_distance_weights`].
pub fn inverse_distance_weights_backward<T: Scalar>(
    cpu: &Cpu,
    k: usize,
    distances: &[T],
    options: InverseDistance,
    grad: &[T],
) -> Result<Vec<T>, Error> {
    options.check()?;
    check_places(k, distances.len())?;
    check_len("gradients", grad.len(), distances.len())?;
    parts::rows(cpu, distances.len(), distances.len(), k.max(1), |first, rows: &mut [T]| {
        for (place, row) in (first..).zip(rows.chunks_exact_mut(k)) {
            let of_place = place * k..(place + 1) * k;
            of_one_place(options, &distances[of_place.clone()], &grad[of_place], row);
        }
    })
}

fn of_one_place<T: Scalar>(
    options: InverseDistance,
    distances: &[T],
    grad: &[T],
    gradients: &mut [T],
) {
    let sum = total(distances.iter().map(|&distance| options.of(distance)));
    if sum == T::ZERO {
        return;
    }
    let share = |(&distance, &grad): (&T, &T)| grad * divided(options.of(distance), sum);
    let mean = total(distances.iter().zip(grad).map(share));
    for (gradient, (&distance, &grad)) in gradients.iter_mut().zip(distances.iter().zip(grad)) {
        let u = options.of(distance);
        if distance != T::INFINITY {
            let of_term = divided(grad - mean, sum);
            *gradient = T::ZERO - (of_term * (u * u)) * options.slope(distance);
        }
    }
}

fn check_places(k: usize, distances: usize) -> Result<(), Error> {
    if distances == 0 || (k > 0 && distances.is_multiple_of(k)) {
        return Ok(());
    }
    Err(Error::Shape(format!("{distances} distances are not a whole number of places of k = {k}")))
}
