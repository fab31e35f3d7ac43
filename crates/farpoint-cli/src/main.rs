//! Starts the command line of [`farpoint_cli`].

mod allocator;

#[global_allocator]
static MEMORY: allocator::OrExit = allocator::OrExit;

fn main() -> std::process::ExitCode {
    limits_as_errors();
    farpoint_cli::before_large(allocator::give_back);
    farpoint_cli::main()
}

/// Turns a write beyond `ulimit -f` into an error, like that of a full disk, so that no file is left half-written. By
/// default the system ends the process by a signal.
#[cfg(all(unix, not(any(target_arch = "mips", target_arch = "mips64"))))]
fn limits_as_errors() {
    unsafe extern "C" {
        /// Sets the action of a signal (C library). Safe with the constants below, which name no function of ours.
        safe fn signal(number: i32, handler: usize) -> usize;
    }
    const SIGXFSZ: i32 = 25;
    const SIG_IGN: usize = 1;
    signal(SIGXFSZ, SIG_IGN);
}

/// Does nothing: there is no such signal, or its number is another one.
#[cfg(not(all(unix, not(any(target_arch = "mips", target_arch = "mips64")))))]
fn limits_as_errors() {}
