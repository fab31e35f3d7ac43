//! Voxels of clouds in device memory: every layout, list and kind of result, nothing written outside the arrays.

use super::batch::{Batch, Rig, Way};
use super::{PARTS, reduced};
use crate::clouds::{Cloud, any_exponent};
use crate::pointers::RowLayout;
use crate::runner::Group;
use crate::tally::Tally;
use anyhow::{Result, ensure};
use farpoint::{Origin, VoxelGrid};
use farpoint_cuda::{CudaScalar, Gpu, Stream};
use farpoint_generate::Kind;

pub(super) fn groups() -> Vec<Group> {
    let (two, far) = ([Way::PLAIN, Way::ALL[1]], [Way::PLAIN, Way::ALL[2]]);
    let mut groups = both("kinds", (of_every_kind, of_every_kind), &[0.3, 4.0], &Way::ALL);
    let faces = both("faces", (with_points_on_faces, with_points_on_faces), &[0.1, 0.2], &two);
    groups.extend(faces);
    groups.extend(both("sizes", (of_every_size, of_every_size), &[0.25], &Way::ALL));
    groups.extend(both("lists", (of_several_clouds, of_several_clouds), &[0.5], &Way::ALL));
    groups.extend(both("axes", (of_any_axes, of_any_axes), &[0.35], &two));
    groups.extend(both("long", (with_long_lists, with_long_lists), &[1.0, 1e-4], &far));
    groups.extend(both("wide", (with_wide_cells, with_wide_cells), &[1.0], &two));
    groups.extend([outside::<f32>(), outside::<f64>()]);
    groups
}

/// For the sanitizer and older cards.
pub(super) fn small() -> Vec<Group> {
    both("few", (of_few_points, of_few_points), &[0.4], &Way::ALL)
}

/// Makes batches.
type Make<T> = fn() -> Vec<Batch<T>>;

/// Both precisions.
fn both(
    name: &str,
    (single, double): (Make<f32>, Make<f64>),
    sizes: &'static [f64],
    ways: &[Way],
) -> Vec<Group> {
    vec![group::<f32>(name, single, sizes, ways), group::<f64>(name, double, sizes, ways)]
}

fn of_every_kind<T: CudaScalar>() -> Vec<Batch<T>> {
    Kind::ALL.iter().map(|&kind| Batch::of(Cloud::of(kind, 5_000, 3))).collect()
}

/// On both sides of zero, at multiples of the size.
fn with_points_on_faces<T: CudaScalar>() -> Vec<Batch<T>> {
    let cloud = |end| Cloud::random(4_000, 3, Some(end), end).plus(-0.4);
    [2, 9, 40].map(|end| Batch::of(cloud(end))).into()
}

/// Around the numbers of rows that a warp, a block or a tile has.
fn of_every_size<T: CudaScalar>() -> Vec<Batch<T>> {
    let sizes = [0, 1, 2, 31, 32, 33, 255, 256, 257, 1_023, 1_024, 1_025, 2_047, 2_048, 2_049];
    sizes.map(|n| Batch::of(Cloud::random(n, 3, None, n as u64))).into()
}

fn of_several_clouds<T: CudaScalar>() -> Vec<Batch<T>> {
    let clouds = |sizes: &[usize]| -> Vec<Cloud<T>> {
        let cloud = |(seed, &n): (usize, &usize)| bad(Cloud::of(Kind::Room, n, seed as u64), seed);
        sizes.iter().enumerate().map(cloud).collect()
    };
    let many = [300, 40, 900, 0, 33, 1, 64, 0, 0, 700];
    let mut all = Vec::new();
    for layout in [RowLayout::Rows, RowLayout::Gaps, RowLayout::Axes] {
        for (ragged, sizes) in
            [(true, &many[..]), (false, &many), (false, &[500; 3]), (true, &[0; 2])]
        {
            all.push(Batch { clouds: clouds(sizes), layout, ragged });
        }
    }
    // Clouds whose cells are all the same must be kept apart.
    let same = || (0..70).map(|_| Cloud::random(50, 3, Some(3), 1)).collect();
    all.extend([true, false].map(|ragged| Batch {
        clouds: same(),
        layout: RowLayout::Rows,
        ragged,
    }));
    all
}

/// Puts NaN and infinity into some rows.
fn bad<T: CudaScalar>(mut cloud: Cloud<T>, seed: usize) -> Cloud<T> {
    let non_finite = [f64::NAN, f64::INFINITY, f64::NEG_INFINITY];
    for (k, x) in cloud.data.iter_mut().enumerate().skip(seed % 5) {
        if k % 41 == 0 {
            *x = T::from_f64(non_finite[k % 3]);
        }
    }
    cloud
}

fn of_any_axes<T: CudaScalar>() -> Vec<Batch<T>> {
    let mut all = Vec::new();
    for dims in [1, 2, 4, 5, 9, 16] {
        for tied in [None, Some(9)] {
            all.push(Batch::of(Cloud::random(1_500, dims, tied, dims as u64)));
            let clouds = (0..3).map(|seed| Cloud::random(400, dims, tied, seed)).collect();
            all.push(Batch { clouds, layout: RowLayout::Gaps, ragged: true });
        }
    }
    all
}

