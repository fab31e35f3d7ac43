//! A batch of clouds in device memory, room between rims for all outputs, and the results of the CPU.

use crate::clouds::Cloud;
use crate::guarded::Guarded;
use crate::pointers::{RowLayout, laid_out};
use anyhow::{Result, ensure};
use farpoint::{NonFinite, Origin, Points, VoxelGrid, Voxels};
use farpoint_cuda::{
    Buffer, CudaScalar, DeviceVoxelPoints, DeviceVoxels, Element, Error, Stream, VoxelSummary,
};
use std::marker::PhantomData;

/// Clouds of any sizes, and how they lie in memory.
#[derive(Debug, Clone)]
pub(super) struct Batch<T> {
    pub(super) clouds: Vec<Cloud<T>>,
    pub(super) layout: RowLayout,
    /// One cloud after another, not padded to the largest.
    pub(super) ragged: bool,
}

/// Options that change how results are passed, not what they are.
#[derive(Debug, Clone, Copy)]
pub(super) struct Way {
    pub(super) narrow: bool,
    pub(super) whole: bool,
    /// Room for so many voxels more than there are, as far as there are rows.
    pub(super) spare: usize,
    /// Ranges of the cells are passed.
    pub(super) ranges: bool,
    /// Scratch memory is passed.
    pub(super) scratch: bool,
}

impl Way {
    pub(super) const PLAIN: Self =
        Self { narrow: false, whole: true, spare: 0, ranges: true, scratch: true };

    /// Ways that differ in everything.
    pub(super) const ALL: [Self; 4] = [
        Self::PLAIN,
        Self { narrow: true, whole: false, spare: 0, ranges: false, scratch: false },
        Self { narrow: false, whole: false, spare: usize::MAX, ranges: false, scratch: true },
        Self { narrow: true, whole: true, spare: 70, ranges: true, scratch: false },
    ];
}

impl<T: CudaScalar> Batch<T> {
    /// Returns a single cloud of dense rows.
    pub(super) fn of(cloud: Cloud<T>) -> Self {
        Self { clouds: vec![cloud], layout: RowLayout::Rows, ragged: false }
    }

    fn longest(&self) -> usize {
        self.clouds.iter().map(Cloud::len).max().unwrap_or(0)
    }

    /// First row of each cloud and the end of the last.
    fn begins(&self) -> Vec<usize> {
        let slots = |cloud: &Cloud<T>| if self.ragged { cloud.len() } else { self.longest() };
        let mut end = 0;
        let mut begins = vec![0];
        for cloud in &self.clouds {
            end += slots(cloud);
            begins.push(end);
        }
        begins
    }

    /// Returns the voxels that the CPU finds in each cloud.
    pub(super) fn truth(&self, job: &VoxelGrid) -> Result<Vec<Voxels<T>>> {
        Ok(job.clone().non_finite(NonFinite::Skip).downsample_batch(&self.clouds)?)
    }
}

/// A batch in device memory, ready for both steps.
pub(super) struct Rig<'a, T> {
    stream: &'a Stream,
    batch: &'a Batch<T>,
    points: Buffer<T>,
    strides: [i64; 2],
    offsets: Buffer<i64>,
    lengths: Buffer<i64>,
    summary: Guarded<i64>,
    origins: Guarded<T>,
    /// Scratch memory of the first step: the second reads it.
    scratch: Guarded<u8>,
    scratch_bytes: usize,
}

/// Outputs of the second step.
pub(super) struct Outputs<T> {
    way: Way,
    room: usize,
    inverse: Integers,
    counts: Integers,
    rows: Integers,
    coordinates: Guarded<T>,
    cells: Guarded<i32>,
    starts: Guarded<i64>,
    scratch: Option<(Guarded<u8>, usize)>,
}

/// Numbers of either width.
enum Integers {
    Narrow(Guarded<i32>),
    Wide(Guarded<i64>),
}

impl Integers {
    fn new(stream: &Stream, len: usize, narrow: bool) -> Result<Self, Error> {
        Ok(match narrow {
            true => Self::Narrow(Guarded::new(stream, len)?),
            false => Self::Wide(Guarded::new(stream, len)?),
        })
    }

    fn pointer(&self) -> u64 {
        match self {
            Self::Narrow(numbers) => numbers.pointer(),
            Self::Wide(numbers) => numbers.pointer(),
        }
    }

