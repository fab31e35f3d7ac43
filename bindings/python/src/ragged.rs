//! Sampling clouds of different lengths that lie one after another in an array.

use crate::host::{about, clouds, each, unknown_type};
use crate::{error, watch};
use farpoint::{Algorithm, Amount, Points, Sampler, Scalar, Start};
use numpy::{
    Element, IntoPyArray, PyArray1, PyArrayDyn, PyArrayMethods, PyReadonlyArray1, PyReadonlyArray2,
    PyUntypedArray, PyUntypedArrayMethods,
};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;

pub(crate) fn add(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add_function(wrap_pyfunction!(sample_ragged, module)?)
}

/// Samples `counts[k]` of the rows `offsets[k]..offsets[k + 1]` of an array `(n, d)` for each `k`.
/// Starts, a row for each cloud, count from its first row; the answer is rows of the array.
#[pyfunction]
fn sample_ragged<'py>(
    py: Python<'py>,
    points: &Bound<'py, PyUntypedArray>,
    offsets: PyReadonlyArray1<'py, i64>,
    counts: PyReadonlyArray1<'py, i64>,
    starts: Option<PyReadonlyArray2<'py, i64>>,
    algorithm: &str,
) -> PyResult<Bound<'py, PyArray1<i64>>> {
    let algorithm = algorithm.parse().map_err(PyValueError::new_err)?;
    let whole = |values: PyReadonlyArray1<'py, i64>, what| -> PyResult<Vec<usize>> {
        let refuse = |_| PyValueError::new_err(format!("{what} below 0"));
        values.as_array().iter().map(|&value| usize::try_from(value).map_err(refuse)).collect()
    };
    let starts = match starts {
        None => None,
        Some(starts) => {
            let rows = starts.as_array();
            let refuse = |_| PyValueError::new_err("a start below 0");
            let row = |row: numpy::ndarray::ArrayView1<'_, i64>| {
                row.iter().map(|&row| usize::try_from(row).map_err(refuse)).collect()
            };
            Some(rows.outer_iter().map(row).collect::<PyResult<Vec<Vec<usize>>>>()?)
        }
    };
    let ragged =
        Ragged { offsets: whole(offsets, "offsets")?, counts: whole(counts, "counts")?, starts };
    let rows = if let Ok(array) = points.cast::<PyArrayDyn<f32>>() {
        ragged.run(array, algorithm)?
    } else if let Ok(array) = points.cast::<PyArrayDyn<f64>>() {
        ragged.run(array, algorithm)?
    } else {
        return Err(unknown_type(points));
    };
    Ok(rows.into_pyarray(py))
}

struct Ragged {
    offsets: Vec<usize>,
    counts: Vec<usize>,
    starts: Option<Vec<Vec<usize>>>,
}

impl Ragged {
    fn run<T: Scalar + Element>(
        &self,
        array: &Bound<'_, PyArrayDyn<T>>,
        algorithm: Algorithm,
    ) -> PyResult<Vec<i64>> {
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
        if self.counts.len() != count || self.starts.as_ref().is_some_and(|s| s.len() != count) {
            return wrong(&format!("counts and starts must be those of {count} clouds"));
        }
        let job = |k: usize| {
            let sampler = Sampler::new(Amount::Count(self.counts[k])).algorithm(algorithm);
            let sampler = match self.starts.as_ref().map(|starts| &starts[k][..]) {
                None => sampler,
                Some(&[start]) => sampler.start(Start::Index(start)),
                Some(starts) => sampler.start(Start::Indices(starts.to_vec())),
            };
            (sampler, views[0].part(self.offsets[k], self.offsets[k + 1]))
        };
        let jobs: Vec<_> = (0..count).map(job).collect();
        let sizes = jobs.iter().zip(&self.counts).map(|((_, view), &count)| (view.len(), count));
        let long = watch::is_long(sizes);
        let samples = watch::several(array.py(), long, |stop| each(None, &jobs, stop))?;
        let samples = samples.map_err(|error| error::sampling(error, &about))?;
        let of_array = |(k, sample): (usize, &farpoint::Sample<T>)| {
            let first = self.offsets[k];
            sample.indices.iter().map(|&row| (first + row) as i64).collect::<Vec<_>>()
        };
        Ok(samples.iter().enumerate().flat_map(of_array).collect())
    }
}
