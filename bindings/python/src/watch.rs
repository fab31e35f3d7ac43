//! What happens beside a long run: a progress bar moves, and Ctrl-C is heard.

use farpoint::{Error, Observer, Points, Progress, Sample, Sampler, Scalar};
use pyo3::prelude::*;
use std::ops::ControlFlow;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{self, RecvTimeoutError};
use std::time::{Duration, Instant};

/// The bar moves and signals are looked at this often.
const EVERY: Duration = Duration::from_millis(100);

/// Steps of the direct loop from which on a run may take so long that the caller wants to stop it.
const LONG: usize = 1 << 31;

/// Whether work on so many points and samples, or on so many points of two clouds, may take long.
/// Those of each cloud of a batch.
pub(crate) fn is_long(sizes: impl IntoIterator<Item = (usize, usize)>) -> bool {
    let steps = |(points, others): (usize, usize)| points.saturating_mul(others);
    sizes.into_iter().map(steps).fold(0, usize::saturating_add) >= LONG
}

/// Samples a cloud; see [`run`].
pub(crate) fn sample<T: Scalar, P: Points<T>>(
    py: Python<'_>,
    sampler: &Sampler,
    points: &P,
    wanted: usize,
    callback: Option<&Py<PyAny>>,
) -> PyResult<Result<Sample<T>, Error>> {
    let long = is_long([(points.len(), wanted)]);
    run(py, long, callback, |observer| sampler.sample_with(points, observer))
}

/// Works without the GIL. `callback(chosen, wanted)` is called now and then; work that may take
/// `long` can be stopped.
pub(crate) fn run<R: Send>(
    py: Python<'_>,
    long: bool,
    callback: Option<&Py<PyAny>>,
    work: impl FnOnce(Observer<'_>) -> Result<R, Error> + Send,
) -> PyResult<Result<R, Error>> {
    if callback.is_none() && !long {
        return Ok(py.detach(|| work(&mut |_| ControlFlow::Continue(()))));
    }
    py.detach(|| {
        watched(|stop| {
            let mut bar = Bar { callback, told: Instant::now(), failed: None };
            let result = work(&mut |progress| bar.show(progress, stop));
            bar.failed.map_or(Ok(result), Err)
        })
    })
}

/// Works on several clouds without the GIL, perhaps side by side, so that there is no one observer:
/// all of them ask whether to stop.
pub(crate) fn several<R: Send>(
    py: Python<'_>,
    long: bool,
    work: impl FnOnce(&Stop) -> Result<R, Error> + Send,
) -> PyResult<Result<R, Error>> {
    match long {
        false => Ok(py.detach(|| work(&Stop::default()))),
        true => py.detach(|| watched(|stop| Ok(work(stop)))),
    }
}

/// Whether somebody wants work to stop.
#[derive(Default)]
pub(crate) struct Stop(AtomicBool);

impl Stop {
    /// What an observer answers.
    pub(crate) fn answer(&self) -> ControlFlow<()> {
        match self.0.load(Ordering::Relaxed) {
            true => ControlFlow::Break(()),
            false => ControlFlow::Continue(()),
        }
    }

    /// An error for work that is not begun any more.
    pub(crate) fn check(&self) -> Result<(), Error> {
        if self.answer().is_break() { Err(Error::Cancelled(0)) } else { Ok(()) }
    }
}

/// Python handles signals on its main thread only, which may be this one: so another one works.
fn watched<R: Send>(
    work: impl FnOnce(&Stop) -> PyResult<Result<R, Error>> + Send,
) -> PyResult<Result<R, Error>> {
    let stop = &Stop::default();
    let (send, receive) = mpsc::channel();
    std::thread::scope(|scope| {
        scope.spawn(move || {
            // The receiver waits for this.
            let _ = send.send(work(stop));
        });
        let mut interrupted = None;
        loop {
            match receive.recv_timeout(EVERY) {
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
    told: Instant,
    failed: Option<PyErr>,
}

impl Bar<'_> {
    fn show(&mut self, progress: Progress, stop: &Stop) -> ControlFlow<()> {
        if stop.answer().is_break() {
            return ControlFlow::Break(());
        }
        if let Some(callback) = self.callback.filter(|_| self.told.elapsed() >= EVERY) {
            self.told = Instant::now();
            let told = Python::attach(|py| callback.call1(py, (progress.samples, progress.wanted)));
            if let Err(error) = told {
                self.failed = Some(error);
                return ControlFlow::Break(());
            }
        }
        ControlFlow::Continue(())
    }
}
