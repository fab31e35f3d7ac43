//! A team: the thread that calls, and helpers that stay awake while it runs, for work of many short
//! parallel steps.
//!
//! A step is a number of tasks, divided among the members in contiguous shares, so that a member
//! finds in its cache the data of the step before; members that finish their own share take from the others'.
//! Helpers are not waited for, neither when they come nor when they go: a step ends when all of its tasks
//! are done, and one thread can do them all. Only a task that a helper has begun is waited for.
//! If such a wait is long, the machine has other work for its cores: this team and the following go on with a quarter of
//! the members for a while (`contention`).

use super::contention;
use super::helpers;
use super::steps::{OVER, Steps};
use super::wait::Waits;
use crate::memory::{self, Buffer, Shared};
use std::cell::Cell;
use std::sync::{Arc, OnceLock};
use std::time::Instant;

/// The calling thread and its helpers. Steps are started by the calling thread alone.
pub(crate) struct Team {
    /// Maximum number of members.
    size: usize,
    /// State shared with the helpers; none for a team of one.
    state: Option<Arc<Steps>>,
    /// Threads of the team's own, if the pool has too few. They end with it.
    _own_pool: helpers::OwnPool,
    /// Number of the last step.
    step: Cell<u32>,
    /// Function that the calling thread runs before each of its tasks, while [`Team::between_tasks`] runs.
    check: Cell<Option<Check>>,
}

/// A function of the calling thread.
#[derive(Clone, Copy)]
struct Check(*const dyn Fn());

// SAFETY: only the calling thread, which has the member number 0, calls the function.
unsafe impl Sync for Check {}

impl Check {
    /// Runs the function, if this is the calling thread.
    fn run(self, member: usize) {
        if member == 0 {
            // SAFETY: the function lives while it is set, and member 0 is the thread that has set it.
            unsafe { (*self.0)() }
        }
    }
}

/// Values computed per task.
const RUN: usize = 1 << 13;

impl Team {
    /// Creates a team of up to `threads` members, not more than there are cores, or than share work on a busy machine.
    pub(crate) fn new(threads: usize) -> Self {
        if threads == 1 {
            return Self::single();
        }
        contention::readmit();
        Self::oversubscribed(threads.min(cores()).min(contention::limit()))
    }

    /// Creates a team of the calling thread alone.
    pub(crate) fn single() -> Self {
        Self::of(1, None, helpers::OwnPool::default())
    }

    fn of(size: usize, state: Option<Arc<Steps>>, own_pool: helpers::OwnPool) -> Self {
        Self { size, state, _own_pool: own_pool, step: Cell::new(0), check: Cell::new(None) }
    }

    /// Creates a team of `size` members, even if there are fewer cores.
    pub(crate) fn oversubscribed(size: usize) -> Self {
        let size = if helpers::THREADS { size.clamp(1, 1 << 12) } else { 1 };
        if size == 1 {
            return Self::single();
        }
        let state = Arc::new(Steps::new(size));
        let own_pool = helpers::call(size - 1, {
            let state = Arc::clone(&state);
            move || state.help()
        });
        Self::of(size, Some(state), own_pool)
    }

    /// Returns the maximum number of members: a member's number is below it.
    pub(crate) fn size(&self) -> usize {
        self.size
    }

    /// Returns the number of members that share a step: all that do not sit out, present or not.
    pub(crate) fn members(&self) -> usize {
        self.state.as_ref().map_or(1, |state| state.participation.limit())
    }

    /// Returns the number of members present.
    pub(crate) fn present(&self) -> usize {
        self.state.as_ref().map_or(1, |state| state.present())
    }

    /// Returns the number of waits so long that the team became smaller.
    pub(crate) fn long_waits(&self) -> u64 {
        self.state.as_ref().map_or(0, |state| u64::from(state.participation.long_waits()))
    }

