//! An experiment: `persistent` on the grid with more than four points per thread, a variant of which
//! hung and was left out. Runs `kernels/persistent_wide.cu`, which is compiled to PTX by hand, on
//! clouds of many sizes; where it does not end, says how far each warp has come.

use crate::clouds::Cloud;
use crate::resident::Answer;
use anyhow::{Context, Result, ensure};
use clap::Args;
use cudarc::driver::sys::{self, CUresult};
use farpoint_cuda::{Buffer, Gpu, Stream};
use farpoint_generate::Kind;
use std::collections::BTreeMap;
use std::ffi::{CString, c_void};
use std::path::PathBuf;
use std::time::{Duration, Instant};

#[derive(Args)]
pub(crate) struct Wide {
    /// PTX of kernels/persistent_wide.cu, f32
    #[arg(long, value_name = "FILE")]
    ptx: PathBuf,
    /// Kernels: wide_8, wide_16, wide_32
    #[arg(long, default_values = ["wide_32", "wide_16", "wide_8"])]
    kernel: Vec<String>,
    /// Optimisation of the driver's compiler, 0 to 4
    #[arg(long, default_values_t = [4, 1])]
    level: Vec<u32>,
    /// Sizes of the clouds
    #[arg(long, default_values_t = [120_000, 135_169, 150_000, 160_000, 170_000, 180_000, 190_000, 200_000, 270_000, 300_000])]
    rows: Vec<usize>,
}

/// Threads of a block, and how long a run may take.
const THREADS: usize = 256;
const LIMIT: Duration = Duration::from_secs(15);

/// Ticks (a millisecond or so) that the kernel's waits may last.
const PATIENCE: u32 = 3_000;

/// `struct Guard` of farpoint-cuda's `kernels/common/guard.cuh`, and `struct Batch` in f32.
#[derive(Clone, Copy)]
#[repr(C)]
struct WideArgs {
    told: u64,
    limit: u32,
    kernel: u32,
    absent: [u32; 2],
    points: u64,
    strides: [i64; 2],
    dims: u32,
    clouds: u32,
    offsets: u64,
    lengths: u64,
    rows: i64,
    samples: u64,
    slots: u64,
    wanted: i64,
    starts: u64,
    start_count: u32,
    stop: f32,
    indices: u64,
    values: u64,
    covering: u64,
    chosen: u64,
    mailboxes: u64,
    team: u32,
    trace: u64,
}

impl Wide {
    pub(crate) fn run(&self) -> Result<bool> {
        let device = Gpu::new(0)?;
        let text = std::fs::read_to_string(&self.ptx)
            .with_context(|| format!("can't read {}", self.ptx.display()))?;
        let current = Current::new()?;
        let mut good = true;
        for level in &self.level {
            let module = current.module(&text, *level)?;
            for kernel in &self.kernel {
                let function = module.function(kernel)?;
                for &rows in &self.rows {
                    for kind in [Kind::Room, Kind::Lidar, Kind::Object, Kind::Clusters] {
                        let cloud = Cloud::<f32>::of(kind, rows, 1);
                        let what = format!("{kernel} -O{level} {kind} {rows}");
                        good &= case(&device, function, &cloud, &what, points_of(kernel))?;
                    }
                }
            }
        }
        Ok(good)
    }
}

/// Points that a thread has room for.
fn points_of(kernel: &str) -> usize {
    kernel.rsplit('_').next().and_then(|points| points.parse().ok()).unwrap_or(8)
}

