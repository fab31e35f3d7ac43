//! Nearest neighbors, and the measures derived from them.

use crate::sum::total;
use crate::{Error, Norm, Scalar};

/// Nearest neighbor of each point of a cloud in another cloud.
#[derive(Debug, Clone, PartialEq)]
pub struct Nearest<T> {
    /// Distance of each row to its nearest neighbor as computed, before any square root:
    /// squared with [`Norm::Two`], plain with [`Norm::One`]. NaN for rows that were left out.
    /// [`Nearest::distances`] and [`Nearest::distance`] are plain with either.
    pub raw_distances: Vec<T>,
    /// Row of that point in the other cloud, the lowest among those equally near;
    /// [`Nearest::NONE`] for rows that were left out.
    pub indices: Vec<u32>,
    /// Norm of the distances.
    pub norm: Norm,
    /// Number of rows left out because they hold NaN or infinity.
    pub dropped: usize,
}

impl<T: Scalar> Nearest<T> {
    /// Index of a row that was left out.
    pub const NONE: u32 = u32::MAX;

    /// Returns the number of rows, including those left out.
    pub fn len(&self) -> usize {
        self.raw_distances.len()
    }

    /// Returns whether there are no rows.
    pub fn is_empty(&self) -> bool {
        self.raw_distances.is_empty()
    }

    /// Returns the distance of each row, not squared; NaN for rows that were left out.
    ///
    /// ```
    /// let nearest = farpoint::nearest(&[[0.0f32, 0.0]], &[[3.0f32, 4.0]])?;
    /// assert_eq!(nearest.raw_distances, [25.0]);
    /// assert_eq!(nearest.distances(), [5.0]);
    /// # Ok::<(), farpoint::Error>(())
    /// ```
    pub fn distances(&self) -> Vec<T> {
        self.raw_distances.iter().map(|&distance| self.plain(distance)).collect()
    }

    /// Returns the distance of a row, not squared.
    pub fn distance(&self, row: usize) -> T {
        self.plain(self.raw_distances[row])
    }

    /// Takes the square root if the norm is [`Norm::Two`].
    fn plain(&self, distance: T) -> T {
        match self.norm {
            Norm::One => distance,
            Norm::Two => distance.sqrt(),
        }
    }

    /// Returns the raw distances of the rows that were not left out.
    fn valid_distances(&self) -> impl Iterator<Item = T> {
        let all = self.dropped == 0;
        self.raw_distances.iter().copied().filter(move |distance| all || !is_nan(*distance))
    }

    /// Returns the mean of `measure` over the rows that were not left out.
    fn mean_of(&self, measure: impl Fn(T) -> T) -> f64 {
        let value = |row: usize| match self.raw_distances[row] {
            left_out if is_nan(left_out) => 0.0,
            distance => measure(distance).to_f64(),
        };
        total(self.len(), value) / (self.len() - self.dropped) as f64
    }

    /// Returns the mean of `raw_distances` as they are: squared with [`Norm::Two`]. Most libraries call
    /// it the one-sided Chamfer distance.
    pub fn mean(&self) -> f64 {
        self.mean_of(|distance| distance)
    }

    /// Returns the mean of the distances, not squared.
    pub fn mean_distance(&self) -> f64 {
        self.mean_of(|distance| self.plain(distance))
    }

    /// Returns the largest distance, not squared: the one-sided Hausdorff distance. NaN, like all means, if there is no
    /// distance.
    pub fn max_distance(&self) -> T {
        let nan = T::from_f64(f64::NAN);
        let largest = self.valid_distances().reduce(|max, x| if x > max { x } else { max });
        self.plain(largest.unwrap_or(nan))
    }

