//! Reports: a table for people, JSON for programs.

use crate::args::Report;
use crate::output::{self, count, number, seconds};
use crate::picture::Unit;
use crate::text::lines;
use crate::{args, messages};
use anyhow::Result;
use farpoint_io::MergedFile;
use farpoint_pipeline::text::bytes;
use farpoint_pipeline::{Figure, Finished, Joined, RanOn, Tiles, equal_rows};
use serde_json::{Map, Value, json};
use std::path::Path;

/// Prints the table, or the JSON object if requested; `stdout_used` if stdout carries data. The
/// object repeats all warnings.
pub(crate) fn print(
    options: &Report,
    mut object: Value,
    table: &str,
    stdout_used: bool,
) -> Result<()> {
    object["warnings"] = messages::warnings().into();
    for failed in object.get_mut("errors").and_then(Value::as_array_mut).into_iter().flatten() {
        failed["error"] = failed["error"].as_str().map(messages::spelled).into();
    }
    let text = format!("{object}\n");
    if options.prints() {
        return output::print(&text);
    }
    if let Some(path) = &options.json {
        output::write_file(path, text.as_bytes())?;
    }
    if stdout_used { Ok(()) } else { output::print(&output::lines_of(table)) }
}

/// Prints the report of `farpoint sample` where it does not mix with the data.
pub(crate) fn print_sample(args: &args::Sample, finished: &Finished) -> Result<()> {
    let outputs = [args.output.output.as_deref(), args.output.indices.as_deref()];
    let stdout_used = outputs.contains(&Some(Path::new("-")));
    let (object, table) = of(finished, outputs[0], false);
    if stdout_used && args.stats {
        output::print_error(&table);
    }
    print(&args.report, object, &table, stdout_used)?;
    if outputs == [None; 2] && args.report.json.is_none() {
        messages::note(
            "nothing was written; add -o FILE for the points, or --indices FILE.npy for their rows",
        );
    }
    Ok(())
}

/// Returns the outcome of a request as the object of `--json` and as the table; without what is the same for every
/// `order` of all points.
pub(crate) fn of(finished: &Finished, output: Option<&Path>, order: bool) -> (Value, String) {
    let (mut object, mut table) = (as_json(finished, output), as_table(finished, order));
    finished.joined.iter().for_each(|joined| add_files(joined, &mut object, &mut table));
    (object, table)
}

/// Adds the facts of several files merged into one cloud.
pub(crate) fn add_files(joined: &Joined, object: &mut Value, table: &mut String) {
    let file = |file: &MergedFile| json!({ "file": file.name, "first_row": file.first, "rows": file.rows });
    object["files"] = joined.files.iter().map(file).collect();
    let mut rows = vec![("files", count(joined.files.len()))];
    if let Some(equal) = joined.equal {
        object["equal_rows"] = equal.rows.into();
        object["equal_rows_are_estimated"] = equal.about.into();
        rows.push(("equal rows", equal_rows(equal)));
    }
    table.push_str(&lines(&rows, 20));
}

fn as_json(finished: &Finished, output: Option<&Path>) -> Value {
    let outcome = &finished.outcome;
    let mut object = json!({
        "input": finished.name,
        "output": output.map(|path| path.display().to_string()),
        "points": finished.points,
        "dropped": outcome.dropped,
        "samples": finished.samples,
        "algorithm": outcome.algorithm,
        "exact": outcome.exact,
    });
    match &outcome.ran_on {
        RanOn::Cpu { .. } if finished.disk.is_some() => object["device"] = "cpu".into(),
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
    if let Some(disk) = finished.disk {
        object["memory"] = disk.memory.into();
        object["tiles"] = disk.tiles.into();
        object["bands"] = disk.bands.into();
        object["spool_bytes"] = disk.spooled.into();
    }
    object["read_seconds"] = finished.read.into();
    object["sample_seconds"] = outcome.seconds.into();
    object["write_seconds"] = finished.write.unwrap_or(0.0).into();
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

/// Formats a statistic for the table; `None` for a list.
fn in_table(figure: &Figure) -> Option<String> {
    match figure {
        Figure::Count(whole) => Some(count(*whole)),
        Figure::Seconds(value) => Some(seconds(*value)),
        Figure::List(_) => None,
    }
}

/// Describes the device that did the work.
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

/// Formats a detail for the table; `None` for a list.
fn detail(value: &Value) -> Option<String> {
    match value.as_u64() {
        Some(whole) => Some(count(whole)),
        None => value.as_f64().map(number),
    }
}

fn as_table(finished: &Finished, order: bool) -> String {
    let outcome = &finished.outcome;
    let pace = finished.samples as f64 / outcome.seconds.max(1e-9);
    let (time, unit) = (seconds(outcome.seconds), Unit::of_meters(finished.meters));
    let (algorithm, sample) = match finished.disk {
        Some(Tiles { tiles, memory, .. }) => {
            (format!("{} tiles through the disk, {}", count(tiles), bytes(memory)), time)
        }
        None => {
            let exact = if outcome.exact { "" } else { " (approximate)" };
            let on = place(&outcome.ran_on);
            let unit = if order { "points" } else { "samples" };
            let pace = format!("{time}, {} {unit} per second", count(pace as u64));
            (format!("{}{exact} on {on}", outcome.algorithm), pace)
        }
    };
    let mut rows = vec![
        ("input", finished.name.clone()),
        ("points", count(finished.points)),
        ("left out", count(outcome.dropped)),
        ("samples", count(finished.samples)),
        ("algorithm", algorithm),
        ("covering radius", unit.of_number(number(outcome.covering_radius))),
        ("read", seconds(finished.read)),
        (if order { "order" } else { "sample" }, sample),
    ];
    if order {
        rows.retain(|(name, _)| !["samples", "covering radius"].contains(name));
    }
    for (name, value) in &outcome.details {
        rows.extend(detail(value).map(|value| (name.as_str(), value)));
    }
    rows.extend(finished.write.map(|write| ("write", seconds(write))));
    for (name, figure) in outcome.statistics.iter().flatten() {
        rows.extend(in_table(figure).map(|text| (name.as_str(), text)));
    }
    lines(&rows, 20)
}
