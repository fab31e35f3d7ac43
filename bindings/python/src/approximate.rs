//! Approximate samplers, centroids of grids, and measures of samples, of NumPy arrays.

use crate::host::{about, clouds, side_by_side, start_of, unknown_type};
use crate::view::View;
use crate::{error, watch};
use farpoint::approximate::{Centroids, Estimator, Keep, Method, Order, Wanted};
use farpoint::measure::{Measure, Quality};
use farpoint::{ApproximateSampler, BadRows, Error, Observer, Points, Scalar, Start};
use numpy::ndarray::Array2;
use numpy::{
    Element, IntoPyArray, PyArray1, PyArrayDyn, PyArrayMethods, PyReadonlyArray1, PyReadonlyArray2,
    PyUntypedArray,
};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;

pub(crate) fn add(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add_function(wrap_pyfunction!(sample_approximate, module)?)?;
    module.add_function(wrap_pyfunction!(centroids, module)?)?;
    module.add_function(wrap_pyfunction!(quality, module)?)
}

/// What is asked of a cloud or of each of a batch: the attributes of Python's `Request`. One of
/// count, ratio and cell is given; what else is not given has the method's default.
#[derive(FromPyObject)]
struct Request<'py> {
    method: String,
    count: Option<usize>,
    ratio: Option<f64>,
    cell: Option<f64>,
    /// Starts, a row for all clouds or one for each.
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

/// A cloud of so many points may take so long that one wants to stop it.
const LONG: usize = 100_000;

/// Rows of each cloud of an array `(n, d)` or `(b, n, d)`.
#[pyfunction]
fn sample_approximate<'py>(
    points: &Bound<'py, PyUntypedArray>,
    request: Request<'py>,
) -> PyResult<Vec<Bound<'py, PyArray1<i64>>>> {
    let found = if let Ok(array) = points.cast::<PyArrayDyn<f32>>() {
        request.each(array, |sampler, cloud, told| Ok(sampler.sample_with(cloud, told)?.indices))?
    } else if let Ok(array) = points.cast::<PyArrayDyn<f64>>() {
        request.each(array, |sampler, cloud, told| Ok(sampler.sample_with(cloud, told)?.indices))?
    } else {
        return Err(unknown_type(points));
    };
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
    if let Ok(array) = points.cast::<PyArrayDyn<f32>>() {
        request.centroids(array)
    } else if let Ok(array) = points.cast::<PyArrayDyn<f64>>() {
        request.centroids(array)
    } else {
        Err(unknown_type(points))
    }
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
        let (views, batch) = cut(array, self.lengths.as_deref(), &about)?;
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

    /// The method with what it was told.
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

/// The clouds of an array without their padding, and whether it is a batch.
fn cut<'a, T: Scalar + Element>(
    array: &'a Bound<'_, PyArrayDyn<T>>,
    lengths: Option<&[usize]>,
    about: &str,
) -> PyResult<(Vec<View<'a, T>>, bool)> {
    let refuse = |text: String| Err(PyValueError::new_err(format!("{text} ({about})")));
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

/// Of each cloud and its rows `indices`: points and samples, then what they are judged by.
#[pyfunction]
#[pyo3(signature = (points, indices, lengths, threads, callback))]
fn quality(
    points: &Bound<'_, PyUntypedArray>,
    indices: Vec<PyReadonlyArray1<'_, i64>>,
    lengths: Option<Vec<usize>>,
    threads: Option<usize>,
    callback: Option<Py<PyAny>>,
) -> PyResult<Vec<([usize; 2], [f64; 8])>> {
    let (lengths, callback) = (lengths.as_deref(), callback.as_ref());
    if let Ok(array) = points.cast::<PyArrayDyn<f32>>() {
        judged(array, &indices, lengths, threads, callback)
    } else if let Ok(array) = points.cast::<PyArrayDyn<f64>>() {
        judged(array, &indices, lengths, threads, callback)
    } else {
        Err(unknown_type(points))
    }
}

fn judged<T: Scalar + Element>(
    array: &Bound<'_, PyArrayDyn<T>>,
    indices: &[PyReadonlyArray1<'_, i64>],
    lengths: Option<&[usize]>,
    threads: Option<usize>,
    callback: Option<&Py<PyAny>>,
) -> PyResult<Vec<([usize; 2], [f64; 8])>> {
    let about = about(array.as_untyped());
    let (views, batch) = cut(array, lengths, &about)?;
    if views.len() != indices.len() {
        let text = format!("{} samples for {} clouds ({about})", indices.len(), views.len());
        return Err(PyValueError::new_err(text));
    }
    let row = |&row: &i64| {
        let refuse = |_| PyValueError::new_err(format!("sample index {row} is below 0 ({about})"));
        usize::try_from(row).map_err(refuse)
    };
    let rows = indices.iter().map(|of| of.as_array().iter().map(row).collect());
    let rows: Vec<Vec<usize>> = rows.collect::<PyResult<_>>()?;
    let jobs: Vec<_> = views.into_iter().zip(rows).collect();
    let long = watch::is_long(jobs.iter().map(|(view, rows)| (view.len(), rows.len())));
    let measure = |threads| match threads {
        Some(threads) => Measure::new().threads(threads),
        None => Measure::new(),
    };
    let py = array.py();
    let found = match &jobs[..] {
        [(view, rows)] if !batch => {
            let measure = measure(threads);
            let judge = |told: Observer<'_>| measure.quality_with(view, rows, told);
            watch::run(py, long, callback, judge)?.map(|found| vec![found])
        }
        jobs => {
            let sizes: Vec<_> = jobs.iter().map(|(view, _)| view.len()).collect();
            watch::several(py, long, |stop| {
                side_by_side(threads, &sizes, stop, |cloud, threads| {
                    let (view, rows) = &jobs[cloud];
                    measure(Some(threads)).quality_with(view, rows, &mut |_| stop.answer())
                })
            })?
        }
    };
    let found = found.map_err(|error| error::sampling(error, &about))?;
    Ok(found.iter().map(numbers).collect())
}

/// In the order of Python's `Quality`.
fn numbers(quality: &Quality) -> ([usize; 2], [f64; 8]) {
    let (coverage, spacing) = (quality.coverage, quality.spacing);
    let [mean, min, max] =
        spacing.map_or([f64::NAN; 3], |spacing| [spacing.mean, spacing.min, spacing.max]);
    let Quality { points, samples, unique, chamfer, .. } = *quality;
    let measures = [coverage.max, coverage.mean, coverage.p99, mean, min, max, chamfer, unique];
    ([points, samples], measures)
}
