//! Sampling NumPy arrays.

use super::answer::Answer;
use super::selection::Selection;
use super::{amount, cloud_seed, job, start_of};
use crate::arrays::{View, about, cut, in_precision};
use crate::error::{self, cuda as failed};
use crate::watch;
use farpoint::{
    Amount, Cpu, Device, Error, NonFinite, Observer, Points, Sample, Sampler, Scalar, Start,
};
use farpoint_cuda::{CudaScalar, Gpu};
use numpy::{
    Element, PyArrayDyn, PyArrayMethods, PyReadonlyArray2, PyUntypedArray, PyUntypedArrayMethods,
};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::PyTuple;
use std::time::Duration;

pub(super) fn add(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add_function(wrap_pyfunction!(sample, module)?)
}

/// A call for a cloud or a batch.
struct Request<'py> {
    /// The job of every cloud, where nothing below differs.
    job: Sampler,
    cpu: Cpu,
    /// Number of the GPU that samples instead of the CPU.
    gpu: Option<usize>,
    /// Number of rows used of each cloud.
    lengths: Option<Vec<usize>>,
    /// Samples of each cloud, instead of the amount.
    counts: Option<Vec<usize>>,
    /// Starts, a row for all clouds or one per cloud.
    starts: Option<PyReadonlyArray2<'py, i64>>,
    answer: Answer<'py>,
    callback: Option<Py<PyAny>>,
}

/// Samples a cloud `(n, d)` or a batch `(b, n, d)`: indices, distances and covering radii.
#[pyfunction]
#[pyo3(signature = (points, count, ratio, spacing, starts, seed, lengths, counts, algorithm,
                    threads, skip_non_finite, distances, out, callback, selected = None, gpu = None, deadline = None))]
#[expect(clippy::too_many_arguments, reason = "reading a record would take longer than the call")]
fn sample<'py>(
    points: &Bound<'py, PyUntypedArray>,
    count: Option<usize>,
    ratio: Option<f64>,
    spacing: Option<f64>,
    starts: Option<PyReadonlyArray2<'py, i64>>,
    seed: Option<u64>,
    lengths: Option<Vec<usize>>,
    counts: Option<Vec<usize>>,
    algorithm: &str,
    threads: Option<usize>,
    skip_non_finite: bool,
    distances: bool,
    out: Option<Bound<'py, PyAny>>,
    callback: Option<Py<PyAny>>,
    selected: Option<Bound<'py, PyUntypedArray>>,
    gpu: Option<usize>,
    deadline: Option<f64>,
) -> PyResult<Bound<'py, PyTuple>> {
    let non_finite = if skip_non_finite { NonFinite::Skip } else { NonFinite::Error };
    let mut job = job(amount(count, ratio, spacing), algorithm)?
        .non_finite(non_finite)
        .start(seed.map_or(Start::First, Start::Random));
    job.deadline = deadline.map(Duration::from_secs_f64);
    let (cpu, answer) = (watch::cpu(threads), Answer { distances, out });
    let request = Request { job, cpu, gpu, lengths, counts, starts, answer, callback };
    match selected {
        None => in_precision!(points, |array| request.run(array)),
        Some(selected) => {
            let selection = Selection::new(&selected)?;
            in_precision!(points, |array| request.run_selected(array, &selection))
        }
    }
}

