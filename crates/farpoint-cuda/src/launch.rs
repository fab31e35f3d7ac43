//! Kernel launches: plain, cooperative (all blocks run at once) and in clusters.

use crate::driver::{self, sys};
use crate::module::Function;
use crate::{Error, Gpu, Stream};
use std::ffi::{c_int, c_uint, c_void};

/// Bytes of shared memory per block without an opt-in, fixed and dynamic.
const DEFAULT_SHARED: u32 = 48 << 10;

/// Blocks per cluster that every card with clusters allows.
const DEFAULT_CLUSTER: u32 = 8;

/// Configuration of a launch.
#[derive(Debug, Clone, Copy)]
pub struct Launch {
    /// Blocks along x, y and z.
    pub grid: [u32; 3],
    /// Threads per block.
    pub block: u32,
    /// Dynamic shared memory, bytes per block.
    pub shared: u32,
    /// Blocks per cluster; 1 for none.
    pub cluster: u32,
    /// Set if all blocks must run concurrently.
    pub cooperative: bool,
}

impl Launch {
    /// Creates a launch of `grid` blocks of `block` threads.
    pub fn new(grid: u32, block: u32) -> Self {
        Self { grid: [grid, 1, 1], block, shared: 0, cluster: 1, cooperative: false }
    }

    /// Sets the bytes of dynamic shared memory per block.
    pub fn shared(self, shared: u32) -> Self {
        Self { shared, ..self }
    }

    /// Sets the number of blocks per cluster.
    pub(crate) fn cluster(self, cluster: u32) -> Self {
        Self { cluster, ..self }
    }

    /// Makes all blocks run concurrently, so that they may wait for each other.
    pub fn cooperative(self) -> Self {
        Self { cooperative: true, ..self }
    }

    /// Starts a kernel that takes one structure by value.
    ///
    /// # Safety
    /// `A` must be laid out as the kernel's parameter, and what it points to must stay valid,
    /// and not be used otherwise, until the stream has finished.
    pub unsafe fn start<A: Copy>(
        self,
        stream: &Stream,
        function: Function,
        args: &A,
    ) -> Result<(), Error> {
        let gpu = stream.gpu();
        let _current = gpu.bind()?;
        self.allow(gpu, function)?;
        let mut params = [(&raw const *args).cast_mut().cast::<c_void>()];
        let [x, y, z] = self.grid;
        let (raw, params) = (function.raw, params.as_mut_ptr());
        // SAFETY: the function belongs to this context; the driver copies the parameter before
        // it returns; that it is laid out as the kernel's, and that what it points to is valid, is
        // this function's contract.
        let code = unsafe {
            let stream = stream.handle();
            if self.cluster > 1 {
                self.start_clusters(stream, function, params)?
            } else if self.cooperative {
                let (block, shared) = (self.block, self.shared);
                sys::cuLaunchCooperativeKernel(raw, x, y, z, block, 1, 1, shared, stream, params)
            } else {
                let nothing = std::ptr::null_mut();
                let (block, shared) = (self.block, self.shared);
                sys::cuLaunchKernel(raw, x, y, z, block, 1, 1, shared, stream, params, nothing)
            }
        };
        check_kernel(gpu, function, code)
    }

    /// # Safety
    /// Same as `start`.
    unsafe fn start_clusters(
        self,
        stream: sys::CUstream,
        function: Function,
        params: *mut *mut c_void,
    ) -> Result<sys::CUresult, Error> {
        let mut attributes = self.attributes();
        let config = self.config(stream, &mut attributes);
        // SAFETY: this is the function's type.
        let start = unsafe { driver::symbol::<LaunchEx>("cuLaunchKernelEx") };
        let start = start.map_err(Error::Unsupported)?;
        // SAFETY: `config` and its attributes live until the call returns, and mirror cuda.h; `params`
        // is what the kernel takes, by this function's contract.
        Ok(unsafe { start(&config, function.raw, params, std::ptr::null_mut()) })
    }

    /// Returns the number of such blocks that one multiprocessor can hold at a time.
    pub(crate) fn blocks_per_multiprocessor(
        self,
        gpu: &Gpu,
        function: Function,
    ) -> Result<u32, Error> {
        let _current = gpu.bind()?;
        self.allow(gpu, function)?;
        let mut blocks = 0;
        let (block, shared) = (self.block as c_int, self.shared as usize);
        // SAFETY: writes one number.
        let code = unsafe {
            let raw = function.raw;
            sys::cuOccupancyMaxActiveBlocksPerMultiprocessor(&mut blocks, raw, block, shared)
        };
        check_kernel(gpu, function, code)?;
        Ok(blocks as u32)
    }