/// One run; true if it ended with what the CPU says, or the cloud does not fit.
fn case(
    device: &Gpu,
    function: sys::CUfunction,
    cloud: &Cloud<f32>,
    what: &str,
    points: usize,
) -> Result<bool> {
    let blocks = device.properties().multiprocessors as usize;
    let rows = cloud.data.len() / 3;
    let each = rows.div_ceil(blocks * THREADS);
    let shared = (64 * 32 + 16 + blocks * 32 + 3 * each * THREADS * 4) as u32;
    if each > points || shared > device.properties().shared_per_block {
        return Ok(true);
    }
    let wanted = rows / 8;
    let answer = Answer::new(std::slice::from_ref(cloud), wanted)?;
    let stream = Stream::new(device)?;
    let input = Buffer::upload(&stream, &answer.data, "points")?;
    let indices = Buffer::<i64>::new(&stream, wanted, "indices")?;
    let values = Buffer::<f32>::new(&stream, wanted, "values")?;
    let mut mail = Buffer::<u32>::new(&stream, 4 * (4 * blocks + 1), "mailboxes")?;
    let mut trace = Buffer::<u32>::new(&stream, 4 * blocks * THREADS / 32, "trace")?;
    let mut told = Buffer::<u32>::new(&stream, 1, "told")?;
    mail.fill(0)?;
    trace.fill(0)?;
    told.fill(0)?;
    let args = WideArgs {
        told: told.pointer(),
        limit: PATIENCE,
        kernel: 2,
        absent: [u32::MAX; 2],
        points: input.pointer(),
        strides: [3, 1],
        dims: 3,
        clouds: 1,
        offsets: 0,
        lengths: 0,
        rows: rows as i64,
        samples: 0,
        slots: 0,
        wanted: wanted as i64,
        starts: 0,
        start_count: 1,
        stop: -1.0,
        indices: indices.pointer(),
        values: values.pointer(),
        covering: 0,
        chosen: 0,
        mailboxes: mail.pointer(),
        team: blocks as u32,
        trace: trace.pointer(),
    };
    stream.synchronize()?;
    let begin = Instant::now();
    start(function, &stream, blocks, shared, &args)?;
    // SAFETY: the stream lives.
    while unsafe { sys::cuStreamQuery(stream.raw() as usize as sys::CUstream) }
        == CUresult::CUDA_ERROR_NOT_READY
    {
        if begin.elapsed() > LIMIT {
            println!("{what}: STUCK, where no limit is");
            tell(&read_beside(device, &trace)?, blocks);
            // The kernel ends with the process.
            std::process::exit(3);
        }
        std::thread::sleep(Duration::from_millis(1));
    }
    let ms = begin.elapsed().as_secs_f64() * 1e3;
    let gave_up = told.download(1)?[0];
    if gave_up != 0 {
        println!("{what}: GAVE UP ({gave_up:#x})");
        tell(&trace.download(trace.len())?, blocks);
        return Ok(false);
    }
    let found: Vec<_> = indices.download(wanted)?.into_iter().map(|row| row as usize).collect();
    let same = answer.compare(&found, &values.download(wanted)?);
    println!("{what}, {each} points a thread: {same:?}, {ms:.1} ms");
    Ok(same.is_ok())
}

fn start(
    function: sys::CUfunction,
    stream: &Stream,
    blocks: usize,
    shared: u32,
    args: &WideArgs,
) -> Result<()> {
    let most = sys::CUfunction_attribute::CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES;
    let mut params = [(&raw const *args).cast_mut().cast::<c_void>()];
    let (raw, blocks) = (stream.raw() as usize as sys::CUstream, blocks as u32);
    // SAFETY: `WideArgs` mirrors the kernel's parameter, which the driver copies; the arrays that it
    // names live until the caller has waited.
    let codes = unsafe {
        [
            sys::cuFuncSetAttribute(function, most, shared as i32),
            sys::cuLaunchCooperativeKernel(
                function,
                blocks,
                1,
                1,
                THREADS as u32,
                1,
                1,
                shared,
                raw,
                params.as_mut_ptr(),
            ),
        ]
    };
    ensure!(codes == [CUresult::CUDA_SUCCESS; 2], "the launch failed: {codes:?}");
    Ok(())
}

/// The trace, while the kernel is still running.
fn read_beside(device: &Gpu, trace: &Buffer<u32>) -> Result<Vec<u32>> {
    let other = Stream::new(device)?;
    let mut words = vec![0u32; trace.len()];
    let (to, from) = (words.as_mut_ptr().cast(), trace.pointer());
    // SAFETY: both arrays have this many words, and the copy is waited for.
    let code = unsafe {
        let raw = other.raw() as usize as sys::CUstream;
        sys::cuMemcpyDtoHAsync_v2(to, from, 4 * trace.len(), raw)
    };
    other.synchronize()?;
    ensure!(code == CUresult::CUDA_SUCCESS, "the trace can't be read: {code:?}");
    Ok(words)
}

