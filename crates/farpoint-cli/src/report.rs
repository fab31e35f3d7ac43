//! An outcome as a table for people, as JSON for programs.

use crate::args::Report;
use crate::output::{self, count, number, seconds};
use crate::text::lines;
use crate::{args, input, messages};
use anyhow::Result;
use farpoint_pipeline::{Figure, Outcome, RanOn};
use serde_json::{Map, Value, json};
use std::path::Path;

/// Seconds outside the sampler.
pub(crate) struct Times {
    pub(crate) read: f64,
    /// `None` if nothing was written.
    pub(crate) write: Option<f64>,
}

/// What was read and written.
pub(crate) struct Files<'a> {
    pub(crate) input: &'a Path,
    pub(crate) output: Option<&'a Path>,
}

/// Prints the table, or the object if that was asked for; `taken` says that stdout carries data. The
/// object repeats all warnings.
pub(crate) fn print(asked: &Report, mut object: Value, table: &str, taken: bool) -> Result<()> {
    object["warnings"] = messages::warnings().into();
    let text = format!("{object}\n");
    if asked.prints() {
        return output::print(&text);
    }
    if let Some(path) = &asked.json {
        output::write_file(path, text.as_bytes())?;
    }
    if taken { Ok(()) } else { output::print(&output::lines_of(table)) }
}

/// Prints the report of `farpoint sample` where it does not mix with the data.
pub(crate) fn sampled(args: &args::Sample, object: Value, table: &str) -> Result<()> {
    let outputs = [args.output.output.as_deref(), args.output.indices.as_deref()];
    let taken = outputs.contains(&Some(Path::new("-")));
    if taken && args.stats {
        output::print_error(table);
    }
    print(&args.report, object, table, taken)?;
    if outputs == [None; 2] && args.report.json.is_none() {
        messages::note(
            "nothing was written; give -o FILE for the points, or --indices FILE.npy for their rows",
        );
    }
    Ok(())
}

/// The object that `--json` prints.
pub(crate) fn as_json(files: &Files<'_>, outcome: &Outcome, points: usize, times: &Times) -> Value {
    let mut object = json!({
        "input": input::name(files.input),
        "output": files.output.map(|path| path.display().to_string()),
        "points": points,
        "dropped": outcome.dropped,
        "samples": outcome.indices.len(),
        "algorithm": outcome.algorithm,
        "exact": outcome.exact,
    });
    match &outcome.ran_on {
        RanOn::Cpu { threads, level } => {
            object["device"] = "cpu".into();
            if let Some(level) = level {
                object["simd"] = level.name().into();
            }
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
        let named = |(name, figure): &(String, Figure)| (name.replace(' ', "_"), value(figure));
        object["statistics"] = statistics.iter().map(named).collect::<Map<_, _>>().into();
    }
    object
}

fn value(figure: &Figure) -> Value {
    match figure {
        Figure::Count(count) => (*count).into(),
        Figure::Seconds(seconds) => (*seconds).into(),
        Figure::List(list) => json!(list),
    }
}

/// A statistic for the table; none for a list.
fn in_table(figure: &Figure) -> Option<String> {
    match figure {
        Figure::Count(whole) => Some(count(*whole)),
        Figure::Seconds(value) => Some(seconds(*value)),
        Figure::List(_) => None,
    }
}

/// What did the work, in words.
pub(crate) fn place(ran_on: &RanOn) -> String {
    let threads = |threads: usize| match threads {
        1 => "1 thread".to_owned(),
        threads => format!("{threads} threads"),
    };
    match ran_on {
        RanOn::Cpu { threads: number, level: Some(level) } => {
            format!("{}, {level}", threads(*number))
        }
        RanOn::Cpu { threads: number, level: None } => threads(*number),
        RanOn::Gpu { name } => name.clone(),
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
pub(crate) fn as_table(
    files: &Files<'_>,
    outcome: &Outcome,
    points: usize,
    times: &Times,
) -> String {
    let samples = outcome.indices.len();
    let pace = samples as f64 / outcome.seconds.max(1e-9);
    let on = place(&outcome.ran_on);
    let mut rows = vec![
        ("input", input::name(files.input)),
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
            format!("{}, {} samples per second", seconds(outcome.seconds), count(pace as u64)),
        ),
    ];
    for (name, value) in &outcome.details {
        rows.extend(detail(value).map(|value| (name.as_str(), value)));
    }
    if let Some(write) = times.write {
        rows.push(("write", seconds(write)));
    }
    for (name, figure) in outcome.statistics.iter().flatten() {
        rows.extend(in_table(figure).map(|text| (name.as_str(), text)));
    }
    lines(&rows, 20)
}
