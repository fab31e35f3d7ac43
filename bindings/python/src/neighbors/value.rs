//! One value for each pair of clouds in NumPy arrays: the Chamfer distance, and its gradients.

use super::gradients::{GradientInput, pair_gradients};
use super::search::{Sides, from_index, nearest, to_index};
use super::{Batches, Pair, job};
use crate::arrays::in_precision;
use crate::error::room;
use crate::{error, watch};
use farpoint::backend::memory;
use farpoint::neighbors::{Reduced, Reduction, reduce};
use farpoint::{Chamfer, Error, Nearest, Norm, Scalar};
use numpy::{Element, IntoPyArray, PyReadonlyArray1, PyUntypedArray};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::PyTuple;

pub(super) fn add(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add_function(wrap_pyfunction!(chamfer_clouds, module)?)?;
    module.add_function(wrap_pyfunction!(chamfer_backward, module)?)
}

/// Numbers of the data of maxima per pair, behind the distances: the largest of either side, then
/// the divisors of gradients.
const EXTREMES: usize = farpoint_cuda::neighbors::EXTREMES;

/// Reduction of the distances of a pair to one value: the attributes of Python's `Reduction`.
#[derive(FromPyObject)]
struct ReductionOptions {
    norm: u8,
    /// True if distances of norm 2 are square roots.
    plain: bool,
    reduction: String,
    both: bool,
    threads: Option<usize>,
}

pub(super) fn reduction_of(name: &str) -> PyResult<Reduction> {
    name.parse().map_err(error::name)
}

/// Returns the value of each pair of batches, in double precision. With `keep` also the input of the gradients: the
/// indices of `x`'s nearest points, then those of `y`'s, in one row; the distances likewise, and the data
/// of maxima. `callback(done, of)` is called now and then.
#[pyfunction]
#[pyo3(signature = (clouds, how, keep, callback = None))]
fn chamfer_clouds<'py>(
    clouds: Batches<'py>,
    how: ReductionOptions,
    keep: bool,
    callback: Option<Py<PyAny>>,
) -> PyResult<Bound<'py, PyTuple>> {
    let Batches(x, y, x_lengths, y_lengths) = &clouds;
    let lengths = [x_lengths.as_deref(), y_lengths.as_deref()];
    let progress = callback.as_ref();
    in_precision!(x, y, |a, b| values(&Pair { arrays: [a, b], lengths }, &how, keep, progress))
}

fn values<'py, T: Scalar + Element>(
    pair: &Pair<'_, 'py, T>,
    how: &ReductionOptions,
    keep: bool,
    callback: Option<&Py<PyAny>>,
) -> PyResult<Bound<'py, PyTuple>> {
    let py = pair.py();
    let reduction = reduction_of(&how.reduction)?;
    let results = nearest(&job(how.norm)?, &watch::cpu(how.threads), pair, how.both, callback)?;
    check_filled(&results[0]).map_err(|error| error::without_skipping(error, &pair.about()))?;
    let reduced: Vec<Reduced> = (0..results[0].len())
        .map(|k| reduce(&results[0][k], results[1].get(k), reduction, how.plain))
        .collect();
    let values: Vec<f64> = reduced.iter().map(|reduced| reduced.value).collect();
    let values = values.into_pyarray(py);
    if !keep {
        return (values,).into_pyobject(py);
    }
    let (indices, distances) = room(|| saved_arrays(&results, &reduced, pair.rows(), reduction))?;
    (values, indices.into_pyarray(py), distances.into_pyarray(py)).into_pyobject(py)
}

/// Refuses clouds without points, which have no value.
fn check_filled<T: Scalar>(results: &[Nearest<T>]) -> Result<(), Error> {
    let Some(cloud) = results.iter().position(|found| found.len() == found.dropped) else {
        return Ok(());
    };
    let source = Box::new(Error::InPair { which: "first", source: Box::new(Error::EmptyCloud) });
    Err(if results.len() == 1 { *source } else { Error::InBatch { cloud, source } })
}

/// Returns indices and distances of all clouds, padded; those of the second side behind those of the first.
fn saved_arrays<T: Scalar>(
    results: &Sides<T>,
    reduced: &[Reduced],
    rows: [usize; 2],
    reduction: Reduction,
) -> (Vec<i64>, Vec<T>) {
    let (mut indices, mut distances) = (Vec::new(), Vec::new());
    for (side, rows) in results.iter().zip(rows) {
        for nearest in side {
            let end = indices.len() + rows;
            memory::extend(&mut indices, nearest.indices.iter().map(from_index));
            memory::resize(&mut indices, end, -1);
            memory::extend(&mut distances, nearest.raw_distances.iter().copied());
            memory::resize(&mut distances, end, T::ZERO);
        }
    }
    if reduction == Reduction::Max {
        for reduced in reduced {
            let numbers = reduced.largest.into_iter().chain(reduced.divisors);
            distances.extend(numbers.map(T::from_f64));
        }
    }
    (indices, distances)
}