    fn read(&self, label: &str) -> Result<Vec<i64>> {
        match self {
            Self::Narrow(numbers) => Ok(numbers.read(label)?.into_iter().map(i64::from).collect()),
            Self::Wide(numbers) => numbers.read(label),
        }
    }
}

impl<'a, T: CudaScalar> Rig<'a, T> {
    pub(super) fn new(stream: &'a Stream, batch: &'a Batch<T>, job: &VoxelGrid) -> Result<Self> {
        let padded = (!batch.ragged).then(|| batch.longest());
        let (data, strides) = laid_out(batch.layout, padded, &batch.clouds);
        let begins: Vec<i64> = batch.begins().into_iter().map(|row| row as i64).collect();
        let lengths: Vec<i64> = batch.clouds.iter().map(|cloud| cloud.len() as i64).collect();
        let (clouds, dims) = (batch.clouds.len(), batch.dims());
        let count = batch.begins()[clouds];
        let scratch_bytes = stream.gpu().voxel_scratch_bytes(job, count);
        Ok(Self {
            stream,
            batch,
            points: Buffer::upload(stream, &data, "points")?,
            strides,
            offsets: Buffer::upload(stream, &begins, "offsets")?,
            lengths: Buffer::upload(stream, &lengths, "lengths")?,
            summary: Guarded::new(stream, VoxelSummary::len(dims))?,
            origins: Guarded::new(stream, clouds * dims)?,
            scratch: Guarded::new(stream, scratch_bytes)?,
            scratch_bytes,
        })
    }

    /// Overwrites the points by those of a batch of the same shape.
    pub(super) fn write(&mut self, batch: &'a Batch<T>) -> Result<()> {
        self.batch = batch;
        let padded = (!batch.ragged).then(|| batch.longest());
        self.points.write(0, &laid_out(batch.layout, padded, &batch.clouds).0)?;
        Ok(())
    }

    fn count(&self) -> usize {
        self.batch.begins()[self.batch.clouds.len()]
    }

    fn request(&self) -> DeviceVoxels<T> {
        let (batch, longest) = (self.batch, self.batch.longest());
        let differ = batch.clouds.iter().any(|cloud| cloud.len() != longest);
        DeviceVoxels {
            points: self.points.pointer(),
            strides: self.strides,
            clouds: batch.clouds.len(),
            rows: if batch.ragged { self.count() } else { longest },
            dims: batch.dims(),
            offsets: batch.ragged.then(|| self.offsets.pointer()),
            lengths: (differ && !batch.ragged).then(|| self.lengths.pointer()),
            summary: self.summary.pointer(),
            origins: Some(self.origins.pointer()),
            scratch: (self.scratch.pointer(), self.scratch_bytes),
            precision: PhantomData,
        }
    }

    /// Queues the first step.
    pub(super) fn enqueue_voxels(&self, job: &VoxelGrid) -> Result<(), Error> {
        // SAFETY: the arrays have the sizes that the request says, and outlive the work, which is waited for.
        unsafe { self.stream.gpu().enqueue_voxels(job, self.stream, &self.request()) }
    }

    /// Reads the summary, once the stream is done.
    pub(super) fn summary(&self) -> Result<VoxelSummary> {
        Ok(VoxelSummary::new(self.batch.dims(), &self.summary.read("summary")?))
    }

    /// Makes room for the outputs.
    pub(super) fn outputs(&self, job: &VoxelGrid, voxels: usize, way: Way) -> Result<Outputs<T>> {
        let (stream, count, dims) = (self.stream, self.count(), self.batch.dims());
        let room = voxels.saturating_add(way.spare).min(count);
        let bytes = stream.gpu().voxel_points_scratch_bytes::<T>(job, count, room);
        let scratch = way.scratch.then(|| Ok::<_, Error>((Guarded::new(stream, bytes)?, bytes)));
        Ok(Outputs {
            way,
            room,
            inverse: Integers::new(stream, count, way.narrow)?,
            counts: Integers::new(stream, room, way.narrow)?,
            rows: Integers::new(stream, room, way.narrow)?,
            coordinates: Guarded::new(stream, room * dims)?,
            cells: Guarded::new(stream, room * dims)?,
            starts: Guarded::new(stream, self.batch.clouds.len() + 1)?,
            scratch: scratch.transpose()?,
        })
    }

