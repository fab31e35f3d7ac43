//! What can go wrong on a GPU, said so that a user knows what to change.

use thiserror::Error;

/// Why CUDA can't be used on this machine. A value like any other: without a GPU everything
/// still builds and runs, and who asks for one gets this.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[error("CUDA can't be used here: {reason}")]
pub struct CudaUnavailable {
    /// What is missing.
    pub reason: String,
}

/// Every error of this crate.
#[derive(Debug, Clone, PartialEq, Error)]
#[non_exhaustive]
pub enum Error {
    /// There is no driver, or one that is too old, or no device.
    #[error(transparent)]
    Unavailable(#[from] CudaUnavailable),
    /// A device number that does not exist.
    #[error("there is no CUDA device {ordinal}; this machine has {count}, counted from 0")]
    NoSuchDevice {
        /// The number asked for.
        ordinal: usize,
        /// Devices there are.
        count: usize,
    },
    /// The device's memory does not suffice.
    #[error("out of GPU memory: {what} needs {wanted} bytes, and {free} of {total} bytes are free")]
    OutOfMemory {
        /// What the memory was for.
        what: &'static str,
        /// Bytes asked for.
        wanted: usize,
        /// Bytes free when they were refused.
        free: usize,
        /// Bytes the device has.
        total: usize,
    },
    /// A kernel could not be loaded, could not be started, or failed.
    #[error("the kernel {name} failed: {reason}")]
    Kernel {
        /// The kernel, or the algorithm where the driver does not tell which of its kernels.
        name: String,
        /// The driver's words.
        reason: String,
    },
    /// Blocks of a kernel waited for each other longer than [`crate::Gpu::patience`] allows, and the
    /// kernel gave up. What it did not finish is filled with what no run gives: indices with -1,
    /// distances and gradients with NaN, numbers of samples with 0. The device goes on working.
    #[error(
        "the kernel {kernel} gave up: it waited {seconds:.1} s for {waited_for} without progress; what \
         it did not finish is void (indices -1, distances NaN). The GPU works on, so call again; \
         if the card was only slow (other programs, a debugger), allow more by Gpu::set_patience"
    )]
    GaveUp {
        /// The kernel.
        kernel: &'static str,
        /// What it waited for.
        waited_for: &'static str,
        /// How long it was to wait at most.
        seconds: f64,
    },
    /// The device fell out of use: a hardware fault, or a kernel that damaged the context.
    /// Everything in its memory is lost. Opened anew ([`crate::Gpu::new`]) it may work again.
    #[error("the GPU {device} was lost in {during}: {reason}; open it again")]
    Lost {
        /// The device's name.
        device: String,
        /// The call or the algorithm that noticed.
        during: String,
        /// The driver's words.
        reason: String,
    },
    /// Any other call that the driver refused.
    #[error("{call} failed: {reason}")]
    Driver {
        /// The driver's function.
        call: &'static str,
        /// The driver's words.
        reason: String,
    },
    /// What was asked for can't be done on any device; the same errors as on the CPU.
    #[error(transparent)]
    Sampling(#[from] farpoint::Error),
    /// Something that this device or this interface can't do.
    #[error("{0}")]
    Unsupported(String),
}
