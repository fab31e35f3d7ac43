//! Approximate samplers and centroids of grids, of NumPy arrays.

use crate::arrays::{View, about, cut, in_precision};
use crate::batch::side_by_side;
use crate::sampling::start_of;
use crate::{error, watch};
use farpoint::approximate::{Centroids, Estimator, Keep, Method, Order, Wanted};
use farpoint::{ApproximateSampler, BadRows, Error, Observer, Points, Scalar, Start};
use numpy::ndarray::Array2;
use numpy::{Element, IntoPyArray, PyArray1, PyArrayDyn, PyReadonlyArray2, PyUntypedArray};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;

pub(crate) fn add(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add_function(wrap_pyfunction!(sample_approximate, module)?)?;
    module.add_function(wrap_pyfunction!(centroids, module)?)
}

/// What is asked of a cloud or of each of a batch: the attributes of Python's `Approximation`. One of
/// count, ratio and cell is given; what else is not given has the method's default.
#[derive(FromPyObject)]
struct Request<'py> {
    method: String,
    count: Option<usize>,
    ratio: Option<f64>,
    cell: Option<f64>,
    /// Starts, a row for all clouds or one per cloud.
    starts: Option<PyReadonlyArray2<'py, i64>>,
    seed: Option<u64>,
    keep: Option<String>,
    bits: Option<u32>,
    window: Option<usize>,
    npdu_order: Option<String>,
    estimator: Option<String>,
    first_stage: Option<String>,
    /// Rows of each cloud that count.
    lengths: Option<Vec<usize>>,
    threads: Option<usize>,
    skip_bad: bool,
    callback: Option<Py<PyAny>>,
}

/// A cloud of so many points may take so long that the caller wants to stop it.
const LONG: usize = 100_000;

/// Rows of each cloud of an array `(n, d)` or `(b, n, d)`.
#[pyfunction]
fn sample_approximate<'py>(
    points: &Bound<'py, PyUntypedArray>,
    request: Request<'py>,
) -> PyResult<Vec<Bound<'py, PyArray1<i64>>>> {
    let found = in_precision!(points, |array| {
        request.each(array, |sampler, cloud, told| Ok(sampler.sample_with(cloud, told)?.indices))
    })?;
    let rows = |rows: Vec<usize>| rows.into_iter().map(|row| row as i64).collect::<Vec<_>>();
    Ok(found.into_iter().map(|found| rows(found).into_pyarray(points.py())).collect())
}

/// Centroids `(k, d)`, the points that each stands for, and the cell size.
type Made<'py> = (Bound<'py, PyAny>, Bound<'py, PyArray1<i64>>, f64);

/// The centroids of each cloud of an array `(n, d)` or `(b, n, d)`.
#[pyfunction]
fn centroids<'py>(
    points: &Bound<'py, PyUntypedArray>,
    request: Request<'py>,
) -> PyResult<Vec<Made<'py>>> {
    in_precision!(points, |array| request.centroids(array))
}

