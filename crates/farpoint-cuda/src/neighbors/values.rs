//! One value per pair of clouds in device memory: the kernels that follow the search without synchronizing with the
//! host.

use super::DevicePairs;
use super::matching::{Matching, Shape};
use super::pointers::in_side;
use crate::launch::Launch;
use crate::memory::Scratch;
use crate::{CudaScalar, Error, Gpu, Stream, input};
use farpoint::neighbors::Reduction;
use farpoint::{Matcher, Norm};

/// A search whose distances are reduced to one value per pair: the Chamfer distance, usually.
///
/// The value is that of [`farpoint::neighbors::reduce`], bit for bit, rounded to `T`: of both sides, or of the first
/// alone if the second has no address for distances. [`ValueGradient`] is the backward pass.
///
/// # Safety
/// As for [`DevicePairs`], whose distances must have addresses (of the first side at least), and be
/// whole arrays.
#[derive(Debug, Clone, Copy)]
pub struct DeviceValues<T> {
    /// The clouds, and the addresses of distances and indices. `scratch`, if given, must have
    /// [`Gpu::values_scratch_bytes`].
    pub pairs: DevicePairs<T>,
    /// Reduction of the distances to a value.
    pub reduction: Reduction,
    /// Set if distances of norm 2 are square roots.
    pub plain: bool,
    /// Address of the values: one `T` per pair.
    pub values: u64,
    /// Address of [`EXTREMES`] numbers of type `T` per pair, from which gradients of [`Reduction::Max`]
    /// follow; `None` if not requested.
    pub extremes: Option<u64>,
}

/// Gradient of the values of [`DeviceValues`], as the source of gradients of coordinates. The distances
/// of the pairs are read if roots or maxima were taken.
#[derive(Debug, Clone, Copy)]
pub struct ValueGradient {
    /// Reduction of the distances to a value.
    pub reduction: Reduction,
    /// Set if distances of norm 2 were square roots.
    pub plain: bool,
    /// Gradient of each pair's value, and the stride from one to the next in numbers: 0 if all pairs
    /// share one.
    pub upstream: (u64, i64),
    /// The same address as [`DeviceValues::extremes`]; for [`Reduction::Max`].
    pub extremes: Option<u64>,
}

/// Numbers of `extremes` per pair: the largest distance of each side, then the divisor of gradients on
/// each side.
pub const EXTREMES: usize = 4;

/// `COLUMNS` and `LEAF` of `kernels/neighbors/chamfer_reduce.cu`.
const COLUMNS: u32 = 256;
const LEAF: usize = 4_096;

/// Bytes of a leaf's partial result.
const PARTIAL: usize = 16;

/// Maximum number of blocks per launch; each loops over jobs.
const MOST_BLOCKS: usize = 1 << 20;

/// `struct ReduceArgs` of `kernels/neighbors/chamfer_reduce.cu`.
#[derive(Clone, Copy)]
#[repr(C)]
struct Args {
    matching: Matching,
    values: u64,
    extremes: u64,
    partials: u64,
    leaves: [u32; 2],
    reduction: u32,
    root: u32,
}

/// Returns the kernels' number of a reduction.
pub(super) fn number(reduction: Reduction) -> Result<u32, Error> {
    match reduction {
        Reduction::Mean => Ok(0),
        Reduction::Sum => Ok(1),
        Reduction::Max => Ok(2),
        other => Err(Error::Unsupported(format!("there is no kernel for the reduction {other}"))),
    }
}

/// Leaves of the largest cloud of each side that takes part.
fn leaves(shape: Shape) -> [usize; 2] {
    [0, 1].map(|side| shape.requested_rows(side).div_ceil(LEAF))
}

/// Bytes of scratch memory for the reduction: none for clouds of one leaf.
fn partials_bytes(shape: Shape) -> usize {
    match leaves(shape) {
        [0 | 1, 0 | 1] => 0,
        [a, b] => shape.pairs.saturating_mul((a + b) * PARTIAL),
    }
}

impl<T: CudaScalar> DeviceValues<T> {
    /// Checks everything known to the host beyond the checks of a search.
    fn check(&self) -> Result<(), Error> {
        let shape_error = |message: &str| Err(farpoint::Error::Shape(message.into()).into());
        if self.pairs.pairs > 0 && (self.values == 0 || self.extremes == Some(0)) {
            return shape_error("the address of the values is null");
        }
        for (which, side) in self.pairs.sides.iter().enumerate() {
            let required = which == 0 || side.indices.is_some();
            if required && side.distances.is_none() {
                in_side(which, shape_error("the address for its distances is missing"))?;
            }
        }
        input::check_aligned::<T>(self.values, "values")?;
        input::check_aligned::<T>(self.extremes.unwrap_or(0), "values")
    }
}