impl<'py> Request<'py> {
    fn run<T: CudaScalar + Element>(
        self,
        array: &Bound<'py, PyArrayDyn<T>>,
    ) -> PyResult<Bound<'py, PyTuple>> {
        let (clouds, batch) = cut(array, self.lengths.as_deref())?;
        if batch {
            return self.batch(array, &clouds);
        }
        match clouds[0].triples() {
            Some(triples) => self.one(array, triples),
            None => self.one(array, &clouds[0]),
        }
    }

    /// Samples some rows of a cloud, or of each cloud of a batch.
    fn run_selected<T: CudaScalar + Element>(
        self,
        array: &Bound<'py, PyArrayDyn<T>>,
        selection: &Selection<'_>,
    ) -> PyResult<Bound<'py, PyTuple>> {
        let (views, batch) = cut(array, self.lengths.as_deref())?;
        let (rows, about) = (&array.shape()[..array.ndim() - 1], about(array.as_untyped()));
        let clouds = selection.of(&views, rows, &about)?;
        if !batch {
            let none = || {
                format!(
                    "no row is selected; pass a mask with a true value, or rows with a number ({about})"
                )
            };
            let is_empty = clouds[0].is_empty();
            let sample = self.one(array, &clouds[0]);
            return if is_empty {
                sample.map_err(|_| PyValueError::new_err(none()))
            } else {
                sample
            };
        }
        let samples = self.each(array, &clouds, true)?;
        let width = match self.job.amount {
            Amount::Count(count) => count,
            _ => samples.iter().map(Sample::len).max().unwrap_or(0),
        };
        self.answer.batch(array.py(), &samples, width)
    }

    fn one<T: CudaScalar + Element, P: Points<T> + ?Sized>(
        self,
        array: &Bound<'py, PyArrayDyn<T>>,
        cloud: &P,
    ) -> PyResult<Bound<'py, PyTuple>> {
        let (py, job) = (array.py(), self.job_of(0, cloud.len(), false)?);
        if let Some(number) = self.gpu {
            let sample = py.detach(|| Gpu::new(number)?.sample(&job, cloud, None));
            let sample = sample.map_err(|error| failed(error, &about(array.as_untyped())))?;
            return self.answer.one(py, sample);
        }
        // To be stopped, work runs on another thread, which may be late on a busy machine.
        let soon = job.deadline.is_some_and(|deadline| deadline <= watch::INTERVAL);
        let long = !soon && watch::is_long([(cloud.len(), self.max_samples(cloud.len()))]);
        let run = |observer: Option<Observer<'_>>| self.cpu.sample(&job, cloud, observer);
        let sample = watch::run(py, long, self.callback.as_ref(), run)?;
        let sample = sample.map_err(|error| error::sampling(error, &about(array.as_untyped())))?;
        self.answer.one(py, sample)
    }

    fn batch<T: CudaScalar + Element>(
        self,
        array: &Bound<'py, PyArrayDyn<T>>,
        clouds: &[View<'_, T>],
    ) -> PyResult<Bound<'py, PyTuple>> {
        let triples: Option<Vec<_>> = clouds.iter().map(View::triples).collect();
        let samples = match &triples {
            Some(triples) => self.each(array, triples, false)?,
            None => self.each(array, clouds, false)?,
        };
        let width = match self.job.amount {
            Amount::Spacing(_) => samples.iter().map(Sample::len).max().unwrap_or(0),
            _ => self.max_samples(array.shape()[1]),
        };
        self.answer.batch(array.py(), &samples, width)
    }

    /// Samples each cloud of a batch; parts of a cloud return at most their rows.
    fn each<T: CudaScalar + Element, P: Points<T>>(
        &self,
        array: &Bound<'py, PyArrayDyn<T>>,
        clouds: &[P],
        parts: bool,
    ) -> PyResult<Vec<Sample<T>>> {
        if let Some(counts) = self.counts.as_ref().filter(|counts| counts.len() != clouds.len()) {
            let (count_len, clouds) = (counts.len(), clouds.len());
            return Err(PyValueError::new_err(format!("{count_len} counts for {clouds} clouds")));
        }
        let job = |(k, cloud): (usize, &P)| self.job_of(k, cloud.len(), parts);
        let jobs: Vec<_> = clouds.iter().enumerate().map(job).collect::<PyResult<_>>()?;
        if let Some(number) = self.gpu {
            let samples = array.py().detach(|| Gpu::new(number)?.sample_batch(&jobs, clouds, None));
            return samples.map_err(|error| failed(error, &about(array.as_untyped())));
        }
        let samples = each(array.py(), &self.cpu, &jobs, clouds)?;
        samples.map_err(|error| error::sampling(error, &about(array.as_untyped())))
    }

    /// Returns the number of output places of a cloud of `rows` rows.
    fn max_samples(&self, rows: usize) -> usize {
        match self.job.amount {
            Amount::Count(count) => count,
            amount => amount.limit(rows).unwrap_or(0),
        }
    }

    /// Returns the job of cloud `k` of `rows` rows. Clouds of a padded batch, and parts, return at most their rows.
    fn job_of(&self, k: usize, rows: usize, part: bool) -> PyResult<Sampler> {
        let mut job = self.job.clone();
        if let Some(counts) = &self.counts {
            job.amount = Amount::Count(counts[k]);
        }
        if let (true, Amount::Count(count)) = (part || self.lengths.is_some(), job.amount) {
            job.amount = Amount::Count(count.min(rows));
        }
        if let Some(starts) = &self.starts {
            job.start = start_of(starts, k)?;
        } else if let Start::Random(seed) = job.start {
            job.start = Start::Random(cloud_seed(seed, k as u64));
        }
        Ok(job)
    }
}

/// Samples every cloud by its job without the GIL; Ctrl-C is checked if it may take long.
pub(super) fn each<T: Scalar, P: Points<T>>(
    py: Python<'_>,
    cpu: &Cpu,
    jobs: &[Sampler],
    clouds: &[P],
) -> PyResult<Result<Vec<Sample<T>>, Error>> {
    let size =
        |(job, cloud): (&Sampler, &P)| (cloud.len(), job.amount.limit(cloud.len()).unwrap_or(0));
    let long = watch::is_long(jobs.iter().zip(clouds).map(size));
    watch::run(py, long, None, |observer| cpu.sample_batch(jobs, clouds, observer))
}
