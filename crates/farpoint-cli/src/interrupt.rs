//! Ctrl-C: stop at once, but never in the middle of a file.
//!
//! Output goes to temporary files that are renamed at the end. While one is being written an
//! interrupt waits for it; a second one does not.

use farpoint_io::temporary;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

/// Files being written.
static WRITING: AtomicUsize = AtomicUsize::new(0);
/// Whether an interrupt waits.
static INTERRUPTED: AtomicBool = AtomicBool::new(false);

/// Whether the run ends itself when an interrupt comes.
static GENTLE: AtomicBool = AtomicBool::new(false);

/// Exit status after Ctrl-C, as shells expect it.
const STATUS: i32 = 130;

/// Takes over Ctrl-C. Without it (no signals on this system) the process just ends.
pub fn install() {
    let _ = ctrlc::set_handler(|| {
        let again = INTERRUPTED.swap(true, Ordering::SeqCst);
        let waits = GENTLE.load(Ordering::SeqCst) || WRITING.load(Ordering::SeqCst) > 0;
        if again || !waits {
            end();
        }
    });
}

/// Runs `write`, which must leave either the whole file or none; then exits if an
/// interrupt came meanwhile.
pub fn guarded<R>(write: impl FnOnce() -> R) -> R {
    hold();
    let result = write();
    release();
    result
}

/// From now on an interrupt waits, until [`release`].
pub(crate) fn hold() {
    WRITING.fetch_add(1, Ordering::SeqCst);
}

/// A file has been written: exits if an interrupt waited for that.
pub(crate) fn release() {
    WRITING.fetch_sub(1, Ordering::SeqCst);
    if INTERRUPTED.load(Ordering::SeqCst) && !GENTLE.load(Ordering::SeqCst) {
        end();
    }
}

/// From now on the first interrupt only sets what this returns, for work on several files at a time, which
/// ends at the next file or step; then [`end`] is to be called.
pub(crate) fn gentle() -> &'static AtomicBool {
    GENTLE.store(true, Ordering::SeqCst);
    &INTERRUPTED
}

/// Ends the process as after an interrupt, after removing its temporary files.
pub(crate) fn end() -> ! {
    temporary::remove_own();
    std::process::exit(STATUS)
}
