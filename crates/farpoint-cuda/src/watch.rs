//! Reports of kernels that gave up waiting: a word of host memory per stream.
//!
//! The memory lives as long as the GPU is open, so that a kernel may write to it at any time and the
//! host may read it at any time, without a copy and without synchronizing.

use crate::Error;
use crate::context::Relaxed;
use crate::driver::{check, sys};
use std::collections::HashMap;
use std::ptr::NonNull;
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

/// Time that a kernel waits without progress unless set otherwise: far longer than the slowest of them
/// takes beside other work, short enough not to look like a machine that hangs.
const PATIENCE: Duration = Duration::from_secs(20);

/// Binary logarithm of the nanoseconds of a tick of the kernels' clock: about a millisecond.
const TICK: u32 = 20;

/// Value of `absent` if no block leaves.
pub(crate) const NO_BLOCK: u32 = u32::MAX;

/// Number of words per device: the first is shared by streams for which none was left.
const WORDS: usize = 4096;

/// Words in which kernels of one GPU report that they gave up.
pub(crate) struct Watch {
    /// [`WORDS`] words of host memory, and their address on the device.
    words: NonNull<AtomicU32>,
    address: u64,
    /// Words that belong to no stream.
    free: Mutex<Vec<usize>>,
    /// Words of streams of other libraries, by handle: borrowed again, a stream has the same word.
    borrowed: Mutex<HashMap<u64, usize>>,
    /// Timeout in ticks.
    limit: AtomicU32,
    /// The stage at which a test makes a block leave, or [`NO_BLOCK`].
    absent: AtomicU32,
}

// SAFETY: the words are atomic numbers in memory that lives as long as the context; the rest is
// behind a mutex or atomic.
unsafe impl Send for Watch {}
// SAFETY: shared access is by atomic operations and mutexes only.
unsafe impl Sync for Watch {}

impl Watch {
    /// Allocates the words in the current context.
    pub(crate) fn new() -> Result<Self, Error> {
        let _relaxed = Relaxed::new()?;
        let mut words = std::ptr::null_mut();
        let flags = sys::CU_MEMHOSTALLOC_PORTABLE | sys::CU_MEMHOSTALLOC_DEVICEMAP;
        // SAFETY: writes the address of memory that stays until the context is destroyed.
        check("cuMemHostAlloc", unsafe { sys::cuMemHostAlloc(&mut words, 4 * WORDS, flags) })?;
        let words = NonNull::new(words.cast::<AtomicU32>()).expect("memory has an address");
        // SAFETY: this many words were allocated, and nothing else uses them yet.
        unsafe { std::ptr::write_bytes(words.as_ptr(), 0, WORDS) };
        let mut address = 0;
        // SAFETY: writes one number; the memory was allocated to be seen by devices.
        let code =
            unsafe { sys::cuMemHostGetDevicePointer_v2(&mut address, words.as_ptr().cast(), 0) };
        check("cuMemHostGetDevicePointer", code)?;
        Ok(Self {
            words,
            address,
            free: Mutex::new((1..WORDS).rev().collect()),
            borrowed: Mutex::default(),
            limit: AtomicU32::new(ticks(PATIENCE)),
            absent: AtomicU32::new(NO_BLOCK),
        })
    }

    /// Takes a word for a stream of its own.
    pub(crate) fn acquire(&self) -> usize {
        let mut free = self.free.lock().unwrap_or_else(PoisonError::into_inner);
        free.pop().unwrap_or(0)
    }

    /// Takes back the word of a stream that has finished its work.
    pub(crate) fn release(&self, word: usize) {
        if word != 0 {
            self.word(word).store(0, Ordering::Relaxed);
            self.free.lock().unwrap_or_else(PoisonError::into_inner).push(word);
        }
    }

    /// Returns the word of a stream of another library.
    pub(crate) fn word_of_borrowed(&self, stream: u64) -> usize {
        let mut borrowed = self.borrowed.lock().unwrap_or_else(PoisonError::into_inner);
        *borrowed.entry(stream).or_insert_with(|| self.acquire())
    }

    /// Returns as an error what a kernel has reported since the last call.
    pub(crate) fn check_word(&self, word: usize) -> Result<(), Error> {
        // A load costs less than an exchange, and reports are rare.
        if self.word(word).load(Ordering::Relaxed) == 0 {
            return Ok(());
        }
        match self.word(word).swap(0, Ordering::Relaxed) {
            0 => Ok(()),
            report => Err(error(report, self.patience())),
        }
    }

    pub(crate) fn patience(&self) -> Duration {
        Duration::from_nanos(u64::from(self.limit.load(Ordering::Relaxed)) << TICK)
    }

    pub(crate) fn set_patience(&self, patience: Duration) {
        self.limit.store(ticks(patience), Ordering::Relaxed);
    }

    pub(crate) fn set_absent(&self, stage: Option<u32>) {
        self.absent.store(stage.unwrap_or(NO_BLOCK), Ordering::Relaxed);
    }

    /// Returns the stage at which a test makes a block leave, or [`NO_BLOCK`].
    pub(crate) fn absent(&self) -> u32 {
        self.absent.load(Ordering::Relaxed)
    }

    /// Returns the timeout in ticks.
    pub(crate) fn limit(&self) -> u32 {
        self.limit.load(Ordering::Relaxed)
    }

    /// Returns the device address of a word.
    pub(crate) fn address_of(&self, word: usize) -> u64 {
        self.address + 4 * word as u64
    }

    fn word(&self, word: usize) -> &AtomicU32 {
        assert!(word < WORDS, "no such word");
        // SAFETY: within the words, which live as long as `self`; kernels write whole words.
        unsafe { self.words.add(word).as_ref() }
    }
}

/// Converts to ticks, at most half of the clock's range: more than a month.
fn ticks(patience: Duration) -> u32 {
    u32::try_from(patience.as_nanos() >> TICK).unwrap_or(u32::MAX).min(u32::MAX / 2)
}

pub(crate) fn error(report: u32, patience: Duration) -> Error {
    let kernel = match report >> 8 {
        1 => "peak",
        2 => "persistent",
        3 => "tree",
        4 => "backward",
        5 => "search_backward",
        6 => "fastpoint",
        _ => "unknown",
    };
    // `enum Waiting` of `kernels/common/guard.cuh`.
    let waited_for = match report & 0xff {
        1 => "other blocks at a barrier",
        2 => "offers of other blocks",
        3 => "candidates of other blocks",
        4 => "decisions of other warps",
        _ => "others",
    };
    Error::GaveUp { kernel, waited_for, seconds: patience.as_secs_f64() }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn patience_is_stored_in_ticks() {
        assert_eq!(ticks(Duration::ZERO), 0);
        assert_eq!(ticks(Duration::from_secs(20)), 19_073);
        assert_eq!(ticks(Duration::MAX), u32::MAX / 2);
    }
}
