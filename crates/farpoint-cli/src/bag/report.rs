//! Report of a sampled bag, as a table and as JSON.

use super::BagInput;
use super::pace::Pace;
use super::write::{Summary, TopicSummary, messages};
use crate::args::{self, Method};
use crate::messages::{note, warn};
use crate::output::{count, number, seconds};
use crate::report;
use crate::text::lines;
use anyhow::Result;
use farpoint_pipeline::{MANY_ZEROS, zeros_kept};
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
    if let Some(reason) = summary.topics.iter().find_map(|topic| topic.pace.reason.as_ref()) {
        let unread = messages(summary.total(Pace::unread));
        warn(&format!("{name}: {unread} copied unchanged, the first because: {reason}"));
    }
    if summary.short > 0 {
        let small = messages(summary.short);
        note(&format!("{name}: {small} had fewer usable points than requested, and kept them all"));
    }
    let [points, _, dropped] = summary.points();
    if !args.input.rows.drop_zeros && summary.zeros as f64 > MANY_ZEROS * points as f64 {
        warn(&zeros_kept(&name.to_string(), summary.zeros, points));
    }
    if dropped > 0 {
        let values =
            if args.input.rows.drop_zeros { "NaN, infinity or zeros" } else { "NaN or infinity" };
        let (dropped, points) = (count(dropped), count(points));
        note(&format!("{name}: {dropped} of {points} points hold {values} and are left out"));
    }
}

fn algorithm(args: &args::Sample) -> String {
    match args.run.algorithm {
        Method::Exact(algorithm) => algorithm.to_string(),
        Method::Approximate(method) => format!("{method} (approximate)"),
    }
}

/// Returns the messages processed per second.
fn rate(messages: u64, summary: &Summary) -> f64 {
    messages as f64 / summary.stages.whole.as_secs_f64().max(1e-9)
}

fn object(args: &args::Sample, bag_input: &BagInput, output: &Path, summary: &Summary) -> Value {
    let [points, kept, dropped] = summary.points();
    let topics: Vec<_> = summary.topics.iter().map(|topic| about(topic, summary)).collect();
    json!({
        "input": bag_input.path.display().to_string(),
        "output": output.display().to_string(),
        "topics": topics,
        "messages": summary.total(Pace::messages),
        "unread": summary.total(Pace::unread),
        "short": summary.short,
        "points": points,
        "samples": kept,
        "dropped": dropped,
        "zeros": summary.zeros,
        "algorithm": algorithm(args),
        "exact": matches!(args.run.algorithm, Method::Exact(_)),
        "device": "cpu",
        "threads": summary.threads,
        "seconds": summary.stages.whole.as_secs_f64(),
        "messages_per_second": rate(summary.total(Pace::messages), summary),
        "stages": {
            "unpack_seconds": summary.stages.unpacking.as_secs_f64(),
            "sample_seconds": summary.stages.cutting.as_secs_f64(),
            "write_seconds": summary.stages.writing.as_secs_f64(),
        },
    })
}

/// Returns the object of a topic.
fn about(topic: &TopicSummary, summary: &Summary) -> Value {
    let pace = &topic.pace;
    let [points, kept, dropped] = pace.points;
    let recorded = pace.recorded();
    json!({
        "topic": topic.name,
        "encoding": topic.encoding,
        "messages": pace.messages(),
        "unread": pace.unread(),
        "points": points,
        "samples": kept,
        "dropped": dropped,
        "recorded_per_second": recorded,
        "times_recorded_rate": recorded.map(|recorded| rate(pace.messages(), summary) / recorded),
        "message_ms": pace.spread().map(|spread| json!({
            "median": spread.median, "p99": spread.p99, "max": spread.longest,
        })),
        "over_period": pace.late(),
    })
}

fn table(args: &args::Sample, bag_input: &BagInput, output: &Path, summary: &Summary) -> String {
    let [points, kept, dropped] = summary.points();
    let threads = match summary.threads {
        1 => "1 thread".to_owned(),
        threads => format!("{threads} threads, one message each"),
    };
    let mut rows = vec![
        ("input", bag_input.path.display().to_string()),
        ("output", output.display().to_string()),
        ("messages", count(summary.total(Pace::messages))),
        ("points", count(points)),
        ("left out", count(dropped)),
        ("samples", count(kept)),
        ("algorithm", format!("{} on {threads}", algorithm(args))),
        ("time", seconds(summary.stages.whole.as_secs_f64())),
    ];
    if summary.total(Pace::unread) > 0 {
        rows.push(("not read", count(summary.total(Pace::unread))));
    }
    if summary.short > 0 {
        rows.push(("fewer than requested", count(summary.short)));
    }
    summary.topics.iter().for_each(|topic| add_topic(topic, summary, &mut rows));
    lines(&rows, 20)
}

/// Adds the lines of a topic.
fn add_topic(topic: &TopicSummary, summary: &Summary, rows: &mut Vec<(&str, String)>) {
    let pace = &topic.pace;
    rows.push(("topic", format!("{} ({})", topic.name, topic.encoding)));
    if summary.topics.len() > 1 {
        let [points, kept, _] = pace.points.map(count);
        rows.push(("messages", format!("{}, {points} points", count(pace.messages()))));
        rows.push(("samples", kept));
    }
    let rate = rate(pace.messages(), summary);
    let speed = format!("{} messages per second", number(rate));
    rows.push((
        "speed",
        match pace.recorded() {
            Some(recorded) => {
                let times = number(rate / recorded);
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
}