/// Returns the gradients of both batches from those of the values, by the results kept by `chamfer_clouds`.
#[pyfunction]
#[pyo3(signature = (clouds, indices, distances, grad, how))]
fn chamfer_backward<'py>(
    clouds: Batches<'py>,
    indices: PyReadonlyArray1<'py, i64>,
    distances: &Bound<'py, PyUntypedArray>,
    grad: &Bound<'py, PyUntypedArray>,
    how: ReductionOptions,
) -> PyResult<Bound<'py, PyTuple>> {
    let Batches(x, y, x_lengths, y_lengths) = &clouds;
    let lengths = [x_lengths.as_deref(), y_lengths.as_deref()];
    in_precision!(x, y, |a, b| {
        let pair = Pair { arrays: [a, b], lengths };
        gradients(&pair, &indices, &distances.extract()?, &grad.extract()?, &how)
    })
}

fn gradients<'py, T: Scalar + Element>(
    pair: &Pair<'_, 'py, T>,
    indices: &PyReadonlyArray1<'py, i64>,
    distances: &PyReadonlyArray1<'py, T>,
    grad: &PyReadonlyArray1<'py, T>,
    how: &ReductionOptions,
) -> PyResult<Bound<'py, PyTuple>> {
    let saved = Saved {
        pairs: pair.counts()[0],
        rows: pair.rows(),
        lengths: pair.lengths,
        indices: indices.as_slice()?,
        distances: distances.as_slice()?,
        norm: job(how.norm)?.norm,
        how: reduction_of(&how.reduction)?,
        plain: how.plain,
        both: how.both,
    };
    let grad = grad.as_array();
    let counts_match = pair.counts()[1] == saved.pairs && grad.len() == saved.pairs;
    if !saved.fits() || !counts_match {
        let text =
            format!("the saved indices and distances do not fit the clouds ({})", pair.about());
        return Err(PyValueError::new_err(text));
    }
    let jobs = (0..saved.pairs).map(|k| saved.grads(k, grad[k])).collect::<PyResult<Vec<_>>>()?;
    pair_gradients(pair, &jobs, how.threads)
}

/// Results of a batch kept by `chamfer_clouds`.
struct Saved<'a, T> {
    pairs: usize,
    rows: [usize; 2],
    lengths: [Option<&'a [usize]>; 2],
    indices: &'a [i64],
    /// Empty if not read: neither roots nor a maximum were taken.
    distances: &'a [T],
    norm: Norm,
    how: Reduction,
    plain: bool,
    both: bool,
}

impl<T: Scalar> Saved<'_, T> {
    /// Returns the number of places of all rows.
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
        let indices_valid =
            self.indices.iter().all(|&index| index == -1 || u32::try_from(index).is_ok());
        let counts = self.indices.len() == self.places() && self.distances.len() >= distances;
        counts && lengths && indices_valid
    }

    /// Returns one direction of a pair, padding included; without distances if they are not read.
    fn side(&self, pair: usize, side: usize) -> PyResult<Nearest<T>> {
        let rows = self.rows[side];
        let first = side * self.pairs * self.rows[0] + pair * rows;
        if side == 1 && !self.both {
            let none = || (memory::zeros(rows), memory::filled(rows, Nearest::<T>::NONE));
            let (raw_distances, indices) = room(none)?;
            return Ok(Nearest { raw_distances, indices, norm: self.norm, dropped: 0 });
        }
        let raw_distances = room(|| match self.reads_distances() {
            true => memory::collected(self.distances[first..first + rows].iter().copied()),
            false => memory::zeros(rows),
        })?;
        let indices = self.indices[first..first + rows].iter().map(to_index);
        let indices = room(|| memory::try_collected(indices))??;
        Ok(Nearest { raw_distances, indices, norm: self.norm, dropped: 0 })
    }

    /// Returns both directions of a pair, and the gradients of their distances from that of the value.
    fn grads(&self, pair: usize, of_value: T) -> PyResult<GradientInput<T>> {
        let nearest_points = Chamfer { a_to_b: self.side(pair, 0)?, b_to_a: self.side(pair, 1)? };
        let count = |side: usize| self.lengths[side].map_or(self.rows[side], |of| of[pair]);
        let reduced = match self.how {
            Reduction::Max => {
                let extremes = &self.distances[self.places() + EXTREMES * pair..];
                let pick = |at: usize| [extremes[at].to_f64(), extremes[at + 1].to_f64()];
                Reduced::kept(pick(0), pick(2), self.how, self.plain)
            }
            Reduction::Mean => {
                Reduced::kept([0.0; 2], [0, 1].map(|side| count(side) as f64), self.how, self.plain)
            }
            Reduction::Sum => Reduced::kept([0.0; 2], [1.0; 2], self.how, self.plain),
            other => {
                let text = format!("there are no gradients of the reduction {other}");
                return Err(PyValueError::new_err(text));
            }
        };
        let grads = [
            reduced.grads(0, &nearest_points.a_to_b, of_value),
            reduced.grads(1, &nearest_points.b_to_a, of_value),
        ];
        Ok((nearest_points, grads))
    }
}
