//! Voxels of clouds in device memory, in two steps: found and counted, then written. Arguments shared by calls of one
//! shape are passed once; a step passes nothing but addresses, 0 for none.

use super::Request;
use crate::device::{about, non_null, queue};
use crate::error::{cuda as failed, sampling};
use farpoint::{NonFinite, VoxelGrid};
use farpoint_cuda::{
    CudaScalar, DeviceVoxelPoints, DeviceVoxels, Error, Gpu, Stream, VoxelSummary,
};
use pyo3::prelude::*;
use std::marker::PhantomData;

pub(super) fn add(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add_class::<CudaVoxels>()
}

/// A grid, and clouds of one shape on one device. Lengths and offsets of the request are not read: they are passed as
/// addresses. The Python half passes addresses of arrays of these sizes, offsets
/// within them, and keeps all of it in stream order.
#[pyclass(frozen)]
struct CudaVoxels {
    gpu: Gpu,
    wide: bool,
    clouds: usize,
    /// Rows of a cloud; of concatenated clouds, of all of them.
    rows: usize,
    dims: usize,
    strides: [i64; 2],
    ragged: bool,
    job: VoxelGrid,
    /// Numbers of the summary, `i64`.
    #[pyo3(get)]
    summary: usize,
    /// Bytes of scratch memory of the first step, which the second reads.
    #[pyo3(get)]
    scratch: usize,
}

/// Addresses that both steps share: the stream, points, lengths, offsets, summary, origins, scratch memory.
#[derive(FromPyObject)]
struct StepTuple(u64, u64, u64, u64, u64, u64, u64);

/// Addresses of the outputs: voxels of rows, counts, rows, coordinates, cells, first voxels of clouds, of all clouds
/// one after another; and of the second step's scratch memory.
#[derive(FromPyObject)]
struct OutputTuple(u64, u64, u64, u64, u64, u64, u64);

/// Lowest and highest cell on each axis; empty if unknown.
type Ranges = Vec<(i32, i32)>;

#[pymethods]
impl CudaVoxels {
    /// `shape` is clouds, rows, coordinates; strides are of a row and of an axis.
    #[new]
    fn new(
        py: Python<'_>,
        device: usize,
        wide: bool,
        shape: [usize; 3],
        strides: [i64; 2],
        ragged: bool,
        request: Request,
    ) -> PyResult<Self> {
        let (job, [clouds, rows, dims]) = (request.job()?, shape);
        let gpu = py.detach(|| Gpu::new(device));
        let gpu = gpu.map_err(|error| failed(error, "clouds to be downsampled"))?;
        let summary = VoxelSummary::len(dims);
        let mut new =
            Self { gpu, wide, clouds, rows, dims, strides, ragged, job, summary, scratch: 0 };
        new.scratch = new.gpu.voxel_scratch_bytes(&new.job, new.count());
        Ok(new)
    }

    /// Queues the search for voxels.
    fn find(&self, py: Python<'_>, step: StepTuple) -> PyResult<()> {
        self.queue(py, step.0, |stream| match self.wide {
            false => self.enqueue_voxels::<f32>(stream, &step),
            true => self.enqueue_voxels::<f64>(stream, &step),
        })
    }

    /// Returns the number of voxels and the ranges of their cells, from the summary. Raises for rows that are an error
    /// on the CPU; `locate(row, axis)` returns the coordinate of a row and the origin of its cloud.
    fn read(&self, numbers: Vec<i64>, locate: &Bound<'_, PyAny>) -> PyResult<(usize, Ranges)> {
        let summary = VoxelSummary::new(self.dims, &numbers);
        if let (Some((count, first)), NonFinite::Error) = (summary.non_finite, self.job.non_finite)
        {
            let error = farpoint::Error::NonFinite { first, count, points: self.count() };
            return Err(sampling(error, &self.about()));
        }
        if let Some((axis, row)) = summary.outside {
            let (coordinate, origin) = locate.call1((row, axis))?.extract()?;
            let size = self.size(axis);
            let error = farpoint::Error::VoxelOutOfRange { axis, row, coordinate, size, origin };
            return Err(sampling(error, &self.about()));
        }
        let ranges = summary.ranges.into_iter().map(|cells| cells.into_inner());
        Ok((summary.voxels, ranges.collect()))
    }

