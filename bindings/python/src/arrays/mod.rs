//! Arrays of Python: NumPy's as clouds, capsules of other libraries, and device memory of our own.

mod device_array;
pub(crate) mod dlpack;
mod view;

pub(crate) use view::View;

use crate::error::room;
use farpoint::backend::memory;
use farpoint::{Points, Scalar};
use numpy::{Element, PyArrayDyn, PyArrayMethods, PyUntypedArray, PyUntypedArrayMethods};
use pyo3::exceptions::{PyTypeError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::PyTuple;

pub(crate) fn add(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add_class::<dlpack::Imported>()?;
    module.add_class::<device_array::DeviceArray>()?;
    module.add_function(wrap_pyfunction!(address, module)?)
}

/// Evaluates an expression with an array, or with two, in their precision; an error for other types.
macro_rules! in_precision {
    ($points:expr, |$array:ident| $body:expr) => {{
        use numpy::PyArrayDyn;
        if let Ok($array) = $points.cast::<PyArrayDyn<f32>>() {
            $body
        } else if let Ok($array) = $points.cast::<PyArrayDyn<f64>>() {
            $body
        } else {
            Err($crate::arrays::unknown_type($points))
        }
    }};
    ($x:expr, $y:expr, |$a:ident, $b:ident| $body:expr) => {{
        use numpy::PyArrayDyn;
        let (x, y) = ($x, $y);
        if let (Ok($a), Ok($b)) = (x.cast::<PyArrayDyn<f32>>(), y.cast::<PyArrayDyn<f32>>()) {
            $body
        } else if let (Ok($a), Ok($b)) = (x.cast::<PyArrayDyn<f64>>(), y.cast::<PyArrayDyn<f64>>())
        {
            $body
        } else {
            Err($crate::arrays::types_differ(x, y))
        }
    }};
}
pub(crate) use in_precision;

/// Returns the address of the coordinates of an array; refuses arrays that can't be sampled.
#[pyfunction]
fn address(points: &Bound<'_, PyUntypedArray>) -> PyResult<usize> {
    in_precision!(points, |array| Ok(clouds(array)?.0.first().map_or(0, View::address)))
}

pub(crate) fn unknown_type(points: &Bound<'_, PyUntypedArray>) -> PyErr {
    PyTypeError::new_err(format!("the points must be float32 or float64 ({})", about(points)))
}

pub(crate) fn types_differ(x: &Bound<'_, PyUntypedArray>, y: &Bound<'_, PyUntypedArray>) -> PyErr {
    if x.dtype().is(y.dtype()) {
        return unknown_type(x);
    }
    let text = format!("both clouds must be of the same type ({} and {})", about(x), about(y));
    PyTypeError::new_err(text)
}

/// Describes an array for messages.
pub(crate) fn about(array: &Bound<'_, PyUntypedArray>) -> String {
    let shape = PyTuple::new(array.py(), array.shape()).map(|shape| shape.to_string());
    format!("points of shape {}, {}", shape.unwrap_or_default(), array.dtype())
}

/// Returns the clouds of an array and true if it is a batch, or an error with its shape.
pub(crate) fn clouds<'a, T: Scalar + Element>(
    array: &'a Bound<'_, PyArrayDyn<T>>,
) -> PyResult<(Vec<View<'a, T>>, bool)> {
    view::of(array).ok_or_else(|| {
        PyValueError::new_err(format!(
            "the points must be an array of shape (N, D) or (B, N, D) with D at least 1 ({})",
            about(array.as_untyped())
        ))
    })
}

/// Like `clouds`, without the padding of a batch.
pub(crate) fn cut<'a, T: Scalar + Element>(
    array: &'a Bound<'_, PyArrayDyn<T>>,
    lengths: Option<&[usize]>,
) -> PyResult<(Vec<View<'a, T>>, bool)> {
    let refuse = |text: String| {
        Err(PyValueError::new_err(format!("{text} ({})", about(array.as_untyped()))))
    };
    let (mut views, batch) = clouds(array)?;
    let Some(lengths) = lengths else { return Ok((views, batch)) };
    if !batch {
        return refuse("lengths are for a batch of shape (B, N, D)".into());
    }
    if lengths.len() != views.len() {
        return refuse(format!("{} lengths for {} clouds", lengths.len(), views.len()));
    }
    for (cloud, (view, &length)) in views.iter_mut().zip(lengths).enumerate() {
        if length > view.len() {
            return refuse(format!("length {length} of cloud {cloud} is over {}", view.len()));
        }
        *view = view.first(length);
    }
    Ok((views, batch))
}

/// Converts whole numbers that are not below 0; `what` is in the error.
pub(crate) fn indices<'a>(
    values: impl IntoIterator<Item = &'a i64>,
    what: &str,
) -> PyResult<Vec<usize>> {
    let index = |&value: &i64| {
        let refuse = |_| PyValueError::new_err(format!("{what} {value} is below 0"));
        usize::try_from(value).map_err(refuse)
    };
    room(|| memory::try_collected(values.into_iter().map(index)))?
}
