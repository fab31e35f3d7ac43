//! Waiting for other members of a [`super::Team`]: spinning, then letting other threads go first, then sleeping.

use super::contention::{self, switches};
use std::hint::spin_loop;
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};
use std::thread::{sleep, yield_now};
use std::time::{Duration, Instant};

/// Polls before a member lets other threads go first, and before it sleeps: some 30 us and 300.
pub(super) const SPINS: u32 = 700;
pub(super) const YIELDS: u32 = 400;

/// Minimum length of a long wait for others, to which twice the length of the step until then is added.
const LONG_WAIT: Duration = Duration::from_millis(2);

/// The same if other threads took cores of this process meanwhile; the length of the step is added once.
const TAKEN_WAIT: Duration = Duration::from_millis(1);

/// Sleep between two looks in a long wait.
const NAP: Duration = Duration::from_micros(100);

/// Members that take part in steps, and failures of tasks.
pub(super) struct Participation {
    /// Number of members of the team.
    size: usize,
    /// Number of long waits so far.
    long_waits: AtomicU32,
    /// True if a task of the current step has panicked.
    pub(super) failed: AtomicBool,
}

impl Participation {
    pub(super) fn new(size: usize) -> Self {
        Self { size, long_waits: AtomicU32::new(0), failed: AtomicBool::new(false) }
    }

    /// Returns the number of members that do not sit out.
    pub(super) fn limit(&self) -> usize {
        contention::limit().min(self.size)
    }

    pub(super) fn long_waits(&self) -> u32 {
        self.long_waits.load(Ordering::Relaxed)
    }

    /// Readmits those who sit out, if it is time; returns whether it was.
    pub(super) fn readmit(&self) -> bool {
        self.limit() < self.size && contention::readmit()
    }

    /// Records that one of `members` members waited for others for `waited`.
    fn record_long_wait(&self, waited: Duration, members: usize) {
        self.long_waits.fetch_add(1, Ordering::Relaxed);
        contention::record(waited, members);
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
        Wait { waits: self, polls: 0, since: None, before: None }
    }
}

/// A wait for another member of the team.
pub(crate) struct Wait<'a> {
    waits: Waits<'a>,
    polls: u32,
    /// Time of the first yield.
    since: Option<Instant>,
    /// Number of times that other threads had taken a core of this process, a while after the first yield: the system
    /// counts them over all threads of the process, which takes long.
    before: Option<i64>,
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
        self.give_way();
        !self
            .waits
            .participation
            .is_some_and(|participation| participation.failed.load(Ordering::Relaxed))
    }

    #[cold]
    fn give_way(&mut self) {
        let waited = self.since.get_or_insert_with(Instant::now).elapsed();
        if waited > TAKEN_WAIT / 4 {
            self.before.get_or_insert_with(switches);
        }
        if waited < LONG_WAIT { yield_now() } else { sleep(NAP) }
    }

    /// Ends the wait. If it was long, the team gets smaller.
    pub(crate) fn end(self) {
        if let (Some(since), Some(participation)) = (self.since, self.waits.participation) {
            let (waited, step) = (since.elapsed(), since - self.waits.begin);
            let others_ran = || self.before.is_some_and(|before| switches() > before);
            let taken = || waited > TAKEN_WAIT + step && others_ran();
            if waited > LONG_WAIT + 2 * step || taken() {
                participation.record_long_wait(waited, self.waits.members);
            }
        }
    }
}
