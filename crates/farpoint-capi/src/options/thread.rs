//! Options of the pool.

use crate::arguments::{list, lookup, text};
use crate::constants::*;
use crate::status::{Failure, invalid};
use farpoint::{Scheduling, ThreadOptions};
use std::ffi::c_char;
use std::mem::MaybeUninit;

/// Options of the threads of the pool, of which there is one in a process.
///
/// @code
/// int32_t cpus[] = {2, 3};
/// farpoint_thread_options options = {0};
/// options.size = sizeof options;
/// options.cpus = cpus;
/// options.cpu_count = 2;
/// options.scheduling = FARPOINT_SCHEDULING_FIFO;
/// options.priority = 50;
/// farpoint_start_threads(&options);
/// @endcode
#[repr(C)]
#[derive(Debug, Clone, Copy)]
pub struct farpoint_thread_options {
    /// `sizeof(farpoint_thread_options)`: gives the library the caller's version.
    pub size: usize,
    /// Number of threads. 0: one per entry of `cpus` or, without any, per core.
    pub threads: usize,
    /// Thread `k` is named `name-k`; systems cut names, Linux to 15 bytes. NULL: "farpoint".
    pub name: *const c_char,
    /// Processors, from 0: thread `k` runs on `cpus[k % cpu_count]` alone. NULL: on any. Linux only.
    pub cpus: *const i32,
    /// Number of `cpus`.
    pub cpu_count: usize,
    /// FARPOINT_SCHEDULING_INHERITED or another. Linux only.
    pub scheduling: MaybeUninit<farpoint_scheduling>,
    /// Priority, 1 to 99, of FARPOINT_SCHEDULING_FIFO and FARPOINT_SCHEDULING_ROUND_ROBIN; 0 without them.
    pub priority: i32,
}

super::options!(farpoint_thread_options, last: priority);

impl farpoint_thread_options {
    /// Returns the options of the library.
    ///
    /// # Safety
    /// Name and processors are as the header says.
    ///
    /// # Errors
    /// If a number is unknown, or no processor or priority, or there is a priority without scheduling.
    pub(crate) unsafe fn options(&self) -> Result<ThreadOptions, Failure> {
        let mut options = ThreadOptions::new();
        if self.threads > 0 {
            options = options.threads(self.threads);
        }
        // SAFETY: by this function's contract.
        let (name, cpus) =
            unsafe { (text(self.name, "name")?, list(self.cpus, self.cpu_count, "cpus")?) };
        if let Some(name) = name {
            options = options.name(name);
        }
        let cpu = |&cpu: &i32| {
            usize::try_from(cpu).map_err(|_| invalid(format!("cpus has {cpu}; they count from 0")))
        };
        options = options.cpus(cpus.iter().map(cpu).collect::<Result<Vec<_>, _>>()?);
        let priority = u8::try_from(self.priority).map_err(|_| {
            invalid(format!("priority is {}; priorities are 1 to 99", self.priority))
        })?;
        let all = [
            (FARPOINT_SCHEDULING_INHERITED, Scheduling::Inherited),
            (FARPOINT_SCHEDULING_FIFO, Scheduling::Fifo(priority)),
            (FARPOINT_SCHEDULING_ROUND_ROBIN, Scheduling::RoundRobin(priority)),
        ];
        let scheduling = lookup(self.scheduling, "scheduling", &all)?;
        if scheduling == Scheduling::Inherited {
            super::refuse_unused("inherited scheduling", &[], &[("priority", priority != 0)])?;
        }
        Ok(options.scheduling(scheduling))
    }
}
