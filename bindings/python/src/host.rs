//! Sampling NumPy arrays.

use crate::error;
use crate::view::{self, View};
use crate::watch::{self, Stop};
use farpoint::{
    Algorithm, Amount, BadRows, Error, Points, Sample, Sampler, Scalar, SplitMix64, Start,
};
use numpy::ndarray::{Array2, ArrayViewMutD, Axis};
use numpy::{
    Element, IntoPyArray, PyArrayDyn, PyArrayMethods, PyReadonlyArray2, PyUntypedArray,
    PyUntypedArrayMethods,
};
use pyo3::exceptions::{PyMemoryError, PyTypeError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::PyTuple;

pub(crate) fn add(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add_function(wrap_pyfunction!(sample, module)?)?;
    module.add_function(wrap_pyfunction!(address, module)?)?;
    module.add_function(wrap_pyfunction!(random_word, module)?)?;
    module.add_function(wrap_pyfunction!(random_start, module)?)
}

/// Where the coordinates of an array are read from; refuses what can't be sampled.
#[pyfunction]
fn address(points: &Bound<'_, PyUntypedArray>) -> PyResult<usize> {
    if let Ok(array) = points.cast::<PyArrayDyn<f32>>() {
        Ok(clouds(array)?.0.first().map_or(0, View::address))
    } else if let Ok(array) = points.cast::<PyArrayDyn<f64>>() {
        Ok(clouds(array)?.0.first().map_or(0, View::address))
    } else {
        Err(unknown_type(points))
    }
}

/// The first 64 random bits of a seed.
#[pyfunction]
fn random_word(seed: u64) -> u64 {
    SplitMix64::new(seed).next_u64()
}

/// The row that a seed starts from in a cloud of `len` rows.
#[pyfunction]
fn random_start(seed: u64, len: u64) -> PyResult<u64> {
    match len {
        0 => Err(PyValueError::new_err(Error::EmptyCloud.to_string())),
        len => Ok(SplitMix64::new(seed).below(len)),
    }
}

/// What is asked of a cloud or of a batch.
struct Request<'py> {
    amount: Amount,
    algorithm: Algorithm,
    threads: Option<usize>,
    seed: Option<u64>,
    skip_bad: bool,
    /// Rows of each cloud that count.
    lengths: Option<Vec<usize>>,
    /// Samples of each cloud, instead of the amount.
    counts: Option<Vec<usize>>,
    /// Starts, a row for all clouds or one for each.
    starts: Option<PyReadonlyArray2<'py, i64>>,
    /// Whether distances are wanted.
    distances: bool,
    out: Option<Bound<'py, PyAny>>,
    callback: Option<Py<PyAny>>,
}

/// Samples a cloud `(n, d)` or a batch `(b, n, d)`: indices, distances and covering radii.
#[pyfunction]
#[pyo3(signature = (points, count, ratio, spacing, starts, seed, lengths, counts, algorithm,
                    threads, skip_bad, distances, out, callback))]
#[expect(clippy::too_many_arguments, reason = "Python's wrapper names them")]
fn sample<'py>(
    points: &Bound<'py, PyUntypedArray>,
    count: Option<usize>,
    ratio: Option<f64>,
    spacing: Option<f64>,
    starts: Option<PyReadonlyArray2<'py, i64>>,
    seed: Option<u64>,
    lengths: Option<Vec<usize>>,
    counts: Option<Vec<usize>>,
    algorithm: &str,
    threads: Option<usize>,
    skip_bad: bool,
    distances: bool,
    out: Option<Bound<'py, PyAny>>,
    callback: Option<Py<PyAny>>,
) -> PyResult<Bound<'py, PyTuple>> {
    let amount = match (count, ratio, spacing) {
        (Some(count), ..) => Amount::Count(count),
        (_, Some(ratio), _) => Amount::Ratio(ratio),
        (.., Some(spacing)) => Amount::Spacing(spacing),
        _ => Amount::All,
    };
    let algorithm: Algorithm = algorithm.parse().map_err(PyValueError::new_err)?;
    let request = Request {
        amount,
        algorithm,
        threads,
        seed,
        skip_bad,
        lengths,
        counts,
        starts,
        distances,
        out,
        callback,
    };
    if let Ok(array) = points.cast::<PyArrayDyn<f32>>() {
        request.run(array)
    } else if let Ok(array) = points.cast::<PyArrayDyn<f64>>() {
        request.run(array)
    } else {
        Err(unknown_type(points))
    }
}

