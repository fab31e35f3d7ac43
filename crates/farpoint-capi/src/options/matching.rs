//! What is asked of a search for nearest points.

use crate::progress::farpoint_progress_callback;
use crate::status::Failure;
use farpoint::{BadRows, Matcher};
use std::ffi::c_void;

/// What is asked of a search for nearest points. All zero but `size`: Euclidean distances.
#[repr(C)]
#[derive(Debug, Clone, Copy)]
pub struct farpoint_match_options {
    /// `sizeof(farpoint_match_options)`: tells the library which members there are.
    pub size: usize,
    /// Threads to work on: see farpoint_run_options.
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
    /// 2: Euclidean distances; 1: sums of absolute differences; 0: the default, 2.
    pub norm: i32,
    /// FARPOINT_SEARCH_AUTO or another. Never changes a result.
    pub method: i32,
}

super::options!(farpoint_match_options, last: method);

impl farpoint_match_options {
    /// What is asked.
    ///
    /// # Errors
    /// If a number stands for nothing.
    pub(crate) fn job(&self, bad_rows: BadRows) -> Result<Matcher, Failure> {
        let (norm, method) = (super::norm(self.norm)?, super::method(self.method)?);
        Ok(Matcher::new().norm(norm).method(method).bad_rows(bad_rows))
    }
}
