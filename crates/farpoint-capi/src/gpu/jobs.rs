//! Jobs on clouds in the memory of a GPU: conversion of C's structures to those of farpoint-cuda.

use super::{
    farpoint_cuda_batch, farpoint_cuda_neighbors, farpoint_cuda_pairs, farpoint_cuda_side,
};
use crate::arguments::{number, optional, places, structure};
use crate::options::{
    farpoint_match_options, farpoint_run_options, farpoint_sample_options, farpoint_search_options,
    run,
};
use crate::run::{Place, Precision, gpu};
use crate::status::{Failure, invalid};
use farpoint::{Matcher, NonFinite, Sampler, Searcher};
use farpoint_cuda::{
    CudaScalar, DeviceBatch, DeviceClouds, DevicePairs, DeviceSearch, DeviceSide, Gpu, Stream,
};
use std::ffi::c_void;
use std::marker::PhantomData;

/// # Safety
/// A number can be written at `count`, or it is NULL.
pub(crate) unsafe fn device_count(count: *mut usize) -> Result<(), Failure> {
    // SAFETY: by this function's contract.
    let place = unsafe { places(count, 1, "the pointer to the number") }?;
    place[0].write(0);
    place[0].write(farpoint_cuda::device_count()?);
    Ok(())
}

/// Borrows the caller's stream.
///
/// # Safety
/// It is one of the GPU's primary context, and stays one until the last clone is dropped.
unsafe fn stream(gpu: &Gpu, stream: *mut c_void) -> Stream {
    // SAFETY: by this function's contract; cudaStream_t and CUstream are the same address.
    unsafe { Stream::borrowed(gpu, stream.addr() as u64) }
}

/// # Safety
/// Same as `farpoint_cuda_check_stream`.
pub(crate) unsafe fn check_stream(number: i32, raw: *mut c_void) -> Result<(), Failure> {
    // SAFETY: by this function's contract.
    Ok(unsafe { stream(&gpu(number)?, raw) }.check()?)
}

/// Returns the GPU of a job on device memory; refuses options of the CPU.
///
/// # Safety
/// NULL, or as large as its first member says.
unsafe fn gpu_of(options: *const farpoint_run_options) -> Result<Gpu, Failure> {
    // SAFETY: by this function's contract.
    let (requested, run) = unsafe { (optional(options)?, run(options)?) };
    let Some(options) = requested else {
        return Err(invalid(
            "run is NULL, which is the CPU; pass one with device FARPOINT_CUDA (1)",
        ));
    };
    let members = [
        (options.threads != 0, "threads"),
        (number(options.instruction_set) != 0, "instruction_set"),
        (options.progress.is_some(), "progress"),
        (run.non_finite != NonFinite::Error, "non_finite"),
    ];
    if let Some((_, member)) = members.iter().find(|(members, _)| *members) {
        return Err(invalid(format!("{member} is not supported for device memory; leave it 0")));
    }
    match run.place {
        Place::Gpu(gpu) => Ok(gpu),
        Place::Cpu(_) => Err(invalid("device is the CPU; set it to FARPOINT_CUDA (1)")),
    }
}

/// # Safety
/// Same as `gpu_of`, of what `run` points to; the algorithm is as the header says.
unsafe fn sampler(options: &farpoint_sample_options) -> Result<(Gpu, Sampler), Failure> {
    let members = [
        (options.start_count != 0 || options.random_start != 0, "starts", "those of the batch"),
        (!options.rows.is_null() || options.row_count != 0, "rows", "gathered points"),
        (!options.mask.is_null(), "mask", "gathered points"),
    ];
    if let Some((_, member, instead)) = members.iter().find(|(members, ..)| *members) {
        let text = format!("{member} is for host memory; use {instead}");
        return Err(invalid(text));
    }
    // SAFETY: by this function's contract, and there are no starts.
    unsafe { Ok((gpu_of(options.run)?, options.job(NonFinite::Error)?)) }
}

/// # Safety
/// Same as `gpu_of`, of what `run` points to.
unsafe fn matcher(options: &farpoint_match_options) -> Result<(Gpu, Matcher), Failure> {
    // SAFETY: by this function's contract.
    Ok((unsafe { gpu_of(options.run) }?, options.job(NonFinite::Error)?))
}

/// # Safety
/// Same as `gpu_of`, of what `run` points to.
unsafe fn searcher(options: &farpoint_search_options) -> Result<(Gpu, Searcher), Failure> {
    // SAFETY: by this function's contract.
    Ok((unsafe { gpu_of(options.run) }?, options.job(NonFinite::Error)?))
}

