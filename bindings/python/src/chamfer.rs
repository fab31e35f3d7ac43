//! Nearest neighbors between NumPy arrays, and gradients of their distances.

use crate::host::{about, clouds, side_by_side, unknown_type};
use crate::view::View;
use crate::{error, watch};
use farpoint::chamfer::{self, Gradients, Method};
use farpoint::{Chamfer, Error, Matcher, Nearest, Norm, Observer, Points, Scalar};
use numpy::ndarray::Array2;
use numpy::{
    Element, IntoPyArray, PyArrayDyn, PyArrayMethods, PyReadonlyArray2, PyUntypedArray,
    PyUntypedArrayMethods,
};
use pyo3::exceptions::{PyTypeError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::PyTuple;

pub(crate) fn add(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add_function(wrap_pyfunction!(match_clouds, module)?)?;
    module.add_function(wrap_pyfunction!(match_backward, module)?)
}

/// For each point of `x` the nearest of `y`, and with `both` for each of `y` the nearest of `x`:
/// distances `(b, n)` as the norm gives them (2: squared) and indices, padded with 0 and -1. `x` and
/// `y` are batches `(b, n, d)`.
#[pyfunction]
#[pyo3(signature = (x, y, x_lengths, y_lengths, norm, method, threads, both))]
#[expect(clippy::too_many_arguments, reason = "Python's wrapper names them")]
fn match_clouds<'py>(
    x: &Bound<'py, PyUntypedArray>,
    y: &Bound<'py, PyUntypedArray>,
    x_lengths: Option<Vec<usize>>,
    y_lengths: Option<Vec<usize>>,
    norm: u8,
    method: &str,
    threads: Option<usize>,
    both: bool,
) -> PyResult<Bound<'py, PyTuple>> {
    let method: Method = method.parse().map_err(PyValueError::new_err)?;
    let matcher = Matcher::new().method(method).norm(norm_of(norm)?);
    let matcher = match threads {
        Some(threads) => matcher.threads(threads),
        None => matcher,
    };
    let lengths = [x_lengths, y_lengths];
    if let (Ok(x), Ok(y)) = (x.cast::<PyArrayDyn<f32>>(), y.cast::<PyArrayDyn<f32>>()) {
        search(&matcher, x, y, lengths, both)
    } else if let (Ok(x), Ok(y)) = (x.cast::<PyArrayDyn<f64>>(), y.cast::<PyArrayDyn<f64>>()) {
        search(&matcher, x, y, lengths, both)
    } else {
        Err(types_differ(x, y))
    }
}

pub(crate) fn norm_of(norm: u8) -> PyResult<Norm> {
    match norm {
        1 => Ok(Norm::One),
        2 => Ok(Norm::Two),
        _ => Err(PyValueError::new_err(format!("norm is {norm}; it must be 1 or 2"))),
    }
}

pub(crate) fn types_differ(x: &Bound<'_, PyUntypedArray>, y: &Bound<'_, PyUntypedArray>) -> PyErr {
    if x.dtype().is(y.dtype()) {
        return unknown_type(x);
    }
    let text = format!("both clouds must be of one type ({} and {})", about(x), about(y));
    PyTypeError::new_err(text)
}

/// The clouds of a batch without their padding.
pub(crate) fn batch<'a, T: Scalar + Element>(
    array: &'a Bound<'_, PyArrayDyn<T>>,
    lengths: Option<Vec<usize>>,
) -> PyResult<Vec<View<'a, T>>> {
    let (views, _) = clouds(array)?;
    let Some(lengths) = lengths else { return Ok(views) };
    if lengths.len() != views.len() {
        let text = format!("{} lengths ({})", lengths.len(), about(array.as_untyped()));
        return Err(PyValueError::new_err(text));
    }
    let cut = |(view, length): (View<'a, T>, usize)| match length <= view.len() {
        true => Ok(view.first(length)),
        false => {
            let text = format!("length {length} ({})", about(array.as_untyped()));
            Err(PyValueError::new_err(text))
        }
    };
    views.into_iter().zip(lengths).map(cut).collect()
}

