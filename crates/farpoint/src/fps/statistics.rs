//! What a run counted: where the work went, and how much of it was of use.

/// Counts of one run; zero where an algorithm has no such thing.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Statistics {
    /// Distances computed between a sample and a point.
    pub distance_evaluations: u64,
    /// Those that made a point's distance smaller (the paper's eq. 2).
    pub effective_updates: u64,
    /// Points left out by one coordinate alone (eq. 28).
    pub points_skipped: u64,
    /// Voxels or boxes tested against a sample.
    pub regions_tested: u64,
    /// Those that the test left out.
    pub regions_pruned: u64,
    /// Bands of the peak method.
    pub bands: u64,
    /// Rounds of the peak method: passes over a band until all of it was decided.
    pub rounds: u64,
    /// Candidates in all bands together.
    pub band_points: u64,
    /// Effective updates of each sample in order of choice (`naive` and `reference` only):
    /// `1 - effective / points` is the share of ineffective updates of figure 3.
    pub effective_by_step: Vec<u32>,
}