/// All points in one voxel, in two, or each in its own.
fn with_long_lists<T: CudaScalar>() -> Vec<Batch<T>> {
    vec![
        Batch::of(Cloud::random(60_000, 3, None, 1)),
        Batch::of(Cloud::random(20_000, 3, None, 2).crowded()),
        Batch::of(Cloud::random(5_000, 5, None, 3)),
        Batch::of(Cloud::random(1_025, 3, None, 4)),
        Batch::of(Cloud::random(1_024, 3, None, 5)),
    ]
}

/// Cells of up to 31 bits on each axis, from the lowest point on, too; and points of any exponent.
fn with_wide_cells<T: CudaScalar>() -> Vec<Batch<T>> {
    vec![
        Batch::of(Cloud::random(4_000, 3, Some(3), 1).times(2e9)),
        Batch::of(Cloud::random(4_000, 3, None, 2).times(2.1e9).plus(-1.05e9)),
        Batch::of(any_exponent(4_000, -60, 29, 3)),
        Batch::of(any_exponent(4_000, -126, 30, 4)),
    ]
}

fn of_few_points<T: CudaScalar>() -> Vec<Batch<T>> {
    let clouds = || [90, 0, 33, 140].map(|n| bad(Cloud::random(n, 3, None, 1), n)).to_vec();
    vec![
        Batch::of(Cloud::random(1_500, 3, None, 1)),
        Batch::of(Cloud::random(200, 5, Some(4), 2)),
        Batch::of(Cloud::random(2_100, 3, Some(1), 3)),
        Batch { clouds: clouds(), layout: RowLayout::Gaps, ragged: true },
        Batch { clouds: clouds(), layout: RowLayout::Axes, ragged: false },
    ]
}

/// Jobs that differ in all but the choice of points.
fn jobs(size: f64, dims: usize) -> Vec<VoxelGrid> {
    let at: Vec<f64> = (0..dims).map(|axis| 0.31 * axis as f64 - 0.4).collect();
    let edges: Vec<f64> = (0..dims).map(|axis| size * (1.0 + 0.3 * axis as f64)).collect();
    let mut jobs = Vec::new();
    for sorted in [false, true] {
        jobs.push(VoxelGrid::new(size).sorted(sorted));
        jobs.push(VoxelGrid::new(size).sorted(sorted).min_points(3).origin(Origin::Min));
        jobs.push(VoxelGrid::per_axis(edges.clone()).sorted(sorted).origin(Origin::At(at.clone())));
    }
    jobs
}

fn group<T: CudaScalar>(
    name: &str,
    batches: Make<T>,
    sizes: &'static [f64],
    ways: &[Way],
) -> Group {
    let ways = ways.to_vec();
    Group::new(format!("voxels {}, {name}", T::SUFFIX), PARTS, move || {
        let batches = batches();
        Ok(move |device: &Gpu, part: &str, tally: &mut Tally| {
            let stream = Stream::new(device)?;
            for (number, batch) in batches.iter().enumerate() {
                let dims = batch.clouds.first().map_or(3, |cloud| cloud.dims);
                for job in sizes.iter().flat_map(|&size| jobs(size, dims)) {
                    let job = reduced(&job, part);
                    let truth = batch.truth(&job)?;
                    let rig = Rig::new(&stream, batch, &job)?;
                    for &way in &ways {
                        let label = format!("batch {number}, {job:?}, {way:?}");
                        let result = rig.check(&job, way, &truth);
                        tally.check(label, result.map_err(|error| format!("{error:#}")));
                    }
                }
            }
            Ok(())
        })
    })
}

/// Rows whose cells do not fit: counted by the summary, in no voxel.
fn outside<T: CudaScalar>() -> Group {
    Group::new(format!("voxels {}, outside of the grid", T::SUFFIX), &[""], || {
        Ok(|device: &Gpu, _: &str, tally: &mut Tally| {
            let stream = Stream::new(device)?;
            let mut cloud = Cloud::<T>::random(3_000, 3, None, 1);
            for (row, axis, x) in
                [(900, 2, 3e9), (1_200, 1, -2.2e9), (2_000, 1, 1e30), (901, 2, 1e12)]
            {
                cloud.data[3 * row + axis] = T::from_f64(x);
            }
            cloud.data[3 * 1_000] = T::from_f64(f64::NAN);
            // Not finite on another axis: a non-finite row, not one outside.
            cloud.data[3 * 800 + 1] = T::from_f64(1e20);
            cloud.data[3 * 800 + 2] = T::from_f64(f64::INFINITY);
            let batch = Batch::of(cloud);
            let job = VoxelGrid::new(1.0);
            let check = || -> Result<()> {
                let rig = Rig::new(&stream, &batch, &job)?;
                rig.enqueue_voxels(&job)?;
                stream.synchronize()?;
                let summary = rig.summary()?;
                ensure!(summary.voxels == 1, "{summary:?}");
                ensure!(summary.non_finite == Some((2, 800)), "{summary:?}");
                ensure!(summary.outside == Some((1, 1_200)), "{summary:?}");
                Ok(())
            };
            tally.check("summary", check().map_err(|error| format!("{error:#}")));
            Ok(())
        })
    })
}
