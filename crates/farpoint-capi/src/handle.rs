//! Results as C holds them: by address, until it frees them.

use crate::arguments::places;
use crate::constants::farpoint_status;
use crate::status::{Failure, entry, value};
use std::mem::MaybeUninit;

/// Runs a call and stores its result for C.
///
/// # Safety
/// `place` is NULL, or a result's address can be written there.
pub(crate) unsafe fn write_result<R>(
    place: *mut *mut R,
    work: impl FnOnce() -> Result<R, Failure>,
) -> farpoint_status {
    // SAFETY: by this function's contract.
    unsafe { write_results(place, 1, || work().map(|result| vec![result])) }
}

/// Like `write_result`, for `count` results, of which C gets all or none.
///
/// # Safety
/// `place` is NULL, or `count` addresses can be written there.
pub(crate) unsafe fn write_results<R>(
    place: *mut *mut R,
    count: usize,
    work: impl FnOnce() -> Result<Vec<R>, Failure>,
) -> farpoint_status {
    entry(|| {
        // SAFETY: by this function's contract.
        let places = unsafe { places(place, count, "the pointer to the result") }?;
        places.fill(MaybeUninit::new(std::ptr::null_mut()));
        let results = work()?;
        assert_eq!(results.len(), places.len(), "a result for each place");
        for (place, result) in places.iter_mut().zip(results) {
            place.write(Box::into_raw(Box::new(result)));
        }
        Ok(())
    })
}

/// Reads a result; `otherwise` for NULL.
///
/// # Safety
/// `result` must be NULL, or a result returned to C that is not freed.
pub(crate) unsafe fn read<R, V>(result: *const R, otherwise: V, read: impl FnOnce(&R) -> V) -> V {
    // SAFETY: by this function's contract; results never change.
    let result = unsafe { result.as_ref() };
    match result {
        None => otherwise,
        Some(result) => value(otherwise, || read(result)),
    }
}

/// Frees a result.
///
/// # Safety
/// `result` must be NULL, or a result returned to C that is neither freed nor in use.
pub(crate) unsafe fn free<R>(result: *mut R) {
    if !result.is_null() {
        // SAFETY: made by `write_results` of a box, and C's to free by this function's contract.
        value((), || drop(unsafe { Box::from_raw(result) }));
    }
}
