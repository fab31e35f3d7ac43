//! Gradients of the distances of several neighbors, of clouds in device memory.

use super::clouds::DeviceClouds;
use super::gradients::DeviceSearchGradients;
use super::{parameter, sorted};
use crate::launch::Launch;
use crate::{CudaScalar, Error, Gpu, Stream};

/// Threads per block for the gradients of `x`, and maximum number of blocks.
const THREADS: u32 = 256;
const MOST_BLOCKS: usize = 1 << 20;

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
        wanted: &DeviceSearchGradients<T>,
    ) -> Result<(), Error> {
        stream.check_of(self)?;
        wanted.check()?;
        let rows = |side: usize, clouds: &DeviceClouds| match wanted.gradients[side] {
            Some(_) => wanted.clouds * clouds.rows,
            None => 0,
        };
        if rows(0, &wanted.x) > 0 {
            let function = self.function::<T>("search_backward", "search_backward_own")?;
            let numbers = rows(0, &wanted.x).saturating_mul(wanted.dims);
            let blocks = numbers.div_ceil(THREADS as usize).min(MOST_BLOCKS) as u32;
            let args = sorted::Args::new(stream, wanted, parameter::number(wanted.norm));
            // SAFETY: `Args` mirrors the kernel's parameter, whose addresses are valid by this function's
            // contract.
            unsafe { Launch::new(blocks, THREADS).start(stream, function, &args)? };
        }
        if rows(1, &wanted.y) > 0 {
            // SAFETY: as above.
            unsafe { sorted::enqueue(self, stream, wanted, parameter::number(wanted.norm))? };
        }
        Ok(())
    }

    /// Returns the bytes of device memory that [`Gpu::enqueue_search_gradients`] uses besides input and result; 0 if
    /// the GPU can't run the kernel.
    pub fn search_gradients_scratch_bytes<T: CudaScalar>(
        &self,
        wanted: &DeviceSearchGradients<T>,
    ) -> usize {
        sorted::scratch_bytes(self, wanted)
    }
}
