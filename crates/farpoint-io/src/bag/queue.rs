//! Bounds the memory of concurrent work: bytes enter, and leave when they are written.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Condvar, Mutex, PoisonError};
use std::time::Duration;

/// Interval at which waiting threads check whether the work was canceled.
pub(super) const POLL_INTERVAL: Duration = Duration::from_millis(50);

/// Admits a limited number of bytes.
pub(super) struct Gate<'a> {
    used: Mutex<u64>,
    freed: Condvar,
    limit: u64,
    closed: AtomicBool,
    stop: &'a AtomicBool,
}

impl<'a> Gate<'a> {
    /// A gate for `limit` bytes that admits nothing once `stop` is set.
    pub(super) fn new(limit: u64, stop: &'a AtomicBool) -> Gate<'a> {
        let closed = AtomicBool::new(false);
        Gate { used: Mutex::new(0), freed: Condvar::new(), limit, closed, stop }
    }

    /// Waits until there is room; a size above the limit enters alone. Returns whether it was admitted.
    pub(super) fn enter(&self, bytes: u64) -> bool {
        let mut used = self.used.lock().unwrap_or_else(PoisonError::into_inner);
        while *used > 0 && used.saturating_add(bytes) > self.limit {
            if self.closed() {
                return false;
            }
            let waited = self.freed.wait_timeout(used, POLL_INTERVAL);
            used = waited.unwrap_or_else(PoisonError::into_inner).0;
        }
        *used = used.saturating_add(bytes);
        !self.closed()
    }

    /// Makes the room free again.
    pub(super) fn leave(&self, bytes: u64) {
        let mut used = self.used.lock().unwrap_or_else(PoisonError::into_inner);
        *used = used.saturating_sub(bytes);
        self.freed.notify_one();
    }

    /// Admits nothing from now on.
    pub(super) fn close(&self) {
        self.closed.store(true, Ordering::Relaxed);
        self.freed.notify_all();
    }

    /// Returns whether the work was canceled.
    pub(super) fn closed(&self) -> bool {
        self.closed.load(Ordering::Relaxed) || self.stop.load(Ordering::Relaxed)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_size_above_the_limit_enters_alone() {
        let stop = AtomicBool::new(false);
        let gate = Gate::new(10, &stop);
        assert!(gate.enter(100));
        std::thread::scope(|scope| {
            let second = scope.spawn(|| gate.enter(4));
            gate.leave(100);
            assert!(second.join().unwrap());
            assert!(gate.enter(6));
        });
        // There is no room left, and nobody makes any.
        gate.close();
        assert!(!gate.enter(1));
    }

    #[test]
    fn waiting_threads_see_the_stop() {
        let stop = AtomicBool::new(false);
        let gate = Gate::new(10, &stop);
        assert!(gate.enter(10));
        std::thread::scope(|scope| {
            let waits = scope.spawn(|| gate.enter(1));
            stop.store(true, Ordering::Relaxed);
            assert!(!waits.join().unwrap());
        });
    }
}
