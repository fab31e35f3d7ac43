//! Record of other work on the cores of the process: long waits of teams, which the following teams avoid.
//!
//! A member that waits long for another has lost it to other work on its core. All teams then go on with a quarter of the
//! members for a pause, after which the next step finds out whether the cores are free again. If they are not, the
//! pause doubles, up to two seconds: on a busy machine little time is spent on waiting, and what was chance costs little.

use std::sync::OnceLock;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::time::{Duration, Instant};

/// Shortest and longest pause, in nanoseconds.
const PAUSES: [u64; 2] = [10_000_000, 2_000_000_000];

/// A long wait within this time after a pause doubles it, in nanoseconds.
const AGAIN: u64 = 400_000_000;

/// Members from this number on sit out.
static LIMIT: AtomicUsize = AtomicUsize::new(usize::MAX);

/// End of the limit, and the length of the last pause, in nanoseconds of [`now`].
static ENDS: AtomicU64 = AtomicU64::new(0);
static PAUSE: AtomicU64 = AtomicU64::new(0);

/// Returns the nanoseconds since the first call.
fn now() -> u64 {
    static BEGIN: OnceLock<Instant> = OnceLock::new();
    BEGIN.get_or_init(Instant::now).elapsed().as_nanos() as u64
}

/// Returns the number of members that take part in steps, at most.
pub(super) fn limit() -> usize {
    LIMIT.load(Ordering::Relaxed)
}

/// Lifts the limit, if its pause is over; returns whether it is.
pub(super) fn readmit() -> bool {
    let is_over = now() > ENDS.load(Ordering::Relaxed);
    if is_over {
        LIMIT.store(usize::MAX, Ordering::Relaxed);
    }
    is_over
}

/// Records that one of `members` members waited for others for `waited`. Teams that do so at once may lose the record of
/// one of them, which changes the length of a pause.
pub(super) fn record(waited: Duration, members: usize) {
    let [shortest, longest] = PAUSES;
    let (now, pause) = (now(), PAUSE.load(Ordering::Relaxed));
    // Soon after the last pause: the cores are still taken.
    let again = pause > 0 && now < ENDS.load(Ordering::Relaxed) + AGAIN.max(2 * pause);
    let pause = if again { 2 * pause } else { 4 * waited.as_nanos() as u64 };
    let pause = pause.clamp(shortest, longest);
    PAUSE.store(pause, Ordering::Relaxed);
    ENDS.store(now + pause, Ordering::Relaxed);
    LIMIT.store((members / 4).max(1), Ordering::Relaxed);
}

/// Returns the number of times that other threads have taken a core from one of this process; 0 where the system does
/// not count them.
pub(super) fn switches() -> i64 {
    #[cfg(target_os = "linux")]
    {
        let mut usage = std::mem::MaybeUninit::<libc::rusage>::zeroed();
        // SAFETY: the call writes to a structure of its own type.
        let result = unsafe { libc::getrusage(libc::RUSAGE_SELF, usage.as_mut_ptr()) };
        if result == 0 {
            // SAFETY: all bytes were zero before the call, which is a value of the type.
            return unsafe { usage.assume_init() }.ru_nivcsw;
        }
    }
    0
}
