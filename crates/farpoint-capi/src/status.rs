//! Ends of calls: a status for C, a text for people, and never a panic.

use crate::constants::*;
use farpoint::Error;
use std::any::Any;
use std::cell::{Cell, RefCell};
use std::ffi::{CStr, CString, c_char};
use std::panic::{self, AssertUnwindSafe};
use std::sync::Once;
use std::sync::atomic::{AtomicUsize, Ordering};

/// Error of a call.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Failure {
    pub(crate) status: farpoint_status,
    pub(crate) text: String,
}

impl Failure {
    /// Adds the cloud of a batch to the text.
    pub(crate) fn of_cloud(self, cloud: usize) -> Self {
        Self { text: format!("cloud {cloud} of the batch: {}", self.text), ..self }
    }

    /// Adds the cloud of a pair to the text.
    pub(crate) fn in_pair(self, which: &str) -> Self {
        Self { text: format!("the {which} cloud: {}", self.text), ..self }
    }
}

/// Returns the error of an invalid argument.
pub(crate) fn invalid(text: impl Into<String>) -> Failure {
    Failure { status: FARPOINT_INVALID_ARGUMENT, text: text.into() }
}

/// Returns the error of something that is not on this machine, or not in this library.
#[cfg(any(test, not(feature = "cuda")))]
pub(crate) fn unavailable(text: impl Into<String>) -> Failure {
    Failure { status: FARPOINT_UNAVAILABLE, text: text.into() }
}

impl From<Error> for Failure {
    fn from(error: Error) -> Self {
        Self { status: status_of(&error), text: error.to_string() }
    }
}

fn status_of(error: &Error) -> farpoint_status {
    match error {
        Error::InPair { source, .. } | Error::InBatch { source, .. } => status_of(source),
        Error::NonFinite { .. } => FARPOINT_NON_FINITE,
        Error::Cancelled(_) | Error::SearchCancelled(_) => FARPOINT_CANCELED,
        Error::OutOfMemory { .. } | Error::TooManyNeighbors(_) => FARPOINT_OUT_OF_MEMORY,
        Error::LevelUnavailable(_) => FARPOINT_UNAVAILABLE,
        _ => FARPOINT_INVALID_ARGUMENT,
    }
}

#[cfg(feature = "cuda")]
impl From<farpoint_cuda::Error> for Failure {
    fn from(error: farpoint_cuda::Error) -> Self {
        use farpoint_cuda::Error;
        let status = match &error {
            Error::Sampling(error) => status_of(error),
            Error::Unavailable(_) | Error::NoSuchDevice { .. } => FARPOINT_UNAVAILABLE,
            Error::OutOfMemory { .. } => FARPOINT_OUT_OF_MEMORY,
            Error::Unsupported(_) => FARPOINT_INVALID_ARGUMENT,
            _ => FARPOINT_DEVICE_FAILED,
        };
        Self { status, text: error.to_string() }
    }
}

thread_local! {
    /// Text of `farpoint_last_error`.
    static LAST_ERROR: RefCell<CString> = RefCell::default();
    /// Number of nested calls of this thread: a callback may call the library again.
    static INSIDE: Cell<usize> = const { Cell::new(0) };
}

/// Number of calls in all threads.
static RUNNING: AtomicUsize = AtomicUsize::new(0);

/// Runs a call that returns a status.
pub(crate) fn entry(work: impl FnOnce() -> Result<(), Failure>) -> farpoint_status {
    // An error that an array of this crate raises, for which there is no memory.
    let mut failed = Ok(());
    let work = || {
        farpoint::backend::caught(|| {
            failed = work();
            Ok(())
        })
    };
    let failure = match caught(work).map(|raised| raised.map_err(Failure::from).and(failed)) {
        Ok(Ok(())) => return FARPOINT_OK,
        Ok(Err(failure)) => failure,
        Err(text) => Failure {
            status: FARPOINT_INTERNAL,
            text: format!("a bug in farpoint, please report it: {text}"),
        },
    };
    // Text from outside may hold a zero, at which C's would end.
    let text = CString::new(failure.text.replace('\0', "\u{fffd}")).unwrap_or_default();
    // Unavailable while the thread ends: nobody reads it any more.
    let _ = LAST_ERROR.try_with(|last| *last.borrow_mut() = text);
    failure.status
}

/// Runs a call that returns a value, which is `otherwise` if it panics.
pub(crate) fn value<R>(otherwise: R, work: impl FnOnce() -> R) -> R {
    caught(work).unwrap_or(otherwise)
}

/// Runs the work of a call; an error with the text of its panic, if it panics.
fn caught<R>(work: impl FnOnce() -> R) -> Result<R, String> {
    let _call = Call::begin();
    // What a panic leaves half done is dropped: calls share nothing but the pool and caches of whole
    // arrays, which the library keeps in order.
    panic::catch_unwind(AssertUnwindSafe(work)).map_err(|payload| {
        let text = text_of(payload.as_ref());
        // Dropping it could panic again.
        std::mem::forget(payload);
        text
    })
}

