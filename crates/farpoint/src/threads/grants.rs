//! Pools of as many threads as the system grants, which may be fewer than are wanted.

use rayon::{ThreadPool, ThreadPoolBuilder};
use std::error::Error as _;
use std::sync::OnceLock;
use std::time::Duration;

/// Threads that were wanted when the system first refused some, and those that it granted.
static REFUSED: OnceLock<[usize; 2]> = OnceLock::new();

/// Threads that were wanted when the system first refused this process some, and those that it granted;
/// `None` if it never did.
pub fn granted_of() -> Option<[usize; 2]> {
    REFUSED.get().copied()
}

/// Builds a pool of so many threads or, where the system refuses them, of half as many, and so on; `None` if it
/// grants none.
pub fn granted(threads: usize, builder: impl Fn() -> ThreadPoolBuilder) -> Option<ThreadPool> {
    let halves = std::iter::successors(Some(threads), |&fewer| (fewer > 1).then_some(fewer / 2));
    for fewer in halves {
        match builder().num_threads(fewer).build() {
            Ok(pool) => {
                if fewer < threads {
                    REFUSED.get_or_init(|| [threads, fewer]);
                }
                return Some(pool);
            }
            // Not the system: this thread is one of another pool.
            Err(error) if error.source().is_none() => return None,
            // Those of the attempt are about to end.
            Err(_) => std::thread::sleep(Duration::from_millis(1)),
        }
    }
    REFUSED.get_or_init(|| [threads, 1]);
    None
}

/// Threads that rayon starts unless told otherwise.
pub(super) fn default_threads() -> usize {
    let set = std::env::var("RAYON_NUM_THREADS").ok().and_then(|set| set.parse().ok());
    set.filter(|&threads| threads > 0)
        .unwrap_or_else(|| std::thread::available_parallelism().map_or(1, usize::from))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_pool_has_the_threads_that_are_granted() {
        let pool = granted(3, ThreadPoolBuilder::new).unwrap();
        assert_eq!(pool.current_num_threads(), 3);
        // Stacks larger than the address space are refused, whoever asks.
        let refused = || ThreadPoolBuilder::new().stack_size(1 << 60);
        assert!(granted(4, refused).is_none());
        assert_eq!(granted_of(), Some([4, 1]));
        // A thread that is there needs no stack.
        let here = move || refused().use_current_thread();
        let in_another = std::thread::spawn(move || {
            let pool = granted(4, here).unwrap();
            assert!(granted(2, here).is_none(), "this thread is one of a pool");
            pool.current_num_threads()
        });
        assert_eq!(in_another.join().unwrap(), 1);
    }
}
