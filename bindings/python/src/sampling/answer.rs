//! Samples as arrays of Python: one cloud, or a padded batch; new arrays, or the caller's own.

use crate::error::room;
use farpoint::backend::memory;
use farpoint::{Sample, Scalar};
use numpy::ndarray::{Array2, ArrayViewMutD, Axis};
use numpy::{
    Element, IntoPyArray, PyArrayDyn, PyArrayMethods, PyUntypedArray, PyUntypedArrayMethods,
};
use pyo3::exceptions::{PyMemoryError, PyTypeError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::PyTuple;

/// Outputs of a sample.
pub(super) struct Answer<'py> {
    /// Set to return distances.
    pub(super) distances: bool,
    /// The caller's array for the indices.
    pub(super) out: Option<Bound<'py, PyAny>>,
}

impl<'py> Answer<'py> {
    /// Returns indices, distances and covering radius of one cloud.
    pub(super) fn one<T: Scalar + Element>(
        &self,
        py: Python<'py>,
        sample: Sample<T>,
    ) -> PyResult<Bound<'py, PyTuple>> {
        let radius = sample.covering_radius().to_f64();
        let distances = self.distances.then(|| room(|| roots(&sample.squared_distances)));
        let distances = distances.transpose()?.map(|distances| distances.into_pyarray(py));
        let rows = sample.indices.into_iter().map(|row| row as i64);
        let indices = room(|| memory::collected(rows))?;
        let indices = match self.out(&[indices.len()])? {
            None => indices.into_pyarray(py).into_any(),
            Some(out) => {
                let fill = |mut target: ArrayViewMutD<'_, i64>| {
                    target.iter_mut().zip(&indices).for_each(|(target, index)| *target = *index);
                };
                write(out, fill)?
            }
        };
        (indices, distances, radius).into_pyobject(py)
    }

    /// Returns the outputs of a batch, with `width` places per cloud, padded with -1 and 0.
    pub(super) fn batch<T: Scalar + Element>(
        &self,
        py: Python<'py>,
        samples: &[Sample<T>],
        width: usize,
    ) -> PyResult<Bound<'py, PyTuple>> {
        let shape = [samples.len(), width];
        let fill = |mut target: ArrayViewMutD<'_, i64>| {
            target.fill(-1);
            for (mut target, sample) in target.axis_iter_mut(Axis(0)).zip(samples) {
                target
                    .iter_mut()
                    .zip(&sample.indices)
                    .for_each(|(target, row)| *target = *row as i64);
            }
        };
        let indices = match self.out(&shape)? {
            Some(out) => write(out, fill)?,
            None => {
                let mut indices = filled(shape, -1, "indices")?;
                fill(indices.view_mut().into_dyn());
                indices.into_pyarray(py).into_any()
            }
        };
        let distances = self.distances.then(|| {
            let mut distances = filled(shape, T::ZERO, "distances")?;
            for (mut target, sample) in distances.outer_iter_mut().zip(samples) {
                let from = sample.squared_distances.iter().map(|square| square.sqrt());
                target.iter_mut().zip(from).for_each(|(target, from)| *target = from);
            }
            PyResult::Ok(distances.into_pyarray(py))
        });
        let distances = distances.transpose()?;
        let radii: Vec<f64> = samples.iter().map(|s| s.covering_radius().to_f64()).collect();
        (indices, distances, radii.into_pyarray(py)).into_pyobject(py)
    }

    /// Returns the caller's array for the indices, if it fits.
    fn out(&self, shape: &[usize]) -> PyResult<Option<Bound<'py, PyArrayDyn<i64>>>> {
        let Some(out) = &self.out else { return Ok(None) };
        let expected = PyTuple::new(out.py(), shape)?;
        let wrong = |what: String| {
            PyTypeError::new_err(format!(
                "out must be an int64 array of shape {expected}, not {what}"
            ))
        };
        let Ok(array) = out.cast::<PyUntypedArray>() else {
            return Err(wrong(out.get_type().to_string()));
        };
        match out.cast::<PyArrayDyn<i64>>() {
            Ok(actual) if actual.shape() == shape => Ok(Some(actual.clone())),
            Ok(_) => {
                let actual = PyTuple::new(out.py(), array.shape())?;
                let text = format!("out must be of shape {expected}, not {actual}");
                Err(PyValueError::new_err(text))
            }
            Err(_) => Err(wrong(format!("one of type {}", array.dtype()))),
        }
    }
}

fn roots<T: Scalar>(squares: &[T]) -> Vec<T> {
    memory::collected(squares.iter().map(|square| square.sqrt()))
}

/// Calls `fill` with the caller's array.
fn write<'py>(
    out: Bound<'py, PyArrayDyn<i64>>,
    fill: impl FnOnce(ArrayViewMutD<'_, i64>),
) -> PyResult<Bound<'py, PyAny>> {
    let mut array = out
        .try_readwrite()
        .map_err(|error| PyValueError::new_err(format!("out can't be written to: {error}")))?;
    fill(array.as_array_mut());
    drop(array);
    Ok(out.into_any())
}

/// Returns an array of one value; an error if there is no memory for it. The caller chooses its width, and clouds
/// may have far fewer rows.
fn filled<V: Copy>(shape: [usize; 2], value: V, what: &str) -> PyResult<Array2<V>> {
    let mut values = Vec::new();
    let reserved = shape[0].checked_mul(shape[1]).map(|len| (len, values.try_reserve_exact(len)));
    let Some((len, Ok(()))) = reserved else {
        let [clouds, width] = shape;
        let text =
            format!("there is no memory for {clouds} x {width} {what}; request fewer samples");
        return Err(PyMemoryError::new_err(text));
    };
    values.resize(len, value);
    Ok(Array2::from_shape_vec(shape, values).expect("as many as the shape has"))
}