/// How many warps have come how far, and those that differ from most.
fn tell(trace: &[u32], blocks: usize) {
    let warps = trace.len() / 4 / blocks;
    let mut states: BTreeMap<&[u32], Vec<usize>> = BTreeMap::new();
    for (warp, state) in trace.chunks_exact(4).enumerate() {
        states.entry(state).or_default().push(warp);
    }
    println!("  stages: 0 not started, 1 offering, 2 exchanging, 3 choosing, 4 done");
    for (state, who) in &states {
        let (epoch, chosen, stage, rows) = (state[0], state[1], state[2], state[3]);
        let some: Vec<_> =
            who.iter().take(8).map(|w| format!("{}.{}", w / warps, w % warps)).collect();
        println!(
            "  {:>5} warps at epoch {epoch}, {chosen} chosen, stage {stage}, {rows} rows: {}",
            who.len(),
            some.join(" ")
        );
    }
}

/// The primary context of device 0, current on this thread.
struct Current(sys::CUcontext);

struct Module<'a>(sys::CUmodule, std::marker::PhantomData<&'a Current>);

impl Current {
    fn new() -> Result<Self> {
        let mut context = std::ptr::null_mut();
        // SAFETY: device 0 is open, so that the driver is there; writes the context, which `drop`
        // gives back.
        let codes = unsafe {
            let retained = sys::cuDevicePrimaryCtxRetain(&mut context, 0);
            [retained, sys::cuCtxPushCurrent_v2(context)]
        };
        ensure!(codes == [CUresult::CUDA_SUCCESS; 2], "no context: {codes:?}");
        Ok(Self(context))
    }

    /// Has the driver compile PTX at a level of optimization.
    fn module(&self, text: &str, level: u32) -> Result<Module<'_>> {
        let text = CString::new(text)?;
        let mut options = [sys::CUjit_option::CU_JIT_OPTIMIZATION_LEVEL];
        let mut values = [level as usize as *mut c_void];
        let mut module = std::ptr::null_mut();
        // SAFETY: the text ends with a zero; one option with its value.
        let code = unsafe {
            let (options, values) = (options.as_mut_ptr(), values.as_mut_ptr());
            sys::cuModuleLoadDataEx(&mut module, text.as_ptr().cast(), 1, options, values)
        };
        ensure!(code == CUresult::CUDA_SUCCESS, "the PTX can't be loaded: {code:?}");
        Ok(Module(module, std::marker::PhantomData))
    }
}

impl Module<'_> {
    fn function(&self, name: &str) -> Result<sys::CUfunction> {
        let symbol = CString::new(format!("{name}_f32"))?;
        let mut function = std::ptr::null_mut();
        // SAFETY: the module is loaded; writes the function.
        let code = unsafe { sys::cuModuleGetFunction(&mut function, self.0, symbol.as_ptr()) };
        ensure!(code == CUresult::CUDA_SUCCESS, "there is no kernel {name}: {code:?}");
        Ok(function)
    }
}

impl Drop for Module<'_> {
    fn drop(&mut self) {
        // SAFETY: loaded by `module`; all its runs were waited for.
        let _ = unsafe { sys::cuModuleUnload(self.0) };
    }
}

impl Drop for Current {
    fn drop(&mut self) {
        // SAFETY: takes off and gives back what `new` put on and retained.
        unsafe {
            let _ = sys::cuCtxPopCurrent_v2(&mut self.0);
            let _ = sys::cuDevicePrimaryCtxRelease_v2(0);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::mem::offset_of;

    #[test]
    fn laid_out_as_in_persistent_wide_cu() {
        assert_eq!(offset_of!(WideArgs, points), 24);
        assert_eq!(offset_of!(WideArgs, stop), 24 + 92);
        assert_eq!(offset_of!(WideArgs, mailboxes), 24 + 128);
        assert_eq!((offset_of!(WideArgs, trace), size_of::<WideArgs>()), (168, 176));
        assert_eq!(["wide_8", "wide_32"].map(points_of), [8, 32]);
    }
}
