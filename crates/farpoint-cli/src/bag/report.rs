//! Report of a sampled bag, as a table and as JSON.

use super::BagInput;
use super::write::{Summary, messages};
use crate::args::{self, Method};
use crate::messages::{note, warn};
use crate::output::{count, number, seconds};
use crate::report;
use crate::text::lines;
use anyhow::Result;
use serde_json::{Value, json};
use std::path::Path;

pub(super) fn print(
    args: &args::Sample,
    bag_input: &BagInput,
    output: &Path,
    summary: &Summary,
) -> Result<()> {
    print_messages(args, bag_input, summary);
    let stdout_used = output == Path::new("-");
    let table = table(args, bag_input, output, summary);
    report::print(&args.report, object(args, bag_input, output, summary), &table, stdout_used)
}

/// Prints warnings and notes about unread messages, small messages and non-finite points.
fn print_messages(args: &args::Sample, bag_input: &BagInput, summary: &Summary) {
    let name = bag_input.path.display();
    if let Some(reason) = &summary.pace.reason {
        let unread = messages(summary.pace.unread);
        warn(&format!("{name}: {unread} copied unchanged, the first because: {reason}"));
    }
    if summary.short > 0 {
        let small = messages(summary.short);
        note(&format!("{name}: {small} had fewer usable points than requested, and kept them all"));
    }
    let [points, _, dropped] = summary.pace.points;
    if dropped > 0 {
        let values =
            if args.input.rows.drop_zeros { "NaN, infinity or zeros" } else { "NaN or infinity" };
        let (dropped, points) = (count(dropped), count(points));
        note(&format!("{name}: {dropped} of {points} points hold {values} and are left out"));
    }
}

fn algorithm(args: &args::Sample) -> String {
    match args.run.sampler.method {
        Method::Exact(algorithm) => algorithm.to_string(),
        Method::Approximate(method) => format!("{method} (approximate)"),
    }
}

/// Returns the messages processed per second.
fn rate(summary: &Summary) -> f64 {
    summary.pace.messages() as f64 / summary.stages.whole.as_secs_f64().max(1e-9)
}

fn object(args: &args::Sample, bag_input: &BagInput, output: &Path, summary: &Summary) -> Value {
    let pace = &summary.pace;
    let [points, kept, dropped] = pace.points;
    let spread = pace.spread();
    let recorded = pace.recorded();
    json!({
        "input": bag_input.path.display().to_string(),
        "output": output.display().to_string(),
        "topic": summary.topic,
        "encoding": summary.encoding,
        "messages": pace.messages(),
        "unread": pace.unread,
        "short": summary.short,
        "points": points,
        "samples": kept,
        "dropped": dropped,
        "algorithm": algorithm(args),
        "exact": matches!(args.run.sampler.method, Method::Exact(_)),
        "device": "cpu",
        "threads": summary.threads,
        "seconds": summary.stages.whole.as_secs_f64(),
        "messages_per_second": rate(summary),
        "recorded_per_second": recorded,
        "times_recorded_rate": recorded.map(|recorded| rate(summary) / recorded),
        "message_ms": spread.map(|spread| json!({
            "median": spread.median, "p99": spread.p99, "max": spread.longest,
        })),
        "over_period": pace.late(),
        "stages": {
            "unpack_seconds": summary.stages.unpacking.as_secs_f64(),
            "sample_seconds": summary.stages.cutting.as_secs_f64(),
            "write_seconds": summary.stages.writing.as_secs_f64(),
        },
    })
}

fn table(args: &args::Sample, bag_input: &BagInput, output: &Path, summary: &Summary) -> String {
    let pace = &summary.pace;
    let [points, kept, dropped] = pace.points;
    let threads = match summary.threads {
        1 => "1 thread".to_owned(),
        threads => format!("{threads} threads, one message each"),
    };
    let mut rows = vec![
        ("input", bag_input.path.display().to_string()),
        ("output", output.display().to_string()),
        ("topic", format!("{} ({})", summary.topic, summary.encoding)),
        ("messages", count(pace.messages())),
        ("points", count(points)),
        ("left out", count(dropped)),
        ("samples", count(kept)),
        ("algorithm", format!("{} on {threads}", algorithm(args))),
        ("time", seconds(summary.stages.whole.as_secs_f64())),
    ];
    if pace.unread > 0 {
        rows.push(("not read", count(pace.unread)));
    }
    if summary.short > 0 {
        rows.push(("fewer than requested", count(summary.short)));
    }
    let speed = format!("{} messages per second", number(rate(summary)));
    rows.push((
        "speed",
        match pace.recorded() {
            Some(recorded) => {
                let times = number(rate(summary) / recorded);
                format!("{speed}, {times} times the recorded {}", number(recorded))
            }
            None => speed,
        },
    ));
    if let Some(spread) = pace.spread() {
        let [median, p99, longest] =
            [spread.median, spread.p99, spread.longest].map(|ms| seconds(ms * 1e-3));
        rows.push(("a message", format!("median {median}, 99 % {p99}, longest {longest}")));
    }
    rows.extend(pace.late().map(|late| ("over the period", count(late))));
    lines(&rows, 20)
}
