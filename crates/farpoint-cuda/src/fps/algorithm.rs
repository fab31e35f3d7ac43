//! Maps an algorithm's name to its kernels; the one place that launches them.

use super::batch::{Batch, Shape};
use super::{auto, naive, peak, persistent, radius};
use crate::progress::Part;
use crate::{CudaScalar, Error, Gpu, Stream};
use farpoint::{Algorithm, DeviceKind, Sampler};

/// An algorithm implemented on GPUs, with options in range.
#[derive(Debug, Clone, Copy)]
pub struct Choice(Algorithm);

impl Choice {
    /// Refuses jobs that GPUs don't support, with the CPU library's errors.
    pub fn new(job: &Sampler) -> Result<Self, Error> {
        job.check(DeviceKind::Gpu)?;
        Ok(Self(job.algorithm))
    }

    /// Replaces `Auto` by the algorithm that it selects here.
    pub(crate) fn resolve<T: CudaScalar>(self, gpu: &Gpu, shape: Shape) -> Self {
        match self.0 {
            Algorithm::Auto => Self(auto::choose(gpu.properties(), shape, size_of::<T>())),
            _ => self,
        }
    }

    pub(crate) fn algorithm(self) -> Algorithm {
        self.0
    }

    /// Returns the bytes of scratch memory that `enqueue` uses; 0 if the GPU can't run the algorithm.
    pub fn scratch_bytes<T: CudaScalar>(self, gpu: &Gpu, shape: Shape) -> usize {
        match self.resolve::<T>(gpu, shape).0 {
            Algorithm::Naive => naive::scratch_bytes::<T>(shape),
            Algorithm::Radius(_) => radius::scratch_bytes::<T>(shape),
            Algorithm::Persistent => persistent::scratch_bytes::<T>(gpu, shape),
            Algorithm::Peak(options) => peak::scratch_bytes::<T>(gpu, shape, &options),
            _ => 0,
        }
    }

    /// Returns the number of 64-bit counters of the algorithm.
    pub(crate) fn counters(self) -> usize {
        match self.0 {
            Algorithm::Peak(_) => peak::COUNTERS,
            _ => 0,
        }
    }

    /// Queues the sampling of a batch. `counters` is 0, or the address of as many 64-bit numbers as
    /// there are counters, to which the kernels add. With a `part` that is watched, the call may
    /// synchronize between launches, report progress and end early if the observer cancels.
    ///
    /// # Safety
    /// The addresses in `batch` and `scratch` must match `shape`, and stay valid until the
    /// stream has finished.
    pub(crate) unsafe fn enqueue<T: CudaScalar>(
        self,
        stream: &Stream,
        batch: &Batch<T>,
        shape: Shape,
        scratch: Option<(u64, usize)>,
        counters: u64,
        part: Option<&mut Part<'_, '_>>,
    ) -> Result<(), Error> {
        let (gpu, s) = (stream.gpu(), stream);
        // SAFETY: each of these has this function's contract, and is given its addresses and its shape.
        let queued = unsafe {
            match self.resolve::<T>(gpu, shape).0 {
                Algorithm::Naive => naive::enqueue(gpu, s, batch, shape, scratch),
                Algorithm::Radius(options) => {
                    radius::enqueue(gpu, s, batch, shape, scratch, &options, part)
                }
                Algorithm::Persistent => persistent::enqueue(gpu, s, batch, shape, scratch),
                Algorithm::Peak(options) => {
                    peak::enqueue(gpu, s, batch, shape, scratch, &options, counters)
                }
                other => Err(Error::Unsupported(format!("there is no kernel for {other}"))),
            }
        };
        let bytes = |rows| self.scratch_bytes::<T>(gpu, Shape { rows, ..shape });
        queued.map_err(|error| error.with_fit(0, shape.rows, bytes))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn errors_list_what_gpus_support() {
        let job = Sampler::count(1);
        for algorithm in Algorithm::of(DeviceKind::Gpu) {
            assert!(Choice::new(&job.clone().algorithm(algorithm)).is_ok(), "{algorithm}");
        }
        let text = Choice::new(&job.algorithm(Algorithm::Tree)).unwrap_err().to_string();
        assert!(text.contains("tree") && text.contains("persistent"), "{text}");
        let cells = Sampler::new(farpoint::Amount::Cell(1.0));
        assert!(Choice::new(&cells).is_err());
    }
}
