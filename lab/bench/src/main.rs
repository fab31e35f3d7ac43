//! farpoint's laboratory: the figures of the RadiusFPS paper, benchmarks on the CPU and on a GPU,
//! and their records. `cargo xtask lab` builds and runs it.
//!
//! One binary without dependencies; on a GPU machine the NVIDIA driver alone.

mod args;
mod bench;
mod gpu;
mod machine;
mod paper;
mod plot;
mod timing;
mod turns;

use anyhow::Result;
use args::{Args, Command};
use clap::Parser;
use std::process::ExitCode;

/// Counts allocations, for the memory of a job.
#[global_allocator]
static MEMORY: timing::Counted = timing::Counted;

/// Exit status of bad input, as of bad usage.
const BAD_INPUT: u8 = 2;

fn main() -> ExitCode {
    let args = Args::parse();
    farpoint_cli::interrupt::install();
    match run(&args.command) {
        Ok(true) => ExitCode::SUCCESS,
        Ok(false) => ExitCode::FAILURE,
        Err(error) => {
            eprintln!("farpoint-lab: error: {error:#}");
            ExitCode::from(BAD_INPUT)
        }
    }
}

/// Runs a command; returns whether everything succeeded.
fn run(command: &Command) -> Result<bool> {
    match command {
        Command::Bench(args) => bench::run(args).map(|()| true),
        Command::Paper(args) => paper::run(args).map(|()| true),
        Command::Turns(args) => turns::run(args).map(|()| true),
        Command::Gpu(command) => gpu::run(command),
    }
}
