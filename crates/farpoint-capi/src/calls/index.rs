//! A cloud that is searched several times.

use crate::constants::{FARPOINT_FLOAT32, farpoint_status};
use crate::handle::{free, read, write_result};
use crate::index::farpoint_index;
use crate::options::{farpoint_run_options, run};
use crate::points::{farpoint_dense, farpoint_points};
use crate::run::{in_precision, of_either};
use crate::status::Failure;
use farpoint::Index;
use std::mem::MaybeUninit;
use std::ptr;

/// Builds an index.
///
/// farpoint_index_points() then stands for the cloud in every call: as the searched cloud,
/// the query points, or both, alone or in a batch. The CPU uses the tree as it is. Results are the
/// same as without an index.
///
/// @param points   the cloud, which is not needed any more after the call
/// @param options  options of the run; may be NULL. CPU only, without progress. Rows that `non_finite`
///                 leaves out remain so in every search; indices still count all rows
/// @param index    is set to the index, to be freed by farpoint_index_free(); to NULL on an error
/// @return FARPOINT_OK or another status; farpoint_last_error() then has the text
#[unsafe(no_mangle)]
pub unsafe extern "C" fn farpoint_index_build(
    points: farpoint_points,
    options: *const farpoint_run_options,
    index: *mut *mut farpoint_index,
) -> farpoint_status {
    // SAFETY: the header requires a place, points and options as described.
    unsafe { write_result(index, || build(&points, options)) }
}

/// Returns the points of an index, for any call that takes points. Valid until the index is freed.
///
/// @param index  the index; NULL gives a description without coordinates, which calls refuse
/// @return the description; to be left as it is
#[unsafe(no_mangle)]
pub unsafe extern "C" fn farpoint_index_points(index: *const farpoint_index) -> farpoint_points {
    let none = farpoint_dense(ptr::null(), 0, 0, MaybeUninit::new(FARPOINT_FLOAT32));
    // SAFETY: the header requires NULL or an index that is not freed.
    unsafe { read(index, none, farpoint_points::of_index) }
}

/// Returns the number of rows left out because they hold NaN or infinity; 0 for NULL.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn farpoint_index_dropped(index: *const farpoint_index) -> usize {
    // SAFETY: the header requires NULL or an index that is not freed.
    unsafe { read(index, 0, |index| of_either!(&index.0, index => index.dropped())) }
}

/// Frees an index, of which no call may be at work. NULL is fine.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn farpoint_index_free(index: *mut farpoint_index) {
    // SAFETY: the header requires NULL or an index that is not freed.
    unsafe { free(index) }
}

/// # Safety
/// Same as `farpoint_index_build`.
unsafe fn build(
    points: &farpoint_points,
    options: *const farpoint_run_options,
) -> Result<farpoint_index, Failure> {
    // SAFETY: by this function's contract.
    let run = unsafe { run(options) }?;
    let cpu = run.cpu("an index is built")?;
    let index = in_precision!(points.precision()?, T => {
        // SAFETY: by this function's contract.
        let cloud = unsafe { points.read::<T>() }?;
        Index::build(&cpu, &cloud, run.non_finite)?
    });
    Ok(farpoint_index(index))
}
