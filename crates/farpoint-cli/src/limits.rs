//! Limits of the system that end a process, taken as errors of what is done.

/// Makes a write beyond `ulimit -f` an error, as that of a full disk is, so that no file is left half-written. By
/// default the system ends the process by a signal.
#[cfg(all(unix, not(any(target_arch = "mips", target_arch = "mips64"))))]
pub(crate) fn as_errors() {
    const SIGXFSZ: i32 = 25;
    const SIG_IGN: usize = 1;
    signal(SIGXFSZ, SIG_IGN);
}

/// There is no such signal, or its number is another one.
#[cfg(not(all(unix, not(any(target_arch = "mips", target_arch = "mips64")))))]
pub(crate) fn as_errors() {}

#[cfg(all(unix, not(any(target_arch = "mips", target_arch = "mips64"))))]
unsafe extern "C" {
    /// Of the C library: sets what a signal does. Safe with the constants above, which name no function of ours.
    safe fn signal(number: i32, handler: usize) -> usize;
}
