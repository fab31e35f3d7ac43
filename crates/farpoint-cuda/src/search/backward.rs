//! Gradients of the distances of several neighbors, of clouds in device memory.

use super::clouds::DeviceClouds;
use super::gradients::DeviceSearchGradients;
use super::{parameter, sorted};
use crate::launch::Launch;
use crate::{CudaScalar, Error, Gpu, Stream};

/// Threads per block for the gradients of `x`, and maximum number of blocks.
const THREADS: u32 = 256;
const MAX_BLOCKS: usize = 1 << 20;

/// Gradients of searches.
impl Gpu {
    /// Queues the gradients of a search of clouds in device memory without synchronizing; see
    /// [`DeviceSearchGradients`].
    ///
    /// # Errors
    /// If sizes or addresses are wrong as far as the host can tell, and if the driver refuses a call.
    ///
    /// # Safety
    /// See [`DeviceSearchGradients`].
    pub unsafe fn enqueue_search_gradients<T: CudaScalar>(
        &self,
        stream: &Stream,
        request: &DeviceSearchGradients<T>,
    ) -> Result<(), Error> {
        stream.check_gpu(self)?;
        request.check()?;
        let rows = |side: usize, clouds: &DeviceClouds| match request.gradients[side] {
            Some(_) => request.clouds * clouds.rows,
            None => 0,
        };
        if rows(0, &request.x) > 0 {
            let function = self.function::<T>("search_backward", "search_backward_own")?;
            let numbers = rows(0, &request.x).saturating_mul(request.dims);
            let blocks = numbers.div_ceil(THREADS as usize).min(MAX_BLOCKS) as u32;
            let args = sorted::Args::new(stream, request, parameter::number(request.norm));
            // SAFETY: `Args` mirrors the kernel's parameter, whose addresses are valid by this function's
            // contract.
            unsafe { Launch::new(blocks, THREADS).start(stream, function, &args)? };
        }
        if rows(1, &request.y) > 0 {
            // SAFETY: as above.
            unsafe { sorted::enqueue(self, stream, request, parameter::number(request.norm))? };
        }
        Ok(())
    }

    /// Returns the bytes of device memory that [`Gpu::enqueue_search_gradients`] uses besides input and result; 0 if
    /// the GPU can't run the kernel.
    pub fn search_gradients_scratch_bytes<T: CudaScalar>(
        &self,
        request: &DeviceSearchGradients<T>,
    ) -> usize {
        sorted::scratch_bytes(self, request)
    }
}
