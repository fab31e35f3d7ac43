//! Channel-wise maximum of several rows, and its gradients.

use super::backward::{self, From, GradientMemory};
use super::rows::{DeviceRows, Rows, Spread, THREADS, shape_error};
use crate::launch::Launch;
use crate::{Error, Gpu, Stream};

/// `struct MaxArgs` of `kernels/values/gather.cu`.
#[derive(Clone, Copy)]
#[repr(C)]
struct Args {
    rows: Rows,
    values: u64,
    add: u64,
    output: u64,
    chosen: u64,
    lanes: u32,
}

const NAMES: [&str; 3] = ["gather_max", "gather_max_half", "gather_max_bfloat"];
const NAMES_1: [&str; 3] = ["gather_max_1", "gather_max_half_1", "gather_max_bfloat_1"];

/// Kernels of the gradient of `add`, which copy a type's bits whatever they mean.
const ADDED: [&str; 3] = ["added", "added_2", "added_2"];
const ADDED_1: [&str; 3] = ["added_1", "added_2_1", "added_2_1"];

/// Gradients of [`Gpu::enqueue_gather_max`]: addresses of inputs and outputs.
///
/// # Safety
/// See [`DeviceRows`] and [`GradientMemory`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct DeviceGatherMaxGradients {
    /// The choices of the operator, `(clouds, places, channels)`, `i32`.
    pub chosen: u64,
    /// The gradient of the maxima, `(clouds, places, channels)`.
    pub grad: u64,
    /// Address of the gradient of the values, if requested: `(clouds, rows, channels)`.
    pub values: Option<u64>,
    /// Address of the gradient of `add`, if requested: `(clouds, places, k, channels)`.
    pub add: Option<u64>,
}

/// Maxima of rows in device memory.
impl Gpu {
    /// Queues [`farpoint::values::gather_max`]: `values` `(clouds, rows, channels)`, and `add`
    /// `(clouds, places, k, channels)` if given, to `output` `(clouds, places, channels)`; and the choices,
    /// `i32` of the same shape, to `chosen` if given.
    ///
    /// # Errors
    /// Same as [`Gpu::enqueue_gather`].
    ///
    /// # Safety
    /// See [`DeviceRows`].
    pub unsafe fn enqueue_gather_max(
        &self,
        stream: &Stream,
        rows: &DeviceRows,
        (values, add): (u64, Option<u64>),
        output: u64,
        chosen: Option<u64>,
    ) -> Result<(), Error> {
        stream.check_gpu(self)?;
        check(rows)?;
        rows.check_values(values, rows.shape.values(), "values")?;
        rows.check_values(output, rows.shape.reduced(), "output")?;
        if let Some(add) = add {
            rows.check_values(add, rows.shape.gathered(), "values to add")?;
        }
        if let Some(chosen) = chosen {
            rows.check_address(chosen, rows.shape.reduced()?, 4, "choices")?;
        }
        if rows.shape.reduced()? == 0 {
            return Ok(());
        }
        let (add, chosen) = (add.unwrap_or(0), chosen.unwrap_or(0));
        let vectored = rows.is_vectored(&[values, add, output, chosen]);
        let width = if vectored { 16 / rows.kind.bytes() } else { 1 };
        let Spread { blocks, lanes } = Spread::new(rows.places(), rows.shape.channels / width, 1);
        let args = Args { rows: rows.kernel_view(), values, add, output, chosen, lanes };
        let names = if vectored { NAMES } else { NAMES_1 };
        let function = rows.kind.function(self, "gather", names)?;
        // SAFETY: `Args` mirrors the kernel's parameter; the arrays are as `DeviceRows` requires by this
        // function's contract, and aligned if the kernel reads vectors.
        unsafe { Launch::new(blocks, THREADS).start(stream, function, &args) }
    }

    /// Queues [`farpoint::values::gather_max_backward`].
    ///
    /// # Errors
    /// Same as [`Gpu::enqueue_gather_backward`].
    ///
    /// # Safety
    /// See [`DeviceGatherMaxGradients`].
    pub unsafe fn enqueue_gather_max_backward(
        &self,
        stream: &Stream,
        rows: &DeviceRows,
        memory: GradientMemory,
        request: &DeviceGatherMaxGradients,
    ) -> Result<(), Error> {
        stream.check_gpu(self)?;
        check(rows)?;
        let DeviceGatherMaxGradients { chosen, grad, values, add } = *request;
        rows.check_values(grad, rows.shape.reduced(), "gradients")?;
        rows.check_address(chosen, rows.shape.reduced()?, 4, "choices")?;
        if let Some(add) = add {
            rows.check_values(add, rows.shape.gathered(), "gradients of the added values")?;
            // SAFETY: the arrays are as this function's contract says, and their addresses were checked.
            unsafe { self.start_added(stream, rows, chosen, grad, add)? };
        }
        let Some(values) = values else { return Ok(()) };
        rows.check_values(values, rows.shape.values(), "gradients of values")?;
        // SAFETY: the same.
        unsafe { backward::enqueue(self, stream, rows, memory, From::Chosen(chosen), grad, values) }
    }

    /// Queues the gradient of `add`.
    ///
    /// # Safety
    /// Same as [`Gpu::enqueue_gather_max_backward`].
    unsafe fn start_added(
        &self,
        stream: &Stream,
        rows: &DeviceRows,
        chosen: u64,
        grad: u64,
        output: u64,
    ) -> Result<(), Error> {
        if rows.shape.gathered()? == 0 {
            return Ok(());
        }
        let vectored = rows.is_vectored(&[grad, output, chosen]);
        let width = if vectored { 16 / rows.kind.bytes() } else { 1 };
        let Spread { blocks, lanes } = Spread::new(rows.flat(), rows.shape.channels / width, 1);
        let rows_view = rows.kernel_view();
        let args = Args { rows: rows_view, values: grad, add: 0, output, chosen, lanes };
        let names = if vectored { ADDED } else { ADDED_1 };
        let function = rows.kind.function(self, "gather", names)?;
        // SAFETY: `Args` mirrors the kernel's parameter, whose arrays are as this function's contract says.
        unsafe { Launch::new(blocks, THREADS).start(stream, function, &args) }
    }
}

fn check(rows: &DeviceRows) -> Result<(), Error> {
    rows.check()?;
    if rows.shape.k > i32::MAX as usize {
        let k = rows.shape.k;
        return shape_error(format!("k = {k} exceeds the limit of {} for a maximum", i32::MAX));
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::source::fields;

    #[test]
    fn laid_out_as_in_gather_cu() {
        let source = include_str!("../../kernels/values/gather.cu");
        assert_eq!(fields(source, "MaxArgs"), "rows values add output chosen lanes");
        assert_eq!((std::mem::offset_of!(Args, lanes), size_of::<Args>()), (88, 96));
    }
}
