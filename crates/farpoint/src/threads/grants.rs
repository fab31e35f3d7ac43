//! Pools of as many threads as the system grants, which may be fewer than requested.

use rayon::{ThreadPool, ThreadPoolBuilder};
use std::sync::mpsc::channel;
use std::sync::{Mutex, OnceLock};
use std::time::Duration;

/// Threads requested when the system first refused some, and threads granted.
static REFUSED: OnceLock<[usize; 2]> = OnceLock::new();

/// Returns the threads requested when the system first refused this process some, and those that it granted;
/// `None` if it never did.
pub fn granted_of() -> Option<[usize; 2]> {
    REFUSED.get().copied()
}

/// Builds a pool of `threads` threads or, if the system refuses them, of half as many, and so on; `None` if it
/// grants none.
pub fn granted(threads: usize, builder: impl Fn() -> ThreadPoolBuilder) -> Option<ThreadPool> {
    let halves = std::iter::successors(Some(threads), |&fewer| (fewer > 1).then_some(fewer / 2));
    for fewer in halves {
        if let Ok(pool) = builder().num_threads(fewer).build() {
            if fewer < threads {
                REFUSED.get_or_init(|| [threads, fewer]);
            }
            return Some(pool);
        }
        // The threads of the attempt are about to end.
        std::thread::sleep(Duration::from_millis(1));
    }
    REFUSED.get_or_init(|| [threads, 1]);
    None
}

/// Like [`granted`], for a pool of which this thread is the first: if the system refuses others, the only one.
/// `None` if it is one of a pool already.
pub fn granted_here(threads: usize, builder: impl Fn() -> ThreadPoolBuilder) -> Option<ThreadPool> {
    if rayon::current_thread_index().is_some() {
        return None;
    }
    // A thread is the first of a pool for good, even if the others are refused after that: so they are tried before.
    let (ended, end) = channel();
    let others = threads.saturating_sub(1);
    let watched = || {
        let ended = Mutex::new(ended.clone());
        builder().exit_handler(move |_| {
            let _ = ended.lock().map(|ended| ended.send(()));
        })
    };
    let attempt = (others > 0).then(|| watched().num_threads(others).build());
    let threads = match attempt {
        Some(Err(_)) => {
            REFUSED.get_or_init(|| [threads, 1]);
            1
        }
        attempt => {
            drop(attempt);
            for _ in 0..others {
                let _ = end.recv_timeout(PATIENCE);
            }
            1 + others
        }
    };
    builder().num_threads(threads).use_current_thread().build().ok()
}

/// Time within which test threads end, unless the machine is very busy.
const PATIENCE: Duration = Duration::from_millis(100);

/// Returns the number of threads that rayon starts by default.
pub(super) fn default_threads() -> usize {
    let set = std::env::var("RAYON_NUM_THREADS").ok().and_then(|set| set.parse().ok());
    set.filter(|&threads| threads > 0)
        .unwrap_or_else(|| std::thread::available_parallelism().map_or(1, usize::from))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_pool_has_the_granted_threads() {
        let pool = granted(3, ThreadPoolBuilder::new).unwrap();
        assert_eq!(pool.current_num_threads(), 3);
        // Stacks larger than the address space are always refused.
        let refused: fn() -> ThreadPoolBuilder = || ThreadPoolBuilder::new().stack_size(1 << 60);
        assert!(granted(4, refused).is_none());
        assert_eq!(granted_of(), Some([4, 1]));
        let in_another = |builder: fn() -> ThreadPoolBuilder| {
            let of_thread = move || {
                let pool = granted_here(4, builder).unwrap();
                assert!(granted_here(2, builder).is_none(), "this thread is one of a pool");
                assert_eq!(rayon::current_num_threads(), pool.current_num_threads());
                rayon::join(rayon::current_num_threads, || ()).0
            };
            std::thread::spawn(of_thread).join().unwrap()
        };
        assert_eq!(in_another(ThreadPoolBuilder::new), 4);
        assert_eq!(in_another(refused), 1);
    }
}
