//! Sampling NumPy arrays.

use super::answer::Answer;
use super::{amount, job, start_of};
use crate::arrays::{View, about, cut, in_precision};
use crate::{error, watch};
use farpoint::{Amount, BadRows, Cpu, Device, Error, Points, Sample, Sampler, Scalar, Start};
use numpy::{
    Element, PyArrayDyn, PyArrayMethods, PyReadonlyArray2, PyUntypedArray, PyUntypedArrayMethods,
};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::PyTuple;

pub(super) fn add(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add_function(wrap_pyfunction!(sample, module)?)
}

/// A call for a cloud or a batch.
struct Request<'py> {
    /// The job of every cloud, where nothing below differs.
    job: Sampler,
    cpu: Cpu,
    /// Rows of each cloud that count.
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
                    threads, skip_bad, distances, out, callback))]
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
    skip_bad: bool,
    distances: bool,
    out: Option<Bound<'py, PyAny>>,
    callback: Option<Py<PyAny>>,
) -> PyResult<Bound<'py, PyTuple>> {
    let bad_rows = if skip_bad { BadRows::Skip } else { BadRows::Error };
    let job = job(amount(count, ratio, spacing), algorithm)?
        .bad_rows(bad_rows)
        .start(seed.map_or(Start::Index(0), Start::Random));
    let answer = Answer { distances, out };
    let request =
        Request { job, cpu: watch::cpu(threads), lengths, counts, starts, answer, callback };
    in_precision!(points, |array| request.run(array))
}

impl<'py> Request<'py> {
    fn run<T: Scalar + Element>(
        self,
        array: &Bound<'py, PyArrayDyn<T>>,
    ) -> PyResult<Bound<'py, PyTuple>> {
        let (clouds, batch) = cut(array, self.lengths.as_deref())?;
        match batch {
            true => self.batch(array, &clouds),
            false => self.one(array, clouds[0]),
        }
    }

    fn one<T: Scalar + Element>(
        self,
        array: &Bound<'py, PyArrayDyn<T>>,
        cloud: View<'_, T>,
    ) -> PyResult<Bound<'py, PyTuple>> {
        let (py, job) = (array.py(), self.job_of(0, cloud)?);
        let long = watch::is_long([(cloud.len(), self.most(cloud.len()))]);
        let sample =
            watch::run(py, long, self.callback.as_ref(), |observer| match cloud.triples() {
                Some(triples) => self.cpu.sample(&job, triples, observer),
                None => self.cpu.sample(&job, &cloud, observer),
            })?;
        let sample = sample.map_err(|error| error::sampling(error, &about(array.as_untyped())))?;
        self.answer.one(py, sample)
    }

    fn batch<T: Scalar + Element>(
        self,
        array: &Bound<'py, PyArrayDyn<T>>,
        clouds: &[View<'_, T>],
    ) -> PyResult<Bound<'py, PyTuple>> {
        if let Some(counts) = self.counts.as_ref().filter(|counts| counts.len() != clouds.len()) {
            let (given, clouds) = (counts.len(), clouds.len());
            return Err(PyValueError::new_err(format!("{given} counts for {clouds} clouds")));
        }
        let rows = array.shape()[1];
        let job = |(k, &cloud): (usize, &View<'_, T>)| self.job_of(k, cloud);
        let jobs: Vec<_> = clouds.iter().enumerate().map(job).collect::<PyResult<_>>()?;
        let samples = each(array.py(), &self.cpu, &jobs, clouds)?;
        let samples =
            samples.map_err(|error| error::sampling(error, &about(array.as_untyped())))?;
        let width = match self.job.amount {
            Amount::Spacing(_) => samples.iter().map(Sample::len).max().unwrap_or(0),
            _ => self.most(rows),
        };
        self.answer.batch(array.py(), &samples, width)
    }

    /// Places that a cloud of so many rows has in the answer.
    fn most(&self, rows: usize) -> usize {
        match self.job.amount {
            Amount::Count(count) => count,
            amount => amount.limit(rows).unwrap_or(0),
        }
    }

    /// The job of cloud `k`. Clouds of a padded batch give what they have.
    fn job_of<T: Scalar>(&self, k: usize, cloud: View<'_, T>) -> PyResult<Sampler> {
        let mut job = self.job.clone();
        if let Some(counts) = &self.counts {
            job.amount = Amount::Count(counts[k]);
        }
        if let (Some(_), Amount::Count(count)) = (&self.lengths, job.amount) {
            job.amount = Amount::Count(count.min(cloud.len()));
        }
        if let Some(starts) = &self.starts {
            job.start = start_of(starts, k)?;
        }
        Ok(job)
    }
}

/// Samples every cloud by its job without the GIL; Ctrl-C is heard if it may take long.
pub(super) fn each<T: Scalar>(
    py: Python<'_>,
    cpu: &Cpu,
    jobs: &[Sampler],
    clouds: &[View<'_, T>],
) -> PyResult<Result<Vec<Sample<T>>, Error>> {
    let size = |(job, cloud): (&Sampler, &View<'_, T>)| {
        (cloud.len(), job.amount.limit(cloud.len()).unwrap_or(0))
    };
    let long = watch::is_long(jobs.iter().zip(clouds).map(size));
    let triples: Option<Vec<_>> = clouds.iter().map(View::triples).collect();
    watch::run(py, long, None, |observer| match &triples {
        Some(triples) => cpu.sample_batch(jobs, triples, observer),
        None => cpu.sample_batch(jobs, clouds, observer),
    })
}
