//! Several neighbors of each point: the k nearest, or those in a ball.

use crate::arguments::structure;
use crate::calls::pairs::{Pairs, only, pairs};
use crate::constants::farpoint_status;
use crate::handle::{free, read, write_result, write_results};
use crate::options::{farpoint_search_options, run};
use crate::points::farpoint_points;
use crate::run::{Either, Run, in_its_precision, in_precision, of_either, on_place};
use crate::status::Failure;
use farpoint::{Device, Neighbors, Searcher};

/// The neighbors in another cloud of each row of a cloud: `k` places per row, filled from the first.
///
/// Made by farpoint_search() and farpoint_search_batch(), freed by farpoint_neighbors_result_free().
/// It never changes, so any number of threads may read it at a time.
pub struct farpoint_neighbors_result(pub(super) Found);

/// Neighbors of each row. Addresses are valid until the result is freed.
#[repr(C)]
#[derive(Debug, Clone, Copy, Default)]
pub struct farpoint_neighbors_view {
    /// Number of rows, those left out among them.
    pub rows: usize,
    /// Places per row: the requested `k`.
    pub k: usize,
    /// Neighbors of each row, at most `k`.
    pub counts: *const u32,
    /// The neighbors of all rows, `rows * k` rows of the other cloud: those of row `i` begin at
    /// `i * k`. FARPOINT_NONE in places without a neighbor.
    pub indices: *const u32,
    /// The distance of each neighbor as it is computed: squared with norm 2. Infinite in places
    /// without a neighbor. NULL if the points were not `float`.
    pub raw_distances_f32: *const f32,
    /// The raw distances for points of type `double`; NULL if they were not.
    pub raw_distances_f64: *const f64,
    /// Rows that were left out because they hold NaN or infinity.
    pub dropped: usize,
}

type Found = Either<Neighbors<f32>, Neighbors<f64>>;

/// Finds the neighbors in `y` of each point of `x`, at most `k`: the nearest (kNN), or those in a ball
/// (ball query).
///
/// @param x        the query points
/// @param y        the searched cloud; of the same scalar type and as many dimensions
/// @param options  options of the search; not NULL, as they set the number of neighbors
/// @param result   is set to the neighbors, to be freed by farpoint_neighbors_result_free(); to NULL
///                 on an error
/// @return FARPOINT_OK or another status; farpoint_last_error() then has the text
#[unsafe(no_mangle)]
pub unsafe extern "C" fn farpoint_search(
    x: farpoint_points,
    y: farpoint_points,
    options: *const farpoint_search_options,
    result: *mut *mut farpoint_neighbors_result,
) -> farpoint_status {
    // SAFETY: the header requires places, clouds and options as described.
    unsafe { write_result(result, || only(search(Pairs::single(&x, &y), options))) }
}

/// farpoint_search() for many pairs of clouds, spread over all threads.
///
/// @param x           the query points of each pair, all of one scalar type
/// @param y           the searched clouds
/// @param pair_count  number of pairs; 0 is fine
/// @param options     options of the search, shared by all pairs; not NULL
/// @param results     `pair_count` places, which are set to the results; all to NULL on an error
/// @return FARPOINT_OK or another status; the text names the first pair at fault
#[unsafe(no_mangle)]
pub unsafe extern "C" fn farpoint_search_batch(
    x: *const farpoint_points,
    y: *const farpoint_points,
    pair_count: usize,
    options: *const farpoint_search_options,
    results: *mut *mut farpoint_neighbors_result,
) -> farpoint_status {
    // SAFETY: the header requires places, clouds and options as described.
    unsafe { write_results(results, pair_count, || search(pairs(x, y, pair_count)?, options)) }
}

/// Frees neighbors. NULL is fine.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn farpoint_neighbors_result_free(result: *mut farpoint_neighbors_result) {
    // SAFETY: the header requires NULL or a result that is not freed.
    unsafe { free(result) }
}

/// Returns the neighbors, valid until the result is freed; all 0 for NULL.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn farpoint_neighbors_result_view(
    result: *const farpoint_neighbors_result,
) -> farpoint_neighbors_view {
    // SAFETY: the header requires NULL or a result that is not freed.
    unsafe { read(result, farpoint_neighbors_view::default(), farpoint_neighbors_result::view) }
}

impl farpoint_neighbors_result {
    fn view(&self) -> farpoint_neighbors_view {
        let distances = in_its_precision!(&self.0, found => &found.all_distances[..]);
        let (raw_distances_f32, raw_distances_f64) = distances.addresses();
        of_either!(&self.0, found => farpoint_neighbors_view {
            rows: found.counts.len(),
            k: found.k,
            counts: found.counts.as_ptr(),
            indices: found.all_indices.as_ptr(),
            raw_distances_f32,
            raw_distances_f64,
            dropped: found.dropped,
        })
    }
}

/// Reads the device and the search from options.
///
/// # Safety
/// NULL, or options as the header describes them.
pub(super) unsafe fn run_and_job(
    options: *const farpoint_search_options,
) -> Result<(Run, Searcher), Failure> {
    // SAFETY: by this function's contract.
    let (options, run) = unsafe {
        let options = structure(options)?;
        (options, run(options.run)?)
    };
    let job = options.job(run.non_finite)?;
    Ok((run, job))
}

/// # Safety
/// Same as `farpoint_search` and `farpoint_search_batch`.
unsafe fn search(
    pairs: Pairs<'_>,
    options: *const farpoint_search_options,
) -> Result<Vec<farpoint_neighbors_result>, Failure> {
    // SAFETY: by this function's contract.
    let (run, job) = unsafe { run_and_job(options) }?;
    run.observed(|place, observer| {
        let found = in_precision!(pairs.precision()?, T => {
            // SAFETY: by this function's contract.
            let clouds = unsafe { pairs.read::<T>() }?;
            on_place!(place, device => pairs.run(
                &clouds,
                observer,
                |[x, y], observer| device.search(&job, x, y, observer),
                |[x, y], observer| device.search_batch(&job, x, y, observer),
            ))?
        });
        let single = |found| farpoint_neighbors_result(Found::Single(found));
        let double = |found| farpoint_neighbors_result(Found::Double(found));
        Ok(found.each(single, double))
    })
}
