//! Measuring the rows of the table by every algorithm, and the radius algorithm's fusions.

use super::Common;
use super::rig::{Budget, Rig, Timing};
use super::rows::{Input, MILLION, ROWS, Row, TEN_MILLION, TURN};
use crate::variants::{self, Variant};
use anyhow::Result;
use farpoint_cuda::{Device, Sampler, Statistics, Stream};

/// A cell: a time, or why there is none.
#[derive(Clone)]
pub(crate) struct Cell {
    pub(crate) variant: String,
    pub(crate) result: Result<Timing, String>,
    /// Whether the algorithm is not for this shape, which is no failure.
    pub(crate) unsupported: bool,
}

impl Cell {
    pub(crate) fn failed(&self) -> bool {
        self.result.is_err() && !self.unsupported
    }
}

/// What was measured of a row.
pub(crate) struct Measured {
    pub(crate) row: Row,
    pub(crate) cpu_seconds: f64,
    pub(crate) cells: Vec<Cell>,
    /// The radius algorithm with its kernels fused or not.
    pub(crate) fusions: Vec<Cell>,
    /// What `peak` counted, and the seconds of that run.
    pub(crate) counters: Option<Statistics>,
}

impl Measured {
    pub(crate) fn timing(&self, algorithm: &str) -> Option<&Timing> {
        let cell = self.cells.iter().find(|cell| cell.variant == algorithm)?;
        cell.result.as_ref().ok()
    }
}

/// Times of an algorithm of which a run is a multiple of its samples are extrapolated from
/// fewer of them; the others are run in full, but for the radius algorithm on ten million.
fn longest(part: &str, row: &Row) -> f64 {
    match part {
        "naive" => 0.1,
        // Its first samples take longest, so that guesses are far too high.
        "radius" if row.name != TEN_MILLION => 60.0,
        "radius" => 2.0,
        "persistent" => 1.5,
        _ => f64::INFINITY,
    }
}

/// Measures all rows by all `parts`.
pub(super) fn measure(
    device: &Device,
    common: &Common,
    parts: &[&'static str],
) -> Result<Vec<Measured>> {
    let repeats = common.repeats.max(1);
    let mut all = Vec::new();
    for row in ROWS.iter().filter(|row| common.wants(row.name)) {
        let Some(input) = row.input(common.data.as_deref())? else {
            println!("{}: no such file, see --data", row.name);
            continue;
        };
        println!("{} (CPU: {:.0} ms for all sets)", row.name, input.cpu_seconds * 1e3);
        let rig = Rig::new(device, row.shape(), &input.sets, row.samples)?;
        let mut cells = Vec::new();
        for part in parts {
            let variant = Variant::plain(variants::algorithm(part));
            let budget = Budget { longest: longest(part, row), warm: 3, repeats };
            cells.push(cell(&rig, row, &input, &variant, budget));
        }
        let mut fusions = Vec::new();
        if [MILLION, TURN].contains(&row.name) && parts.contains(&"radius") {
            fusions.extend(cells.iter().find(|cell| cell.variant == "radius").cloned());
            for variant in &variants::fusions()[1..] {
                let budget = Budget { longest: 60.0, warm: 1, repeats: repeats.min(3) };
                fusions.push(cell(&rig, row, &input, variant, budget));
            }
        }
        let counters = if parts.contains(&"peak") { counters(device, row, &input) } else { None };
        let cpu_seconds = input.cpu_seconds / input.sets.len() as f64;
        all.push(Measured { row: *row, cpu_seconds, cells, fusions, counters });
    }
    Ok(all)
}

fn cell(rig: &Rig<'_>, row: &Row, input: &Input, variant: &Variant, budget: Budget) -> Cell {
    let timing = rig.measure(variant, row.samples, budget, |set, samples, indices| {
        input.check(set, samples, indices)
    });
    let unsupported = timing.as_ref().is_err_and(|error| {
        matches!(error.downcast_ref(), Some(farpoint_cuda::Error::Unsupported(_)))
    });
    let result = timing.map_err(|error| format!("{error:#}"));
    match &result {
        Ok(timing) => println!(
            "  {:<28} {:>12}  ({} runs, {} to {}{})",
            variant.name,
            super::write::time(timing),
            timing.runs,
            super::write::milliseconds(timing.fastest),
            super::write::milliseconds(timing.slowest),
            if timing.extrapolated() {
                format!(", {} samples", timing.samples)
            } else {
                String::new()
            }
        ),
        Err(error) if unsupported => println!("  {:<28} - {error}", variant.name),
        Err(error) => println!("  {:<28} FAIL {error}", variant.name),
    }
    Cell { variant: variant.name.clone(), result, unsupported }
}

/// What `peak` counts on the first set.
fn counters(device: &Device, row: &Row, input: &Input) -> Option<Statistics> {
    // Waits for whatever an algorithm before has left behind.
    Stream::new(device).ok()?.synchronize().ok()?;
    let sampler = Sampler::count(row.samples).algorithm(variants::algorithm("peak"));
    let samples = sampler.statistics(true).sample_padded(device, &input.sets[0], row.shape(), None);
    samples.ok()?.into_iter().next()?.statistics
}
