//! Concurrent work on files on the threads of this process.

use crate::{Batch, Done, Error, Executor, File, Notes, Row, Stop};
use farpoint::backend::granted_here;
use std::cmp::Reverse;
use std::collections::BTreeSet;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Condvar, Mutex, PoisonError};
use std::thread;
use std::time::Duration;

/// Limits of concurrent work on files.
#[derive(Clone, Copy, Debug)]
pub struct Concurrency {
    /// Largest number of files at a time.
    pub jobs: usize,
    /// Number of threads for each.
    pub threads: usize,
    /// Bytes of memory that they may take together, as far as that is known before. A file that takes more by itself
    /// is worked on alone.
    pub memory: u64,
    /// True if no further file is begun after one that fails.
    pub fail_fast: bool,
    /// Time limit for each file. It does not interrupt reading and writing.
    pub limit: Option<Duration>,
}

/// Work on one file in an isolated process: seconds and result, or `None` if the process was ended by anything but
/// its program.
pub type Isolated<'a> = &'a dyn Fn(&File) -> Option<(f64, Result<Done, String>)>;

/// Works on all files that are left, until `stop` is set; `report` is called with each row. Files in work at that time
/// get no row. Files of which [`Batch::is_suspect`] holds go through `isolated`.
///
/// # Errors
/// [`Error::System`] if the manifest can't be written.
pub fn run(
    batch: &Batch,
    executor: &Executor,
    concurrency: &Concurrency,
    stop: &AtomicBool,
    report: &(dyn Fn(&Row, &Notes) + Sync),
    isolated: Isolated<'_>,
) -> Result<(), Error> {
    let (suspects, regular): (Vec<_>, Vec<_>) =
        batch.remaining().iter().partition(|&&k| batch.is_suspect(k));
    let queue = Queue::new(batch, &regular, concurrency.memory);
    let shared =
        Shared { batch, executor, concurrency, stop, report, failed: AtomicBool::new(false) };
    let jobs = concurrency.jobs.clamp(1, regular.len().max(1));
    let first_error = Mutex::new(None);
    let serve = || {
        while let Some(k) = queue.take(&|| shared.is_over()) {
            let result = shared.process(k);
            queue.release(k);
            if let Err(error) = result {
                shared.failed.store(true, Ordering::Relaxed);
                stop.store(true, Ordering::Relaxed);
                first_error.lock().unwrap_or_else(PoisonError::into_inner).get_or_insert(error);
            }
        }
    };
    let serve_in_pool = || {
        let _pool = pool(concurrency.threads);
        serve();
    };
    thread::scope(|scope| {
        let start = |_: &usize| thread::Builder::new().spawn_scoped(scope, serve_in_pool).is_ok();
        // If the system refuses all threads, this one does the work.
        if (0..jobs).filter(start).count() == 0 {
            serve();
        }
    });
    if let Some(error) = first_error.into_inner().unwrap_or_else(PoisonError::into_inner) {
        return Err(error);
    }
    for k in suspects {
        if shared.is_over() {
            break;
        }
        shared.isolated(k, isolated)?;
    }
    Ok(())
}

/// Builds a pool whose only thread is this one, or with further ones, fewer if the system refuses them: parallel work
/// on a file stays on these threads.
fn pool(threads: usize) -> Option<rayon::ThreadPool> {
    granted_here(threads.max(1), rayon::ThreadPoolBuilder::new)
}

/// State shared by all threads.
struct Shared<'a> {
    batch: &'a Batch,
    executor: &'a Executor,
    concurrency: &'a Concurrency,
    stop: &'a AtomicBool,
    report: &'a (dyn Fn(&Row, &Notes) + Sync),
    failed: AtomicBool,
}

impl Shared<'_> {
    /// Returns whether no further file is begun.
    fn is_over(&self) -> bool {
        let failed = self.concurrency.fail_fast && self.failed.load(Ordering::Relaxed);
        failed || self.stop.load(Ordering::Relaxed)
    }

    /// Works on a file and writes its row.
    fn process(&self, k: usize) -> Result<(), Error> {
        self.batch.begin(k)?;
        let mut notes = Notes::default();
        let stop = Stop::new(self.stop, self.concurrency.limit);
        let result = self.result(k, &stop, &mut notes);
        if result.is_err() && self.stop.load(Ordering::Relaxed) {
            return Ok(());
        }
        self.failed.fetch_or(result.is_err(), Ordering::Relaxed);
        let row = self.batch.finish(k, stop.seconds(), result)?;
        (self.report)(&row, &notes);
        Ok(())
    }

    /// Works on a file in an isolated process, again if that is killed, and writes its row.
    fn isolated(&self, k: usize, isolated: Isolated<'_>) -> Result<(), Error> {
        loop {
            self.batch.begin(k)?;
            let outcome = isolated(&self.batch.files()[k]);
            let row = match outcome {
                _ if self.stop.load(Ordering::Relaxed) => return Ok(()),
                Some((seconds, result)) => Some(self.batch.finish(k, seconds, result)?),
                None if self.batch.killed(k)? => None,
                None => self.batch.row(k),
            };
            if let Some(row) = row {
                self.failed.fetch_or(row.result.is_err(), Ordering::Relaxed);
                (self.report)(&row, &Notes::default());
                return Ok(());
            }
        }
    }

    /// Returns the result for a file; a bug in one file is no reason to lose the others.
    fn result(&self, k: usize, stop: &Stop<'_>, notes: &mut Notes) -> Result<Done, String> {
        let file = &self.batch.files()[k];
        let work =
            AssertUnwindSafe(|| self.executor.sample(&file.input, &file.output, stop, notes));
        catch_unwind(work).unwrap_or_else(|_| {
            Err(format!("{}: a bug in farpoint; please report it", file.input.display()))
        })
    }
}

/// Files in the order of their weight, and the memory of those in work.
struct Queue<'a> {
    batch: &'a Batch,
    memory: u64,
    state: Mutex<State>,
    changed: Condvar,
}

struct State {
    waiting: BTreeSet<(Reverse<u64>, usize)>,
    running: usize,
    reserved: u64,
}

/// Interval at which an interrupt is noticed while waiting for memory.
const POLL_INTERVAL: Duration = Duration::from_millis(100);

impl<'a> Queue<'a> {
    fn new(batch: &'a Batch, files: &[usize], memory: u64) -> Self {
        let waiting = files.iter().map(|&k| (Reverse(batch.files()[k].weight), k)).collect();
        let state = Mutex::new(State { waiting, running: 0, reserved: 0 });
        Self { batch, memory, state, changed: Condvar::new() }
    }

    /// Takes the heaviest file that fits, if need be after others have ended; any, if none is in work.
    fn take(&self, over: &dyn Fn() -> bool) -> Option<usize> {
        let mut state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        loop {
            if over() || state.waiting.is_empty() {
                return None;
            }
            let room = if state.running == 0 {
                u64::MAX
            } else {
                self.memory.saturating_sub(state.reserved)
            };
            let fits = state.waiting.range((Reverse(room), 0)..).next().copied();
            if let Some(file @ (Reverse(weight), k)) = fits {
                state.waiting.remove(&file);
                state.running += 1;
                state.reserved = state.reserved.saturating_add(weight);
                return Some(k);
            }
            let waited = self.changed.wait_timeout(state, POLL_INTERVAL);
            state = waited.unwrap_or_else(PoisonError::into_inner).0;
        }
    }

    fn release(&self, k: usize) {
        let mut state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        state.running -= 1;
        state.reserved = state.reserved.saturating_sub(self.batch.files()[k].weight);
        self.changed.notify_all();
    }
}
