//! Maps a method's name to its kernel; the one place that launches them.

use super::matching::{Matching, Shape};
use super::{auto, pairs, tree};
use crate::{CudaScalar, Error, Gpu, Stream};
use farpoint::{DeviceKind, Matcher, Method, Norm};

/// A method that GPUs support, and a norm.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Choice {
    method: Method,
    norm: Norm,
}

impl Choice {
    /// Refuses methods and norms that GPUs don't support, with the CPU library's errors.
    pub(crate) fn new(job: &Matcher) -> Result<Self, Error> {
        job.method.check(DeviceKind::Gpu)?;
        match job.norm {
            Norm::One | Norm::Two => Ok(Self { method: job.method, norm: job.norm }),
            norm => Err(Error::Unsupported(format!("there are no kernels for the norm {norm:?}"))),
        }
    }

    /// Replaces `Auto` by the method that it selects here.
    pub(crate) fn resolve(self, gpu: &Gpu, shape: Shape) -> Self {
        let method = match self.method {
            Method::Auto => auto::choose(gpu.properties(), shape),
            method => method,
        };
        Self { method, ..self }
    }

    pub(crate) fn name(self) -> &'static str {
        self.method.name()
    }

    /// Bytes of scratch memory that `enqueue` uses; 0 if the GPU can't run the method.
    pub(crate) fn scratch_bytes<T: CudaScalar>(self, gpu: &Gpu, shape: Shape) -> usize {
        match self.resolve(gpu, shape).method {
            Method::Tree if !shape.is_empty() => tree::scratch_bytes::<T>(gpu, shape, self.norm),
            _ => 0,
        }
    }

    /// Queues the search for a batch of pairs.
    ///
    /// # Safety
    /// The addresses in `matching` and `scratch` must match `shape`, and stay valid until the
    /// stream has finished.
    pub(crate) unsafe fn enqueue<T: CudaScalar>(
        self,
        stream: &Stream,
        matching: &Matching,
        shape: Shape,
        scratch: Option<(u64, usize)>,
    ) -> Result<(), Error> {
        if shape.is_empty() {
            return Ok(());
        }
        let (gpu, s, m, norm) = (stream.gpu(), stream, matching, self.norm);
        // SAFETY: each of these has this function's contract, and is given its addresses and its shape.
        unsafe {
            match self.resolve(gpu, shape).method {
                Method::Plain => pairs::PLAIN.enqueue::<T>(gpu, s, m, shape, norm),
                Method::Brute => pairs::BRUTE.enqueue::<T>(gpu, s, m, shape, norm),
                Method::Tree => tree::enqueue::<T>(gpu, s, m, shape, scratch, norm),
                other => Err(Error::Unsupported(format!("there is no kernel for {other}"))),
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn errors_list_what_gpus_support() {
        for method in Method::of(DeviceKind::Gpu) {
            assert!(Choice::new(&Matcher::new().method(method)).is_ok(), "{method}");
        }
        let reference = Matcher::new().method(Method::Reference);
        let text = Choice::new(&reference).unwrap_err().to_string();
        assert!(text.contains("reference") && text.contains("auto, plain, brute, tree"), "{text}");
    }
}
