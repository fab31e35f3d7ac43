//! A team: the thread that calls, and helpers that stay awake while it runs, for work of many short
//! parallel steps.
//!
//! A step is a number of tasks, dealt out to the members in contiguous shares, so that a member
//! finds in its cache what it had in the step before; who is through with its own share takes from the others'.
//! Helpers are not waited for, neither when they come nor when they go: a step ends when all of its tasks
//! are done, and one thread can do them all. Only a task that a helper has begun is waited for.
//! Where such a wait is long, the machine has other work for its cores: the team goes on with a quarter of
//! its members for twice as long as it waited, the next time for four times as long, and so on: where that
//! was chance little is lost, and where it was not, little time is spent on waiting.

use super::helpers;
use crate::memory::Shared;
use std::any::Any;
use std::cell::{Cell, UnsafeCell};
use std::hint::spin_loop;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::sync::atomic::{AtomicBool, AtomicU32, AtomicU64, AtomicUsize, Ordering};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, OnceLock, PoisonError};
use std::thread::yield_now;
use std::time::{Duration, Instant};

/// The calling thread and its helpers. Steps are started by the calling thread alone.
pub(crate) struct Team {
    /// Members at most.
    size: usize,
    /// What the helpers see; none for a team of one.
    state: Option<Arc<State>>,
    /// Threads of the team's own, where the pool has too few. They end with it.
    _own: helpers::Own,
    /// The number of the last step.
    step: Cell<u32>,
}

/// What all members see.
struct State {
    /// For each member the step, in the upper half, and how many tasks of its share nobody has taken.
    shares: Box<[Line<AtomicU64>]>,
    /// The current step.
    step: Line<AtomicU32>,
    /// Tasks of the step that are done.
    done: Line<AtomicUsize>,
    /// Written between steps. Read by who has taken a task, while the step cannot end.
    work: UnsafeCell<Work>,
    /// Helpers that have come.
    came: AtomicUsize,
    /// Members from this number on sit out.
    limit: AtomicUsize,
    /// Until so many nanoseconds after `begin`.
    limit_ends: AtomicU64,
    /// Long waits so far.
    waits: AtomicU32,
    begin: Instant,
    asleep: AtomicUsize,
    door: Mutex<()>,
    bell: Condvar,
    failed: AtomicBool,
    failure: Mutex<Option<Box<dyn Any + Send>>>,
}

// SAFETY: `work` is the only field that several threads could not share. It is written by the calling
// thread while no task is taken, and read by those who have taken one; taking and finishing tasks orders
// the two.
unsafe impl Sync for State {}
// SAFETY: the pointer in `work` is to something that threads share.
unsafe impl Send for State {}

/// A step's work: what is done for a task by a member.
#[derive(Clone, Copy)]
struct Work {
    run: *const (dyn Fn(usize, usize) + Sync),
    tasks: usize,
    /// Members that the tasks were dealt out to.
    members: usize,
}

/// A cache line of its own: two, for processors fetch them in pairs.
#[repr(align(128))]
struct Line<T>(T);

/// Values that are computed as one task.
const RUN: usize = 1 << 13;

/// The step of a team that is over.
const OVER: u32 = u32::MAX;

/// Polls before a member lets other threads go first, and before it sleeps: some 30 us and 300.
const SPINS: u32 = 700;
const YIELDS: u32 = 400;

/// A wait for the last tasks of a step that is longer, and twice as long as the step until then.
const LATE: Duration = Duration::from_millis(1);

/// Who sleeps so long leaves: others may have work for the thread.
const NAP: Duration = Duration::from_millis(100);

impl Team {
    /// A team of up to so many members, not more than there are cores.
    pub(crate) fn new(threads: usize) -> Self {
        if threads == 1 { Self::alone() } else { Self::crowded(threads.min(cores())) }
    }

    /// The calling thread alone.
    pub(crate) fn alone() -> Self {
        Self { size: 1, state: None, _own: helpers::Own::default(), step: Cell::new(0) }
    }

    /// A team of so many members, even if there are fewer cores.
    pub(crate) fn crowded(size: usize) -> Self {
        let size = if helpers::THREADS { size.clamp(1, 1 << 12) } else { 1 };
        if size == 1 {
            return Self::alone();
        }
        let state = Arc::new(State::new(size));
        let own = helpers::call(size - 1, {
            let state = Arc::clone(&state);
            move || state.help()
        });
        Self { size, state: Some(state), _own: own, step: Cell::new(0) }
    }

    /// Members at most: a member's number is below it.
    pub(crate) fn size(&self) -> usize {
        self.size
    }

