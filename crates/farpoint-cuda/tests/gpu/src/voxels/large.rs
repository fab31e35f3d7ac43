//! Large clouds, in which blocks go through several tiles and lists are long.

use super::batch::{Batch, Rig, Way};
use super::{PARTS, reduced};
use crate::clouds::Cloud;
use crate::runner::Group;
use crate::tally::Tally;
use anyhow::Result;
use farpoint::VoxelGrid;
use farpoint_cuda::{CudaScalar, Gpu, Stream};
use farpoint_generate::Kind;

pub(super) fn groups(quick: bool) -> Vec<Group> {
    let mut groups = vec![
        group::<f32>("a turn of 120,000", Kind::Lidar, 120_000, &[0.05, 0.3]),
        group::<f64>("300,000", Kind::Room, 300_000, &[0.02]),
    ];
    if !quick {
        groups.push(group::<f32>("10,000,000", Kind::Room, 10_000_000, &[0.02]).heavy());
        // Every point in a voxel of its own, and all of them in one.
        groups.push(group::<f64>("3,000,000", Kind::Cube, 3_000_000, &[1e-6, 2.0]).heavy());
    }
    groups
}

fn group<T: CudaScalar>(name: &str, kind: Kind, n: usize, sizes: &'static [f64]) -> Group {
    Group::new(format!("voxels {}, {name}", T::SUFFIX), PARTS, move || {
        let batch = Batch::of(Cloud::<T>::of(kind, n, 1));
        Ok(move |device: &Gpu, part: &str, tally: &mut Tally| {
            let stream = Stream::new(device)?;
            for &size in sizes {
                for sorted in [false, true] {
                    let job = reduced(&VoxelGrid::new(size).sorted(sorted), part);
                    run(&stream, &batch, &job, tally)?;
                }
            }
            Ok(())
        })
    })
}

fn run<T: CudaScalar>(
    stream: &Stream,
    batch: &Batch<T>,
    job: &VoxelGrid,
    tally: &mut Tally,
) -> Result<()> {
    let truth = batch.truth(job)?;
    let rig = Rig::new(stream, batch, job)?;
    let result = rig.check(job, Way::PLAIN, &truth);
    tally.check(format!("{job:?}"), result.map_err(|error| format!("{error:#}")));
    Ok(())
}