pub(crate) fn unknown_type(points: &Bound<'_, PyUntypedArray>) -> PyErr {
    PyTypeError::new_err(format!("the points must be float32 or float64 ({})", about(points)))
}

/// What an array is, for messages.
pub(crate) fn about(array: &Bound<'_, PyUntypedArray>) -> String {
    let shape = PyTuple::new(array.py(), array.shape()).map(|shape| shape.to_string());
    format!("points of shape {}, {}", shape.unwrap_or_default(), array.dtype())
}

/// The clouds of an array, or an error that names its shape.
pub(crate) fn clouds<'a, T: Scalar + Element>(
    array: &'a Bound<'_, PyArrayDyn<T>>,
) -> PyResult<(Vec<View<'a, T>>, bool)> {
    view::of(array).ok_or_else(|| {
        PyValueError::new_err(format!(
            "the points must be an array of shape (N, D) or (B, N, D) with D of 1 or more ({})",
            about(array.as_untyped())
        ))
    })
}

impl<'py> Request<'py> {
    fn run<T: Scalar + Element>(
        self,
        array: &Bound<'py, PyArrayDyn<T>>,
    ) -> PyResult<Bound<'py, PyTuple>> {
        let py = array.py();
        let (clouds, batch) = clouds(array)?;
        let failed = |error| error::sampling(error, &about(array.as_untyped()));
        if batch {
            let rows = array.shape()[1];
            let jobs = self.jobs(&clouds)?;
            let long = watch::is_long(clouds.iter().map(|cloud| (cloud.len(), self.most(rows))));
            let samples = watch::several(py, long, |stop| each(self.threads, &jobs, stop))?;
            let samples = samples.map_err(failed)?;
            return self.stack(py, &samples, rows);
        }
        if self.lengths.is_some() {
            return Err(PyValueError::new_err(format!(
                "lengths are for a batch of shape (B, N, D) ({})",
                about(array.as_untyped())
            )));
        }
        let sampler = self.sampler_of(0, clouds[0], false)?;
        let (callback, wanted) = (self.callback.as_ref(), self.most(array.shape()[0]));
        let sample = match clouds[0].triples() {
            Some(triples) => watch::sample(py, &sampler, &triples, wanted, callback)?,
            None => watch::sample(py, &sampler, &clouds[0], wanted, callback)?,
        };
        self.answer(py, sample.map_err(failed)?)
    }

    /// Samples at most.
    fn most(&self, rows: usize) -> usize {
        match self.amount {
            Amount::Count(count) => count,
            Amount::Ratio(ratio) => (ratio * rows as f64).ceil() as usize,
            Amount::Spacing(_) | Amount::All => rows,
        }
    }

    /// The sampler and the rows of each cloud.
    fn jobs<'a, T: Scalar>(&self, clouds: &[View<'a, T>]) -> PyResult<Vec<(Sampler, View<'a, T>)>> {
        for (given, what) in [(&self.lengths, "lengths"), (&self.counts, "counts")] {
            if let Some(given) = given.as_ref().filter(|given| given.len() != clouds.len()) {
                let (given, clouds) = (given.len(), clouds.len());
                return Err(PyValueError::new_err(format!("{given} {what} for {clouds} clouds")));
            }
        }
        let mut jobs = Vec::with_capacity(clouds.len());
        for (k, &cloud) in clouds.iter().enumerate() {
            let rows = cloud.len();
            let cloud = match &self.lengths {
                Some(lengths) if lengths[k] > rows => {
                    return Err(PyValueError::new_err(format!(
                        "length {} of cloud {k} is over {rows}",
                        lengths[k]
                    )));
                }
                Some(lengths) => cloud.first(lengths[k]),
                None => cloud,
            };
            jobs.push((self.sampler_of(k, cloud, self.lengths.is_some())?, cloud));
        }
        Ok(jobs)
    }

    /// The sampler of cloud `k`. Clouds of a padded batch give what they have.
    fn sampler_of<T: Scalar>(&self, k: usize, cloud: View<T>, padded: bool) -> PyResult<Sampler> {
        let rows = cloud.len();
        let amount = match (&self.counts, self.amount) {
            (Some(counts), _) => Amount::Count(counts[k]),
            (None, amount) => amount,
        };
        let amount = match amount {
            Amount::Count(count) if padded => Amount::Count(count.min(rows)),
            amount => amount,
        };
        let bad_rows = if self.skip_bad { BadRows::Skip } else { BadRows::Error };
        let sampler =
            Sampler::new(amount).algorithm(self.algorithm).bad_rows(bad_rows).start(self.start(k)?);
        Ok(match self.threads {
            Some(threads) => sampler.threads(threads),
            None => sampler,
        })
    }

    /// Where cloud `k` starts.
    fn start(&self, k: usize) -> PyResult<Start> {
        match &self.starts {
            Some(starts) => start_of(starts, k),
            None => Ok(self.seed.map_or(Start::Index(0), Start::Random)),
        }
    }

    /// The answer for one cloud.
    fn answer<T: Scalar + Element>(
        &self,
        py: Python<'py>,
        sample: Sample<T>,
    ) -> PyResult<Bound<'py, PyTuple>> {
        let radius = sample.covering_radius().to_f64();
        let distances = self.distances.then(|| roots(&sample.squared_distances).into_pyarray(py));
        let indices: Vec<i64> = sample.indices.into_iter().map(|row| row as i64).collect();
        let indices = match self.out(&[indices.len()])? {
            None => indices.into_pyarray(py).into_any(),
            Some(out) => {
                let fill = |mut to: ArrayViewMutD<'_, i64>| {
                    to.iter_mut().zip(&indices).for_each(|(to, index)| *to = *index);
                };
                write(out, fill)?
            }
        };
        (indices, distances, radius).into_pyobject(py)
    }

    /// The answers of a batch, padded with -1 and 0.
    fn stack<T: Scalar + Element>(
        &self,
        py: Python<'py>,
        samples: &[Sample<T>],
        rows: usize,
    ) -> PyResult<Bound<'py, PyTuple>> {
        let longest = samples.iter().map(Sample::len).max().unwrap_or(0);
        let width = match self.amount {
            Amount::Spacing(_) => longest,
            _ => self.most(rows),
        };
        let shape = [samples.len(), width];
        let fill = |mut to: ArrayViewMutD<'_, i64>| {
            to.fill(-1);
            for (mut to, sample) in to.axis_iter_mut(Axis(0)).zip(samples) {
                to.iter_mut().zip(&sample.indices).for_each(|(to, row)| *to = *row as i64);
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
            for (mut to, sample) in distances.outer_iter_mut().zip(samples) {
                let from = roots(&sample.squared_distances);
                to.iter_mut().zip(from).for_each(|(to, from)| *to = from);
            }
            PyResult::Ok(distances.into_pyarray(py))
        });
        let distances = distances.transpose()?;
        let radii: Vec<f64> = samples.iter().map(|s| s.covering_radius().to_f64()).collect();
        (indices, distances, radii.into_pyarray(py)).into_pyobject(py)
    }

    /// The caller's array for the indices, if it fits.
    fn out(&self, shape: &[usize]) -> PyResult<Option<Bound<'py, PyArrayDyn<i64>>>> {
        let Some(out) = &self.out else { return Ok(None) };
        let wanted = PyTuple::new(out.py(), shape)?;
        let wrong = |what: String| {
            PyTypeError::new_err(format!(
                "out must be an int64 array of shape {wanted}, not {what}"
            ))
        };
        let Ok(array) = out.cast::<PyUntypedArray>() else {
            return Err(wrong(out.get_type().to_string()));
        };
        match out.cast::<PyArrayDyn<i64>>() {
            Ok(found) if found.shape() == shape => Ok(Some(found.clone())),
            Ok(_) => {
                let found = PyTuple::new(out.py(), array.shape())?;
                let text = format!("out must be of shape {wanted}, not {found}");
                Err(PyValueError::new_err(text))
            }
            Err(_) => Err(wrong(format!("one of type {}", array.dtype()))),
        }
    }
}