    /// Returns the number of such clusters that the device can hold at a time.
    pub(crate) fn clusters_at_once(self, gpu: &Gpu, function: Function) -> Result<u32, Error> {
        let _current = gpu.bind()?;
        self.allow(gpu, function)?;
        let mut attributes = self.attributes();
        let config = self.config(std::ptr::null_mut(), &mut attributes);
        // SAFETY: this is the function's type.
        let query = unsafe { driver::symbol::<MaxClusters>("cuOccupancyMaxActiveClusters") };
        let query = query.map_err(Error::Unsupported)?;
        let mut clusters = 0;
        // SAFETY: reads the shape, writes one number.
        let code = unsafe { query(&mut clusters, function.raw, &config) };
        check_kernel(gpu, function, code)?;
        Ok(clusters as u32)
    }

    /// Opts in to more shared memory or larger clusters than are allowed by default.
    fn allow(self, gpu: &Gpu, function: Function) -> Result<(), Error> {
        let set = |attribute, value: u32| {
            // SAFETY: the function belongs to the context that is current.
            let code = unsafe { sys::cuFuncSetAttribute(function.raw, attribute, value as c_int) };
            check_kernel(gpu, function, code)
        };
        if self.shared > 0 {
            let mut fixed = 0;
            // SAFETY: writes one number; the function belongs to the context that is current.
            let code = unsafe {
                let attribute = sys::CU_FUNC_ATTRIBUTE_SHARED_SIZE_BYTES;
                sys::cuFuncGetAttribute(&mut fixed, attribute, function.raw)
            };
            check_kernel(gpu, function, code)?;
            if self.shared + fixed as u32 > DEFAULT_SHARED {
                // As much as there is, so that concurrent launches of several sizes don't take it from each other.
                let most = gpu.properties().shared_per_block.saturating_sub(fixed as u32);
                set(sys::CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES, most)?;
            }
        }
        if self.cluster > DEFAULT_CLUSTER {
            set(sys::CU_FUNC_ATTRIBUTE_NON_PORTABLE_CLUSTER_SIZE_ALLOWED, 1)?;
        }
        Ok(())
    }

    fn attributes(self) -> [LaunchAttribute; 2] {
        let attribute = |id, first| {
            let mut value = [0; 16];
            value[..3].copy_from_slice(&[first, 1, 1]);
            LaunchAttribute { id, pad: 0, value }
        };
        [
            attribute(CLUSTER_DIMENSION, self.cluster),
            attribute(COOPERATIVE, u32::from(self.cooperative)),
        ]
    }

    fn config(self, stream: sys::CUstream, attributes: &mut [LaunchAttribute]) -> LaunchConfig {
        LaunchConfig {
            grid: self.grid,
            block: [self.block, 1, 1],
            shared: self.shared,
            stream,
            attributes: attributes.as_mut_ptr(),
            // "Not cooperative" is expressed by leaving the attribute out.
            count: 1 + u32::from(self.cooperative),
        }
    }
}

fn check_kernel(gpu: &Gpu, function: Function, code: sys::CUresult) -> Result<(), Error> {
    match code {
        sys::CUresult::CUDA_SUCCESS => Ok(()),
        code if driver::is_fatal(code) => Err(gpu.lose(function.name, code)),
        code => Err(Error::Kernel { name: function.name.into(), reason: driver::reason(code) }),
    }
}

// What follows mirrors cuda.h. The bindings have these types only if made for CUDA 11.8 or
// later, which depends on the toolkit of the machine that builds.

/// `CU_LAUNCH_ATTRIBUTE_COOPERATIVE` and `CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION`.
const COOPERATIVE: u32 = 2;
const CLUSTER_DIMENSION: u32 = 4;

/// `CUlaunchAttribute`: the value is a union of 64 bytes.
#[repr(C, align(8))]
struct LaunchAttribute {
    id: u32,
    pad: u32,
    value: [u32; 16],
}

/// `CUlaunchConfig`.
#[repr(C)]
struct LaunchConfig {
    grid: [c_uint; 3],
    block: [c_uint; 3],
    shared: c_uint,
    stream: sys::CUstream,
    attributes: *mut LaunchAttribute,
    count: c_uint,
}

type LaunchEx = unsafe extern "C" fn(
    *const LaunchConfig,
    sys::CUfunction,
    *mut *mut c_void,
    *mut *mut c_void,
) -> sys::CUresult;
type MaxClusters =
    unsafe extern "C" fn(*mut c_int, sys::CUfunction, *const LaunchConfig) -> sys::CUresult;

#[cfg(test)]
mod tests {
    use super::*;
    use std::mem::offset_of;

    #[test]
    fn structures_are_laid_out_as_in_cuda_h() {
        assert_eq!(size_of::<LaunchAttribute>(), 72);
        assert_eq!(offset_of!(LaunchAttribute, value), 8);
        assert_eq!(size_of::<LaunchConfig>(), 56);
        assert_eq!(offset_of!(LaunchConfig, stream), 32);
        assert_eq!(offset_of!(LaunchConfig, count), 48);
    }
}
