//! Versions, errors and threads.

use crate::arguments::{number, structure};
use crate::constants::{
    FARPOINT_VERSION_MAJOR, FARPOINT_VERSION_MINOR, FARPOINT_VERSION_PATCH, farpoint_status,
};
use crate::options::farpoint_thread_options;
use crate::status::{self, entry};
use std::ffi::c_char;
use std::mem::MaybeUninit;

/// Returns the version of the library as text: "0.1.0".
#[unsafe(no_mangle)]
pub extern "C" fn farpoint_version() -> *const c_char {
    concat!(env!("CARGO_PKG_VERSION"), "\0").as_ptr().cast()
}

/// Returns the version of the library as a number, `major * 10000 + minor * 100 + patch`. A program that was
/// compiled with FARPOINT_VERSION_MAJOR 0 runs with libraries of the same minor version.
#[unsafe(no_mangle)]
pub extern "C" fn farpoint_version_number() -> i32 {
    FARPOINT_VERSION_MAJOR * 10_000 + FARPOINT_VERSION_MINOR * 100 + FARPOINT_VERSION_PATCH
}

/// Returns 1 if the library was built with CUDA, else 0. farpoint_cuda_device_count() counts the
/// GPUs.
#[unsafe(no_mangle)]
pub extern "C" fn farpoint_has_cuda() -> i32 {
    i32::from(cfg!(feature = "cuda"))
}

/// Returns the text of this thread's last error: what failed, where, and what to do. "" if there was
/// none. Valid until this thread's next call of a function that returns a status; never NULL.
#[unsafe(no_mangle)]
pub extern "C" fn farpoint_last_error() -> *const c_char {
    status::last_error()
}

/// Returns the name of a status, such as "FARPOINT_INVALID_ARGUMENT"; "unknown status" for other
/// numbers.
#[unsafe(no_mangle)]
pub extern "C" fn farpoint_status_name(status: MaybeUninit<farpoint_status>) -> *const c_char {
    status::name(number(status)).as_ptr()
}

/// Starts the pool with threads of these names, processors and scheduling: for programs with real-time demands, before any
/// other call of several threads. A call works on the calling thread, too, whose processor and priority are the caller's
/// to set.
///
/// @param options  options of the pool; not NULL
/// @return FARPOINT_OK; FARPOINT_INVALID_ARGUMENT if the pool has been started or the system refuses the options, in
///         which case nothing is started
#[unsafe(no_mangle)]
pub unsafe extern "C" fn farpoint_start_threads(
    options: *const farpoint_thread_options,
) -> farpoint_status {
    // SAFETY: the header requires options as large as they say.
    entry(|| unsafe {
        structure(options)?.options()?.start()?;
        Ok(())
    })
}
