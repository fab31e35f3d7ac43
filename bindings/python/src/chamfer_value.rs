//! One value for each pair of clouds in NumPy arrays: the Chamfer distance, and its gradients.

use crate::chamfer::{
    Sending, Told, batch, each_chamfer, each_nearest, heard, index_of, norm_of, sent, types_differ,
};
use crate::error;
use crate::host::{about, clouds};
use crate::view::View;
use farpoint::chamfer::{Method, Reduced, Reduction, reduce};
use farpoint::{Chamfer, Matcher, Nearest, Norm, Scalar};
use numpy::{
    Element, IntoPyArray, PyArrayDyn, PyArrayMethods, PyReadonlyArray1, PyUntypedArray,
    PyUntypedArrayMethods,
};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::PyTuple;

pub(crate) fn add(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add_function(wrap_pyfunction!(chamfer_clouds, module)?)?;
    module.add_function(wrap_pyfunction!(chamfer_backward, module)?)
}

/// Numbers that are kept for each pair of what a maximum was taken of, behind the distances: the
/// largest of either side, then what gradients are divided by.
const EXTREMES: usize = farpoint_cuda::chamfer::EXTREMES;

/// How a value is made.
#[derive(FromPyObject)]
pub(crate) struct Asked {
    norm: u8,
    /// Whether distances of norm 2 are square roots.
    plain: bool,
    reduction: String,
    both: bool,
    threads: Option<usize>,
}

impl Asked {
    fn matcher(&self) -> PyResult<Matcher> {
        let matcher = Matcher::new().method(Method::Auto).norm(norm_of(self.norm)?);
        Ok(match self.threads {
            Some(threads) => matcher.threads(threads),
            None => matcher,
        })
    }
}

pub(crate) fn reduction_of(name: &str) -> PyResult<Reduction> {
    name.parse().map_err(PyValueError::new_err)
}

/// The value of each pair of batches `(b, n, d)` and `(b, m, d)`, in double precision. With `keep`
/// also what the gradients need: the indices of `x`'s nearest points, then those of `y`'s, in one
/// row; the distances likewise, and what is kept of maxima.
#[pyfunction]
#[pyo3(signature = (x, y, x_lengths, y_lengths, asked, keep))]
fn chamfer_clouds<'py>(
    x: &Bound<'py, PyUntypedArray>,
    y: &Bound<'py, PyUntypedArray>,
    x_lengths: Option<Vec<usize>>,
    y_lengths: Option<Vec<usize>>,
    asked: Asked,
    keep: bool,
) -> PyResult<Bound<'py, PyTuple>> {
    let lengths = [x_lengths, y_lengths];
    if let (Ok(x), Ok(y)) = (x.cast::<PyArrayDyn<f32>>(), y.cast::<PyArrayDyn<f32>>()) {
        values(x, y, lengths, &asked, keep)
    } else if let (Ok(x), Ok(y)) = (x.cast::<PyArrayDyn<f64>>(), y.cast::<PyArrayDyn<f64>>()) {
        values(x, y, lengths, &asked, keep)
    } else {
        Err(types_differ(x, y))
    }
}

/// What was found for the first side of each pair, and for the second if both are wanted.
type Sides<T> = [Vec<Nearest<T>>; 2];

fn values<'py, T: Scalar + Element>(
    x: &Bound<'py, PyArrayDyn<T>>,
    y: &Bound<'py, PyArrayDyn<T>>,
    [x_lengths, y_lengths]: [Option<Vec<usize>>; 2],
    asked: &Asked,
    keep: bool,
) -> PyResult<Bound<'py, PyTuple>> {
    let py = x.py();
    let about = format!("{} and {}", about(x.as_untyped()), about(y.as_untyped()));
    let (matcher, how) = (asked.matcher()?, reduction_of(&asked.reduction)?);
    let (xs, ys) = (batch(x, x_lengths)?, batch(y, y_lengths)?);
    let found = heard(py, &xs, &ys, |told| search(&matcher, &xs, &ys, asked.both, told))?;
    let found = found.map_err(|error| error::sampling(error, &about))?;
    let reduced: Vec<Reduced> = (0..xs.len())
        .map(|pair| reduce(&found[0][pair], found[1].get(pair), how, asked.plain))
        .collect();
    let values: Vec<f64> = reduced.iter().map(|reduced| reduced.value).collect();
    let values = values.into_pyarray(py);
    if !keep {
        return (values,).into_pyobject(py);
    }
    let rows = [x.shape()[1], y.shape()[1]];
    let (indices, distances) = kept(&found, &reduced, rows, how);
    (values, indices.into_pyarray(py), distances.into_pyarray(py)).into_pyobject(py)
}