impl<'py> Request<'py> {
    fn centroids<T: Scalar + Element>(
        &self,
        array: &Bound<'py, PyArrayDyn<T>>,
    ) -> PyResult<Vec<Made<'py>>> {
        let found = self.each(array, |sampler, cloud, told| sampler.centroids_with(cloud, told))?;
        let answer = |made: Centroids<T>| {
            let shape = (made.counts.len(), made.dims);
            let counts: Vec<i64> = made.counts.into_iter().map(i64::from).collect();
            let rows = Array2::from_shape_vec(shape, made.coordinates).expect("dims a centroid");
            let py = array.py();
            (rows.into_pyarray(py).into_any(), counts.into_pyarray(py), made.cell)
        };
        Ok(found.into_iter().map(answer).collect())
    }

    /// What `one` gives for every cloud of the array. A single one can be stopped.
    fn each<'a, T: Scalar + Element, R: Send>(
        &self,
        array: &'a Bound<'_, PyArrayDyn<T>>,
        one: impl Fn(&ApproximateSampler, &View<T>, Observer<'_>) -> Result<R, Error> + Sync,
    ) -> PyResult<Vec<R>> {
        let about = about(array.as_untyped());
        let (views, batch) = cut(array, self.lengths.as_deref())?;
        let method = self.method().map_err(PyValueError::new_err)?;
        let job =
            |(k, view): (usize, View<'a, T>)| Ok((self.sampler(method, k, view.len())?, view));
        let jobs = views.into_iter().enumerate().map(job).collect::<PyResult<Vec<_>>>()?;
        let (py, threads, callback) = (array.py(), self.threads, self.callback.as_ref());
        let found = match &jobs[..] {
            [(sampler, view)] if !batch => {
                watch::run(py, view.len() >= LONG, callback, |told| one(sampler, view, told))?
                    .map(|found| vec![found])
            }
            jobs => {
                let sizes: Vec<_> = jobs.iter().map(|(_, view)| view.len()).collect();
                let long = sizes.iter().fold(0usize, |sum, &n| sum.saturating_add(n)) >= LONG;
                watch::several(py, long, |stop| {
                    side_by_side(threads, &sizes, stop, |cloud, threads| {
                        let (sampler, view) = &jobs[cloud];
                        one(&sampler.clone().threads(threads), view, &mut |_| stop.answer())
                    })
                })?
            }
        };
        found.map_err(|error| error::sampling(error, &about))
    }

    /// The sampler of cloud `k` of so many rows. Those of a padded batch give what they have.
    fn sampler(&self, method: Method, k: usize, rows: usize) -> PyResult<ApproximateSampler> {
        let padded = self.lengths.is_some();
        let wanted = match (self.count, self.ratio, self.cell) {
            _ if padded && rows == 0 => Wanted::Count(0),
            (Some(count), ..) if padded => Wanted::Count(count.min(rows)),
            (Some(count), ..) => Wanted::Count(count),
            (_, Some(ratio), _) => Wanted::Ratio(ratio),
            (.., cell) => Wanted::Cell(cell.unwrap_or(f64::NAN)),
        };
        let bad_rows = if self.skip_bad { BadRows::Skip } else { BadRows::Error };
        let mut sampler = ApproximateSampler::new(method, wanted).bad_rows(bad_rows);
        if let Some(starts) = &self.starts {
            sampler = sampler.start(start_of(starts, k)?);
        } else if let Some(seed) = self.seed.filter(|_| method.has_start()) {
            sampler = sampler.start(Start::Random(seed));
        }
        Ok(match self.threads {
            Some(threads) => sampler.threads(threads),
            None => sampler,
        })
    }

    /// The method with its options.
    fn method(&self) -> Result<Method, String> {
        let seed = self.seed.unwrap_or(0);
        Ok(match self.method.parse()? {
            Method::Random { .. } => Method::Random { seed },
            Method::Grid { keep } => {
                let all = [
                    ("first", Keep::First),
                    ("random", Keep::Random(seed)),
                    ("center", Keep::Center),
                ];
                Method::Grid { keep: named("keep", self.keep.as_deref(), keep, all)? }
            }
            Method::Morton { bits } => Method::Morton { bits: self.bits.unwrap_or(bits) },
            Method::Npdu { order, .. } => {
                let all = [
                    ("input", Order::Input),
                    ("morton", Order::Morton),
                    ("neighbors", Order::Neighbors),
                ];
                let order = named("npdu_order", self.npdu_order.as_deref(), order, all)?;
                Method::Npdu { window: self.window, order }
            }
            Method::FastPoint { first, estimator } => {
                let first = match &self.first_stage {
                    Some(name) => name.parse().map_err(|error| format!("first_stage: {error}"))?,
                    None => first,
                };
                let all = [("network", Estimator::Network), ("fit", Estimator::Fit)];
                let estimator = named("estimator", self.estimator.as_deref(), estimator, all)?;
                Method::FastPoint { first, estimator }
            }
        })
    }
}

/// The choice of this name, or the default.
fn named<T: Copy, const N: usize>(
    option: &str,
    name: Option<&str>,
    default: T,
    all: [(&str, T); N],
) -> Result<T, String> {
    let Some(name) = name else { return Ok(default) };
    all.iter().find(|(known, _)| *known == name).map(|(_, choice)| *choice).ok_or_else(|| {
        let names = all.map(|(known, _)| known).join(", ");
        format!("{option} is '{name}'; choose one of {names}")
    })
}
