//! Waiting for other members of a [`super::Team`]: spinning, then letting other threads go first.

use std::hint::spin_loop;
use std::sync::atomic::{AtomicBool, AtomicU32, AtomicU64, AtomicUsize, Ordering};
use std::thread::yield_now;
use std::time::{Duration, Instant};

/// Polls before a member lets other threads go first, and before it sleeps: some 30 us and 300.
pub(super) const SPINS: u32 = 700;
pub(super) const YIELDS: u32 = 400;

/// Minimum length of a long wait for others, which is also twice as long as the step until then.
const LONG_WAIT: Duration = Duration::from_millis(2);

/// Members that take part in steps, and failures of tasks.
pub(super) struct Participation {
    /// Number of members of the team.
    size: usize,
    /// Members from this number on sit out.
    limit: AtomicUsize,
    /// End of the limit, in nanoseconds after `begin`.
    limit_ends: AtomicU64,
    begin: Instant,
    /// Number of long waits so far.
    long_waits: AtomicU32,
    /// True if a task of the current step has panicked.
    pub(super) failed: AtomicBool,
}

impl Participation {
    pub(super) fn new(size: usize) -> Self {
        Self {
            size,
            limit: AtomicUsize::new(size),
            limit_ends: AtomicU64::new(0),
            begin: Instant::now(),
            long_waits: AtomicU32::new(0),
            failed: AtomicBool::new(false),
        }
    }

    /// Returns the number of members that do not sit out.
    pub(super) fn limit(&self) -> usize {
        self.limit.load(Ordering::Relaxed)
    }

    pub(super) fn long_waits(&self) -> u32 {
        self.long_waits.load(Ordering::Relaxed)
    }

    /// Readmits those who sit out, if it is time; returns whether it was.
    pub(super) fn readmit(&self) -> bool {
        let out = self.limit.load(Ordering::Relaxed) < self.size;
        let over =
            || self.begin.elapsed() > Duration::from_nanos(self.limit_ends.load(Ordering::Relaxed));
        if out && over() {
            self.limit.store(self.size, Ordering::Relaxed);
            return true;
        }
        false
    }

    /// Records that one of `members` members waited for others for `waited`.
    fn record_long_wait(&self, waited: Duration, members: usize) {
        let times = 2 << self.long_waits.fetch_add(1, Ordering::Relaxed).min(6);
        let ends = (self.begin.elapsed() + times * waited).as_nanos() as u64;
        self.limit_ends.store(ends, Ordering::Relaxed);
        self.limit.store((members / 4).max(1), Ordering::Relaxed);
    }
}

/// Context of a member that waits for other members.
#[derive(Clone, Copy)]
pub(crate) struct Waits<'a> {
    participation: Option<&'a Participation>,
    members: usize,
    /// Start of the step.
    begin: Instant,
}

impl<'a> Waits<'a> {
    pub(super) fn new(
        participation: Option<&'a Participation>,
        members: usize,
        begin: Instant,
    ) -> Self {
        Self { participation, members, begin }
    }

    /// Begins a wait.
    pub(crate) fn start(self) -> Wait<'a> {
        Wait { waits: self, polls: 0, since: None }
    }
}

/// A wait for another member of the team.
pub(crate) struct Wait<'a> {
    waits: Waits<'a>,
    polls: u32,
    /// Time of the first yield.
    since: Option<Instant>,
}

impl Wait<'_> {
    /// Waits a moment. Returns false if a task has panicked, so that the awaited event may never come.
    #[inline]
    pub(crate) fn poll(&mut self) -> bool {
        if self.polls < SPINS {
            self.polls += 1;
            spin_loop();
            return true;
        }
        self.since.get_or_insert_with(Instant::now);
        yield_now();
        !self
            .waits
            .participation
            .is_some_and(|participation| participation.failed.load(Ordering::Relaxed))
    }

    /// Ends the wait. If it was long, the team gets smaller.
    pub(crate) fn end(self) {
        if let (Some(since), Some(participation)) = (self.since, self.waits.participation) {
            let waited = since.elapsed();
            if waited > LONG_WAIT + 2 * (since - self.waits.begin) {
                participation.record_long_wait(waited, self.waits.members);
            }
        }
    }
}