fn search<T: Scalar>(
    matcher: &Matcher,
    xs: &[View<T>],
    ys: &[View<T>],
    both: bool,
    told: Told<'_>,
) -> Result<Sides<T>, farpoint::Error> {
    if !both {
        return Ok([each_nearest(matcher, xs, ys, told)?, Vec::new()]);
    }
    let found = each_chamfer(matcher, xs, ys, told)?;
    Ok(found.into_iter().map(|Chamfer { a_to_b, b_to_a }| (a_to_b, b_to_a)).unzip().into())
}

/// Indices and distances of all clouds, padded; those of the second side behind those of the first.
fn kept<T: Scalar>(
    found: &Sides<T>,
    reduced: &[Reduced],
    rows: [usize; 2],
    how: Reduction,
) -> (Vec<i64>, Vec<T>) {
    let (mut indices, mut distances) = (Vec::new(), Vec::new());
    for (side, rows) in found.iter().zip(rows) {
        for nearest in side {
            let end = indices.len() + rows;
            let index = |&index: &u32| {
                if index == Nearest::<T>::NONE { -1 } else { i64::from(index) }
            };
            indices.extend(nearest.indices.iter().map(index));
            indices.resize(end, -1);
            distances.extend_from_slice(&nearest.raw_distances);
            distances.resize(end, T::ZERO);
        }
    }
    if how == Reduction::Max {
        for reduced in reduced {
            let numbers = reduced.largest.into_iter().chain(reduced.divisors);
            distances.extend(numbers.map(T::from_f64));
        }
    }
    (indices, distances)
}

/// The gradients of both batches from those of the values, by what `chamfer_clouds` kept.
#[pyfunction]
#[pyo3(signature = (x, y, x_lengths, y_lengths, indices, distances, grad, asked))]
#[expect(clippy::too_many_arguments, reason = "Python's wrapper names them")]
fn chamfer_backward<'py>(
    x: &Bound<'py, PyUntypedArray>,
    y: &Bound<'py, PyUntypedArray>,
    x_lengths: Option<Vec<usize>>,
    y_lengths: Option<Vec<usize>>,
    indices: PyReadonlyArray1<'py, i64>,
    distances: &Bound<'py, PyUntypedArray>,
    grad: &Bound<'py, PyUntypedArray>,
    asked: Asked,
) -> PyResult<Bound<'py, PyTuple>> {
    let lengths = [x_lengths, y_lengths];
    if let (Ok(a), Ok(b)) = (x.cast::<PyArrayDyn<f32>>(), y.cast::<PyArrayDyn<f32>>()) {
        gradients(a, b, lengths, indices, [distances.extract()?, grad.extract()?], &asked)
    } else if let (Ok(a), Ok(b)) = (x.cast::<PyArrayDyn<f64>>(), y.cast::<PyArrayDyn<f64>>()) {
        gradients(a, b, lengths, indices, [distances.extract()?, grad.extract()?], &asked)
    } else {
        Err(types_differ(x, y))
    }
}