    /// Queues the second step.
    pub(super) fn enqueue_points(
        &self,
        job: &VoxelGrid,
        outputs: &Outputs<T>,
        summary: Option<&VoxelSummary>,
    ) -> Result<(), Error> {
        let Outputs { way, room, .. } = *outputs;
        let ranges = summary.filter(|_| way.ranges).map(|summary| summary.ranges.clone());
        let output = DeviceVoxelPoints {
            room,
            inverse: Some(outputs.inverse.pointer()),
            counts: Some(outputs.counts.pointer()),
            rows: Some(outputs.rows.pointer()),
            coordinates: Some(outputs.coordinates.pointer()),
            cells: Some(outputs.cells.pointer()),
            starts: Some(outputs.starts.pointer()),
            narrow: way.narrow,
            whole: way.whole,
            ranges: ranges.unwrap_or_default(),
            scratch: outputs.scratch.as_ref().map(|(memory, bytes)| (memory.pointer(), *bytes)),
        };
        // SAFETY: as above; the outputs have the sizes of the room, and the first step's memory is untouched.
        unsafe {
            self.stream.gpu().enqueue_voxel_points(job, self.stream, &self.request(), &output)
        }
    }

    /// Runs both steps, and compares everything.
    pub(super) fn check(&self, job: &VoxelGrid, way: Way, truth: &[Voxels<T>]) -> Result<()> {
        self.enqueue_voxels(job)?;
        self.stream.synchronize()?;
        let summary = self.summary()?;
        let outputs = self.outputs(job, summary.voxels, way)?;
        self.enqueue_points(job, &outputs, Some(&summary))?;
        self.stream.synchronize()?;
        self.compare(job, &outputs, truth)
    }

    /// Compares everything, once the stream is done.
    pub(super) fn compare(
        &self,
        job: &VoxelGrid,
        outputs: &Outputs<T>,
        truth: &[Voxels<T>],
    ) -> Result<()> {
        self.compare_summary(job, truth)?;
        let (begins, way) = (self.batch.begins(), outputs.way);
        let found = Found::read(outputs)?;
        if let Some((memory, _)) = &outputs.scratch {
            memory.read("scratch memory of the second step")?;
        }
        let (mut first, mut starts) = (0, vec![0]);
        for (cloud, truth) in truth.iter().enumerate() {
            let [voxel, row] = if way.whole { [first, begins[cloud]] } else { [0; 2] };
            let part = found.part(first..first + truth.len(), self.batch.dims());
            part.compare(truth, row as i64)
                .map_err(|error| error.context(format!("cloud {cloud}")))?;
            let inverse = &found.inverse[begins[cloud]..begins[cloud + 1]];
            compare_inverse(inverse, truth, voxel as i64)?;
            first += truth.len();
            starts.push(first as i64);
        }
        ensure!(found.starts == starts, "starts {:?}, not {starts:?}", found.starts);
        found.part(first..outputs.room, self.batch.dims()).is_unused()
    }

    fn compare_summary(&self, job: &VoxelGrid, truth: &[Voxels<T>]) -> Result<()> {
        let (summary, begins, dims) = (self.summary()?, self.batch.begins(), self.batch.dims());
        self.scratch.read("scratch memory of the first step")?;
        let voxels: usize = truth.iter().map(Voxels::len).sum();
        ensure!(summary.voxels == voxels, "{} voxels, not {voxels}", summary.voxels);
        ensure!(summary.outside.is_none(), "outside: {:?}", summary.outside);
        let is_bad = |cloud: &Cloud<T>, row: usize| {
            (0..dims).any(|axis| !cloud.coordinate(row, axis).is_finite())
        };
        let bad = self.batch.clouds.iter().zip(&begins).flat_map(|(cloud, begin)| {
            (0..cloud.len()).filter(|&row| is_bad(cloud, row)).map(move |row| begin + row)
        });
        let bad: Vec<usize> = bad.collect();
        let non_finite = bad.first().map(|&first| (bad.len(), first));
        ensure!(
            summary.non_finite == non_finite,
            "non-finite rows {:?}, not {non_finite:?}",
            summary.non_finite
        );
        if job.sorted && voxels > 0 {
            let cells = |axis: usize| {
                truth.iter().flat_map(move |voxels| voxels.cells.iter().skip(axis).step_by(dims))
            };
            let ranges = (0..dims).map(|axis| {
                let (low, high) = (cells(axis).min(), cells(axis).max());
                low.copied().unwrap_or(0)..=high.copied().unwrap_or(0)
            });
            let ranges: Vec<_> = ranges.collect();
            ensure!(summary.ranges == ranges, "cells {:?}, not {ranges:?}", summary.ranges);
        }
        if job.origin == Origin::Min {
            let origins = self.origins.read("origins")?;
            let expected: Vec<T> = truth.iter().flat_map(|voxels| voxels.origin.clone()).collect();
            ensure!(bits(&origins) == bits(&expected), "origins {origins:?}, not {expected:?}");
        }
        Ok(())
    }
}

