//! All points within balls, in two passes: counted, then written one row after another.

use super::clouds::null;
use super::method::Choice;
use super::parameter::{Parameter, Shape, THREADS, Work};
use super::request::DeviceSearch;
use crate::launch::Launch;
use crate::{CudaScalar, Error, Gpu, Stream, input};
use farpoint::{Method, Order, Searcher};

/// All neighbors in balls of clouds in device memory, once they are counted.
///
/// `search.indices` and `search.distances` have room for all of them: those of row `i` of `x` from
/// `offsets[i]` on, `offsets[i + 1] - offsets[i]` in number; `search.counts` is not written.
#[derive(Debug, Clone, Copy)]
pub struct DeviceWithin<T> {
    /// The clouds, and the addresses of indices and distances. Nearest first needs the distances.
    pub search: DeviceSearch<T>,
    /// Offset of each row's first neighbor, and the end of the last, `i64`: one number more than the batch has rows.
    pub offsets: u64,
}

/// `struct SortArgs` of `kernels/search/search_within.cu`.
#[derive(Clone, Copy)]
#[repr(C)]
struct SortArgs<T> {
    search: Parameter<T>,
    offsets: u64,
    groups: u32,
}

/// All neighbors in balls.
impl Gpu {
    /// Queues the counting of all neighbors in balls without synchronizing: `request.counts` gets one number per row
    /// of `x`, 0 for rows that pad a cloud.
    ///
    /// # Errors
    /// If there is no ball or no address for the counts; else as [`Gpu::enqueue_search`].
    ///
    /// # Safety
    /// See [`DeviceSearch`].
    pub unsafe fn enqueue_search_counts<T: CudaScalar>(
        &self,
        job: &Searcher,
        stream: &Stream,
        request: &DeviceSearch<T>,
    ) -> Result<(), Error> {
        let (choice, shape) = self.check_within(job, stream, request)?;
        if request.counts.is_none() && !shape.is_empty() {
            return Err(null("numbers of neighbors"));
        }
        let counted = DeviceSearch { distances: None, indices: None, ..*request };
        // SAFETY: what is in device memory is as `DeviceSearch` requires, by this function's contract; what
        // the host knows was checked.
        unsafe { choice.enqueue(stream, &counted, &parameter(&counted, job), Work::Count) }
    }

    /// Queues the writing of all neighbors in balls without synchronizing. Offsets are the running sums of the counts
    /// of [`Gpu::enqueue_search_counts`]; rows with less room keep what fits.
    ///
    /// # Errors
    /// If there is no ball, or nearest first is requested without distances; else as
    /// [`Gpu::enqueue_search`].
    ///
    /// # Safety
    /// See [`DeviceSearch`] and [`DeviceWithin`].
    pub unsafe fn enqueue_search_fill<T: CudaScalar>(
        &self,
        job: &Searcher,
        stream: &Stream,
        within: &DeviceWithin<T>,
    ) -> Result<(), Error> {
        let request = DeviceSearch { counts: None, ..within.search };
        let (choice, shape) = self.check_within(job, stream, &request)?;
        let (parameter, indices) = (parameter(&request, job), request.indices);
        if shape.is_empty() || (indices.is_none() && request.distances.is_none()) {
            return Ok(());
        }
        if within.offsets == 0 || indices.is_none() {
            return Err(null(if indices.is_none() { "indices" } else { "offsets" }));
        }
        input::check_aligned::<i64>(within.offsets, "offsets")?;
        if parameter.by_index == 0 && request.distances.is_none() {
            return Err(Error::Unsupported(
                "neighbors in a ball, nearest first, are sorted by their distances: pass memory for \
                 the distances, too"
                    .into(),
            ));
        }
        let by_rows = choice.method(&request, false) != Method::Tree;
        // SAFETY: as above; the second launch reads what the first has written, in the order of the stream.
        unsafe {
            choice.enqueue(stream, &request, &parameter, Work::Fill(within.offsets))?;
            // All pairs are visited in order of index.
            if by_rows && parameter.by_index == 1 {
                return Ok(());
            }
            sort(stream, &parameter, within.offsets, shape)
        }
    }

    fn check_within<T: CudaScalar>(
        &self,
        job: &Searcher,
        stream: &Stream,
        request: &DeviceSearch<T>,
    ) -> Result<(Choice, Shape), Error> {
        stream.check_gpu(self)?;
        job.check_within()?;
        input::check_non_finite(job.non_finite)?;
        Ok((Choice::new(job)?, request.check(1)?))
    }
}

/// Returns the kernels' view; the number of neighbors is ignored.
fn parameter<T: CudaScalar>(request: &DeviceSearch<T>, job: &Searcher) -> Parameter<T> {
    let by_index = job.ball.is_some_and(|ball| ball.order == Order::Index);
    Parameter { k: 1, by_index: u32::from(by_index), ..request.parameter(job) }
}

/// # Safety
/// Same as [`Gpu::enqueue_search_fill`].
unsafe fn sort<T: CudaScalar>(
    stream: &Stream,
    parameter: &Parameter<T>,
    offsets: u64,
    shape: Shape,
) -> Result<(), Error> {
    let function = stream.gpu().function::<T>("search_within", "sort_within")?;
    let args = SortArgs { search: *parameter, offsets, groups: shape.groups() };
    // SAFETY: `SortArgs` mirrors the kernel's parameter, whose addresses are valid by this function's
    // contract.
    unsafe { Launch::new(shape.blocks_of_groups()?, THREADS).start(stream, function, &args) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::source::fields;

    #[test]
    fn laid_out_as_in_search_within_cu() {
        let source = include_str!("../../kernels/search/search_within.cu");
        assert_eq!(fields(source, "SortArgs"), "search offsets groups");
        assert_eq!(std::mem::offset_of!(SortArgs<f64>, groups), 184);
    }
}
