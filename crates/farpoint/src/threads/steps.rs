//! Shared state of the members of a [`super::Team`]: steps, distribution of tasks, waiting and sleeping.

use super::wait::{Participation, SPINS, Waits, YIELDS};
use std::any::Any;
use std::cell::UnsafeCell;
use std::hint::spin_loop;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::sync::atomic::{AtomicU32, AtomicU64, AtomicUsize, Ordering};
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};
use std::thread::yield_now;
use std::time::{Duration, Instant};

/// Number of the step that ends a team.
pub(super) const OVER: u32 = u32::MAX;

/// Members that sleep this long leave the team, as others may need the thread.
const MAX_SLEEP: Duration = Duration::from_millis(100);

/// State shared by all members.
pub(super) struct Steps {
    /// The step, in the upper half, and the number of tasks left in a member's share, for each member.
    shares: Box<[CacheLine<AtomicU64>]>,
    /// The current step.
    step: CacheLine<AtomicU32>,
    /// Number of finished tasks of the step.
    done: CacheLine<AtomicUsize>,
    /// Written between steps. Read by members with a task, while the step cannot end.
    work: UnsafeCell<Work>,
    /// Number of helpers that have joined.
    joined: AtomicUsize,
    asleep: AtomicUsize,
    sleep_lock: Mutex<()>,
    wake_up: Condvar,
    pub(super) participation: Participation,
    failure: Mutex<Option<Box<dyn Any + Send>>>,
}

// SAFETY: `work` is the only field that several threads could not share. It is written by the calling
// thread while no task is taken, and read by those who have taken one; taking and finishing tasks orders
// the two.
unsafe impl Sync for Steps {}
// SAFETY: the pointer in `work` is to something that threads share.
unsafe impl Send for Steps {}

/// Work of a step: a function of task and member.
#[derive(Clone, Copy)]
struct Work {
    run: *const (dyn Fn(usize, usize) + Sync),
    tasks: usize,
    /// Number of members that share the tasks.
    members: usize,
}

/// A cache line of its own: two, for processors fetch them in pairs.
#[repr(align(128))]
struct CacheLine<T>(T);

impl Steps {
    pub(super) fn new(size: usize) -> Self {
        Self {
            shares: (0..size).map(|_| CacheLine(AtomicU64::new(0))).collect(),
            step: CacheLine(AtomicU32::new(0)),
            done: CacheLine(AtomicUsize::new(0)),
            work: UnsafeCell::new(Work { run: &|_, _| (), tasks: 0, members: 1 }),
            joined: AtomicUsize::new(0),
            asleep: AtomicUsize::new(0),
            sleep_lock: Mutex::new(()),
            wake_up: Condvar::new(),
            participation: Participation::new(size),
            failure: Mutex::new(None),
        }
    }

    pub(super) fn present(&self) -> usize {
        (1 + self.joined.load(Ordering::Relaxed)).min(self.participation.limit())
    }