    /// Members that a step is dealt out to: all that do not sit out, whether they are here or not.
    pub(crate) fn members(&self) -> usize {
        self.state.as_ref().map_or(1, |state| state.limit.load(Ordering::Relaxed))
    }

    /// Members that are here now.
    pub(crate) fn present(&self) -> usize {
        self.state.as_ref().map_or(1, |state| state.present())
    }

    /// Waits that were so long that the team became smaller.
    pub(crate) fn long_waits(&self) -> u64 {
        self.state.as_ref().map_or(0, |state| u64::from(state.waits.load(Ordering::Relaxed)))
    }

    /// For tasks that wait for each other.
    pub(crate) fn waits(&self) -> Waits<'_> {
        Waits { state: self.state.as_deref(), members: self.present(), begin: Instant::now() }
    }

    /// Runs `work(task, member)` for each task; returns when all are done. Member numbers are of
    /// different threads.
    pub(crate) fn each(&self, tasks: usize, work: impl Fn(usize, usize) + Sync) {
        let members = self.members().min(tasks);
        match &self.state {
            Some(state) if tasks > 1 && state.readmit() => self.each(tasks, work),
            Some(state) if members > 1 => {
                assert!(tasks <= u32::MAX as usize, "{tasks} tasks");
                self.step.set(self.step.get() + 1);
                state.lead(self.step.get(), &work, tasks, members);
            }
            _ => (0..tasks).for_each(|task| work(task, 0)),
        }
    }

    /// As [`Self::each`], with something for each member alone. There must be one for each.
    pub(crate) fn each_with<S: Send>(
        &self,
        tasks: usize,
        own: &mut [S],
        work: impl Fn(usize, &mut S) + Sync,
    ) {
        assert!(own.len() >= self.size, "{} for {} members", own.len(), self.size);
        let own = Shared::new(own);
        self.each(tasks, |task, member| {
            // SAFETY: the number of a member is below the size, and this thread's alone.
            work(task, unsafe { &mut own.part(member..member + 1)[0] });
        });
    }

    /// Adds so many values, each given its number, to the end of an array.
    pub(crate) fn extend<R: Copy + Send>(
        &self,
        array: &mut Vec<R>,
        count: usize,
        value: impl Fn(usize) -> R + Sync,
    ) {
        array.reserve(count);
        let places = Shared::new(&mut array.spare_capacity_mut()[..count]);
        self.each(count.div_ceil(RUN), |run, _| {
            let run = run * RUN..(run * RUN + RUN).min(count);
            // SAFETY: the run is its task's alone, and below the count.
            let places = unsafe { places.part(run.clone()) };
            for (place, k) in places.iter_mut().zip(run) {
                place.write(value(k));
            }
        });
        // SAFETY: the runs are all that were asked for, and were written.
        unsafe { array.set_len(array.len() + count) };
    }

    /// What `work` gives for each task, in their order.
    pub(crate) fn map<R: Send>(&self, tasks: usize, work: impl Fn(usize) -> R + Sync) -> Vec<R> {
        let mut found: Vec<Option<R>> = (0..tasks).map(|_| None).collect();
        let places = Shared::new(&mut found);
        self.each(tasks, |task, _| {
            let result = work(task);
            // SAFETY: the place is the task's, and below the number of tasks.
            unsafe { places.part(task..task + 1)[0] = Some(result) };
        });
        found.into_iter().flatten().collect()
    }
}

impl Drop for Team {
    fn drop(&mut self) {
        if let Some(state) = &self.state {
            state.announce(OVER);
        }
    }
}

impl State {
    fn new(size: usize) -> Self {
        Self {
            shares: (0..size).map(|_| Line(AtomicU64::new(0))).collect(),
            step: Line(AtomicU32::new(0)),
            done: Line(AtomicUsize::new(0)),
            work: UnsafeCell::new(Work { run: &|_, _| (), tasks: 0, members: 1 }),
            came: AtomicUsize::new(0),
            limit: AtomicUsize::new(size),
            limit_ends: AtomicU64::new(0),
            waits: AtomicU32::new(0),
            begin: Instant::now(),
            asleep: AtomicUsize::new(0),
            door: Mutex::new(()),
            bell: Condvar::new(),
            failed: AtomicBool::new(false),
            failure: Mutex::new(None),
        }
    }

    fn present(&self) -> usize {
        (1 + self.came.load(Ordering::Relaxed)).min(self.limit.load(Ordering::Relaxed))
    }

    /// Runs a step; the calling thread's part of it.
    fn lead(&self, step: u32, run: &(dyn Fn(usize, usize) + Sync), tasks: usize, members: usize) {
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
        let waits = Waits { state: Some(self), members, begin };
        let mut wait = waits.start();
        while self.done.0.load(Ordering::Acquire) != tasks {
            wait.poll();
        }
        wait.end();
        if self.failed.swap(false, Ordering::Relaxed) {
            let failure = lock(&self.failure).take();
            resume_unwind(failure.unwrap_or_else(|| Box::new("a task of a team panicked")));
        }
    }

