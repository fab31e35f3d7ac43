//! A progress bar on stderr, for people only: on a terminal, and for work over a second. What is read and written is
//! counted by farpoint-io, other work by those who do it.

use crate::interrupt;
use crate::messages::{self, Verbosity};
use crate::text::seconds;
use farpoint::Progress as Step;
use farpoint_io::{Share, observe, printable};
use farpoint_pipeline::{Kind, Stage, Watch};
use indicatif::{ProgressBar, ProgressStyle};
use std::io::{IsTerminal, stderr};
use std::ops::ControlFlow;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};
use terminal_size::{Width, terminal_size_of};

/// Work shorter than this shows nothing.
const DELAY: Duration = Duration::from_secs(1);
const REDRAW: Duration = Duration::from_millis(100);
/// The bar, once the number of samples is known; the message is cut to fit.
const WIDE: &str = "{msg} [{wide_bar}] {human_pos}/{human_len} {prefix}, {eta} left";
/// The bar of reading and writing.
const SHARE: &str = "{msg} [{wide_bar}] {percent}%, {eta} left";
/// Bar for terminals without room for all that.
const NARROW: &str = "{msg} {percent}%, {eta} left";
const WITHOUT_SIZE: &str = "{spinner} {msg}";
/// Columns that the wide bar needs.
const WIDE_COLUMNS: usize = 100;
/// Columns of a terminal of unknown width.
const DEFAULT_COLUMNS: usize = 80;

/// Progress of the work, shared with the drawing thread.
struct Shared {
    share: Arc<Share>,
    /// True if samples or other units are counted, in place of what is read and written.
    counts: AtomicBool,
    /// Verb and its object, a file or cloud.
    verb: &'static str,
    subject: String,
    /// Unit of the counts.
    unit: &'static str,
}

impl Shared {
    /// Returns the stage in at most `room` characters: names of files are cut at their start.
    fn message(&self, room: usize) -> String {
        let verb = self.step();
        let room = room.saturating_sub(verb.len() + 1);
        let length = self.subject.chars().count();
        if self.subject.is_empty() || room < 4 {
            return verb.to_owned();
        }
        if length <= room {
            return format!("{verb} {}", self.subject);
        }
        let end: String = self.subject.chars().skip(length - (room - 3)).collect();
        format!("{verb} ...{end}")
    }

    /// Returns the verb, or that of the step with which points become bytes of a file or the reverse.
    fn step(&self) -> &'static str {
        let converts = self.share.get().1 > 0 && !self.share.is_of_bytes();
        match self.verb {
            _ if !converts || self.counts.load(Ordering::Relaxed) => self.verb,
            "reading" => "decoding",
            "writing" => "encoding",
            verb => verb,
        }
    }
}

/// Progress bar of work until it is dropped.
pub(crate) struct Progress {
    shared: Arc<Shared>,
    drawing: Option<(Sender<()>, JoinHandle<()>)>,
    start: Instant,
}

impl Progress {
    /// Starts the clock. The work is named by a verb and its object: "reading", "room.ply".
    pub(crate) fn start(verb: &'static str, subject: &str) -> Self {
        Self::counting(verb, subject, "samples")
    }

    /// Like [`Progress::start`], for work whose steps are files.
    pub(crate) fn of_files(verb: &'static str, subject: &str) -> Self {
        Self::counting(verb, subject, "files")
    }

    /// Like [`Progress::start`], for work that counts something else.
    pub(crate) fn counting(verb: &'static str, subject: &str, unit: &'static str) -> Self {
        let shared = Arc::new(Shared {
            share: Arc::default(),
            counts: AtomicBool::new(false),
            verb,
            subject: printable(subject).into_owned(),
            unit,
        });
        let drawn = stderr().is_terminal() && messages::is_enabled(Verbosity::Normal);
        observe(drawn.then(|| Arc::clone(&shared.share)));
        // Where the system refuses the thread, nothing is drawn.
        let start = || {
            let (stop, stopped) = channel();
            let shared = Arc::clone(&shared);
            let thread = std::thread::Builder::new().spawn(move || draw(&shared, &stopped)).ok()?;
            Some((stop, thread))
        };
        let drawing = if drawn { start() } else { None };
        Self { shared, drawing, start: Instant::now() }
    }

    /// Progress callback of the sampler.
    pub(crate) fn step(&self, step: Step) -> ControlFlow<()> {
        self.count(step.samples, step.total);
        ControlFlow::Continue(())
    }

