//! Times of nearest points in both directions, and of their gradients.

mod rows;
mod write;

use super::Common;
use crate::chamfer::{METHODS, Resident, method};
use crate::machine::Machine;
use anyhow::{Result, bail, ensure};
use farpoint_cuda::{Device, Event, Matcher, Stream};
use rows::{Input, ROWS, Row};

#[derive(clap::Args)]
pub(crate) struct BenchChamfer {
    #[command(flatten)]
    common: Common,
    /// Only these methods; may be repeated
    #[arg(long, value_name = "NAME")]
    method: Vec<String>,
}

/// A time, or why there is none.
struct Cell {
    /// A method, or "backward".
    name: &'static str,
    result: Result<Timing, String>,
}

struct Timing {
    /// Median of the runs, in seconds.
    seconds: f64,
    fastest: f64,
    slowest: f64,
    runs: usize,
    /// Bytes of scratch memory.
    scratch: usize,
}

/// What was measured of a row.
struct Measured {
    row: Row,
    cpu_seconds: f64,
    cells: Vec<Cell>,
}

impl Measured {
    fn timing(&self, name: &str) -> Option<&Timing> {
        self.cells.iter().find(|cell| cell.name == name)?.result.as_ref().ok()
    }
}

impl BenchChamfer {
    pub(crate) fn run(&self) -> Result<bool> {
        if let Some(name) = self.method.iter().find(|name| !METHODS.contains(&name.as_str())) {
            bail!("there is no method '{name}'; there are {}", METHODS.join(", "));
        }
        let device = Device::new(0)?;
        let machine = Machine::here();
        println!("{machine}\n");
        let mut all = Vec::new();
        for row in ROWS.iter().filter(|row| self.common.wants(row.name)) {
            match row.input(self.common.data.as_deref())? {
                Some(input) => all.push(self.measure(&device, row, &input)?),
                None => println!("{}: no such file, see --data", row.name),
            }
        }
        let command = "farpoint-cuda-tests bench-chamfer";
        let card = write::Card::of(device.properties());
        let text = write::markdown(&all, card, &machine, command);
        println!("\n{text}");
        let json = || write::json(&all, card, &machine, command);
        self.common.write(&text, json)?;
        Ok(!all.is_empty() && all.iter().flat_map(|row| &row.cells).all(|cell| cell.result.is_ok()))
    }

    fn measure(&self, device: &Device, row: &Row, input: &Input) -> Result<Measured> {
        println!("{} (CPU: {:.1} ms for a set)", row.name, input.cpu_seconds * 1e3);
        let wanted =
            |part: &&&str| self.method.is_empty() || self.method.iter().any(|name| name == **part);
        let mut cells = Vec::new();
        for &part in METHODS.iter().filter(wanted) {
            let matcher = Matcher::new().method(method(part));
            let rig = Rig::new(device, row, input, &matcher);
            let result = rig.and_then(|rig| rig.median(self.common.repeats, false));
            cells.push(cell(part, result));
        }
        let auto = Matcher::new();
        let rig = Rig::new(device, row, input, &auto);
        let result = rig.and_then(|rig| rig.median(self.common.repeats, true));
        cells.push(cell("backward", result));
        Ok(Measured { row: *row, cpu_seconds: input.cpu_seconds, cells })
    }
}

fn cell(name: &'static str, result: Result<Timing>) -> Cell {
    match &result {
        Ok(timing) => println!(
            "  {name:<10} {:>12}  ({} runs, {} to {})",
            super::write::milliseconds(timing.seconds),
            timing.runs,
            super::write::milliseconds(timing.fastest),
            super::write::milliseconds(timing.slowest)
        ),
        Err(error) => println!("  {name:<10} FAIL {error:#}"),
    }
    Cell { name, result: result.map_err(|error| format!("{error:#}")) }
}

/// Sets of pairs in device memory, one run after the other.
struct Rig<'a> {
    stream: Stream,
    matcher: &'a Matcher,
    input: &'a Input,
    sets: Vec<Resident<f32>>,
    events: [Event; 2],
}

/// Runs that are not counted; and how many are, at most, of those that take half a second.
const WARM: usize = 3;
const FEW: usize = 3;

impl<'a> Rig<'a> {
    fn new(device: &Device, row: &Row, input: &'a Input, matcher: &'a Matcher) -> Result<Self> {
        let stream = Stream::new(device)?;
        let mut sets = Vec::new();
        for set in &input.sets {
            let rows = row.rows;
            let mut batch = Resident::new(&stream, row.pairs, rows, 3, Some(matcher))?;
            batch.write(set.points.each_ref().map(Vec::as_slice))?;
            batch.write_grads(set.truth.each_ref().map(|side| side.grads.as_slice()))?;
            sets.push(batch);
        }
        let events = [Event::new(device)?, Event::new(device)?];
        Ok(Self { stream, matcher, input, sets, events })
    }

    /// The median time of a search, or of the gradients of one; each set is compared with the
    /// CPU once.
    fn median(&self, repeats: usize, backward: bool) -> Result<Timing> {
        let mut times = Vec::new();
        for (set, batch) in self.sets.iter().enumerate() {
            if backward {
                batch.enqueue(&self.stream, self.matcher)?;
            }
            times.push(self.once(set, backward)?);
            let truth = &self.input.sets[set].truth;
            let same =
                if backward { batch.compare_gradients(truth)? } else { batch.compare(truth)? };
            if let Err(reason) = same {
                bail!("set {set}: {reason}");
            }
        }
        // Slow runs differ little: those that were checked count too.
        let slow = times[0] > 0.5;
        let (warm, runs) = match slow {
            true => (0, repeats.min(FEW).saturating_sub(times.len())),
            false => (WARM, repeats.max(1)),
        };
        if !slow {
            times.clear();
        }
        let run = |time: usize| self.once(time % self.sets.len(), backward);
        (0..warm).try_for_each(|time| run(time).map(drop))?;
        times.extend((0..runs).map(run).collect::<Result<Vec<_>>>()?);
        times.sort_by(f64::total_cmp);
        ensure!(!times.is_empty(), "nothing was measured");
        Ok(Timing {
            seconds: times[times.len() / 2],
            fastest: times[0],
            slowest: times[times.len() - 1],
            runs: times.len(),
            scratch: self.sets[0].scratch_bytes()[usize::from(backward)],
        })
    }

    /// Seconds of one run on the device.
    fn once(&self, set: usize, backward: bool) -> Result<f64> {
        let batch = &self.sets[set];
        self.events[0].record(&self.stream)?;
        match backward {
            true => batch.enqueue_backward(&self.stream, self.matcher)?,
            false => batch.enqueue(&self.stream, self.matcher)?,
        }
        self.events[1].record(&self.stream)?;
        self.stream.synchronize()?;
        Ok(self.events[1].seconds_since(&self.events[0])?)
    }
}
