//! Sampling of concatenated clouds of different lengths.

use super::host::each;
use super::{job, start_of};
use crate::arrays::{View, about, clouds, in_precision, indices};
use crate::{error, watch};
use farpoint::{Amount, Sampler, Scalar};
use numpy::{
    Element, IntoPyArray, PyArray1, PyArrayDyn, PyArrayMethods, PyReadonlyArray1, PyReadonlyArray2,
    PyUntypedArray, PyUntypedArrayMethods,
};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;

pub(super) fn add(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add_function(wrap_pyfunction!(sample_ragged, module)?)
}

/// Samples `counts[k]` of the rows `offsets[k]..offsets[k + 1]` of an array `(n, d)` for each `k`.
/// Starts, a row per cloud, count from its first row; the result is rows of the array.
#[pyfunction]
fn sample_ragged<'py>(
    points: &Bound<'py, PyUntypedArray>,
    offsets: PyReadonlyArray1<'py, i64>,
    counts: PyReadonlyArray1<'py, i64>,
    starts: Option<PyReadonlyArray2<'py, i64>>,
    algorithm: &str,
) -> PyResult<Bound<'py, PyArray1<i64>>> {
    let ragged = Ragged {
        job: job(Amount::Count(0), algorithm)?,
        offsets: indices(offsets.as_array(), "offset")?,
        counts: indices(counts.as_array(), "count")?,
        starts,
    };
    let rows = in_precision!(points, |array| ragged.run(array))?;
    Ok(rows.into_pyarray(points.py()))
}

struct Ragged<'py> {
    /// Job of every cloud, apart from its count and start.
    job: Sampler,
    offsets: Vec<usize>,
    counts: Vec<usize>,
    starts: Option<PyReadonlyArray2<'py, i64>>,
}

impl Ragged<'_> {
    fn run<T: Scalar + Element>(&self, array: &Bound<'_, PyArrayDyn<T>>) -> PyResult<Vec<i64>> {
        let about = about(array.as_untyped());
        let wrong = |what: &str| Err(PyValueError::new_err(format!("{what} ({about})")));
        let (views, false) = clouds(array)? else {
            return wrong("a ragged batch is an array of shape (N, D)");
        };
        let rows = array.shape()[0];
        let ordered = self.offsets.windows(2).all(|pair| pair[0] <= pair[1]);
        if !ordered || self.offsets.first() != Some(&0) || self.offsets.last() != Some(&rows) {
            return wrong(&format!("offsets must rise from 0 to {rows}"));
        }
        let count = self.offsets.len() - 1;
        let starts = self.starts.as_ref().map_or(count, |starts| starts.shape()[0]);
        if self.counts.len() != count || starts != count {
            return wrong(&format!("counts and starts must be those of {count} clouds"));
        }
        let jobs = (0..count).map(|k| self.job_of(k)).collect::<PyResult<Vec<_>>>()?;
        let part = |ends: &[usize]| views[0].part(ends[0], ends[1]);
        let clouds: Vec<_> = self.offsets.windows(2).map(part).collect();
        let triples: Option<Vec<_>> = clouds.iter().map(View::triples).collect();
        let samples = match &triples {
            Some(triples) => each(array.py(), &watch::cpu(None), &jobs, triples)?,
            None => each(array.py(), &watch::cpu(None), &jobs, &clouds)?,
        };
        let samples = samples.map_err(|error| error::without_skipping(error, &about))?;
        let of_array = |(k, sample): (usize, &farpoint::Sample<T>)| {
            let first = self.offsets[k];
            sample.indices.iter().map(|&row| (first + row) as i64).collect::<Vec<_>>()
        };
        Ok(samples.iter().enumerate().flat_map(of_array).collect())
    }

    fn job_of(&self, k: usize) -> PyResult<Sampler> {
        let mut job = self.job.clone();
        job.amount = Amount::Count(self.counts[k]);
        if let Some(starts) = &self.starts {
            job.start = start_of(starts, k)?;
        }
        Ok(job)
    }
}