    /// Reports the numbers of chosen and requested samples.
    pub(crate) fn count(&self, samples: usize, total: usize) {
        if !self.shared.counts.swap(true, Ordering::Relaxed) {
            observe(None);
        }
        self.shared.share.set(samples as u64, total as u64);
    }
}

impl Drop for Progress {
    fn drop(&mut self) {
        observe(None);
        if let Some((stop, thread)) = self.drawing.take() {
            drop(stop);
            let _ = thread.join();
        }
        let time = seconds(self.start.elapsed().as_secs_f64());
        self.shared.share.set(0, 0);
        messages::stage(&self.shared.message(usize::MAX), &time);
    }
}

/// Shows the progress of a request: stages as bars, notes as messages. On a signal, work that is recorded ends itself.
#[derive(Default)]
pub(crate) struct ProgressWatch(Mutex<Option<CurrentStage>>);

/// A stage in progress.
#[derive(Default)]
struct CurrentStage {
    progress: Option<Progress>,
    _deferred: Option<interrupt::Deferred>,
}

impl Watch for ProgressWatch {
    fn stage(&self, stage: Stage, subject: &str) {
        let mut current = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        *current = None;
        let verb = match stage {
            Stage::Opening => "opening",
            Stage::Reading | Stage::Spooling => "reading",
            Stage::Comparing => "comparing",
            Stage::Sampling => "sampling",
            Stage::Writing => "writing",
            Stage::Between => return,
        };
        let _deferred = (stage == Stage::Spooling).then(interrupt::Deferred::new);
        *current = Some(CurrentStage { progress: Some(Progress::start(verb, subject)), _deferred });
    }

    fn report(&self, kind: Kind, text: &str) {
        messages::print_message(kind, text);
    }

    fn detail(&self, work: &str, method: &str) {
        messages::stage(work, method);
    }

    fn step(&self, samples: usize, total: usize) -> bool {
        let current = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(progress) = current.as_ref().and_then(|current| current.progress.as_ref()) {
            progress.count(samples, total);
        }
        self.should_continue()
    }

    fn should_continue(&self) -> bool {
        !interrupt::is_pending()
    }
}

/// Waits, then draws until the sender is gone.
fn draw(shared: &Shared, stopped: &Receiver<()>) {
    if stopped.recv_timeout(DELAY) != Err(RecvTimeoutError::Timeout) {
        return;
    }
    let bar = ProgressBar::new_spinner();
    let mut template_in_use = "";
    loop {
        let (done, total) = shared.share.get();
        // The width may change while this runs.
        let (template, message) = layout(shared, total > 0, columns());
        if template_in_use != template {
            template_in_use = template;
            if let Ok(style) = ProgressStyle::with_template(template) {
                bar.set_style(style);
            }
        }
        bar.set_message(message);
        bar.set_prefix(shared.unit);
        if total > 0 {
            bar.set_length(total);
            bar.set_position(done);
        } else {
            bar.tick();
        }
        if stopped.recv_timeout(REDRAW) != Err(RecvTimeoutError::Timeout) {
            break;
        }
    }
    bar.finish_and_clear();
}

/// Returns the template and the message that fit into this many columns.
fn layout(shared: &Shared, sized: bool, columns: usize) -> (&'static str, String) {
    // Room for "100%, 59m left", and for two numbers with separators beside a bar.
    let (template, used) = match sized {
        false => (WITHOUT_SIZE, 3),
        true if columns < WIDE_COLUMNS => (NARROW, 17),
        true if !shared.counts.load(Ordering::Relaxed) => (SHARE, 50),
        true => (WIDE, 70),
    };
    (template, shared.message(columns.saturating_sub(used + 1)))
}

/// Returns the columns of the terminal.
fn columns() -> usize {
    terminal_size_of(stderr()).map_or(DEFAULT_COLUMNS, |(Width(columns), _)| usize::from(columns))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn message(subject: &str, room: usize) -> String {
        let (share, counts) = (Arc::default(), AtomicBool::new(false));
        let (subject, unit) = (subject.to_owned(), "samples");
        Shared { share, counts, verb: "reading", subject, unit }.message(room)
    }

    #[test]
    fn names_are_cut_at_their_start() {
        assert_eq!(message("/data/2024/scan.laz", 80), "reading /data/2024/scan.laz");
        assert_eq!(message("/data/2024/scan.laz", 20), "reading .../scan.laz");
        assert_eq!(message("scan.laz", 5), "reading");
        assert_eq!(message("", 80), "reading");
        for room in 11..40 {
            assert!(message("/data/2024/scan.laz", room).chars().count() <= room, "{room}");
        }
    }
}