fn gradients<'py, T: Scalar + Element>(
    x: &Bound<'py, PyArrayDyn<T>>,
    y: &Bound<'py, PyArrayDyn<T>>,
    lengths: [Option<Vec<usize>>; 2],
    indices: PyReadonlyArray1<'py, i64>,
    [distances, grad]: [PyReadonlyArray1<'py, T>; 2],
    asked: &Asked,
) -> PyResult<Bound<'py, PyTuple>> {
    let py = x.py();
    let about = format!("{} and {}", about(x.as_untyped()), about(y.as_untyped()));
    let kept = Kept {
        pairs: x.shape()[0],
        rows: [x.shape()[1], y.shape()[1]],
        lengths,
        indices: indices.as_slice()?,
        distances: distances.as_slice()?,
        norm: norm_of(asked.norm)?,
        how: reduction_of(&asked.reduction)?,
        plain: asked.plain,
        both: asked.both,
    };
    let grad = grad.as_array();
    if !kept.fits() || y.shape()[0] != kept.pairs || grad.len() != kept.pairs {
        let text = format!("what was kept of the clouds does not fit them ({about})");
        return Err(PyValueError::new_err(text));
    }
    let (xs, ys) = (clouds(x)?.0, clouds(y)?.0);
    let jobs = (0..kept.pairs).map(|pair| kept.grads(pair, grad[pair]));
    let jobs: Vec<_> = jobs.collect::<PyResult<_>>()?;
    let (of_x, of_y) = sent(py, [&xs, &ys], &jobs, asked.threads, &about)?;
    let of_x = of_x.into_pyarray(py).reshape(x.shape())?;
    let of_y = of_y.into_pyarray(py).reshape(y.shape())?;
    (of_x, of_y).into_pyobject(py)
}

/// What `chamfer_clouds` kept of a batch.
struct Kept<'a, T> {
    pairs: usize,
    rows: [usize; 2],
    lengths: [Option<Vec<usize>>; 2],
    indices: &'a [i64],
    /// None where nobody reads them: neither roots nor a maximum were taken.
    distances: &'a [T],
    norm: Norm,
    how: Reduction,
    plain: bool,
    both: bool,
}

impl<T: Scalar> Kept<'_, T> {
    /// Places of all rows.
    fn places(&self) -> usize {
        self.pairs * (self.rows[0] + if self.both { self.rows[1] } else { 0 })
    }

    fn reads_distances(&self) -> bool {
        self.how == Reduction::Max || self.plain && self.norm == Norm::Two
    }

    fn fits(&self) -> bool {
        let extremes = if self.how == Reduction::Max { EXTREMES * self.pairs } else { 0 };
        let distances = if self.reads_distances() { self.places() + extremes } else { 0 };
        let lengths = self.lengths.iter().flatten().all(|lengths| lengths.len() == self.pairs);
        let named = self.indices.iter().all(|&index| index == -1 || u32::try_from(index).is_ok());
        let counts = self.indices.len() == self.places() && self.distances.len() >= distances;
        counts && lengths && named
    }

    /// One direction of a pair, padding included; without distances where nobody reads them.
    fn side(&self, pair: usize, side: usize) -> PyResult<Nearest<T>> {
        let rows = self.rows[side];
        let first = side * self.pairs * self.rows[0] + pair * rows;
        if side == 1 && !self.both {
            let (raw_distances, indices) = (vec![T::ZERO; rows], vec![Nearest::<T>::NONE; rows]);
            return Ok(Nearest { raw_distances, indices, norm: self.norm, dropped: 0 });
        }
        let raw_distances = match self.reads_distances() {
            true => self.distances[first..first + rows].to_vec(),
            false => vec![T::ZERO; rows],
        };
        let indices = self.indices[first..first + rows].iter().map(index_of);
        let indices = indices.collect::<PyResult<_>>()?;
        Ok(Nearest { raw_distances, indices, norm: self.norm, dropped: 0 })
    }

    /// Both directions of a pair, and the gradients of their distances from that of the value.
    fn grads(&self, pair: usize, of_value: T) -> PyResult<Sending<T>> {
        let found = Chamfer { a_to_b: self.side(pair, 0)?, b_to_a: self.side(pair, 1)? };
        let count =
            |side: usize| self.lengths[side].as_ref().map_or(self.rows[side], |of| of[pair]);
        let reduced = match self.how {
            Reduction::Max => {
                let kept = &self.distances[self.places() + EXTREMES * pair..];
                let pick = |at: usize| [kept[at].to_f64(), kept[at + 1].to_f64()];
                Reduced::kept(pick(0), pick(2), self.how, self.plain)
            }
            Reduction::Mean => {
                Reduced::kept([0.0; 2], [0, 1].map(|side| count(side) as f64), self.how, self.plain)
            }
            Reduction::Sum => Reduced::kept([0.0; 2], [1.0; 2], self.how, self.plain),
        };
        let grads =
            [reduced.grads(0, &found.a_to_b, of_value), reduced.grads(1, &found.b_to_a, of_value)];
        Ok((found, grads))
    }
}
