//! Counts and times of a run: where the work went, and how much of it was of use.

/// Counts, times and memory of one run; zero where an algorithm or a device has no such thing. The
/// clouds of a batch on a GPU share one launch, and one of these.
#[derive(Debug, Clone, Default, PartialEq)]
#[non_exhaustive]
pub struct Statistics {
    /// Distances computed between a sample and a point.
    pub distance_evaluations: u64,
    /// Evaluations that reduced a point's distance (the paper's eq. 2).
    pub effective_updates: u64,
    /// Points skipped by one coordinate alone (eq. 28).
    pub points_skipped: u64,
    /// Voxels or boxes tested against a sample.
    pub regions_tested: u64,
    /// Regions pruned by that test.
    pub regions_pruned: u64,
    /// Bands of the peak method.
    pub bands: u64,
    /// Rounds of the peak method: passes over a band until all of it was decided.
    pub rounds: u64,
    /// Candidates in all bands together.
    pub band_points: u64,
    /// Further counts of the algorithm, by name.
    pub counters: Vec<(&'static str, u64)>,
    /// Seconds spent, stage by stage.
    pub seconds: Stages,
    /// Device memory.
    pub bytes: Bytes,
    /// Effective updates of each sample in order of choice (`naive` and `reference` only):
    /// `1 - effective / points` is the share of ineffective updates of figure 3.
    pub effective_by_step: Vec<u32>,
}

impl Statistics {
    /// Returns all numbers by name, for tables and records. Stages that did not
    /// run are left out; so are counts and memory if all of them are zero.
    pub fn named(&self) -> Vec<(&'static str, Measured)> {
        let counts = [
            ("distance evaluations", self.distance_evaluations),
            ("effective updates", self.effective_updates),
            ("points skipped", self.points_skipped),
            ("regions tested", self.regions_tested),
            ("regions pruned", self.regions_pruned),
            ("bands", self.bands),
            ("rounds", self.rounds),
            ("band points", self.band_points),
        ];
        let (seconds, bytes) = (self.seconds.named(), self.bytes.named());
        let mut all = Vec::new();
        if counts.iter().any(|&(_, count)| count > 0) {
            all.extend(counts.map(|(name, count)| (name, Measured::Count(count))));
        }
        all.extend(self.counters.iter().map(|&(name, count)| (name, Measured::Count(count))));
        let used = seconds.into_iter().filter(|&(_, seconds)| seconds > 0.0);
        all.extend(used.map(|(name, seconds)| (name, Measured::Seconds(seconds))));
        if bytes.iter().any(|&(_, bytes)| bytes > 0) {
            all.extend(bytes.map(|(name, bytes)| (name, Measured::Bytes(bytes as u64))));
        }
        all
    }

    /// Returns the share of the computed distances that changed nothing, 0 to 1: the paper's ineffective
    /// updates, over the whole run. `None` if none was computed.
    pub fn ineffective(&self) -> Option<f64> {
        let all = self.distance_evaluations;
        (all > 0).then(|| 1.0 - self.effective_updates as f64 / all as f64)
    }

    /// Returns the same for each sample in order of choice, over a cloud of `points` points (figure 3):
    /// from `effective_by_step`, and of its length.
    pub fn ineffective_by_step(&self, points: usize) -> Vec<f64> {
        let share = |&effective: &u32| 1.0 - f64::from(effective) / points as f64;
        self.effective_by_step.iter().map(share).collect()
    }
}

/// Seconds of each stage of a run; zero where an algorithm has no such stage.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
#[non_exhaustive]
pub struct Stages {
    /// Copying and checking the input; for a GPU, also handing it over.
    pub copy: f64,
    /// Sorting the points in spatial order, if measured separately.
    pub order: f64,
    /// Sorting the points, unless measured separately, and building the structure over them.
    pub build: f64,
    /// The first samples, taken one by one or, by `peak` on a GPU, in rounds.
    pub single: f64,
    /// Collecting the points of bands and sorting them.
    pub collect: f64,
    /// Choosing within bands.
    pub solve: f64,
    /// Applying the choices to all points.
    pub update: f64,
    /// Sorting the choices, if done at the end.
    pub sort: f64,
    /// Kernels of a GPU, by events around them: without copies and without allocation.
    pub kernels: f64,
    /// Fetching the answer from a GPU and translating it.
    pub download: f64,
}

impl Stages {
    fn named(&self) -> [(&'static str, f64); 10] {
        [
            ("copy seconds", self.copy),
            ("order seconds", self.order),
            ("build seconds", self.build),
            ("single seconds", self.single),
            ("collect seconds", self.collect),
            ("solve seconds", self.solve),
            ("update seconds", self.update),
            ("sort seconds", self.sort),
            ("kernel seconds", self.kernels),
            ("download seconds", self.download),
        ]
    }
}

/// Bytes of device memory that a run on a GPU used; zero on the CPU.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Bytes {
    /// The input.
    pub input: usize,
    /// The answer.
    pub answer: usize,
    /// Working memory of the algorithm.
    pub scratch: usize,
    /// Of all these, bytes in host memory because device memory was full.
    pub host: usize,
}

impl Bytes {
    fn named(&self) -> [(&'static str, usize); 4] {
        [
            ("input bytes", self.input),
            ("answer bytes", self.answer),
            ("scratch bytes", self.scratch),
            ("host bytes", self.host),
        ]
    }
}

/// One number of [`Statistics::named`].
#[derive(Debug, Clone, Copy, PartialEq)]
#[non_exhaustive]
pub enum Measured {
    /// A count of things.
    Count(u64),
    /// Seconds.
    Seconds(f64),
    /// Bytes.
    Bytes(u64),
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
