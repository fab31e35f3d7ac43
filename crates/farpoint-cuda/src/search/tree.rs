//! The method `tree`: an index over `y`, built first unless it is given, then an ordinary launch. Where `x`
//! has an index, too, its rows are taken in that order, so that neighboring warps look at the same points.
//!
//! Scratch: an index that is not given, 17 bytes a row in `f32` and 30 in `f64`, and while it is built 12
//! bytes a row of the clouds that are built at the same time.

use super::index::{self, Build, Indexes};
use super::parameter::{Parameter, Shape, THREADS};
use super::wanted::DeviceSearch;
use crate::launch::Launch;
use crate::memory::Scratch;
use crate::{CudaScalar, Error, Gpu, Stream};

/// `struct TreeArgs` of `kernels/search/search_tree.cu`.
#[derive(Clone, Copy)]
#[repr(C)]
struct Args<T> {
    search: Parameter<T>,
    indexes: [Indexes; 2],
    offsets: u64,
    chunks: u32,
    ordered: u32,
}

/// Where indexes are, and whether that over `y` is to be built.
struct Plan {
    build: Build,
    /// Bytes of the index in scratch.
    own: usize,
    /// Address of either side's index; that of `x` is 0 if it has none.
    at: [u64; 2],
}

impl Plan {
    /// With an index in scratch memory from `scratch` on.
    fn new<T: CudaScalar>(wanted: &DeviceSearch<T>, scratch: u64) -> Self {
        let (x, y) = (&wanted.x, &wanted.y);
        let same = x.is(y);
        let address = |index: Option<(u64, usize)>| index.map(|(address, _)| address);
        let given = address(if same { y.index.or(x.index) } else { y.index });
        let target = given.unwrap_or(scratch);
        let own = match given {
            Some(_) => 0,
            None => index::bytes::<T>(wanted.clouds, y.rows),
        };
        let asked = if same { target } else { address(x.index).unwrap_or(0) };
        let sides = [None, given.is_none().then_some((*y, target))];
        let build = Build { sides, clouds: wanted.clouds, dims: wanted.dims };
        Self { build, own, at: [asked, target] }
    }

    fn is_to_build(&self) -> bool {
        self.build.sides.iter().any(Option::is_some)
    }
}

/// Bytes of scratch memory; 0 where the device cannot run the method.
pub(super) fn scratch_bytes<T: CudaScalar>(gpu: &Gpu, wanted: &DeviceSearch<T>) -> usize {
    let plan = Plan::new(wanted, 0);
    match index::scratch_bytes::<T>(gpu, &plan.build) {
        0 if plan.is_to_build() => 0,
        bytes => bytes.saturating_add(plan.own),
    }
}

/// Queues the search, of one of `search_tree.cu`'s kernels; `offsets` is for that which fills balls.
///
/// # Safety
/// What is in device memory must be as [`DeviceSearch`] requires.
pub(super) unsafe fn enqueue<T: CudaScalar>(
    stream: &Stream,
    wanted: &DeviceSearch<T>,
    parameter: &Parameter<T>,
    (name, offsets): (&'static str, u64),
    shape: Shape,
) -> Result<(), Error> {
    let gpu = stream.gpu();
    wanted.x.check_index::<T>(wanted.clouds)?;
    wanted.y.check_index::<T>(wanted.clouds)?;
    let function = gpu.function::<T>("search_tree", name)?;
    let scratch = Scratch::new(stream, wanted.scratch, scratch_bytes(gpu, wanted))?;
    let plan = Plan::new(wanted, scratch.pointer());
    if plan.is_to_build() {
        let building = index::scratch_bytes::<T>(gpu, &plan.build);
        let rest = Some((scratch.pointer() + plan.own as u64, building));
        // SAFETY: indexes and what they are built with lie in the scratch memory one after another; the
        // clouds are as this function's contract says.
        unsafe { index::enqueue::<T>(gpu, stream, &plan.build, rest)? };
    }
    let rows = [wanted.x.rows, wanted.y.rows];
    let args = Args {
        search: *parameter,
        indexes: [0, 1].map(|side: usize| Indexes::at::<T>(plan.at[side], rows[side])),
        offsets,
        chunks: shape.chunks(),
        ordered: u32::from(plan.at[0] != 0),
    };
    // SAFETY: `Args` mirrors the kernel's parameter; the indexes are those just built or given; scratch
    // memory is freed in stream order; the rest is as this function's contract says.
    unsafe { Launch::new(shape.blocks_of(args.chunks)?, THREADS).start(stream, function, &args) }
}

#[cfg(test)]
mod tests {
    use super::super::clouds::DeviceClouds;
    use super::*;
    use crate::neighbors::fields;
    use std::mem::offset_of;

    #[test]
    fn laid_out_as_in_search_tree_cu() {
        let source = include_str!("../../kernels/search/search_tree.cu");
        assert_eq!(fields(source, "TreeArgs"), "search indexes offsets chunks ordered");
        assert_eq!((offset_of!(Args<f32>, indexes), offset_of!(Args<f32>, offsets)), (168, 216));
        assert_eq!((offset_of!(Args<f64>, indexes), offset_of!(Args<f64>, ordered)), (176, 236));
    }

    #[test]
    fn only_an_index_that_is_missing_is_built() {
        let (x, y) = (DeviceClouds::padded(256, 10, 3), DeviceClouds::padded(512, 20, 3));
        let built = |x, y| {
            let plan = Plan::new(&DeviceSearch::<f32>::new(x, y, 2, 3), 4096);
            (plan.build.sides.map(|side| side.is_some()), plan.at)
        };
        assert_eq!(built(x, y), ([false, true], [0, 4096]));
        assert_eq!(built(y, y), ([false, true], [4096, 4096]));
        let known = DeviceClouds { index: Some((1 << 20, 1 << 20)), ..y };
        assert_eq!(built(x, known), ([false, false], [0, 1 << 20]));
        assert_eq!(built(known, x), ([false, true], [1 << 20, 4096]));
        assert_eq!(built(y, known), ([false, false], [1 << 20, 1 << 20]));
        assert_eq!(built(known, y), ([false, false], [1 << 20, 1 << 20]));
    }
}
