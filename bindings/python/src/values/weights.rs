//! Weights from distances in NumPy arrays.

use super::{in_values, run};
use farpoint::values::{self, InverseDistance};
use numpy::{IntoPyArray, PyUntypedArray};
use pyo3::prelude::*;

pub(super) fn add(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add_function(wrap_pyfunction!(inverse_distance_weights, module)?)?;
    module.add_function(wrap_pyfunction!(inverse_distance_weights_backward, module)?)
}

fn about() -> String {
    "weights of distances".into()
}

/// Returns the weights of `k` neighbors of each place, flat.
#[pyfunction]
#[pyo3(name = "values_weights")]
fn inverse_distance_weights<'py>(
    py: Python<'py>,
    k: usize,
    distances: &Bound<'py, PyUntypedArray>,
    power: u32,
    eps: f64,
) -> PyResult<Bound<'py, PyAny>> {
    let how = InverseDistance { power, eps };
    in_values!(distances, |distances| {
        let distances = distances.slice()?;
        let result =
            run(py, None, about, |cpu| values::inverse_distance_weights(cpu, k, distances, how))?;
        Ok(result.into_pyarray(py).into_any())
    })
}

/// Returns the gradient of the distances from that of the weights, flat.
#[pyfunction]
#[pyo3(name = "values_weights_backward")]
fn inverse_distance_weights_backward<'py>(
    py: Python<'py>,
    k: usize,
    distances: &Bound<'py, PyUntypedArray>,
    power: u32,
    eps: f64,
    grad: &Bound<'py, PyUntypedArray>,
) -> PyResult<Bound<'py, PyAny>> {
    let how = InverseDistance { power, eps };
    in_values!(distances, |distances| {
        let grad = distances.like(grad, "gradients")?;
        let (distances, grad) = (distances.slice()?, grad.slice()?);
        let result = run(py, None, about, |cpu| {
            values::inverse_distance_weights_backward(cpu, k, distances, how, grad)
        })?;
        Ok(result.into_pyarray(py).into_any())
    })
}
