//! The CUDA driver, loaded at run time, with its status codes converted into errors.
//!
//! Everything here first calls [`available`], which opens the library and refuses drivers older than the kernels' PTX
//! needs; newer ones have all functions that this crate calls.

pub mod sys;

use crate::{CudaUnavailable, Error};
use std::ffi::{CStr, c_char, c_int};
use std::sync::OnceLock;
use std::sync::atomic::{AtomicU32, Ordering};

pub(crate) use sys::symbol;

/// Oldest driver version that can load the kernels' PTX (version 8.4, of CUDA 12.4).
const MIN_VERSION: c_int = 12_040;

/// Checks whether CUDA can be used on this machine.
///
/// # Errors
/// If there is no driver, or it is too old, or this process was forked after the driver was started.
pub fn available() -> Result<(), CudaUnavailable> {
    static FOUND: OnceLock<Result<(), CudaUnavailable>> = OnceLock::new();
    if !cfg!(feature = "kernels") {
        return Err(CudaUnavailable { reason: NOT_BUILT.into() });
    }
    if !is_first_process(std::process::id()) {
        // Only read: if a thread of the parent was about to initialize it, or held a device's lock,
        // no thread of this process ever will.
        return match FOUND.get() {
            Some(Err(unavailable)) => Err(unavailable.clone()),
            _ => Err(CudaUnavailable { reason: FORKED.into() }),
        };
    }
    FOUND.get_or_init(|| load().map_err(|reason| CudaUnavailable { reason })).clone()
}

/// Reason why nothing works in a build without kernels.
const NOT_BUILT: &str = "this build of farpoint has no kernels; build it with the feature cuda (of the crate \
    farpoint-cuda: kernels)";

/// Reason why nothing works in a process that was forked after the driver was started.
const FORKED: &str = "it was initialized before this process was forked, and does not \
    survive a fork; start new processes instead, in Python by \
    multiprocessing.set_start_method(\"spawn\") or a DataLoader's \
    multiprocessing_context=\"spawn\"";

/// Returns whether this is the process that first looked for the driver, as recorded by the first call.
fn is_first_process(process: u32) -> bool {
    /// No process has the number 0.
    static FIRST: AtomicU32 = AtomicU32::new(0);
    let previous = FIRST.compare_exchange(0, process, Ordering::Relaxed, Ordering::Relaxed);
    previous.map_or_else(|first| first == process, |_| true)
}

/// Returns the number of CUDA devices.
///
/// # Errors
/// If CUDA can't be used, or there is no device.
pub fn device_count() -> Result<usize, Error> {
    available()?;
    let mut count = 0;
    // SAFETY: the driver is there, and writes one number.
    check("cuDeviceGetCount", unsafe { sys::cuDeviceGetCount(&mut count) })?;
    Ok(count as usize)
}

/// Returns the ordinal of the device with the memory at `address`, which any library may have allocated.
///
/// # Errors
/// If CUDA can't be used, or did not allocate the memory.
pub fn device_of(address: u64) -> Result<usize, Error> {
    available()?;
    let attribute = sys::CU_POINTER_ATTRIBUTE_DEVICE_ORDINAL;
    let mut ordinal: c_int = 0;
    // SAFETY: writes one number, of the size that this attribute has; the address is looked up,
    // not followed.
    let code = unsafe { sys::cuPointerGetAttribute((&raw mut ordinal).cast(), attribute, address) };
    check("cuPointerGetAttribute", code)?;
    Ok(ordinal as usize)
}

fn load() -> Result<(), String> {
    sys::open()?;
    let mut version = 0;
    // SAFETY: writes one number.
    if unsafe { sys::cuDriverGetVersion(&mut version) } == sys::CUresult::CUDA_SUCCESS
        && version < MIN_VERSION
    {
        let (major, minor) = (version / 1000, version % 1000 / 10);
        return Err(format!(
            "the NVIDIA driver is too old: it supports CUDA {major}.{minor}; 12.4 or later is \
             required"
        ));
    }
    // SAFETY: may be called any number of times.
    match unsafe { sys::cuInit(0) }.0 {
        0 => Ok(()),
        3 => Err(format!("the NVIDIA driver does not start (error 3 of cuInit): {FORKED}")),
        100 => Err("the NVIDIA driver finds no usable GPU".into()),
        34 => Err("libcuda is the toolkit's stub, not an NVIDIA driver".into()),
        803 => Err("the NVIDIA driver and its library differ in version; restart".into()),
        code => Err(format!("the NVIDIA driver does not start (error {code} of cuInit)")),
    }
}

/// Returns the driver's name and description of an error.
pub(crate) fn reason(code: sys::CUresult) -> String {
    type Describe = unsafe fn(sys::CUresult, *mut *const c_char) -> sys::CUresult;
    let text = |describe: Describe| {
        let mut text = std::ptr::null();
        // SAFETY: writes the address of a static text, or null for a code that it does not know.
        let known = unsafe { describe(code, &mut text) } == sys::CUresult::CUDA_SUCCESS;
        // SAFETY: the text ends with a zero.
        known.then(|| unsafe { CStr::from_ptr(text) }.to_string_lossy())
    };
    match (text(sys::cuGetErrorName), text(sys::cuGetErrorString)) {
        (Some(name), Some(text)) => format!("{text} ({name})"),
        _ => format!("error {}", code.0),
    }
}

/// Returns an error unless the call succeeded.
pub(crate) fn check(call: &'static str, code: sys::CUresult) -> Result<(), Error> {
    match code {
        sys::CUresult::CUDA_SUCCESS => Ok(()),
        code => Err(Error::Driver { call, reason: reason(code) }),
    }
}

/// Returns whether the context is unusable after this error.
pub(crate) fn is_fatal(code: sys::CUresult) -> bool {
    use sys::CUresult as Code;
    matches!(
        code,
        Code::CUDA_ERROR_ECC_UNCORRECTABLE
            | Code::CUDA_ERROR_NVLINK_UNCORRECTABLE
            | Code::CUDA_ERROR_ILLEGAL_ADDRESS
            | Code::CUDA_ERROR_LAUNCH_TIMEOUT
            | Code::CUDA_ERROR_CONTEXT_IS_DESTROYED
            | Code::CUDA_ERROR_ASSERT
            | Code::CUDA_ERROR_HARDWARE_STACK_ERROR
            | Code::CUDA_ERROR_ILLEGAL_INSTRUCTION
            | Code::CUDA_ERROR_MISALIGNED_ADDRESS
            | Code::CUDA_ERROR_INVALID_ADDRESS_SPACE
            | Code::CUDA_ERROR_INVALID_PC
            | Code::CUDA_ERROR_LAUNCH_FAILED
            | Code::CUDA_ERROR_UNKNOWN
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_forked_process_is_not_the_first() {
        let process = std::process::id();
        assert!(is_first_process(process) && is_first_process(process));
        // As the child process of a fork sees it.
        assert!(!is_first_process(process + 1));
        assert!(is_first_process(process));
    }
}
