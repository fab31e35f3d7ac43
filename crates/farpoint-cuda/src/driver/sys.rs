//! Functions of the CUDA driver that this crate calls, resolved when the library is opened.
//!
//! Names, types and numbers are those of cuda.h; enumerations are passed as their numbers.

#![allow(missing_docs, non_camel_case_types, non_snake_case, reason = "names of cuda.h")]

use libloading::Library;
use std::ffi::{c_char, c_int, c_uchar, c_uint, c_ulonglong, c_void};
use std::sync::OnceLock;

macro_rules! handles {
    ($($name:ident)*) => { $(
        /// An opaque handle.
        pub type $name = *mut c_void;
    )* };
}
handles! { CUcontext CUevent CUfunction CUgraph CUgraphExec CUgraphNode CUmemoryPool CUmodule CUstream }

/// An address in a device's memory.
pub type CUdeviceptr = c_ulonglong;
/// A device's number.
pub type CUdevice = c_int;

/// The status that every function returns.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(transparent)]
pub struct CUresult(pub(crate) c_uint);

impl CUresult {
    pub const CUDA_SUCCESS: Self = Self(0);
    pub(crate) const CUDA_ERROR_OUT_OF_MEMORY: Self = Self(2);
    pub(crate) const CUDA_ERROR_INVALID_IMAGE: Self = Self(200);
    pub(crate) const CUDA_ERROR_NO_BINARY_FOR_GPU: Self = Self(209);
    pub(crate) const CUDA_ERROR_ECC_UNCORRECTABLE: Self = Self(214);
    pub(crate) const CUDA_ERROR_INVALID_PTX: Self = Self(218);
    pub(crate) const CUDA_ERROR_NVLINK_UNCORRECTABLE: Self = Self(220);
    pub(crate) const CUDA_ERROR_UNSUPPORTED_PTX_VERSION: Self = Self(222);
    pub(crate) const CUDA_ERROR_INVALID_SOURCE: Self = Self(300);
    pub(crate) const CUDA_ERROR_ILLEGAL_ADDRESS: Self = Self(700);
    pub(crate) const CUDA_ERROR_LAUNCH_TIMEOUT: Self = Self(702);
    pub(crate) const CUDA_ERROR_CONTEXT_IS_DESTROYED: Self = Self(709);
    pub(crate) const CUDA_ERROR_ASSERT: Self = Self(710);
    pub(crate) const CUDA_ERROR_HARDWARE_STACK_ERROR: Self = Self(714);
    pub(crate) const CUDA_ERROR_ILLEGAL_INSTRUCTION: Self = Self(715);
    pub(crate) const CUDA_ERROR_MISALIGNED_ADDRESS: Self = Self(716);
    pub(crate) const CUDA_ERROR_INVALID_ADDRESS_SPACE: Self = Self(717);
    pub(crate) const CUDA_ERROR_INVALID_PC: Self = Self(718);
    pub(crate) const CUDA_ERROR_LAUNCH_FAILED: Self = Self(719);
    pub(crate) const CUDA_ERROR_NOT_SUPPORTED: Self = Self(801);
    pub(crate) const CUDA_ERROR_UNKNOWN: Self = Self(999);
}

pub(crate) const CU_STREAM_NON_BLOCKING: c_uint = 1;
pub(crate) const CU_STREAM_CAPTURE_MODE_THREAD_LOCAL: c_uint = 1;
pub(crate) const CU_STREAM_CAPTURE_MODE_RELAXED: c_uint = 2;
pub(crate) const CU_STREAM_CAPTURE_STATUS_NONE: c_uint = 0;
pub(crate) const CU_JIT_ERROR_LOG_BUFFER: c_uint = 5;
pub(crate) const CU_JIT_ERROR_LOG_BUFFER_SIZE_BYTES: c_uint = 6;
pub(crate) const CU_FUNC_ATTRIBUTE_SHARED_SIZE_BYTES: c_uint = 1;
pub(crate) const CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES: c_uint = 8;
pub(crate) const CU_FUNC_ATTRIBUTE_NON_PORTABLE_CLUSTER_SIZE_ALLOWED: c_uint = 14;
pub(crate) const CU_POINTER_ATTRIBUTE_DEVICE_ORDINAL: c_uint = 9;
pub(crate) const CU_MEMPOOL_ATTR_RELEASE_THRESHOLD: c_uint = 4;
pub(crate) const CU_DEVICE_ATTRIBUTE_CLOCK_RATE: c_uint = 13;
pub(crate) const CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT: c_uint = 16;
pub(crate) const CU_DEVICE_ATTRIBUTE_L2_CACHE_SIZE: c_uint = 38;
pub(crate) const CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR: c_uint = 75;
pub(crate) const CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR: c_uint = 76;
pub(crate) const CU_DEVICE_ATTRIBUTE_COOPERATIVE_LAUNCH: c_uint = 95;
pub(crate) const CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK_OPTIN: c_uint = 97;
pub(crate) const CU_DEVICE_ATTRIBUTE_MEMORY_POOLS_SUPPORTED: c_uint = 115;
pub const CU_MEMHOSTALLOC_PORTABLE: c_uint = 1;
pub(crate) const CU_MEMHOSTALLOC_DEVICEMAP: c_uint = 2;