    /// Returns the means of waiting for tasks that wait for each other.
    pub(crate) fn waits(&self) -> Waits<'_> {
        Waits::new(
            self.state.as_deref().map(|state| &state.participation),
            self.present(),
            Instant::now(),
        )
    }

    /// Runs `work`; the calling thread runs `check` before each of its tasks meanwhile, which may end the work by
    /// unwinding.
    pub(crate) fn between_tasks<R>(&self, check: &dyn Fn(), work: impl FnOnce() -> R) -> R {
        struct Reset<'a>(&'a Cell<Option<Check>>);
        impl Drop for Reset<'_> {
            fn drop(&mut self) {
                self.0.set(None);
            }
        }
        // SAFETY: this lengthens the lifetime of the reference, which is reset before this function returns or unwinds.
        let check =
            unsafe { std::mem::transmute::<*const (dyn Fn() + '_), *const dyn Fn()>(check) };
        let _reset = Reset(&self.check);
        self.check.set(Some(Check(check)));
        work()
    }

    /// Runs the check of [`Team::between_tasks`], if there is one: for work of the calling thread that is not divided into
    /// tasks.
    pub(crate) fn check(&self) {
        if let Some(check) = self.check.get() {
            check.run(0);
        }
    }

    /// Runs `work(task, member)` for each task; returns when all are done. Different threads have different
    /// member numbers.
    pub(crate) fn each(&self, tasks: usize, work: impl Fn(usize, usize) + Sync) {
        // Compiled once for both.
        let work: &(dyn Fn(usize, usize) + Sync) = &work;
        match self.check.get() {
            None => self.run_each(tasks, work),
            Some(check) => self.run_each(tasks, &|task, member| {
                check.run(member);
                work(task, member);
            }),
        }
    }

    fn run_each(&self, tasks: usize, work: &(dyn Fn(usize, usize) + Sync)) {
        let members = self.members().min(tasks);
        match &self.state {
            Some(state) if tasks > 1 && state.participation.readmit() => {
                self.run_each(tasks, work);
            }
            Some(state) if members > 1 => {
                assert!(tasks <= u32::MAX as usize, "{tasks} tasks");
                self.step.set(self.step.get() + 1);
                state.run_step(self.step.get(), work, tasks, members);
            }
            _ => (0..tasks).for_each(|task| work(task, 0)),
        }
    }

    /// Like [`Self::each`], with an element of `states` for each member alone. There must be one for each.
    pub(crate) fn each_with<S: Send>(
        &self,
        tasks: usize,
        states: &mut [S],
        work: impl Fn(usize, &mut S) + Sync,
    ) {
        assert!(states.len() >= self.size, "{} for {} members", states.len(), self.size);
        let states = Shared::new(states);
        self.each(tasks, |task, member| {
            // SAFETY: the number of a member is below the size, and this thread's alone.
            work(task, unsafe { &mut states.part(member..member + 1)[0] });
        });
    }

    /// Adds `count` values, computed from their numbers, to the end of an array.
    pub(crate) fn extend<R: Copy + Send>(
        &self,
        array: &mut Vec<R>,
        count: usize,
        value: impl Fn(usize) -> R + Sync,
    ) {
        memory::reserve(array, count);
        let places = Shared::new(&mut array.spare_capacity_mut()[..count]);
        self.each(count.div_ceil(RUN), |run, _| {
            let run = run * RUN..(run * RUN + RUN).min(count);
            // SAFETY: the run is its task's alone, and below the count.
            let places = unsafe { places.part(run.clone()) };
            for (place, k) in places.iter_mut().zip(run) {
                place.write(value(k));
            }
        });
        // SAFETY: the runs are all `count` values, and were written.
        unsafe { array.set_len(array.len() + count) };
    }

    /// Returns the result of `work` for each task, in their order.
    pub(crate) fn map<R: Send>(&self, tasks: usize, work: impl Fn(usize) -> R + Sync) -> Buffer<R> {
        let mut found: Buffer<Option<R>> = Buffer::collected((0..tasks).map(|_| None));
        let places = Shared::new(&mut found);
        self.each(tasks, |task, _| {
            let result = work(task);
            // SAFETY: the place is the task's, and below the number of tasks.
            unsafe { places.part(task..task + 1)[0] = Some(result) };
        });
        Buffer::collected(found.drain(..).map(|result| result.expect("every task was run")))
    }
}

impl Drop for Team {
    fn drop(&mut self) {
        if let Some(state) = &self.state {
            state.announce(OVER);
        }
    }
}

/// Returns the number of cores that this process may use.
fn cores() -> usize {
    static CORES: OnceLock<usize> = OnceLock::new();
    *CORES.get_or_init(|| std::thread::available_parallelism().map_or(1, usize::from))
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::panic::{AssertUnwindSafe, catch_unwind};
    use std::sync::atomic::{AtomicUsize, Ordering};
    use std::time::Duration;

    #[test]
    fn every_task_is_done_once() {
        for size in [1, 2, 3, 7] {
            let team = Team::oversubscribed(size);
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
                    team.map(tasks, |task| 2 * task).into_vec(),
                    (0..tasks).map(|t| 2 * t).collect::<Vec<_>>()
                );
            }
        }
    }

    fn team_size(size: usize) -> usize {
        if helpers::THREADS { size } else { 1 }
    }

    #[test]
    fn each_member_has_its_own_state() {
        let team = Team::oversubscribed(4);
        let mut counts = vec![0usize; team.size()];
        for _ in 0..200 {
            team.each_with(100, &mut counts, |_, counts| *counts += 1);
        }
        assert_eq!(counts.iter().sum::<usize>(), 20_000);
    }

    #[test]
    fn a_panicking_task_is_reported_and_the_team_keeps_working() {
        let team = Team::oversubscribed(3);
        for _ in 0..20 {
            let failed = catch_unwind(AssertUnwindSafe(|| {
                team.each(64, |task, _| assert!(task != 40, "the fortieth"));
            }));
            assert!(failed.is_err());
            assert!(team.waits().start().poll());
            assert_eq!(*team.map(3, |task| task), [0, 1, 2]);
        }
    }

    #[test]
    fn sleepers_are_woken() {
        let team = Team::oversubscribed(3);
        for _ in 0..5 {
            std::thread::sleep(Duration::from_millis(5));
            assert_eq!(team.map(100, |task| task).len(), 100);
        }
    }

    #[test]
    fn teams_within_tasks_of_a_team_finish() {
        let team = Team::oversubscribed(4);
        let sums = team.map(8, |task| {
            let inner = Team::oversubscribed(4);
            (0..50).map(|_| inner.map(20, |k| k * task).iter().sum::<usize>()).sum::<usize>()
        });
        assert_eq!(*sums, (0..8).map(|task| 50 * 190 * task).collect::<Vec<_>>());
    }
}
