//! Search for indices that are out of range.

use super::rows::{DeviceRows, Rows, THREADS, shape_error};
use crate::launch::Launch;
use crate::{Error, Gpu, Stream, input, memory};

/// `struct CheckIndicesArgs` of `kernels/values/copy.cuh`.
#[derive(Clone, Copy)]
#[repr(C)]
struct Args {
    rows: Rows,
    found: u64,
    count: u32,
}

/// Approximate number of blocks that check all indices.
const BLOCKS: usize = 2048;

/// Search for invalid indices in device memory.
impl Gpu {
    /// Queues a search for indices that are neither -1 nor a row: `found[0]` becomes their number, and
    /// `found[1]` the flat place `m * k + j` of the first of them in the whole batch, or -1. Both are `i64`
    /// in device memory.
    ///
    /// # Errors
    /// Same as [`Gpu::enqueue_gather`].
    ///
    /// # Safety
    /// See [`DeviceRows`]; `found` must have room for two numbers.
    pub unsafe fn enqueue_check_indices(
        &self,
        stream: &Stream,
        rows: &DeviceRows,
        found: u64,
    ) -> Result<(), Error> {
        stream.check_gpu(self)?;
        rows.check()?;
        if found == 0 {
            return shape_error("the address for the number of invalid indices is null".into());
        }
        input::check_aligned::<i64>(found, "number of invalid indices")?;
        // SAFETY: there is room for two numbers by this function's contract.
        unsafe {
            memory::set(stream, found, 0, 8)?;
            memory::set(stream, found + 8, 0xff, 8)?;
        }
        if rows.flat() == 0 {
            return Ok(());
        }
        let args = Args { rows: rows.kernel_view(), found, count: rows.flat() as u32 };
        let blocks = rows.flat().div_ceil(THREADS as usize).min(BLOCKS) as u32;
        let function = self.function::<f32>("gather", "check_indices")?;
        // SAFETY: `Args` mirrors the kernel's parameter; the indices are as `DeviceRows` requires by this
        // function's contract.
        unsafe { Launch::new(blocks, THREADS).start(stream, function, &args) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::source::fields;

    #[test]
    fn laid_out_as_in_copy_cuh() {
        let source = include_str!("../../kernels/values/copy.cuh");
        assert_eq!(fields(source, "CheckIndicesArgs"), "rows found count");
        assert_eq!((std::mem::offset_of!(Args, found), size_of::<Args>()), (56, 72));
    }
}
