//! Times of nearest points in both directions, and of their gradients.

mod rig;
mod rows;
mod write;

use super::Common;
use super::words::milliseconds;
use crate::machine::Machine;
use crate::timing::{Record, Subject, measure_alone};
use anyhow::{Result, bail};
use farpoint::Method;
use farpoint_cuda::Gpu;
use rig::{Rig, Work};
use rows::{Input, ROWS, Row};

#[derive(Debug, clap::Args)]
pub(crate) struct Bench {
    #[command(flatten)]
    common: Common,
    /// Only these methods; may be repeated.
    #[arg(long, value_name = "NAME")]
    method: Vec<Method>,
}

/// Methods, in the order of the table.
const METHODS: [Method; 4] = [Method::Plain, Method::Brute, Method::Tree, Method::Auto];

/// A time, or the reason why there is none.
struct Cell {
    /// A method, or "backward".
    name: &'static str,
    result: Result<Record, String>,
}

/// Measurements of a row.
struct Measured {
    row: Row,
    cpu_seconds: f64,
    cells: Vec<Cell>,
}

impl Measured {
    fn record(&self, name: &str) -> Option<&Record> {
        self.cells.iter().find(|cell| cell.name == name)?.result.as_ref().ok()
    }
}

impl Bench {
    pub(crate) fn run(&self) -> Result<bool> {
        let gpu = Gpu::new(0)?;
        let machine = Machine::with_gpus();
        println!("{machine}\n");
        let mut all = Vec::new();
        for row in ROWS.iter().filter(|row| self.common.wants(row.name)) {
            match row.input(self.common.data.as_deref())? {
                Some(input) => all.push(self.measure(&gpu, row, &input)?),
                None => println!("{}: no such file, see --data", row.name),
            }
        }
        if all.is_empty() {
            bail!("no row was measured");
        }
        let command = "farpoint-lab gpu bench-chamfer";
        let card = write::Card::of(gpu.properties());
        let text = write::markdown(&all, card, &machine, command);
        self.common.output.write(&text, || write::json(&all, card, &machine, command))?;
        Ok(all.iter().flat_map(|row| &row.cells).all(|cell| cell.result.is_ok()))
    }

    fn measure(&self, gpu: &Gpu, row: &Row, input: &Input) -> Result<Measured> {
        println!("{} (CPU: {:.1} ms for a set)", row.name, input.cpu_seconds * 1e3);
        let is_selected = |method: &Method| self.method.is_empty() || self.method.contains(method);
        let searches = METHODS.into_iter().filter(is_selected).map(Work::Search);
        let rig = Rig::new(gpu, row, input)?;
        let points = row.pairs * (row.rows[0] + row.rows[1]);
        let subject = Subject { name: row.name, points };
        let mut cells = Vec::new();
        for work in searches.chain([Work::Backward]) {
            let record = rig
                .contender(work)
                .and_then(|contender| measure_alone(subject, &contender, self.common.effort()));
            let result = record.map_err(|error| format!("{error:#}"));
            let cell = Cell { name: work.name(), result };
            print(&cell);
            cells.push(cell);
        }
        Ok(Measured { row: *row, cpu_seconds: input.cpu_seconds, cells })
    }
}

fn print(Cell { name, result }: &Cell) {
    match result {
        Ok(record) => {
            let [median, fastest, slowest] = record.seconds.map(milliseconds);
            println!("  {name:<10} {median:>12}  ({} runs, {fastest} to {slowest})", record.runs);
        }
        Err(error) => println!("  {name:<10} FAIL {error}"),
    }
}
