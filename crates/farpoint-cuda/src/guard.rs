//! Limits for waits: kernels whose blocks wait for each other give up instead of waiting forever
//! (`kernels/common/guard.cuh`), and report so in a word of host memory that belongs to a stream.
//!
//! That memory is there as long as the device is open, so that a kernel may write to it at any time
//! and the host may look at any time, without a copy and without waiting.

use crate::driver::{check, sys};
use crate::{Error, Gpu, Stream};
use std::collections::HashMap;
use std::ptr::NonNull;
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

/// How long a kernel waits without progress unless set otherwise: far longer than the slowest of
/// them takes beside other work, short enough not to be taken for a machine that is gone.
const PATIENCE: Duration = Duration::from_secs(20);

/// A tick of the kernels' clock is two to this power of nanoseconds: about a millisecond.
const TICK: u32 = 20;

/// A kernel that waits, by its number.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Kernel {
    Peak = 1,
    Persistent = 2,
    Tree = 3,
    Backward = 4,
}

/// `struct Guard` of `kernels/common/guard.cuh`: the first field of such a kernel's argument.
#[derive(Debug, Clone, Copy)]
#[repr(C)]
pub(crate) struct Guard {
    told: u64,
    limit: u32,
    kernel: u32,
    absent_stage: u32,
    absent_block: u32,
}

impl Guard {
    /// For a launch on this stream.
    pub(crate) fn new(stream: &Stream, kernel: Kernel) -> Self {
        let watch = stream.gpu().watch();
        let absent = watch.absent.load(Ordering::Relaxed);
        Self {
            told: watch.address + 4 * stream.word() as u64,
            limit: watch.limit.load(Ordering::Relaxed),
            kernel: kernel as u32,
            absent_stage: absent,
            // Every team of several blocks has a block 1.
            absent_block: if absent == NOBODY { NOBODY } else { 1 },
        }
    }
}

const NOBODY: u32 = u32::MAX;

/// Words of a device: the first is shared by streams for which none was left.
const WORDS: usize = 4096;

/// Where kernels of one GPU report that they gave up.
pub(crate) struct Watch {
    /// [`WORDS`] words of host memory, and their address on the device.
    words: NonNull<AtomicU32>,
    address: u64,
    /// Those that belong to no stream.
    free: Mutex<Vec<usize>>,
    /// Those of streams of other libraries, by handle: borrowed again, a stream has the same word.
    borrowed: Mutex<HashMap<u64, usize>>,
    /// Ticks that a wait may last.
    limit: AtomicU32,
    /// The stage at which a test has a block leave, or [`NOBODY`].
    absent: AtomicU32,
}

// SAFETY: the words are atomic numbers in memory that lives as long as the context; the rest is
// behind a mutex or atomic.
unsafe impl Send for Watch {}
// SAFETY: shared access is by atomic operations and mutexes only.
unsafe impl Sync for Watch {}

impl Watch {
    /// For the context that is current.
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
            absent: AtomicU32::new(NOBODY),
        })
    }

    /// A word for a stream of its own.
    pub(crate) fn take(&self) -> usize {
        let mut free = self.free.lock().unwrap_or_else(PoisonError::into_inner);
        free.pop().unwrap_or(0)
    }

    /// Takes back the word of a stream that has finished its work.
    pub(crate) fn give_back(&self, word: usize) {
        if word != 0 {
            self.word(word).store(0, Ordering::Relaxed);
            self.free.lock().unwrap_or_else(PoisonError::into_inner).push(word);
        }
    }

    /// The word of a stream of another library.
    pub(crate) fn of_borrowed(&self, stream: u64) -> usize {
        let mut borrowed = self.borrowed.lock().unwrap_or_else(PoisonError::into_inner);
        *borrowed.entry(stream).or_insert_with(|| self.take())
    }

    /// What a kernel has reported since the last call, as an error.
    pub(crate) fn ask(&self, word: usize) -> Result<(), Error> {
        // A look costs less than an exchange, and there is seldom anything.
        if self.word(word).load(Ordering::Relaxed) == 0 {
            return Ok(());
        }
        match self.word(word).swap(0, Ordering::Relaxed) {
            0 => Ok(()),
            told => Err(error(told, self.patience())),
        }
    }

    pub(crate) fn patience(&self) -> Duration {
        Duration::from_nanos(u64::from(self.limit.load(Ordering::Relaxed)) << TICK)
    }

    pub(crate) fn set_patience(&self, patience: Duration) {
        self.limit.store(ticks(patience), Ordering::Relaxed);
    }

    pub(crate) fn set_absent(&self, stage: Option<u32>) {
        self.absent.store(stage.unwrap_or(NOBODY), Ordering::Relaxed);
    }

    fn word(&self, word: usize) -> &AtomicU32 {
        assert!(word < WORDS, "no such word");
        // SAFETY: within the words, which live as long as `self`; kernels write whole words.
        unsafe { self.words.add(word).as_ref() }
    }
}

