//! Gradients of nearest distances in NumPy arrays. The same bits on every run and any number of threads.

use super::search::to_index;
use super::{Batches, Pair, job};
use crate::arrays::in_precision;
use crate::batch::side_by_side;
use crate::error::room;
use crate::{error, watch};
use farpoint::backend::memory;
use farpoint::{Chamfer, Cpu, Device, Error, Gradients, Nearest, Norm, Points, Scalar};
use numpy::{
    Element, IntoPyArray, PyArrayMethods, PyReadonlyArray2, PyUntypedArray, PyUntypedArrayMethods,
};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::PyTuple;

pub(super) fn add(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add_function(wrap_pyfunction!(match_backward, module)?)
}

/// Returns gradients of both clouds or batches, of their shapes, from those of the distances of either side, by the
/// indices that `match_clouds` found.
#[pyfunction]
#[pyo3(signature = (clouds, x_indices, y_indices, x_grad, y_grad, norm, threads = None))]
fn match_backward<'py>(
    clouds: Batches<'py>,
    x_indices: PyReadonlyArray2<'py, i64>,
    y_indices: PyReadonlyArray2<'py, i64>,
    x_grad: &Bound<'py, PyUntypedArray>,
    y_grad: &Bound<'py, PyUntypedArray>,
    norm: u8,
    threads: Option<usize>,
) -> PyResult<Bound<'py, PyTuple>> {
    let (indices, norm) = ([x_indices, y_indices], job(norm)?.norm);
    let Batches(x, y, ..) = &clouds;
    in_precision!(x, y, |a, b| {
        let pair = Pair { arrays: [a, b], lengths: [None, None] };
        gradients(&pair, &indices, &[x_grad.extract()?, y_grad.extract()?], norm, threads)
    })
}

fn gradients<'py, T: Scalar + Element>(
    pair: &Pair<'_, 'py, T>,
    indices: &[PyReadonlyArray2<'py, i64>; 2],
    grads: &[PyReadonlyArray2<'py, T>; 2],
    norm: Norm,
    threads: Option<usize>,
) -> PyResult<Bound<'py, PyTuple>> {
    let [pairs, others] = pair.counts();
    let others = [others, indices[0].shape()[0], indices[1].shape()[0]];
    let mut counts = others.into_iter().chain(grads.iter().map(|grad| grad.shape()[0]));
    if counts.any(|count| count != pairs) {
        let text = format!("batches of different sizes ({})", pair.about());
        return Err(PyValueError::new_err(text));
    }
    let nearest = |side: usize, k: usize| {
        let indices = indices[side].as_array();
        let indices = room(|| memory::try_collected(indices.row(k).iter().map(to_index)))??;
        PyResult::Ok(Nearest { raw_distances: Vec::new(), indices, norm, dropped: 0 })
    };
    let distance_grads = |side: usize, k: usize| {
        room(|| memory::collected(grads[side].as_array().row(k).iter().copied()))
    };
    let job = |k: usize| {
        let nearest_points = Chamfer { a_to_b: nearest(0, k)?, b_to_a: nearest(1, k)? };
        PyResult::Ok((nearest_points, [distance_grads(0, k)?, distance_grads(1, k)?]))
    };
    let jobs = (0..pairs).map(job).collect::<PyResult<Vec<_>>>()?;
    pair_gradients(pair, &jobs, threads)
}

/// Input of the gradients of a pair: the nearest points, and gradients of their distances.
pub(super) type GradientInput<T> = (Chamfer<T>, [Vec<T>; 2]);

/// Returns the gradients of all pairs as arrays of the shapes of both batches, padding included.
pub(super) fn pair_gradients<'py, T: Scalar + Element>(
    pair: &Pair<'_, 'py, T>,
    jobs: &[GradientInput<T>],
    threads: Option<usize>,
) -> PyResult<Bound<'py, PyTuple>> {
    let (py, arrays) = (pair.py(), pair.arrays);
    let padded = Pair { arrays, lengths: [None, None] };
    let [xs, ys] = &padded.clouds()?;
    let sizes: Vec<_> = xs.iter().zip(ys).map(|(x, y)| x.len().saturating_add(y.len())).collect();
    let one = |k: usize, threads: usize| -> Result<Gradients<T>, Error> {
        let (nearest_points, [gx, gy]) = &jobs[k];
        Cpu::new().threads(threads).backward(nearest_points, &xs[k], &ys[k], [gx, gy])
    };
    let results = watch::run_batch(py, false, |stop| side_by_side(threads, &sizes, stop, one))?;
    let results = results.map_err(|error| error::without_skipping(error, &pair.about()))?;
    let (of_x, of_y) = room(|| joined(results))?;
    let of_x = of_x.into_pyarray(py).reshape(arrays[0].shape())?;
    let of_y = of_y.into_pyarray(py).reshape(arrays[1].shape())?;
    (of_x, of_y).into_pyobject(py)
}

/// Concatenates the gradients of all pairs.
pub(crate) fn joined<T>(gradients: Vec<Gradients<T>>) -> (Vec<T>, Vec<T>) {
    let (mut of_x, mut of_y) = (Vec::new(), Vec::new());
    for Gradients { a, b } in gradients {
        memory::extend(&mut of_x, a);
        memory::extend(&mut of_y, b);
    }
    (of_x, of_y)
}