fn search<'py, T: Scalar + Element>(
    matcher: &Matcher,
    x: &Bound<'py, PyArrayDyn<T>>,
    y: &Bound<'py, PyArrayDyn<T>>,
    [x_lengths, y_lengths]: [Option<Vec<usize>>; 2],
    both: bool,
) -> PyResult<Bound<'py, PyTuple>> {
    let py = x.py();
    let about = format!("{} and {}", about(x.as_untyped()), about(y.as_untyped()));
    let failed = |error| error::sampling(error, &about);
    let (xs, ys) = (batch(x, x_lengths)?, batch(y, y_lengths)?);
    if !both {
        let search = |told: Told<'_>| each_nearest(matcher, &xs, &ys, told);
        let found = heard(py, &xs, &ys, search)?.map_err(failed)?;
        return stacked(py, &found.iter().collect::<Vec<_>>(), x.shape()[1])?.into_pyobject(py);
    }
    let search = |told: Told<'_>| each_chamfer(matcher, &xs, &ys, told);
    let found = heard(py, &xs, &ys, search)?.map_err(failed)?;
    let x_to_y: Vec<_> = found.iter().map(|chamfer| &chamfer.a_to_b).collect();
    let y_to_x: Vec<_> = found.iter().map(|chamfer| &chamfer.b_to_a).collect();
    let (dx, ix) = stacked(py, &x_to_y, x.shape()[1])?;
    let (dy, iy) = stacked(py, &y_to_x, y.shape()[1])?;
    (dx, ix, dy, iy).into_pyobject(py)
}

/// Who is told of a search; nobody if it can't take long.
pub(crate) type Told<'a> = Option<Observer<'a>>;

/// Searches without the GIL, so that Ctrl-C is heard if it may take long.
pub(crate) fn heard<T: Scalar, R: Send>(
    py: Python<'_>,
    xs: &[View<T>],
    ys: &[View<T>],
    search: impl FnOnce(Told<'_>) -> Result<R, Error> + Send,
) -> PyResult<Result<R, Error>> {
    match watch::is_long(xs.iter().zip(ys).map(|(x, y)| (x.len(), y.len()))) {
        true => watch::run(py, true, None, |told| search(Some(told))),
        false => Ok(py.detach(|| search(None))),
    }
}

/// A single pair is not said to be in a batch.
pub(crate) fn each_nearest<T: Scalar>(
    matcher: &Matcher,
    xs: &[View<T>],
    ys: &[View<T>],
    told: Told<'_>,
) -> Result<Vec<Nearest<T>>, Error> {
    match (xs, ys, told) {
        ([x], [y], None) => Ok(vec![matcher.nearest(x, y)?]),
        ([x], [y], Some(told)) => Ok(vec![matcher.nearest_with(x, y, told)?]),
        (_, _, None) => matcher.nearest_batch(xs, ys),
        (_, _, Some(told)) => matcher.nearest_batch_with(xs, ys, told),
    }
}

pub(crate) fn each_chamfer<T: Scalar>(
    matcher: &Matcher,
    xs: &[View<T>],
    ys: &[View<T>],
    told: Told<'_>,
) -> Result<Vec<Chamfer<T>>, Error> {
    match (xs, ys, told) {
        ([x], [y], None) => Ok(vec![matcher.chamfer(x, y)?]),
        ([x], [y], Some(told)) => Ok(vec![matcher.chamfer_with(x, y, told)?]),
        (_, _, None) => matcher.chamfer_batch(xs, ys),
        (_, _, Some(told)) => matcher.chamfer_batch_with(xs, ys, told),
    }
}

type Arrays<'py> = (Bound<'py, PyAny>, Bound<'py, PyAny>);

/// Distances and indices of a batch as arrays `(b, n)`.
fn stacked<'py, T: Scalar + Element>(
    py: Python<'py>,
    found: &[&Nearest<T>],
    n: usize,
) -> PyResult<Arrays<'py>> {
    let failed = |error| error::sampling(error, "nearest points");
    let distances: Vec<_> = found.iter().map(|nearest| &nearest.raw_distances[..]).collect();
    let index = |&index: &u32| if index == Nearest::<T>::NONE { -1 } else { i64::from(index) };
    let indices: Vec<Vec<i64>> =
        found.iter().map(|nearest| nearest.indices.iter().map(index).collect()).collect();
    let distances = chamfer::padded_rows(&distances, n, T::ZERO).map_err(failed)?;
    let indices = chamfer::padded_rows(&indices, n, -1).map_err(failed)?;
    let shape = (found.len(), n);
    let distances = Array2::from_shape_vec(shape, distances).expect("n a cloud");
    let indices = Array2::from_shape_vec(shape, indices).expect("n a cloud");
    Ok((distances.into_pyarray(py).into_any(), indices.into_pyarray(py).into_any()))
}

