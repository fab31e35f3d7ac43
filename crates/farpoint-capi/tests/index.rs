//! Searches of an index, compared with the same searches of the cloud: equal, index by index, on every kind of cloud.

use farpoint_capi::calls::index::*;
use farpoint_capi::calls::library::farpoint_last_error;
use farpoint_capi::calls::nearest::*;
use farpoint_capi::calls::search::*;
use farpoint_capi::calls::within::*;
use farpoint_capi::constants::*;
use farpoint_capi::index::farpoint_index;
use farpoint_capi::options::{farpoint_run_options, farpoint_search_options};
use farpoint_capi::points::{farpoint_dense, farpoint_points};
use farpoint_generate::{Kind, generate};
use std::ffi::{CStr, c_void};
use std::mem::{MaybeUninit, zeroed};
use std::ptr;
use std::slice::from_raw_parts;

/// An index, freed on drop.
struct Built(*mut farpoint_index);

// SAFETY: the header says that any number of threads may search an index.
unsafe impl Sync for Built {}

impl Drop for Built {
    fn drop(&mut self) {
        // SAFETY: made by `build`, and freed nowhere else.
        unsafe { farpoint_index_free(self.0) }
    }
}

impl Built {
    fn points(&self) -> farpoint_points {
        // SAFETY: it is not freed yet.
        unsafe { farpoint_index_points(self.0) }
    }
}

fn dense(
    data: *const c_void,
    count: usize,
    dimensions: usize,
    scalar: farpoint_scalar,
) -> farpoint_points {
    farpoint_dense(data, count, dimensions, MaybeUninit::new(scalar))
}

fn text() -> String {
    // SAFETY: this thread's text, until its next call.
    unsafe { CStr::from_ptr(farpoint_last_error()) }.to_str().unwrap().to_owned()
}

fn run_options(non_finite: farpoint_non_finite) -> farpoint_run_options {
    // SAFETY: numbers, addresses that may be NULL, and a function that may be none.
    let options: farpoint_run_options = unsafe { zeroed() };
    farpoint_run_options {
        size: size_of::<farpoint_run_options>(),
        non_finite: MaybeUninit::new(non_finite),
        ..options
    }
}

fn build(
    points: farpoint_points,
    non_finite: farpoint_non_finite,
) -> Result<Built, farpoint_status> {
    let mut index = ptr::null_mut();
    // SAFETY: the tests describe memory that is there.
    match unsafe { farpoint_index_build(points, &run_options(non_finite), &raw mut index) } {
        FARPOINT_OK => Ok(Built(index)),
        status => {
            assert!(index.is_null() && !text().is_empty());
            Err(status)
        }
    }
}

/// Results of searches: indices and the bits of distances, one list after another.
type Found = Vec<Vec<u64>>;

fn bits<T: Copy + Into<f64>>(numbers: &[T]) -> Vec<u64> {
    numbers.iter().map(|&number| number.into().to_bits()).collect()
}

fn rows<T: Copy + TryInto<u64, Error: std::fmt::Debug>>(numbers: &[T]) -> Vec<u64> {
    numbers.iter().map(|&number| number.try_into().unwrap()).collect()
}

/// Returns the bits of distances in either precision.
///
/// # Safety
/// One of the addresses has `count` numbers, the other is NULL.
unsafe fn distances(single: *const f32, double: *const f64, count: usize) -> Vec<u64> {
    // SAFETY: by this function's contract.
    unsafe {
        match single.is_null() {
            false => bits(from_raw_parts(single, count)),
            true => bits(from_raw_parts(double, count)),
        }
    }
}

fn nearest(x: farpoint_points, y: farpoint_points) -> Result<Found, farpoint_status> {
    let mut result = ptr::null_mut();
    // SAFETY: the tests describe what is there; the result is freed once.
    unsafe {
        match farpoint_nearest(x, y, ptr::null(), &raw mut result) {
            FARPOINT_OK => {
                let view = farpoint_nearest_result_view(result);
                let indices = from_raw_parts(view.indices, view.rows);
                let raw = distances(view.raw_distances_f32, view.raw_distances_f64, view.rows);
                let found = vec![rows(indices), raw];
                farpoint_nearest_result_free(result);
                Ok(found)
            }
            status => Err(status),
        }
    }
}

