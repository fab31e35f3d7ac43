//! Errors of GPUs, with messages that say what to change.

use thiserror::Error;

/// Error of a machine on which CUDA can't be used. Without a GPU everything still builds and runs;
/// opening one returns this.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[non_exhaustive]
#[error("CUDA can't be used here: {reason}")]
pub struct CudaUnavailable {
    /// Reason why CUDA can't be used.
    pub reason: String,
}

/// Errors of this crate.
#[derive(Debug, Clone, PartialEq, Error)]
#[non_exhaustive]
pub enum Error {
    /// There is no driver, or one that is too old, or no device.
    #[error(transparent)]
    Unavailable(#[from] CudaUnavailable),
    /// A device number that does not exist.
    #[error("there is no CUDA device {ordinal}; this machine has {count}, counted from 0")]
    NoSuchDevice {
        /// Number requested.
        ordinal: usize,
        /// Number of devices.
        count: usize,
    },
    /// The GPU has too little memory.
    #[error(
        "out of GPU memory: {what} needs {requested} bytes, and {free} of {total} bytes are free{}",
        fitting(*.fit)
    )]
    OutOfMemory {
        /// Purpose of the memory.
        what: &'static str,
        /// Bytes requested.
        requested: usize,
        /// Bytes free at the time of the refusal.
        free: usize,
        /// Bytes of the device's memory.
        total: usize,
        /// Points that a cloud of this batch can have in the free memory, where known.
        fit: Option<usize>,
    },
    /// A cloud is larger than its GPU, and the host has too little memory for the rest.
    #[error(
        "out of host memory: the part of the cloud that does not fit the GPU needs {requested} bytes, and {free} are \
         available; use several GPUs, or sample on the CPU or through the disk (`memory`)"
    )]
    OutOfHostMemory {
        /// Bytes of host memory requested.
        requested: usize,
        /// Bytes available: the free memory less a sixteenth.
        free: usize,
    },
    /// A kernel could not be loaded, could not be started, or failed.
    #[error("the kernel {name} failed: {reason}")]
    Kernel {
        /// The kernel, or the algorithm if the driver does not report which of its kernels.
        name: String,
        /// The driver's text.
        reason: String,
    },
    /// Blocks of a kernel waited for each other longer than [`crate::Gpu::patience`] allows, and the
    /// kernel gave up. Unfinished results hold values that no run returns: indices -1, distances and
    /// gradients NaN, numbers of samples 0. The device remains usable.
    #[error(
        "the kernel {kernel} gave up: it waited {seconds:.1} s for {waited_for} without progress; \
         unfinished results are invalid (indices -1, distances NaN). The GPU still works, so call again; \
         if the card was only slow (other programs, a debugger), raise the limit with Gpu::set_patience"
    )]
    GaveUp {
        /// The kernel.
        kernel: &'static str,
        /// Event that it waited for.
        waited_for: &'static str,
        /// Seconds without progress.
        seconds: f64,
    },
    /// The GPU can't be used anymore: a hardware fault, or a kernel that damaged the context. The
    /// contents of its memory are lost. Opened again ([`crate::Gpu::new`]) it may work.
    #[error("the GPU {device} was lost in {during}: {reason}; open it again")]
    Lost {
        /// The device's name.
        device: String,
        /// The call or the algorithm that detected it.
        during: String,
        /// The driver's text.
        reason: String,
    },
    /// Any other call refused by the driver.
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
    /// An operation that this GPU or this interface does not support.
    #[error("{0}")]
    Unsupported(String),
}

/// Describes the size that would fit.
fn fitting(points: Option<usize>) -> String {
    points.map_or_else(String::new, |points| format!("; clouds of up to {points} points fit"))
}

impl Error {
    /// Adds the number of points that fit to an out-of-memory error: up to `rows`, if clouds of n
    /// points need `bytes(n)`, of which `held` were allocated when the rest was refused.
    pub(crate) fn with_fit(
        mut self,
        held: usize,
        rows: usize,
        bytes: impl Fn(usize) -> usize,
    ) -> Self {
        if let Self::OutOfMemory { free, fit, .. } = &mut self {
            let available = free.saturating_add(held);
            let (mut low, mut high) = (0, rows.saturating_add(1));
            while high - low > 1 {
                let middle = low + (high - low) / 2;
                if bytes(middle) <= available {
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

    fn out_of_memory(free: usize) -> Error {
        Error::OutOfMemory {
            what: "scratch memory",
            requested: 4_200,
            free,
            total: 9_000,
            fit: None,
        }
    }

    #[test]
    fn out_of_memory_errors_name_the_size_that_fits() {
        let bytes = |rows| 200 + 40 * rows;
        let fit = |held, rows| match out_of_memory(1_000).with_fit(held, rows, bytes) {
            Error::OutOfMemory { fit, .. } => fit.unwrap(),
            other => panic!("{other}"),
        };
        assert_eq!(fit(0, 100), 20);
        assert_eq!(fit(39, 100), 20);
        assert_eq!(fit(40, 100), 21);
        // The card has room, but not for that many clouds at once.
        assert_eq!(fit(10_000, 100), 100);
        assert_eq!(fit(0, 0), 0);
        let text = out_of_memory(1_000).with_fit(0, 100, bytes).to_string();
        assert!(
            text.ends_with("1000 of 9000 bytes are free; clouds of up to 20 points fit"),
            "{text}"
        );
        assert!(out_of_memory(1_000).to_string().ends_with("are free"));
        let other = Error::Unsupported("this".into());
        assert_eq!(other.clone().with_fit(0, 5, bytes), other);
    }
}
