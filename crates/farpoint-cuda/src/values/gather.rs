//! Gathering of rows by their indices, a copy for any type, and its gradient.

use super::backward::{self, From, GradientMemory};
use super::rows::{DeviceRows, Rows, Spread, THREADS};
use crate::launch::Launch;
use crate::{Error, Gpu, Stream};

/// `struct GatherArgs` of `kernels/values/copy.cuh`.
#[derive(Clone, Copy)]
#[repr(C)]
struct Args {
    rows: Rows,
    values: u64,
    output: u64,
    units: u32,
    lanes: u32,
}

/// Returns the largest unit that divides a row and both addresses, in bytes, and its kernel.
fn unit(bytes: usize, values: u64, output: u64) -> (usize, &'static str) {
    let zeros = (bytes as u64 | values | output).trailing_zeros();
    match zeros {
        0 | 1 => (2, "gather_2"),
        2 => (4, "gather_4"),
        3 => (8, "gather_8"),
        _ => (16, "gather_16"),
    }
}

/// Gathering rows in device memory.
impl Gpu {
    /// Queues [`farpoint::values::gather`]: `values` `(clouds, rows, channels)` to `output`
    /// `(clouds, places, k, channels)`.
    ///
    /// # Errors
    /// If sizes or addresses are wrong as far as the host can tell, and if the driver refuses a call.
    ///
    /// # Safety
    /// See [`DeviceRows`].
    pub unsafe fn enqueue_gather(
        &self,
        stream: &Stream,
        rows: &DeviceRows,
        values: u64,
        output: u64,
    ) -> Result<(), Error> {
        stream.check_gpu(self)?;
        rows.check()?;
        rows.check_values(values, rows.shape.values(), "values")?;
        rows.check_values(output, rows.shape.gathered(), "output")?;
        if rows.shape.gathered()? == 0 {
            return Ok(());
        }
        let bytes = rows.shape.channels * rows.kind.bytes();
        let (unit, name) = unit(bytes, values, output);
        let units = bytes / unit;
        let Spread { blocks, lanes } = Spread::new(rows.flat(), units, 1);
        let args = Args { rows: rows.kernel_view(), values, output, units: units as u32, lanes };
        let function = self.function::<f32>("gather", name)?;
        // SAFETY: `Args` mirrors the kernel's parameter; the arrays are as `DeviceRows` requires by this
        // function's contract, and their addresses multiples of the unit.
        unsafe { Launch::new(blocks, THREADS).start(stream, function, &args) }
    }

    /// Queues [`farpoint::values::gather_backward`]: `grad` `(clouds, places, k, channels)` to
    /// `output` `(clouds, rows, channels)`.
    ///
    /// # Errors
    /// Same as [`Gpu::enqueue_gather`], and if the memory given is too small.
    ///
    /// # Safety
    /// See [`DeviceRows`] and [`GradientMemory`].
    pub unsafe fn enqueue_gather_backward(
        &self,
        stream: &Stream,
        rows: &DeviceRows,
        memory: GradientMemory,
        grad: u64,
        output: u64,
    ) -> Result<(), Error> {
        stream.check_gpu(self)?;
        rows.check()?;
        rows.check_values(grad, rows.shape.gathered(), "gradients")?;
        rows.check_values(output, rows.shape.values(), "output")?;
        // SAFETY: the arrays are as this function's contract says, and their addresses were checked.
        unsafe { backward::enqueue(self, stream, rows, memory, From::Gathered, grad, output) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::source::fields;

    #[test]
    fn laid_out_as_in_copy_cuh() {
        let source = include_str!("../../kernels/values/copy.cuh");
        assert_eq!(fields(source, "GatherArgs"), "rows values output units lanes");
        assert_eq!((std::mem::offset_of!(Args, values), size_of::<Args>()), (56, 80));
    }

    #[test]
    fn units_divide_rows_and_addresses() {
        assert_eq!(unit(256, 512, 1024), (16, "gather_16"));
        assert_eq!(unit(12, 512, 1024), (4, "gather_4"));
        assert_eq!(unit(24, 512, 1024), (8, "gather_8"));
        assert_eq!(unit(26, 512, 1024), (2, "gather_2"));
        assert_eq!(unit(256, 512, 1028), (4, "gather_4"));
    }
}
