//! Jobs on clouds in device memory, with results there.

use super::algorithm::Choice;
use super::batch::{Batch, Shape, never, stop_at};
use crate::{CudaScalar, Error, Gpu, Stream, input};
use farpoint::{Amount, Sampler, Start};
use std::marker::PhantomData;

/// Clouds in device memory, with the addresses of their samples. All addresses are of device memory,
/// and all numbers in it are `i64`, except coordinates and distances, which are of type `T`.
///
/// # Units and shapes
/// Coordinate `a` of row `i` of the batch is at `points[i * strides[0] + a * strides[1]]`,
/// strides counting numbers. Cloud `b` is
///
/// * rows `b * rows ..` of a padded batch, the first `lengths[b]` of them if lengths are given, which are clamped to
///   `0..=rows`;
/// * rows `offsets[b] .. offsets[b + 1]` of a ragged one.
///
/// The number of samples per cloud follows from the [`Sampler`]'s amount (a ratio is of `rows`), or
/// is `samples[b]` if given, and at most the number of its rows. They are written from slot
/// `b * amount` on, or from `slots[b]` on; slots left over get index -1 and distance 0: up to the
/// amount, or with `samples` only up to `samples[b]`, and later slots are left unchanged.
/// Indices count from the cloud's own first row; distances are squared, infinite for start points.
///
/// # Checks
/// Everything known to the host is checked: sizes, null pointers, impossible amounts. Device memory is not read:
/// starts must be distinct and within their cloud, and no coordinate of a cloud may be NaN or infinite
/// ([`find_non_finite`](crate::find_non_finite) finds those), or the result is meaningless.
///
/// # Safety
/// The caller must ensure that memory is allocated as described, and neither freed nor written
/// otherwise until the stream has finished, scratch memory included; and that offsets, starts and so on
/// are as described above, because kernels would otherwise access memory out of bounds. If the call is
/// captured into a graph, this holds for every launch of the graph.
///
/// # Order and graphs
/// [`Gpu::enqueue_sample`] queues work on the stream and returns. It copies nothing to or from the host
/// and does not synchronize, so that it can be captured into a CUDA graph. Unless given, scratch memory
/// comes from the GPU's stream-ordered pool (inside a graph: from the graph) and is freed after the
/// last kernel. The first use of an algorithm loads its kernels ([`Gpu::warm_up`]).
///
/// # Timeouts
/// Blocks that wait for each other in vain leave after [`Gpu::patience`]; see [`Error::GaveUp`] for the content of
/// the result then. [`Stream::synchronize`] and [`Stream::check`] return that error.
#[derive(Debug, Clone, Copy)]
pub struct DeviceBatch<T> {
    /// Coordinates.
    pub points: u64,
    /// Strides from a row to the next, and from an axis to the next, in numbers.
    pub strides: [i64; 2],
    /// Coordinates per row.
    pub dims: usize,
    /// Number of clouds.
    pub clouds: usize,
    /// Rows of each cloud of a padded batch; of a ragged one, at least those of its largest cloud.
    pub rows: usize,
    /// First row of each cloud and the end, `clouds + 1` numbers: a ragged batch.
    pub offsets: Option<u64>,
    /// Number of valid rows of each cloud.
    pub lengths: Option<u64>,
    /// Number of samples of each cloud, none above the job's amount.
    pub samples: Option<u64>,
    /// First slot of each cloud's result.
    pub slots: Option<u64>,
    /// Start rows, this many per cloud, concatenated in the order of the clouds; row 0 if `None`.
    pub starts: Option<(u64, usize)>,
    /// Address of the indices.
    pub indices: u64,
    /// Address of the squared selection distances (`T`, one per slot), if requested.
    pub values: Option<u64>,
    /// Address of the squared covering radii (`T`, one per cloud), if requested.
    pub covering: Option<u64>,
    /// Address of the numbers of samples (one per cloud), if requested: with a spacing they are not
    /// known in advance.
    pub chosen: Option<u64>,
    /// Address and size of scratch memory: at least [`Gpu::sample_scratch_bytes`], aligned to 256 bytes; from the
    /// pool if `None`.
    pub scratch: Option<(u64, usize)>,
    /// The precision.
    pub precision: PhantomData<T>,
}

