//! A progress bar on stderr, for people only: on a terminal, and for work over a second.

use farpoint::Progress as Step;
use indicatif::{ProgressBar, ProgressStyle};
use std::io::{IsTerminal, stderr};
use std::ops::ControlFlow;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::thread::JoinHandle;
use std::time::Duration;

/// Work that takes less shows nothing.
const PATIENCE: Duration = Duration::from_secs(1);
const REDRAW: Duration = Duration::from_millis(100);
/// The bar, once the number of samples is known.
const TEMPLATE: &str = "{msg} [{bar:40}] {human_pos}/{human_len} samples, {eta} left";

/// How far the work is, shared with the thread that draws.
struct Shared {
    done: AtomicU64,
    wanted: AtomicU64,
    /// What is being done.
    what: String,
}

/// Shows that work is going on until it is dropped.
pub(crate) struct Progress {
    shared: Arc<Shared>,
    drawing: Option<(Sender<()>, JoinHandle<()>)>,
}

impl Progress {
    /// Starts the clock. `what` is the work's name, like "reading room.ply".
    pub(crate) fn start(what: impl Into<String>) -> Self {
        let shared = Arc::new(Shared {
            done: AtomicU64::new(0),
            wanted: AtomicU64::new(0),
            what: what.into(),
        });
        let drawing = stderr().is_terminal().then(|| {
            let (stop, stopped) = channel();
            let shared = Arc::clone(&shared);
            (stop, std::thread::spawn(move || draw(&shared, &stopped)))
        });
        Self { shared, drawing }
    }

    /// Reports how far sampling is; called from the sampler's observer.
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
    let bar = ProgressBar::new_spinner().with_message(shared.what.clone());
    let mut sized = false;
    loop {
        let wanted = shared.wanted.load(Ordering::Relaxed);
        if wanted > 0 && !sized {
            sized = true;
            if let Ok(style) = ProgressStyle::with_template(TEMPLATE) {
                bar.set_style(style);
            }
        }
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
