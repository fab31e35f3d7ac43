//! Times on a GPU: sampling and nearest points on input in device memory, the first call of a process,
//! and a grid of shapes for the rules of `auto`. Results are compared with the CPU's.

mod first_call;
mod matching;
mod sampling;
mod searching;
mod values;
mod voxels;
mod words;

use crate::timing::Effort;
use anyhow::{Context, Result};
use serde_json::Value;
use std::path::{Path, PathBuf};

/// Measurements on a GPU.
#[derive(Debug, clap::Subcommand)]
pub(crate) enum Command {
    /// Measure sampling: the clouds that farpoint's targets are set for.
    Bench(sampling::Bench),
    /// Measure nearest points, Chamfer distance and gradients.
    BenchChamfer(matching::Bench),
    /// Measure searches for several neighbors, and their gradients.
    BenchSearch(searching::Bench),
    /// Measure operators on values: gather, gather_max, interpolate, and their gradients.
    BenchValues(values::Bench),
    /// Measure voxel downsampling.
    BenchVoxels(voxels::Bench),
    /// Measure a grid of shapes, for the rules of `auto`.
    Sweep(sampling::Sweep),
    /// Measure the first call of a fresh process, with machine code and with PTX.
    FirstCall(first_call::FirstCall),
}

/// Runs a command; returns whether all was measured and every result was right.
pub(crate) fn run(command: &Command) -> Result<bool> {
    match command {
        Command::Bench(bench) => bench.run(),
        Command::BenchChamfer(bench) => bench.run(),
        Command::BenchSearch(bench) => bench.run(),
        Command::BenchValues(bench) => bench.run(),
        Command::BenchVoxels(bench) => bench.run(),
        Command::Sweep(sweep) => sweep.run(),
        Command::FirstCall(first) => first.run(),
    }
}

/// Output files of a record.
#[derive(Debug, clap::Args)]
struct Output {
    /// Write the figures as JSON.
    #[arg(long, value_name = "FILE")]
    json: Option<PathBuf>,
    /// Write the tables as Markdown.
    #[arg(long, value_name = "FILE")]
    markdown: Option<PathBuf>,
}

impl Output {
    /// Prints the tables, and writes the requested files.
    fn write(&self, markdown: &str, json: impl FnOnce() -> Value) -> Result<()> {
        println!("\n{markdown}");
        if let Some(path) = &self.markdown {
            write_file(path, markdown)?;
        }
        if let Some(path) = &self.json {
            write_file(path, &format!("{:#}\n", json()))?;
        }
        Ok(())
    }
}

/// Writes a file, and creates its folder.
fn write_file(path: &Path, text: &str) -> Result<()> {
    let about = || format!("can't write {}", path.display());
    if let Some(folder) = path.parent() {
        std::fs::create_dir_all(folder).with_context(about)?;
    }
    std::fs::write(path, text).with_context(about)
}

/// Options of both benchmarks.
#[derive(Debug, clap::Args)]
struct Common {
    /// The folder of real clouds, for the rows of KITTI.
    #[arg(long, value_name = "DIR")]
    data: Option<PathBuf>,
    /// Only rows whose name holds this text, such as "KITTI" or "objects"; may be repeated.
    #[arg(long, value_name = "TEXT")]
    only: Vec<String>,
    /// Runs of which the median is taken.
    #[arg(long, value_name = "N", default_value_t = 11, value_parser = clap::value_parser!(u16).range(1..))]
    repeats: u16,
    #[command(flatten)]
    output: Output,
}

impl Common {
    /// Returns whether a row of this name is selected.
    fn wants(&self, row: &str) -> bool {
        self.only.is_empty() || self.only.iter().any(|text| row.contains(text))
    }

    /// A second and a half for a row's algorithm: three runs of those that take half a second.
    fn effort(&self) -> Effort {
        Effort { warm: 3, runs: usize::from(self.repeats), budget: 1.5 }
    }
}
