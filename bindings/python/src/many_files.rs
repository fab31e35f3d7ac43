//! Many files: the manifest of a run, and the processing of a single file in Python's worker processes.

use crate::error::{spelled, warn};
use crate::files::{options as reading, writing};
use crate::limited;
use crate::watch::without_gil;
use farpoint::{Algorithm, Start};
use farpoint_pipeline::{
    Batch, Cards, Choice, DeviceOptions, Executor, Length, Limits, Method, Notes, Request, Rows,
    SampleSize, Stop, expand, plan, read_answer,
};
use pyo3::exceptions::{PyOSError, PyRuntimeError, PyUserWarning, PyValueError};
use pyo3::prelude::*;
use std::ffi::CString;
use std::path::PathBuf;
use std::sync::atomic::AtomicBool;
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

pub(crate) fn add(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add_class::<FileWorker>()?;
    module.add_class::<FileBatch>()
}

fn failed(error: farpoint_pipeline::Error) -> PyErr {
    match error {
        farpoint_pipeline::Error::System { .. } => PyOSError::new_err(spelled(error)),
        _ => PyValueError::new_err(spelled(error)),
    }
}

fn length(text: &str) -> PyResult<Length> {
    text.parse().map_err(|error: String| PyValueError::new_err(format!("'{text}': {error}")))
}

/// Samples files with fixed options.
#[pyclass(frozen, module = "farpoint._native")]
struct FileWorker {
    executor: Executor,
    digest: String,
}

#[pymethods]
impl FileWorker {
    #[new]
    #[pyo3(signature = (count, ratio, spacing, algorithm, start, seed, rows, format, columns, xyz, to,
                        encoding, precision, scale, threads, gpu))]
    #[expect(clippy::too_many_arguments, reason = "the options of the function in Python")]
    fn new(
        count: Option<usize>,
        ratio: Option<f64>,
        spacing: Option<&str>,
        algorithm: &str,
        start: Option<Vec<usize>>,
        seed: Option<u64>,
        rows: (bool, bool),
        format: Option<&str>,
        columns: Option<usize>,
        xyz: Option<[String; 3]>,
        to: Option<&str>,
        encoding: Option<&str>,
        precision: Option<&str>,
        scale: Option<&str>,
        threads: Option<usize>,
        gpu: Option<usize>,
    ) -> PyResult<Self> {
        let target = match (count, ratio, spacing) {
            (Some(count), None, None) => SampleSize::Count(count),
            (None, Some(ratio), None) => SampleSize::Ratio(ratio),
            (None, None, Some(spacing)) => SampleSize::Spacing(length(spacing)?),
            _ => return Err(PyValueError::new_err("pass one of count, ratio and spacing")),
        };
        target
            .amount(1.0)
            .limit(usize::MAX)
            .map_err(|error| PyValueError::new_err(error.to_string()))?;
        let algorithm = algorithm.parse::<Algorithm>().map_err(crate::error::name)?;
        let place = DeviceOptions {
            device: if gpu.is_some() { Choice::Cuda } else { Choice::Cpu },
            gpu: gpu.map(|card| Cards::These(vec![card])),
            threads,
            ..DeviceOptions::cpu()
        };
        let request = Request {
            reading: reading(format, columns, xyz)?,
            rows: Rows { drop_zeros: rows.0, single: rows.1 },
            method: Method::Exact(algorithm),
            start: seed.map(Start::Random).or(start.map(starts)),
            writing: writing(to, encoding, precision)?,
            scale: scale.map(length).transpose()?,
            place,
            ..Request::new(target)
        };
        let digest = request.digest();
        let executor = Executor::new(request).map_err(PyRuntimeError::new_err)?;
        Ok(Self { executor, digest })
    }

    /// Returns a digest of the options that change outputs.
    #[getter]
    fn digest(&self) -> &str {
        &self.digest
    }

    /// Samples a file; returns a line with the outcome.
    fn sample(
        &self,
        py: Python<'_>,
        input: PathBuf,
        output: PathBuf,
        limit: Option<f64>,
    ) -> String {
        let not_cancelled = AtomicBool::new(false);
        let limit = limit.and_then(|limit| Duration::try_from_secs_f64(limit).ok());
        without_gil(py, || {
            let stop = Stop::new(&not_cancelled, limit);
            let result = self.executor.sample(&input, &output, &stop, &mut Notes::default());
            limited::line(stop.seconds(), result)
        })
    }

    /// Like `sample`, through a spool on the disk, with about this many bytes of memory. Handles Ctrl-C.
    fn sample_limited(
        &self,
        py: Python<'_>,
        input: PathBuf,
        output: PathBuf,
        memory: u64,
        spool: Option<PathBuf>,
        resume: bool,
    ) -> PyResult<String> {
        let limits = Limits { memory: Some(memory), spool, resume };
        let request = Request { limits, ..self.executor.request().clone() };
        limited::sample(py, &request, input, &output, memory)
    }
}

