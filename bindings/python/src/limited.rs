//! Files through the disk, with limited memory: sampling, and writing of rows that were chosen elsewhere.

use crate::error::{passed_on, room, spelled};
use crate::files;
use crate::watch::without_gil;
use farpoint::backend::{memory, spawned};
use farpoint_io::Merged;
use farpoint_pipeline::disk::Error;
use farpoint_pipeline::{Done, Files, Kind, Request, Watch, answer};
use numpy::PyReadonlyArray1;
use pyo3::exceptions::{PyMemoryError, PyOSError, PyValueError};
use pyo3::prelude::*;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{self, RecvTimeoutError};
use std::sync::{Mutex, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

pub(crate) fn add(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add_function(wrap_pyfunction!(write_rows, module)?)
}

/// Writes rows of files that are one cloud, concatenated, with all their attributes and in this order, into a file.
/// `reading`: format, columns, xyz; `writing`: format, encoding, precision, scale. Returns warnings.
#[pyfunction]
fn write_rows(
    py: Python<'_>,
    paths: Vec<PathBuf>,
    rows: PyReadonlyArray1<'_, i64>,
    output: PathBuf,
    memory: u64,
    reading: (Option<String>, Option<usize>, Option<[String; 3]>),
    writing: (Option<String>, Option<String>, Option<String>, Option<f64>),
) -> PyResult<Vec<String>> {
    let (format, columns, xyz) = reading;
    let reading = files::options(format.as_deref(), columns, xyz)?;
    let (to, encoding, precision, scale) = writing;
    let writing =
        files::writing(to.as_deref(), encoding.as_deref(), precision.as_deref())?.scale(scale);
    let rows = rows.as_slice()?.iter().map(|&row| row as u64);
    let rows = room(|| memory::collected(rows))?;
    let warnings = until_signal(py, |going_on| {
        let mut warnings = Vec::new();
        let reader = match &paths[..] {
            [path] => farpoint_pipeline::disk::open(path, &reading, memory)?,
            _ => {
                let merged = Merged::open(&paths, &reading, Some(memory))?;
                warnings.extend_from_slice(merged.warnings());
                merged.into_reader()
            }
        };
        let to = (output.as_path(), &writing);
        warnings.extend(farpoint_pipeline::disk::write_rows(&reader, &rows, memory, to, going_on)?);
        Ok(warnings)
    })?;
    passed_on(py, &output, warnings)
}

/// Works in another thread while this one checks signals: an exception of a handler stops the work, whose callback then
/// returns false.
fn until_signal<T: Send>(
    py: Python<'_>,
    work: impl FnOnce(&(dyn Fn() -> bool + Sync)) -> Result<T, Error> + Send,
) -> PyResult<T> {
    let stopped = AtomicBool::new(false);
    let keep_going = || !stopped.load(Ordering::Relaxed);
    let (result, exception) = without_gil(py, || {
        let (sender, receiver) = mpsc::channel();
        thread::scope(|scope| {
            let work = spawned(scope, || {
                // Dropped at the end of the work, however it ends, which closes the channel.
                let _ended: mpsc::Sender<()> = sender;
                work(&keep_going)
            });
            let work = match work {
                Ok(work) => work,
                // Without a thread signals are not checked.
                Err(work) => return (Ok(work()), None),
            };
            let mut exception = None;
            while receiver.recv_timeout(SIGNAL_INTERVAL) == Err(RecvTimeoutError::Timeout) {
                if exception.is_none() {
                    exception = Python::attach(|py| py.check_signals()).err();
                    stopped.store(exception.is_some(), Ordering::Relaxed);
                }
            }
            (work.join(), exception)
        })
    });
    match (exception, result) {
        (Some(error), _) => Err(error),
        (None, Ok(result)) => result.map_err(exception_of),
        (None, Err(panic)) => std::panic::resume_unwind(panic),
    }
}

fn exception_of(error: Error) -> PyErr {
    match error {
        Error::File(error) => crate::error::file(error),
        Error::Spool { .. } => PyOSError::new_err(spelled(error)),
        Error::Job(farpoint::Error::OutOfMemory { .. }) => PyMemoryError::new_err(spelled(error)),
        _ => PyValueError::new_err(spelled(error)),
    }
}

/// Least time between two checks of signals.
const SIGNAL_INTERVAL: Duration = Duration::from_millis(100);

/// Samples a file; returns a line with the outcome, or the exception of a signal handler.
pub(crate) fn sample(
    py: Python<'_>,
    request: &Request,
    input: PathBuf,
    output: &Path,
    memory: u64,
) -> PyResult<String> {
    let begin = Instant::now();
    let signals = SignalCheck { check: Mutex::new((begin, None)), warnings: Mutex::default() };
    let inputs = [input];
    let files = Files { inputs: &inputs, merge: false, output: Some(output), indices: None };
    let result = without_gil(py, || request.through_disk(files, memory)?.run(&signals));
    if let Some(exception) = signals.check.into_inner().unwrap_or_else(PoisonError::into_inner).1 {
        return Err(exception);
    }
    let warnings = signals.warnings.into_inner().unwrap_or_else(PoisonError::into_inner);
    let outcome = result.map_err(|error| error.to_string());
    let outcome = outcome.and_then(|completed| Done::of(&completed, output));
    Ok(line(begin.elapsed().as_secs_f64(), outcome.map(|done| Done { warnings, ..done })))
}

/// Formats the result for a file as a line for another process, with options as arguments of Python.
pub(crate) fn line(seconds: f64, result: Result<Done, String>) -> String {
    let result = result.map_err(spelled).map(|done| {
        let warnings = done.warnings.iter().map(spelled).collect();
        Done { warnings, ..done }
    });
    answer(seconds, &result)
}

/// Checks signals now and then, and keeps warnings.
struct SignalCheck {
    /// The time of the last check, and the exception of a handler. The thread that checks is the first one of the
    /// workers.
    check: Mutex<(Instant, Option<PyErr>)>,
    warnings: Mutex<Vec<String>>,
}

impl Watch for SignalCheck {
    fn report(&self, kind: Kind, text: &str) {
        if kind == Kind::Warning {
            self.warnings.lock().unwrap_or_else(PoisonError::into_inner).push(text.to_owned());
        }
    }

    fn should_continue(&self) -> bool {
        let mut check = self.check.lock().unwrap_or_else(PoisonError::into_inner);
        let (last_check, exception) = &mut *check;
        if last_check.elapsed() >= SIGNAL_INTERVAL {
            *last_check = Instant::now();
            *exception = Python::attach(|py| py.check_signals()).err();
        }
        exception.is_none()
    }
}
