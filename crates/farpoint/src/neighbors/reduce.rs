//! Reduction of the distances of all points to one value for a pair of clouds, and its gradients with respect to
//! the distances. The order of every sum is fixed here, and the same on every device.

use crate::memory;
use crate::parse::{ParseError, by_name};
use crate::sum::total;
use crate::{Nearest, Norm, Scalar};
use std::fmt;
use std::str::FromStr;

/// Reduction of the distances of a pair of clouds to one value.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Reduction {
    /// Sum of the means of both sides.
    Mean,
    /// Sum of both sides.
    Sum,
    /// Maximum of both sides.
    Max,
}

impl Reduction {
    /// All reductions.
    pub const ALL: [Self; 3] = [Self::Mean, Self::Sum, Self::Max];

    /// Returns the name used in messages.
    pub fn name(self) -> &'static str {
        match self {
            Self::Mean => "mean",
            Self::Sum => "sum",
            Self::Max => "max",
        }
    }
}

impl fmt::Display for Reduction {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}

impl FromStr for Reduction {
    type Err = ParseError;

    fn from_str(name: &str) -> Result<Self, ParseError> {
        by_name("reduction", &Self::ALL, Self::name, name)
    }
}

/// The reduced value of a pair of clouds, with the numbers that its gradients need.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Reduced {
    /// The value.
    pub value: f64,
    /// The largest distance of each side; 0 unless the reduction is [`Reduction::Max`].
    pub largest: [f64; 2],
    /// Divisor of the gradient of the value for a distance of each side: the number of
    /// distances for a mean, 1 for a sum, and for a maximum the number of equally large distances.
    /// Infinite for a side without a share in it.
    pub divisors: [f64; 2],
    reduction: Reduction,
    plain: bool,
}

/// Reduces the distances of one direction or of both. `plain` takes square roots of the distances
/// of [`Norm::Two`] first. Rows that were left out do not count.
///
/// ```
/// use farpoint::neighbors::{Reduction, reduce};
/// let (a, b) = ([[0.0f32], [5.0]], [[1.0f32]]);
/// let chamfer = farpoint::chamfer(&a[..], &b[..])?;
/// let (forward, backward) = (&chamfer.a_to_b, &chamfer.b_to_a);
/// assert_eq!(reduce(forward, Some(backward), Reduction::Mean, false).value, chamfer.sum());
/// assert_eq!(reduce(forward, Some(backward), Reduction::Sum, true).value, 1.0 + 4.0 + 1.0);
/// assert_eq!(reduce(forward, None, Reduction::Max, true).value, 4.0);
/// # Ok::<(), farpoint::Error>(())
/// ```
pub fn reduce<T: Scalar>(
    first: &Nearest<T>,
    second: Option<&Nearest<T>>,
    reduction: Reduction,
    plain: bool,
) -> Reduced {
    let sides: Vec<_> = std::iter::once(first).chain(second).collect();
    let mut reduced =
        Reduced { value: 0.0, largest: [0.0; 2], divisors: [1.0; 2], reduction, plain };
    if reduction == Reduction::Max {
        reduced.take_largest(&sides);
        return reduced;
    }
    for (side, nearest) in sides.iter().enumerate() {
        let sum = total(nearest.len(), |row| measured(nearest, row, plain).to_f64());
        if reduction == Reduction::Mean {
            reduced.divisors[side] = (nearest.len() - nearest.dropped) as f64;
        }
        let part = sum / reduced.divisors[side];
        reduced.value = if side == 0 { part } else { reduced.value + part };
    }
    reduced
}

/// Returns a row's distance as it is summed: 0 for rows that were left out.
fn measured<T: Scalar>(nearest: &Nearest<T>, row: usize, plain: bool) -> T {
    let distance = nearest.raw_distances[row];
    if distance.partial_cmp(&distance).is_none() {
        return T::ZERO;
    }
    if plain && nearest.norm == Norm::Two { distance.sqrt() } else { distance }
}

/// Returns `a / b` rounded once: the quotient of two `f32` that is rounded to `f64` first is never so close to
/// the middle between two `f32` that this changes it.
fn quotient<T: Scalar>(a: T, b: T) -> T {
    T::from_f64(a.to_f64() / b.to_f64())
}

