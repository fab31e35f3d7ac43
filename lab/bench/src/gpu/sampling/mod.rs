//! Times of sampling: the rows of the table by every algorithm, and the fusions of radius.

mod rig;
mod rows;
mod sweep;
mod write;

pub(super) use sweep::Sweep;

use super::Common;
use super::words::milliseconds;
use crate::machine::Machine;
use crate::timing::{Record, Subject, measure_alone};
use anyhow::{Result, bail};
use farpoint::{Algorithm, DeviceKind, Sampler, Statistics};
use farpoint_cuda::{Gpu, Stream};
use rig::{Rig, Way};
use rows::{Input, MILLION, ROWS, Row, TEN_MILLION, TURN};

#[derive(Debug, clap::Args)]
pub(crate) struct Bench {
    #[command(flatten)]
    common: Common,
    /// Only these algorithms; may be repeated.
    #[arg(long, value_name = "NAME")]
    algorithm: Vec<Algorithm>,
}

/// A time, or the reason why there is none.
struct Cell {
    algorithm: &'static str,
    variant: &'static str,
    result: Result<Record, String>,
    /// Set if the algorithm does not support this shape, which is not a failure.
    unsupported: bool,
}

impl Cell {
    fn failed(&self) -> bool {
        self.result.is_err() && !self.unsupported
    }

    fn name(&self) -> String {
        match self.variant {
            "" => self.algorithm.to_owned(),
            variant => format!("{}, {variant}", self.algorithm),
        }
    }
}

/// Measurements of a row.
struct Measured {
    row: Row,
    cpu_seconds: f64,
    cells: Vec<Cell>,
    /// Radius with fewer of its kernels fused.
    fusions: Vec<Cell>,
    /// Counters of `peak`, and the seconds of that run.
    counters: Option<Statistics>,
}

impl Measured {
    fn record(&self, algorithm: &str) -> Option<&Record> {
        let cell = self.cells.iter().find(|cell| cell.algorithm == algorithm)?;
        cell.result.as_ref().ok()
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
        let command = "farpoint-lab gpu bench";
        let text = write::markdown(&all, &machine, command);
        self.common.output.write(&text, || write::json(&all, &machine, command))?;
        let mut cells = all.iter().flat_map(|row| row.cells.iter().chain(&row.fusions));
        Ok(!cells.any(Cell::failed))
    }

    fn wants(&self, algorithm: Algorithm) -> bool {
        self.algorithm.is_empty() || self.algorithm.contains(&algorithm)
    }

    fn measure(&self, gpu: &Gpu, row: &Row, input: &Input) -> Result<Measured> {
        println!("{} (CPU: {:.0} ms for all sets)", row.name, input.cpu_seconds * 1e3);
        let rig = Rig::new(gpu, row.shape(), &input.sets, row.samples)?;
        let measure = |way| self.cell(&rig, row, input, way);
        // Auto last, in the order of the table.
        let mut algorithms: Vec<_> = Algorithm::of(DeviceKind::Gpu).collect();
        algorithms.rotate_left(1);
        algorithms.retain(|algorithm| self.wants(*algorithm));
        let cells =
            algorithms.into_iter().map(|algorithm| measure(Way::plain(algorithm))).collect();
        let fusions = match [MILLION, TURN].contains(&row.name) && self.wants(Algorithm::radius()) {
            true => Way::less_fused().map(measure).into(),
            false => Vec::new(),
        };
        let counters = match self.wants(Algorithm::peak()) {
            true => counters(gpu, row, input),
            false => None,
        };
        let cpu_seconds = input.cpu_seconds / input.sets.len() as f64;
        Ok(Measured { row: *row, cpu_seconds, cells, fusions, counters })
    }

    fn cell(&self, rig: &Rig<'_>, row: &Row, input: &Input, way: Way) -> Cell {
        let check =
            |set: usize, samples: usize, indices: &[i64]| input.check(set, samples, indices);
        let subject = Subject { name: row.name, points: row.clouds * row.points };
        let record = rig.contender(way, row.samples, &check).and_then(|contender| {
            measure_alone(subject, &contender.linear(is_linear(way, row)), self.common.effort())
        });
        let unsupported = record.as_ref().is_err_and(|error| {
            matches!(error.downcast_ref(), Some(farpoint_cuda::Error::Unsupported(_)))
        });
        let result = record.map_err(|error| format!("{error:#}"));
        let (algorithm, variant) = (way.algorithm.name(), way.variant);
        let cell = Cell { algorithm, variant, result, unsupported };
        print(&cell);
        cell
    }
}

/// Returns whether the time is computed from fewer samples: a run of these algorithms is a multiple of
/// its samples. The others are run in full, radius too unless the cloud is huge.
fn is_linear(way: Way, row: &Row) -> bool {
    match way.algorithm {
        Algorithm::Naive | Algorithm::Persistent => true,
        Algorithm::Radius(_) => row.name == TEN_MILLION,
        _ => false,
    }
}

fn print(cell: &Cell) {
    let name = cell.name();
    match &cell.result {
        Ok(record) => {
            let [_, fastest, slowest] = record.seconds.map(milliseconds);
            let samples = match record.computed() {
                true => format!(", {} samples", record.measured),
                false => String::new(),
            };
            println!(
                "  {name:<28} {:>12}  ({} runs, {fastest} to {slowest}{samples})",
                write::time(record),
                record.runs,
            );
        }
        Err(error) if cell.unsupported => println!("  {name:<28} - {error}"),
        Err(error) => println!("  {name:<28} FAIL {error}"),
    }
}

/// Returns the counters of `peak` on the first set.
fn counters(gpu: &Gpu, row: &Row, input: &Input) -> Option<Statistics> {
    // Synchronizes with all work of an earlier algorithm.
    Stream::new(gpu).ok()?.synchronize().ok()?;
    let sampler = Sampler::count(row.samples).algorithm(Algorithm::peak()).statistics(true);
    let samples = sampler.on(gpu).sample_padded(&input.sets[0], row.shape(), None);
    samples.ok()?.into_iter().next()?.statistics
}
