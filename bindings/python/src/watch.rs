//! What happens beside a long run: a progress bar is told, and Ctrl-C is heard.

use farpoint::{Error, Observer, Points, Progress, Sample, Sampler, Scalar};
use pyo3::prelude::*;
use std::ops::ControlFlow;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{self, RecvTimeoutError};
use std::time::{Duration, Instant};

/// The bar moves and signals are looked at this often.
const EVERY: Duration = Duration::from_millis(100);

/// Steps of the obvious loop (points * samples) from which on a run may take so long that one
/// wants to stop it.
const LONG: usize = 1 << 31;

/// Samples a cloud; see [`run`].
pub(crate) fn sample<T: Scalar, P: Points<T>>(
    py: Python<'_>,
    sampler: &Sampler,
    points: &P,
    wanted: usize,
    callback: Option<&Py<PyAny>>,
) -> PyResult<Result<Sample<T>, Error>> {
    let long = points.len().saturating_mul(wanted) >= LONG;
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
    py.detach(|| watched(callback, work))
}

/// Python handles signals on its main thread only, which may be this one: so another one works.
fn watched<R: Send>(
    callback: Option<&Py<PyAny>>,
    work: impl FnOnce(Observer<'_>) -> Result<R, Error> + Send,
) -> PyResult<Result<R, Error>> {
    let stop = &AtomicBool::new(false);
    let (send, receive) = mpsc::channel();
    std::thread::scope(|scope| {
        scope.spawn(move || {
            let mut bar = Bar { callback, told: Instant::now(), failed: None };
            let result = work(&mut |progress| bar.tell(progress, stop));
            // The receiver waits for this.
            let _ = send.send(bar.failed.map_or(Ok(result), Err));
        });
        let mut interrupted = None;
        loop {
            match receive.recv_timeout(EVERY) {
                Ok(result) => return interrupted.map_or(result, Err),
                Err(RecvTimeoutError::Disconnected) => panic!("the sampler has panicked"),
                Err(RecvTimeoutError::Timeout) => {}
            }
            if let Err(error) = Python::attach(|py| py.check_signals()) {
                stop.store(true, Ordering::Relaxed);
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
    fn tell(&mut self, progress: Progress, stop: &AtomicBool) -> ControlFlow<()> {
        if stop.load(Ordering::Relaxed) {
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
