//! First call of a fresh process: its latency, with machine code and with PTX.
//!
//! Each measurement is a process of its own, started with the driver's cache of compiled PTX disabled,
//! as in a fresh container.

use super::Output;
use super::words::{milliseconds, reached};
use crate::machine::Machine;
use anyhow::{Context, Result, bail, ensure};
use farpoint::{Chamfer, Matcher, Sample, Sampler};
use farpoint_cuda::{Gpu, Loaded, Properties};
use farpoint_generate::{Kind, generate};
use serde_json::{Value, json};
use std::fmt::Write;
use std::io::Read;
use std::process::{Child, Command, Stdio};
use std::thread::sleep;
use std::time::{Duration, Instant};

/// Target of a first call with machine code, in seconds.
const TARGET: f64 = 0.3;

/// Time after which a process counts as hanging.
const LIMIT: Duration = Duration::from_secs(120);

/// Number of processes of which the median is taken; one if the driver compiles for seconds.
const PROCESSES: usize = 5;

type Cloud = Vec<[f32; 3]>;
/// Indices, and bits of distances.
type Answer = Vec<u64>;

#[derive(Debug, clap::Args)]
pub(crate) struct FirstCall {
    #[command(flatten)]
    output: Output,
    /// Measure this case in this process, and print it
    #[arg(long, hide = true, value_name = "NUMBER", requires = "way")]
    case: Option<usize>,
    /// Way in which kernels are loaded there
    #[arg(long, hide = true, value_enum)]
    way: Option<Way>,
}

/// Ways to load kernels on the card.
#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
enum Way {
    MachineCode,
    WarmUp,
    Ptx,
}

impl Way {
    const ALL: [Self; 3] = [Self::MachineCode, Self::WarmUp, Self::Ptx];

    /// Returns its name as an argument.
    fn word(self) -> &'static str {
        match self {
            Self::MachineCode => "machine-code",
            Self::WarmUp => "warm-up",
            Self::Ptx => "ptx",
        }
    }

    fn name(self) -> &'static str {
        match self {
            Self::MachineCode => "machine code",
            Self::WarmUp => "after warm_up",
            Self::Ptx => "PTX",
        }
    }

    fn processes(self) -> usize {
        if self == Self::Ptx { 1 } else { PROCESSES }
    }
}

/// A call with kernels of its own.
struct Case {
    name: &'static str,
    clouds: fn() -> [Vec<Cloud>; 2],
    gpu: fn(&Gpu, &[Vec<Cloud>; 2]) -> Result<Answer>,
    cpu: fn(&[Vec<Cloud>; 2]) -> Result<Answer>,
}

const CASES: [Case; 4] = [
    Case {
        name: "10,000 of a room of 100,000",
        clouds: || rooms(100_000),
        gpu: |gpu, [a, _]| Ok(sampled(&[Sampler::count(10_000).on(gpu).sample(&a[0])?])),
        cpu: |[a, _]| Ok(sampled(&[Sampler::count(10_000).sample(&a[0])?])),
    },
    Case {
        name: "512 of 32 objects of 2,048",
        clouds: objects,
        gpu: |gpu, [a, _]| Ok(sampled(&Sampler::count(512).on(gpu).sample_batch(a)?)),
        cpu: |[a, _]| Ok(sampled(&Sampler::count(512).sample_batch(a)?)),
    },
    Case {
        name: "Chamfer of two rooms of 100,000",
        clouds: || rooms(100_000),
        gpu: |gpu, [a, b]| Ok(matched(&[Matcher::new().on(gpu).chamfer(&a[0], &b[0])?])),
        cpu: |[a, b]| Ok(matched(&[Matcher::new().chamfer(&a[0], &b[0])?])),
    },
    Case {
        name: "Chamfer of 32 objects of 2,048",
        clouds: objects,
        gpu: |gpu, [a, b]| Ok(matched(&Matcher::new().on(gpu).chamfer_batch(a, b)?)),
        cpu: |[a, b]| Ok(matched(&Matcher::new().chamfer_batch(a, b)?)),
    },
];

fn rooms(n: usize) -> [Vec<Cloud>; 2] {
    [1, 2].map(|seed| vec![generate(Kind::Room, n, seed)])
}

fn objects() -> [Vec<Cloud>; 2] {
    [0, 32].map(|from| (from..from + 32).map(|seed| generate(Kind::Object, 2048, seed)).collect())
}

fn sampled(samples: &[Sample<f32>]) -> Answer {
    let answers = samples.iter().flat_map(|sample| {
        let bits = sample.squared_distances.iter().map(|distance| u64::from(distance.to_bits()));
        sample.indices.iter().map(|&index| index as u64).chain(bits)
    });
    answers.collect()
}