/// Where cloud `k` starts: a row for all clouds, or a row for each.
pub(crate) fn start_of(starts: &PyReadonlyArray2<'_, i64>, k: usize) -> PyResult<Start> {
    let starts = starts.as_array();
    let Some(of_cloud) = starts.outer_iter().nth(if starts.nrows() == 1 { 0 } else { k }) else {
        let given = starts.nrows();
        return Err(PyValueError::new_err(format!("{given} starts, none for cloud {k}")));
    };
    let row = |&row: &i64| {
        let refuse = |_| PyValueError::new_err(format!("start index {row} is below 0"));
        usize::try_from(row).map_err(refuse)
    };
    let rows: Vec<_> = of_cloud.iter().map(row).collect::<PyResult<_>>()?;
    Ok(match rows[..] {
        [row] => Start::Index(row),
        _ => Start::Indices(rows),
    })
}

fn roots<T: Scalar>(squares: &[T]) -> Vec<T> {
    squares.iter().map(|square| square.sqrt()).collect()
}

/// Lets `fill` write to the caller's array.
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

/// An array of one value; an error if there is no memory for it. Its width is what the caller asked
/// for, of clouds that may have far fewer rows.
fn filled<V: Copy>(shape: [usize; 2], value: V, what: &str) -> PyResult<Array2<V>> {
    let mut values = Vec::new();
    let reserved = shape[0].checked_mul(shape[1]).map(|len| (len, values.try_reserve_exact(len)));
    let Some((len, Ok(()))) = reserved else {
        let [clouds, width] = shape;
        let text =
            format!("there is no memory for {clouds} x {width} {what}; ask for fewer samples");
        return Err(PyMemoryError::new_err(text));
    };
    values.resize(len, value);
    Ok(Array2::from_shape_vec(shape, values).expect("as many as the shape tells"))
}

