//! What a run counted: where the work went, and how much of it was of use.

/// Counts of one run; zero where an algorithm has no such thing.
#[derive(Debug, Clone, Default, PartialEq)]
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
    /// Seconds spent, stage by stage.
    pub seconds: Stages,
    /// Effective updates of each sample in order of choice (`naive` and `reference` only):
    /// `1 - effective / points` is the share of ineffective updates of figure 3.
    pub effective_by_step: Vec<u32>,
}

impl Statistics {
    /// Share of the distances computed that changed nothing, 0 to 1: the paper's ineffective
    /// updates, over the whole run. `None` where none was computed.
    pub fn ineffective(&self) -> Option<f64> {
        let all = self.distance_evaluations;
        (all > 0).then(|| 1.0 - self.effective_updates as f64 / all as f64)
    }

    /// The same for each sample in order of choice, over a cloud of so many points (figure 3):
    /// from `effective_by_step`, and as empty as that.
    pub fn ineffective_by_step(&self, points: usize) -> Vec<f64> {
        let share = |&effective: &u32| 1.0 - f64::from(effective) / points as f64;
        self.effective_by_step.iter().map(share).collect()
    }
}

/// Seconds of each stage of a run; zero where an algorithm has no such stage.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
#[non_exhaustive]
pub struct Stages {
    /// Copying and checking the input.
    pub copy: f64,
    /// Ordering the points and building the structure over them.
    pub build: f64,
    /// Samples taken one by one.
    pub single: f64,
    /// Collecting the points of bands and sorting them.
    pub collect: f64,
    /// Choosing within bands.
    pub solve: f64,
    /// Applying the choices to all points.
    pub update: f64,
}

/// Adds the seconds since `*since` to `stage`, and starts the next.
pub(super) fn lap(since: &mut std::time::Instant, stage: &mut f64) {
    let now = std::time::Instant::now();
    *stage += (now - *since).as_secs_f64();
    *since = now;
}

#[cfg(test)]
mod tests {
    use crate::{Algorithm, Sampler};

    #[test]
    fn shares_of_a_line() {
        let line = [[0.0f32], [1.0], [2.0], [3.0]];
        let sampler = Sampler::count(2).algorithm(Algorithm::Naive).statistics(true);
        let counted = sampler.sample(&line[..]).unwrap().statistics.unwrap();
        // The first sample changes the three others, the last one only its neighbor.
        assert_eq!(counted.ineffective_by_step(4), [0.25, 0.75]);
        assert_eq!(counted.ineffective(), Some(0.5));
        assert_eq!(super::Statistics::default().ineffective(), None);
    }
}