fn text_of(payload: &(dyn Any + Send)) -> String {
    let text = payload.downcast_ref::<&str>().copied();
    let owned = || payload.downcast_ref::<String>().map(String::as_str);
    text.or_else(owned).unwrap_or("no text").to_owned()
}

/// A call that runs on this thread.
struct Call;

impl Call {
    fn begin() -> Self {
        static HOOK: Once = Once::new();
        HOOK.call_once(silence);
        RUNNING.fetch_add(1, Ordering::Relaxed);
        let _ = INSIDE.try_with(|inside| inside.set(inside.get() + 1));
        Self
    }
}

impl Drop for Call {
    fn drop(&mut self) {
        let _ = INSIDE.try_with(|inside| inside.set(inside.get() - 1));
        RUNNING.fetch_sub(1, Ordering::Relaxed);
    }
}

/// Silences panics of this library: a library does not write to its host's terminal.
/// Panics of a Rust program that this crate is linked into are printed as before.
fn silence() {
    let others = panic::take_hook();
    panic::set_hook(Box::new(move |info| {
        let inside_call = INSIDE.try_with(|inside| inside.get() > 0).unwrap_or(true);
        let in_pool = || rayon::current_thread_index().is_some();
        let is_own = inside_call || (RUNNING.load(Ordering::Relaxed) > 0 && in_pool());
        if !is_own {
            others(info);
        }
    }));
}

/// Returns the text of this thread's last failure.
pub(crate) fn last_error() -> *const c_char {
    LAST_ERROR.try_with(|last| last.borrow().as_ptr()).unwrap_or(c"".as_ptr())
}

/// Returns the name of a status.
pub(crate) fn name(status: i32) -> &'static CStr {
    const NAMES: [&CStr; 8] = [
        c"FARPOINT_OK",
        c"FARPOINT_INVALID_ARGUMENT",
        c"FARPOINT_NON_FINITE",
        c"FARPOINT_CANCELED",
        c"FARPOINT_OUT_OF_MEMORY",
        c"FARPOINT_UNAVAILABLE",
        c"FARPOINT_DEVICE_FAILED",
        c"FARPOINT_INTERNAL",
    ];
    usize::try_from(status).ok().and_then(|status| NAMES.get(status)).unwrap_or(&c"unknown status")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn last_text() -> String {
        // SAFETY: the text is this thread's own, and lives until its next call.
        unsafe { CStr::from_ptr(last_error()) }.to_str().unwrap().to_owned()
    }

    #[test]
    fn a_panic_becomes_a_status_and_a_text() {
        assert_eq!(entry(|| panic!("number {}", 7)), FARPOINT_INTERNAL);
        assert_eq!(last_text(), "a bug in farpoint, please report it: number 7");
        // On a thread of the pool, too.
        let pool = || rayon::join(|| panic!("in the pool"), || ());
        assert_eq!(entry(|| { pool().0 }), FARPOINT_INTERNAL);
        assert!(last_text().ends_with("in the pool"));
        assert_eq!(value(3, || panic!("unseen")), 3);
        assert_eq!(entry(|| Ok(())), FARPOINT_OK);
        assert!(last_text().ends_with("in the pool"), "success leaves the text");
    }

    #[test]
    fn texts_are_whole() {
        assert_eq!(entry(|| Err(invalid("a\0b"))), FARPOINT_INVALID_ARGUMENT);
        assert_eq!(last_text(), "a\u{fffd}b");
        let status = std::thread::spawn(|| (entry(|| Err(unavailable("there"))), last_text()));
        assert_eq!(status.join().unwrap(), (FARPOINT_UNAVAILABLE, "there".to_owned()));
        assert_eq!(last_text(), "a\u{fffd}b", "each thread has its own");
    }

    #[test]
    fn every_status_has_its_name() {
        for status in [FARPOINT_OK, FARPOINT_NON_FINITE, FARPOINT_CANCELED, FARPOINT_INTERNAL] {
            assert_eq!(name(status as i32).to_str().unwrap(), format!("{status:?}"));
        }
        assert_eq!(name(FARPOINT_INTERNAL as i32 + 1), c"unknown status");
        assert_eq!(name(-1), c"unknown status");
    }

    #[test]
    fn errors_keep_their_status_inside_batches_and_pairs() {
        let bad = Error::NonFinite { first: 0, count: 1, points: 2 };
        let inside = Error::InPair { which: "first", source: Box::new(bad) };
        let batch = Error::InBatch { cloud: 3, source: Box::new(inside) };
        assert_eq!(Failure::from(batch).status, FARPOINT_NON_FINITE);
        assert_eq!(Failure::from(Error::Cancelled(1)).status, FARPOINT_CANCELED);
        assert_eq!(Failure::from(Error::EmptyCloud).status, FARPOINT_INVALID_ARGUMENT);
    }
}
