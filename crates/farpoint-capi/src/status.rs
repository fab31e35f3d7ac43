//! How calls end: a status for C, a text for people, no panic.

use crate::constants::*;
use std::cell::RefCell;
use std::ffi::{CStr, CString, c_char};

/// Why a call failed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Failure {
    pub(crate) status: i32,
    pub(crate) text: String,
}

impl Failure {
    pub(crate) fn internal(text: impl Into<String>) -> Self {
        Self { status: FARPOINT_INTERNAL, text: text.into() }
    }
}

thread_local! {
    static LAST: RefCell<CString> = RefCell::default();
}

pub(crate) fn entry(work: impl FnOnce() -> Result<(), Failure>) -> i32 {
    match work() {
        Ok(()) => FARPOINT_OK,
        Err(failure) => {
            let text = CString::new(failure.text).unwrap_or_default();
            LAST.with(|last| *last.borrow_mut() = text);
            failure.status
        }
    }
}

pub(crate) fn last_error() -> *const c_char {
    LAST.with(|last| last.borrow().as_ptr())
}

/// The name of a status.
pub(crate) fn name(status: i32) -> &'static CStr {
    match status {
        FARPOINT_OK => c"FARPOINT_OK",
        FARPOINT_INVALID_ARGUMENT => c"FARPOINT_INVALID_ARGUMENT",
        FARPOINT_BAD_ROWS => c"FARPOINT_BAD_ROWS",
        FARPOINT_CANCELED => c"FARPOINT_CANCELED",
        FARPOINT_OUT_OF_MEMORY => c"FARPOINT_OUT_OF_MEMORY",
        FARPOINT_UNAVAILABLE => c"FARPOINT_UNAVAILABLE",
        FARPOINT_DEVICE_FAILED => c"FARPOINT_DEVICE_FAILED",
        FARPOINT_INTERNAL => c"FARPOINT_INTERNAL",
        _ => c"unknown status",
    }
}
