//! Errors from places that have no `Result` to return them in: out of memory deep in an algorithm, on any
//! thread, or input that another thread changes meanwhile.
//!
//! [`raise`] unwinds with the error as its payload and without the message of a panic. Teams and rayon pass
//! payloads on to the thread that waits for them. [`caught`], around every function of the interface that
//! works on a cloud, returns the error. Other panics go their way. Where panics abort, so does [`raise`].

use crate::Error;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};

/// Ends the work that [`caught`] runs, with this error.
#[cold]
pub(crate) fn raise(error: Error) -> ! {
    resume_unwind(Box::new(error))
}

/// Runs `work`; returns its result, or the error that it raised.
///
/// # Errors
/// The errors of `work`.
pub fn caught<R>(work: impl FnOnce() -> Result<R, Error>) -> Result<R, Error> {
    // Work left half done belongs to `work`, and is dropped while it unwinds.
    catch_unwind(AssertUnwindSafe(work)).unwrap_or_else(|payload| match payload.downcast() {
        Ok(error) => Err(*error),
        Err(payload) => resume_unwind(payload),
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::threads::{Team, on_threads};

    #[test]
    fn an_error_is_returned_from_any_thread() {
        let error = || Error::OutOfMemory { bytes: 7 };
        let fail = |task: usize| {
            if task == 40 {
                raise(error())
            }
        };
        let in_team = || {
            Team::oversubscribed(3).each(64, |task, _| fail(task));
            Ok(())
        };
        assert_eq!(caught(in_team), Err(error()));
        let in_pool = || {
            on_threads(3, || {
                crate::threads::for_each(64, 3, &fail);
                Ok(())
            })
        };
        assert_eq!(caught(in_pool), Err(error()));
        assert_eq!(caught(|| Ok(1)), Ok(1));
        assert_eq!(caught(|| Err::<(), _>(Error::EmptyCloud)), Err(Error::EmptyCloud));
    }

    #[test]
    #[should_panic = "another"]
    fn other_panics_pass() {
        let _ = caught::<()>(|| resume_unwind(Box::new("another")));
    }
}