/// Converts one index, or several to continue from.
fn starts(rows: Vec<usize>) -> Start {
    if let [row] = rows[..] { Start::Index(row) } else { Start::Indices(rows) }
}

/// Files with their manifest, locked for this process until it is closed.
#[pyclass(frozen, module = "farpoint._native")]
struct FileBatch(Mutex<Option<Batch>>);

/// A file that needs work.
type PendingFile = (usize, PathBuf, PathBuf, bool, u64);
/// A row: input, output, points, samples, covering radius, seconds, error.
type PlainRow = (String, String, Option<u64>, Option<u64>, Option<f64>, f64, Option<String>);

#[pymethods]
impl FileBatch {
    #[new]
    fn new(
        py: Python<'_>,
        paths: Vec<PathBuf>,
        out: PathBuf,
        recursive: bool,
        extension: Option<&str>,
        digest: &str,
        force: bool,
    ) -> PyResult<Self> {
        let notes = Mutex::new(Notes::default());
        let open = || {
            let inputs = expand(&paths, recursive, Some(&out), &notes)?;
            Batch::open(plan(inputs, &out, extension)?, &out, digest, force)
        };
        let batch = without_gil(py, open).map_err(failed)?;
        for (_, text) in notes.into_inner().unwrap_or_else(PoisonError::into_inner).iter() {
            PyErr::warn(py, &py.get_type::<PyUserWarning>(), &CString::new(text)?, 3)?;
        }
        Ok(Self(Mutex::new(Some(batch))))
    }

    /// Returns the files that need work, in order: number, input, output, true if it may have ended a process, and
    /// the bytes of memory that it takes, estimated from its header.
    fn left(&self) -> PyResult<Vec<PendingFile>> {
        self.with(|batch| {
            let file = |&k: &usize| {
                let file = &batch.files()[k];
                (k, file.input.clone(), file.output.clone(), batch.is_suspect(k), file.weight)
            };
            Ok(batch.remaining().iter().map(file).collect())
        })
    }

    /// Notes that work on a file begins.
    fn begin(&self, k: usize) -> PyResult<()> {
        self.with(|batch| batch.begin(k).map_err(failed))
    }

    /// Writes the row of a file from the line of its worker, and passes its warnings on; returns whether it failed, or
    /// `None` if it is no such line.
    fn finish(&self, py: Python<'_>, k: usize, line: &str) -> PyResult<Option<bool>> {
        let Some((seconds, result)) = read_answer(line) else { return Ok(None) };
        let warnings = result.as_ref().map_or(Vec::new(), |done| done.warnings.clone());
        let has_failed = result.is_err();
        self.with(|batch| batch.finish(k, seconds, result).map_err(failed))?;
        warnings.iter().try_for_each(|text| warn(py, text))?;
        Ok(Some(has_failed))
    }

    /// Writes the row of a file whose process was killed.
    fn fail(&self, k: usize, seconds: f64, error: String) -> PyResult<()> {
        self.with(|batch| batch.fail(k, seconds, error).map(drop).map_err(failed))
    }

    /// Records that the process of a file ended; returns true to try it again. If not, its row is written.
    fn killed(&self, k: usize) -> PyResult<bool> {
        self.with(|batch| batch.killed(k).map_err(failed))
    }

    /// Ends the run; returns the rows of all files, `None` for those that have not been tried.
    fn close(&self) -> PyResult<Vec<Option<PlainRow>>> {
        let batch = self.0.lock().unwrap_or_else(PoisonError::into_inner).take();
        let batch = batch.ok_or_else(|| PyRuntimeError::new_err("the batch is closed"))?;
        Ok(batch.close().into_iter().map(|row| row.map(plain)).collect())
    }
}

fn plain(row: farpoint_pipeline::Row) -> PlainRow {
    match row.result {
        Ok(done) => {
            let (points, samples) = (Some(done.points), Some(done.samples));
            (row.input, row.output, points, samples, Some(done.radius), row.seconds, None)
        }
        Err(error) => (row.input, row.output, None, None, None, row.seconds, Some(spelled(error))),
    }
}

impl FileBatch {
    fn with<R>(&self, work: impl FnOnce(&Batch) -> PyResult<R>) -> PyResult<R> {
        let batch = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        work(batch.as_ref().ok_or_else(|| PyRuntimeError::new_err("the batch is closed"))?)
    }
}