/// One value per pair of clouds in device memory.
impl Gpu {
    /// Queues the search and the reduction of the distances to one value per pair, without
    /// synchronizing; see [`DeviceValues`].
    ///
    /// # Errors
    /// Same as [`Gpu::enqueue_nearest`], and if there is no address for the distances or the values.
    ///
    /// # Safety
    /// See [`DeviceValues`].
    pub unsafe fn enqueue_values<T: CudaScalar>(
        &self,
        job: &Matcher,
        stream: &Stream,
        request: &DeviceValues<T>,
    ) -> Result<(), Error> {
        request.check()?;
        let shape = request.pairs.shape();
        let bytes = self.values_scratch_bytes(job, &request.pairs);
        let allocation = match bytes {
            0 => None,
            bytes => Some(Scratch::new(stream, request.pairs.scratch, bytes)?),
        };
        let scratch = allocation.as_ref().map(|scratch| (scratch.pointer(), bytes));
        let pairs = DevicePairs { scratch, ..request.pairs };
        // SAFETY: the pairs are as the caller ensures by `DeviceValues`; the scratch memory has `bytes`
        // bytes, and is freed in stream order.
        unsafe { self.enqueue_nearest(job, stream, &pairs)? };
        if shape.pairs == 0 {
            return Ok(());
        }
        let args = Args {
            matching: pairs.matching(),
            values: request.values,
            extremes: request.extremes.unwrap_or(0),
            partials: scratch.map_or(0, |(pointer, _)| pointer),
            leaves: leaves(shape).map(|leaves| leaves as u32),
            reduction: number(request.reduction)?,
            root: u32::from(request.plain && job.norm == Norm::Two),
        };
        // SAFETY: the distances are those that the search just queued will have written, the values
        // have a place per pair by the caller's contract, and the partial sums fit `partials_bytes`.
        unsafe { start::<T>(self, stream, &args, shape) }
    }

    /// Returns the bytes of device memory that [`Gpu::enqueue_values`] uses for these pairs besides
    /// input and result: search and reduction share it.
    pub fn values_scratch_bytes<T: CudaScalar>(
        &self,
        job: &Matcher,
        pairs: &DevicePairs<T>,
    ) -> usize {
        self.nearest_scratch_bytes(job, pairs).max(partials_bytes(pairs.shape()))
    }
}

/// Queues the reduction.
///
/// # Safety
/// The addresses in `args` must match `shape`, and stay valid until the stream has finished.
unsafe fn start<T: CudaScalar>(
    gpu: &Gpu,
    stream: &Stream,
    args: &Args,
    shape: Shape,
) -> Result<(), Error> {
    let function = |name| gpu.function::<T>("chamfer_reduce", name);
    let blocks = |jobs: usize| jobs.clamp(1, MOST_BLOCKS) as u32;
    let a_pair = Launch::new(blocks(shape.pairs), 2 * COLUMNS);
    if partials_bytes(shape) == 0 {
        // SAFETY: `Args` mirrors the kernel's parameter, whose addresses are valid by this function's
        // contract.
        return unsafe { a_pair.start(stream, function("reduce")?, args) };
    }
    let [a, b] = leaves(shape);
    let a_leaf = Launch::new(blocks(shape.pairs.saturating_mul(a + b)), COLUMNS);
    // SAFETY: `Args` mirrors the parameter of both kernels, whose addresses are valid by this
    // function's contract; the second reads what the first has written, in the order of the stream.
    unsafe {
        a_leaf.start(stream, function("reduce_leaves")?, args)?;
        a_pair.start(stream, function("reduce_partials")?, args)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::source::fields;
    use std::mem::offset_of;

    const SOURCE: &str = include_str!("../../kernels/neighbors/chamfer_reduce.cu");

    #[test]
    fn laid_out_as_in_chamfer_reduce_cu() {
        let names = fields(SOURCE, "ReduceArgs");
        assert_eq!(names, "matching values extremes partials leaves reduction root");
        assert_eq!((offset_of!(Args, values), offset_of!(Args, leaves)), (136, 160));
        assert_eq!((offset_of!(Args, reduction), size_of::<Args>()), (168, 176));
        assert!(SOURCE.contains("COLUMNS = 256;") && SOURCE.contains("LEAF = 16 * COLUMNS;"));
        assert_eq!(LEAF, 16 * COLUMNS as usize);
        let root = include_str!("../../kernels/common/root.cuh");
        assert!(root.contains("MEAN = 0, SUM = 1, MAX = 2;") && root.contains("EXTREMES = 4;"));
        assert_eq!(Reduction::ALL.map(number), [Ok(0), Ok(1), Ok(2)]);
    }

    #[test]
    fn only_clouds_of_several_leaves_take_memory() {
        let shape = |rows, requested| Shape { pairs: 3, rows, dims: 3, requested };
        assert_eq!(partials_bytes(shape([4_096; 2], [true; 2])), 0);
        assert_eq!(partials_bytes(shape([4_096, 4_097], [true; 2])), 3 * 3 * 16);
        assert_eq!(partials_bytes(shape([4_096, 4_097], [true, false])), 0);
    }

    #[test]
    fn invalid_arguments_are_rejected() {
        let pairs = DevicePairs::<f32>::padded([256, 512], 2, [10, 20], 3);
        let pairs = pairs.outputs([Some(1024), Some(2048)], [None; 2]);
        let valid = DeviceValues {
            pairs,
            reduction: Reduction::Mean,
            plain: false,
            values: 64,
            extremes: None,
        };
        let message = |request: DeviceValues<f32>| request.check().unwrap_err().to_string();
        assert_eq!(valid.check(), Ok(()));
        assert!(message(DeviceValues { values: 0, ..valid }).contains("null"));
        assert!(message(DeviceValues { values: 66, ..valid }).contains("aligned"));
        let one_sided = pairs.outputs([Some(1024), None], [None; 2]);
        assert_eq!(DeviceValues { pairs: one_sided, ..valid }.check(), Ok(()));
        let pairs = pairs.outputs([Some(1024), None], [Some(8), Some(16)]);
        let text = message(DeviceValues { pairs, ..valid });
        assert!(text.starts_with("the second cloud: ") && text.contains("distances"), "{text}");
    }
}
