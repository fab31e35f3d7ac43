//! Streams: queues of work on a device, owned or borrowed.

use crate::driver::sys;
use crate::{Error, Gpu};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

/// A queue of work on a device. Cheap to clone; an owned one ends with its last clone.
#[derive(Clone)]
pub struct Stream(Arc<Inner>);

struct Inner {
    gpu: Gpu,
    raw: sys::CUstream,
    owned: bool,
    /// Word in which its kernels report that they gave up.
    word: usize,
    /// Set if a kernel may still write to the word, and if one of a graph may do so at any time.
    pending: AtomicBool,
    captured: AtomicBool,
}

// SAFETY: the handle is a name that the driver accepts from every thread.
unsafe impl Send for Inner {}
// SAFETY: what changes in it is atomic, and the driver accepts the handle from several threads at a time.
unsafe impl Sync for Inner {}

impl Stream {
    /// Creates a stream that does not synchronize with the legacy default stream.
    ///
    /// # Errors
    /// If the driver refuses.
    pub fn new(gpu: &Gpu) -> Result<Self, Error> {
        Self::with_priority(gpu, 0)
    }

    /// Creates a stream whose blocks run before those of streams with a larger number, as far as the
    /// card distinguishes priorities (0 is the least, -5 the most urgent on most cards).
    ///
    /// # Errors
    /// If the driver refuses.
    pub fn with_priority(gpu: &Gpu, priority: i32) -> Result<Self, Error> {
        let _current = gpu.bind()?;
        let mut raw = std::ptr::null_mut();
        let flags = sys::CU_STREAM_NON_BLOCKING;
        // SAFETY: writes the stream, which `drop` destroys. Priorities that do not exist are
        // replaced by the nearest.
        let code = unsafe { sys::cuStreamCreateWithPriority(&mut raw, flags, priority) };
        gpu.check("cuStreamCreate", code)?;
        let word = gpu.watch().acquire();
        Ok(Self::with(gpu, raw, true, word))
    }

    /// Wraps a stream of another library: a `CUstream` or `cudaStream_t` as a number, such as PyTorch's
    /// `torch.cuda.current_stream().cuda_stream`. 0 is the legacy default stream.
    ///
    /// # Safety
    /// It must be a stream of the GPU's primary context, and stay one until the last clone and the last
    /// buffer on it are dropped.
    pub unsafe fn borrowed(gpu: &Gpu, raw: u64) -> Self {
        let word = gpu.watch().word_of_borrowed(raw);
        let raw = raw as usize as sys::CUstream;
        Self::with(gpu, raw, false, word)
    }

    fn with(gpu: &Gpu, raw: sys::CUstream, owned: bool, word: usize) -> Self {
        let [pending, captured] = [false, false].map(AtomicBool::new);
        Self(Arc::new(Inner { gpu: gpu.clone(), raw, owned, word, pending, captured }))
    }

    /// Returns the stream's GPU.
    pub fn gpu(&self) -> &Gpu {
        &self.0.gpu
    }

    /// Returns the driver's `CUstream`, as a number.
    pub fn raw(&self) -> u64 {
        self.0.raw as usize as u64
    }

    /// Checks whether a kernel started on this stream has given up since the last call of this or of
    /// [`synchronize`](Self::synchronize).
    ///
    /// Does not synchronize, and costs about as much as reading a number: call it once the work is known to be done,
    /// by an event or by another synchronization. Streams of other libraries are identified by their handle, so that
    /// any [`borrowed`](Self::borrowed) stream of the same handle can check. Kernels of a graph report to the stream
    /// that it was captured on.
    ///
    /// # Errors
    /// [`Error::GaveUp`].
    pub fn check(&self) -> Result<(), Error> {
        self.0.gpu.watch().check_word(self.0.word)
    }

    /// Waits until all work on this stream is done.
    ///
    /// # Errors
    /// If the work failed, or a kernel gave up ([`check`](Self::check)).
    pub fn synchronize(&self) -> Result<(), Error> {
        self.wait("cuStreamSynchronize")
    }

    /// Synchronizes; an error names `operation` as the failed part.
    #[doc(hidden)]
    pub fn wait(&self, operation: &str) -> Result<(), Error> {
        self.wait_only(operation)?;
        self.check()
    }

    /// Synchronizes without checking whether a kernel gave up.
    pub(crate) fn wait_only(&self, operation: &str) -> Result<(), Error> {
        let _current = self.0.gpu.bind()?;
        // SAFETY: the stream lives.
        match unsafe { sys::cuStreamSynchronize(self.0.raw) } {
            sys::CUresult::CUDA_SUCCESS => {
                self.0.pending.store(false, Ordering::Relaxed);
                Ok(())
            }
            code if crate::driver::is_fatal(code) => Err(self.0.gpu.lose(operation, code)),
            code => Err(Error::Kernel {
                name: operation.to_owned(),
                reason: crate::driver::reason(code),
            }),
        }
    }

    /// Refuses a stream of another GPU.
    pub(crate) fn check_gpu(&self, gpu: &Gpu) -> Result<(), Error> {
        if self.gpu() == gpu {
            return Ok(());
        }
        Err(Error::Unsupported(format!("the stream does not belong to {gpu:?}")))
    }

    /// Returns the index of the word in which a kernel about to start reports that it gave up.
    pub(crate) fn word(&self) -> usize {
        self.0.pending.store(true, Ordering::Relaxed);
        self.0.word
    }

    /// Records that the work captured here runs whenever its graph is launched.
    pub(crate) fn set_captured(&self) {
        self.0.captured.store(true, Ordering::Relaxed);
    }

    pub(crate) fn handle(&self) -> sys::CUstream {
        self.0.raw
    }
}

impl Drop for Inner {
    fn drop(&mut self) {
        if let (true, Ok(_current)) = (self.owned, self.gpu.bind()) {
            // SAFETY: created by `with_priority`. What is still queued is done first.
            let _ = unsafe { sys::cuStreamDestroy_v2(self.raw) };
            // A word that a kernel may still write to is not reused for another stream.
            if !*self.pending.get_mut() && !*self.captured.get_mut() {
                self.gpu.watch().release(self.word);
            }
        }
    }
}
