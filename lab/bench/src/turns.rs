//! Turns of a LiDAR one by one, as a robot samples them: the longest times, also beside other work on all cores.

use crate::args::Turns;
use crate::machine::Machine;
use anyhow::{Context, Result, ensure};
use farpoint::{Cpu, Sampler};
use farpoint_cli::input::Points;
use farpoint_cli::output::{self, number, table};
use farpoint_io::ReadOptions;
use std::fs;
use std::path::Path;
use std::process::{Child, Command};
use std::thread;
use std::time::{Duration, Instant};

/// Processes that do nothing but take a core each; they end with this.
struct Busy(Vec<Child>);

impl Busy {
    fn start(count: usize) -> Result<Self> {
        let spin = |_| Command::new("sh").args(["-c", "while :; do :; done"]).spawn();
        let started: Result<Vec<_>, _> = (0..count).map(spin).collect();
        Ok(Self(started.context("can't start a busy process by 'sh'")?))
    }
}

impl Drop for Busy {
    fn drop(&mut self) {
        for child in &mut self.0 {
            let _ = child.kill();
            let _ = child.wait();
        }
    }
}

/// Samples the turns again and again with each number of threads, and prints the times.
pub(crate) fn run(args: &Turns) -> Result<()> {
    ensure!(args.count > 0, "--count 0: measure at least one turn");
    let clouds: Vec<_> = args.clouds.iter().map(|path| read(path)).collect::<Result<_>>()?;
    let period =
        if args.hertz > 0.0 { Duration::from_secs_f64(1.0 / args.hertz) } else { Duration::ZERO };
    let job = Sampler::count(args.samples);
    let _busy = Busy::start(args.busy)?;
    let mut rows = vec![
        ["threads", "median", "99 %", "longest", "mean", "CPU per turn"].map(String::from).to_vec(),
    ];
    for &threads in &args.threads {
        let cpu = Cpu::new().threads(threads);
        let (mut times, before) = (Vec::new(), cpu_seconds()?);
        let begin = Instant::now();
        for turn in 0..args.count {
            let due = begin + period * turn as u32;
            thread::sleep(due.saturating_duration_since(Instant::now()));
            let start = Instant::now();
            job.on(&cpu).sample(&clouds[turn % clouds.len()])?;
            times.push(start.elapsed().as_secs_f64());
        }
        let spent = (cpu_seconds()? - before) / args.count as f64;
        times.sort_by(f64::total_cmp);
        let part = |share: f64| times[((times.len() - 1) as f64 * share) as usize];
        let mean = times.iter().sum::<f64>() / times.len() as f64;
        let milliseconds = |seconds: f64| format!("{} ms", number(1e3 * seconds));
        let numbers = [part(0.5), part(0.99), part(1.0), mean, spent].map(milliseconds);
        rows.push([vec![threads.to_string()], numbers.to_vec()].concat());
    }
    let Turns { count, hertz, samples, busy, .. } = args;
    let title = format!(
        "{count} turns at {hertz} Hz, {samples} samples each, {busy} busy processes; {}",
        Machine::current()
    );
    output::print(&format!("{title}\n{}", table(&rows)))
}

/// Returns the finite points of a file, in single precision.
fn read(path: &Path) -> Result<Vec<[f32; 3]>> {
    let cloud = farpoint_io::read(path, &ReadOptions::default())?;
    let mut points = match Points::of(&cloud) {
        Points::F32(points) => points.into_owned(),
        Points::F64(points) => points.iter().map(|row| row.map(|x| x as f32)).collect(),
    };
    points.retain(|row| row.iter().all(|x| x.is_finite()));
    Ok(points)
}

/// Returns the CPU time of this process so far, in seconds.
fn cpu_seconds() -> Result<f64> {
    let text = fs::read_to_string("/proc/self/stat").context("CPU times are measured on Linux")?;
    // The name may hold spaces; the times are the 14th and 15th fields, in hundredths.
    let fields: Vec<_> = text.rsplit(')').next().unwrap_or_default().split_whitespace().collect();
    let ticks = |at: usize| {
        fields.get(at).and_then(|field| field.parse::<f64>().ok()).context("/proc/self/stat")
    };
    Ok((ticks(11)? + ticks(12)?) / 100.0)
}
