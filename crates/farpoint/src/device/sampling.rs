//! Runs of a [`Sampler`]: on the CPU by its own methods, on a device by [`Sampler::on`].

use super::{Device, On};
use crate::{Algorithm, Cpu, Error, Points, Sample, Sampler, Scalar, Start, padded, ragged};
use std::slice;

impl Sampler {
    /// Runs this job on a device: a [`Cpu`] with its threads and instruction set, or a GPU.
    pub fn on<'a, D: ?Sized>(&'a self, device: &'a D) -> On<'a, Self, D> {
        On::new(self, device)
    }

    /// Samples one cloud on the CPU with all threads.
    ///
    /// # Errors
    /// On non-finite rows, on a start outside the cloud and on more samples than points.
    pub fn sample<T: Scalar, P: Points<T> + ?Sized>(&self, points: &P) -> Result<Sample<T>, Error> {
        self.on(&Cpu::new()).sample(points)
    }

    /// Samples many clouds on the CPU, spread over all threads; a result does not depend on its
    /// batch.
    ///
    /// # Errors
    /// Same as [`Sampler::sample`], in an [`Error::InBatch`] that names the first cloud at fault.
    pub fn sample_batch<T: Scalar, P: Points<T>>(
        &self,
        clouds: &[P],
    ) -> Result<Vec<Sample<T>>, Error> {
        self.on(&Cpu::new()).sample_batch(clouds)
    }

    /// Samples a padded batch on the CPU: see [`On::sample_padded`].
    ///
    /// # Errors
    /// Same as [`Sampler::sample_batch`], and if shape or lengths do not fit the data.
    pub fn sample_padded<T: Scalar>(
        &self,
        data: &[T],
        shape: [usize; 3],
        lengths: Option<&[usize]>,
    ) -> Result<Vec<Sample<T>>, Error> {
        self.on(&Cpu::new()).sample_padded(data, shape, lengths)
    }

    /// Samples a ragged batch on the CPU: see [`On::sample_ragged`].
    ///
    /// # Errors
    /// Same as [`Sampler::sample_batch`], and if the offsets do not fit the data.
    pub fn sample_ragged<T: Scalar>(
        &self,
        data: &[T],
        d: usize,
        offsets: &[usize],
    ) -> Result<Vec<Sample<T>>, Error> {
        self.on(&Cpu::new()).sample_ragged(data, d, offsets)
    }
}

impl<D: ?Sized> On<'_, Sampler, D> {
    /// Samples one cloud in host memory.
    ///
    /// # Errors
    /// Same as [`Sampler::sample`], and failures of the device.
    pub fn sample<T: Scalar, P: Points<T> + ?Sized>(self, points: &P) -> Result<Sample<T>, D::Error>
    where
        D: Device<T>,
    {
        self.device.sample(self.job, points, self.observer)
    }

    /// Samples one cloud in host memory, in place of an earlier sample, whose memory is used again: for clouds that come
    /// one after another.
    ///
    /// ```
    /// use farpoint::{Cpu, Sampler};
    ///
    /// let clouds = [1.0f32, 2.0, 3.0].map(|x| (0..1000).map(|i| [x * i as f32]).collect::<Vec<_>>());
    /// let (job, cpu) = (Sampler::ratio(0.25), Cpu::new().threads(1));
    /// let mut sample = job.on(&cpu).sample(&clouds[0])?;
    /// for cloud in &clouds[1..] {
    ///     job.on(&cpu).sample_into(cloud, &mut sample)?;
    ///     assert_eq!(sample.indices[..3], [0, 999, 499]);
    /// }
    /// # Ok::<(), farpoint::Error>(())
    /// ```
    ///
    /// On the CPU with one thread, [`Algorithm::Peak`] then allocates nothing after a first call on the same number of
    /// points, save where a cloud needs more than those before it, and as long as its working memory is kept: see
    /// [`crate::set_kept_memory`]. With more threads, each call allocates a few times to start them.
    ///
    /// # Errors
    /// Same as [`On::sample`]; the sample is then without points, or unchanged.
    pub fn sample_into<T: Scalar, P: Points<T> + ?Sized>(
        self,
        points: &P,
        sample: &mut Sample<T>,
    ) -> Result<(), D::Error>
    where
        D: Device<T>,
    {
        self.device.sample_into(self.job, points, self.observer, sample)
    }

    /// Samples many clouds; a result does not depend on its batch.
    ///
    /// # Errors
    /// Same as [`On::sample`], naming the first cloud at fault.
    pub fn sample_batch<T: Scalar, P: Points<T>>(
        self,
        clouds: &[P],
    ) -> Result<Vec<Sample<T>>, D::Error>
    where
        D: Device<T>,
    {
        self.device.sample_batch(slice::from_ref(self.job), clouds, self.observer)
    }

    /// Samples a padded batch: `data` is a dense `(b, n, d)` array, of which only the first
    /// `lengths[i]` rows of cloud `i` count (all `n` if `lengths` is `None`).
    ///
    /// # Errors
    /// Same as [`On::sample_batch`], and if shape or lengths do not fit the data.
    pub fn sample_padded<T: Scalar>(
        self,
        data: &[T],
        shape: [usize; 3],
        lengths: Option<&[usize]>,
    ) -> Result<Vec<Sample<T>>, D::Error>
    where
        D: Device<T>,
    {
        self.sample_batch(&padded(data, shape, lengths)?)
    }

    /// Samples a ragged batch: cloud `i` is rows `offsets[i]..offsets[i + 1]` of the dense
    /// `(rows, d)` array `data`; indices count from the cloud's own first row.
    ///
    /// # Errors
    /// Same as [`On::sample_batch`], and if the offsets do not fit the data.
    pub fn sample_ragged<T: Scalar>(
        self,
        data: &[T],
        d: usize,
        offsets: &[usize],
    ) -> Result<Vec<Sample<T>>, D::Error>
    where
        D: Device<T>,
    {
        self.sample_batch(&ragged(data, d, offsets)?)
    }
}

/// Takes `count` samples from `start` on, by the straightforward loop: O(points * samples) time.
///
/// ```
/// let line: Vec<[f64; 1]> = (0..5).map(|i| [i as f64]).collect();
/// assert_eq!(farpoint::reference(&line, 4, 0)?.indices, [0, 4, 2, 1]);
/// # Ok::<(), farpoint::Error>(())
/// ```
///
/// # Errors
/// Same as [`Sampler::sample`].
pub fn reference<T: Scalar, P: Points<T> + ?Sized>(
    points: &P,
    count: usize,
    start: usize,
) -> Result<Sample<T>, Error> {
    let job = Sampler::count(count).start(Start::Index(start)).algorithm(Algorithm::Reference);
    job.sample(points)
}
