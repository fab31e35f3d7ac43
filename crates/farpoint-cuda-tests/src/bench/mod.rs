//! Times: the table of the targets, and a grid of shapes for the rules of `auto`.

mod chamfer;
mod rig;
mod rows;
mod sweep;
mod table;
mod write;

use crate::machine::Machine;
use crate::report::write_file;
use crate::variants::ALL;
use anyhow::{Result, bail};
use farpoint_cuda::Device;
use serde_json::{Value, json};
use std::path::PathBuf;

pub(crate) use chamfer::BenchChamfer;
pub(crate) use write::{milliseconds, reached};

/// What every benchmark is told.
#[derive(clap::Args)]
struct Common {
    /// The folder of real clouds, for the rows of KITTI
    #[arg(long, value_name = "DIR")]
    data: Option<PathBuf>,
    /// Write the figures as JSON
    #[arg(long, value_name = "FILE")]
    json: Option<PathBuf>,
    /// Write the tables as Markdown
    #[arg(long, value_name = "FILE")]
    markdown: Option<PathBuf>,
    /// Only rows whose name holds this text, such as "KITTI" or "objects"; may be repeated
    #[arg(long, value_name = "TEXT")]
    only: Vec<String>,
    /// Runs of which the median is taken
    #[arg(long, default_value_t = 11)]
    repeats: usize,
}

impl Common {
    /// Whether a row of this name is wanted.
    fn wants(&self, row: &str) -> bool {
        self.only.is_empty() || self.only.iter().any(|text| row.contains(text))
    }

    /// Writes the records that were asked for.
    fn write(&self, markdown: &str, json: impl FnOnce() -> Value) -> Result<()> {
        if let Some(path) = &self.markdown {
            write_file(path, markdown)?;
        }
        if let Some(path) = &self.json {
            write_file(path, &format!("{:#}\n", json()))?;
        }
        Ok(())
    }
}

#[derive(clap::Args)]
pub(crate) struct Bench {
    #[command(flatten)]
    common: Common,
    /// Only these algorithms; may be repeated
    #[arg(long, value_name = "NAME")]
    algorithm: Vec<String>,
    /// Instead of the table a grid of shapes, for the rules of `auto`
    #[arg(long, value_name = "auto", value_parser = ["auto"])]
    sweep: Option<String>,
    /// Seconds after which the grid ends
    #[arg(long, default_value_t = 90.0)]
    seconds: f64,
}

impl Bench {
    pub(crate) fn run(&self) -> Result<bool> {
        let device = Device::new(0)?;
        let machine = Machine::here();
        println!("{machine}\n");
        if self.sweep.is_some() {
            let (grid, agree) = sweep::run(&device, self.seconds)?;
            if let Some(path) = &self.common.json {
                let value = json!({ "machine": machine.json(), "grid": grid });
                write_file(path, &format!("{value:#}\n"))?;
            }
            return Ok(agree);
        }
        let parts = self.parts()?;
        let all = table::measure(&device, &self.common, &parts)?;
        let command = "farpoint-cuda-tests bench";
        let text = write::markdown(&all, &machine, command);
        println!("\n{text}");
        self.common.write(&text, || write::json(&all, &machine, command))?;
        let mut cells = all.iter().flat_map(|row| row.cells.iter().chain(&row.fusions));
        Ok(!all.is_empty() && !cells.any(table::Cell::failed))
    }

    /// The algorithms to measure.
    fn parts(&self) -> Result<Vec<&'static str>> {
        if let Some(name) = self.algorithm.iter().find(|name| !ALL.contains(&name.as_str())) {
            bail!("there is no algorithm '{name}'; there are {}", ALL.join(", "));
        }
        let wanted =
            |part: &&str| self.algorithm.is_empty() || self.algorithm.iter().any(|a| a == part);
        Ok(ALL.iter().copied().filter(wanted).collect())
    }
}
