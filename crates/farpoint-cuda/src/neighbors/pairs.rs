//! Methods that compare all pairs, an ordinary launch each: `plain`, the textbook kernel and baseline
//! of the others, and `brute`, for batches of small clouds. Neither takes scratch.

use super::matching::{Matching, Shape};
use crate::launch::Launch;
use crate::{CudaScalar, Error, Gpu, Stream};
use farpoint::{Method, Norm};

/// A kernel that compares all pairs.
pub(crate) struct Kernel {
    method: Method,
    module: &'static str,
    /// By norm, 2 first.
    names: [&'static str; 2],
    /// Threads per block, and rows whose nearest points a block finds.
    threads: u32,
    rows: usize,
    /// Maximum number of axes.
    dims: usize,
}

/// `kernels/neighbors/nearest_plain.cu`.
pub(crate) const PLAIN: Kernel = Kernel {
    method: Method::Plain,
    module: "nearest_plain",
    names: ["plain", "plain_absolute"],
    threads: 512,
    rows: 512,
    dims: usize::MAX,
};

/// `kernels/neighbors/nearest_brute.cu`.
pub(crate) const BRUTE: Kernel = Kernel {
    method: Method::Brute,
    module: "nearest_brute",
    names: ["brute", "brute_absolute"],
    threads: 128,
    rows: 128,
    dims: BRUTE_DIMS,
};

/// Maximum number of axes of `brute`.
pub(crate) const BRUTE_DIMS: usize = 3;

/// `struct PlainArgs` of `kernels/neighbors/nearest_plain.cu` and `struct BruteArgs` of
/// `kernels/neighbors/nearest_brute.cu`.
#[derive(Clone, Copy)]
#[repr(C)]
struct Args {
    matching: Matching,
    chunks: [u32; 2],
}

impl Kernel {
    /// Number of blocks for the rows of each side of a pair, and of all pairs together.
    fn blocks(&self, shape: Shape) -> Result<([u32; 2], u32), Error> {
        let chunks = [0, 1].map(|side| shape.requested_rows(side).div_ceil(self.rows) as u64);
        let total = (chunks[0] + chunks[1]) * shape.pairs as u64;
        match i32::try_from(total) {
            Ok(total) => Ok((chunks.map(|blocks| blocks as u32), total as u32)),
            Err(_) => Err(Error::Unsupported(format!(
                "{} pairs of {} and {} rows exceed the limit of one launch of {}; use fewer pairs \
                 per call",
                shape.pairs, shape.rows[0], shape.rows[1], self.method
            ))),
        }
    }

    /// Queues the search for a batch of pairs that is not empty.
    ///
    /// # Safety
    /// The addresses in `matching` must match `shape`, and stay valid until the stream has finished.
    pub(crate) unsafe fn enqueue<T: CudaScalar>(
        &self,
        gpu: &Gpu,
        stream: &Stream,
        matching: &Matching,
        shape: Shape,
        norm: Norm,
    ) -> Result<(), Error> {
        if shape.dims > self.dims {
            return Err(Error::Unsupported(format!(
                "the method {} supports up to {} axes, not {}; use plain, tree or auto",
                self.method, self.dims, shape.dims
            )));
        }
        let (chunks, blocks) = self.blocks(shape)?;
        let name = self.names[usize::from(norm == Norm::One)];
        let kernel = gpu.function::<T>(self.module, name)?;
        let args = Args { matching: *matching, chunks };
        // SAFETY: `Args` mirrors the kernel's parameter. The kernel reads and writes within the arrays
        // that `matching` names, which are valid and not used otherwise by this function's contract; `blocks`
        // covers the rows of `shape`.
        unsafe { Launch::new(blocks, self.threads).start(stream, kernel, &args) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::source::fields;

    const PLAIN_CU: &str = include_str!("../../kernels/neighbors/nearest_plain.cu");
    const BRUTE_CU: &str = include_str!("../../kernels/neighbors/nearest_brute.cu");

    #[test]
    fn laid_out_as_in_the_kernels() {
        assert_eq!(fields(PLAIN_CU, "PlainArgs"), "matching chunks");
        assert_eq!(fields(BRUTE_CU, "BruteArgs"), "matching chunks");
        assert_eq!((size_of::<Args>(), std::mem::offset_of!(Args, chunks)), (144, 136));
    }

    /// Parses the value of a constant of a kernel, which may be a product of others.
    fn constant(source: &str, name: &str) -> u32 {
        let begin = format!("constexpr u32 {name} = ");
        let (_, rest) = source.split_once(&begin).expect("the constant");
        let (value, _) = rest.split_once(';').expect("its end");
        let factor = |text: &str| text.parse().unwrap_or_else(|_| constant(source, text));
        value.split(" * ").map(factor).product()
    }

    #[test]
    fn blocks_are_as_large_as_the_kernels_say() {
        assert_eq!(constant(PLAIN_CU, "THREADS"), PLAIN.threads);
        assert_eq!(PLAIN.threads as usize, PLAIN.rows);
        assert_eq!(constant(BRUTE_CU, "THREADS"), BRUTE.threads);
        assert_eq!(constant(BRUTE_CU, "ROWS") as usize, BRUTE.rows);
    }

    #[test]
    fn sides_without_results_take_no_blocks() {
        let shape = Shape { pairs: 3, rows: [513, 100], dims: 3, requested: [true, true] };
        assert_eq!(PLAIN.blocks(shape), Ok(([2, 1], 9)));
        assert_eq!(PLAIN.blocks(Shape { requested: [false, true], ..shape }), Ok(([0, 1], 3)));
        let large = Shape { pairs: 1 << 24, rows: [1 << 20, 1], ..shape };
        let error = BRUTE.blocks(large).unwrap_err().to_string();
        assert!(error.contains("16777216 pairs") && error.contains("brute"), "{error}");
    }
}
