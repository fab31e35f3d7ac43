//! Gradients of the distances of several neighbors in NumPy arrays. The same bits on every run and any number of
//! threads.

use crate::arrays::{about, clouds, in_precision};
use crate::batch::side_by_side;
use crate::error::room;
use crate::neighbors::gradients::joined;
use crate::{error, watch};
use farpoint::backend::FoundNeighbors;
use farpoint::backend::memory;
use farpoint::neighbors::search_backward;
use farpoint::{Error, Gradients, Neighbors, Norm, Points, Scalar, Searcher};
use numpy::{
    Element, IntoPyArray, PyArrayDyn, PyArrayMethods, PyReadonlyArray3, PyUntypedArray,
    PyUntypedArrayMethods,
};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::PyTuple;

pub(super) fn add(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add_function(wrap_pyfunction!(backward, module)?)
}

/// Returns gradients `(b, n, d)` and `(b, m, d)` of both batches from those of the distances `(b, n, k)`, by the
/// indices of a search. None if the indices are none of a search, which has all missing ones last.
#[pyfunction]
#[pyo3(name = "search_backward")]
fn backward<'py>(
    x: &Bound<'py, PyUntypedArray>,
    y: &Bound<'py, PyUntypedArray>,
    indices: PyReadonlyArray3<'py, i64>,
    grad: &Bound<'py, PyUntypedArray>,
    norm: u8,
) -> PyResult<Option<Bound<'py, PyTuple>>> {
    let norm = if norm == 1 { Norm::One } else { Norm::Two };
    in_precision!(x, y, |a, b| gradients([a, b], &indices, &grad.extract()?, norm))
}

fn gradients<'py, T: Scalar + Element>(
    arrays: [&Bound<'py, PyArrayDyn<T>>; 2],
    indices: &PyReadonlyArray3<'py, i64>,
    grad: &PyReadonlyArray3<'py, T>,
    norm: Norm,
) -> PyResult<Option<Bound<'py, PyTuple>>> {
    let (py, text) = (grad.py(), about(arrays[0].as_untyped()));
    let ([xs, ys], [b, n, k]) = ([clouds(arrays[0])?.0, clouds(arrays[1])?.0], shape(indices));
    let fits = grad.shape() == indices.shape() && xs.iter().all(|x| x.len() == n);
    if !fits || xs.len() != b || ys.len() != b {
        let shapes = format!("indices ({b}, {n}, {k}), gradients {:?}", grad.shape());
        return Err(PyValueError::new_err(format!("{shapes} do not fit ({text})")));
    }
    let (indices, grad) = (indices.as_array(), grad.as_array());
    let neighbors_and_grads = (0..b).map(|cloud| {
        let rows = indices.index_axis(numpy::ndarray::Axis(0), cloud);
        let rows = memory::collected(rows.iter().copied());
        let grad = grad.index_axis(numpy::ndarray::Axis(0), cloud);
        let grad = memory::collected(grad.iter().copied());
        Some((neighbors(&rows, k, ys[cloud].len(), norm)?, grad))
    });
    let neighbors_and_grads =
        room(|| memory::try_collected(neighbors_and_grads.map(|pair| pair.ok_or(()))))?;
    let Ok(neighbors_and_grads) = neighbors_and_grads else { return Ok(None) };
    let sizes: Vec<_> = xs.iter().map(|x| x.len().saturating_mul(k)).collect();
    let one = |cloud: usize, _: usize| -> Result<Gradients<T>, Error> {
        let (cloud_neighbors, grad) = &neighbors_and_grads[cloud];
        search_backward(cloud_neighbors, &xs[cloud], &ys[cloud], grad)
    };
    let results = watch::run_batch(py, false, |stop| side_by_side(None, &sizes, stop, one))?;
    let results = results.map_err(|error| error::without_skipping(error, &text))?;
    let (of_x, of_y) = room(|| joined(results))?;
    let of_x = of_x.into_pyarray(py).reshape(arrays[0].shape())?;
    let of_y = of_y.into_pyarray(py).reshape(arrays[1].shape())?;
    Ok(Some((of_x, of_y).into_pyobject(py)?))
}

fn shape(array: &PyReadonlyArray3<'_, i64>) -> [usize; 3] {
    array.shape().try_into().unwrap_or_default()
}

/// Returns the neighbors of a search, without the distances; `None` if no search can return such indices.
fn neighbors<T: Scalar>(
    rows: &[i64],
    k: usize,
    targets: usize,
    norm: Norm,
) -> Option<Neighbors<T>> {
    let index = |&row: &i64| match row {
        -1 => Some(Neighbors::<T>::NONE),
        _ => u32::try_from(row).ok(),
    };
    let indices = memory::try_collected(rows.iter().map(|row| index(row).ok_or(()))).ok()?;
    let valid_count =
        |row: &[u32]| row.iter().take_while(|&&at| at != Neighbors::<T>::NONE).count() as u32;
    let counts = memory::collected(indices.chunks(k.max(1)).map(valid_count));
    let distances = memory::zeros(indices.len());
    let neighbors_of_rows = FoundNeighbors { distances, indices, counts, dropped: 0 };
    neighbors_of_rows.neighbors(&Searcher::nearest(k).norm(norm), targets)
}
