//! What can go wrong on a GPU, in words that say what to change.

use thiserror::Error;

/// Why CUDA can't be used on this machine. Without a GPU everything still builds and runs; opening
/// one returns this.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[non_exhaustive]
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
        /// The number that was given.
        ordinal: usize,
        /// How many there are.
        count: usize,
    },
    /// The GPU has too little memory.
    #[error(
        "out of GPU memory: {what} needs {wanted} bytes, and {free} of {total} bytes are free{}",
        fitting(*.fit)
    )]
    OutOfMemory {
        /// What the memory was for.
        what: &'static str,
        /// Bytes requested.
        wanted: usize,
        /// Bytes free when they were refused.
        free: usize,
        /// Bytes the device has.
        total: usize,
        /// Points that a cloud of this batch can have in what was free, where that is known.
        fit: Option<usize>,
    },
    /// A cloud is larger than its GPU, and the host has too little memory for the rest.
    #[error(
        "out of host memory: what the GPU has no room for takes {wanted} bytes of host memory, and {free} may be \
         taken; use several GPUs, or sample on the CPU or through the disk (--memory)"
    )]
    OutOfHostMemory {
        /// Bytes of host memory requested.
        wanted: usize,
        /// Bytes that may be taken: what is free but a sixteenth.
        free: usize,
    },
    /// A kernel could not be loaded, could not be started, or failed.
    #[error("the kernel {name} failed: {reason}")]
    Kernel {
        /// The kernel, or the algorithm if the driver does not say which of its kernels.
        name: String,
        /// The driver's text.
        reason: String,
    },
    /// Blocks of a kernel waited for each other longer than [`crate::Gpu::patience`] allows, and the
    /// kernel gave up. What it did not finish is filled with what no run gives: indices with -1,
    /// distances and gradients with NaN, numbers of samples with 0. The device goes on working.
    #[error(
        "the kernel {kernel} gave up: it waited {seconds:.1} s for {waited_for} without progress; what \
         it did not finish is void (indices -1, distances NaN). The GPU still works, so call again; \
         if the card was only slow (other programs, a debugger), allow more by Gpu::set_patience"
    )]
    GaveUp {
        /// The kernel.
        kernel: &'static str,
        /// What it waited for.
        waited_for: &'static str,
        /// How long it waited.
        seconds: f64,
    },
    /// The GPU can't be used anymore: a hardware fault, or a kernel that damaged the context.
    /// Everything in its memory is lost. Opened again ([`crate::Gpu::new`]) it may work.
    #[error("the GPU {device} was lost in {during}: {reason}; open it again")]
    Lost {
        /// The device's name.
        device: String,
        /// The call or the algorithm that noticed.
        during: String,
        /// The driver's text.
        reason: String,
    },
    /// Any other call that the driver refused.
    #[error("{call} failed: {reason}")]
    Driver {
        /// The driver's function.
        call: &'static str,
        /// The driver's text.
        reason: String,
    },
    /// The job can't be done on any device, or not on this kind; the errors of the CPU library.
    #[error(transparent)]
    Sampling(#[from] farpoint::Error),
    /// Something that this GPU or this interface can't do.
    #[error("{0}")]
    Unsupported(String),
}

/// What would fit, in words.
fn fitting(points: Option<usize>) -> String {
    points.map_or_else(String::new, |points| format!("; clouds of up to {points} points fit"))
}

impl Error {
    /// Adds how many points fit to an error of too little memory: up to `rows`, if clouds of n points
    /// need `bytes(n)`, of which `held` were allocated when the rest was refused.
    pub(crate) fn with_fit(
        mut self,
        held: usize,
        rows: usize,
        bytes: impl Fn(usize) -> usize,
    ) -> Self {
        if let Self::OutOfMemory { free, fit, .. } = &mut self {
            let most = free.saturating_add(held);
            let (mut low, mut high) = (0, rows.saturating_add(1));
            while high - low > 1 {
                let middle = low + (high - low) / 2;
                if bytes(middle) <= most {
                    low = middle;
                } else {
                    high = middle;
                }
            }
            *fit = Some(low);
        }
        self
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn refused(free: usize) -> Error {
        Error::OutOfMemory { what: "scratch memory", wanted: 4_200, free, total: 9_000, fit: None }
    }

    #[test]
    fn too_little_memory_says_what_fits() {
        let bytes = |rows| 200 + 40 * rows;
        let fit = |held, rows| match refused(1_000).with_fit(held, rows, bytes) {
            Error::OutOfMemory { fit, .. } => fit.unwrap(),
            other => panic!("{other}"),
        };
        assert_eq!(fit(0, 100), 20);
        assert_eq!(fit(39, 100), 20);
        assert_eq!(fit(40, 100), 21);
        // The card has room, but was asked for too many clouds at once.
        assert_eq!(fit(10_000, 100), 100);
        assert_eq!(fit(0, 0), 0);
        let text = refused(1_000).with_fit(0, 100, bytes).to_string();
        assert!(
            text.ends_with("1000 of 9000 bytes are free; clouds of up to 20 points fit"),
            "{text}"
        );
        assert!(refused(1_000).to_string().ends_with("are free"));
        let other = Error::Unsupported("this".into());
        assert_eq!(other.clone().with_fit(0, 5, bytes), other);
    }
}
