//! Options of a search for nearest points.

use crate::constants::farpoint_search_method;
use crate::options::farpoint_run_options;
use crate::status::Failure;
use farpoint::{Matcher, NonFinite};
use std::mem::MaybeUninit;

/// Options of a search for nearest points. All zero but `size`: Euclidean distances.
#[repr(C)]
#[derive(Debug, Clone, Copy)]
pub struct farpoint_match_options {
    /// `sizeof(farpoint_match_options)`: gives the library the caller's version.
    pub size: usize,
    /// Device, threads and more. NULL: on all threads of the CPU, with the defaults.
    pub run: *const farpoint_run_options,
    /// 2: Euclidean distances; 1: sums of absolute differences; 0: the default, 2.
    pub norm: i32,
    /// FARPOINT_SEARCH_AUTO or another. Never changes a result.
    pub method: MaybeUninit<farpoint_search_method>,
}

super::options!(farpoint_match_options, last: method);

impl farpoint_match_options {
    /// Returns the matcher.
    ///
    /// # Errors
    /// If a number is unknown.
    pub(crate) fn job(&self, non_finite: NonFinite) -> Result<Matcher, Failure> {
        let (norm, method) = (super::norm(self.norm)?, super::method(self.method)?);
        Ok(Matcher::new().norm(norm).method(method).non_finite(non_finite))
    }
}
