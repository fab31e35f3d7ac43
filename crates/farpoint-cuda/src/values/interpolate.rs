//! Weighted sums of rows, and their gradients.

use super::backward::{self, From, GradientMemory};
use super::rows::{DeviceRows, Rows, Spread, THREADS};
use crate::launch::Launch;
use crate::{Error, Gpu, Stream};

/// `struct InterpolateArgs` of `kernels/values/interpolate.cu`.
#[derive(Clone, Copy)]
#[repr(C)]
struct Args {
    rows: Rows,
    values: u64,
    weights: u64,
    output: u64,
    lanes: u32,
}

/// `struct WeightGradientArgs` of `kernels/values/interpolate.cu`.
#[derive(Clone, Copy)]
#[repr(C)]
struct WeightArgs {
    rows: Rows,
    values: u64,
    grad: u64,
    output: u64,
    count: u32,
}

/// `AHEAD` of `kernels/values/interpolate.cu`: weights whose gradients a warp takes at a time.
const AHEAD: usize = 4;

const NAMES: [&str; 3] = ["interpolate", "interpolate_half", "interpolate_bfloat"];
const NAMES_1: [&str; 3] = ["interpolate_1", "interpolate_half_1", "interpolate_bfloat_1"];
const OF_WEIGHTS: [&str; 3] = ["of_weights", "of_weights_half", "of_weights_bfloat"];

/// Gradients of [`Gpu::enqueue_interpolate`]: addresses of inputs and outputs. Weights and their gradients are `f64`
/// for values of `f64`, `f32` for all others.
///
/// # Safety
/// See [`DeviceRows`] and [`GradientMemory`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct DeviceInterpolateGradients {
    /// The values, `(clouds, rows, channels)`; read if the gradient of the weights is requested.
    pub values: u64,
    /// The weights, `(clouds, places, k)`; read if the gradient of the values is requested.
    pub weights: u64,
    /// The gradient of the result, `(clouds, places, channels)`.
    pub grad: u64,
    /// Address of the gradient of the values, if requested.
    pub of_values: Option<u64>,
    /// Address of the gradient of the weights, if requested.
    pub of_weights: Option<u64>,
}

/// Weighted sums of rows in device memory.
impl Gpu {
    /// Queues [`farpoint::values::interpolate`]: `values` `(clouds, rows, channels)` and `weights`
    /// `(clouds, places, k)` to `output` `(clouds, places, channels)`. Weights are `f64` for values of
    /// `f64`, `f32` for all others.
    ///
    /// # Errors
    /// Same as [`Gpu::enqueue_gather`].
    ///
    /// # Safety
    /// See [`DeviceRows`].
    pub unsafe fn enqueue_interpolate(
        &self,
        stream: &Stream,
        rows: &DeviceRows,
        values: u64,
        weights: u64,
        output: u64,
    ) -> Result<(), Error> {
        stream.check_gpu(self)?;
        rows.check()?;
        rows.check_values(values, rows.shape.values(), "values")?;
        rows.check_address(weights, rows.flat(), rows.kind.weight_bytes(), "weights")?;
        rows.check_values(output, rows.shape.reduced(), "output")?;
        if rows.shape.reduced()? == 0 {
            return Ok(());
        }
        let vectored = rows.is_vectored(&[values, output]);
        let width = if vectored { 16 / rows.kind.bytes() } else { 1 };
        let Spread { blocks, lanes } = Spread::new(rows.places(), rows.shape.channels / width, 1);
        let args = Args { rows: rows.kernel_view(), values, weights, output, lanes };
        let names = if vectored { NAMES } else { NAMES_1 };
        let function = rows.kind.function(self, "interpolate", names)?;
        // SAFETY: `Args` mirrors the kernel's parameter; the arrays are as `DeviceRows` requires by this
        // function's contract, and aligned if the kernel reads vectors.
        unsafe { Launch::new(blocks, THREADS).start(stream, function, &args) }
    }

    /// Queues [`farpoint::values::interpolate_backward`] and
    /// [`farpoint::values::interpolate_weights_backward`], each if requested.
    ///
    /// # Errors
    /// Same as [`Gpu::enqueue_gather_backward`].
    ///
    /// # Safety
    /// See [`DeviceInterpolateGradients`].
    pub unsafe fn enqueue_interpolate_backward(
        &self,
        stream: &Stream,
        rows: &DeviceRows,
        memory: GradientMemory,
        request: &DeviceInterpolateGradients,
    ) -> Result<(), Error> {
        stream.check_gpu(self)?;
        rows.check()?;
        let weight = rows.kind.weight_bytes();
        rows.check_values(request.grad, rows.shape.reduced(), "gradients")?;
        if let Some(output) = request.of_weights {
            rows.check_values(request.values, rows.shape.values(), "values")?;
            rows.check_address(output, rows.flat(), weight, "gradients of weights")?;
            // SAFETY: the arrays are as this function's contract says, and their addresses were checked.
            unsafe { self.start_of_weights(stream, rows, request, output)? };
        }
        let Some(output) = request.of_values else { return Ok(()) };
        rows.check_address(request.weights, rows.flat(), weight, "weights")?;
        rows.check_values(output, rows.shape.values(), "gradients of values")?;
        let from = From::Weighted(request.weights);
        // SAFETY: the same.
        unsafe { backward::enqueue(self, stream, rows, memory, from, request.grad, output) }
    }

    /// Queues the gradient of the weights.
    ///
    /// # Safety
    /// Same as [`Gpu::enqueue_interpolate_backward`].
    unsafe fn start_of_weights(
        &self,
        stream: &Stream,
        rows: &DeviceRows,
        request: &DeviceInterpolateGradients,
        output: u64,
    ) -> Result<(), Error> {
        if rows.flat() == 0 {
            return Ok(());
        }
        let (values, grad, count) = (request.values, request.grad, rows.flat() as u32);
        let args = WeightArgs { rows: rows.kernel_view(), values, grad, output, count };
        let Spread { blocks, .. } = Spread::new(rows.flat(), 32, AHEAD);
        let function = rows.kind.function(self, "interpolate", OF_WEIGHTS)?;
        // SAFETY: `WeightArgs` mirrors the kernel's parameter, whose arrays are as this function's contract
        // says.
        unsafe { Launch::new(blocks, THREADS).start(stream, function, &args) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::source::fields;

    #[test]
    fn laid_out_as_in_interpolate_cu() {
        let source = include_str!("../../kernels/values/interpolate.cu");
        assert!(source.contains(&format!("AHEAD = {AHEAD};")));
        assert_eq!(fields(source, "InterpolateArgs"), "rows values weights output lanes");
        assert_eq!(fields(source, "WeightGradientArgs"), "rows values grad output count");
        assert_eq!((std::mem::offset_of!(Args, lanes), size_of::<Args>()), (80, 88));
        assert_eq!((std::mem::offset_of!(WeightArgs, count), size_of::<WeightArgs>()), (80, 88));
    }
}
