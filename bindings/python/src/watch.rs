//! Progress bar and Ctrl-C during a long run.

use crate::threads;
use farpoint::backend::{caught, spawned, start};
use farpoint::{Cpu, Error, Observer, Progress};
use pyo3::prelude::*;
use std::ops::ControlFlow;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{self, RecvTimeoutError};
use std::time::{Duration, Instant};

/// Time between updates of the bar and checks of signals.
pub(crate) const INTERVAL: Duration = Duration::from_millis(100);

/// Steps of the direct loop from which a run can be stopped by Ctrl-C.
const LONG: usize = 1 << 31;

/// Returns the CPU with the threads of a call.
pub(crate) fn cpu(threads: Option<usize>) -> Cpu {
    threads::of(threads).map_or_else(Cpu::new, |threads| Cpu::new().threads(threads))
}

/// Returns whether work on pairs (points, samples), or (points, points) of two clouds, one pair for each cloud of
/// a batch, may take long.
pub(crate) fn is_long(sizes: impl IntoIterator<Item = (usize, usize)>) -> bool {
    let steps = |(points, others): (usize, usize)| points.saturating_mul(others);
    sizes.into_iter().map(steps).fold(0, usize::saturating_add) >= LONG
}

/// Works without the GIL, where rayon has a pool: for work that shares loops among its threads.
pub(crate) fn without_gil<R: Send>(py: Python<'_>, work: impl FnOnce() -> R + Send) -> R {
    py.detach(|| {
        start();
        work()
    })
}

/// Works without the GIL. `callback(done, of)` is called now and then; work that may take `long` can be
/// stopped. Work that is neither has no observer.
pub(crate) fn run<R: Send>(
    py: Python<'_>,
    long: bool,
    callback: Option<&Py<PyAny>>,
    work: impl FnOnce(Option<Observer<'_>>) -> Result<R, Error> + Send,
) -> PyResult<Result<R, Error>> {
    if callback.is_none() && !long {
        return Ok(py.detach(|| caught(|| work(None))));
    }
    py.detach(|| {
        watched(|stop| {
            let mut bar = Bar { callback, last_report: Instant::now(), failed: None };
            let result = caught(|| work(Some(&mut |progress| bar.show(progress, stop))));
            bar.failed.map_or(Ok(result), Err)
        })
    })
}

/// Runs work that needs an observer, with one that never stops it if there is none.
pub(crate) fn always<R>(observer: Option<Observer<'_>>, work: impl FnOnce(Observer<'_>) -> R) -> R {
    match observer {
        Some(observer) => work(observer),
        None => work(&mut |_| ControlFlow::Continue(())),
    }
}

/// Works on several clouds without the GIL, perhaps side by side, so that there is no single observer:
/// all of them check whether to stop.
pub(crate) fn run_batch<R: Send>(
    py: Python<'_>,
    long: bool,
    work: impl FnOnce(&Stop) -> Result<R, Error> + Send,
) -> PyResult<Result<R, Error>> {
    match long {
        false => Ok(py.detach(|| caught(|| work(&Stop::default())))),
        true => py.detach(|| watched(|stop| Ok(caught(|| work(stop))))),
    }
}

/// Flag to stop work.
#[derive(Default)]
pub(crate) struct Stop(AtomicBool);

impl Stop {
    /// Returns the control flow of an observer.
    pub(crate) fn answer(&self) -> ControlFlow<()> {
        match self.0.load(Ordering::Relaxed) {
            true => ControlFlow::Break(()),
            false => ControlFlow::Continue(()),
        }
    }

    /// Returns an error for work that is not to be started any more.
    pub(crate) fn check(&self) -> Result<(), Error> {
        if self.answer().is_break() { Err(Error::Cancelled(0)) } else { Ok(()) }
    }
}

/// Runs work on another thread, as Python handles signals on its main thread only, which may be this one.
fn watched<R: Send>(
    work: impl FnOnce(&Stop) -> PyResult<Result<R, Error>> + Send,
) -> PyResult<Result<R, Error>> {
    let stop = &Stop::default();
    let (send, receive) = mpsc::channel();
    std::thread::scope(|scope| {
        let started = spawned(scope, move || {
            // The receiver waits for this.
            let _ = send.send(work(stop));
        });
        // Without a thread signals are not checked.
        if let Err(work) = started {
            work();
        }
        let mut interrupted = None;
        loop {
            match receive.recv_timeout(INTERVAL) {
                Ok(result) => return interrupted.map_or(result, Err),
                Err(RecvTimeoutError::Disconnected) => panic!("the work has panicked"),
                Err(RecvTimeoutError::Timeout) => {}
            }
            if let Err(error) = Python::attach(|py| py.check_signals()) {
                stop.0.store(true, Ordering::Relaxed);
                interrupted = Some(error);
            }
        }
    })
}

struct Bar<'a> {
    callback: Option<&'a Py<PyAny>>,
    last_report: Instant,
    failed: Option<PyErr>,
}

impl Bar<'_> {
    fn show(&mut self, progress: Progress, stop: &Stop) -> ControlFlow<()> {
        if stop.answer().is_break() {
            return ControlFlow::Break(());
        }
        if let Some(callback) = self.callback.filter(|_| self.last_report.elapsed() >= INTERVAL) {
            self.last_report = Instant::now();
            let reported =
                Python::attach(|py| callback.call1(py, (progress.samples, progress.total)));
            if let Err(error) = reported {
                self.failed = Some(error);
                return ControlFlow::Break(());
            }
        }
        ControlFlow::Continue(())
    }
}
