//! Distances between points and boxes, computed so that no rounding can be on the wrong side.
//!
//! All of them take the steps of the distance itself, `(dx*dx + dy*dy) + dz*dz`, and every step is
//! monotone. So a bound is at most (at least) the *computed* distance to every point of a box, without slack.

use farpoint::Scalar;

/// Returns the squared distance of two points, as it is computed everywhere.
#[inline(always)]
pub(crate) fn squared<T: Scalar>(a: [T; 3], b: [T; 3]) -> T {
    let [x, y, z] = [a[0] - b[0], a[1] - b[1], a[2] - b[2]];
    x * x + y * y + z * z
}

/// A tight box around points.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Corners<T> {
    /// Smallest coordinates.
    pub low: [T; 3],
    /// Largest coordinates.
    pub high: [T; 3],
}

impl<T: Scalar> Corners<T> {
    /// Returns the box of no point: any other contains it, and it is infinitely far from everything.
    pub fn none() -> Self {
        Self { low: [T::INFINITY; 3], high: [T::ZERO - T::INFINITY; 3] }
    }

    /// Returns whether no point is inside.
    pub fn is_empty(&self) -> bool {
        self.low[0] > self.high[0]
    }

    /// Grows to hold a point.
    #[inline(always)]
    pub fn add(&mut self, at: [T; 3]) {
        let Self { low, high } = self;
        for ((low, high), x) in low.iter_mut().zip(high).zip(at) {
            *low = if x < *low { x } else { *low };
            *high = if x > *high { x } else { *high };
        }
    }

    /// Grows to hold another box.
    pub fn merge(&mut self, other: &Self) {
        for a in 0..3 {
            self.low[a] = if other.low[a] < self.low[a] { other.low[a] } else { self.low[a] };
            self.high[a] = if other.high[a] > self.high[a] { other.high[a] } else { self.high[a] };
        }
    }

    /// Returns a lower bound of the computed squared distances to all points inside.
    #[inline(always)]
    pub fn near(&self, at: [T; 3]) -> T {
        self.near_box(&Self { low: at, high: at })
    }

    /// Returns a lower bound of the computed squared distances between points of the two boxes.
    #[inline(always)]
    pub fn near_box(&self, other: &Self) -> T {
        let gap = |a: usize| {
            let [below, above] = [self.low[a] - other.high[a], other.low[a] - self.high[a]];
            let outside = if below > above { below } else { above };
            if outside > T::ZERO { outside * outside } else { T::ZERO }
        };
        gap(0) + gap(1) + gap(2)
    }

    /// Returns an upper bound of the computed squared distances to all points inside.
    #[inline(always)]
    pub fn far(&self, at: [T; 3]) -> T {
        let gap = |a: usize| {
            let [below, above] = [at[a] - self.low[a], self.high[a] - at[a]];
            let max = if below > above { below } else { above };
            max * max
        };
        gap(0) + gap(1) + gap(2)
    }

    /// Returns the longest side.
    pub fn width(&self) -> f64 {
        let side = |a: usize| self.high[a].to_f64() - self.low[a].to_f64();
        side(0).max(side(1)).max(side(2))
    }
}

/// Bounds of a page that are known without reading it: the box of its points and an upper bound of their squared
/// distances.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Bound<T> {
    /// Box around the points.
    pub corners: Corners<T>,
    /// Upper bound of the squared distances inside.
    pub largest: T,
}

#[cfg(test)]
mod tests {
    use super::{Corners, squared};
    use farpoint::backend::SplitMix64;

    #[test]
    fn bounds_are_on_the_right_side_of_every_computed_distance() {
        let mut random = SplitMix64::new(3);
        for _ in 0..500 {
            let mut point =
                || std::array::from_fn::<f32, 3, _>(|_| random.unit() as f32 * 1e-3 + 5e5);
            let mut boxes = [Corners::none(); 2];
            let points: [[[f32; 3]; 5]; 2] =
                std::array::from_fn(|_| std::array::from_fn(|_| point()));
            for (corners, points) in boxes.iter_mut().zip(&points) {
                points.iter().for_each(|&at| corners.add(at));
            }
            for &a in &points[0] {
                for &b in &points[1] {
                    assert!(boxes[0].near(b) <= squared(a, b) && boxes[0].far(b) >= squared(a, b));
                    assert!(boxes[0].near_box(&boxes[1]) <= boxes[0].near(b));
                }
            }
        }
    }

    #[test]
    fn no_point_is_infinitely_far() {
        let none = Corners::<f64>::none();
        assert!(none.is_empty() && none.near([0.0; 3]) == f64::INFINITY);
        assert_eq!(none.near_box(&Corners { low: [0.0; 3], high: [1.0; 3] }), f64::INFINITY);
    }
}
