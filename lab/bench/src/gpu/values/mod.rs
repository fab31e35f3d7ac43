//! Times of the operators on values and of their gradients, at sizes typical of networks.

mod rig;
mod write;

use super::Common;
use super::words::milliseconds;
use crate::machine::Machine;
use crate::timing::{Contender, Once, Record, Subject, Turn, measure_alone};
use anyhow::{Result, bail};
use farpoint_cuda::Gpu;
use rig::{ROWS, Rig, Row, Work};

#[derive(Debug, clap::Args)]
pub(crate) struct Bench {
    #[command(flatten)]
    common: Common,
}

/// A time, or the reason why there is none.
struct Cell {
    work: Work,
    target: Option<f64>,
    result: Result<Record, String>,
}

/// Measurements of a row.
struct Measured {
    row: &'static Row,
    cells: Vec<Cell>,
}

impl Bench {
    pub(crate) fn run(&self) -> Result<bool> {
        let gpu = Gpu::new(0)?;
        let machine = Machine::with_gpus();
        println!("{machine}\n");
        let selected = ROWS.iter().filter(|row| self.common.wants(row.name));
        let all = selected.map(|row| self.measure(&gpu, row)).collect::<Result<Vec<_>>>()?;
        if all.is_empty() {
            bail!("no row was measured");
        }
        let command = "farpoint-lab gpu bench-values";
        let text = write::markdown(&all, &machine, command);
        self.common.output.write(&text, || write::json(&all, &machine, command))?;
        Ok(all.iter().flat_map(|row| &row.cells).all(|cell| cell.result.is_ok()))
    }

    fn measure(&self, gpu: &Gpu, row: &'static Row) -> Result<Measured> {
        println!("{}", row.name);
        let rig = Rig::new(gpu, row)?;
        let subject = Subject { name: row.name, points: row.shape.rows };
        let mut cells = Vec::new();
        for &(work, target) in row.works {
            let once = |turn: Turn| {
                let seconds = rig.once(work)?;
                if turn.checked {
                    rig.check(work)?;
                }
                let bytes = Some(rig.bytes(work));
                Ok(Once { indices: Vec::new(), seconds, algorithm: work.name(), bytes })
            };
            let contender = Contender::new(work.name(), 0, once);
            let record = measure_alone(subject, &contender, self.common.effort());
            let result = record.map_err(|error| format!("{error:#}"));
            let cell = Cell { work, target, result };
            print(&cell);
            cells.push(cell);
        }
        Ok(Measured { row, cells })
    }
}

fn print(cell: &Cell) {
    let name = cell.work.name();
    match &cell.result {
        Ok(record) => {
            let [median, fastest, slowest] = record.seconds.map(milliseconds);
            println!("  {name:<34} {median:>12}  ({} runs, {fastest} to {slowest})", record.runs);
        }
        Err(error) => println!("  {name:<34} FAIL {error}"),
    }
}