/// Opens the driver's library once; the error says what is missing.
pub(crate) fn open() -> Result<(), String> {
    DRIVER.get_or_init(Driver::open).as_ref().map(drop).map_err(Clone::clone)
}

/// Returns a function by its name, for those that the oldest supported driver may lack.
///
/// # Safety
/// It must have the type `F`, a function pointer.
pub(crate) unsafe fn symbol<F: Copy>(name: &str) -> Result<F, String> {
    let driver = driver();
    // SAFETY: that `F` is the function's type is this function's contract.
    unsafe { function(&driver.library, name) }
}

static DRIVER: OnceLock<Result<Driver, String>> = OnceLock::new();

/// Returns the driver, which is open wherever a function of it is called: `available` looks first.
fn driver() -> &'static Driver {
    match DRIVER.get_or_init(Driver::open) {
        Ok(driver) => driver,
        Err(missing) => panic!("{missing}"),
    }
}

/// # Safety
/// Same as [`symbol`].
unsafe fn function<F: Copy>(library: &Library, name: &str) -> Result<F, String> {
    // SAFETY: that `F` is the function's type is this function's contract.
    let result = unsafe { library.get::<F>(name.as_bytes()) };
    result.map(|function| *function).map_err(|_| format!("the NVIDIA driver has no {name}"))
}

macro_rules! functions {
    ($($name:ident($($argument:ident: $type:ty),* $(,)?);)*) => {
        struct Driver {
            library: Library,
            $($name: unsafe extern "C" fn($($type),*) -> CUresult,)*
        }

        impl Driver {
            fn open() -> Result<Self, String> {
                let names = if cfg!(windows) { &["nvcuda.dll"][..] } else { &["libcuda.so.1", "libcuda.so"] };
                // SAFETY: initializers of the driver's library are as safe as any library's.
                let library = names.iter().find_map(|&name| unsafe { Library::new(name) }.ok());
                let library = library.ok_or("there is no NVIDIA driver (libcuda was not found)")?;
                $(
                    // SAFETY: this is the function's type in cuda.h.
                    let $name = unsafe { function(&library, stringify!($name)) }?;
                )*
                Ok(Self { library, $($name),* })
            }
        }

        $(
            /// Calls the function of this name in cuda.h.
            ///
            /// # Safety
            /// As cuda.h requires; the driver must be open.
            #[inline]
            #[allow(clippy::too_many_arguments, reason = "as cuda.h has them")]
            pub unsafe fn $name($($argument: $type),*) -> CUresult {
                // SAFETY: passed on to the caller.
                unsafe { (driver().$name)($($argument),*) }
            }
        )*
    };
}

