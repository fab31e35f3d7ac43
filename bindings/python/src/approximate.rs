//! Approximate samplers and centroids of grids, of NumPy arrays.

use crate::arrays::{View, about, cut, in_precision};
use crate::batch::side_by_side;
use crate::error::room;
use crate::{error, watch};
use farpoint::approximate::{Centroids, Keep, Method};
use farpoint::backend::memory;
use farpoint::{Amount, ApproximateSampler, Cpu, Error, NonFinite, On, Points, Scalar};
use numpy::ndarray::Array2;
use numpy::{Element, IntoPyArray, PyArray1, PyArrayDyn, PyArrayMethods, PyUntypedArray};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;

pub(crate) fn add(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add_function(wrap_pyfunction!(sample_approximate, module)?)?;
    module.add("METHODS", Method::ALL.iter().map(Method::name).collect::<Vec<_>>())?;
    module.add_function(wrap_pyfunction!(centroids, module)?)
}

/// The job of a cloud or of each of a batch: the attributes of Python's `Approximation`. One of
/// count, ratio and cell is set; other attributes that are None have the method's default.
#[derive(FromPyObject)]
struct Request {
    method: String,
    count: Option<usize>,
    ratio: Option<f64>,
    cell: Option<f64>,
    seed: Option<u64>,
    keep: Option<String>,
    /// Number of rows used of each cloud.
    lengths: Option<Vec<usize>>,
    threads: Option<usize>,
    skip_non_finite: bool,
}

/// Points from which a call can be stopped by Ctrl-C.
const LONG: usize = 100_000;

/// Returns the rows of each cloud of an array `(n, d)` or `(b, n, d)`.
#[pyfunction]
fn sample_approximate<'py>(
    points: &Bound<'py, PyUntypedArray>,
    request: Request,
) -> PyResult<Vec<Bound<'py, PyArray1<i64>>>> {
    let samples = in_precision!(points, |array| {
        request.each(array, |job, cloud| Ok(job.sample(cloud)?.indices))
    })?;
    let rows = |rows: Vec<usize>| {
        let rows = rows.into_iter().map(|row| row as i64);
        Ok(room(|| memory::collected(rows))?.into_pyarray(points.py()))
    };
    samples.into_iter().map(rows).collect()
}

/// Centroids `(k, d)`, the points that each stands for, and the cell size.
type CentroidArrays<'py> = (Bound<'py, PyAny>, Bound<'py, PyArray1<i64>>, f64);

/// Returns the centroids of each cloud of an array `(n, d)` or `(b, n, d)`.
#[pyfunction]
fn centroids<'py>(
    points: &Bound<'py, PyUntypedArray>,
    request: Request,
) -> PyResult<Vec<CentroidArrays<'py>>> {
    in_precision!(points, |array| request.centroids(array))
}

impl Request {
    fn centroids<'py, T: Scalar + Element>(
        &self,
        array: &Bound<'py, PyArrayDyn<T>>,
    ) -> PyResult<Vec<CentroidArrays<'py>>> {
        let results = self.each(array, |job, cloud| job.centroids(cloud))?;
        let to_arrays = |result: Centroids<T>| {
            let shape = (result.counts.len(), result.dims);
            let counts = result.counts.into_iter().map(i64::from);
            let counts = room(|| memory::collected(counts))?;
            let rows =
                Array2::from_shape_vec(shape, result.coordinates).expect("dims per centroid");
            let py = array.py();
            Ok((rows.into_pyarray(py).into_any(), counts.into_pyarray(py), result.cell))
        };
        results.into_iter().map(to_arrays).collect()
    }

    /// Runs `one` for every cloud of the array. A single one can be stopped.
    fn each<'a, T: Scalar + Element, R: Send>(
        &self,
        array: &'a Bound<'_, PyArrayDyn<T>>,
        one: impl Fn(On<'_, ApproximateSampler, Cpu>, &View<'_, T>) -> Result<R, Error> + Sync,
    ) -> PyResult<Vec<R>> {
        let about = about(array.as_untyped());
        let (views, batch) = cut(array, self.lengths.as_deref())?;
        let method = self.method()?;
        let job = |view: View<'a, T>| (self.job(method, view.len()), view);
        let jobs: Vec<_> = views.into_iter().map(job).collect();
        let (py, threads) = (array.py(), self.threads);
        let cpu = watch::cpu(threads);
        let results = match &jobs[..] {
            [(job, view)] if !batch => watch::run(py, view.len() >= LONG, None, |observer| {
                watch::always(observer, |progress| one(job.on(&cpu).observe(progress), view))
            })?
            .map(|results| vec![results]),
            jobs => {
                let sizes: Vec<_> = jobs.iter().map(|(_, view)| view.len()).collect();
                let long = sizes.iter().fold(0usize, |sum, &n| sum.saturating_add(n)) >= LONG;
                watch::run_batch(py, long, |stop| {
                    side_by_side(threads, &sizes, stop, |cloud, threads| {
                        let ((job, view), cpu) = (&jobs[cloud], cpu.threads(threads));
                        one(job.on(&cpu).observe(&mut |_| stop.answer()), view)
                    })
                })?
            }
        };
        results.map_err(|error| error::sampling(error, &about))
    }

    /// Returns the job of a cloud of `rows` rows. Clouds of a padded batch return at most their rows.
    fn job(&self, method: Method, rows: usize) -> ApproximateSampler {
        let padded = self.lengths.is_some();
        let amount = match (self.count, self.ratio, self.cell) {
            _ if padded && rows == 0 => Amount::Count(0),
            (Some(count), ..) if padded => Amount::Count(count.min(rows)),
            (Some(count), ..) => Amount::Count(count),
            (_, Some(ratio), _) => Amount::Ratio(ratio),
            (.., cell) => Amount::Cell(cell.unwrap_or(f64::NAN)),
        };
        let non_finite = if self.skip_non_finite { NonFinite::Skip } else { NonFinite::Error };
        ApproximateSampler::new(method, amount).non_finite(non_finite)
    }

    /// Returns the method with its options.
    fn method(&self) -> PyResult<Method> {
        let seed = self.seed.unwrap_or(0);
        let keep = match self.keep.as_deref() {
            None | Some("center") => Keep::Center,
            Some("first") => Keep::First,
            Some("random") => Keep::Random(seed),
            Some(other) => {
                let text = format!("keep is '{other}'; choose one of first, random, center");
                return Err(PyValueError::new_err(text));
            }
        };
        Ok(match self.method.parse().map_err(error::name)? {
            Method::Random { .. } => Method::Random { seed },
            Method::Grid { .. } => Method::Grid { keep },
            other => other,
        })
    }
}