/// Runs an expression in the precision of the clouds; flags must be 0.
macro_rules! typed {
    ($input:expr, $T:ident => $work:expr) => {
        match ($input.flags, Precision::of($input.scalar)?) {
            (0, Precision::Single) => {
                type $T = f32;
                $work
            }
            (0, Precision::Double) => {
                type $T = f64;
                $work
            }
            (flags, _) => Err(invalid(format!("flags are {flags}; use 0"))),
        }
    };
}

/// # Safety
/// Same as `farpoint_cuda_sample`.
pub(crate) unsafe fn sample(
    batch: *const farpoint_cuda_batch,
    options: *const farpoint_sample_options,
    raw: *mut c_void,
) -> Result<(), Failure> {
    // SAFETY: by this function's contract.
    let (batch, options) = unsafe { (structure(batch)?, structure(options)?) };
    // SAFETY: by this function's contract.
    let (gpu, job) = unsafe { sampler(&options) }?;
    // SAFETY: by this function's contract: the stream, and all that the batch describes.
    typed!(batch, T => unsafe {
        Ok(gpu.enqueue_sample::<T>(&job, &stream(&gpu, raw), &batch.to_device()?)?)
    })
}

/// # Safety
/// Same as `farpoint_cuda_sample_scratch`.
pub(crate) unsafe fn sample_scratch(
    batch: *const farpoint_cuda_batch,
    options: *const farpoint_sample_options,
    bytes: *mut usize,
) -> Result<(), Failure> {
    // SAFETY: by this function's contract.
    let (batch, options, place) =
        unsafe { (structure(batch)?, structure(options)?, places(bytes, 1, "bytes")?) };
    // SAFETY: by this function's contract.
    let (gpu, job) = unsafe { sampler(&options) }?;
    let samples = job.amount.limit(batch.rows)?;
    let bytes: Result<usize, Failure> = typed!(batch, T => Ok(gpu.sample_scratch_bytes::<T>(
        &job, batch.clouds, batch.rows, batch.dimensions, samples,
    )));
    place[0].write(bytes?);
    Ok(())
}

/// # Safety
/// Same as `farpoint_cuda_check_rows`.
pub(crate) unsafe fn check_rows(
    batch: *const farpoint_cuda_batch,
    number: i32,
    raw: *mut c_void,
    [counts, firsts]: [*mut i64; 2],
) -> Result<(), Failure> {
    // SAFETY: by this function's contract.
    let batch = unsafe { structure(batch) }?;
    if counts.is_null() || firsts.is_null() {
        return Err(invalid("the address of counts or firsts is NULL"));
    }
    let gpu = gpu(number)?;
    // SAFETY: by this function's contract: the stream, the batch, and both arrays.
    typed!(batch, T => unsafe {
        let stream = stream(&gpu, raw);
        let (counts, firsts) = (counts.addr() as u64, firsts.addr() as u64);
        Ok(farpoint_cuda::find_non_finite::<T>(&stream, &batch.to_device()?, counts, firsts)?)
    })
}

/// # Safety
/// Same as `farpoint_cuda_nearest`.
pub(crate) unsafe fn nearest(
    pairs: *const farpoint_cuda_pairs,
    options: *const farpoint_match_options,
    raw: *mut c_void,
) -> Result<(), Failure> {
    // SAFETY: by this function's contract.
    let (pairs, options) = unsafe { (structure(pairs)?, structure(options)?) };
    // SAFETY: by this function's contract.
    let (gpu, job) = unsafe { matcher(&options) }?;
    // SAFETY: by this function's contract: the stream, and all that the pairs describe.
    typed!(pairs, T => unsafe {
        Ok(gpu.enqueue_nearest::<T>(&job, &stream(&gpu, raw), &pairs.to_device()?)?)
    })
}

/// # Safety
/// Same as `farpoint_cuda_nearest_scratch`.
pub(crate) unsafe fn nearest_scratch(
    pairs: *const farpoint_cuda_pairs,
    options: *const farpoint_match_options,
    bytes: *mut usize,
) -> Result<(), Failure> {
    // SAFETY: by this function's contract.
    let (pairs, options, place) =
        unsafe { (structure(pairs)?, structure(options)?, places(bytes, 1, "bytes")?) };
    // SAFETY: by this function's contract.
    let (gpu, job) = unsafe { matcher(&options) }?;
    let bytes: Result<usize, Failure> =
        typed!(pairs, T => Ok(gpu.nearest_scratch_bytes::<T>(&job, &pairs.to_device()?)));
    place[0].write(bytes?);
    Ok(())
}

/// # Safety
/// Same as `farpoint_cuda_search`.
pub(crate) unsafe fn search(
    neighbors: *const farpoint_cuda_neighbors,
    options: *const farpoint_search_options,
    raw: *mut c_void,
) -> Result<(), Failure> {
    // SAFETY: by this function's contract.
    let (neighbors, options) = unsafe { (structure(neighbors)?, structure(options)?) };
    // SAFETY: by this function's contract.
    let (gpu, job) = unsafe { searcher(&options) }?;
    // SAFETY: by this function's contract: the stream, and all that the search describes.
    typed!(neighbors, T => unsafe {
        Ok(gpu.enqueue_search::<T>(&job, &stream(&gpu, raw), &neighbors.to_device()?)?)
    })
}