/// Half of the clock's range is more than a month.
fn ticks(patience: Duration) -> u32 {
    u32::try_from(patience.as_nanos() >> TICK).unwrap_or(u32::MAX).min(u32::MAX / 2)
}

fn error(told: u32, patience: Duration) -> Error {
    let kernel = match told >> 8 {
        1 => "peak",
        2 => "persistent",
        3 => "tree",
        4 => "backward",
        _ => "unknown",
    };
    // `enum Waiting` of `kernels/common/guard.cuh`.
    let waited_for = match told & 0xff {
        1 => "other blocks at a barrier",
        2 => "offers of other blocks",
        3 => "candidates of other blocks",
        4 => "decisions of other warps",
        _ => "others",
    };
    Error::GaveUp { kernel, waited_for, seconds: patience.as_secs_f64() }
}

/// Allows this thread what a capture in another would forbid: allocating host memory and loading a
/// kernel do not touch any stream.
pub(crate) struct Relaxed(sys::CUstreamCaptureMode);

impl Relaxed {
    pub(crate) fn new() -> Result<Self, Error> {
        let mut mode = sys::CUstreamCaptureMode::CU_STREAM_CAPTURE_MODE_RELAXED;
        // SAFETY: exchanges one number.
        let code = unsafe { sys::cuThreadExchangeStreamCaptureMode(&mut mode) };
        check("cuThreadExchangeStreamCaptureMode", code)?;
        Ok(Self(mode))
    }
}

impl Drop for Relaxed {
    fn drop(&mut self) {
        // SAFETY: exchanges one number; puts back what was.
        let _ = unsafe { sys::cuThreadExchangeStreamCaptureMode(&mut self.0) };
    }
}

/// How long kernels wait for each other.
impl Gpu {
    /// How long a kernel's blocks may wait for each other without progress before the kernel gives
    /// up: 20 seconds unless set.
    pub fn patience(&self) -> Duration {
        self.watch().patience()
    }

    /// Sets the patience of all kernels started from now on. More is needed if kernels are slowed down
    /// very much: by a debugger, or by other programs that keep the card busy for that long at a time.
    pub fn set_patience(&self, patience: Duration) {
        self.watch().set_patience(patience);
    }

    /// For tests: in kernels started from now on, one block of each team leaves at this stage
    /// (`enum Stage` of `kernels/common/guard.cuh`), so that the others wait for it in vain.
    #[doc(hidden)]
    pub fn set_absent(&self, stage: Option<u32>) {
        self.watch().set_absent(stage);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::mem::offset_of;

    const SOURCE: &str = include_str!("../kernels/common/guard.cuh");

    #[test]
    fn laid_out_as_in_guard_cuh() {
        let (_, rest) = SOURCE.split_once("struct Guard {").unwrap();
        let (body, _) = rest.split_once("};").unwrap();
        let theirs: Vec<_> = body
            .lines()
            .filter_map(|line| line.split("//").next().unwrap().trim().strip_suffix(';'))
            .map(|line| line.rsplit([' ', '*']).next().unwrap())
            .collect();
        assert_eq!(theirs.join(" "), "told limit kernel absent_stage absent_block");
        assert_eq!((offset_of!(Guard, absent_block), size_of::<Guard>()), (20, 24));
    }

    #[test]
    fn what_a_kernel_tells_is_said_in_words() {
        let names = ["FOR_BLOCKS = 1", "FOR_OFFERS = 2", "FOR_CANDIDATES = 3", "FOR_DECISIONS = 4"];
        assert!(SOURCE.contains(&format!("enum Waiting {{ {} }};", names.join(", "))));
        let words = [(1, "barrier"), (2, "offers"), (3, "candidates"), (4, "decisions")];
        let kernels = [
            (Kernel::Peak, "peak"),
            (Kernel::Persistent, "persistent"),
            (Kernel::Tree, "tree"),
            (Kernel::Backward, "backward"),
        ];
        for ((kernel, name), (code, word)) in
            kernels.into_iter().flat_map(|kernel| words.map(|word| (kernel, word)))
        {
            let text = error((kernel as u32) << 8 | code, Duration::from_secs(3)).to_string();
            assert!(text.contains(&format!("the kernel {name} gave up")), "{text}");
            assert!(text.contains(word) && text.contains("3.0 s"), "{text}");
        }
    }

    #[test]
    fn patience_is_kept_in_ticks() {
        assert_eq!(ticks(Duration::ZERO), 0);
        assert_eq!(ticks(Duration::from_secs(20)), 19_073);
        assert_eq!(ticks(Duration::MAX), u32::MAX / 2);
    }
}
