//! What counts as a neighbor, in distances as they are computed.

use crate::job::{Ball, Order, Searcher};
use crate::{Norm, Scalar};

/// The limits of a search.
#[derive(Clone, Copy, Debug)]
pub(super) struct Limits<T> {
    /// The largest distance that counts.
    pub(super) most: T,
    /// The smallest that counts beside 0.
    pub(super) least: T,
    /// Whether those of lowest index are kept, not the nearest.
    pub(super) by_index: bool,
    /// Neighbors that are kept.
    pub(super) k: usize,
}

impl<T: Scalar> Limits<T> {
    /// `d < r * r`, with `r` rounded to the points' type first and the product rounded in it.
    pub(super) fn of(searcher: &Searcher) -> Self {
        let raw = |radius: f64| {
            let radius = T::from_f64(radius);
            if searcher.norm == Norm::Two { radius * radius } else { radius }
        };
        let k = searcher.k;
        match searcher.ball {
            None => Self { most: T::INFINITY, least: T::ZERO, by_index: false, k },
            Some(Ball { radius, min_radius, inclusive, order }) => Self {
                // Nothing is nearer than 0, and -1 stands for that.
                most: match raw(radius) {
                    most if inclusive => most,
                    most if most > T::ZERO => most.next_down(),
                    _ => T::from_f64(-1.0),
                },
                least: raw(min_radius),
                by_index: order == Order::Index,
                k,
            },
        }
    }

    /// The key of a candidate; `None` if it does not count.
    #[inline(always)]
    pub(super) fn key(&self, distance: T, point: u32) -> Option<T::Key> {
        let counts = distance <= self.most && (distance >= self.least || distance <= T::ZERO);
        counts.then(|| self.key_of(distance, point))
    }

    /// The key of a candidate that counts.
    #[inline(always)]
    pub(super) fn key_of(&self, distance: T, point: u32) -> T::Key {
        if self.by_index { T::index_key(point, distance) } else { distance.near_key(point) }
    }

    /// The distance and point of a key.
    #[inline(always)]
    pub(super) fn found(&self, key: T::Key) -> (T, u32) {
        if self.by_index { T::of_index_key(key) } else { (T::near_value(key), T::key_index(key)) }
    }
}
