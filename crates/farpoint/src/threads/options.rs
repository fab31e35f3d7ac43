//! Names, processors and scheduling of the threads of the pool.

use crate::Error;
use rayon::ThreadPoolBuilder;
use std::error::Error as _;
#[cfg(target_os = "linux")]
use std::io;

/// Scheduling of threads by the system.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[non_exhaustive]
pub enum Scheduling {
    /// Scheduling of the thread that starts the pool.
    #[default]
    Inherited,
    /// `SCHED_FIFO` with a priority of 1 to 99: a thread runs until it waits.
    Fifo(u8),
    /// `SCHED_RR` with a priority of 1 to 99: threads of equal priority take turns.
    RoundRobin(u8),
}

/// Threads of the pool of this process, rayon's global one: for programs with real-time demands, which call
/// [`ThreadOptions::start`] before anything else uses the pool.
///
/// A call of the library works on the calling thread, too, whose processor and priority are the caller's to set. Pools of
/// one's own need no options: inside of rayon's `ThreadPool::install`, calls use that pool.
///
/// ```standalone_crate
/// use farpoint::ThreadOptions;
///
/// let threads = ThreadOptions::new().threads(2).name("perception").start()?;
/// assert_eq!(threads, 2);
/// assert!(ThreadOptions::new().start().is_err(), "the pool has been started");
/// # Ok::<(), farpoint::Error>(())
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct ThreadOptions {
    /// Number of threads; `None`: one per processor of the list or, without a list, per core.
    pub threads: Option<usize>,
    /// Thread `k` is named `name-k`.
    pub name: String,
    /// Processors: thread `k` runs on `cpus[k % cpus.len()]` alone; on any, if there are none. On Linux.
    pub cpus: Vec<usize>,
    /// Scheduling of all threads. On Linux.
    pub scheduling: Scheduling,
}

impl Default for ThreadOptions {
    fn default() -> Self {
        let (name, scheduling) = ("farpoint".into(), Scheduling::Inherited);
        Self { threads: None, name, cpus: Vec::new(), scheduling }
    }
}

impl ThreadOptions {
    /// Returns the options of the pool that the first call would start.
    pub fn new() -> Self {
        Self::default()
    }

    /// Sets the number of threads.
    pub fn threads(self, threads: usize) -> Self {
        Self { threads: Some(threads), ..self }
    }

    /// Sets the beginning of the threads' names.
    pub fn name(self, name: impl Into<String>) -> Self {
        Self { name: name.into(), ..self }
    }

    /// Sets the processors.
    pub fn cpus(self, cpus: impl Into<Vec<usize>>) -> Self {
        Self { cpus: cpus.into(), ..self }
    }

    /// Sets the scheduling.
    pub fn scheduling(self, scheduling: Scheduling) -> Self {
        Self { scheduling, ..self }
    }

    /// Starts the pool; returns its number of threads.
    ///
    /// # Errors
    /// [`Error::BadThreads`] for 0 threads, if the pool has been started, by this library or another user of rayon's
    /// global pool, and if the system refuses threads, processors or scheduling; nothing is started then.
    pub fn start(&self) -> Result<usize, Error> {
        let by_default = || match self.cpus.len() {
            0 => super::grants::default_threads(),
            cpus => cpus,
        };
        let threads = self.threads.unwrap_or_else(by_default);
        if threads == 0 {
            return Err(Error::BadThreads(0, "use at least one".into()));
        }
        let refused = |reason: String| Error::BadThreads(threads, reason);
        self.try_all(threads).map_err(refused)?;
        let (options, name) = (self.clone(), self.name.clone());
        let builder = ThreadPoolBuilder::new().num_threads(threads);
        let builder = builder.thread_name(move |k| format!("{name}-{k}"));
        // The same was granted to another thread a moment ago.
        let started = builder.start_handler(move |k| _ = options.apply(k)).build_global();
        started.map_err(|error| {
            refused(match error.source() {
                None => "the pool has been started; set its threads before the first call".into(),
                Some(source) => source.to_string(),
            })
        })?;
        // The pool is ready before its threads have run their handlers: a task on each comes after them.
        rayon::broadcast(|_| ());
        Ok(threads)
    }

    /// Applies the options of all threads to one that ends; returns the reason if the system refuses them.
    fn try_all(&self, threads: usize) -> Result<(), String> {
        let try_them = || (0..threads.min(self.cpus.len().max(1))).try_for_each(|k| self.apply(k));
        std::thread::scope(|scope| {
            let tried = std::thread::Builder::new().spawn_scoped(scope, try_them);
            let tried = tried.map_err(|error| error.to_string())?;
            tried.join().unwrap_or_else(|_| Err("a thread panicked".into()))
        })
    }

    /// Applies the options of thread `k` to the current one.
    #[cfg(target_os = "linux")]
    fn apply(&self, k: usize) -> Result<(), String> {
        if !self.cpus.is_empty() {
            let cpu = self.cpus[k % self.cpus.len()];
            run_on(cpu).map_err(|error| format!("the system refuses CPU {cpu}: {error}"))?;
        }
        let (policy, priority) = match self.scheduling {
            Scheduling::Inherited => return Ok(()),
            Scheduling::Fifo(priority) => (libc::SCHED_FIFO, priority),
            Scheduling::RoundRobin(priority) => (libc::SCHED_RR, priority),
        };
        schedule(policy, priority).map_err(|error| {
            format!(
                "the system refuses priority {priority} of {:?}: {error}; priorities are 1 to 99, and need CAP_SYS_NICE or \
                 a limit of that height (`ulimit -r`)",
                self.scheduling
            )
        })
    }

    #[cfg(not(target_os = "linux"))]
    fn apply(&self, _: usize) -> Result<(), String> {
        match self.cpus.is_empty() && self.scheduling == Scheduling::Inherited {
            true => Ok(()),
            false => Err("processors and scheduling can be set on Linux only".into()),
        }
    }
}

/// Makes the current thread run on one processor alone.
#[cfg(target_os = "linux")]
fn run_on(cpu: usize) -> io::Result<()> {
    if cpu >= libc::CPU_SETSIZE as usize {
        return Err(io::ErrorKind::InvalidInput.into());
    }
    // SAFETY: a set of processors is bits, of which all may be 0; `cpu` is below their number; the system reads the set.
    let result = unsafe {
        let mut set: libc::cpu_set_t = std::mem::zeroed();
        libc::CPU_SET(cpu, &mut set);
        libc::sched_setaffinity(0, size_of::<libc::cpu_set_t>(), &set)
    };
    if result == 0 { Ok(()) } else { Err(io::Error::last_os_error()) }
}

/// Sets scheduling and priority of the current thread.
#[cfg(target_os = "linux")]
fn schedule(policy: i32, priority: u8) -> io::Result<()> {
    // SAFETY: the structure holds numbers, which may be 0, and the system reads it; the thread is this one.
    let result = unsafe {
        let mut parameters: libc::sched_param = std::mem::zeroed();
        parameters.sched_priority = priority.into();
        libc::pthread_setschedparam(libc::pthread_self(), policy, &parameters)
    };
    if result == 0 { Ok(()) } else { Err(io::Error::from_raw_os_error(result)) }
}
