//! Voxels of clouds in host memory: check, upload, both steps, download.

use super::grid::DeviceVoxels;
use super::points::DeviceVoxelPoints;
use super::summary::VoxelSummary;
use crate::gpus::spread;
use crate::input::invalid_result;
use crate::memory::Buffer;
use crate::progress::Watch;
use crate::{CudaScalar, Error, Gpu, Stream};
use farpoint::backend::{FoundVoxels, PreparedVoxels, memory as fallible};
use farpoint::{Observer, Origin, Points, VoxelGrid, Voxels};
use std::marker::PhantomData;

/// Finds the voxels of one cloud.
pub(crate) fn downsample<T: CudaScalar>(
    gpu: &Gpu,
    job: &VoxelGrid,
    points: &dyn Points<T>,
    observer: Option<Observer<'_>>,
) -> Result<Voxels<T>, Error> {
    let cloud = PreparedVoxels::new(job, points)?;
    let watch = Watch::new(observer, cloud.points(), farpoint::Error::SearchCancelled);
    let found = find(gpu, job, &cloud, &watch)?;
    Ok(cloud.voxels(found))
}

/// [`downsample`] for many clouds, on one GPU or several.
pub(crate) fn downsample_batch<T: CudaScalar>(
    gpus: &[Gpu],
    job: &VoxelGrid,
    clouds: &[&dyn Points<T>],
    observer: Option<Observer<'_>>,
) -> Result<Vec<Voxels<T>>, Error> {
    let clouds = PreparedVoxels::batch(job, clouds)?;
    let total = clouds.iter().map(PreparedVoxels::points).sum();
    let watch = Watch::new(observer, total, farpoint::Error::SearchCancelled);
    let found = spread(gpus, &clouds, PreparedVoxels::points, |gpu, clouds| {
        clouds.iter().map(|cloud| find(gpu, job, cloud, &watch)).collect()
    })?;
    Ok(clouds.into_iter().zip(found).map(|(cloud, found)| cloud.voxels(found)).collect())
}

/// Finds the voxels of a checked cloud.
fn find<T: CudaScalar>(
    gpu: &Gpu,
    job: &VoxelGrid,
    cloud: &PreparedVoxels<T>,
    watch: &Watch<'_>,
) -> Result<FoundVoxels<T>, Error> {
    let (count, dims) = (cloud.points(), cloud.dims());
    let mut part = watch.part(count);
    part.reach(0)?;
    if count == 0 {
        return Ok(empty());
    }
    // The origin is known by now, and exactly the same in double precision.
    let origin = (0..dims).map(|axis| cloud.origin(axis).to_f64()).collect();
    let job = &job.clone().origin(Origin::At(origin));
    let stream = Stream::new(gpu)?;
    let mut points = Buffer::<T>::new(&stream, count * dims, "the points")?;
    for axis in 0..dims {
        points.write(axis * count, cloud.axis(axis))?;
    }
    let bytes = gpu.voxel_scratch_bytes(job, count);
    let scratch = Buffer::<u8>::new(&stream, bytes, "scratch memory")?;
    let summary = Buffer::<i64>::new(&stream, VoxelSummary::len(dims), "the number of voxels")?;
    let voxels = DeviceVoxels {
        points: points.pointer(),
        strides: [1, count as i64],
        clouds: 1,
        rows: count,
        dims,
        offsets: None,
        lengths: None,
        summary: summary.pointer(),
        origins: None,
        scratch: (scratch.pointer(), bytes),
        precision: PhantomData,
    };
    // SAFETY: the buffers have the sizes that the request says, and are freed in stream order.
    unsafe { gpu.enqueue_voxels(job, &stream, &voxels)? };
    let numbers = summary.download(summary.len())?;
    let room = VoxelSummary::new(dims, &numbers).voxels;
    if room > count {
        // Never use a kernel's number as a size unchecked.
        return Err(invalid_result("voxels", numbers[0]));
    }
    let found = download(gpu, job, &stream, &voxels, cloud, room)?;
    part.end()?;
    Ok(found)
}

fn empty<T>() -> FoundVoxels<T> {
    let (of, counts, chosen) = (Vec::new(), Vec::new(), Vec::new());
    FoundVoxels { of, counts, chosen, coordinates: Vec::new(), cells: Vec::new() }
}

/// Runs the second step and downloads its results.
fn download<T: CudaScalar>(
    gpu: &Gpu,
    job: &VoxelGrid,
    stream: &Stream,
    voxels: &DeviceVoxels<T>,
    cloud: &PreparedVoxels<T>,
    room: usize,
) -> Result<FoundVoxels<T>, Error> {
    let (count, dims) = (voxels.rows, voxels.dims);
    let of = Buffer::<i32>::new(stream, count, "the voxels of the points")?;
    let counts = Buffer::<i32>::new(stream, room, "the numbers of points")?;
    let chosen = Buffer::<i32>::new(stream, room, "the chosen points")?;
    let coordinates = Buffer::<T>::new(stream, room * dims, "the coordinates")?;
    let cells = Buffer::<i32>::new(stream, room * dims, "the cells")?;
    let output = DeviceVoxelPoints {
        room,
        inverse: Some(of.pointer()),
        counts: Some(counts.pointer()),
        rows: Some(chosen.pointer()),
        coordinates: Some(coordinates.pointer()),
        cells: Some(cells.pointer()),
        starts: None,
        narrow: true,
        whole: true,
        ranges: (0..dims).map(|axis| cloud.cells(axis)).collect(),
        scratch: None,
    };
    // SAFETY: as above; what the first step left is untouched.
    unsafe { gpu.enqueue_voxel_points(job, stream, voxels, &output)? };
    stream.wait("voxels")?;
    let found = FoundVoxels {
        of: unsigned(of.download(count)?),
        counts: unsigned(counts.download(room)?),
        chosen: unsigned(chosen.download(room)?),
        coordinates: coordinates.download(room * dims)?,
        cells: cells.download(room * dims)?,
    };
    match found.chosen.iter().find(|&&point| point as usize >= count) {
        None => Ok(found),
        Some(&point) => Err(invalid_result("voxels", i64::from(point))),
    }
}

/// Converts numbers of the device, -1 for none, to unsigned ones.
fn unsigned(numbers: Vec<i32>) -> Vec<u32> {
    fallible::collected(numbers.into_iter().map(|number| number as u32))
}
