//! Clouds of the table, with times of other implementations and targets.

use anyhow::{Result, ensure};
use farpoint_generate::{Kind, generate};
use farpoint_io::{Coordinates, ReadOptions, read};
use rayon::prelude::*;
use std::path::Path;

/// A row of the table.
#[derive(Clone, Copy)]
pub(super) struct Row {
    pub(super) name: &'static str,
    pub(super) clouds: usize,
    pub(super) points: usize,
    pub(super) samples: usize,
    source: Source,
    /// Number of sets of clouds, for runs in turn.
    sets: usize,
    /// Milliseconds on the same card: the textbook kernel (mmcv), the best public exact one, the probe
    /// that `radius` must not be slower than, the first prototype of `peak`.
    pub(super) textbook: Option<f64>,
    pub(super) public: Option<f64>,
    pub(super) probe: Option<f64>,
    pub(super) prototype: Option<f64>,
    /// Target of the fastest algorithm, in milliseconds.
    pub(super) target: Option<f64>,
}

#[derive(Clone, Copy)]
enum Source {
    Made(Kind),
    /// A file of the folder of real clouds.
    File(&'static str),
}

const fn made(
    name: &'static str,
    kind: Kind,
    [clouds, points, samples]: [usize; 3],
    sets: usize,
) -> Row {
    Row {
        name,
        clouds,
        points,
        samples,
        source: Source::Made(kind),
        sets,
        textbook: None,
        public: None,
        probe: None,
        prototype: None,
        target: None,
    }
}

pub(super) const MILLION: &str = "room 1,000,000 -> 250,000";
pub(super) const TEN_MILLION: &str = "room 10,000,000 -> 2,500,000";
pub(super) const TURN: &str = "KITTI turn 124,668 -> 31,167";

/// Shapes that have targets, and some more that others were measured with.
pub(super) const ROWS: [Row; 12] = [
    Row {
        textbook: Some(36_800.0),
        public: Some(2_000.0),
        probe: Some(1_623.0),
        prototype: Some(10.1),
        target: Some(4.0),
        ..made(MILLION, Kind::Room, [1, 1_000_000, 250_000], 3)
    },
    Row {
        source: Source::File("kitti/odometry_seq00_000000.bin"),
        textbook: Some(614.0),
        public: Some(155.0),
        probe: Some(240.0),
        prototype: Some(5.1),
        target: Some(2.0),
        ..made(TURN, Kind::Lidar, [1, 124_668, 31_167], 1)
    },
    Row {
        textbook: Some(72.0),
        public: Some(48.0),
        probe: Some(52.0),
        prototype: Some(2.6),
        target: Some(1.2),
        ..made("object 40,000 -> 10,000", Kind::Object, [1, 40_000, 10_000], 3)
    },
    Row {
        textbook: Some(30.6),
        public: Some(62.0),
        prototype: Some(14.3),
        target: Some(4.0),
        ..made("32 rooms 24,000 -> 6,000", Kind::Room, [32, 24_000, 6_000], 3)
    },
    Row {
        textbook: Some(14.4),
        public: Some(24.0),
        prototype: Some(4.0),
        target: Some(1.2),
        ..made("8 objects 16,384 -> 4,096", Kind::Object, [8, 16_384, 4_096], 5)
    },
    Row {
        textbook: Some(0.55),
        public: Some(4.5),
        prototype: Some(0.29),
        target: Some(0.15),
        ..made("32 objects 1,024 -> 512", Kind::Object, [32, 1_024, 512], 7)
    },
    made("64 objects 4,096 -> 1,024", Kind::Object, [64, 4_096, 1_024], 5),
    made("256 objects 1,024 -> 256", Kind::Object, [256, 1_024, 256], 3),
    made("lidar 34,752 -> 8,688", Kind::Lidar, [1, 34_752, 8_688], 3),
    made(TEN_MILLION, Kind::Room, [1, 10_000_000, 2_500_000], 1),
    Row {
        textbook: Some(573.0),
        public: Some(154.0),
        probe: Some(239.0),
        prototype: Some(4.5),
        ..made("lidar 120,000 -> 30,000", Kind::Lidar, [1, 120_000, 30_000], 3)
    },
    Row {
        textbook: Some(18_391.0),
        public: Some(992.0),
        probe: Some(825.0),
        prototype: Some(8.7),
        ..made("room 1,000,000 -> 125,000", Kind::Room, [1, 1_000_000, 125_000], 1)
    },
];

/// Points of a row, and the indices of the CPU.
pub(super) struct Input {
    /// Dense `(clouds, points, 3)` arrays, one per set.
    pub(super) sets: Vec<Vec<f32>>,
    /// Indices of each set and cloud.
    truth: Vec<Vec<Vec<usize>>>,
    /// Seconds of the CPU for all sets, a hint only.
    pub(super) cpu_seconds: f64,
}

impl Row {
    pub(super) fn shape(&self) -> [usize; 3] {
        [self.clouds, self.points, 3]
    }

    /// Generates or reads the clouds and samples them on the CPU; `None` if the file is missing.
    pub(super) fn input(&self, data: Option<&Path>) -> Result<Option<Input>> {
        let sets = match self.source {
            Source::Made(kind) => self.generated(kind),
            Source::File(name) => {
                let Some(path) = data.map(|folder| folder.join(name)) else { return Ok(None) };
                if !path.exists() {
                    return Ok(None);
                }
                let cloud = read(&path, &ReadOptions::default())?;
                let Coordinates::F32(rows) = cloud.coordinates() else { return Ok(None) };
                ensure!(rows.len() == self.points, "{name} has {} points", rows.len());
                vec![rows.as_flattened().to_vec()]
            }
        };
        let begin = std::time::Instant::now();
        let truth = sets.iter().map(|set| self.sample(set)).collect::<Result<_>>()?;
        Ok(Some(Input { sets, truth, cpu_seconds: begin.elapsed().as_secs_f64() }))
    }

    fn generated(&self, kind: Kind) -> Vec<Vec<f32>> {
        let set = |set: usize| {
            let seeds = (set * self.clouds..).take(self.clouds).collect::<Vec<_>>();
            let clouds: Vec<_> = seeds
                .par_iter()
                .map(|&seed| generate(kind, self.points, 1 + seed as u64))
                .collect();
            clouds.concat().as_flattened().to_vec()
        };
        (0..self.sets).map(set).collect()
    }

    fn sample(&self, set: &[f32]) -> Result<Vec<Vec<usize>>> {
        let sampler = farpoint::Sampler::count(self.samples);
        let samples = sampler.sample_padded(set, self.shape(), None)?;
        Ok(samples.into_iter().map(|sample| sample.indices).collect())
    }
}

impl Input {
    /// Compares the indices of a set's clouds with the CPU's.
    pub(super) fn check(&self, set: usize, samples: usize, indices: &[i64]) -> Result<()> {
        for (cloud, (found, truth)) in
            indices.chunks(samples.max(1)).zip(&self.truth[set]).enumerate()
        {
            let differs = found.iter().zip(truth).position(|(&a, &b)| a != b as i64);
            if let Some(k) = differs {
                let (found, truth) = (found[k], truth[k]);
                anyhow::bail!("set {set}, cloud {cloud}: sample {k} is {found}, not {truth}");
            }
        }
        Ok(())
    }
}
