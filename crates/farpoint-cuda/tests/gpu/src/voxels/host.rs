//! Voxels of clouds in host memory, alone and in batches, and the errors of the CPU.

use super::{PARTS, reduced};
use crate::clouds::Cloud;
use crate::errors::same_error;
use crate::runner::Group;
use crate::tally::Tally;
use anyhow::Result;
use farpoint::{NonFinite, Origin, Selected, VoxelGrid, Voxels};
use farpoint_cuda::{CudaScalar, Gpu, Gpus};
use farpoint_generate::Kind;

pub(super) fn groups() -> Vec<Group> {
    vec![group::<f32>(), group::<f64>(), errors::<f32>(), errors::<f64>()]
}

/// Clouds of any size and number of axes; some rows of one are non-finite.
fn clouds<T: CudaScalar>() -> Vec<Cloud<T>> {
    let mut bad = Cloud::of(Kind::Room, 3_000, 1);
    bad.data[7] = T::from_f64(f64::NAN);
    bad.data[3_001] = T::from_f64(f64::INFINITY);
    vec![
        bad,
        Cloud::of(Kind::Lidar, 20_000, 2),
        Cloud::random(0, 3, None, 3),
        Cloud::random(1, 2, None, 4),
        Cloud::random(500, 5, Some(4), 5),
    ]
}

fn jobs() -> Vec<VoxelGrid> {
    let job = VoxelGrid::new(0.3).non_finite(NonFinite::Skip);
    vec![job.clone(), job.clone().sorted(true).origin(Origin::Min), job.min_points(2).sorted(true)]
}

fn same<T: PartialEq>(found: &Voxels<T>, truth: &Voxels<T>) -> Result<(), String> {
    if found == truth { Ok(()) } else { Err("differs".into()) }
}

fn group<T: CudaScalar>() -> Group {
    Group::new(format!("voxels host memory {}", T::SUFFIX), PARTS, || {
        let clouds = clouds::<T>();
        Ok(move |device: &Gpu, part: &str, tally: &mut Tally| {
            let twice = Gpus::new(vec![device.clone(), device.clone()])?;
            for job in jobs() {
                let (job, label) = (reduced(&job, part), format!("{job:?}"));
                let truth = job.downsample_batch(&clouds)?;
                for (cloud, truth) in clouds.iter().zip(&truth) {
                    if let Some(found) = tally.take(&label, job.on(device).downsample(cloud)) {
                        tally.check(&label, same(&found, truth));
                    }
                }
                for found in [
                    job.on(device).downsample_batch(&clouds),
                    job.on(&twice).downsample_batch(&clouds),
                ] {
                    if let Some(found) = tally.take(&label, found) {
                        tally.is(format!("{label}, batch"), found == truth);
                    }
                }
                // Rows are those of the whole cloud.
                let rows: Vec<usize> = (0..1_000).map(|k| 7 * k % 3_000).collect();
                let selected = Selected::rows(&clouds[0], &rows)?;
                let truth = job.downsample(&selected)?;
                if let Some(found) = tally.take(&label, job.on(device).downsample(&selected)) {
                    tally.check(format!("{label}, selected rows"), same(&found, &truth));
                }
            }
            Ok(())
        })
    })
}

fn errors<T: CudaScalar>() -> Group {
    Group::new(format!("voxels of wrong input {}", T::SUFFIX), &[""], || {
        Ok(|device: &Gpu, _: &str, tally: &mut Tally| {
            let clouds = clouds::<T>();
            let far = Cloud::<T>::random(100, 3, None, 1).times(1e12);
            let job = VoxelGrid::new(0.3);
            for (label, job, cloud) in [
                ("non-finite rows", job.clone(), &clouds[0]),
                ("cells that do not fit", job.clone(), &far),
                ("no size", VoxelGrid::new(0.0), &clouds[1]),
                ("two sizes of three", VoxelGrid::per_axis([1.0, 2.0]), &clouds[1]),
                ("NaN as origin", job.clone().origin(Origin::At(vec![f64::NAN; 3])), &clouds[1]),
            ] {
                let (found, expected) = (job.on(device).downsample(cloud), job.downsample(cloud));
                same_error(tally, label, found, expected);
            }
            let found = job.on(device).downsample_batch(&clouds);
            same_error(tally, "a batch", found, job.downsample_batch(&clouds));
            let truth = job.downsample(&clouds[1])?;
            let found = tally.take("the next call", job.on(device).downsample(&clouds[1]));
            tally.is("the next call", found == Some(truth));
            Ok(())
        })
    })
}
