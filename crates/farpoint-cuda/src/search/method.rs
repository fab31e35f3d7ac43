//! Maps a method's name to its kernel; the one place that starts searches.

use super::parameter::{Parameter, Shape, THREADS, Work};
use super::request::DeviceSearch;
use super::{auto, tree};
use crate::launch::Launch;
use crate::{CudaScalar, Error, Stream};
use farpoint::{DeviceKind, Method, Norm, Searcher};

/// A method that GPUs support.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Choice {
    method: Method,
}

/// `struct BruteArgs` of `kernels/search/search_brute.cu`.
#[derive(Clone, Copy)]
#[repr(C)]
struct BruteArgs<T> {
    search: Parameter<T>,
    offsets: u64,
    chunks: u32,
}

/// `struct FewArgs` of `kernels/search/search_few.cu`.
#[derive(Clone, Copy)]
#[repr(C)]
struct FewArgs<T> {
    search: Parameter<T>,
    chunks: u32,
}

/// Maximum numbers of neighbors and axes of `kernels/search/search_few.cu`.
const MOST_FEW: usize = 32;
const MOST_FEW_DIMS: usize = 3;

/// `struct PlainArgs` of `kernels/search/search_plain.cu`.
#[derive(Clone, Copy)]
#[repr(C)]
struct PlainArgs<T> {
    search: Parameter<T>,
    chunks: u32,
}

impl Choice {
    /// Refuses methods and norms that GPUs don't support, with the CPU library's errors.
    pub(crate) fn new(job: &Searcher) -> Result<Self, Error> {
        job.method.check(DeviceKind::Gpu)?;
        match job.norm {
            Norm::One | Norm::Two => Ok(Self { method: job.method }),
            norm => Err(Error::Unsupported(format!("there are no kernels for the norm {norm:?}"))),
        }
    }

    /// Resolves the method; `few` if all pairs are for [`few`].
    pub(super) fn method<T>(self, request: &DeviceSearch<T>, few: bool) -> Method
    where
        T: CudaScalar,
    {
        match self.method {
            Method::Auto => auto::choose(request.shape(1), request.y.index.is_some(), few),
            method => method,
        }
    }

    /// Maximum bytes of scratch memory that `enqueue` uses; 0 if the GPU can't run the method.
    pub(super) fn scratch_bytes<T: CudaScalar>(self, request: &DeviceSearch<T>) -> usize {
        match self.method(request, false) {
            Method::Tree if !request.shape(1).is_empty() => tree::scratch_bytes(request),
            _ => 0,
        }
    }

    /// Queues a search.
    ///
    /// # Safety
    /// What is in device memory must be as [`DeviceSearch`] requires.
    pub(super) unsafe fn enqueue<T: CudaScalar>(
        self,
        stream: &Stream,
        request: &DeviceSearch<T>,
        parameter: &Parameter<T>,
        work: Work,
    ) -> Result<(), Error> {
        let k = parameter.k as usize;
        let shape = request.shape(k);
        if shape.is_empty() || parameter.is_idle() {
            return Ok(());
        }
        let few = work == Work::Best && parameter.by_index == 1 && is_few(shape);
        let method = self.method(request, few);
        // SAFETY: each of these has this function's contract.
        unsafe {
            match (method, work) {
                (Method::Tree, work) => tree::enqueue(stream, request, parameter, work, shape),
                (Method::Plain, Work::Best) => plain(stream, parameter, shape),
                // Counting has no simpler method than all pairs.
                (Method::Plain | Method::Brute, work) => brute(stream, parameter, work, shape),
                (other, _) => Err(Error::Unsupported(format!("there is no kernel for {other}"))),
            }
        }
    }
}

