//! Voxels against the straightforward loop, bit by bit, on any number of threads.

use crate::common::{as_f32, crowded, integers, uniform};
use crate::values_common::bits;
use farpoint::backend::SplitMix64;
use farpoint::voxels::reference;
use farpoint::{
    Cpu, Error, Level, NonFinite, Origin, Points, Progress, Reduce, Scalar, Selected, VoxelGrid,
    Voxels, padded, ragged,
};
use std::ops::ControlFlow;

const REDUCTIONS: [Reduce; 4] = [Reduce::Mean, Reduce::First, Reduce::Center, Reduce::Random(7)];

fn assert_same<T: Scalar>(found: &Voxels<T>, truth: &Voxels<T>, about: &str) {
    let lengths = |voxels: &Voxels<T>| [voxels.inverse.len(), voxels.counts.len()];
    assert_eq!(lengths(found), lengths(truth), "{about}");
    let wrong = (0..truth.inverse.len()).find(|&row| found.inverse[row] != truth.inverse[row]);
    assert_eq!(wrong, None, "{about}: first row in another voxel");
    assert_eq!(bits(&found.coordinates), bits(&truth.coordinates), "{about}");
    assert_eq!(bits(&found.origin), bits(&truth.origin), "{about}");
    assert_eq!(found, truth, "{about}");
}

/// Compares a job, with every way to reduce and number, on `threads` threads.
fn compare<T: Scalar, P: Points<T> + ?Sized>(job: &VoxelGrid, cloud: &P, threads: &[usize]) {
    for reduce in REDUCTIONS {
        for sorted in [false, true] {
            let job = job.clone().reduce(reduce).sorted(sorted);
            let truth = reference::downsample(&job, cloud).unwrap();
            for &threads in threads {
                let found = job.on(&Cpu::new().threads(threads)).downsample(cloud).unwrap();
                let about = format!("{job:?}, {} points, {threads} threads", cloud.len());
                assert_same(&found, &truth, &about);
            }
        }
    }
}

/// Compares grids from every origin in both precisions.
fn compare_both<const D: usize>(size: f64, cloud: &[[f64; D]], threads: &[usize])
where
    Vec<[f64; D]>: Points<f64>,
    Vec<[f32; D]>: Points<f32>,
{
    let cloud = cloud.to_vec();
    let at: Vec<f64> = (0..D).map(|axis| 0.31 * axis as f64 - 0.4).collect();
    for origin in [Origin::Zero, Origin::Min, Origin::At(at)] {
        let job = VoxelGrid::new(size).origin(origin);
        for least in [0, 2] {
            let job = job.clone().min_points(least);
            compare(&job, &cloud, threads);
            compare(&job, &as_f32(&cloud), threads);
        }
    }
}

#[test]
fn small_clouds_are_those_of_the_reference() {
    for n in [0, 1, 2, 3, 17, 64, 100, 1_000] {
        compare_both::<3>(0.2, &uniform(n, n as u64), &[1, 3]);
        compare_both::<1>(0.01, &uniform(n, n as u64), &[1]);
        compare_both::<2>(0.3, &crowded(n, 5, n as u64), &[2]);
        compare_both::<5>(0.5, &uniform(n, n as u64), &[1]);
    }
}

#[test]
fn large_clouds_are_those_of_the_reference_on_any_number_of_threads() {
    for size in [1e-4, 0.004, 0.05, 10.0] {
        let job = VoxelGrid::new(size);
        compare(&job, &as_f32(&uniform::<3>(100_000, 1)), &[1, 2, 9]);
        compare(&job.min_points(3), &crowded::<3>(70_000, 500, 2), &[1, 5]);
    }
}

#[test]
fn clouds_on_both_sides_of_zero_with_points_on_the_faces() {
    for scale in [0.25, 0.1, 1.0 / 3.0] {
        let mut cloud = integers::<3>(3_000, 9, scale, 3);
        cloud.iter_mut().flatten().for_each(|x| *x -= 4.0 * scale);
        compare_both(scale, &cloud, &[1, 4]);
        compare_both(2.0 * scale, &cloud, &[1]);
    }
}

#[test]
fn cells_of_every_width_are_told_apart() {
    // Cells of 1, 21, 30 and 32 bits on an axis, and far more than 64 bits together.
    for width in [1.0, 1e6, 5e8, 2e9] {
        let wide: Vec<[f64; 3]> = integers::<3>(2_000, 3, width, 4)
            .into_iter()
            .map(|row| row.map(|x| x - width))
            .collect();
        compare(&VoxelGrid::new(1.0), &wide, &[1, 2]);
        compare(&VoxelGrid::new(1.0), &as_f32(&wide), &[1]);
        compare(&VoxelGrid::per_axis([1.0, 3e9, 0.95]), &wide, &[2]);
    }
    let ends = [[-2147483648.0f64], [2147483647.0], [2147483647.5], [-2147483648.0]];
    let voxels = VoxelGrid::new(1.0).downsample(&ends).unwrap();
    assert_eq!((voxels.cells, voxels.inverse), (vec![i32::MIN, i32::MAX], vec![0, 1, 1, 0]));
}

