//! Limits of neighbors, in distances as computed.

use crate::job::{Ball, Order, Searcher};
use crate::{Norm, Scalar};

/// The limits of a search: a target counts if `d <= maximum && (d >= minimum || d <= near)`.
#[derive(Clone, Copy, Debug)]
pub struct Limits<T> {
    /// The largest distance that counts; -1 if none does.
    pub maximum: T,
    /// The smallest that counts, apart from those up to `near`.
    pub minimum: T,
    /// Distances up to this count, whatever `minimum` is.
    pub near: T,
    /// True if the lowest indices are kept, not the nearest.
    pub by_index: bool,
    /// Maximum number of neighbors.
    pub k: usize,
}

impl<T: Scalar> Limits<T> {
    /// Returns the limits: `d < r * r`, with `r` rounded to the points' type first and the product rounded in it.
    pub fn of(searcher: &Searcher) -> Self {
        let k = searcher.k;
        let Some(ball) = searcher.ball else {
            let (maximum, zero) = (T::INFINITY, T::ZERO);
            return Self { maximum, minimum: zero, near: zero, by_index: false, k };
        };
        let Ball { radius, min_radius, near, raw, inclusive, order } = ball;
        let raw = |radius: f64| {
            let radius = T::from_f64(radius);
            if searcher.norm == Norm::Two && !raw { radius * radius } else { radius }
        };
        let maximum = match raw(radius) {
            maximum if inclusive => maximum,
            maximum if maximum > T::ZERO => maximum.next_down(),
            // Nothing is nearer than 0.
            _ => T::from_f64(-1.0),
        };
        let (minimum, near, by_index) = (raw(min_radius), raw(near), order == Order::Index);
        Self { maximum, minimum, near, by_index, k }
    }

    /// Returns the key of a candidate; `None` if it does not count.
    #[inline(always)]
    pub(super) fn key(&self, distance: T, point: u32) -> Option<T::Key> {
        let counts = distance <= self.maximum && self.reaches(distance);
        counts.then(|| self.key_of(distance, point))
    }

    /// Returns whether a distance that is not too large is large enough.
    #[inline(always)]
    pub(super) fn reaches(&self, distance: T) -> bool {
        (distance >= self.minimum) | (distance <= self.near)
    }

    /// Returns the key of a candidate that counts.
    #[inline(always)]
    pub(super) fn key_of(&self, distance: T, point: u32) -> T::Key {
        if self.by_index { T::index_key(point, distance) } else { distance.near_key(point) }
    }

    /// Returns the distance and point of a key.
    #[inline(always)]
    pub(super) fn found(&self, key: T::Key) -> (T, u32) {
        if self.by_index { T::from_index_key(key) } else { (T::near_value(key), T::key_index(key)) }
    }
}