functions! {
    cuCtxPopCurrent_v2(context: *mut CUcontext);
    cuCtxPushCurrent_v2(context: CUcontext);
    cuDeviceCanAccessPeer(can: *mut c_int, device: CUdevice, peer: CUdevice);
    cuDeviceGet(device: *mut CUdevice, ordinal: c_int);
    cuDeviceGetAttribute(value: *mut c_int, attribute: c_uint, device: CUdevice);
    cuDeviceGetCount(count: *mut c_int);
    cuDeviceGetDefaultMemPool(pool: *mut CUmemoryPool, device: CUdevice);
    cuDeviceGetName(name: *mut c_char, len: c_int, device: CUdevice);
    cuDevicePrimaryCtxRelease_v2(device: CUdevice);
    cuDevicePrimaryCtxRetain(context: *mut CUcontext, device: CUdevice);
    cuDriverGetVersion(version: *mut c_int);
    cuDeviceTotalMem_v2(bytes: *mut usize, device: CUdevice);
    cuEventCreate(new_event: *mut CUevent, flags: c_uint);
    cuEventDestroy_v2(event: CUevent);
    cuEventRecord(event: CUevent, stream: CUstream);
    cuEventSynchronize(event: CUevent);
    cuFuncGetAttribute(value: *mut c_int, attribute: c_uint, function: CUfunction);
    cuFuncSetAttribute(function: CUfunction, attribute: c_uint, value: c_int);
    cuGetErrorName(error: CUresult, text: *mut *const c_char);
    cuGetErrorString(error: CUresult, text: *mut *const c_char);
    cuGraphCreate(new_graph: *mut CUgraph, flags: c_uint);
    cuGraphDestroy(graph: CUgraph);
    cuGraphExecDestroy(exec: CUgraphExec);
    cuGraphInstantiateWithFlags(new_exec: *mut CUgraphExec, graph: CUgraph, flags: c_ulonglong);
    cuGraphLaunch(exec: CUgraphExec, stream: CUstream);
    cuInit(flags: c_uint);
    cuLaunchCooperativeKernel(function: CUfunction, x: c_uint, y: c_uint, z: c_uint,
        block_x: c_uint, block_y: c_uint, block_z: c_uint, shared: c_uint, stream: CUstream, parameters: *mut *mut c_void);
    cuLaunchKernel(function: CUfunction, x: c_uint, y: c_uint, z: c_uint,
        block_x: c_uint, block_y: c_uint, block_z: c_uint, shared: c_uint, stream: CUstream, parameters: *mut *mut c_void, extra: *mut *mut c_void);
    cuMemAllocAsync(address: *mut CUdeviceptr, bytes: usize, stream: CUstream);
    cuMemFreeAsync(address: CUdeviceptr, stream: CUstream);
    cuMemFreeHost(memory: *mut c_void);
    cuMemGetInfo_v2(free: *mut usize, total: *mut usize);
    cuMemHostAlloc(memory: *mut *mut c_void, bytes: usize, flags: c_uint);
    cuMemHostGetDevicePointer_v2(address: *mut CUdeviceptr, memory: *mut c_void, flags: c_uint);
    cuMemPoolGetAttribute(pool: CUmemoryPool, attribute: c_uint, value: *mut c_void);
    cuMemPoolSetAttribute(pool: CUmemoryPool, attribute: c_uint, value: *mut c_void);
    cuMemcpyAsync(dst: CUdeviceptr, src: CUdeviceptr, bytes: usize, stream: CUstream);
    cuMemcpyDtoHAsync_v2(dst_host: *mut c_void, src_device: CUdeviceptr, bytes: usize, stream: CUstream);
    cuMemcpyHtoDAsync_v2(dst_device: CUdeviceptr, src_host: *const c_void, bytes: usize, stream: CUstream);
    cuMemsetD8Async(dst_device: CUdeviceptr, byte: c_uchar, bytes: usize, stream: CUstream);
    cuModuleGetFunction(function: *mut CUfunction, module: CUmodule, name: *const c_char);
    cuModuleLoadDataEx(module: *mut CUmodule, image: *const c_void, count: c_uint, options: *mut c_uint, values: *mut *mut c_void);
    cuOccupancyMaxActiveBlocksPerMultiprocessor(blocks: *mut c_int, function: CUfunction, block_size: c_int, shared: usize);
    cuPointerGetAttribute(data: *mut c_void, attribute: c_uint, ptr: CUdeviceptr);
    cuStreamBeginCapture_v2(stream: CUstream, mode: c_uint);
    cuStreamCreateWithPriority(new_stream: *mut CUstream, flags: c_uint, priority: c_int);
    cuStreamDestroy_v2(stream: CUstream);
    cuStreamEndCapture(stream: CUstream, new_graph: *mut CUgraph);
    cuStreamIsCapturing(stream: CUstream, capture_status: *mut c_uint);
    cuStreamSynchronize(stream: CUstream);
    cuThreadExchangeStreamCaptureMode(mode: *mut c_uint);
}