impl<T: CudaScalar> Batch<T> {
    fn dims(&self) -> usize {
        self.clouds.first().map_or(3, |cloud| cloud.dims)
    }
}

/// Bits of numbers: of every precision, those in double precision.
fn bits<T: CudaScalar>(numbers: &[T]) -> Vec<u64> {
    numbers.iter().map(|number| number.to_f64().to_bits()).collect()
}

/// Outputs in host memory.
struct Found<T> {
    inverse: Vec<i64>,
    counts: Vec<i64>,
    rows: Vec<i64>,
    coordinates: Vec<T>,
    cells: Vec<i32>,
    starts: Vec<i64>,
}

/// Some of the voxels.
struct Part<'a, T> {
    counts: &'a [i64],
    rows: &'a [i64],
    coordinates: &'a [T],
    cells: &'a [i32],
}

impl<T: CudaScalar + Element> Found<T> {
    fn read(outputs: &Outputs<T>) -> Result<Self> {
        Ok(Self {
            inverse: outputs.inverse.read("voxels of rows")?,
            counts: outputs.counts.read("counts")?,
            rows: outputs.rows.read("rows")?,
            coordinates: outputs.coordinates.read("coordinates")?,
            cells: outputs.cells.read("cells")?,
            starts: outputs.starts.read("starts")?,
        })
    }

    fn part(&self, voxels: std::ops::Range<usize>, dims: usize) -> Part<'_, T> {
        let numbers = voxels.start * dims..voxels.end * dims;
        Part {
            counts: &self.counts[voxels.clone()],
            rows: &self.rows[voxels],
            coordinates: &self.coordinates[numbers.clone()],
            cells: &self.cells[numbers],
        }
    }
}

impl<T: CudaScalar> Part<'_, T> {
    /// Compares with a cloud whose rows count from `first`.
    fn compare(&self, truth: &Voxels<T>, first: i64) -> Result<()> {
        let dims = truth.dims;
        for voxel in 0..truth.len() {
            let numbers = voxel * dims..(voxel + 1) * dims;
            let row = first + i64::from(truth.rows[voxel]);
            let (cell, expected) = (&self.cells[numbers.clone()], &truth.cells[numbers.clone()]);
            ensure!(cell == expected, "voxel {voxel}: cell {cell:?}, not {expected:?}");
            let (count, expected) = (self.counts[voxel], i64::from(truth.counts[voxel]));
            ensure!(count == expected, "voxel {voxel}: {count} points, not {expected}");
            ensure!(self.rows[voxel] == row, "voxel {voxel}: row {}, not {row}", self.rows[voxel]);
            let (found, expected) =
                (&self.coordinates[numbers.clone()], &truth.coordinates[numbers]);
            ensure!(bits(found) == bits(expected), "voxel {voxel}: {found:?}, not {expected:?}");
        }
        Ok(())
    }

    /// Checks the room for voxels that there are not.
    fn is_unused(&self) -> Result<()> {
        let zeros =
            self.counts.iter().all(|&count| count == 0) && self.cells.iter().all(|&x| x == 0);
        let coordinates = bits(self.coordinates).iter().all(|&bits| bits == 0);
        ensure!(zeros && coordinates, "numbers after the last voxel are not 0");
        ensure!(self.rows.iter().all(|&row| row == -1), "rows after the last voxel are not -1");
        Ok(())
    }
}

/// Compares the voxels of a cloud's rows, which count from `first`; padding is in none.
fn compare_inverse<T>(found: &[i64], truth: &Voxels<T>, first: i64) -> Result<()> {
    let expected = truth.inverse.iter().map(|&voxel| match voxel {
        Voxels::<T>::NONE => -1,
        voxel => first + i64::from(voxel),
    });
    for (row, (&found, expected)) in
        found.iter().zip(expected.chain(std::iter::repeat(-1))).enumerate()
    {
        ensure!(found == expected, "row {row}: voxel {found}, not {expected}");
    }
    Ok(())
}
