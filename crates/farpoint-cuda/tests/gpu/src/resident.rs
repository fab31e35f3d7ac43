//! A padded batch that stays in device memory, for repeated runs.

use crate::clouds::Cloud;
use crate::truth::{first_difference, on_cpu};
use anyhow::Result;
use farpoint::Sampler;
use farpoint_cuda::{Buffer, CudaScalar, DeviceBatch, Error, Gpu, Stream};

/// Clouds of one size, and room for the result.
pub(crate) struct Resident<T> {
    points: Buffer<T>,
    indices: Buffer<i64>,
    values: Buffer<T>,
    scratch: Option<Buffer<u8>>,
    shape: [usize; 3],
    samples: usize,
}

impl<T: CudaScalar> Resident<T> {
    /// Allocates a batch of this shape; scratch memory for `sampler`, or from the pool.
    pub(crate) fn new(
        stream: &Stream,
        shape: [usize; 3],
        samples: usize,
        scratch_for: Option<&Sampler>,
    ) -> Result<Self, Error> {
        let [b, n, d] = shape;
        let bytes = |sampler: &Sampler| {
            let bytes = stream.gpu().sample_scratch_bytes::<T>(sampler, b, n, d, samples);
            Buffer::new(stream, bytes, "scratch memory of a test")
        };
        Ok(Self {
            points: Buffer::new(stream, b * n * d, "points of a test")?,
            indices: Buffer::new(stream, b * samples, "indices of a test")?,
            values: Buffer::new(stream, b * samples, "values of a test")?,
            scratch: scratch_for.map(bytes).transpose()?,
            shape,
            samples,
        })
    }

    /// Overwrites the points.
    pub(crate) fn write(&mut self, data: &[T]) -> Result<(), Error> {
        self.points.write(0, data)
    }

    /// Queues a run.
    pub(crate) fn enqueue(
        &self,
        device: &Gpu,
        stream: &Stream,
        sampler: &Sampler,
    ) -> Result<(), Error> {
        let batch = DeviceBatch {
            values: Some(self.values.pointer()),
            scratch: self.scratch.as_ref().map(|buffer| (buffer.pointer(), buffer.len())),
            ..DeviceBatch::<T>::padded(self.points.pointer(), self.shape, self.indices.pointer())
        };
        // SAFETY: the arrays have the sizes given, and are freed in the order of their stream,
        // which every caller waits for.
        unsafe { device.enqueue_sample(sampler, stream, &batch) }
    }

    /// Returns whether indices are -1 and values NaN, all of them.
    pub(crate) fn is_void(&self) -> Result<bool, Error> {
        let count = self.shape[0] * self.samples;
        let (indices, values) = (self.indices.download(count)?, self.values.download(count)?);
        Ok(indices.iter().all(|&row| row == -1)
            && values.iter().all(|value| value.to_f64().is_nan()))
    }

    /// Synchronizes the buffers' stream, and compares.
    pub(crate) fn compare(&self, expected: &Expected<T>) -> Result<Result<(), String>, Error> {
        let count = self.shape[0] * self.samples;
        let indices = self.indices.download(count)?.into_iter().map(|row| row as usize);
        let (indices, values) = (indices.collect::<Vec<_>>(), self.values.download(count)?);
        Ok(expected.compare(&indices, &values))
    }
}

/// The CPU's results, all clouds one after another.
pub(crate) struct Expected<T> {
    pub(crate) data: Vec<T>,
    indices: Vec<usize>,
    values: Vec<T>,
}

impl<T: CudaScalar> Expected<T> {
    /// Compares indices and squared distances with it.
    pub(crate) fn compare(&self, indices: &[usize], values: &[T]) -> Result<(), String> {
        first_difference(indices, &self.indices, values, &self.values)
    }

    /// Takes `count` samples of each cloud from its first row.
    pub(crate) fn new(clouds: &[Cloud<T>], count: usize) -> Result<Self> {
        let longest = clouds.iter().map(|cloud| cloud.data.len() / cloud.dims).max().unwrap_or(0);
        let samples = on_cpu(Sampler::count(count), longest).sample_batch(clouds)?;
        Ok(Self {
            data: clouds.iter().flat_map(|cloud| cloud.data.iter().copied()).collect(),
            indices: samples.iter().flat_map(|sample| sample.indices.iter().copied()).collect(),
            values: samples.iter().flat_map(|s| s.squared_distances.iter().copied()).collect(),
        })
    }
}
