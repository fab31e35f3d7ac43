//! Tests of farpoint on a GPU: one program that needs only the NVIDIA driver.
//!
//! `cargo xtask test-gpu` builds and runs it. Every comparison is with the CPU library, index
//! by index and bit for bit.

mod awkward;
mod baselines;
mod batches;
mod calls;
mod clouds;
mod concurrent;
mod edges;
mod equality;
mod errors;
mod graphs;
mod guarded;
mod large;
mod machine;
mod memory;
mod multi_gpu;
mod neighbors;
mod pointers;
mod progress;
mod real;
mod report;
mod resident;
mod runner;
mod search;
mod share;
mod small;
mod spilled;
mod streams;
mod tally;
mod timeouts;
mod truth;
mod values;
mod variants;
mod voxels;

use anyhow::Result;
use clap::{Args, Parser, Subcommand};
use farpoint_cuda::Gpu;
use libtest_mimic::Arguments;
use report::Report;
use runner::{Group, Options};
use std::path::PathBuf;
use std::process::ExitCode;
use std::time::Duration;

/// Compares farpoint's results on a GPU with the CPU's.
#[derive(Parser)]
#[command(version, max_term_width = 100)]
struct Cli {
    #[command(subcommand)]
    command: Command,
}

#[derive(Subcommand)]
enum Command {
    /// Compare everything with the CPU; exits with status 1 if something differs
    Test(Test),
    /// A few seconds of everything
    Small {
        /// Only checks in which no block waits for another
        #[arg(long)]
        alone: bool,
        #[command(flatten)]
        checks: Checks,
    },
    /// The same under each tool of compute-sanitizer, if that is on PATH
    Sanitize {
        /// Only this tool: memcheck, racecheck or synccheck
        #[arg(long)]
        tool: Vec<String>,
        /// Only checks whose name contains this text
        #[arg(long)]
        only: Vec<String>,
        /// Write a record in Markdown
        #[arg(long, value_name = "FILE")]
        report: Option<PathBuf>,
    },
    /// A large cloud, timed, with prefixes of the selection checked to be greedy
    Large(large::Large),
    /// Clouds with outliers, of all exponents and the like, timed beside a room
    Edges(edges::Edges),
    /// A large cloud on one GPU, on several, and partly in host memory, timed in turn and compared
    Share(share::Share),
    /// Concurrent calls, as one of the processes that a test starts
    #[command(hide = true)]
    Concurrent,
    /// The GPUs of this machine; status 1 if there is none
    Devices,
}

#[derive(Args)]
struct Test {
    /// Real clouds too: every file in this folder that farpoint reads
    #[arg(long, value_name = "DIR")]
    data: Option<PathBuf>,
    /// Without the large clouds
    #[arg(long)]
    quick: bool,
    /// Compute the CPU's results and run nothing on a GPU
    #[arg(long)]
    references: bool,
    #[command(flatten)]
    checks: Checks,
}

#[derive(Args)]
struct Checks {
    /// Only checks whose name contains this text, such as "peak" or "batch"; may be repeated
    #[arg(long, value_name = "TEXT")]
    only: Vec<String>,
    /// Write a record in Markdown
    #[arg(long, value_name = "FILE")]
    report: Option<PathBuf>,
    /// Time limit of a check in seconds; a check that exceeds it ends the run
    #[arg(long, default_value_t = 120)]
    limit: u64,
    /// Seconds that a kernel may wait without progress before it gives up
    #[arg(long, value_name = "SECONDS")]
    patience: Option<u64>,
    /// Use the GPU as a card of this compute capability (75 for 7.5)
    #[arg(long, value_name = "NUMBER")]
    capability: Option<u32>,
    #[command(flatten)]
    libtest: Arguments,
}

