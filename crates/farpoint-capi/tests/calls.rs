//! Calls of the C interface from Rust, compared with the Rust calls: equal on every kind of cloud.

use farpoint::{NonFinite, Points, RawLayout, RawPoints, Sampler, Selected, Start};
use farpoint_capi::calls::library::farpoint_last_error;
use farpoint_capi::calls::sample::*;
use farpoint_capi::constants::*;
use farpoint_capi::options::{farpoint_run_options, farpoint_sample_options};
use farpoint_capi::points::{farpoint_dense, farpoint_points};
use std::ffi::{CStr, c_void};
use std::mem::{MaybeUninit, zeroed};
use std::ptr;

fn options(count: usize) -> farpoint_sample_options {
    // SAFETY: numbers, addresses that may be NULL, and a function that may be none.
    let options: farpoint_sample_options = unsafe { zeroed() };
    farpoint_sample_options { size: size_of::<farpoint_sample_options>(), count, ..options }
}

fn run_options() -> farpoint_run_options {
    // SAFETY: as above.
    let options: farpoint_run_options = unsafe { zeroed() };
    farpoint_run_options { size: size_of::<farpoint_run_options>(), ..options }
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

/// Returns the result of a C call; the points must be there.
fn called(
    points: farpoint_points,
    options: &farpoint_sample_options,
) -> Result<Vec<usize>, farpoint_status> {
    let mut result = ptr::null_mut();
    // SAFETY: the tests describe memory that is there; the result is freed once.
    unsafe {
        match farpoint_sample(points, options, &raw mut result) {
            FARPOINT_OK => {
                let view = farpoint_sample_result_view(result);
                let indices = std::slice::from_raw_parts(view.indices, view.count).to_vec();
                farpoint_sample_result_free(result);
                Ok(indices)
            }
            status => {
                assert!(result.is_null() && !text().is_empty());
                Err(status)
            }
        }
    }
}

#[test]
fn samples_are_those_of_reference() {
    for kind in farpoint_generate::Kind::ALL {
        for n in [1, 2, 9, 700] {
            let cloud = farpoint_generate::generate(kind, n, 1);
            let wide: Vec<_> = cloud.iter().map(|point| point.map(f64::from)).collect();
            for count in [1, (n / 3).max(1), n] {
                let reference = farpoint::reference(&cloud, count, 0).unwrap().indices;
                for threads in [0, 1, 2, 7] {
                    let run = farpoint_run_options { threads, ..run_options() };
                    let options = farpoint_sample_options { run: &raw const run, ..options(count) };
                    let points = dense(cloud.as_ptr().cast(), n, 3, FARPOINT_FLOAT32);
                    assert_eq!(called(points, &options).as_ref(), Ok(&reference), "{kind} {n}");
                    let points = dense(wide.as_ptr().cast(), n, 3, FARPOINT_FLOAT64);
                    let of_wide = farpoint::reference(&wide, count, 0).unwrap().indices;
                    assert_eq!(called(points, &options), Ok(of_wide), "{kind} {n}");
                }
            }
        }
    }
}

#[test]
fn levels_are_views_of_a_sample() {
    let cloud = farpoint_generate::generate(farpoint_generate::Kind::ALL[0], 300, 1);
    let points = dense(cloud.as_ptr().cast(), 300, 3, FARPOINT_FLOAT32);
    let counts = [60, 60, 20, 1];
    let mut levels = [farpoint_sample_view::default(); 4];
    let mut result = ptr::null_mut();
    // SAFETY: as many counts and places as are said; results are freed once.
    unsafe {
        assert_eq!(farpoint_sample(points, &options(60), &raw mut result), FARPOINT_OK);
        let level = |counts: &[usize], levels: &mut [farpoint_sample_view]| {
            let (count, levels) = (counts.len(), levels.as_mut_ptr());
            farpoint_sample_result_levels(result, counts.as_ptr(), count, levels)
        };
        assert_eq!(level(&counts, &mut levels), FARPOINT_OK);
        let whole = farpoint_sample_result_view(result);
        for (view, count) in levels.iter().zip(counts) {
            let alone = Sampler::count(count).sample(&cloud).unwrap();
            let rows = std::slice::from_raw_parts(view.indices, view.count);
            assert_eq!((rows, view.indices), (&alone.indices[..], whole.indices));
            assert_eq!(view.covering_radius, f64::from(alone.covering_radius()));
            assert_eq!(view.squared_distances_f32, whole.squared_distances_f32);
        }
        assert_eq!(level(&[20, 21], &mut levels), FARPOINT_INVALID_ARGUMENT);
        assert!(text().contains("level 1 has 21 points; request 1 to 20"), "{}", text());
        assert_eq!(levels[0].count, 60, "nothing is written");
        assert_eq!(level(&[], &mut []), FARPOINT_OK);
        let none =
            farpoint_sample_result_levels(ptr::null(), counts.as_ptr(), 4, &raw mut levels[0]);
        assert_eq!((none, text().as_str()), (FARPOINT_INVALID_ARGUMENT, "the result is NULL"));
        let nowhere = farpoint_sample_result_levels(result, counts.as_ptr(), 4, ptr::null_mut());
        assert_eq!(nowhere, FARPOINT_INVALID_ARGUMENT);
        farpoint_sample_result_free(result);
        let rows = [3, 7];
        let starts =
            farpoint_sample_options { starts: rows.as_ptr(), start_count: 2, ..options(60) };
        assert_eq!(farpoint_sample(points, &starts, &raw mut result), FARPOINT_OK);
        let several = farpoint_sample_result_levels(result, counts.as_ptr(), 1, &raw mut levels[0]);
        assert_eq!(several, FARPOINT_INVALID_ARGUMENT);
        assert!(text().contains("this one has 2"), "{}", text());
        farpoint_sample_result_free(result);
    }
}

#[test]
fn samples_of_nothing_are_refused() {
    let cloud = farpoint_generate::generate(farpoint_generate::Kind::ALL[0], 20, 1);
    let points = dense(cloud.as_ptr().cast(), 20, 3, FARPOINT_FLOAT32);
    assert_eq!(called(points, &options(0)), Err(FARPOINT_INVALID_ARGUMENT));
    assert!(text().contains("count is 0"), "{}", text());
    let share = farpoint_sample_options { amount: MaybeUninit::new(FARPOINT_RATIO), ..options(5) };
    assert_eq!(called(points, &share), Err(FARPOINT_INVALID_ARGUMENT));
    assert!(text().contains("ratio is 0"), "{}", text());
}

#[test]
fn rows_and_masks_are_those_of_the_library() {
    let cloud = farpoint_generate::generate(farpoint_generate::Kind::ALL[0], 500, 3);
    let rows: Vec<usize> = (0..300).map(|i| i * 7 % 500).collect();
    let mask: Vec<u8> = (0..500).map(|i| u8::from(i % 3 == 1) * 200).collect();
    let points = dense(cloud.as_ptr().cast(), 500, 3, FARPOINT_FLOAT32);
    let job = Sampler::count(90);
    let some = Selected::rows(&cloud, &rows).unwrap();
    let listed = farpoint_sample_options { rows: rows.as_ptr(), row_count: 300, ..options(90) };
    assert_eq!(called(points, &listed), Ok(job.sample(&some).unwrap().indices));
    let started = farpoint_sample_options { starts: &rows[33], start_count: 1, ..listed };
    let job = job.start(Start::Index(rows[33]));
    assert_eq!(called(points, &started), Ok(job.sample(&some).unwrap().indices));
    // The first row of the cloud is not in the list's place of the default start.
    assert_eq!(called(points, &listed).unwrap()[0], rows[0]);
    let masked = farpoint_sample_options { mask: mask.as_ptr(), ..options(90) };
    let some = Selected::mask(&cloud, &mask).unwrap();
    let job = Sampler::count(90);
    assert_eq!(called(points, &masked), Ok(job.sample(&some).unwrap().indices));
}

#[test]
fn non_finite_rows_are_refused_or_left_out() {
    let mut cloud = farpoint_generate::generate(farpoint_generate::Kind::ALL[0], 200, 3);
    cloud[0][1] = f32::NAN;
    cloud[77][2] = f32::INFINITY;
    let points = dense(cloud.as_ptr().cast(), 200, 3, FARPOINT_FLOAT32);
    assert_eq!(called(points, &options(50)), Err(FARPOINT_NON_FINITE));
    assert!(text().contains("2 of 200 rows hold NaN"), "{}", text());
    let run = farpoint_run_options {
        non_finite: MaybeUninit::new(FARPOINT_NON_FINITE_SKIP),
        ..run_options()
    };
    let skip = farpoint_sample_options { run: &raw const run, ..options(50) };
    let job = Sampler::count(50).non_finite(NonFinite::Skip);
    assert_eq!(called(points, &skip), Ok(job.sample(&cloud).unwrap().indices));
}

#[test]
fn unaligned_records_of_the_other_byte_order() {
    let cloud = farpoint_generate::generate(farpoint_generate::Kind::ALL[0], 300, 5);
    let mut bytes = vec![0u8; 18 + 26 * 300];
    for (record, point) in bytes[18..].chunks_exact_mut(26).zip(&cloud) {
        for (axis, value) in point.iter().enumerate() {
            record[8 * axis..8 * axis + 8]
                .copy_from_slice(&f64::from(*value).to_bits().swap_bytes().to_ne_bytes());
        }
    }
    let points = farpoint_points {
        point_stride: 26,
        flags: FARPOINT_BYTE_SWAPPED,
        buffer: bytes.as_ptr().cast(),
        buffer_size: bytes.len(),
        ..dense(bytes[18..].as_ptr().cast(), 300, 3, FARPOINT_FLOAT64)
    };
    let layout = RawLayout::dense(300, 3).offset(18).point_stride(26).byte_swapped(true);
    let raw = RawPoints::<f64>::new(&bytes, layout).unwrap();
    assert_eq!(raw.coordinate(7, 2), f64::from(cloud[7][2]));
    assert_eq!(called(points, &options(60)), Ok(Sampler::count(60).sample(&raw).unwrap().indices));
    // The last coordinate begins in the last byte of the buffer but seven.
    let short = farpoint_points { buffer_size: bytes.len() - 3, ..points };
    assert_eq!(called(short, &options(60)), Err(FARPOINT_INVALID_ARGUMENT));
    assert!(text().contains("of a buffer of 7815 bytes"), "{}", text());
}

#[test]
fn a_batch_names_the_cloud_at_fault() {
    let cloud = farpoint_generate::generate(farpoint_generate::Kind::ALL[0], 50, 5);
    let good = dense(cloud.as_ptr().cast(), 50, 3, FARPOINT_FLOAT32);
    let bad = farpoint_points { data: ptr::null(), ..good };
    let (clouds, options) = ([good, bad, good], options(10));
    let mut results = [ptr::dangling_mut(); 3];
    // SAFETY: three clouds, options and places; the second is refused before it is read.
    let status =
        unsafe { farpoint_sample_batch(clouds.as_ptr(), 3, &options, 1, results.as_mut_ptr()) };
    assert_eq!(status, FARPOINT_INVALID_ARGUMENT);
    assert!(text().starts_with("cloud 1 of the batch: "), "{}", text());
    assert!(results.iter().all(|result| result.is_null()));
}
