//! How C hears how far a call has come, and cancels it.

use std::ffi::c_void;

/// How far a call has come.
#[repr(C)]
#[derive(Debug, Clone, Copy)]
pub struct farpoint_progress {
    /// Bytes of this structure as the library knows it. Later versions may add members at the end.
    pub size: usize,
    /// Samples chosen so far, or points whose neighbors were found; of all clouds of a batch
    /// together.
    pub done: usize,
    /// How many there will be, at most.
    pub wanted: usize,
    /// The largest distance of a point to its nearest sample so far; infinite while it is not known.
    pub covering_radius: f64,
}

/// Called now and then with the progress of a call: every 1,024 samples, or every few milliseconds of
/// a search, but not while clouds are copied and structures are built.
///
/// At most one call of it runs at a time, not always on the thread that called the library. It must
/// return: neither throw an exception nor jump out, and not call the library with the same arguments.
///
/// @param user      what the options hold
/// @param progress  how far the call has come; the structure is valid until the callback returns
/// @return 0 to go on, anything else to cancel the call, which then returns FARPOINT_CANCELED
pub type farpoint_progress_callback =
    Option<unsafe extern "C" fn(user: *mut c_void, progress: *const farpoint_progress) -> i32>;
