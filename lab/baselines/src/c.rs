//! A C entrance of two functions, for Python's ctypes.

use crate::{Job, gpu, sample};
use anyhow::{Context, Result};
use farpoint::{Amount, Strided};
use farpoint_cuda::{CudaScalar, DeviceBatch, Gpu, Stream};
use std::cell::RefCell;
use std::ffi::{CStr, CString, c_char};

/// Dense clouds (B, N, D) in host memory or on a GPU, and where their samples (B, M) go.
#[repr(C)]
pub struct Request {
    /// The method with its options, such as `fastpoint:estimator=fit`.
    pub method: *const c_char,
    /// 1 for float64, 0 for float32.
    pub double: u32,
    /// Ordinal of the GPU; -1 for the CPU.
    pub device: i32,
    /// CUDA stream of the GPU's primary context.
    pub stream: u64,
    /// Address of the coordinates.
    pub points: u64,
    /// B, N, D.
    pub shape: [usize; 3],
    /// M.
    pub count: usize,
    /// Address of the indices, int64.
    pub indices: u64,
    /// Address and size of an index over the clouds, on a GPU; 0 for none.
    pub index: [u64; 2],
}

thread_local! {
    static ERROR: RefCell<CString> = RefCell::default();
}

/// Samples clouds; on a GPU the work is queued on the stream, and graphs can capture it after a first call. Returns 0, or
/// 1 after an error, whose text is [`farpoint_baselines_error`].
///
/// # Safety
/// All addresses must be valid for the shapes, those on a GPU until the stream has finished.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn farpoint_baselines_sample(request: *const Request) -> i32 {
    let work = || {
        // SAFETY: the caller passes a request.
        let request = unsafe { &*request };
        // SAFETY: this function's contract.
        unsafe { if request.double == 1 { run::<f64>(request) } else { run::<f32>(request) } }
    };
    let done = std::panic::catch_unwind(work).unwrap_or_else(|_| Err(anyhow::anyhow!("a panic")));
    let Err(error) = done else { return 0 };
    ERROR.set(CString::new(format!("{error:#}").replace('\0', "?")).unwrap_or_default());
    1
}

/// Returns the text of this thread's last error, valid until its next.
#[unsafe(no_mangle)]
pub extern "C" fn farpoint_baselines_error() -> *const c_char {
    ERROR.with_borrow(|error| error.as_ptr())
}

/// # Safety
/// As for [`farpoint_baselines_sample`].
unsafe fn run<T: CudaScalar>(request: &Request) -> Result<()> {
    // SAFETY: the caller passes a text that ends with a zero.
    let method = unsafe { CStr::from_ptr(request.method) }.to_str()?.parse()?;
    let job = Job::new(method, Amount::Count(request.count));
    let [clouds, rows, dims] = request.shape;
    if let Ok(ordinal) = usize::try_from(request.device) {
        let gpu = Gpu::new(ordinal)?;
        let batch = DeviceBatch::<T>::padded(request.points, request.shape, request.indices);
        let [address, bytes] = request.index;
        let index = (address != 0).then_some((address, bytes as usize));
        // SAFETY: addresses and stream are as this function's contract says.
        return unsafe {
            let stream = Stream::borrowed(&gpu, request.stream);
            gpu::enqueue(&job, &stream, &batch, index)
        };
    }
    let size = rows.checked_mul(dims).context("the shape is too large")?;
    for cloud in 0..clouds {
        // SAFETY: the coordinates and indices of each cloud are there by this function's contract.
        let (points, indices) = unsafe {
            let points = (request.points as usize as *const T).add(cloud * size);
            let indices = (request.indices as usize as *mut i64).add(cloud * request.count);
            (
                std::slice::from_raw_parts(points, size),
                std::slice::from_raw_parts_mut(indices, request.count),
            )
        };
        let points = Strided::new(points, [rows, dims], 0, [dims as isize, 1])?;
        for (index, found) in indices.iter_mut().zip(sample(&job, &points)?.indices) {
            *index = found as i64;
        }
    }
    Ok(())
}