    /// Lets those who sit out come back, if it is time; whether it was.
    fn readmit(&self) -> bool {
        let out = self.limit.load(Ordering::Relaxed) < self.shares.len();
        let over =
            || self.begin.elapsed() > Duration::from_nanos(self.limit_ends.load(Ordering::Relaxed));
        if out && over() {
            self.limit.store(self.shares.len(), Ordering::Relaxed);
            return true;
        }
        false
    }

    /// A member waited for so long for others, of so many members.
    fn late(&self, waited: Duration, members: usize) {
        let times = 2 << self.waits.fetch_add(1, Ordering::Relaxed).min(6);
        let ends = (self.begin.elapsed() + times * waited).as_nanos() as u64;
        self.limit_ends.store(ends, Ordering::Relaxed);
        self.limit.store((members / 4).max(1), Ordering::Relaxed);
    }

    /// Tells the helpers of a step, or that the team is over.
    fn announce(&self, step: u32) {
        self.step.0.store(step, Ordering::SeqCst);
        if self.asleep.load(Ordering::SeqCst) > 0 {
            drop(lock(&self.door));
            self.bell.notify_all();
        }
    }

    /// What a helper does.
    fn help(&self) {
        let member = 1 + self.came.fetch_add(1, Ordering::Relaxed);
        let mut step = 0;
        while member < self.shares.len()
            && let Some(next) = self.next(step, member)
        {
            self.take_part(member, next);
            step = next;
        }
    }

    /// Waits for the step after `seen`; none if the team is over or does not want the member.
    fn next(&self, seen: u32, member: usize) -> Option<u32> {
        let mut polls = 0;
        loop {
            let step = self.step.0.load(Ordering::Acquire);
            if step == OVER {
                return None;
            }
            if member >= self.limit.load(Ordering::Relaxed) {
                self.sit_out(member)?;
                continue;
            }
            if step != seen {
                return Some(step);
            }
            polls += 1;
            match polls {
                0..SPINS => spin_loop(),
                ..YIELDS_END => yield_now(),
                _ if self.sleep(seen) => polls = 0,
                _ => return None,
            }
        }
    }

    /// Sleeps until the member may come back; none if that takes long or the team is over.
    fn sit_out(&self, member: usize) -> Option<()> {
        let since = Instant::now();
        while member >= self.limit.load(Ordering::Relaxed) {
            if since.elapsed() > NAP || self.step.0.load(Ordering::Relaxed) == OVER {
                return None;
            }
            std::thread::sleep(Duration::from_millis(1));
        }
        Some(())
    }

    /// Sleeps until there is another step than `seen`; whether there was one in time.
    fn sleep(&self, seen: u32) -> bool {
        let door = lock(&self.door);
        self.asleep.fetch_add(1, Ordering::SeqCst);
        // A step that is announced after this look finds this thread counted, and rings.
        let same = |_: &mut ()| self.step.0.load(Ordering::SeqCst) == seen;
        let woken = self.bell.wait_timeout_while(door, NAP, same);
        self.asleep.fetch_sub(1, Ordering::SeqCst);
        woken.is_ok_and(|(_, wait)| !wait.timed_out())
    }

    /// Takes tasks and does them, its own share first, until none of the step is left.
    fn take_part(&self, member: usize, step: u32) {
        for k in 0..self.shares.len() {
            let share = (member + k) % self.shares.len();
            let mut done = 0;
            while let Some(left) = self.take(share, step) {
                // SAFETY: a task was taken, so the step is not over, and `work` and what it points to stay.
                let work = unsafe { *self.work.get() };
                let task = end(share, work.tasks, work.members) - left;
                // SAFETY: as above.
                let run = AssertUnwindSafe(|| unsafe { (*work.run)(task, member) });
                if let Err(failure) = catch_unwind(run) {
                    lock(&self.failure).get_or_insert(failure);
                    self.failed.store(true, Ordering::Relaxed);
                }
                done += 1;
            }
            if done > 0 {
                self.done.0.fetch_add(done, Ordering::Release);
            }
        }
    }

    /// Takes a task of a share of this step; how many were left.
    fn take(&self, share: usize, step: u32) -> Option<usize> {
        let share = &self.shares[share].0;
        let mut seen = share.load(Ordering::Relaxed);
        loop {
            if (seen >> 32) as u32 != step || seen as u32 == 0 {
                return None;
            }
            // Acquire: the task's work was written before the share.
            let (taken, failed) = (Ordering::Acquire, Ordering::Relaxed);
            match share.compare_exchange_weak(seen, seen - 1, taken, failed) {
                Ok(_) => return Some(seen as u32 as usize),
                Err(now) => seen = now,
            }
        }
    }
}

