//! A cloud that is searched several times.

use crate::constants::{FARPOINT_FLOAT32, FARPOINT_FLOAT64, farpoint_status};
use crate::given::number;
use crate::handle::{free, give, read};
use crate::options::{farpoint_run_options, run};
use crate::points::{farpoint_dense, farpoint_points};
use crate::run::{Either, Number, in_precision, of_either};
use crate::status::{Failure, invalid};
use farpoint::{Index, Points};
use std::mem::MaybeUninit;
use std::ptr;

/// A cloud with the tree by which the CPU searches it, for one that is searched more than once.
///
/// Made by farpoint_index_build(), freed by farpoint_index_free(). It has a copy of the points. It
/// never changes, so any number of threads may search it at a time.
pub struct farpoint_index(Either<Index<f32>, Index<f64>>);

/// Builds an index.
///
/// farpoint_index_points() then stands for the cloud in every call: as the cloud that is searched,
/// the one that asks, or both, alone or in a batch. The CPU takes the tree as it is. Results are the
/// same as without an index.
///
/// @param points   the cloud, which is not needed any more after the call
/// @param options  how the call is run; may be NULL. CPU only, without progress. Rows that `bad_rows`
///                 leaves out remain so in every search; indices still count all rows
/// @param index    is set to the index, to be freed by farpoint_index_free(); to NULL on an error
/// @return FARPOINT_OK or another status; farpoint_last_error() then has the text
#[unsafe(no_mangle)]
pub unsafe extern "C" fn farpoint_index_build(
    points: farpoint_points,
    options: *const farpoint_run_options,
    index: *mut *mut farpoint_index,
) -> farpoint_status {
    // SAFETY: the header asks for a place, points and options as described.
    unsafe { give(index, || build(&points, options)) }
}

/// The points of an index, for any call that takes points. Valid until the index is freed.
///
/// @param index  the index; NULL gives a description without coordinates, which calls refuse
/// @return the description; to be left as it is
#[unsafe(no_mangle)]
pub unsafe extern "C" fn farpoint_index_points(index: *const farpoint_index) -> farpoint_points {
    let none = farpoint_dense(ptr::null(), 0, 0, MaybeUninit::new(FARPOINT_FLOAT32));
    // SAFETY: the header asks for NULL or an index that is not freed.
    unsafe { read(index, none, farpoint_index::described) }
}

/// Rows that were left out because they hold NaN or infinity; 0 for NULL.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn farpoint_index_dropped(index: *const farpoint_index) -> usize {
    // SAFETY: the header asks for NULL or an index that is not freed.
    unsafe { read(index, 0, |index| of_either!(&index.0, index => index.dropped())) }
}

/// Frees an index, of which no call may be at work. NULL is fine.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn farpoint_index_free(index: *mut farpoint_index) {
    // SAFETY: the header asks for NULL or an index that is not freed.
    unsafe { free(index) }
}

impl farpoint_index {
    fn described(&self) -> farpoint_points {
        let (count, dimensions) = of_either!(&self.0, index => (index.len(), index.dim()));
        let scalar = match self.0 {
            Either::Single(_) => FARPOINT_FLOAT32,
            Either::Double(_) => FARPOINT_FLOAT64,
        };
        let scalar = MaybeUninit::new(scalar);
        let nowhere = farpoint_dense(ptr::null(), count, dimensions, scalar);
        farpoint_points { index: self, ..nowhere }
    }

    /// The index behind a description.
    ///
    /// # Errors
    /// If that is of other points.
    pub(crate) fn points<T: Number>(&self, given: &farpoint_points) -> Result<&Index<T>, Failure> {
        let here = self.described();
        let key =
            |points: &farpoint_points| (points.count, points.dimensions, number(points.scalar));
        let index = of_either!(&self.0, index => index.index());
        match index.and_then(|index| index.downcast_ref()) {
            Some(index) if key(&here) == key(given) => Ok(index),
            _ => Err(invalid(format!(
                "points with an index have other numbers than the index, which has {} points of {} coordinates of scalar type {}; leave what farpoint_index_points() returns as it is",
                here.count,
                here.dimensions,
                number(here.scalar)
            ))),
        }
    }
}

/// # Safety
/// As `farpoint_index_build`.
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
        Index::build(&cpu, &cloud, run.bad_rows)?
    });
    Ok(farpoint_index(index))
}

/// Any thread may search an index, several at a time.
const _: () = {
    const fn shared<T: Send + Sync>() {}
    shared::<farpoint_index>();
};