/// A batch of fewer points is one thread's: waking others would take longer.
const SMALL: usize = 1 << 14;

/// Samples every cloud as it asks, until told to stop: small ones side by side, large ones one after
/// another on all threads. The error is that of the first cloud at fault.
pub(crate) fn each<T: Scalar>(
    threads: Option<usize>,
    jobs: &[(Sampler, View<T>)],
    stop: &Stop,
) -> Result<Vec<Sample<T>>, Error> {
    let sizes: Vec<_> = jobs.iter().map(|(_, points)| points.len()).collect();
    side_by_side(threads, &sizes, stop, |cloud, threads| {
        let (sampler, points) = &jobs[cloud];
        let sampler = sampler.clone().threads(threads);
        let observer = &mut |_| stop.answer();
        match points.triples() {
            Some(triples) => sampler.sample_with(triples, observer),
            None => sampler.sample_with(points, observer),
        }
    })
}

/// Does `one` for every cloud of a batch, of so many points each, on so many threads, until told to
/// stop; `one` is told which cloud, and the threads for it. The error is that of the first cloud at
/// fault.
pub(crate) fn side_by_side<R: Send>(
    threads: Option<usize>,
    sizes: &[usize],
    stop: &Stop,
    one: impl Fn(usize, usize) -> Result<R, Error> + Send + Sync,
) -> Result<Vec<R>, Error> {
    farpoint::spread(sizes, SMALL, threads, |cloud, threads| {
        stop.check()?;
        one(cloud, threads)
    })
}