fn search(
    x: farpoint_points,
    y: farpoint_points,
    options: &farpoint_search_options,
) -> Result<Found, farpoint_status> {
    let mut result = ptr::null_mut();
    // SAFETY: as above.
    unsafe {
        match farpoint_search(x, y, options, &raw mut result) {
            FARPOINT_OK => {
                let view = farpoint_neighbors_result_view(result);
                let places = view.rows * view.k;
                let counts = from_raw_parts(view.counts, view.rows);
                let indices = from_raw_parts(view.indices, places);
                let raw = distances(view.raw_distances_f32, view.raw_distances_f64, places);
                let found = vec![rows(counts), rows(indices), raw];
                farpoint_neighbors_result_free(result);
                Ok(found)
            }
            status => Err(status),
        }
    }
}

fn within(
    x: farpoint_points,
    y: farpoint_points,
    options: &farpoint_search_options,
) -> Result<Found, farpoint_status> {
    let mut result = ptr::null_mut();
    // SAFETY: as above.
    unsafe {
        match farpoint_within(x, y, options, &raw mut result) {
            FARPOINT_OK => {
                let view = farpoint_within_result_view(result);
                let offsets = from_raw_parts(view.offsets, view.rows + 1);
                assert_eq!(offsets[view.rows], view.count);
                let indices = from_raw_parts(view.indices, view.count);
                let raw = distances(view.raw_distances_f32, view.raw_distances_f64, view.count);
                let found = vec![rows(offsets), rows(indices), raw];
                farpoint_within_result_free(result);
                Ok(found)
            }
            status => Err(status),
        }
    }
}

/// Runs every kind of search, with a radius that finds some neighbors.
fn every_search(
    x: farpoint_points,
    y: farpoint_points,
    radius: f64,
) -> Vec<Result<Found, farpoint_status>> {
    // SAFETY: as above.
    let zero: farpoint_search_options = unsafe { zeroed() };
    let size = size_of::<farpoint_search_options>();
    let knn = farpoint_search_options { size, k: 7, ..zero };
    let ball = farpoint_search_options { kind: MaybeUninit::new(FARPOINT_BALL), radius, ..knn };
    let sorted = farpoint_search_options {
        order: MaybeUninit::new(FARPOINT_BY_DISTANCE),
        inclusive: 1,
        ..ball
    };
    let mut found = vec![nearest(x, y), within(x, y, &ball), within(x, y, &sorted)];
    found.extend([knn, ball, sorted].map(|options| search(x, y, &options)));
    found
}

fn radius_of(cloud: &[[f32; 3]]) -> f64 {
    let widest = (0..3).map(|axis| {
        let numbers = cloud.iter().map(|point| f64::from(point[axis]));
        let (low, high) = numbers.fold((f64::MAX, f64::MIN), |(l, h), n| (l.min(n), h.max(n)));
        high - low
    });
    widest.fold(0.0, f64::max) / 8.0
}

#[test]
fn searches_are_those_without_an_index() {
    for kind in Kind::ALL {
        for n in [1, 3, 700] {
            let (asking, cloud) = (generate(kind, 300, 2), generate(kind, n, 1));
            let wide = |cloud: &[[f32; 3]]| -> Vec<[f64; 3]> {
                cloud.iter().map(|point| point.map(f64::from)).collect()
            };
            let (wide_asking, wide_cloud) = (wide(&asking), wide(&cloud));
            let pairs = [
                (asking.as_ptr().cast(), cloud.as_ptr().cast(), FARPOINT_FLOAT32),
                (wide_asking.as_ptr().cast(), wide_cloud.as_ptr().cast(), FARPOINT_FLOAT64),
            ];
            for (x, y, scalar) in pairs {
                let (x, y) = (dense(x, 300, 3, scalar), dense(y, n, 3, scalar));
                let index = build(y, FARPOINT_NON_FINITE_ERROR).unwrap();
                let plain = every_search(x, y, radius_of(&cloud));
                assert!(plain.iter().all(Result::is_ok), "{}", text());
                assert_eq!(every_search(x, index.points(), radius_of(&cloud)), plain, "{kind} {n}");
                let (own, here) = (every_search(y, y, 1.0), index.points());
                assert_eq!(every_search(here, here, 1.0), own, "{kind} {n}, its own");
            }
        }
    }
}

