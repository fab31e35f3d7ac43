//! The CPU: number of threads and vector instruction set.

use crate::Level;

/// The CPU. Neither threads nor instruction set ever change a result.
///
/// ```
/// use farpoint::{Cpu, Level, Sampler};
///
/// let line: Vec<[f32; 1]> = (0..100).map(|i| [i as f32]).collect();
/// let cpu = Cpu::new().threads(1).level(Level::Portable);
/// assert_eq!(Sampler::count(3).on(&cpu).sample(&line)?.indices, [0, 99, 49]);
/// # Ok::<(), farpoint::Error>(())
/// ```
///
/// An observer is called every 1,024 samples and every 0.5 ms or so of a sampler, every few milliseconds of a search, but
/// not while clouds are copied, nor while searches and `radius` build their structures, which takes seconds for
/// tens of millions of points.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[non_exhaustive]
pub struct Cpu {
    /// Number of threads; those of the current pool if `None`.
    pub threads: Option<usize>,
    /// Instruction set; the best of this machine if `None`.
    pub level: Option<Level>,
}

impl Cpu {
    /// Creates a device with all threads and the best instruction set.
    pub fn new() -> Self {
        Self::default()
    }

    /// Sets the number of threads; those of the current rayon pool by default. One never uses
    /// rayon; a number above the pool's (for searches: any other) starts threads for each run,
    /// which takes about 0.1 ms. Samplers use no more threads than there are cores. Without the
    /// feature `rayon` all work is done by the calling thread, whatever is set here.
    pub fn threads(self, threads: usize) -> Self {
        Self { threads: Some(threads), ..self }
    }

    /// Sets the instruction set; the best of this machine by default.
    pub fn level(self, level: Level) -> Self {
        Self { level: Some(level), ..self }
    }
}
