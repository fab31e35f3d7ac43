//! Points of a cloud in farthest-first order, as a page shows them.

use farpoint_pipeline::Outcome;

/// The first points of a farthest-first order.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Sequence<'a> {
    /// Rows of the cloud.
    pub(crate) rows: &'a [usize],
    /// Selection distances of these rows.
    pub(crate) distances: &'a [f64],
    /// No point of the cloud is farther from all of these.
    pub(crate) covering_radius: f64,
}

impl<'a> Sequence<'a> {
    /// At most so many points of an exact sample: its first ones, which are the sample of that size.
    pub(crate) fn first(outcome: &'a Outcome, most: usize) -> Self {
        let shown = outcome.indices.len().min(most);
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