fn matched(all: &[Chamfer<f32>]) -> Answer {
    let sides = all.iter().flat_map(|chamfer| [&chamfer.a_to_b, &chamfer.b_to_a]);
    sides
        .flat_map(|side| {
            let bits = side.raw_distances.iter().map(|distance| u64::from(distance.to_bits()));
            side.indices.iter().map(|&index| u64::from(index)).chain(bits)
        })
        .collect()
}

impl FirstCall {
    pub(crate) fn run(&self) -> Result<bool> {
        if let (Some(case), Some(way)) = (self.case, self.way) {
            let case = CASES.get(case).context("there is no such case")?;
            println!("{}", measure(case, way)?);
            return Ok(true);
        }
        ensure!(!Properties::all()?.is_empty(), "there is no GPU");
        let machine = Machine::with_gpus();
        println!("{machine}\n");
        let (mut rows, mut failures) = (Vec::new(), Vec::new());
        for (number, case) in CASES.iter().enumerate() {
            for way in Way::ALL {
                match in_processes(number, way) {
                    Ok(row) => rows.push(row),
                    Err(error) => {
                        failures.push(format!("{}, {}: {error:#}", case.name, way.name()))
                    }
                }
            }
        }
        let text = markdown(&rows, &failures, &machine);
        let json = || json!({ "machine": machine.json(), "first_calls": rows });
        self.output.write(&text, json)?;
        Ok(failures.is_empty())
    }
}

/// Measures one case in this process, which has not used the GPU yet. Times in seconds.
fn measure(case: &Case, way: Way) -> Result<Value> {
    let clouds = (case.clouds)();
    let expected = (case.cpu)(&clouds)?;
    let (gpu, opening) = timed(|| {
        let gpu = match way {
            // The PTX path, as for a card that is newer than the crate.
            Way::Ptx => {
                let capability = Properties::all()?.first().context("there is no GPU")?.capability;
                Gpu::with_capability(0, capability)?
            }
            Way::MachineCode | Way::WarmUp => Gpu::new(0)?,
        };
        // The first use of the device makes the context.
        gpu.memory()?;
        Ok(gpu)
    })?;
    let ((), warming) = timed(|| if way == Way::WarmUp { Ok(gpu.warm_up()?) } else { Ok(()) })?;
    let before = gpu.loaded();
    let (answer, first) = timed(|| (case.gpu)(&gpu, &clouds))?;
    ensure!(answer == expected, "the first call differs from the CPU's result");
    let loaded = gpu.loaded();
    let mut later = Vec::new();
    for _ in 0..9 {
        let (answer, seconds) = timed(|| (case.gpu)(&gpu, &clouds))?;
        ensure!(answer == expected, "a later call differs from the CPU's result");
        later.push(seconds);
    }
    ensure!(gpu.loaded() == loaded, "a later call loaded kernels again");
    let modules = match way {
        Way::Ptx => (0, loaded.ptx),
        _ => (loaded.machine_code, 0),
    };
    ensure!(
        modules == (loaded.machine_code, loaded.ptx) && modules != (0, 0),
        "loaded {} modules as machine code and {} as PTX by way of {}",
        loaded.machine_code,
        loaded.ptx,
        way.name()
    );
    if way == Way::WarmUp {
        // Looking up a function in a loaded module takes time, too, but is not loading.
        let what = |loaded: &Loaded| (loaded.machine_code, loaded.ptx, loaded.unpacking);
        ensure!(
            what(&before) == what(&loaded),
            "the first call loaded kernels that warm_up had not"
        );
    }
    Ok(json!({
        "case": case.name, "way": way.name(), "modules": loaded.machine_code + loaded.ptx,
        "opening": opening, "warm_up": warming, "first": first,
        "unpacking": (loaded.unpacking - before.unpacking).as_secs_f64(),
        "loading": (loaded.loading - before.loading).as_secs_f64(),
        "later": median(later),
    }))
}

fn timed<T>(work: impl FnOnce() -> Result<T>) -> Result<(T, f64)> {
    let begin = Instant::now();
    let result = work()?;
    Ok((result, begin.elapsed().as_secs_f64()))
}

fn median(mut values: Vec<f64>) -> f64 {
    values.sort_by(f64::total_cmp);
    values[values.len() / 2]
}

/// Returns the process with the median first call.
fn in_processes(case: usize, way: Way) -> Result<Value> {
    let all: Result<Vec<_>> = (0..way.processes()).map(|_| in_process(case, way)).collect();
    let mut all = all?;
    all.sort_by(|a, b| number(a, "first").total_cmp(&number(b, "first")));
    Ok(all.swap_remove(all.len() / 2))
}