const YIELDS_END: u32 = SPINS + YIELDS;

/// What a member that waits for other members needs.
#[derive(Clone, Copy)]
pub(crate) struct Waits<'a> {
    state: Option<&'a State>,
    members: usize,
    /// When the step began.
    begin: Instant,
}

impl<'a> Waits<'a> {
    /// A wait begins.
    pub(crate) fn start(self) -> Wait<'a> {
        Wait { waits: self, polls: 0, since: None }
    }
}

/// A wait for another member of the team.
pub(crate) struct Wait<'a> {
    waits: Waits<'a>,
    polls: u32,
    /// Since it yields.
    since: Option<Instant>,
}

impl Wait<'_> {
    /// Waits a moment. Whether what is waited for can still come: if not, a task has panicked.
    #[inline]
    pub(crate) fn poll(&mut self) -> bool {
        if self.polls < SPINS {
            self.polls += 1;
            spin_loop();
            return true;
        }
        self.since.get_or_insert_with(Instant::now);
        yield_now();
        !self.waits.state.is_some_and(|state| state.failed.load(Ordering::Relaxed))
    }

    /// The wait is over. If it was long, the team gets smaller.
    pub(crate) fn end(self) {
        if let (Some(since), Some(state)) = (self.since, self.waits.state) {
            let waited = since.elapsed();
            if waited > LATE + 2 * (since - self.waits.begin) {
                state.late(waited, self.waits.members);
            }
        }
    }
}

/// The first task of a member's share.
fn start(member: usize, tasks: usize, members: usize) -> usize {
    (tasks as u64 * member as u64 / members as u64) as usize
}

/// One beyond the last.
fn end(member: usize, tasks: usize, members: usize) -> usize {
    start(member + 1, tasks, members)
}

/// Nothing that is locked here is left half done by a panic.
fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Cores that this process may use.
fn cores() -> usize {
    static CORES: OnceLock<usize> = OnceLock::new();
    *CORES.get_or_init(|| std::thread::available_parallelism().map_or(1, usize::from))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_task_is_done_once() {
        for size in [1, 2, 3, 7] {
            let team = Team::crowded(size);
            for tasks in [0usize, 1, 2, 5, 64, 1000] {
                let done: Vec<_> = (0..tasks).map(|_| AtomicUsize::new(0)).collect();
                for _ in 0..50 {
                    team.each(tasks, |task, member| {
                        assert!(member < team_size(size));
                        done[task].fetch_add(1, Ordering::Relaxed);
                    });
                }
                assert!(done.iter().all(|done| done.load(Ordering::Relaxed) == 50));
                assert_eq!(
                    team.map(tasks, |task| 2 * task),
                    (0..tasks).map(|t| 2 * t).collect::<Vec<_>>()
                );
            }
        }
    }

    fn team_size(size: usize) -> usize {
        if helpers::THREADS { size } else { 1 }
    }

    #[test]
    fn what_is_a_members_own_is_no_other_threads() {
        let team = Team::crowded(4);
        let mut own = vec![0usize; team.size()];
        for _ in 0..200 {
            team.each_with(100, &mut own, |_, own| *own += 1);
        }
        assert_eq!(own.iter().sum::<usize>(), 20_000);
    }

    #[test]
    fn a_panic_of_a_task_comes_out_and_the_team_works_on() {
        let team = Team::crowded(3);
        for _ in 0..20 {
            let failed = catch_unwind(AssertUnwindSafe(|| {
                team.each(64, |task, _| assert!(task != 40, "the fortieth"));
            }));
            assert!(failed.is_err());
            assert!(team.waits().start().poll());
            assert_eq!(team.map(3, |task| task), [0, 1, 2]);
        }
    }

    #[test]
    fn sleepers_are_woken() {
        let team = Team::crowded(3);
        for _ in 0..5 {
            std::thread::sleep(Duration::from_millis(5));
            assert_eq!(team.map(100, |task| task).len(), 100);
        }
    }

    #[test]
    fn teams_within_the_tasks_of_a_team_come_to_an_end() {
        let team = Team::crowded(4);
        let sums = team.map(8, |task| {
            let inner = Team::crowded(4);
            (0..50).map(|_| inner.map(20, |k| k * task).into_iter().sum::<usize>()).sum::<usize>()
        });
        assert_eq!(sums, (0..8).map(|task| 50 * 190 * task).collect::<Vec<_>>());
    }
}
