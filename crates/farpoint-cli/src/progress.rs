//! A progress bar on stderr, for people only: on a terminal, and for work over a second.

use farpoint::Progress as Step;
use indicatif::{ProgressBar, ProgressStyle};
use std::io::{IsTerminal, stderr};
use std::ops::ControlFlow;

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::JoinHandle;
use std::time::Duration;

/// Work that takes less shows nothing.
const PATIENCE: Duration = Duration::from_secs(1);
const REDRAW: Duration = Duration::from_millis(100);

/// How far the work is, shared with the thread that draws.
struct Shared {
    done: AtomicU64,
    wanted: AtomicU64,
    /// What is being done now.
    what: Mutex<String>,
    /// What is counted.
    unit: &'static str,
}

/// Shows that work is going on until it is dropped.
pub(crate) struct Progress {
    shared: Arc<Shared>,
    drawing: Option<(Sender<()>, JoinHandle<()>)>,
}

impl Progress {
    /// Starts the clock. `what` is the work's name, like "reading room.ply".
    pub(crate) fn start(what: impl Into<String>) -> Self {
        Self::counting(what, 0, "samples")
    }

    /// Work of so many steps; `unit` is what they are called.
    pub(crate) fn counting(what: impl Into<String>, wanted: usize, unit: &'static str) -> Self {
        let shared = Arc::new(Shared {
            done: AtomicU64::new(0),
            wanted: AtomicU64::new(wanted as u64),
            what: Mutex::new(what.into()),
            unit,
        });
        let drawing = stderr().is_terminal().then(|| {
            let (stop, stopped) = channel();
            let shared = Arc::clone(&shared);
            (stop, std::thread::spawn(move || draw(&shared, &stopped)))
        });
        Self { shared, drawing }
    }

    /// Names what is being done now.
    pub(crate) fn now(&self, what: String) {
        *self.shared.what.lock().unwrap_or_else(PoisonError::into_inner) = what;
    }

    /// One step is done.
    pub(crate) fn advance(&self) {
        self.shared.done.fetch_add(1, Ordering::Relaxed);
    }

    /// Tells how far sampling is; to be called from the sampler's observer.
    pub(crate) fn step(&self, step: Step) -> ControlFlow<()> {
        self.shared.done.store(step.samples as u64, Ordering::Relaxed);
        self.shared.wanted.store(step.wanted as u64, Ordering::Relaxed);
        ControlFlow::Continue(())
    }
}

impl Drop for Progress {
    fn drop(&mut self) {
        if let Some((stop, thread)) = self.drawing.take() {
            drop(stop);
            let _ = thread.join();
        }
    }
}

/// Waits, then draws until the sender is gone.
fn draw(shared: &Shared, stopped: &Receiver<()>) {
    if stopped.recv_timeout(PATIENCE) != Err(RecvTimeoutError::Timeout) {
        return;
    }
    let bar = ProgressBar::new_spinner();
    let mut sized = false;
    loop {
        let wanted = shared.wanted.load(Ordering::Relaxed);
        if wanted > 0 && !sized {
            sized = true;
            let unit = shared.unit;
            let template =
                format!("{{msg}} [{{bar:40}}] {{human_pos}}/{{human_len}} {unit}, {{eta}} left");
            if let Ok(style) = ProgressStyle::with_template(&template) {
                bar.set_style(style);
            }
        }
        let what = shared.what.lock().unwrap_or_else(PoisonError::into_inner).clone();
        bar.set_message(what);
        if sized {
            bar.set_length(wanted);
            bar.set_position(shared.done.load(Ordering::Relaxed));
        } else {
            bar.tick();
        }
        if stopped.recv_timeout(REDRAW) != Err(RecvTimeoutError::Timeout) {
            break;
        }
    }
    bar.finish_and_clear();
}
