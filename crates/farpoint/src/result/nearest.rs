//! Nearest points, and the measures that follow from them.

use crate::sum::total;
use crate::{Error, Norm, Scalar};

/// For each point of a cloud its nearest of another.
#[derive(Debug, Clone, PartialEq)]
pub struct Nearest<T> {
    /// The distance of each row to the nearest point as it was computed, before any square root:
    /// squared with [`Norm::Two`], plain with [`Norm::One`]. NaN for rows that were left out.
    /// [`Nearest::distances`] and [`Nearest::distance`] are plain with either.
    pub raw_distances: Vec<T>,
    /// The row of that point in the other cloud, the lowest among those equally near;
    /// [`Nearest::NONE`] for rows that were left out.
    pub indices: Vec<u32>,
    /// How distances are measured.
    pub norm: Norm,
    /// Rows left out because they hold NaN or infinity.
    pub dropped: usize,
}

impl<T: Scalar> Nearest<T> {
    /// The index of a row that was left out.
    pub const NONE: u32 = u32::MAX;

    /// Number of rows, those left out among them.
    pub fn len(&self) -> usize {
        self.raw_distances.len()
    }

    /// Whether there is no row.
    pub fn is_empty(&self) -> bool {
        self.raw_distances.is_empty()
    }

    /// The distance of each row, not squared; NaN for rows that were left out.
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

    /// The distance of a row, not squared.
    pub fn distance(&self, row: usize) -> T {
        self.plain(self.raw_distances[row])
    }

    /// A distance as it would be measured with a ruler.
    fn plain(&self, distance: T) -> T {
        match self.norm {
            Norm::One => distance,
            Norm::Two => distance.sqrt(),
        }
    }

    /// The distances of the rows that were not left out.
    fn kept(&self) -> impl Iterator<Item = T> {
        let all = self.dropped == 0;
        self.raw_distances.iter().copied().filter(move |distance| all || !is_nan(*distance))
    }

    /// The mean of what the rows that were not left out are measured by.
    fn mean_of(&self, measure: impl Fn(T) -> T) -> f64 {
        let value = |row: usize| match self.raw_distances[row] {
            left_out if is_nan(left_out) => 0.0,
            distance => measure(distance).to_f64(),
        };
        total(self.len(), value) / (self.len() - self.dropped) as f64
    }

    /// Mean of `raw_distances` as they are: squared with [`Norm::Two`]. What most libraries call
    /// the one-sided Chamfer distance.
    pub fn mean(&self) -> f64 {
        self.mean_of(|distance| distance)
    }

    /// Mean of the distances, not squared.
    pub fn mean_distance(&self) -> f64 {
        self.mean_of(|distance| self.plain(distance))
    }

    /// Largest distance, not squared: the one-sided Hausdorff distance.
    pub fn max_distance(&self) -> T {
        let largest = self.kept().fold(T::ZERO, |most, x| if x > most { x } else { most });
        self.plain(largest)
    }

    /// Mean of `raw_distances` as they are, weighted by row: `sum(w * d) / sum(w)`. Weights of rows
    /// that were left out do not count.
    ///
    /// # Errors
    /// On another number of weights than rows.
    pub fn weighted_mean(&self, weights: &[T]) -> Result<f64, Error> {
        if weights.len() != self.len() {
            let (given, rows) = (weights.len(), self.len());
            return Err(Error::Shape(format!("{given} weights for {rows} distances")));
        }
        let left_out = |row: usize| is_nan(self.raw_distances[row]);
        let weight = |row: usize| if left_out(row) { 0.0 } else { weights[row].to_f64() };
        // A row that was left out is not multiplied: its distance is NaN.
        let distance =
            |row: usize| if left_out(row) { 0.0 } else { self.raw_distances[row].to_f64() };
        let weighted = |row: usize| distance(row) * weight(row);
        Ok(total(self.len(), weighted) / total(self.len(), weight))
    }

    /// Share of the rows whose distance, not squared, is at most `threshold`.
    pub fn share_within(&self, threshold: f64) -> f64 {
        let threshold = T::from_f64(threshold);
        let within = self.kept().filter(|&distance| self.plain(distance) <= threshold).count();
        within as f64 / (self.len() - self.dropped) as f64
    }
}

fn is_nan<T: Scalar>(value: T) -> bool {
    value.partial_cmp(&value).is_none()
}

/// Nearest points in both directions between the clouds `a` and `b`.
#[derive(Debug, Clone, PartialEq)]
pub struct Chamfer<T> {
    /// For each point of `a` the nearest of `b`.
    pub a_to_b: Nearest<T>,
    /// For each point of `b` the nearest of `a`.
    pub b_to_a: Nearest<T>,
}

/// How much of two clouds agrees. `a` is what is judged, `b` is the truth.
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
    /// The Chamfer distance: the mean of `raw_distances` of either direction, added. Squared with
    /// [`Norm::Two`], as in PyTorch3D and Kaolin.
    pub fn sum(&self) -> f64 {
        self.weighted_sum(1.0, 1.0)
    }

    /// The Chamfer distance of distances that are not squared, as in Open3D and
    /// point-cloud-utils.
    pub fn sum_of_distances(&self) -> f64 {
        self.a_to_b.mean_distance() + self.b_to_a.mean_distance()
    }

    /// The two means, weighted: `a * mean of a_to_b + b * mean of b_to_a`.
    pub fn weighted_sum(&self, a: f64, b: f64) -> f64 {
        a * self.a_to_b.mean() + b * self.b_to_a.mean()
    }

    /// The Hausdorff distance: the largest distance, not squared, of either direction.
    pub fn hausdorff(&self) -> T {
        let (a, b) = (self.a_to_b.max_distance(), self.b_to_a.max_distance());
        if b > a { b } else { a }
    }

    /// Precision, recall and F-score at a threshold in the unit of the coordinates.
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
    /// Of the first cloud.
    pub a: Vec<T>,
    /// Of the second.
    pub b: Vec<T>,
}