    /// Returns the bytes of scratch memory of the second step for this number of voxels.
    fn points_scratch(&self, room: usize) -> usize {
        let (job, count) = (&self.job, self.count());
        match self.wide {
            false => self.gpu.voxel_points_scratch_bytes::<f32>(job, count, room),
            true => self.gpu.voxel_points_scratch_bytes::<f64>(job, count, room),
        }
    }

    /// Queues the writing of the outputs, with room for this number of voxels.
    fn points(
        &self,
        py: Python<'_>,
        step: StepTuple,
        room: usize,
        ranges: Ranges,
        output: OutputTuple,
    ) -> PyResult<()> {
        let output = self.output(room, ranges, &output);
        self.queue(py, step.0, |stream| match self.wide {
            false => self.enqueue_points::<f32>(stream, &step, &output),
            true => self.enqueue_points::<f64>(stream, &step, &output),
        })
    }
}

impl CudaVoxels {
    /// Returns the edge length along an axis, rounded to the precision of the points.
    fn size(&self, axis: usize) -> f64 {
        let size = self.job.size.get(axis).or(self.job.size.first()).copied().unwrap_or(f64::NAN);
        if self.wide { size } else { f64::from(size as f32) }
    }

    fn about(&self) -> String {
        about(self.gpu.ordinal(), self.wide, [self.clouds, self.rows, self.dims])
    }

    /// Rows of all clouds.
    fn count(&self) -> usize {
        if self.ragged { self.rows } else { self.clouds * self.rows }
    }

    fn queue(
        &self,
        py: Python<'_>,
        stream: u64,
        work: impl FnOnce(&Stream) -> Result<(), Error> + Send,
    ) -> PyResult<()> {
        queue(py, &self.gpu, stream, work, || self.about())
    }

    fn request<T: CudaScalar>(&self, step: &StepTuple) -> DeviceVoxels<T> {
        let StepTuple(_, points, lengths, offsets, summary, origins, scratch) = *step;
        DeviceVoxels {
            points,
            strides: self.strides,
            clouds: self.clouds,
            rows: self.rows,
            dims: self.dims,
            offsets: if self.ragged { Some(offsets) } else { None },
            lengths: non_null(lengths),
            summary,
            origins: non_null(origins),
            scratch: (scratch, self.scratch),
            precision: PhantomData,
        }
    }

    fn output(&self, room: usize, ranges: Ranges, addresses: &OutputTuple) -> DeviceVoxelPoints {
        let OutputTuple(inverse, counts, rows, coordinates, cells, starts, scratch) = *addresses;
        DeviceVoxelPoints {
            room,
            inverse: non_null(inverse),
            counts: non_null(counts),
            rows: non_null(rows),
            coordinates: non_null(coordinates),
            cells: non_null(cells),
            starts: non_null(starts),
            narrow: false,
            // Concatenated clouds are one to callers.
            whole: self.ragged,
            ranges: ranges.into_iter().map(|(low, high)| low..=high).collect(),
            scratch: non_null(scratch).map(|scratch| (scratch, self.points_scratch(room))),
        }
    }

    fn enqueue_voxels<T: CudaScalar>(
        &self,
        stream: &Stream,
        step: &StepTuple,
    ) -> Result<(), Error> {
        // SAFETY: the arrays meet the plan's contract, scratch memory of its size among them.
        unsafe { self.gpu.enqueue_voxels(&self.job, stream, &self.request::<T>(step)) }
    }

    fn enqueue_points<T: CudaScalar>(
        &self,
        stream: &Stream,
        step: &StepTuple,
        output: &DeviceVoxelPoints,
    ) -> Result<(), Error> {
        let request = self.request::<T>(step);
        // SAFETY: the arrays meet the plan's contract, outputs with room for as many voxels as it says; the scratch
        // memory is as the first step left it.
        unsafe { self.gpu.enqueue_voxel_points(&self.job, stream, &request, output) }
    }
}
