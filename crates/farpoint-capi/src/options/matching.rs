//! What is asked of a search for nearest points.

use crate::constants::farpoint_search_method;
use crate::options::farpoint_run_options;
use crate::status::Failure;
use farpoint::{BadRows, Matcher};
use std::mem::MaybeUninit;

/// What is asked of a search for nearest points. All zero but `size`: Euclidean distances.
#[repr(C)]
#[derive(Debug, Clone, Copy)]
pub struct farpoint_match_options {
    /// `sizeof(farpoint_match_options)`: tells the library which members there are.
    pub size: usize,
    /// How the call is run. NULL: on all threads of the CPU, with the defaults.
    pub run: *const farpoint_run_options,
    /// 2: Euclidean distances; 1: sums of absolute differences; 0: the default, 2.
    pub norm: i32,
    /// FARPOINT_SEARCH_AUTO or another. Never changes a result.
    pub method: MaybeUninit<farpoint_search_method>,
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
