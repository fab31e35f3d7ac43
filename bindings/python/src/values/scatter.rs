//! Reductions of the values of NumPy arrays by row, all of them dense. Results are flat: Python reshapes them.

use super::{Array, Numbers, Sizes, in_values, of};
use farpoint::values;
use numpy::{IntoPyArray, PyArray1};
use pyo3::prelude::*;
use pyo3::types::PyTuple;

pub(super) fn add(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add_function(wrap_pyfunction!(scatter_mean, module)?)?;
    module.add_function(wrap_pyfunction!(scatter_max, module)?)?;
    module.add_function(wrap_pyfunction!(scatter_mode, module)?)
}

/// Returns the mean of the values of each row.
#[pyfunction]
#[pyo3(name = "values_scatter_mean", signature = (sizes, values, indices, threads = None))]
fn scatter_mean<'py>(
    py: Python<'py>,
    sizes: Sizes,
    values: Array<'_, 'py>,
    indices: Array<'_, 'py>,
    threads: Option<usize>,
) -> PyResult<Bound<'py, PyAny>> {
    let indices = Numbers::<i64>::required(indices, "indices")?;
    in_values!(values, |values| {
        let (values, indices) = (values.slice()?, indices.slice()?);
        let means =
            of(py, sizes, threads, |cpu, shape| values::scatter_mean(cpu, shape, values, indices))?;
        Ok(means.into_pyarray(py).into_any())
    })
}

/// Returns the maxima of the values of each row, and the place of each.
#[pyfunction]
#[pyo3(name = "values_scatter_max", signature = (sizes, values, indices, threads = None))]
fn scatter_max<'py>(
    py: Python<'py>,
    sizes: Sizes,
    values: Array<'_, 'py>,
    indices: Array<'_, 'py>,
    threads: Option<usize>,
) -> PyResult<Bound<'py, PyTuple>> {
    let indices = Numbers::<i64>::required(indices, "indices")?;
    in_values!(values, |values| {
        let (values, indices) = (values.slice()?, indices.slice()?);
        let result =
            of(py, sizes, threads, |cpu, shape| values::scatter_max(cpu, shape, values, indices))?;
        (result.values.into_pyarray(py), result.chosen.into_pyarray(py)).into_pyobject(py)
    })
}

/// Returns the most frequent label of each row, or `none`.
#[pyfunction]
#[pyo3(name = "values_scatter_mode", signature = (sizes, labels, indices, none, threads = None))]
fn scatter_mode<'py>(
    py: Python<'py>,
    sizes: Sizes,
    labels: Array<'_, 'py>,
    indices: Array<'_, 'py>,
    none: i64,
    threads: Option<usize>,
) -> PyResult<Bound<'py, PyArray1<i64>>> {
    let indices = Numbers::<i64>::required(indices, "indices")?;
    let labels = Numbers::<i64>::required(labels, "labels")?;
    let (labels, indices) = (labels.slice()?, indices.slice()?);
    let modes = of(py, sizes, threads, |cpu, shape| {
        values::scatter_mode(cpu, shape, labels, indices, none)
    })?;
    Ok(modes.into_pyarray(py))
}