/// # Safety
/// Same as [`Choice::enqueue`].
unsafe fn plain<T: CudaScalar>(
    stream: &Stream,
    parameter: &Parameter<T>,
    shape: Shape,
) -> Result<(), Error> {
    let function = stream.gpu().function::<T>("search_plain", "search_plain")?;
    let chunks = shape.rows[0].div_ceil(THREADS as usize) as u32;
    let args = PlainArgs { search: *parameter, chunks };
    let blocks = shape.blocks_of(chunks)?;
    // SAFETY: `PlainArgs` mirrors the kernel's parameter, whose addresses are valid by this function's
    // contract; the blocks cover all rows.
    unsafe { Launch::new(blocks, THREADS).start(stream, function, &args) }
}

/// # Safety
/// Same as [`Choice::enqueue`].
unsafe fn brute<T: CudaScalar>(
    stream: &Stream,
    parameter: &Parameter<T>,
    work: Work,
    shape: Shape,
) -> Result<(), Error> {
    let (name, offsets) = match work {
        Work::Best if parameter.by_index == 1 => {
            if is_few(shape) {
                // SAFETY: this is this function's contract.
                return unsafe { few(stream, parameter, shape) };
            }
            ("all_lowest", 0)
        }
        Work::Best => ("all_nearest", 0),
        Work::Count => ("all_count", 0),
        Work::Fill(offsets) => ("all_fill", offsets),
    };
    let function = stream.gpu().function::<T>("search_brute", name)?;
    let args = BruteArgs { search: *parameter, offsets, chunks: shape.chunks() };
    let blocks = shape.blocks_of(args.chunks)?;
    // SAFETY: `BruteArgs` mirrors the kernel's parameter, whose addresses are valid by this function's
    // contract; the blocks cover all rows.
    unsafe { Launch::new(blocks, THREADS).start(stream, function, &args) }
}

/// Returns whether [`few`] has room for this many neighbors and axes.
fn is_few(shape: Shape) -> bool {
    shape.k <= MOST_FEW && shape.dims <= MOST_FEW_DIMS
}

/// Searches with a lane per row of `x` instead of a warp.
///
/// # Safety
/// Same as [`Choice::enqueue`].
unsafe fn few<T: CudaScalar>(
    stream: &Stream,
    parameter: &Parameter<T>,
    shape: Shape,
) -> Result<(), Error> {
    let function = stream.gpu().function::<T>("search_few", "few_lowest")?;
    let args = FewArgs { search: *parameter, chunks: shape.groups() };
    let blocks = shape.blocks_of(args.chunks)?;
    // SAFETY: `FewArgs` mirrors the kernel's parameter, whose addresses are valid by this function's contract;
    // the blocks cover all rows, 32 each.
    unsafe { Launch::new(blocks, THREADS).start(stream, function, &args) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::source::fields;
    use std::mem::offset_of;

    #[test]
    fn laid_out_as_in_the_kernels() {
        let source = include_str!("../../kernels/search/search_brute.cu");
        assert_eq!(fields(source, "BruteArgs"), "search offsets chunks");
        assert_eq!(offset_of!(BruteArgs<f32>, chunks), 176);
        let source = include_str!("../../kernels/search/search_few.cu");
        assert_eq!(fields(source, "FewArgs"), "search chunks");
        assert_eq!(offset_of!(FewArgs<f32>, chunks), 168);
        assert!(source.contains(&format!("MOST_FEW = {MOST_FEW};")));
        let source = include_str!("../../kernels/search/search_plain.cu");
        assert_eq!(fields(source, "PlainArgs"), "search chunks");
        assert_eq!(offset_of!(PlainArgs<f32>, chunks), 168);
    }

    #[test]
    fn errors_list_what_gpus_support() {
        for method in Method::of(DeviceKind::Gpu) {
            assert!(Choice::new(&Searcher::nearest(1).method(method)).is_ok(), "{method}");
        }
        let reference = Searcher::nearest(1).method(Method::Reference);
        let text = Choice::new(&reference).unwrap_err().to_string();
        assert!(text.contains("reference") && text.contains("auto, plain, brute, tree"), "{text}");
    }
}
