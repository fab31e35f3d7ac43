//! Ctrl-C: stops at once, but never in the middle of a file.
//!
//! Output goes to temporary files that are renamed at the end. While one is being written an
//! interrupt waits for it; a second one does not.

use farpoint_io::temporary;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

/// Number of files being written.
static WRITING: AtomicUsize = AtomicUsize::new(0);
/// Set if an interrupt is pending.
static INTERRUPTED: AtomicBool = AtomicBool::new(false);

/// Set if the run itself ends on an interrupt.
static DEFERRED: AtomicBool = AtomicBool::new(false);

/// Exit status after Ctrl-C, as shells expect it.
const STATUS: i32 = 130;

/// Takes over Ctrl-C. Without it (no signals on this system) the process just ends.
pub fn install() {
    let _ = ctrlc::set_handler(|| {
        let repeated = INTERRUPTED.swap(true, Ordering::SeqCst);
        let must_wait = DEFERRED.load(Ordering::SeqCst) || WRITING.load(Ordering::SeqCst) > 0;
        if repeated || !must_wait {
            end();
        }
    });
}

/// Runs `write`, which must leave either the whole file or none; then exits if an interrupt is
/// pending.
pub fn guarded<R>(write: impl FnOnce() -> R) -> R {
    hold();
    let result = write();
    release();
    result
}

/// Defers interrupts until [`release`].
pub(crate) fn hold() {
    WRITING.fetch_add(1, Ordering::SeqCst);
}

/// Ends a deferral; exits if an interrupt is pending.
pub(crate) fn release() {
    WRITING.fetch_sub(1, Ordering::SeqCst);
    if INTERRUPTED.load(Ordering::SeqCst) && !DEFERRED.load(Ordering::SeqCst) {
        end();
    }
}

/// Makes the first interrupt only set the returned flag, for work on several files at a time, which
/// ends at the next file or step; then call [`end`].
pub(crate) fn defer_exit() -> &'static AtomicBool {
    DEFERRED.store(true, Ordering::SeqCst);
    &INTERRUPTED
}

/// Ends the process as an interrupt does, after removing its temporary files.
pub(crate) fn end() -> ! {
    temporary::remove_temporaries();
    std::process::exit(STATUS)
}
