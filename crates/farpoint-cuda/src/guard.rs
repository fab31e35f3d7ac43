//! Timeouts: kernels whose blocks wait for each other give up instead of waiting forever
//! (`kernels/common/guard.cuh`), and report so to the [`crate::watch::Watch`] of their GPU.

use crate::watch::NO_BLOCK;
use crate::{Gpu, Stream};
use std::time::Duration;

/// Number of a kernel whose blocks wait.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[allow(missing_docs, reason = "names of kernels")]
pub enum Kernel {
    Peak = 1,
    Persistent = 2,
    Tree = 3,
    Backward = 4,
    SearchBackward = 5,
    FastPoint = 6,
}

/// `struct Guard` of `kernels/common/guard.cuh`: the first field of such a kernel's argument.
#[derive(Debug, Clone, Copy)]
#[repr(C)]
pub struct Guard {
    told: u64,
    limit: u32,
    kernel: u32,
    absent_stage: u32,
    absent_block: u32,
}

impl Guard {
    /// Creates the guard for a launch on this stream.
    pub fn new(stream: &Stream, kernel: Kernel) -> Self {
        let watch = stream.gpu().watch();
        let absent = watch.absent();
        Self {
            told: watch.address_of(stream.word()),
            limit: watch.limit(),
            kernel: kernel as u32,
            absent_stage: absent,
            // Every team of several blocks has a block 1.
            absent_block: if absent == NO_BLOCK { NO_BLOCK } else { 1 },
        }
    }
}

/// Timeouts of kernels.
impl Gpu {
    /// Returns the time that a kernel's blocks may wait for each other without progress before the
    /// kernel gives up: 20 seconds unless set.
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
    use crate::source::fields;
    use crate::watch::error;
    use std::mem::offset_of;

    const SOURCE: &str = include_str!("../kernels/common/guard.cuh");

    #[test]
    fn laid_out_as_in_guard_cuh() {
        assert_eq!(fields(SOURCE, "Guard"), "told limit kernel absent_stage absent_block");
        assert_eq!((offset_of!(Guard, absent_block), size_of::<Guard>()), (20, 24));
    }

    #[test]
    fn reports_of_kernels_are_decoded() {
        let names = ["FOR_BLOCKS = 1", "FOR_OFFERS = 2", "FOR_CANDIDATES = 3", "FOR_DECISIONS = 4"];
        assert!(SOURCE.contains(&format!("enum Waiting {{ {} }};", names.join(", "))));
        let words = [(1, "barrier"), (2, "offers"), (3, "candidates"), (4, "decisions")];
        let kernels = [
            (Kernel::Peak, "peak"),
            (Kernel::Persistent, "persistent"),
            (Kernel::Tree, "tree"),
            (Kernel::Backward, "backward"),
            (Kernel::SearchBackward, "search_backward"),
            (Kernel::FastPoint, "fastpoint"),
        ];
        for ((kernel, name), (code, word)) in
            kernels.into_iter().flat_map(|kernel| words.map(|word| (kernel, word)))
        {
            let text = error((kernel as u32) << 8 | code, Duration::from_secs(3)).to_string();
            assert!(text.contains(&format!("the kernel {name} gave up")), "{text}");
            assert!(text.contains(word) && text.contains("3.0 s"), "{text}");
        }
    }
}
