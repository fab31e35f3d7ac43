//! A padded batch of pairs that stays in device memory, for repeated runs.

use super::expected::{Expected, same_indices, same_numbers};
use farpoint::Matcher;
use farpoint_cuda::{Buffer, CudaScalar, DeviceGradients, DevicePairs, Error, Stream};

/// Pairs of clouds of one size per side, and room for all results.
pub(crate) struct Resident<T> {
    sides: [Side<T>; 2],
    pairs: usize,
    rows: [usize; 2],
    dims: usize,
    scratch: [Option<Buffer<u8>>; 2],
}

struct Side<T> {
    points: Buffer<T>,
    distances: Buffer<T>,
    indices: Buffer<i64>,
    grads: Buffer<T>,
    gradients: Buffer<T>,
}

impl<T: CudaScalar> Side<T> {
    fn new(stream: &Stream, rows: usize, dims: usize) -> Result<Self, Error> {
        Ok(Self {
            points: Buffer::new(stream, rows * dims, "points of a test")?,
            distances: Buffer::new(stream, rows, "distances of a test")?,
            indices: Buffer::new(stream, rows, "indices of a test")?,
            grads: Buffer::new(stream, rows, "gradients of distances of a test")?,
            gradients: Buffer::new(stream, rows * dims, "gradients of a test")?,
        })
    }
}

impl<T: CudaScalar> Resident<T> {
    /// Allocates a batch of this shape; scratch memory for `matcher`, or from the pool.
    pub(crate) fn new(
        stream: &Stream,
        pairs: usize,
        rows: [usize; 2],
        dims: usize,
        scratch_for: Option<&Matcher>,
    ) -> Result<Self, Error> {
        let side = |rows: usize| Side::new(stream, pairs * rows, dims);
        let sides = [side(rows[0])?, side(rows[1])?];
        let mut batch = Self { sides, pairs, rows, dims, scratch: [None, None] };
        if let Some(matcher) = scratch_for {
            let device_pairs = batch.device_pairs();
            let bytes = [
                stream.gpu().nearest_scratch_bytes(matcher, &device_pairs),
                stream.gpu().gradients_scratch_bytes(&device_pairs),
            ];
            for (scratch, bytes) in batch.scratch.iter_mut().zip(bytes) {
                *scratch = Some(Buffer::new(stream, bytes, "scratch memory of a test")?);
            }
        }
        Ok(batch)
    }

    /// Overwrites the points of both sides.
    pub(crate) fn write(&mut self, points: [&[T]; 2]) -> Result<(), Error> {
        let [a, b] = &mut self.sides;
        a.points.write(0, points[0])?;
        b.points.write(0, points[1])
    }

    /// Overwrites the gradients of the distances.
    pub(crate) fn write_grads(&mut self, grads: [&[T]; 2]) -> Result<(), Error> {
        let [a, b] = &mut self.sides;
        a.grads.write(0, grads[0])?;
        b.grads.write(0, grads[1])
    }

    fn device_pairs(&self) -> DevicePairs<T> {
        let of = |address: fn(&Side<T>) -> u64| self.sides.each_ref().map(address);
        let points = of(|side| side.points.pointer());
        let distances = of(|side| side.distances.pointer());
        let indices = of(|side| side.indices.pointer());
        let pairs = DevicePairs::padded(points, self.pairs, self.rows, self.dims);
        let scratch = self.scratch_of(0);
        DevicePairs { scratch, ..pairs.outputs(distances.map(Some), indices.map(Some)) }
    }

    fn scratch_of(&self, index: usize) -> Option<(u64, usize)> {
        // No scratch is no array: the driver allocates one byte for it.
        self.scratch[index].as_ref().map(|buffer| (buffer.pointer(), buffer.len()))
    }

    /// Queues a search.
    pub(crate) fn enqueue(&self, stream: &Stream, matcher: &Matcher) -> Result<(), Error> {
        // SAFETY: the arrays have the sizes given, and are freed in the order of their stream,
        // which every caller waits for.
        unsafe { stream.gpu().enqueue_nearest(matcher, stream, &self.device_pairs()) }
    }

    /// Queues the gradients of the search's results.
    pub(crate) fn enqueue_backward(&self, stream: &Stream, matcher: &Matcher) -> Result<(), Error> {
        let of = |address: fn(&Side<T>) -> u64| self.sides.each_ref().map(address);
        let grads = of(|side| side.grads.pointer());
        let gradients = of(|side| side.gradients.pointer());
        let scratch = self.scratch_of(1);
        let request = DeviceGradients {
            scratch,
            ..DeviceGradients::new(self.device_pairs(), grads, gradients)
        };
        // SAFETY: the arrays have the sizes given, and are freed in the order of their stream, which
        // every caller waits for; the indices are those of a search.
        unsafe { stream.gpu().enqueue_gradients(matcher, stream, &request) }
    }

    /// Returns whether the search's results are void: indices -1 and distances NaN, all of them.
    pub(crate) fn is_void(&self) -> Result<bool, Error> {
        for side in &self.sides {
            let found = side.indices.download(side.indices.len())?;
            let distances = side.distances.download(found.len())?;
            if found.iter().any(|&row| row != -1) || distances.iter().any(|d| !d.to_f64().is_nan())
            {
                return Ok(false);
            }
        }
        Ok(true)
    }

    /// Returns whether all gradients are NaN.
    pub(crate) fn gradients_are_void(&self) -> Result<bool, Error> {
        for side in &self.sides {
            let gradients = side.gradients.download(side.gradients.len())?;
            if gradients.iter().any(|number| !number.to_f64().is_nan()) {
                return Ok(false);
            }
        }
        Ok(true)
    }

    /// Synchronizes the buffers' stream, and compares the search's results.
    pub(crate) fn compare(&self, truth: &[Expected<T>; 2]) -> Result<Result<(), String>, Error> {
        for (side, truth) in self.sides.iter().zip(truth) {
            let rows = truth.indices.len();
            let found = side.indices.download(rows)?;
            let distances = side.distances.download(rows)?;
            let same = same_numbers("distances", &distances, &truth.distances)
                .and_then(|()| same_indices("indices", &found, &truth.indices));
            if same.is_err() {
                return Ok(same);
            }
        }
        Ok(Ok(()))
    }

    /// Synchronizes the buffers' stream, and compares the gradients.
    pub(crate) fn compare_gradients(
        &self,
        truth: &[Expected<T>; 2],
    ) -> Result<Result<(), String>, Error> {
        for (side, truth) in self.sides.iter().zip(truth) {
            let found = side.gradients.download(truth.gradients.len())?;
            let same = same_numbers("gradients", &found, &truth.gradients);
            if same.is_err() {
                return Ok(same);
            }
        }
        Ok(Ok(()))
    }
}
