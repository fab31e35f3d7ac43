//! Weights from distances, and their gradients.

use super::rows::{THREADS, shape_error};
use crate::input::{MAX_ROWS, check_aligned};
use crate::launch::Launch;
use crate::{CudaScalar, Error, Gpu, Stream};
use farpoint::values::InverseDistance;

/// `struct WeightsArgs` of `kernels/values/weights.cu`.
#[derive(Clone, Copy)]
#[repr(C)]
struct Args<T> {
    distances: u64,
    grad: u64,
    output: u64,
    places: u64,
    k: u32,
    power: u32,
    eps: T,
}

/// Weights in device memory.
impl Gpu {
    /// Queues [`farpoint::values::inverse_distance_weights`] of `distances` `(places, k)` to `output` of
    /// the same shape.
    ///
    /// # Errors
    /// If `options`, sizes or addresses are wrong as far as the host can tell, and if the driver refuses a call.
    ///
    /// # Safety
    /// Both arrays must be allocated with this shape, and neither freed nor written otherwise until the
    /// stream has finished.
    pub unsafe fn enqueue_inverse_distance_weights<T: CudaScalar>(
        &self,
        stream: &Stream,
        (places, k): (usize, usize),
        options: InverseDistance,
        distances: u64,
        output: u64,
    ) -> Result<(), Error> {
        // SAFETY: this function's contract.
        unsafe { start::<T>(self, stream, (places, k), options, [distances, 0, output]) }
    }

    /// Queues [`farpoint::values::inverse_distance_weights_backward`]: the gradient of the distances from
    /// `grad`, that of the weights; all of them `(places, k)`.
    ///
    /// # Errors
    /// Same as [`Gpu::enqueue_inverse_distance_weights`].
    ///
    /// # Safety
    /// Same as [`Gpu::enqueue_inverse_distance_weights`], with three arrays.
    pub unsafe fn enqueue_inverse_distance_weights_backward<T: CudaScalar>(
        &self,
        stream: &Stream,
        (places, k): (usize, usize),
        options: InverseDistance,
        (distances, grad): (u64, u64),
        output: u64,
    ) -> Result<(), Error> {
        if grad == 0 && places > 0 && k > 0 {
            return shape_error("the address of the gradients is null".into());
        }
        // SAFETY: this function's contract.
        unsafe { start::<T>(self, stream, (places, k), options, [distances, grad, output]) }
    }
}

/// Queues the weights, or the gradient if `grad` is not null.
///
/// # Safety
/// The arrays, `[distances, grad, output]`, must have this shape until the stream has finished.
unsafe fn start<T: CudaScalar>(
    gpu: &Gpu,
    stream: &Stream,
    (places, k): (usize, usize),
    options: InverseDistance,
    [distances, grad, output]: [u64; 3],
) -> Result<(), Error> {
    stream.check_gpu(gpu)?;
    options.check()?;
    if places > MAX_ROWS || k > MAX_ROWS {
        return shape_error(format!(
            "{places} places of k = {k} exceed the limit of {MAX_ROWS}; split the batch"
        ));
    }
    if places == 0 || k == 0 {
        return Ok(());
    }
    for (address, name) in [(distances, "distances"), (grad, "gradients"), (output, "output")] {
        check_aligned::<T>(address, name)?;
    }
    if distances == 0 || output == 0 {
        return shape_error("the address of the distances, or of the output, is null".into());
    }
    let eps = T::from_f64(options.eps);
    let (places, k) = (places as u64, k as u32);
    let args = Args { distances, grad, output, places, k, power: options.power, eps };
    let function = gpu.function::<T>("weights", "weights")?;
    let blocks = places.div_ceil(u64::from(THREADS)).min(1 << 20) as u32;
    // SAFETY: `Args` mirrors the kernel's parameter, whose arrays are as this function's contract says.
    unsafe { Launch::new(blocks, THREADS).start(stream, function, &args) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::source::fields;

    #[test]
    fn laid_out_as_in_weights_cu() {
        let source = include_str!("../../kernels/values/weights.cu");
        assert_eq!(fields(source, "WeightsArgs"), "distances grad output places k power eps");
        assert_eq!((std::mem::offset_of!(Args<f32>, eps), size_of::<Args<f32>>()), (40, 48));
        assert_eq!((std::mem::offset_of!(Args<f64>, eps), size_of::<Args<f64>>()), (40, 48));
    }
}
