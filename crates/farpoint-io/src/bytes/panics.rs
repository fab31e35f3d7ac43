//! A last resort against dependencies that panic on malformed input.
//!
//! laz and e57 index into the ranges that a file declares. The readers check them as far as possible; the rest is
//! caught here and becomes an error. The panic hook is wrapped once, so that a caught panic prints nothing while
//! every other panic is reported as before.

use crate::error::ParseError;
use std::cell::Cell;
use std::panic::{AssertUnwindSafe, catch_unwind, set_hook, take_hook};
use std::sync::Once;

thread_local! {
    static GUARDED: Cell<bool> = const { Cell::new(false) };
}

/// Runs `work` on this thread; a panic inside becomes an error with the text `what`.
pub(crate) fn catch_panic<T>(
    what: &str,
    work: impl FnOnce() -> Result<T, ParseError>,
) -> Result<T, ParseError> {
    static WRAP: Once = Once::new();
    WRAP.call_once(|| {
        let before = take_hook();
        set_hook(Box::new(move |info| {
            if !GUARDED.get() {
                before(info);
            }
        }));
    });
    let outer = GUARDED.replace(true);
    let result = catch_unwind(AssertUnwindSafe(work));
    GUARDED.set(outer);
    result.unwrap_or_else(|_| Err(ParseError::new(what)))
}