    /// Runs a step; the part of the calling thread.
    pub(super) fn run_step(
        &self,
        step: u32,
        run: &(dyn Fn(usize, usize) + Sync),
        tasks: usize,
        members: usize,
    ) {
        let begin = Instant::now();
        // SAFETY: this lengthens the lifetime of the reference. It is used by who has taken a task only, and
        // this function does not return before all of them are done.
        let run = unsafe {
            std::mem::transmute::<
                *const (dyn Fn(usize, usize) + Sync + '_),
                *const (dyn Fn(usize, usize) + Sync),
            >(run)
        };
        // SAFETY: all tasks of the step before are done, so nobody reads it.
        unsafe { *self.work.get() = Work { run, tasks, members } };
        self.done.0.store(0, Ordering::Relaxed);
        for (member, share) in self.shares[..members].iter().enumerate() {
            let count = end(member, tasks, members) - start(member, tasks, members);
            share.0.store(u64::from(step) << 32 | count as u64, Ordering::Release);
        }
        self.announce(step);
        self.take_part(0, step);
        let mut wait = Waits::new(Some(&self.participation), members, begin).start();
        while self.done.0.load(Ordering::Acquire) != tasks {
            wait.poll();
        }
        wait.end();
        if self.participation.failed.swap(false, Ordering::Relaxed) {
            let failure = lock(&self.failure).take();
            resume_unwind(failure.unwrap_or_else(|| Box::new("a task of a team panicked")));
        }
    }

    /// Announces a step to the helpers, or the end of the team.
    pub(super) fn announce(&self, step: u32) {
        self.step.0.store(step, Ordering::SeqCst);
        if self.asleep.load(Ordering::SeqCst) > 0 {
            drop(lock(&self.sleep_lock));
            self.wake_up.notify_all();
        }
    }

    /// Runs a helper.
    pub(super) fn help(&self) {
        let member = 1 + self.joined.fetch_add(1, Ordering::Relaxed);
        let mut step = 0;
        while member < self.shares.len()
            && let Some(next) = self.next(step, member)
        {
            self.take_part(member, next);
            step = next;
        }
    }

    /// Waits for the step after `last_step`; `None` if the team is over or the member is surplus.
    fn next(&self, last_step: u32, member: usize) -> Option<u32> {
        let mut polls = 0;
        loop {
            let step = self.step.0.load(Ordering::Acquire);
            if step == OVER {
                return None;
            }
            if member >= self.participation.limit() {
                self.wait_for_readmission(member)?;
                continue;
            }
            if step != last_step {
                return Some(step);
            }
            polls += 1;
            if polls < SPINS {
                spin_loop();
            } else if polls < SPINS + YIELDS {
                yield_now();
            } else if self.sleep(last_step) {
                polls = 0;
            } else {
                return None;
            }
        }
    }

    /// Sleeps until the member may come back; `None` if that takes long or the team is over.
    fn wait_for_readmission(&self, member: usize) -> Option<()> {
        let since = Instant::now();
        while member >= self.participation.limit() {
            if since.elapsed() > MAX_SLEEP || self.step.0.load(Ordering::Relaxed) == OVER {
                return None;
            }
            std::thread::sleep(Duration::from_millis(1));
        }
        Some(())
    }

    /// Sleeps until there is another step than `last_step`; returns whether there was one in time.
    fn sleep(&self, last_step: u32) -> bool {
        let sleep_lock = lock(&self.sleep_lock);
        self.asleep.fetch_add(1, Ordering::SeqCst);
        // A step that is announced after this look finds this thread counted, and rings.
        let same = |_: &mut ()| self.step.0.load(Ordering::SeqCst) == last_step;
        let woken = self.wake_up.wait_timeout_while(sleep_lock, MAX_SLEEP, same);
        self.asleep.fetch_sub(1, Ordering::SeqCst);
        woken.is_ok_and(|(_, wait)| !wait.timed_out())
    }

    /// Takes tasks and does them, its own share first, until none of the step is left.
    fn take_part(&self, member: usize, step: u32) {
        for k in 0..self.shares.len() {
            let share = (member + k) % self.shares.len();
            let mut done = 0;
            while let Some(remaining) = self.take(share, step) {
                // SAFETY: a task was taken, so the step is not over, and `work` and what it points to stay.
                let work = unsafe { *self.work.get() };
                let task = end(share, work.tasks, work.members) - remaining;
                // SAFETY: as above.
                let run = AssertUnwindSafe(|| unsafe { (*work.run)(task, member) });
                if let Err(failure) = catch_unwind(run) {
                    lock(&self.failure).get_or_insert(failure);
                    self.participation.failed.store(true, Ordering::Relaxed);
                }
                done += 1;
            }
            if done > 0 {
                self.done.0.fetch_add(done, Ordering::Release);
            }
        }
    }

    /// Takes a task of a share of this step; returns the number that were left.
    fn take(&self, share: usize, step: u32) -> Option<usize> {
        let share = &self.shares[share].0;
        let mut current = share.load(Ordering::Relaxed);
        loop {
            if (current >> 32) as u32 != step || current as u32 == 0 {
                return None;
            }
            // Acquire: the task's work was written before the share.
            let (success, failed) = (Ordering::Acquire, Ordering::Relaxed);
            match share.compare_exchange_weak(current, current - 1, success, failed) {
                Ok(_) => return Some(current as u32 as usize),
                Err(now) => current = now,
            }
        }
    }
}

/// Returns the first task of a member's share.
fn start(member: usize, tasks: usize, members: usize) -> usize {
    (tasks as u64 * member as u64 / members as u64) as usize
}

/// Returns one beyond the last.
fn end(member: usize, tasks: usize, members: usize) -> usize {
    start(member + 1, tasks, members)
}

/// Locks a mutex; nothing that is locked here is left half done by a panic.
fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
