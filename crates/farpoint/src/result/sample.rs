//! A sample, from whatever device.

use super::Statistics;
use crate::{Algorithm, Level, Scalar};

/// A sample: indices in order of choice, and how far each was from those before it.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct Sample<T> {
    /// Rows of the input, in order of choice, all different.
    pub indices: Vec<usize>,
    /// Squared selection distance of each: its distance to the nearest point chosen before
    /// it. Infinite for the start points, which were given.
    pub squared_distances: Vec<T>,
    /// Squared distance of the farthest point left; 0 when none is, infinite when nothing was
    /// chosen.
    pub squared_covering_radius: T,
    /// The algorithm that ran (never `Auto`).
    pub algorithm: Algorithm,
    /// Rows left out because they hold NaN or infinity.
    pub dropped: usize,
    /// What did the work.
    pub ran_on: RanOn,
    /// What was counted and timed, if the job wants it.
    pub statistics: Option<Statistics>,
}

/// What did the work of a job.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum RanOn {
    /// The CPU.
    Cpu {
        /// Threads it could use: 1 for a small cloud, unless another number was set.
        threads: usize,
        /// Instruction set it used.
        level: Level,
    },
    /// A GPU.
    Gpu {
        /// Its number on this machine, from 0.
        ordinal: usize,
    },
}

impl<T: Scalar> Sample<T> {
    /// A sample as a device outside this crate makes it, without statistics.
    pub fn new(
        indices: Vec<usize>,
        squared_distances: Vec<T>,
        squared_covering_radius: T,
        algorithm: Algorithm,
        ran_on: RanOn,
    ) -> Self {
        let (dropped, statistics) = (0, None);
        Self {
            indices,
            squared_distances,
            squared_covering_radius,
            algorithm,
            dropped,
            ran_on,
            statistics,
        }
    }

    /// Number of samples.
    pub fn len(&self) -> usize {
        self.indices.len()
    }

    /// Whether nothing was chosen.
    pub fn is_empty(&self) -> bool {
        self.indices.is_empty()
    }

    /// Selection distance of sample `k`, which is the covering radius of the `k` before it.
    ///
    /// # Panics
    /// If there is no sample `k`.
    pub fn distance(&self, k: usize) -> T {
        self.squared_distances[k].sqrt()
    }

    /// Largest distance of any point to its nearest sample.
    pub fn covering_radius(&self) -> T {
        self.squared_covering_radius.sqrt()
    }

    /// Covering radius of the first `k` samples alone.
    ///
    /// # Panics
    /// If there are fewer than `k` samples.
    pub fn covering_radius_of(&self, k: usize) -> T {
        if k == self.len() { self.covering_radius() } else { self.distance(k) }
    }
}
