//! How a call is run.

use crate::progress::farpoint_progress_callback;
use std::ffi::c_void;

/// How a call is run. Every options structure begins with these members.
///
/// Set everything to zero, then `size`, then what is to differ: zero means the default everywhere.
///
/// @code
/// farpoint_run_options options = {0};
/// options.size = sizeof options;
/// options.threads = 1;
/// @endcode
#[repr(C)]
#[derive(Debug, Clone, Copy)]
pub struct farpoint_run_options {
    /// `sizeof(farpoint_run_options)`: tells the library which members there are.
    pub size: usize,
    /// Threads to work on. 0: those of one pool for the whole process, one per core, which starts
    /// when it is first needed. 1: the calling thread alone; no thread is ever started.
    pub threads: usize,
    /// FARPOINT_CPU or FARPOINT_CUDA.
    pub device: i32,
    /// Which GPU, from 0; 0 for the CPU.
    pub device_number: i32,
    /// FARPOINT_INSTRUCTIONS_BEST or another. Never changes a result.
    pub instruction_set: i32,
    /// FARPOINT_BAD_ROWS_ERROR or FARPOINT_BAD_ROWS_SKIP.
    pub bad_rows: i32,
    /// Called now and then; may cancel. NULL if nobody listens.
    pub progress: farpoint_progress_callback,
    /// Passed to `progress`.
    pub user: *mut c_void,
}

super::options!(farpoint_run_options, last: user);
