//! Gradients of coordinates from those of the distances.
//!
//! The terms of a point are summed in a fixed order, so that the bits are the same on every run, and
//! the CPU's. Clouds that fit a block's shared memory take a block each and no scratch memory
//! (`small`); larger ones are sorted by teams of blocks (`sorted`).

mod small;
mod sorted;

use super::matching::{Matching, Shape};
use super::values::{self, ValueGradient};
use crate::{CudaScalar, Error, Gpu, Stream};
use farpoint::Norm;

/// `struct Asked` of `kernels/neighbors/gradient.cuh`.
#[derive(Debug, Clone, Copy)]
#[repr(C)]
struct GradientParameter {
    matching: Matching,
    grads: [u64; 2],
    gradients: [u64; 2],
    upstream: u64,
    upstream_stride: i64,
    extremes: u64,
    norm: u32,
    rows: [u32; 2],
    reduction: u32,
    root: u32,
}

impl GradientParameter {
    /// Returns whether the gradients of the distances follow from those of values.
    fn is_of_value(&self) -> bool {
        self.upstream != 0
    }
}

/// Addresses of the gradients of the distances, or of the values that these were reduced to, and of the
/// gradients of the coordinates; 0 for null.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Addresses {
    pub(crate) grads: [u64; 2],
    pub(crate) gradients: [u64; 2],
    pub(crate) value: Option<ValueGradient>,
}

/// Bytes of scratch memory; 0 if none is needed, or the device can't run the kernel.
pub(crate) fn scratch_bytes<T: CudaScalar>(gpu: &Gpu, shape: Shape) -> usize {
    if small::fits(shape) { 0 } else { sorted::scratch_bytes::<T>(gpu, shape) }
}

/// Queues the gradients of a batch of pairs; the indices in `matching` are the input, null for a
/// direction without gradients.
///
/// # Safety
/// The addresses in `matching`, `addresses` and `scratch` must match `shape`, and stay valid until
/// the stream has finished.
pub(crate) unsafe fn enqueue<T: CudaScalar>(
    gpu: &Gpu,
    stream: &Stream,
    matching: &Matching,
    shape: Shape,
    addresses: Addresses,
    scratch: Option<(u64, usize)>,
    norm: Norm,
) -> Result<(), Error> {
    let (upstream, upstream_stride) = addresses.value.map_or((0, 0), |value| value.upstream);
    let parameter = GradientParameter {
        matching: *matching,
        grads: addresses.grads,
        gradients: addresses.gradients,
        upstream,
        upstream_stride,
        extremes: addresses.value.and_then(|value| value.extremes).unwrap_or(0),
        norm: if norm == Norm::One { 1 } else { 2 },
        rows: shape.rows.map(|rows| rows as u32),
        reduction: addresses.value.map_or(Ok(0), |value| values::number(value.reduction))?,
        root: u32::from(norm == Norm::Two && addresses.value.is_some_and(|value| value.plain)),
    };
    // SAFETY: all addresses in `parameter` are those that this function was given, with its contract.
    unsafe {
        if small::fits(shape) {
            small::enqueue::<T>(gpu, stream, &parameter, shape)
        } else {
            sorted::enqueue::<T>(gpu, stream, parameter, shape, scratch)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::source::fields;
    use std::mem::offset_of;

    #[test]
    fn laid_out_as_in_gradient_cuh() {
        let source = include_str!("../../../kernels/neighbors/gradient.cuh");
        let names =
            "matching grads gradients upstream upstream_stride extremes norm rows reduction root";
        assert_eq!(fields(source, "Asked"), names);
        assert_eq!(
            (offset_of!(GradientParameter, norm), offset_of!(GradientParameter, rows)),
            (192, 196)
        );
        assert_eq!(
            (offset_of!(GradientParameter, root), size_of::<GradientParameter>()),
            (208, 216)
        );
    }
}
