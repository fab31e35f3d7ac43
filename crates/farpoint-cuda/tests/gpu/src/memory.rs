//! Nothing leaks: the card's free memory and the process's own before and after many runs. A copy from
//! pinned memory is complete when the call returns.

use crate::clouds::Cloud;
use crate::resident::{Expected, Resident};
use crate::runner::Group;
use crate::tally::Tally;
use crate::variants::{self, ALL};
use anyhow::{Result, ensure};
use farpoint::{Algorithm, Sampler};
use farpoint_cuda::{Buffer, Gpu, Stream, sys};
use farpoint_generate::Kind;
use std::ptr;

/// Runs that are measured, and those before, after which pools have their final size.
const RUNS: usize = 200;
const WARM_UP: usize = 30;

/// Tolerance in bytes: a tenth of the loss if runs leaked their points.
const TOLERANCE: usize = 16 << 20;

pub(crate) fn groups() -> Vec<Group> {
    vec![leaks(), pinned_memory()]
}

/// Host memory that the device reads directly.
struct Pinned {
    context: sys::CUcontext,
    numbers: *mut f32,
    len: usize,
}

impl Pinned {
    fn new(len: usize) -> Result<Self> {
        let (mut context, mut numbers) = (ptr::null_mut(), ptr::null_mut());
        // SAFETY: device 0 is open, so that the driver is there; each call writes what it is given the
        // address of, and the previous context is restored.
        let codes = unsafe {
            [
                sys::cuDevicePrimaryCtxRetain(&mut context, 0),
                sys::cuCtxPushCurrent_v2(context),
                sys::cuMemHostAlloc(&mut numbers, 4 * len, sys::CU_MEMHOSTALLOC_PORTABLE),
                sys::cuCtxPopCurrent_v2(&mut context),
            ]
        };
        ensure!(codes.iter().all(|code| *code == sys::CUresult::CUDA_SUCCESS), "{codes:?}");
        Ok(Self { context, numbers: numbers.cast(), len })
    }

    fn fill(&mut self, value: f32) -> &[f32] {
        // SAFETY: the memory has room for this many numbers; any bits are a number, and nothing else
        // knows of it.
        let numbers = unsafe { std::slice::from_raw_parts_mut(self.numbers, self.len) };
        numbers.fill(value);
        numbers
    }
}

impl Drop for Pinned {
    fn drop(&mut self) {
        // SAFETY: retained and allocated by `new`; nothing is copied from it anymore.
        unsafe {
            let _ = sys::cuCtxPushCurrent_v2(self.context);
            let _ = sys::cuMemFreeHost(self.numbers.cast());
            let _ = sys::cuCtxPopCurrent_v2(&mut self.context);
            let _ = sys::cuDevicePrimaryCtxRelease_v2(0);
        }
    }
}

/// Numbers may change as soon as they were written, even if the stream was busy.
fn pinned_memory() -> Group {
    let filler: [usize; 3] = [264, 2_048, 512];
    Group::new("pinned host memory", &[""], move || {
        Ok(move |device: &Gpu, _: &str, tally: &mut Tally| {
            let stream = Stream::new(device)?;
            let sampler = Sampler::count(filler[2]).algorithm(Algorithm::Naive);
            let shape = [filler[0], filler[1], 3];
            let mut work = Resident::<f32>::new(&stream, shape, filler[2], Some(&sampler))?;
            work.write(&vec![0.0; filler[0] * filler[1] * 3])?;
            let mut numbers = Pinned::new(1 << 20)?;
            let mut buffer = Buffer::<f32>::new(&stream, 1 << 20, "numbers of a test")?;
            for value in [1.0, 2.0, 3.0] {
                work.enqueue(device, &stream, &sampler)?;
                buffer.write(0, numbers.fill(value))?;
                numbers.fill(-1.0);
                let found = buffer.download(1 << 20)?;
                tally.is(format!("all are {value}"), found.iter().all(|x| *x == value));
            }
            Ok(())
        })
    })
}

/// A cloud of 70,000: 840 KB of points, some MB of scratch memory per run.
fn leaks() -> Group {
    const N: usize = 70_000;
    Group::new(format!("memory after {RUNS} runs"), ALL, || {
        let cloud = Cloud::<f32>::of(Kind::Room, N, 1);
        let expected_samples = Expected::new(std::slice::from_ref(&cloud), 200)?;
        let cpu_job = Sampler::count(200).start(farpoint::Start::Index(N));
        Ok(move |device: &Gpu, part: &str, tally: &mut Tally| {
            let algorithm = variants::algorithm(part);
            let sampler = Sampler::count(200).algorithm(algorithm);
            let invalid = sampler.clone().start(farpoint::Start::Index(N));
            let run = |tally: &mut Tally| -> Result<()> {
                // All interfaces, with an error between them.
                sampler.on(device).sample(&cloud)?;
                let stream = Stream::new(device)?;
                let mut batch = Resident::new(&stream, [1, N, 3], 200, None)?;
                batch.write(&expected_samples.data)?;
                batch.enqueue(device, &stream, &sampler)?;
                tally.check("a run", batch.compare(&expected_samples)?);
                let error = invalid.on(device).sample(&cloud).err().map(|error| error.to_string());
                let expected = cpu_job.sample(&cloud).err().map(|error| error.to_string());
                tally.is("the CPU's error", error == expected);
                Ok(())
            };
            for _ in 0..WARM_UP {
                run(tally)?;
            }
            let (free, host) = (device.memory()?.0, resident_bytes());
            for _ in 0..RUNS {
                run(tally)?;
            }
            let leaked = free.saturating_sub(device.memory()?.0);
            let growth = resident_bytes().saturating_sub(host);
            tally.note(format!("lost on the card {leaked} bytes, on the host {growth}"));
            tally.is(format!("{leaked} bytes of the card lost"), leaked <= TOLERANCE);
            tally.is(format!("{growth} bytes of the host lost"), growth <= 4 * TOLERANCE);
            Ok(())
        })
    })
}

/// Resident memory of this process in bytes, as reported by Linux.
fn resident_bytes() -> usize {
    let text = std::fs::read_to_string("/proc/self/statm").unwrap_or_default();
    let pages = text.split(' ').nth(1).and_then(|pages| pages.parse::<usize>().ok());
    pages.unwrap_or(0) * 4096
}
