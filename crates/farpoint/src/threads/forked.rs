//! After a `fork` the child has one thread. Rayon's global pool, if the parent had started it,
//! looks alive there, and a thread that hands it work waits forever. So a child gets a pool of its own.

use super::grants::{default_threads, granted};
use rayon::{ThreadPool, ThreadPoolBuilder};
use std::cell::Cell;
use std::sync::atomic::{AtomicPtr, AtomicU32, Ordering};

/// The process that loaded this library; 0 while unknown. (No process has the number 0.)
static LOADED_IN: AtomicU32 = AtomicU32::new(0);

/// Records the process as soon as the library is loaded. Were it recorded at the first call, a fork
/// before that would go unseen, though other code may have started the global pool.
#[cfg(target_os = "linux")]
#[used]
// SAFETY: the section is for pointers to functions without arguments, which the loader calls once
// when it has loaded the library; this one stores a number.
#[unsafe(link_section = ".init_array")]
static NOTE_PROCESS: extern "C" fn() = {
    extern "C" fn note() {
        LOADED_IN.store(std::process::id(), Ordering::Relaxed);
    }
    note
};

/// The pool of a process that was forked from the one that loaded the library.
struct ForkedPool {
    process: u32,
    pool: ThreadPool,
}

/// Only ever replaced by the pool of a younger process. Never freed: others may be using it, and
/// the threads of a parent's pool cannot be joined here.
static FORKED_POOL: AtomicPtr<ForkedPool> = AtomicPtr::new(std::ptr::null_mut());

thread_local! {
    /// The process in which this thread was started for [`FORKED_POOL`]'s pool; 0 for other threads.
    static STARTED_IN: Cell<u32> = const { Cell::new(0) };
}

/// Returns the pool to use in a forked process; `None` if rayon's current pool is fine.
pub(super) fn pool() -> Option<&'static ThreadPool> {
    let process = std::process::id();
    let loaded_in = LOADED_IN.compare_exchange(0, process, Ordering::Relaxed, Ordering::Relaxed);
    let loaded_in = loaded_in.map_or_else(|known| known, |_| process);
    pool_of(process, loaded_in)
}

fn pool_of(process: u32, loaded_in: u32) -> Option<&'static ThreadPool> {
    if process == loaded_in || STARTED_IN.get() == process {
        return None;
    }
    let current = FORKED_POOL.load(Ordering::Acquire);
    // SAFETY: null, or leaked below and never freed.
    let existing = unsafe { current.as_ref() };
    if let Some(forked) = existing.filter(|forked| forked.process == process) {
        return Some(&forked.pool);
    }
    let builder = || {
        let named = ThreadPoolBuilder::new().thread_name(|k| format!("farpoint-{k}"));
        named.start_handler(move |_| STARTED_IN.set(process))
    };
    let Some(pool) = granted(default_threads(), builder) else {
        // A pool of this thread alone; if it was one of the parent's pool, that waits for no other thread either.
        std::mem::forget(builder().num_threads(1).use_current_thread().build());
        STARTED_IN.set(process);
        return None;
    };
    let fresh = Box::into_raw(Box::new(ForkedPool { process, pool }));
    match FORKED_POOL.compare_exchange(current, fresh, Ordering::AcqRel, Ordering::Acquire) {
        // SAFETY: leaked a moment ago, and never freed from now on.
        Ok(_) => Some(unsafe { &(*fresh).pool }),
        Err(other) => {
            // SAFETY: no other thread has seen it.
            drop(unsafe { Box::from_raw(fresh) });
            // SAFETY: another thread of this process leaked it; it is never freed.
            Some(unsafe { &(*other).pool })
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_process_is_recorded_when_the_library_is_loaded() {
        if cfg!(target_os = "linux") {
            assert_eq!(LOADED_IN.load(Ordering::Relaxed), std::process::id());
        }
        assert!(pool().is_none());
    }

    #[test]
    fn a_forked_process_has_one_pool_of_its_own() {
        let process = std::process::id();
        let (first, again) = (pool_of(process, process + 1), pool_of(process, process + 1));
        let pool = first.expect("a pool");
        assert!(std::ptr::eq(pool, again.expect("a pool")));
        // On its threads, rayon's current pool is this one.
        assert!(pool.install(|| pool_of(process, process + 1).is_none()));
    }
}
