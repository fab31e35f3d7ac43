//! What a run came to: as a table for people, as JSON for programs.

use crate::output::{self, count, number, seconds};
use crate::{args, input};
use anyhow::Result;
use farpoint::{Level, Statistics};
use serde_json::{Map, Value, json};
use std::path::Path;

/// Seconds outside the sampler.
pub(crate) struct Times {
    pub(crate) read: f64,
    /// `None` if nothing was written.
    pub(crate) write: Option<f64>,
}

/// A [`farpoint::Sample`] of either precision.
pub(crate) struct Outcome {
    pub(crate) indices: Vec<usize>,
    /// Selection distances.
    pub(crate) distances: Vec<f64>,
    pub(crate) covering_radius: f64,
    /// The algorithm that ran.
    pub(crate) algorithm: &'static str,
    pub(crate) ran_on: RanOn,
    /// Whether this is the farthest point sample.
    pub(crate) exact: bool,
    pub(crate) dropped: usize,
    /// What the sampler tells of its sample, under names that fit a table.
    pub(crate) details: Vec<(String, Value)>,
    /// What was counted and measured, if asked for, under names that fit a table.
    pub(crate) statistics: Option<Vec<(String, Value)>>,
    pub(crate) seconds: f64,
}

/// What did the work.
pub(crate) enum RanOn {
    Cpu {
        threads: usize,
        level: Level,
    },
    /// On the CPU without vectors of its own.
    Plain {
        threads: usize,
    },
    Gpu {
        name: String,
    },
}

/// Prints the result where it does not get into the data's way.
pub(crate) fn print(
    args: &args::Sample,
    outcome: &Outcome,
    points: usize,
    times: &Times,
) -> Result<()> {
    if args.json {
        return output::print(&format!("{}\n", as_json(outcome, points, times)));
    }
    let text = as_table(&args.input.input, outcome, points, times);
    let stdout = Path::new("-");
    if args.output.as_deref() != Some(stdout) && args.indices.as_deref() != Some(stdout) {
        return output::print(&text);
    }
    if args.stats {
        eprint(&text);
    }
    Ok(())
}

/// Text for people while stdout carries data.
fn eprint(text: &str) {
    use std::io::Write;
    let _ = std::io::stderr().write_all(text.as_bytes());
}

/// The object that `--json` prints.
pub(crate) fn as_json(outcome: &Outcome, points: usize, times: &Times) -> Value {
    let mut object = json!({
        "points": points,
        "dropped": outcome.dropped,
        "samples": outcome.indices.len(),
        "algorithm": outcome.algorithm,
        "exact": outcome.exact,
    });
    match &outcome.ran_on {
        RanOn::Cpu { threads, level } => {
            object["device"] = "cpu".into();
            object["simd"] = level.name().into();
            object["threads"] = (*threads).into();
        }
        RanOn::Plain { threads } => {
            object["device"] = "cpu".into();
            object["threads"] = (*threads).into();
        }
        RanOn::Gpu { name } => {
            object["device"] = "cuda".into();
            object["gpu"] = name.as_str().into();
        }
    }
    object["covering_radius"] = outcome.covering_radius.into();
    for (name, value) in &outcome.details {
        object[name.replace(' ', "_")] = value.clone();
    }
    object["read_seconds"] = times.read.into();
    object["sample_seconds"] = outcome.seconds.into();
    object["write_seconds"] = times.write.unwrap_or(0.0).into();
    if let Some(statistics) = &outcome.statistics {
        let named = |(name, value): &(String, Value)| (name.replace(' ', "_"), value.clone());
        object["statistics"] = statistics.iter().map(named).collect::<Map<_, _>>().into();
    }
    object
}

/// What the CPU counted. Lists are for JSON alone.
pub(crate) fn counts(statistics: &Statistics) -> Vec<(String, Value)> {
    let counts = [
        ("distance evaluations", statistics.distance_evaluations),
        ("effective updates", statistics.effective_updates),
        ("points skipped", statistics.points_skipped),
        ("regions tested", statistics.regions_tested),
        ("regions pruned", statistics.regions_pruned),
        ("bands", statistics.bands),
        ("rounds", statistics.rounds),
        ("band points", statistics.band_points),
    ];
    let mut all: Vec<_> =
        counts.into_iter().map(|(name, value)| (name.to_owned(), Value::from(value))).collect();
    if !statistics.effective_by_step.is_empty() {
        all.push(("effective by step".into(), json!(statistics.effective_by_step)));
    }
    all
}

/// What was measured on a GPU.
pub(crate) fn measures(statistics: &farpoint_cuda::Statistics) -> Vec<(String, Value)> {
    let measures = [
        ("kernel seconds", Value::from(statistics.seconds)),
        ("upload seconds", statistics.upload_seconds.into()),
        ("download seconds", statistics.download_seconds.into()),
        ("input bytes", statistics.input_bytes.into()),
        ("answer bytes", statistics.answer_bytes.into()),
        ("scratch bytes", statistics.scratch_bytes.into()),
    ];
    let counts = statistics.counts.iter().map(|&(name, count)| (name, count.into()));
    measures.into_iter().chain(counts).map(|(name, value)| (name.to_owned(), value)).collect()
}

/// A measured value for the table; none for a list.
fn in_table(value: &Value) -> Option<String> {
    match (value.as_u64(), value.as_f64()) {
        (Some(whole), _) => Some(count(whole)),
        (None, value) => value.map(seconds),
    }
}

/// A detail for the table; none for a list.
fn detail(value: &Value) -> Option<String> {
    match value.as_u64() {
        Some(whole) => Some(count(whole)),
        None => value.as_f64().map(number),
    }
}

/// The table that is printed otherwise.
pub(crate) fn as_table(input: &Path, outcome: &Outcome, points: usize, times: &Times) -> String {
    let samples = outcome.indices.len();
    let pace = samples as f64 / outcome.seconds.max(1e-9);
    let on = match &outcome.ran_on {
        RanOn::Cpu { threads: 1, level } => format!("1 thread, {level}"),
        RanOn::Cpu { threads, level } => format!("{threads} threads, {level}"),
        RanOn::Plain { threads: 1 } => "1 thread".into(),
        RanOn::Plain { threads } => format!("{threads} threads"),
        RanOn::Gpu { name } => name.clone(),
    };
    let mut rows = vec![
        ("input", input::name(input)),
        ("points", count(points)),
        ("left out", count(outcome.dropped)),
        ("samples", count(samples)),
        (
            "algorithm",
            format!(
                "{}{} on {on}",
                outcome.algorithm,
                if outcome.exact { "" } else { " (approximate)" }
            ),
        ),
        ("covering radius", number(outcome.covering_radius)),
        ("read", seconds(times.read)),
        (
            "sample",
            format!("{}, {} samples a second", seconds(outcome.seconds), count(pace as u64)),
        ),
    ];
    for (name, value) in &outcome.details {
        rows.extend(detail(value).map(|value| (name.as_str(), value)));
    }
    if let Some(write) = times.write {
        rows.push(("write", seconds(write)));
    }
    for (name, value) in outcome.statistics.iter().flatten() {
        rows.extend(in_table(value).map(|value| (name.as_str(), value)));
    }
    rows.iter().map(|(name, value)| format!("{name:<20}  {value}\n")).collect()
}