impl<T: CudaScalar> DeviceBatch<T> {
    /// A dense `(b, n, d)` array, its indices written to a `(b, amount)` array.
    pub fn padded(points: u64, [clouds, rows, dims]: [usize; 3], indices: u64) -> Self {
        Self {
            points,
            strides: [dims as i64, 1],
            dims,
            clouds,
            rows,
            offsets: None,
            lengths: None,
            samples: None,
            slots: None,
            starts: None,
            indices,
            values: None,
            covering: None,
            chosen: None,
            scratch: None,
            precision: PhantomData,
        }
    }

    /// A dense `(rows, d)` array of which cloud `b` is rows `offsets[b]..offsets[b + 1]`, none
    /// having more than `longest`; indices as for a padded batch.
    pub fn ragged(
        points: u64,
        dims: usize,
        (offsets, clouds): (u64, usize),
        longest: usize,
        indices: u64,
    ) -> Self {
        let offsets = Some(offsets);
        Self { offsets, ..Self::padded(points, [clouds, longest, dims], indices) }
    }

    /// Checks the input, and returns its size.
    pub(super) fn check_input(&self) -> Result<Shape, Error> {
        input::check_batch(self.clouds, self.dims)?;
        input::check_points::<T>(self.points, self.clouds, self.rows)?;
        Ok(Shape { clouds: self.clouds, rows: self.rows, dims: self.dims, samples: 0 })
    }

    /// The kernels' view of the input.
    #[doc(hidden)]
    pub fn input(&self, shape: Shape) -> Batch<T> {
        let (starts, start_count) = self.starts.unwrap_or((0, 1));
        Batch {
            points: self.points,
            row_stride: self.strides[0],
            axis_stride: self.strides[1],
            dims: shape.dims as u32,
            clouds: shape.clouds as u32,
            offsets: self.offsets.unwrap_or(0),
            lengths: self.lengths.unwrap_or(0),
            rows: shape.rows as i64,
            samples: self.samples.unwrap_or(0),
            slots: self.slots.unwrap_or(0),
            wanted: shape.samples as i64,
            starts,
            start_count: start_count as u32,
            stop: never(),
            indices: self.indices,
            values: self.values.unwrap_or(0),
            covering: self.covering.unwrap_or(0),
            chosen: self.chosen.unwrap_or(0),
        }
    }
}

/// Sampling of clouds in device memory.
impl Gpu {
    /// Queues the sampling of clouds in device memory and returns without waiting; see
    /// [`DeviceBatch`].
    ///
    /// # Errors
    /// If the job, sizes or addresses are wrong as far as the host can tell, if the GPU does not have
    /// the job's algorithm, and if the driver refuses a call.
    ///
    /// # Safety
    /// See [`DeviceBatch`].
    pub unsafe fn enqueue_sample<T: CudaScalar>(
        &self,
        job: &Sampler,
        stream: &Stream,
        batch: &DeviceBatch<T>,
    ) -> Result<(), Error> {
        stream.check_gpu(self)?;
        let choice = Choice::new(job)?;
        let shape = check(job, batch)?;
        if shape.clouds == 0 {
            return Ok(());
        }
        let stop = match job.amount {
            Amount::Spacing(spacing) => stop_at(spacing),
            _ => never(),
        };
        let kernels_view = Batch { stop, ..batch.input(shape) };
        // SAFETY: what is in device memory is as `DeviceBatch` requires, by this function's contract; what
        // the host knows was checked.
        unsafe { choice.enqueue(stream, &kernels_view, shape, batch.scratch, 0, None) }
    }

    /// Returns the bytes of device memory that [`Gpu::enqueue_sample`] uses besides input and result, for
    /// this many clouds of at most `rows` rows of `dims` coordinates and `samples` samples each; 0 if the
    /// GPU can't run the algorithm.
    pub fn sample_scratch_bytes<T: CudaScalar>(
        &self,
        job: &Sampler,
        clouds: usize,
        rows: usize,
        dims: usize,
        samples: usize,
    ) -> usize {
        let shape = Shape { clouds, rows, dims, samples };
        Choice::new(job).map_or(0, |choice| choice.scratch_bytes::<T>(self, shape))
    }
}

