//! Nearest neighbors: of NumPy arrays (`search`, their gradients in `gradients`, one value per pair of clouds
//! in `value`), and by addresses of device memory (`device`; with plans made before `device_nearest`
//! and `device_value`, of `device_pairs`).

mod device;
mod device_nearest;
mod device_pairs;
mod device_value;
pub(crate) mod gradients;
mod search;
mod value;

use crate::arrays::{View, about, cut};
use farpoint::{Matcher, Norm, Scalar};
use numpy::{Element, PyArrayDyn, PyArrayMethods, PyUntypedArray, PyUntypedArrayMethods};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;

pub(crate) fn add(module: &Bound<'_, PyModule>) -> PyResult<()> {
    search::add(module)?;
    gradients::add(module)?;
    value::add(module)?;
    device::add(module)?;
    device_nearest::add(module)?;
    device_value::add(module)
}

/// Returns a search by this norm.
fn job(norm: u8) -> PyResult<Matcher> {
    Ok(Matcher::new().norm(match norm {
        1 => Norm::One,
        2 => Norm::Two,
        _ => return Err(PyValueError::new_err(format!("norm is {norm}; it must be 1 or 2"))),
    }))
}

/// Both clouds `(n, d)` and `(m, d)` or batches `(b, n, d)` and `(b, m, d)`, and the number of rows used of each cloud
/// of a batch: a tuple of Python.
#[derive(FromPyObject)]
struct Batches<'py>(
    Bound<'py, PyUntypedArray>,
    Bound<'py, PyUntypedArray>,
    Option<Vec<usize>>,
    Option<Vec<usize>>,
);

/// Both clouds or batches in their precision.
struct Pair<'a, 'py, T: Scalar + Element> {
    arrays: [&'a Bound<'py, PyArrayDyn<T>>; 2],
    lengths: [Option<&'a [usize]>; 2],
}

impl<'a, 'py, T: Scalar + Element> Pair<'a, 'py, T> {
    fn py(&self) -> Python<'py> {
        self.arrays[0].py()
    }

    fn about(&self) -> String {
        let [x, y] = self.arrays.map(|array| about(array.as_untyped()));
        format!("{x} and {y}")
    }

    /// Returns the rows of a cloud of either side, padding included.
    fn rows(&self) -> [usize; 2] {
        self.arrays.map(|array| array.shape().iter().rev().nth(1).copied().unwrap_or(0))
    }

    /// Returns the number of clouds of either side.
    fn counts(&self) -> [usize; 2] {
        self.arrays.map(|array| if array.ndim() == 3 { array.shape()[0] } else { 1 })
    }

    /// Returns the clouds of either side without their padding.
    fn clouds(&self) -> PyResult<[Vec<View<'a, T>>; 2]> {
        let [x, y] = self.arrays;
        Ok([cut(x, self.lengths[0])?.0, cut(y, self.lengths[1])?.0])
    }
}
