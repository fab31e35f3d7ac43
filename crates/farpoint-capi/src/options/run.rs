//! Options of the run of a call.

use crate::arguments::{lookup, optional};
use crate::constants::*;
use crate::progress::{Listener, farpoint_progress_callback};
use crate::run::{Place, Run};
use crate::status::{Failure, invalid};
use farpoint::{Cpu, Level, NonFinite};
use std::ffi::c_void;
use std::mem::MaybeUninit;

/// Options of the run of a call: `run` of the other options structures points to this, where NULL means the
/// defaults.
///
/// Set everything to zero, then `size`, then the members to change: zero means the default everywhere.
///
/// @code
/// farpoint_run_options run = {0};
/// run.size = sizeof run;
/// run.threads = 1;
/// options.run = &run;
/// @endcode
#[repr(C)]
#[derive(Debug, Clone, Copy)]
pub struct farpoint_run_options {
    /// `sizeof(farpoint_run_options)`: gives the library the caller's version.
    pub size: usize,
    /// Number of threads. 0: those of one pool for the whole process, one per core, which starts
    /// when it is first needed. 1: the calling thread alone; no thread is ever started.
    pub threads: usize,
    /// FARPOINT_CPU or FARPOINT_CUDA.
    pub device: MaybeUninit<farpoint_device>,
    /// Which GPU, from 0; 0 for the CPU.
    pub device_number: i32,
    /// FARPOINT_INSTRUCTIONS_BEST or another. Never changes a result.
    pub instruction_set: MaybeUninit<farpoint_instruction_set>,
    /// FARPOINT_NON_FINITE_ERROR or FARPOINT_NON_FINITE_SKIP.
    pub non_finite: MaybeUninit<farpoint_non_finite>,
    /// Called now and then; may cancel. NULL: no callback.
    pub progress: farpoint_progress_callback,
    /// Passed to `progress`.
    pub user: *mut c_void,
}

super::options!(farpoint_run_options, last: user);

/// More threads than any machine has; each would be started.
const MAX_THREADS: usize = 4096;

/// Returns the run of a call; the defaults for NULL.
///
/// # Safety
/// NULL, or as large as its first member says.
///
/// # Errors
/// If a number is unknown, or stands for something unavailable.
pub(crate) unsafe fn run(options: *const farpoint_run_options) -> Result<Run, Failure> {
    // SAFETY: by this function's contract.
    let Some(options) = unsafe { optional(options) }? else { return Ok(Run::default()) };
    let non_finite = [
        (FARPOINT_NON_FINITE_ERROR, NonFinite::Error),
        (FARPOINT_NON_FINITE_SKIP, NonFinite::Skip),
    ];
    let non_finite = lookup(options.non_finite, "non_finite", &non_finite)?;
    let listener = Listener::new(options.progress, options.user);
    Ok(Run::new(place(&options)?, non_finite, listener))
}

fn place(options: &farpoint_run_options) -> Result<Place, Failure> {
    let devices = [(FARPOINT_CPU, false), (FARPOINT_CUDA, true)];
    let number = options.device_number;
    match lookup(options.device, "device", &devices)? {
        false if number != 0 => Err(invalid(format!(
            "device_number is {number}, but the device is the CPU; set device to a GPU, or device_number to 0"
        ))),
        false => Ok(Place::Cpu(cpu(options)?)),
        #[cfg(feature = "cuda")]
        true => crate::run::gpu(number).map(Place::Gpu),
        #[cfg(not(feature = "cuda"))]
        true => Err(crate::run::without_cuda()),
    }
}

fn cpu(options: &farpoint_run_options) -> Result<Cpu, Failure> {
    let levels = [
        (FARPOINT_INSTRUCTIONS_BEST, None),
        (FARPOINT_INSTRUCTIONS_PORTABLE, Some(Level::Portable)),
        (FARPOINT_INSTRUCTIONS_AVX2, Some(Level::Avx2)),
        (FARPOINT_INSTRUCTIONS_AVX512, Some(Level::Avx512)),
        (FARPOINT_INSTRUCTIONS_NEON, Some(Level::Neon)),
    ];
    let mut cpu = Cpu::new();
    if let Some(level) = lookup(options.instruction_set, "instruction_set", &levels)? {
        cpu = cpu.level(level);
    }
    match options.threads {
        0 => Ok(cpu),
        threads if threads <= MAX_THREADS => Ok(cpu.threads(threads)),
        threads => Err(invalid(format!(
            "threads is {threads}; use 0 for all cores, or a number up to {MAX_THREADS}"
        ))),
    }
}