#[test]
fn lines_scans_and_duplicates() {
    let line: Vec<[f64; 3]> = (0..5_000).map(|i| [f64::from(i) * 0.01, 2.0, -1.0]).collect();
    compare_both(0.07, &line, &[1, 2]);
    compare_both(0.5, &vec![[0.3, -0.3, 1e-9]; 300], &[1, 2]);
    let room = farpoint_generate::room(40_000, 1);
    compare(&VoxelGrid::new(0.05), &room, &[1, 3]);
    compare(&VoxelGrid::per_axis([0.1, 0.02, 0.3]).origin(Origin::Min), &room, &[1, 3]);
}

#[test]
fn random_jobs_are_those_of_the_reference() {
    let mut random = SplitMix64::new(20);
    for case in 0..60 {
        let n = random.below(3_000) as usize;
        let cloud = uniform::<3>(n, case);
        let size: Vec<f64> = (0..3).map(|_| 0.01 + random.unit()).collect();
        let job = VoxelGrid::per_axis(size).min_points(random.below(4) as u32);
        compare(&job.origin(Origin::At(vec![random.unit(), -5.0, 1e3])), &cloud, &[1, 2]);
    }
}

#[test]
fn no_instruction_set_changes_a_bit() {
    let cloud = as_f32(&uniform::<3>(5_001, 8));
    for reduce in REDUCTIONS {
        let job = VoxelGrid::new(0.07).reduce(reduce);
        let truth = reference::downsample(&job, &cloud).unwrap();
        for level in Level::available() {
            let found = job.on(&Cpu::new().level(level)).downsample(&cloud).unwrap();
            assert_same(&found, &truth, &format!("{level}"));
        }
    }
}

#[test]
fn non_finite_rows_are_an_error_or_in_no_voxel() {
    let mut cloud = as_f32(&uniform::<3>(40_000, 5));
    (cloud[3][1], cloud[39_999][2], cloud[777][0]) = (f32::NAN, f32::INFINITY, f32::NEG_INFINITY);
    let job = VoxelGrid::new(0.1);
    let error = Error::NonFinite { first: 3, count: 3, points: 40_000 };
    assert_eq!(job.downsample(&cloud), Err(error.clone()));
    assert_eq!(reference::downsample(&job, &cloud), Err(error));
    let job = job.non_finite(NonFinite::Skip).origin(Origin::Min);
    compare(&job, &cloud, &[1, 3]);
    let voxels = job.downsample(&cloud).unwrap();
    let none = Voxels::<f32>::NONE;
    assert_eq!((voxels.dropped, voxels.inverse[3], voxels.inverse[39_999]), (3, none, none));
    let nothing = vec![[f32::NAN; 3]; 5];
    compare(&job, &nothing, &[1, 2]);
    // No origin is out of the range of no points.
    for job in [job.clone(), job.origin(Origin::At(vec![1e30; 3]))] {
        assert!(job.downsample(&nothing).unwrap().is_empty());
    }
}

#[test]
fn selected_rows_are_named_by_their_rows_in_the_cloud() {
    let mut cloud = uniform::<3>(900, 6);
    cloud[400][0] = f64::NAN;
    let rows: Vec<usize> = (0..300).map(|k| (k * 7 + 400) % 900).collect();
    let some = Selected::rows(&cloud, &rows).unwrap();
    let job = VoxelGrid::new(0.2).non_finite(NonFinite::Skip);
    compare(&job, &some, &[1, 2]);
    let voxels = job.clone().reduce(Reduce::First).downsample(&some).unwrap();
    assert_eq!((voxels.inverse.len(), voxels.inverse[0]), (300, Voxels::<f64>::NONE));
    assert_eq!(voxels.rows[0], 407);
    let error = VoxelGrid::new(0.2).downsample(&some).unwrap_err();
    assert_eq!(error, Error::NonFinite { first: 400, count: 1, points: 300 });
}

#[test]
fn a_batch_is_its_clouds() {
    let data: Vec<f32> = as_f32(&uniform::<3>(6_000, 7)).into_iter().flatten().collect();
    let job = VoxelGrid::new(0.1).origin(Origin::Min);
    let clouds = padded(&data, [4, 1_500, 3], Some(&[1_500, 0, 7, 1_499])).unwrap();
    let many = job.downsample_batch(&clouds).unwrap();
    for (cloud, found) in clouds.iter().zip(&many) {
        assert_same(found, &reference::downsample(&job, cloud).unwrap(), "padded");
    }
    let clouds = ragged(&data, 3, &[0, 10, 10, 5_000, 6_000]).unwrap();
    for (cloud, found) in clouds.iter().zip(job.downsample_batch(&clouds).unwrap()) {
        assert_same(&found, &reference::downsample(&job, cloud).unwrap(), "ragged");
    }
    let mut bad = data.clone();
    bad[3_000] = f32::NAN;
    let error = job.downsample_batch(&ragged(&bad, 3, &[0, 900, 6_000]).unwrap()).unwrap_err();
    assert!(error.to_string().starts_with("cloud 1 of the batch: 1 of 5100 rows"), "{error}");
}