/// # Safety
/// Same as `farpoint_cuda_search_scratch`.
pub(crate) unsafe fn search_scratch(
    neighbors: *const farpoint_cuda_neighbors,
    options: *const farpoint_search_options,
    bytes: *mut usize,
) -> Result<(), Failure> {
    // SAFETY: by this function's contract.
    let (neighbors, options, place) =
        unsafe { (structure(neighbors)?, structure(options)?, places(bytes, 1, "bytes")?) };
    // SAFETY: by this function's contract.
    let (gpu, job) = unsafe { searcher(&options) }?;
    job.check()?;
    let bytes: Result<usize, Failure> =
        typed!(neighbors, T => Ok(gpu.search_scratch_bytes::<T>(&job, &neighbors.to_device()?)));
    place[0].write(bytes?);
    Ok(())
}

/// Returns an address in device memory, unless it is NULL.
fn non_null<T>(address: *const T) -> Option<u64> {
    (!address.is_null()).then_some(address.addr() as u64)
}

/// Converts strides from bytes to numbers of this type.
fn strides<T>(bytes: [isize; 2]) -> Result<[i64; 2], Failure> {
    let size = size_of::<T>() as isize;
    match bytes.iter().find(|&&bytes| bytes % size != 0) {
        Some(bytes) => Err(invalid(format!(
            "a stride of {bytes} bytes in device memory; strides there are multiples of {size} bytes"
        ))),
        None => Ok(bytes.map(|bytes| (bytes / size) as i64)),
    }
}

fn scratch(address: *mut c_void, bytes: usize) -> Option<(u64, usize)> {
    non_null(address).map(|address| (address, bytes))
}

impl farpoint_cuda_batch {
    fn to_device<T: CudaScalar>(&self) -> Result<DeviceBatch<T>, Failure> {
        Ok(DeviceBatch {
            points: self.points.addr() as u64,
            strides: strides::<T>([self.point_stride, self.axis_stride])?,
            dims: self.dimensions,
            clouds: self.clouds,
            rows: self.rows,
            offsets: non_null(self.offsets),
            lengths: non_null(self.lengths),
            samples: non_null(self.samples),
            slots: non_null(self.slots),
            starts: non_null(self.starts).map(|starts| (starts, self.start_count)),
            indices: self.indices.addr() as u64,
            values: non_null(self.squared_distances),
            covering: non_null(self.squared_covering_radii),
            chosen: non_null(self.counts),
            scratch: scratch(self.scratch, self.scratch_size),
            precision: PhantomData,
        })
    }
}

impl farpoint_cuda_side {
    fn side<T>(&self, distances: *mut c_void, indices: *mut i64) -> Result<DeviceSide, Failure> {
        Ok(DeviceSide {
            points: self.points.addr() as u64,
            strides: strides::<T>([self.point_stride, self.axis_stride])?,
            rows: self.rows,
            offsets: non_null(self.offsets),
            lengths: non_null(self.lengths),
            distances: non_null(distances),
            indices: non_null(indices),
        })
    }

    fn clouds<T>(&self) -> Result<DeviceClouds, Failure> {
        Ok(DeviceClouds {
            points: self.points.addr() as u64,
            strides: strides::<T>([self.point_stride, self.axis_stride])?,
            rows: self.rows,
            offsets: non_null(self.offsets),
            lengths: non_null(self.lengths),
            index: None,
        })
    }
}

impl farpoint_cuda_pairs {
    fn to_device<T: CudaScalar>(&self) -> Result<DevicePairs<T>, Failure> {
        let a = self.a.side::<T>(self.raw_distances_a, self.indices_a)?;
        let b = self.b.side::<T>(self.raw_distances_b, self.indices_b)?;
        Ok(DevicePairs {
            sides: [a, b],
            dims: self.dimensions,
            pairs: self.pairs,
            scratch: scratch(self.scratch, self.scratch_size),
            precision: PhantomData,
        })
    }
}

impl farpoint_cuda_neighbors {
    fn to_device<T: CudaScalar>(&self) -> Result<DeviceSearch<T>, Failure> {
        let (x, y) = (self.x.clouds::<T>()?, self.y.clouds::<T>()?);
        let search = DeviceSearch::new(x, y, self.clouds, self.dimensions).outputs(
            non_null(self.raw_distances),
            non_null(self.indices),
            non_null(self.counts),
        );
        Ok(DeviceSearch { scratch: scratch(self.scratch, self.scratch_size), ..search })
    }
}
