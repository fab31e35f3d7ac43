//! Searches of clouds in device memory, with results there.

use super::method::Choice;
use super::parameter::Work;
use super::request::DeviceSearch;
use crate::{CudaScalar, Error, Gpu, Stream, input};
use farpoint::Searcher;

/// Searches for several neighbors of clouds in device memory.
impl Gpu {
    /// Queues a search of clouds in device memory without synchronizing; see [`DeviceSearch`].
    ///
    /// # Errors
    /// If the job, sizes or addresses are wrong as far as the host can tell, if the GPU does not support the job's
    /// method, and if the driver refuses a call.
    ///
    /// # Safety
    /// See [`DeviceSearch`].
    pub unsafe fn enqueue_search<T: CudaScalar>(
        &self,
        job: &Searcher,
        stream: &Stream,
        request: &DeviceSearch<T>,
    ) -> Result<(), Error> {
        stream.check_gpu(self)?;
        let choice = check(job, request)?;
        // SAFETY: what is in device memory is as `DeviceSearch` requires, by this function's contract; what
        // the host knows was checked.
        unsafe { choice.enqueue(stream, request, &request.parameter(job), Work::Best) }
    }

    /// Returns the bytes of device memory that [`Gpu::enqueue_search`] uses for this search besides input and result;
    /// 0 if the GPU can't run the method. It depends only on sizes and on the presence of indexes.
    pub fn search_scratch_bytes<T: CudaScalar>(
        &self,
        job: &Searcher,
        request: &DeviceSearch<T>,
    ) -> usize {
        Choice::new(job).map_or(0, |choice| choice.scratch_bytes(request))
    }
}

/// Checks everything known to the host.
fn check<T: CudaScalar>(job: &Searcher, request: &DeviceSearch<T>) -> Result<Choice, Error> {
    job.check()?;
    input::check_non_finite(job.non_finite)?;
    let choice = Choice::new(job)?;
    let shape = request.check(job.k)?;
    shape.check_k()?;
    Ok(choice)
}