#[test]
fn cells_beyond_32_bits_name_the_axis_and_the_row() {
    let cloud = [[0.0f32, 0.0], [5.0, 3e9], [5.0, -4e9], [1e38, 0.0]];
    for (job, axis, row) in [
        (VoxelGrid::per_axis([1e35, 1.0]), 1, 1),
        (VoxelGrid::new(1.0), 0, 3),
        (VoxelGrid::per_axis([1e35, 1.5]), 1, 2),
        (VoxelGrid::per_axis([1e35, 1.0]).origin(Origin::Min), 1, 0),
        (VoxelGrid::per_axis([1e-44, 1e-44]).origin(Origin::At(vec![0.0, 0.0])), 0, 1),
    ] {
        let error = job.downsample(&cloud).unwrap_err();
        let named = matches!(&error, Error::VoxelOutOfRange { axis: a, row: r, .. } if (*a, *r) == (axis, row));
        assert!(named, "{error}");
        assert_eq!(reference::downsample(&job, &cloud), Err(error));
    }
    let infinite = VoxelGrid::new(1e30).origin(Origin::At(vec![-3e38])).downsample(&[[3e38f32]]);
    let text = infinite.unwrap_err().to_string();
    assert!(text.contains("along axis 0") && text.contains("row 0"), "{text}");
}

#[test]
fn options_out_of_range_are_errors() {
    let cloud = [[0.0f32, 1.0]];
    for size in [0.0, -1.0, f64::NAN, f64::INFINITY, 1e-60, 1e60] {
        let error = VoxelGrid::per_axis([1.0, size]).downsample(&cloud).unwrap_err();
        assert!(matches!(error, Error::BadVoxelSize { axis: 1, .. }), "{error}");
    }
    assert!(VoxelGrid::new(1e-60).downsample(&[[0.0f64]]).is_ok());
    for (job, text) in [
        (VoxelGrid::per_axis([1.0; 3]), "3 voxel sizes for points of 2 axes"),
        (VoxelGrid::per_axis([]), "0 voxel sizes"),
        (VoxelGrid::new(1.0).origin(Origin::At(vec![0.0])), "1 coordinates of the origin"),
        (VoxelGrid::new(1.0).origin(Origin::At(vec![0.0, 1e60])), "origin = inf"),
    ] {
        let error = job.downsample(&cloud).unwrap_err();
        assert!(error.to_string().contains(text), "{error}");
        assert_eq!(reference::downsample(&job, &cloud), Err(error));
    }
    let none = VoxelGrid::new(1.0).on(&Cpu::new().threads(0)).downsample(&cloud);
    assert!(matches!(none, Err(Error::BadThreads(0, _))));
}

#[test]
fn an_observer_is_called_and_can_cancel() {
    let cloud = uniform::<3>(1_000, 9);
    let job = VoxelGrid::new(0.1);
    let mut seen = Vec::new();
    let mut observer = |progress: Progress| {
        seen.push((progress.samples, progress.total));
        ControlFlow::Continue(())
    };
    job.on(&Cpu::new()).observe(&mut observer).downsample(&cloud).unwrap();
    assert_eq!((seen.first(), seen.last()), (Some(&(0, 1_000)), Some(&(1_000, 1_000))));
    let mut stop = |_: Progress| ControlFlow::Break(());
    let stopped = job.on(&Cpu::new()).observe(&mut stop).downsample(&cloud);
    assert_eq!(stopped, Err(Error::SearchCancelled(0)));
}

#[test]
fn random_points_do_not_depend_on_other_voxels() {
    let cloud = uniform::<2>(2_000, 10);
    let job = VoxelGrid::new(0.1).reduce(Reduce::Random(1));
    let all = job.downsample(&cloud).unwrap();
    let row_in_first = |&row: &usize| all.inverse[row] == 0;
    let rows: Vec<usize> = (0..cloud.len()).filter(row_in_first).collect();
    let alone = job.downsample(&Selected::rows(&cloud, &rows).unwrap()).unwrap();
    assert_eq!((alone.rows[0], alone.len()), (all.rows[0], 1));
    let other = job.reduce(Reduce::Random(2)).downsample(&cloud).unwrap();
    assert!(all.rows.iter().zip(&other.rows).filter(|(a, b)| a != b).count() > all.len() / 2);
}