fn in_process(case: usize, way: Way) -> Result<Value> {
    let mut child = Command::new(std::env::current_exe()?)
        .args(["gpu", "first-call", "--case", &case.to_string(), "--way", way.word()])
        .env("CUDA_CACHE_DISABLE", "1")
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()?;
    let succeeded = wait(&mut child)?;
    let (mut stdout_text, mut stderr_text) = (String::new(), String::new());
    child.stdout.take().context("no output")?.read_to_string(&mut stdout_text)?;
    child.stderr.take().context("no output")?.read_to_string(&mut stderr_text)?;
    ensure!(succeeded, "{}", stderr_text.trim());
    serde_json::from_str(stdout_text.trim())
        .with_context(|| format!("its output was '{}'", stdout_text.trim()))
}

/// Returns whether a process ended successfully; kills it if it hangs. Its output fits the pipe.
fn wait(child: &mut Child) -> Result<bool> {
    let begin = Instant::now();
    loop {
        if let Some(status) = child.try_wait()? {
            return Ok(status.success());
        }
        if begin.elapsed() > LIMIT {
            child.kill()?;
            child.wait()?;
            bail!("it did not end within {} s", LIMIT.as_secs());
        }
        sleep(Duration::from_millis(5));
    }
}

fn number(row: &Value, key: &str) -> f64 {
    row[key].as_f64().unwrap_or(f64::NAN)
}

fn markdown(rows: &[Value], failures: &[String], machine: &Machine) -> String {
    let mut text = format!(
        "# The first call\n\n{machine}\n\n`farpoint-lab gpu first-call`\n\nInput in host \
         memory, f32. Each line is a fresh process (the median of {PROCESSES}; of PTX one), with \
         CUDA_CACHE_DISABLE=1. *Opening* is the driver's: it starts and makes the context. *First \
         call* is all of a call's time, of which kernels were *unpacked* and *loaded* (with PTX: \
         compiled by the driver) first; *later* is the median of nine further calls. Results were \
         compared with the CPU's, bit by bit.\n\n\
         | call | kernels as | modules | opening | warm_up | first call | unpacked | loaded | later |\n\
         |---|---|---:|---:|---:|---:|---:|---:|---:|\n"
    );
    for row in rows {
        let word = |key: &str| row[key].as_str().unwrap_or_default().to_owned();
        let time = |key: &str| milliseconds(number(row, key));
        let warm = if number(row, "warm_up") > 1e-3 { time("warm_up") } else { "-".into() };
        let _ = writeln!(
            text,
            "| {} | {} | {} | {} | {warm} | {} | {} | {} | {} |",
            word("case"),
            word("way"),
            row["modules"],
            time("opening"),
            time("first"),
            time("unpacking"),
            time("loading"),
            time("later")
        );
    }
    text.push_str("\n| figure | found | to reach | reached |\n|---|---:|---:|---|\n");
    let plain = rows.iter().filter(|row| row["way"] == Way::MachineCode.name());
    for row in plain {
        let (name, found) = (row["case"].as_str().unwrap_or_default(), number(row, "first"));
        let reached = reached(found, TARGET);
        let (found, target) = (milliseconds(found), milliseconds(TARGET));
        let _ = writeln!(text, "| {name}, first call | {found} | {target} | {reached} |");
    }
    for failure in failures {
        let _ = writeln!(text, "\n- FAIL: {failure}");
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;
    use clap::ValueEnum;

    #[test]
    fn a_child_understands_what_it_is_told() {
        for way in Way::ALL {
            assert_eq!(Way::from_str(way.word(), false), Ok(way));
        }
    }

    #[test]
    fn a_process_that_hangs_or_fails_is_told_from_one_that_ends() {
        let start = |program: &str| Command::new(program).spawn();
        if let (Ok(mut good), Ok(mut bad)) = (start("true"), start("false")) {
            assert!(wait(&mut good).unwrap());
            assert!(!wait(&mut bad).unwrap());
        } else {
            println!("skipped: waiting for processes (no programs 'true' and 'false')");
        }
    }

    #[test]
    fn the_record_says_what_is_too_slow() {
        let row = |way: Way, first: f64| {
            json!({
                "case": "a call", "way": way.name(), "modules": 2, "opening": 0.1, "warm_up": 0.0,
                "first": first, "unpacking": 0.01, "loading": 0.02, "later": 0.001,
            })
        };
        let rows = [row(Way::MachineCode, 0.6), row(Way::Ptx, 4.0)];
        let text = markdown(&rows, &["it hung".into()], &Machine::current());
        assert!(text.contains("| a call | PTX | 2 | 100 ms | - | 4000 ms | 10.0 ms | 20.0 ms |"));
        assert!(text.contains("| a call, first call | 600 ms | 300 ms | **no**, 2.00 times |"));
        assert!(text.contains("FAIL: it hung"));
        assert_eq!(text.matches("first call |").count(), 2);
    }
}
