//! The algorithms by name, and the one place that starts them.

use super::batch::{Batch, Shape};
use super::{PeakOptions, RadiusOptions, auto, naive, peak, persistent, radius};
use crate::{CudaScalar, Error, Gpu, Stream};
use std::fmt;
use std::str::FromStr;

/// The algorithms of the GPU. All give the same indices; they differ in speed only.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Algorithm {
    /// The fastest for the input and the card at hand, by measured rules.
    Auto,
    /// The textbook kernel: one block a cloud, all points for each sample.
    Naive,
    /// RadiusFPS-G: voxels pruned by their spheres, two fused kernels a sample.
    Radius,
    /// All points in registers, one launch, one exchange a sample.
    Persistent,
    /// Thousands of samples at a time.
    Peak,
}

impl Algorithm {
    /// Every algorithm, `Auto` first.
    pub const ALL: [Self; 5] =
        [Self::Auto, Self::Naive, Self::Radius, Self::Persistent, Self::Peak];

    /// The name used on the command line.
    pub fn name(self) -> &'static str {
        match self {
            Self::Auto => "auto",
            Self::Naive => "naive",
            Self::Radius => "radius",
            Self::Persistent => "persistent",
            Self::Peak => "peak",
        }
    }
}

impl fmt::Display for Algorithm {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}

impl FromStr for Algorithm {
    type Err = String;

    fn from_str(name: &str) -> Result<Self, String> {
        Self::ALL.into_iter().find(|a| a.name() == name).ok_or_else(|| {
            let names: Vec<_> = Self::ALL.iter().map(|a| a.name()).collect();
            format!("'{name}' is no algorithm of the GPU; choose one of {}", names.join(", "))
        })
    }
}

/// An algorithm with its switches.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Choice {
    pub(crate) algorithm: Algorithm,
    pub(crate) radius: RadiusOptions,
    pub(crate) peak: PeakOptions,
}

impl Choice {
    /// The same with `Auto` replaced by what it stands for here.
    pub(crate) fn resolve(self, device: &Gpu, shape: Shape, bytes: usize) -> Self {
        let algorithm = match self.algorithm {
            Algorithm::Auto => auto::choose(device.properties(), shape, bytes),
            algorithm => algorithm,
        };
        Self { algorithm, ..self }
    }

    /// Bytes of scratch memory that `enqueue` uses.
    pub(crate) fn scratch_bytes<T: CudaScalar>(&self, device: &Gpu, shape: Shape) -> usize {
        match self.algorithm {
            Algorithm::Auto => {
                self.resolve(device, shape, size_of::<T>()).scratch_bytes::<T>(device, shape)
            }
            Algorithm::Naive => naive::scratch_bytes::<T>(device, shape),
            Algorithm::Radius => radius::scratch_bytes::<T>(device, shape, &self.radius),
            Algorithm::Persistent => persistent::scratch_bytes::<T>(device, shape),
            Algorithm::Peak => peak::scratch_bytes::<T>(device, shape, &self.peak),
        }
    }

    /// What the algorithm counts, in the order of its counters.
    pub(crate) fn counters(&self) -> &'static [&'static str] {
        match self.algorithm {
            Algorithm::Peak => &peak::COUNTERS,
            _ => &[],
        }
    }

    /// Queues the sampling of a batch. `counters` is 0, or the address of as many 64-bit numbers
    /// as there are counters, to which the kernels add.
    ///
    /// # Safety
    /// The addresses in `batch` and `scratch` must be as `shape` says, and stay so until the
    /// stream has come past.
    pub(crate) unsafe fn enqueue<T: CudaScalar>(
        &self,
        device: &Gpu,
        stream: &Stream,
        batch: &Batch<T>,
        shape: Shape,
        scratch: Option<(u64, usize)>,
        counters: u64,
    ) -> Result<(), Error> {
        let (d, s) = (device, stream);
        // SAFETY: each of these has this function's contract, and is given its addresses and its shape.
        unsafe {
            match self.algorithm {
                Algorithm::Auto => self
                    .resolve(device, shape, size_of::<T>())
                    .enqueue(device, stream, batch, shape, scratch, counters),
                Algorithm::Naive => naive::enqueue(d, s, batch, shape, scratch),
                Algorithm::Radius => radius::enqueue(d, s, batch, shape, scratch, &self.radius),
                Algorithm::Persistent => persistent::enqueue(d, s, batch, shape, scratch),
                Algorithm::Peak => peak::enqueue(d, s, batch, shape, scratch, &self.peak, counters),
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::Algorithm;

    #[test]
    fn names_are_read_back() {
        for algorithm in Algorithm::ALL {
            assert_eq!(algorithm.name().parse(), Ok(algorithm));
        }
        let error = "tree".parse::<Algorithm>().unwrap_err();
        assert!(error.contains("tree") && error.contains("persistent"), "{error}");
    }
}