    /// Returns the mean of `raw_distances` as they are, weighted by row: `sum(w * d) / sum(w)`. Weights of
    /// rows that were left out do not count.
    ///
    /// # Errors
    /// If the number of weights is not the number of rows.
    pub fn weighted_mean(&self, weights: &[T]) -> Result<f64, Error> {
        if weights.len() != self.len() {
            let (count, rows) = (weights.len(), self.len());
            return Err(Error::Shape(format!("{count} weights for {rows} distances")));
        }
        let left_out = |row: usize| is_nan(self.raw_distances[row]);
        let weight = |row: usize| if left_out(row) { 0.0 } else { weights[row].to_f64() };
        // A row that was left out is not multiplied: its distance is NaN.
        let distance =
            |row: usize| if left_out(row) { 0.0 } else { self.raw_distances[row].to_f64() };
        let weighted = |row: usize| distance(row) * weight(row);
        Ok(total(self.len(), weighted) / total(self.len(), weight))
    }

    /// Returns the share of the rows whose distance, not squared, is at most `threshold`.
    pub fn share_within(&self, threshold: f64) -> f64 {
        let threshold = T::from_f64(threshold);
        let within =
            self.valid_distances().filter(|&distance| self.plain(distance) <= threshold).count();
        within as f64 / (self.len() - self.dropped) as f64
    }
}

fn is_nan<T: Scalar>(value: T) -> bool {
    value.partial_cmp(&value).is_none()
}

/// Nearest neighbors in both directions between the clouds `a` and `b`.
#[derive(Debug, Clone, PartialEq)]
pub struct Chamfer<T> {
    /// Nearest neighbor in `b` of each point of `a`.
    pub a_to_b: Nearest<T>,
    /// Nearest neighbor in `a` of each point of `b`.
    pub b_to_a: Nearest<T>,
}

/// Agreement of two clouds. `a` is the prediction, `b` the ground truth.
#[derive(Debug, Clone, Copy, PartialEq)]
#[non_exhaustive]
pub struct FScore {
    /// Share of `a` within the threshold of `b`.
    pub precision: f64,
    /// Share of `b` within the threshold of `a`.
    pub recall: f64,
    /// Their harmonic mean, 0 when both are 0.
    pub f_score: f64,
}

impl<T: Scalar> Chamfer<T> {
    /// Returns the Chamfer distance: the sum of the means of `raw_distances` of both directions. Squared with
    /// [`Norm::Two`], as in PyTorch3D and Kaolin.
    pub fn sum(&self) -> f64 {
        self.weighted_sum(1.0, 1.0)
    }

    /// Returns the Chamfer distance of distances that are not squared, as in Open3D and
    /// point-cloud-utils.
    pub fn sum_of_distances(&self) -> f64 {
        self.a_to_b.mean_distance() + self.b_to_a.mean_distance()
    }

    /// Returns the weighted sum of the two means: `a * mean of a_to_b + b * mean of b_to_a`.
    pub fn weighted_sum(&self, a: f64, b: f64) -> f64 {
        a * self.a_to_b.mean() + b * self.b_to_a.mean()
    }

    /// Returns the Hausdorff distance: the largest distance, not squared, of either direction.
    pub fn hausdorff(&self) -> T {
        let (a, b) = (self.a_to_b.max_distance(), self.b_to_a.max_distance());
        if b > a { b } else { a }
    }

    /// Returns precision, recall and F-score at a threshold in the unit of the coordinates.
    pub fn f_score(&self, threshold: f64) -> FScore {
        let precision = self.a_to_b.share_within(threshold);
        let recall = self.b_to_a.share_within(threshold);
        let both = precision + recall;
        let f_score = if both > 0.0 { 2.0 * precision * recall / both } else { 0.0 };
        FScore { precision, recall, f_score }
    }
}

/// Gradients of the coordinates of two clouds, dense `(points, dim)` arrays.
#[derive(Debug, Clone, PartialEq)]
pub struct Gradients<T> {
    /// Gradients of the first cloud.
    pub a: Vec<T>,
    /// Gradients of the second cloud.
    pub b: Vec<T>,
}