#[test]
fn rows_that_were_left_out_stay_so() {
    let mut cloud = generate(Kind::ALL[0], 400, 3);
    cloud[3][1] = f32::NAN;
    cloud[200][0] = f32::INFINITY;
    let points = dense(cloud.as_ptr().cast(), 400, 3, FARPOINT_FLOAT32);
    assert_eq!(build(points, FARPOINT_NON_FINITE_ERROR).err(), Some(FARPOINT_NON_FINITE));
    let index = build(points, FARPOINT_NON_FINITE_SKIP).unwrap();
    // SAFETY: it is not freed yet.
    assert_eq!(unsafe { farpoint_index_dropped(index.0) }, 2);
    assert_eq!(index.points().count, 400);
    let asking = generate(Kind::ALL[0], 50, 4);
    let x = dense(asking.as_ptr().cast(), 50, 3, FARPOINT_FLOAT32);
    let found = nearest(x, index.points()).unwrap();
    assert!(!found[0].contains(&3) && !found[0].contains(&200));
}

#[test]
fn many_threads_search_one_index() {
    let cloud = generate(Kind::ALL[0], 5000, 5);
    let y = dense(cloud.as_ptr().cast(), 5000, 3, FARPOINT_FLOAT32);
    let index = build(y, FARPOINT_NON_FINITE_ERROR).unwrap();
    std::thread::scope(|scope| {
        for thread in 0..6 {
            let index = &index;
            scope.spawn(move || {
                let asking = generate(Kind::ALL[0], 300, thread);
                let x = dense(asking.as_ptr().cast(), 300, 3, FARPOINT_FLOAT32);
                let y = generate(Kind::ALL[0], 5000, 5);
                let y = dense(y.as_ptr().cast(), 5000, 3, FARPOINT_FLOAT32);
                let plain = every_search(x, y, 0.5);
                for _ in 0..4 {
                    assert_eq!(every_search(x, index.points(), 0.5), plain);
                }
            });
        }
    });
}

#[test]
fn what_is_wrong_is_said() {
    let cloud = generate(Kind::ALL[0], 60, 6);
    let wide: Vec<_> = cloud.iter().map(|point| point.map(f64::from)).collect();
    let points = dense(cloud.as_ptr().cast(), 60, 3, FARPOINT_FLOAT32);
    let index = build(points, FARPOINT_NON_FINITE_ERROR).unwrap();
    let refused = |x, y, words: &str| {
        assert_eq!(nearest(x, y), Err(FARPOINT_INVALID_ARGUMENT));
        assert!(text().contains(words), "{}", text());
    };
    let double = dense(wide.as_ptr().cast(), 60, 3, FARPOINT_FLOAT64);
    refused(double, index.points(), "the second cloud: coordinates of type float, expected double");
    let flat = dense(cloud.as_ptr().cast(), 60, 2, FARPOINT_FLOAT32);
    refused(flat, index.points(), "coordinates");
    // SAFETY: NULL is allowed.
    let none = unsafe { farpoint_index_points(ptr::null()) };
    refused(points, none, "of an index that is not there");
    refused(points, farpoint_points { count: 59, ..index.points() }, "has 60 points of 3");
    let other = farpoint_points { scalar: MaybeUninit::new(FARPOINT_FLOAT64), ..index.points() };
    refused(double, other, "leave what farpoint_index_points() returns as it is");
    let empty = dense(ptr::null(), 0, 3, FARPOINT_FLOAT32);
    assert_eq!(build(empty, FARPOINT_NON_FINITE_ERROR).err(), Some(FARPOINT_INVALID_ARGUMENT));
    // SAFETY: a place that is NULL is refused; NULL is freed and asked without effect.
    unsafe {
        let status = farpoint_index_build(points, ptr::null(), ptr::null_mut());
        assert_eq!(status, FARPOINT_INVALID_ARGUMENT);
        farpoint_index_free(ptr::null_mut());
        assert_eq!(farpoint_index_dropped(ptr::null()), 0);
    }
}
