//! Files through the disk, with limited memory: one is sampled, or rows are written that were chosen elsewhere.

use crate::error::room;
use crate::files;
use crate::watch::without_gil;
use farpoint::Algorithm;
use farpoint::backend::{granted_here, memory, spawned};
use farpoint_io::Merged;
use farpoint_pipeline::disk::{Error, Event, Limits, Outputs, Sampled};
use farpoint_pipeline::{Done, Method, Notes, Request, Wanted, answer};
use numpy::PyReadonlyArray1;
use pyo3::exceptions::{PyMemoryError, PyOSError, PyValueError};
use pyo3::prelude::*;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{self, RecvTimeoutError};
use std::thread;
use std::time::{Duration, Instant};

pub(crate) fn add(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add_function(wrap_pyfunction!(write_rows, module)?)
}

/// Rows of files that are one cloud, one after another, with all their attributes and in this order, into a file.
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
    until_signal(py, |going_on| {
        let mut warnings = Vec::new();
        let scan = match &paths[..] {
            [path] => farpoint_pipeline::disk::open(path, &reading, memory)?,
            _ => {
                let merged = Merged::open(&paths, &reading, Some(memory))?;
                warnings.extend_from_slice(merged.warnings());
                merged.into_scan()
            }
        };
        let to = (output.as_path(), &writing);
        warnings.extend(farpoint_pipeline::disk::write_rows(&scan, &rows, memory, to, going_on)?);
        Ok(warnings)
    })
}

/// Works in another thread while this one looks for signals: what a handler raises stops the work, which is asked to
/// look whether it goes on.
fn until_signal<T: Send>(
    py: Python<'_>,
    work: impl FnOnce(&(dyn Fn() -> bool + Sync)) -> Result<T, Error> + Send,
) -> PyResult<T> {
    let stopped = AtomicBool::new(false);
    let going_on = || !stopped.load(Ordering::Relaxed);
    let (done, signalled) = without_gil(py, || {
        let (ended, end) = mpsc::channel();
        thread::scope(|scope| {
            let work = spawned(scope, || {
                // Dropped at the end of the work, however it ends: that is heard.
                let _ended: mpsc::Sender<()> = ended;
                work(&going_on)
            });
            let work = match work {
                Ok(work) => work,
                // Without a thread nobody hears signals.
                Err(work) => return (Ok(work()), None),
            };
            let mut signalled = None;
            while end.recv_timeout(EVERY) == Err(RecvTimeoutError::Timeout) {
                if signalled.is_none() {
                    signalled = Python::attach(|py| py.check_signals()).err();
                    stopped.store(signalled.is_some(), Ordering::Relaxed);
                }
            }
            (work.join(), signalled)
        })
    });
    match (signalled, done) {
        (Some(error), _) => Err(error),
        (None, Ok(done)) => done.map_err(raised),
        (None, Err(panic)) => std::panic::resume_unwind(panic),
    }
}

fn raised(error: Error) -> PyErr {
    match error {
        Error::File(error) => crate::error::file(error),
        Error::Spool { .. } => PyOSError::new_err(error.to_string()),
        Error::Job(farpoint::Error::OutOfMemory { .. }) => {
            PyMemoryError::new_err(error.to_string())
        }
        _ => PyValueError::new_err(error.to_string()),
    }
}

/// Signals are looked at this often, at most.
const EVERY: Duration = Duration::from_millis(100);

/// Samples a file: a line that says what came of it, or what a handler of a signal raises.
pub(crate) fn sample(
    py: Python<'_>,
    request: &Request,
    threads: Option<usize>,
    [input, output]: [&Path; 2],
    limits: &Limits,
) -> PyResult<String> {
    let (begin, mut looked, mut raised) = (Instant::now(), Instant::now(), None);
    let result = without_gil(py, || {
        let mut go_on = |_: Event| {
            if looked.elapsed() >= EVERY {
                looked = Instant::now();
                raised = Python::attach(|py| py.check_signals()).err();
            }
            raised.is_none()
        };
        let _pool = threads_of(threads);
        sampled(request, [input, output], limits, &mut go_on)
    });
    if let Some(raised) = raised {
        return Err(raised);
    }
    let done = result.and_then(|sampled| {
        let bytes =
            fs::metadata(output).map_err(|error| format!("{}: {error}", output.display()))?;
        let Sampled { points, samples, covering_radius: radius, .. } = sampled;
        Ok(Done { points, samples, radius, bytes: bytes.len() })
    });
    Ok(answer(begin.elapsed().as_secs_f64(), &done))
}

fn sampled(
    request: &Request,
    [input, output]: [&Path; 2],
    limits: &Limits,
    go_on: &mut (dyn FnMut(Event) -> bool + Send),
) -> Result<Sampled, String> {
    let name = input.display().to_string();
    if !matches!(request.method, Method::Exact(Algorithm::Auto)) {
        return Err(format!(
            "{name}: an algorithm is for clouds in memory; leave it out, or leave memory out"
        ));
    }
    let text = |error: Error| error.to_string();
    let scan =
        farpoint_pipeline::disk::open(input, &request.reading, limits.memory).map_err(text)?;
    let spacing = match request.wanted {
        Wanted::Spacing(length) => Some(length),
        _ => None,
    };
    let lengths = [("spacing", spacing), ("scale", request.scale)];
    let unit = farpoint_pipeline::unit(scan.head(), &name, &lengths, &mut Notes::default())?;
    let (job, writing) = (request.disk_job(unit, limits), request.writing(unit));
    let outputs = Outputs { points: Some((output, &writing)), indices: None };
    farpoint_pipeline::disk::sample(&scan, &job, &outputs, go_on).map_err(text)
}

/// Those threads of which this one, which hears signals, is the first. A thread that is one of others already (in a
/// second call) stays with those.
fn threads_of(threads: Option<usize>) -> Option<rayon::ThreadPool> {
    granted_here(threads?, rayon::ThreadPoolBuilder::new)
}
