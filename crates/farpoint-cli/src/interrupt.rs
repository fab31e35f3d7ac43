//! Ctrl-C, SIGTERM and SIGHUP: the process ends at once, and no output is replaced after the signal.
//!
//! Outputs go to temporary files that are renamed at the end: these are removed, and their renames refused. Work that
//! records how far it is ends itself, at its next step; a second signal does not wait for it.

use crate::messages::note;
use farpoint_io::temporary;
use std::process::exit;
use std::sync::atomic::{AtomicBool, AtomicI32, AtomicUsize, Ordering};

/// The first signal; 0 before it.
static SIGNAL: AtomicI32 = AtomicI32::new(0);
/// Set by a signal, for work that ends itself.
static STOP: AtomicBool = AtomicBool::new(false);
/// Number of pieces of such work.
static DEFERRED: AtomicUsize = AtomicUsize::new(0);

/// Takes over the signals, except those that the parent has this process ignore. Where the system refuses, the process
/// just ends.
pub fn install() {
    listen(|signal| {
        let repeated = SIGNAL.swap(signal, Ordering::SeqCst) != 0;
        STOP.store(true, Ordering::SeqCst);
        temporary::remove_temporaries();
        if repeated || DEFERRED.load(Ordering::SeqCst) == 0 {
            end();
        }
        note("stopping at the next step; a second signal does not wait for it");
    });
}

/// Calls `act` with the number of each signal, in a thread of its own.
#[cfg(unix)]
fn listen(act: impl Fn(i32) + Send + 'static) {
    use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM};
    use signal_hook::iterator::Signals;
    let (give, take) = std::sync::mpsc::channel::<Signals>();
    let wait = move || take.iter().for_each(|mut signals| signals.forever().for_each(&act));
    // Signals that no thread takes would be lost.
    if std::thread::Builder::new().spawn(wait).is_ok() {
        let heeded = [SIGHUP, SIGINT, SIGTERM].into_iter().filter(|signal| !is_ignored(*signal));
        let _ = Signals::new(heeded).map(|signals| give.send(signals));
    }
}

/// Returns whether the parent has this process ignore a signal, as `nohup` does. Known on Linux only.
#[cfg(unix)]
fn is_ignored(signal: i32) -> bool {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let mask = status.lines().find_map(|line| line.strip_prefix("SigIgn:"));
    let mask = mask.and_then(|mask| u64::from_str_radix(mask.trim(), 16).ok());
    mask.is_some_and(|mask| mask >> (signal - 1) & 1 == 1)
}

#[cfg(not(unix))]
fn listen(act: impl Fn(i32) + Send + 'static) {
    let _ = ctrlc::set_handler(move || act(2));
}

/// Work that ends itself on a signal, until this is dropped.
pub(crate) struct Deferred(());

impl Deferred {
    pub(crate) fn new() -> Deferred {
        DEFERRED.fetch_add(1, Ordering::SeqCst);
        Deferred(())
    }
}

impl Drop for Deferred {
    fn drop(&mut self) {
        DEFERRED.fetch_sub(1, Ordering::SeqCst);
        if is_pending() {
            end();
        }
    }
}

/// Makes the first signal only set the returned flag, for work on several files at a time, which ends at the next
/// file or step; then call [`end`].
pub(crate) fn defer_exit() -> &'static AtomicBool {
    std::mem::forget(Deferred::new());
    &STOP
}

/// Returns whether the process was told to end.
pub(crate) fn is_pending() -> bool {
    SIGNAL.load(Ordering::SeqCst) != 0
}

/// Ends the process after a signal, with the status that shells give to one that ended by it.
pub(crate) fn end() -> ! {
    exit(128 + SIGNAL.load(Ordering::SeqCst))
}