/// Checks what the host knows, and returns the size.
pub fn check<T: CudaScalar>(job: &Sampler, batch: &DeviceBatch<T>) -> Result<Shape, Error> {
    let input = batch.check_input()?;
    let samples = match job.amount.limit(input.rows) {
        // Nothing is a sample of no cloud, and of clouds without rows as far as they have any.
        Err(farpoint::Error::EmptyCloud) if input.clouds == 0 || !is_count(job.amount) => 0,
        samples => samples?,
    };
    if !matches!(job.start, Start::First | Start::Index(0)) {
        return Err(Error::Unsupported(
            "clouds in device memory take their start rows from device memory: set `starts` of \
             the batch, not `start` of the sampler"
                .into(),
        ));
    }
    input::check_non_finite(job.non_finite)?;
    match batch.starts {
        Some((_, 0)) => return Err(farpoint::Error::NoStart.into()),
        Some((_, starts)) if starts > samples && samples > 0 => {
            return Err(farpoint::Error::TooManyStarts { starts, samples }.into());
        }
        _ => {}
    }
    if samples > 0 && input.clouds > 0 && batch.indices == 0 {
        let message = "the address for the indices is null".into();
        return Err(farpoint::Error::Shape(message).into());
    }
    Ok(Shape { samples, ..input })
}

fn is_count(amount: Amount) -> bool {
    matches!(amount, Amount::Count(_))
}

#[cfg(test)]
mod tests {
    use super::*;
    use farpoint::NonFinite;

    fn message(sampler: Sampler, batch: &DeviceBatch<f32>) -> String {
        check(&sampler, batch).unwrap_err().to_string()
    }

    #[test]
    fn invalid_arguments_are_rejected() {
        let batch = DeviceBatch::<f32>::padded(256, [2, 100, 3], 512);
        let shape = Shape { clouds: 2, rows: 100, dims: 3, samples: 25 };
        assert_eq!(check(&Sampler::ratio(0.241), &batch), Ok(shape));
        assert_eq!(check(&Sampler::whole(), &batch).unwrap().samples, 100);
        assert_eq!(check(&Sampler::spacing(0.5), &batch).unwrap().samples, 100);
        assert!(message(Sampler::count(101), &batch).contains("101 samples"));
        assert!(message(Sampler::ratio(2.0), &batch).contains("ratio 2"));
        assert!(message(Sampler::spacing(-1.0), &batch).contains("spacing -1"));
        let random = Sampler::count(1).start(Start::Random(1));
        assert!(message(random, &batch).contains("`starts` of the batch"));
        assert!(
            message(Sampler::count(1).non_finite(NonFinite::Skip), &batch)
                .contains("find_non_finite")
        );
        let with_starts = |count| DeviceBatch { starts: Some((256, count)), ..batch };
        assert!(check(&Sampler::count(5), &with_starts(5)).is_ok());
        assert!(message(Sampler::count(5), &with_starts(6)).contains("6 start indices"));
        assert!(message(Sampler::count(5), &with_starts(0)).contains("empty"));
        let padded_batch =
            |points, shape, indices| DeviceBatch::<f32>::padded(points, shape, indices);
        assert!(message(Sampler::count(1), &padded_batch(0, [1, 5, 3], 256)).contains("null"));
        assert!(message(Sampler::count(1), &padded_batch(2, [1, 5, 3], 256)).contains("aligned"));
        assert!(message(Sampler::count(1), &padded_batch(256, [1, 5, 3], 0)).contains("null"));
        assert!(
            message(Sampler::count(1), &padded_batch(256, [1, 5, 0], 256)).contains("coordinates")
        );
        assert!(
            message(Sampler::count(1), &padded_batch(256, [1, 0, 3], 256))
                .contains("no usable point")
        );
        assert!(check(&Sampler::count(1), &padded_batch(0, [0, 0, 3], 0)).is_ok());
        let large = padded_batch(256, [1, u32::MAX as usize, 3], 256);
        assert!(message(Sampler::count(1), &large).contains("4294967295"));
    }
}
