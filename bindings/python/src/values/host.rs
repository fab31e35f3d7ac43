//! Gathering and interpolating the values of NumPy arrays, all of them dense. Results are flat: Python reshapes
//! them.

use super::{Array, Numbers, Sizes, in_indices, in_values, of};
use farpoint::values;
use numpy::IntoPyArray;
use pyo3::prelude::*;
use pyo3::types::PyTuple;

pub(super) fn add(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add_function(wrap_pyfunction!(gather, module)?)?;
    module.add_function(wrap_pyfunction!(gather_backward, module)?)?;
    module.add_function(wrap_pyfunction!(gather_max, module)?)?;
    module.add_function(wrap_pyfunction!(gather_max_backward, module)?)?;
    module.add_function(wrap_pyfunction!(interpolate, module)?)?;
    module.add_function(wrap_pyfunction!(interpolate_backward, module)?)
}

/// Returns the rows of the indices.
#[pyfunction]
#[pyo3(name = "values_gather", signature = (sizes, values, indices, threads = None))]
fn gather<'py>(
    py: Python<'py>,
    sizes: Sizes,
    values: Array<'_, 'py>,
    indices: Array<'_, 'py>,
    threads: Option<usize>,
) -> PyResult<Bound<'py, PyAny>> {
    in_values!(values, |values| in_indices!(indices, |indices| {
        let (values, indices) = (values.slice()?, indices.slice()?);
        let result =
            of(py, sizes, threads, |cpu, shape| values::gather(cpu, shape, values, indices))?;
        Ok(result.into_pyarray(py).into_any())
    }))
}

/// Returns the gradient of the values from that of the rows.
#[pyfunction]
#[pyo3(name = "values_gather_backward", signature = (sizes, indices, grad, threads = None))]
fn gather_backward<'py>(
    py: Python<'py>,
    sizes: Sizes,
    indices: Array<'_, 'py>,
    grad: Array<'_, 'py>,
    threads: Option<usize>,
) -> PyResult<Bound<'py, PyAny>> {
    in_values!(grad, |grad| in_indices!(indices, |indices| {
        let (grad, indices) = (grad.slice()?, indices.slice()?);
        let result = of(py, sizes, threads, |cpu, shape| {
            values::gather_backward(cpu, shape, indices, grad)
        })?;
        Ok(result.into_pyarray(py).into_any())
    }))
}

/// Returns the largest sums, and which of the k each is.
#[pyfunction]
#[pyo3(name = "values_gather_max", signature = (sizes, values, indices, add, threads = None))]
fn gather_max<'py>(
    py: Python<'py>,
    sizes: Sizes,
    values: Array<'_, 'py>,
    indices: Array<'_, 'py>,
    add: Option<Array<'_, 'py>>,
    threads: Option<usize>,
) -> PyResult<Bound<'py, PyTuple>> {
    in_values!(values, |values| in_indices!(indices, |indices| {
        let add = add.map(|add| values.like(add, "what is added")).transpose()?;
        let add = add.as_ref().map(Numbers::slice).transpose()?;
        let (values, indices) = (values.slice()?, indices.slice()?);
        let result = of(py, sizes, threads, |cpu, shape| {
            values::gather_max(cpu, shape, values, indices, add)
        })?;
        (result.values.into_pyarray(py), result.chosen.into_pyarray(py)).into_pyobject(py)
    }))
}

/// Returns the gradients of the values, and of the addend if requested.
#[pyfunction]
#[pyo3(name = "values_gather_max_backward", signature = (sizes, indices, chosen, grad, with_add, threads = None))]
fn gather_max_backward<'py>(
    py: Python<'py>,
    sizes: Sizes,
    indices: Array<'_, 'py>,
    chosen: Array<'_, 'py>,
    grad: Array<'_, 'py>,
    with_add: bool,
    threads: Option<usize>,
) -> PyResult<Bound<'py, PyTuple>> {
    let chosen = Numbers::<i32>::required(chosen, "chosen places")?;
    in_values!(grad, |grad| in_indices!(indices, |indices| {
        let (grad, indices, chosen) = (grad.slice()?, indices.slice()?, chosen.slice()?);
        let result = of(py, sizes, threads, |cpu, shape| {
            values::gather_max_backward(cpu, shape, indices, chosen, grad, with_add)
        })?;
        let add = result.add.map(|add| add.into_pyarray(py));
        (result.values.into_pyarray(py), add).into_pyobject(py)
    }))
}

/// Returns weighted sums of the rows of the indices.
#[pyfunction]
#[pyo3(name = "values_interpolate", signature = (sizes, values, indices, weights, threads = None))]
fn interpolate<'py>(
    py: Python<'py>,
    sizes: Sizes,
    values: Array<'_, 'py>,
    indices: Array<'_, 'py>,
    weights: Array<'_, 'py>,
    threads: Option<usize>,
) -> PyResult<Bound<'py, PyAny>> {
    in_values!(values, |values| in_indices!(indices, |indices| {
        let weights = values.like(weights, "weights")?;
        let (values, indices, weights) = (values.slice()?, indices.slice()?, weights.slice()?);
        let result = of(py, sizes, threads, |cpu, shape| {
            values::interpolate(cpu, shape, values, indices, weights)
        })?;
        Ok(result.into_pyarray(py).into_any())
    }))
}

/// Returns the gradients of the values and of the weights, as requested.
#[expect(clippy::too_many_arguments, reason = "the arguments of the operator in Python")]
#[pyfunction]
#[pyo3(name = "values_interpolate_backward", signature = (sizes, values, indices, weights, grad, needed, threads = None))]
fn interpolate_backward<'py>(
    py: Python<'py>,
    sizes: Sizes,
    values: Array<'_, 'py>,
    indices: Array<'_, 'py>,
    weights: Array<'_, 'py>,
    grad: Array<'_, 'py>,
    needed: [bool; 2],
    threads: Option<usize>,
) -> PyResult<Bound<'py, PyTuple>> {
    in_values!(values, |values| in_indices!(indices, |indices| {
        let (weights, grad) = (values.like(weights, "weights")?, values.like(grad, "gradients")?);
        let (values, indices) = (values.slice()?, indices.slice()?);
        let (weights, grad) = (weights.slice()?, grad.slice()?);
        let (of_values, of_weights) = of(py, sizes, threads, |cpu, shape| {
            let of_values = || values::interpolate_backward(cpu, shape, indices, weights, grad);
            let of_weights =
                || values::interpolate_weights_backward(cpu, shape, values, indices, grad);
            let of_values = needed[0].then(of_values).transpose()?;
            Ok((of_values, needed[1].then(of_weights).transpose()?))
        })?;
        let array = |numbers: Option<Vec<_>>| numbers.map(|numbers| numbers.into_pyarray(py));
        (array(of_values), array(of_weights)).into_pyobject(py)
    }))
}
