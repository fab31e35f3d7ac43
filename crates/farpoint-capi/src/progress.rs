//! Progress of a call, and its cancellation.

use farpoint::Progress;
use std::ffi::c_void;
use std::ops::ControlFlow;

/// Progress of a call.
#[repr(C)]
#[derive(Debug, Clone, Copy)]
pub struct farpoint_progress {
    /// Size of this structure in the library's version. Later versions may add members at the end.
    pub size: usize,
    /// Samples chosen so far, or points whose neighbors were found; of all clouds of a batch
    /// together.
    pub done: usize,
    /// Upper bound of `done`.
    pub total: usize,
    /// The largest distance of a point to its nearest sample so far; infinite while it is unknown.
    pub covering_radius: f64,
}

/// Called now and then with the progress of a call: every 0.5 ms of farpoint_sample() or so, every few milliseconds of
/// a search, but not while clouds are copied.
///
/// At most one call of it runs at a time, not always on the thread that called the library. It must
/// return: neither throw an exception nor jump out, and not call the library with the same arguments.
///
/// @param user      `user` of the options
/// @param progress  progress of the call; the structure is valid until the callback returns
/// @return 0 to go on, anything else to cancel the call, which then returns FARPOINT_CANCELED
pub type farpoint_progress_callback =
    Option<unsafe extern "C" fn(user: *mut c_void, progress: *const farpoint_progress) -> i32>;

/// Receiver of the progress of a call.
pub(crate) struct Listener {
    callback: unsafe extern "C" fn(user: *mut c_void, progress: *const farpoint_progress) -> i32,
    user: *mut c_void,
}

// SAFETY: the header says that the callback is called from other threads than the caller's, though
// never by two at a time; whoever sets it and `user` has agreed to that.
unsafe impl Send for Listener {}

impl Listener {
    /// Returns the callback with its argument, if there is one.
    pub(crate) fn new(callback: farpoint_progress_callback, user: *mut c_void) -> Option<Self> {
        callback.map(|callback| Self { callback, user })
    }

    /// Calls it; `Break` cancels.
    pub(crate) fn report(&mut self, progress: Progress) -> ControlFlow<()> {
        let report = farpoint_progress {
            size: size_of::<farpoint_progress>(),
            done: progress.samples,
            total: progress.total,
            covering_radius: progress.covering_radius,
        };
        // SAFETY: a function of C of this type, by the contract of the options that it comes from; the
        // structure lives until it returns.
        match unsafe { (self.callback)(self.user, &raw const report) } {
            0 => ControlFlow::Continue(()),
            _ => ControlFlow::Break(()),
        }
    }
}
