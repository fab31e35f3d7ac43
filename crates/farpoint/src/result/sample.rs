//! The result of a sampler, from any device.

use super::Statistics;
use crate::{Algorithm, Level, Scalar};

/// A sample: indices in order of choice, and the distance of each to those before it.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct Sample<T> {
    /// Rows of the input, in order of choice, all different.
    pub indices: Vec<usize>,
    /// Squared selection distance of each: its distance to the nearest point chosen before
    /// it. Infinite for the start points.
    pub squared_distances: Vec<T>,
    /// Squared distance of the farthest remaining point; 0 if none is left, infinite if nothing was
    /// chosen.
    pub squared_covering_radius: T,
    /// The algorithm that ran (never `Auto`).
    pub algorithm: Algorithm,
    /// Number of rows left out because they hold NaN or infinity.
    pub dropped: usize,
    /// Device that did the work.
    pub ran_on: RanOn,
    /// Counts and times, if the job enables them.
    pub statistics: Option<Statistics>,
}

/// Device that ran a job.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum RanOn {
    /// The CPU.
    Cpu {
        /// Threads available to it: 1 for a small cloud, unless another number was set.
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
    /// Creates a sample for a device outside this crate, without statistics.
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

    /// Returns the number of samples.
    pub fn len(&self) -> usize {
        self.indices.len()
    }

    /// Returns whether nothing was chosen.
    pub fn is_empty(&self) -> bool {
        self.indices.is_empty()
    }

    /// Returns the selection distance of sample `k`, which is the covering radius of the `k` before it.
    ///
    /// # Panics
    /// If there is no sample `k`.
    pub fn distance(&self, k: usize) -> T {
        self.squared_distances[k].sqrt()
    }

    /// Returns the largest distance of any point to its nearest sample.
    pub fn covering_radius(&self) -> T {
        self.squared_covering_radius.sqrt()
    }

    /// Returns the covering radius of the first `k` samples alone.
    ///
    /// # Panics
    /// If there are fewer than `k` samples.
    pub fn covering_radius_of(&self, k: usize) -> T {
        if k == self.len() { self.covering_radius() } else { self.distance(k) }
    }
}