fn main() -> ExitCode {
    let result = match Cli::parse().command {
        Command::Test(test) => tests(test),
        Command::Small { alone: true, checks } => {
            run(small::alone(), checks, "small --alone", false)
        }
        Command::Small { alone: false, checks } => run(small::groups(), checks, "small", false),
        Command::Sanitize { tool, only, report } => {
            small::sanitize(&tool, &only, report.as_deref())
        }
        Command::Large(large) => large.run(),
        Command::Edges(edges) => edges.run(),
        Command::Share(share) => share.run(),
        Command::Concurrent => concurrent::run_as_process(),
        Command::Devices => devices(),
    };
    match result {
        Ok(true) => ExitCode::SUCCESS,
        Ok(false) => ExitCode::FAILURE,
        Err(error) => {
            eprintln!("farpoint-cuda-tests: {error:#}");
            ExitCode::FAILURE
        }
    }
}

fn devices() -> Result<bool> {
    let all = farpoint_cuda::Properties::all()?;
    all.iter().enumerate().for_each(|(ordinal, card)| println!("{ordinal}: {card}"));
    Ok(!all.is_empty())
}

/// All checks but those of real clouds.
fn groups(quick: bool) -> Vec<Group> {
    let mut groups = errors::groups();
    groups.extend(equality::groups(quick));
    groups.extend(awkward::groups(quick));
    groups.extend(batches::groups(quick));
    groups.extend(multi_gpu::groups(quick));
    groups.extend(spilled::groups(quick));
    groups.extend(pointers::groups());
    groups.extend(graphs::groups());
    groups.extend(baselines::groups(quick));
    groups.extend(streams::groups());
    groups.extend(progress::groups());
    groups.extend(memory::groups());
    groups.extend(timeouts::groups());
    groups.extend(concurrent::groups());
    groups.extend(neighbors::groups(quick));
    groups.extend(search::groups(quick));
    groups.extend(values::groups(quick));
    groups.extend(voxels::groups(quick));
    groups.extend(OLDER.into_iter().flat_map(older));
    if !quick {
        groups.push(equality::ten_million());
    }
    groups
}

/// Compute capabilities whose kernels differ from those of the newest cards.
const OLDER: [u32; 2] = [75, 80];

/// Tests of an older card's kernels: everything in small, and clouds that take several blocks each.
fn older(capability: u32) -> Vec<Group> {
    let mut groups = small::groups();
    groups.extend(equality::several_blocks());
    groups.extend(batches::several_blocks());
    groups.extend(neighbors::several_blocks());
    groups.extend(timeouts::groups());
    groups.into_iter().map(|group| group.on_card(capability)).collect()
}

fn tests(test: Test) -> Result<bool> {
    let Test { data, quick, references, checks } = test;
    let mut groups = groups(quick);
    if let Some(folder) = &data {
        groups.extend(real::groups(folder)?);
        groups.extend(neighbors::real(folder)?);
    }
    run(groups, checks, if quick { "test --quick" } else { "test" }, references)
}

fn run(groups: Vec<Group>, checks: Checks, command: &str, references: bool) -> Result<bool> {
    let only: String = checks.only.iter().map(|text| format!(" --only '{text}'")).collect();
    let report = Report::new(format!("farpoint-cuda-tests {command}{only}"));
    println!("{}", report.machine);
    if let Some(seconds) = checks.patience {
        let patience = Duration::from_secs(seconds);
        Gpu::new(0)?.set_patience(patience);
        if let Some(capability) = checks.capability {
            Gpu::with_capability(0, capability)?.set_patience(patience);
        }
    }
    let groups = match checks.capability {
        Some(capability) => groups.into_iter().map(|group| group.on_card(capability)).collect(),
        None => groups,
    };
    let Checks { only, limit, libtest, report: record, .. } = checks;
    runner::run(groups, Options { libtest, only, limit, references }, report, move |report| {
        println!("{}", report.summary());
        if let Some(path) = &record {
            match report.write(path) {
                Ok(()) => println!("written: {}", path.display()),
                Err(error) => println!("{error:#}"),
            }
        }
    })
}
