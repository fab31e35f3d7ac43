//! The positions of the page's slider: prefixes of the farthest-first order.

use farpoint_pipeline::Outcome;
use serde_json::{Value, json};

/// The first points of a farthest-first order.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Sequence<'a> {
    /// Rows of the cloud.
    pub(crate) rows: &'a [usize],
    /// Selection distances of these rows.
    pub(crate) distances: &'a [f64],
    /// Covering radius of all these points.
    pub(crate) covering_radius: f64,
}

impl<'a> Sequence<'a> {
    /// Returns at most `total` points of an exact sample: its prefix, which is the sample of that size.
    pub(crate) fn first(outcome: &'a Outcome, total: usize) -> Self {
        let shown = outcome.indices.len().min(total);
        Self {
            rows: &outcome.indices[..shown],
            distances: &outcome.distances[..shown],
            covering_radius: outcome
                .distances
                .get(shown)
                .copied()
                .unwrap_or(outcome.covering_radius),
        }
    }
}

/// Each prefix is about this much longer than the one before it.
const LONGER: f64 = 1.02;

/// Prefixes with their covering radii and spacings.
pub(super) struct Prefixes {
    pub(super) counts: Vec<usize>,
    /// Covering radius of each prefix: no point of the cloud is farther from it.
    radii: Vec<f64>,
    /// Spacing of each prefix: the least distance between two of its points.
    spacings: Vec<f64>,
}

impl Prefixes {
    /// Computes the prefixes of points with selection distances.
    pub(super) fn of(sequence: Sequence<'_>) -> Self {
        let counts = counts(sequence.rows.len());
        let distance = |k: usize| sequence.distances.get(k).copied();
        let radii =
            counts.iter().map(|&n| distance(n).unwrap_or(sequence.covering_radius)).collect();
        let apart = |n: usize| if n < 2 { 0.0 } else { distance(n - 1).unwrap_or(0.0) };
        let spacings = counts.iter().map(|&n| apart(n)).collect();
        Self { counts, radii, spacings }
    }

    /// Returns a length typical of the points: the covering radius of half of them.
    pub(super) fn typical(&self) -> f64 {
        let total = self.counts.last().copied().unwrap_or(0);
        let half = self.counts.iter().position(|&n| 2 * n >= total).unwrap_or(0);
        self.radii.get(half).copied().unwrap_or(0.0)
    }

    /// Returns the range of points that each prefix adds.
    pub(super) fn parts(&self) -> impl Iterator<Item = std::ops::Range<usize>> {
        let starts = std::iter::once(0).chain(self.counts.iter().copied());
        starts.zip(self.counts.iter().copied()).map(|(start, end)| start..end)
    }

    pub(super) fn json(&self) -> Value {
        json!({ "count": self.counts, "radius": self.radii, "spacing": self.spacings })
    }
}

/// Returns the sizes from one point to all, each at least one point larger.
fn counts(all: usize) -> Vec<usize> {
    let next = |&n: &usize| (n < all).then(|| ((n as f64 * LONGER) as usize).max(n + 1).min(all));
    std::iter::successors((all > 0).then_some(1), next).collect()
}

#[cfg(test)]
mod tests {
    use super::counts;

    #[test]
    fn they_grow_from_one_to_all() {
        assert!(counts(0).is_empty());
        assert_eq!(counts(1), [1]);
        assert_eq!(counts(4), [1, 2, 3, 4]);
        let many = counts(1_000_000);
        assert_eq!((many[0], many[many.len() - 1]), (1, 1_000_000));
        assert!(many.windows(2).all(|pair| pair[0] < pair[1]));
        assert!(many.len() < 800, "{}", many.len());
    }
}