/// Gradients `(b, n, d)` of both batches from those of the distances, by the indices that
/// `match_clouds` found. The same bits on every run and any number of threads.
#[pyfunction]
#[pyo3(signature = (x, y, x_indices, y_indices, x_grad, y_grad, norm, threads = None))]
#[expect(clippy::too_many_arguments, reason = "Python's wrapper names them")]
fn match_backward<'py>(
    x: &Bound<'py, PyUntypedArray>,
    y: &Bound<'py, PyUntypedArray>,
    x_indices: PyReadonlyArray2<'py, i64>,
    y_indices: PyReadonlyArray2<'py, i64>,
    x_grad: &Bound<'py, PyUntypedArray>,
    y_grad: &Bound<'py, PyUntypedArray>,
    norm: u8,
    threads: Option<usize>,
) -> PyResult<Bound<'py, PyTuple>> {
    let indices = [x_indices, y_indices];
    let norm = norm_of(norm)?;
    if let (Ok(a), Ok(b)) = (x.cast::<PyArrayDyn<f32>>(), y.cast::<PyArrayDyn<f32>>()) {
        gradients(a, b, indices, [x_grad.extract()?, y_grad.extract()?], norm, threads)
    } else if let (Ok(a), Ok(b)) = (x.cast::<PyArrayDyn<f64>>(), y.cast::<PyArrayDyn<f64>>()) {
        gradients(a, b, indices, [x_grad.extract()?, y_grad.extract()?], norm, threads)
    } else {
        Err(types_differ(x, y))
    }
}

fn gradients<'py, T: Scalar + Element>(
    x: &Bound<'py, PyArrayDyn<T>>,
    y: &Bound<'py, PyArrayDyn<T>>,
    [x_indices, y_indices]: [PyReadonlyArray2<'py, i64>; 2],
    [x_grad, y_grad]: [PyReadonlyArray2<'py, T>; 2],
    norm: Norm,
    threads: Option<usize>,
) -> PyResult<Bound<'py, PyTuple>> {
    let py = x.py();
    let about = format!("{} and {}", about(x.as_untyped()), about(y.as_untyped()));
    let (xs, ys) = (clouds(x)?.0, clouds(y)?.0);
    let counts = [y.shape()[0], x_indices.shape()[0], y_indices.shape()[0], x_grad.shape()[0]];
    if counts.iter().chain([&y_grad.shape()[0]]).any(|&count| count != xs.len()) {
        return Err(PyValueError::new_err(format!("batches of different sizes ({about})")));
    }
    let nearest = |indices: &PyReadonlyArray2<'py, i64>, k: usize| {
        let indices = indices.as_array().row(k).iter().map(index_of).collect::<PyResult<_>>()?;
        PyResult::Ok(Nearest { raw_distances: Vec::new(), indices, norm, dropped: 0 })
    };
    let given = |grad: &PyReadonlyArray2<'py, T>, k: usize| grad.as_array().row(k).to_vec();
    let job = |k: usize| {
        let found = Chamfer { a_to_b: nearest(&x_indices, k)?, b_to_a: nearest(&y_indices, k)? };
        PyResult::Ok((found, [given(&x_grad, k), given(&y_grad, k)]))
    };
    let jobs = (0..xs.len()).map(job).collect::<PyResult<Vec<_>>>()?;
    let (of_x, of_y) = sent(py, [&xs, &ys], &jobs, threads, &about)?;
    let of_x = of_x.into_pyarray(py).reshape(x.shape())?;
    let of_y = of_y.into_pyarray(py).reshape(y.shape())?;
    (of_x, of_y).into_pyobject(py)
}

/// What the gradients of a pair are made of: the nearest points, and gradients of their distances.
pub(crate) type Sending<T> = (Chamfer<T>, [Vec<T>; 2]);

/// The gradients of all pairs, those of either side one after another.
pub(crate) fn sent<T: Scalar>(
    py: Python<'_>,
    [xs, ys]: [&[View<T>]; 2],
    jobs: &[Sending<T>],
    threads: Option<usize>,
    about: &str,
) -> PyResult<(Vec<T>, Vec<T>)> {
    let sizes: Vec<_> = xs.iter().zip(ys).map(|(x, y)| x.len().saturating_add(y.len())).collect();
    let one = |k: usize, threads: usize| -> Result<Gradients<T>, Error> {
        let (found, [gx, gy]) = &jobs[k];
        Matcher::new().threads(threads).backward(found, &xs[k], &ys[k], gx, gy)
    };
    let sent = watch::several(py, false, |stop| side_by_side(threads, &sizes, stop, one))?;
    let sent = sent.map_err(|error| error::sampling(error, about))?;
    Ok(sent.into_iter().map(|pair| (pair.a, pair.b)).fold(Default::default(), joined))
}

fn joined<T>((mut a, mut b): (Vec<T>, Vec<T>), (x, y): (Vec<T>, Vec<T>)) -> (Vec<T>, Vec<T>) {
    a.extend(x);
    b.extend(y);
    (a, b)
}

/// The index of a nearest point; -1 stands for none.
pub(crate) fn index_of(&index: &i64) -> PyResult<u32> {
    match index {
        -1 => Ok(Nearest::<f32>::NONE),
        _ => u32::try_from(index).map_err(|_| {
            PyValueError::new_err(format!("nearest index {index} is outside of every cloud"))
        }),
    }
}
