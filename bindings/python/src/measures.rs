//! Measures of samples, of NumPy arrays.

use crate::arrays::{self, about, cut, in_precision};
use crate::batch::side_by_side;
use crate::{error, watch};
use farpoint::measure::{Measure, Quality};
use farpoint::{Observer, Points, Scalar};
use numpy::{Element, PyArrayDyn, PyArrayMethods, PyReadonlyArray1, PyUntypedArray};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;

pub(crate) fn add(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add_function(wrap_pyfunction!(quality, module)?)
}

/// Returns the measures of each cloud and its rows `indices`: points and samples, then the numbers.
#[pyfunction]
#[pyo3(signature = (points, indices, lengths, threads, callback))]
fn quality(
    points: &Bound<'_, PyUntypedArray>,
    indices: Vec<PyReadonlyArray1<'_, i64>>,
    lengths: Option<Vec<usize>>,
    threads: Option<usize>,
    callback: Option<Py<PyAny>>,
) -> PyResult<Vec<([usize; 2], [f64; 8])>> {
    let (lengths, callback) = (lengths.as_deref(), callback.as_ref());
    in_precision!(points, |array| measure_clouds(array, &indices, lengths, threads, callback))
}

fn measure_clouds<T: Scalar + Element>(
    array: &Bound<'_, PyArrayDyn<T>>,
    indices: &[PyReadonlyArray1<'_, i64>],
    lengths: Option<&[usize]>,
    threads: Option<usize>,
    callback: Option<&Py<PyAny>>,
) -> PyResult<Vec<([usize; 2], [f64; 8])>> {
    let (py, about) = (array.py(), about(array.as_untyped()));
    let (views, batch) = cut(array, lengths)?;
    if views.len() != indices.len() {
        let text = format!("{} samples for {} clouds ({about})", indices.len(), views.len());
        return Err(PyValueError::new_err(text));
    }
    let rows = |of: &PyReadonlyArray1<'_, i64>| {
        let failed = |error: PyErr| PyValueError::new_err(format!("{} ({about})", error.value(py)));
        arrays::indices(of.as_array(), "sample index").map_err(failed)
    };
    let rows = indices.iter().map(rows).collect::<PyResult<Vec<_>>>()?;
    let jobs: Vec<_> = views.into_iter().zip(rows).collect();
    let long = watch::is_long(jobs.iter().map(|(view, rows)| (view.len(), rows.len())));
    let cpu = watch::cpu(threads);
    let results = match &jobs[..] {
        [(view, rows)] if !batch => {
            let measure =
                |progress: Observer<'_>| Measure.on(&cpu).observe(progress).quality(view, rows);
            watch::run(py, long, callback, |observer| watch::always(observer, measure))?
                .map(|results| vec![results])
        }
        jobs => {
            let sizes: Vec<_> = jobs.iter().map(|(view, _)| view.len()).collect();
            watch::run_batch(py, long, |stop| {
                side_by_side(threads, &sizes, stop, |cloud, threads| {
                    let (view, rows) = &jobs[cloud];
                    let cpu = cpu.threads(threads);
                    Measure.on(&cpu).observe(&mut |_| stop.answer()).quality(view, rows)
                })
            })?
        }
    };
    let results = results.map_err(|error| error::without_skipping(error, &about))?;
    Ok(results.iter().map(numbers).collect())
}

/// Returns the numbers in the order of Python's `Quality`.
fn numbers(quality: &Quality) -> ([usize; 2], [f64; 8]) {
    let (coverage, spacing) = (quality.coverage, quality.spacing);
    let [mean, min, max] =
        spacing.map_or([f64::NAN; 3], |spacing| [spacing.mean, spacing.min, spacing.max]);
    let Quality { points, samples, unique, chamfer, .. } = *quality;
    let measures = [coverage.max, coverage.mean, coverage.p99, mean, min, max, chamfer, unique];
    ([points, samples], measures)
}