impl Reduced {
    fn take_largest<T: Scalar>(&mut self, sides: &[&Nearest<T>]) {
        let mut ties = [0usize; 2];
        for (side, nearest) in sides.iter().enumerate() {
            let mut largest = T::ZERO;
            for row in (0..nearest.len()).filter(|&row| nearest.indices[row] != Nearest::<T>::NONE)
            {
                let distance = measured(nearest, row, self.plain);
                ties[side] = if distance > largest { 0 } else { ties[side] };
                largest = if distance > largest { distance } else { largest };
                ties[side] += usize::from(distance == largest);
            }
            self.largest[side] = largest.to_f64();
        }
        self.value = self.largest[0].max(self.largest[1]);
        // Equal sides share alike.
        let among = self.largest[..sides.len()].iter().filter(|&&of| of == self.value).count();
        self.divisors = [0, 1].map(|side| {
            let takes_part = side < sides.len() && self.largest[side] == self.value;
            if takes_part { (among * ties[side]) as f64 } else { f64::INFINITY }
        });
    }

    /// Returns the gradients of a side's distances, from that of the value. A distance of 0 whose
    /// square root was taken has none.
    pub fn grads<T: Scalar>(&self, side: usize, nearest: &Nearest<T>, of_value: T) -> Vec<T> {
        let each = quotient(of_value, T::from_f64(self.divisors[side]));
        let rooted = self.plain && nearest.norm == Norm::Two;
        if self.reduction != Reduction::Max && !rooted {
            return memory::filled(nearest.len(), each);
        }
        let largest = T::from_f64(self.largest[side]);
        let grad = |row: usize| {
            let distance = measured(nearest, row, self.plain);
            if self.reduction == Reduction::Max && distance != largest {
                T::ZERO
            } else if !rooted {
                each
            } else if distance == T::ZERO {
                T::ZERO
            } else {
                quotient(each, distance + distance)
            }
        };
        memory::collected((0..nearest.len()).map(grad))
    }

    /// Restores the result of an earlier [`reduce`] from its largest distances and divisors.
    #[doc(hidden)]
    pub fn kept(largest: [f64; 2], divisors: [f64; 2], reduction: Reduction, plain: bool) -> Self {
        Self { value: f64::NAN, largest, divisors, reduction, plain }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn nearest(distances: &[f32]) -> Nearest<f32> {
        let indices = distances.iter().map(|d| if d.is_nan() { u32::MAX } else { 0 }).collect();
        let dropped = distances.iter().filter(|d| d.is_nan()).count();
        Nearest { raw_distances: distances.to_vec(), indices, norm: Norm::Two, dropped }
    }

    #[test]
    fn values_of_one_side_and_of_both() {
        let (a, b) = (nearest(&[4.0, 9.0, 9.0]), nearest(&[1.0, f32::NAN]));
        let value = |reduction, plain| reduce(&a, Some(&b), reduction, plain).value;
        assert_eq!(value(Reduction::Mean, false), 22.0 / 3.0 + 1.0);
        assert_eq!(value(Reduction::Mean, true), 8.0 / 3.0 + 1.0);
        assert_eq!(value(Reduction::Sum, true), 9.0);
        assert_eq!(value(Reduction::Max, true), 3.0);
        let alone = reduce(&b, None, Reduction::Max, true);
        assert_eq!((alone.value, alone.divisors), (1.0, [1.0, f64::INFINITY]));
        for reduction in Reduction::ALL {
            assert_eq!(reduction.to_string().parse(), Ok(reduction));
        }
        assert!("least".parse::<Reduction>().unwrap_err().to_string().contains("mean, sum, max"));
    }

    #[test]
    fn gradients_of_distances() {
        let (a, b) = (nearest(&[4.0, 9.0, 9.0, 0.0]), nearest(&[9.0, 1.0]));
        let of = |reduction, plain| {
            let reduced = reduce(&a, Some(&b), reduction, plain);
            [reduced.grads(0, &a, 6.0), reduced.grads(1, &b, 6.0)]
        };
        assert_eq!(of(Reduction::Mean, false), [vec![1.5; 4], vec![3.0; 2]]);
        assert_eq!(of(Reduction::Sum, true), [vec![1.5, 1.0, 1.0, 0.0], vec![1.0, 3.0]]);
        // Two equal sides, of which one has the largest distance twice.
        assert_eq!(of(Reduction::Max, false), [vec![0.0, 1.5, 1.5, 0.0], vec![3.0, 0.0]]);
        let reduced = reduce(&a, Some(&nearest(&[1.0])), Reduction::Max, true);
        assert_eq!(reduced.grads(0, &a, 6.0), [0.0, 0.5, 0.5, 0.0]);
        assert_eq!(reduced.grads(1, &nearest(&[1.0]), 6.0), [0.0]);
    }
}
