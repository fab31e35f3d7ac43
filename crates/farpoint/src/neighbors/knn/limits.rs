//! Limits of neighbors, in distances as computed.

use crate::job::{Ball, Order, Searcher};
use crate::{Norm, Scalar};

/// The limits of a search: a target counts if `d <= most && (d >= least || d <= near)`.
#[derive(Clone, Copy, Debug)]
pub struct Limits<T> {
    /// The largest distance that counts; -1 if none does.
    pub most: T,
    /// The smallest that counts, apart from those up to `near`.
    pub least: T,
    /// Distances up to this count, whatever `least` is.
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
            let (most, zero) = (T::INFINITY, T::ZERO);
            return Self { most, least: zero, near: zero, by_index: false, k };
        };
        let Ball { radius, min_radius, near, raw, inclusive, order } = ball;
        let raw = |radius: f64| {
            let radius = T::from_f64(radius);
            if searcher.norm == Norm::Two && !raw { radius * radius } else { radius }
        };
        let most = match raw(radius) {
            most if inclusive => most,
            most if most > T::ZERO => most.next_down(),
            // Nothing is nearer than 0.
            _ => T::from_f64(-1.0),
        };
        let (least, near, by_index) = (raw(min_radius), raw(near), order == Order::Index);
        Self { most, least, near, by_index, k }
    }

    /// Returns the key of a candidate; `None` if it does not count.
    #[inline(always)]
    pub(super) fn key(&self, distance: T, point: u32) -> Option<T::Key> {
        let counts = distance <= self.most && self.reaches(distance);
        counts.then(|| self.key_of(distance, point))
    }

    /// Returns whether a distance that is not too large is large enough.
    #[inline(always)]
    pub(super) fn reaches(&self, distance: T) -> bool {
        (distance >= self.least) | (distance <= self.near)
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
