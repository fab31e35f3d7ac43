//! Nearest neighbors between NumPy arrays.

use super::{Batches, Pair, job};
use crate::arrays::{View, in_precision};
use crate::error::room;
use crate::{error, watch};
use farpoint::backend::memory;
use farpoint::backend::padded_rows;
use farpoint::{Chamfer, Cpu, Device, Error, Matcher, Nearest, Observer, Points, Scalar};
use numpy::ndarray::Array2;
use numpy::{Element, IntoPyArray};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::PyTuple;

pub(super) fn add(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add_function(wrap_pyfunction!(match_clouds, module)?)
}

/// Finds for each point of `x` the nearest of `y`, and with `both` for each of `y` the nearest of `x`: distances
/// `(b, n)` of the norm (2: squared) and indices, padded with 0 and -1. `callback(done, of)` is called
/// now and then.
#[pyfunction]
#[pyo3(signature = (clouds, norm, method, threads, both, callback = None))]
fn match_clouds<'py>(
    clouds: Batches<'py>,
    norm: u8,
    method: &str,
    threads: Option<usize>,
    both: bool,
    callback: Option<Py<PyAny>>,
) -> PyResult<Bound<'py, PyTuple>> {
    let (job, cpu) = (job(norm)?.method(method.parse().map_err(error::name)?), watch::cpu(threads));
    let Batches(x, y, x_lengths, y_lengths) = &clouds;
    let lengths = [x_lengths.as_deref(), y_lengths.as_deref()];
    let progress = callback.as_ref();
    in_precision!(x, y, |a, b| search(
        &job,
        &cpu,
        &Pair { arrays: [a, b], lengths },
        both,
        progress
    ))
}

fn search<'py, T: Scalar + Element>(
    job: &Matcher,
    cpu: &Cpu,
    pair: &Pair<'_, 'py, T>,
    both: bool,
    callback: Option<&Py<PyAny>>,
) -> PyResult<Bound<'py, PyTuple>> {
    let py = pair.py();
    let results = nearest(job, cpu, pair, both, callback)?;
    let rows = pair.rows();
    let (dx, ix) = stacked(py, &results[0], rows[0])?;
    if !both {
        return (dx, ix).into_pyobject(py);
    }
    let (dy, iy) = stacked(py, &results[1], rows[1])?;
    (dx, ix, dy, iy).into_pyobject(py)
}

/// Results of the first side of each pair, and of the second if requested.
pub(super) type Sides<T> = [Vec<Nearest<T>>; 2];

/// Searches without the GIL; Ctrl-C is checked if it may take long, and the callback gets the progress.
pub(super) fn nearest<T: Scalar + Element>(
    job: &Matcher,
    cpu: &Cpu,
    pair: &Pair<'_, '_, T>,
    both: bool,
    callback: Option<&Py<PyAny>>,
) -> PyResult<Sides<T>> {
    let [xs, ys] = &pair.clouds()?;
    let long = watch::is_long(xs.iter().zip(ys).map(|(x, y)| (x.len(), y.len())));
    let results = watch::run(pair.py(), long, callback, |observer| match both {
        false => Ok([each_nearest(job, cpu, xs, ys, observer)?, Vec::new()]),
        true => {
            let results = each_chamfer(job, cpu, xs, ys, observer)?.into_iter();
            Ok(results.map(|Chamfer { a_to_b, b_to_a }| (a_to_b, b_to_a)).unzip().into())
        }
    })?;
    results.map_err(|error| error::without_skipping(error, &pair.about()))
}

/// Searches each pair. Errors of a single pair do not mention a batch.
fn each_nearest<T: Scalar>(
    job: &Matcher,
    cpu: &Cpu,
    xs: &[View<'_, T>],
    ys: &[View<'_, T>],
    observer: Option<Observer<'_>>,
) -> Result<Vec<Nearest<T>>, Error> {
    match (xs, ys) {
        ([x], [y]) => Ok(vec![cpu.nearest(job, x, y, observer)?]),
        _ => cpu.nearest_batch(job, xs, ys, observer),
    }
}

fn each_chamfer<T: Scalar>(
    job: &Matcher,
    cpu: &Cpu,
    xs: &[View<'_, T>],
    ys: &[View<'_, T>],
    observer: Option<Observer<'_>>,
) -> Result<Vec<Chamfer<T>>, Error> {
    match (xs, ys) {
        ([x], [y]) => Ok(vec![cpu.chamfer(job, x, y, observer)?]),
        _ => cpu.chamfer_batch(job, xs, ys, observer),
    }
}

type Arrays<'py> = (Bound<'py, PyAny>, Bound<'py, PyAny>);

/// Returns distances and indices of a batch as arrays `(b, n)`.
fn stacked<'py, T: Scalar + Element>(
    py: Python<'py>,
    results: &[Nearest<T>],
    n: usize,
) -> PyResult<Arrays<'py>> {
    let failed = |error| error::sampling(error, "nearest points");
    let distances: Vec<_> = results.iter().map(|nearest| &nearest.raw_distances[..]).collect();
    let indices = |nearest: &Nearest<T>| memory::collected(nearest.indices.iter().map(from_index));
    let indices = room(|| memory::collected(results.iter().map(indices)))?;
    let distances = padded_rows(&distances, n, T::ZERO).map_err(failed)?;
    let indices = padded_rows(&indices, n, -1).map_err(failed)?;
    let shape = (results.len(), n);
    let distances = Array2::from_shape_vec(shape, distances).expect("n per cloud");
    let indices = Array2::from_shape_vec(shape, indices).expect("n per cloud");
    Ok((distances.into_pyarray(py).into_any(), indices.into_pyarray(py).into_any()))
}

/// Converts the index of a nearest point to Python's; -1 stands for none.
pub(super) fn from_index(&index: &u32) -> i64 {
    if index == Nearest::<f32>::NONE { -1 } else { i64::from(index) }
}

/// Converts an index of Python's; the reverse of [`from_index`].
pub(super) fn to_index(&index: &i64) -> PyResult<u32> {
    match index {
        -1 => Ok(Nearest::<f32>::NONE),
        _ => u32::try_from(index).map_err(|_| {
            PyValueError::new_err(format!("nearest index {index} is outside of every cloud"))
        }),
    }
}
