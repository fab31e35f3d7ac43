//! The result of a sampler, from any device.

use super::Statistics;
use crate::{Algorithm, Error, Level, Scalar};

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
    /// Number of start points.
    pub starts: usize,
    /// False if a deadline or an observer ended the run before the sample was complete: it is then the beginning of
    /// the complete one, with its own covering radius.
    pub complete: bool,
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
    /// Creates a sample from one start for a device outside this crate, without statistics.
    pub fn new(
        indices: Vec<usize>,
        squared_distances: Vec<T>,
        squared_covering_radius: T,
        algorithm: Algorithm,
        ran_on: RanOn,
    ) -> Self {
        let (starts, dropped, statistics) = (indices.len().min(1), 0, None);
        Self {
            indices,
            squared_distances,
            squared_covering_radius,
            starts,
            complete: true,
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

    /// Returns the rows of each level of a network that samples its levels one from another: of the first `counts[0]`
    /// samples, the first `counts[1]`, and so on. One run serves all levels, since a sample of the chosen points, from
    /// the first of them, is their beginning
    /// ([proof](https://github.com/farpoint/farpoint/blob/main/docs/development/proofs.md#levels-are-prefixes)). As rows of
    /// the level before, a level is 0, 1, 2, ...
    ///
    /// ```
    /// use farpoint::Sampler;
    ///
    /// let line: Vec<[f32; 1]> = (0..100).map(|i| [i as f32]).collect();
    /// let sample = Sampler::count(32).sample(&line)?;
    /// let levels = sample.levels(&[32, 8])?;
    /// let fine: Vec<[f32; 1]> = levels[0].iter().map(|&row| line[row]).collect();
    /// assert_eq!(Sampler::count(8).sample(&fine)?.indices, [0, 1, 2, 3, 4, 5, 6, 7]);
    /// assert_eq!(levels[1], &sample.indices[..8]);
    /// # Ok::<(), farpoint::Error>(())
    /// ```
    ///
    /// # Errors
    /// [`Error::BadLevel`] for a level without points and for one that has more than the level before it or than the
    /// sample, [`Error::LevelsOfStarts`] for a sample with several start points.
    pub fn levels(&self, counts: &[usize]) -> Result<Vec<&[usize]>, Error> {
        if self.starts > 1 {
            return Err(Error::LevelsOfStarts(self.starts));
        }
        let mut before = &self.indices[..];
        let level = |(level, &count): (usize, &usize)| {
            let limit = before.len();
            if !(1..=limit).contains(&count) {
                return Err(Error::BadLevel { level, count, limit });
            }
            before = &before[..count];
            Ok(before)
        };
        counts.iter().enumerate().map(level).collect()
    }
}
