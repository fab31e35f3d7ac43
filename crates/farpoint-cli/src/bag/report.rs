//! Report of a sampled bag, as a table and as JSON.

use super::Recording;
use super::write::{Done, messages};
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
    recording: &Recording,
    output: &Path,
    done: &Done,
) -> Result<()> {
    tell(args, recording, done);
    let taken = output == Path::new("-");
    let table = table(args, recording, output, done);
    report::print(&args.report, object(args, recording, output, done), &table, taken)
}

/// Prints warnings and notes about unread messages, small messages and non-finite points.
fn tell(args: &args::Sample, recording: &Recording, done: &Done) {
    let name = recording.path.display();
    if let Some(reason) = &done.pace.reason {
        let unread = messages(done.pace.unread);
        warn(&format!("{name}: {unread} passed on as recorded, the first because: {reason}"));
    }
    if done.short > 0 {
        let short = messages(done.short);
        note(&format!("{name}: {short} had fewer usable points than asked for, and kept them all"));
    }
    let [points, _, dropped] = done.pace.points;
    if dropped > 0 {
        let which =
            if args.input.rows.drop_zeros { "NaN, infinity or zeros" } else { "NaN or infinity" };
        let (dropped, points) = (count(dropped), count(points));
        note(&format!("{name}: {dropped} of {points} points hold {which} and are left out"));
    }
}

fn algorithm(args: &args::Sample) -> String {
    match args.run.sampler.method {
        Method::Exact(algorithm) => algorithm.to_string(),
        Method::Approximate(method) => format!("{method} (approximate)"),
    }
}

/// Returns the messages processed per second.
fn rate(done: &Done) -> f64 {
    done.pace.messages() as f64 / done.stages.whole.as_secs_f64().max(1e-9)
}

fn object(args: &args::Sample, recording: &Recording, output: &Path, done: &Done) -> Value {
    let pace = &done.pace;
    let [points, kept, dropped] = pace.points;
    let spread = pace.spread();
    let recorded = pace.recorded();
    json!({
        "input": recording.path.display().to_string(),
        "output": output.display().to_string(),
        "topic": done.topic,
        "encoding": done.encoding,
        "messages": pace.messages(),
        "unread": pace.unread,
        "short": done.short,
        "points": points,
        "samples": kept,
        "dropped": dropped,
        "algorithm": algorithm(args),
        "exact": matches!(args.run.sampler.method, Method::Exact(_)),
        "device": "cpu",
        "threads": done.threads,
        "seconds": done.stages.whole.as_secs_f64(),
        "messages_per_second": rate(done),
        "recorded_per_second": recorded,
        "times_recorded_rate": recorded.map(|recorded| rate(done) / recorded),
        "message_ms": spread.map(|spread| json!({
            "median": spread.median, "p99": spread.most, "max": spread.longest,
        })),
        "over_period": pace.late(),
        "stages": {
            "unpack_seconds": done.stages.unpacking.as_secs_f64(),
            "sample_seconds": done.stages.cutting.as_secs_f64(),
            "write_seconds": done.stages.writing.as_secs_f64(),
        },
    })
}

fn table(args: &args::Sample, recording: &Recording, output: &Path, done: &Done) -> String {
    let pace = &done.pace;
    let [points, kept, dropped] = pace.points;
    let threads = match done.threads {
        1 => "1 thread".to_owned(),
        threads => format!("{threads} threads, one message each"),
    };
    let mut rows = vec![
        ("input", recording.path.display().to_string()),
        ("output", output.display().to_string()),
        ("topic", format!("{} ({})", done.topic, done.encoding)),
        ("messages", count(pace.messages())),
        ("points", count(points)),
        ("left out", count(dropped)),
        ("samples", count(kept)),
        ("algorithm", format!("{} on {threads}", algorithm(args))),
        ("time", seconds(done.stages.whole.as_secs_f64())),
    ];
    if pace.unread > 0 {
        rows.push(("not read", count(pace.unread)));
    }
    if done.short > 0 {
        rows.push(("fewer than asked", count(done.short)));
    }
    let speed = format!("{} messages per second", number(rate(done)));
    rows.push((
        "speed",
        match pace.recorded() {
            Some(recorded) => {
                let times = number(rate(done) / recorded);
                format!("{speed}, {times} times the recorded {}", number(recorded))
            }
            None => speed,
        },
    ));
    if let Some(spread) = pace.spread() {
        let [median, most, longest] =
            [spread.median, spread.most, spread.longest].map(|ms| seconds(ms * 1e-3));
        rows.push(("a message", format!("median {median}, 99 % {most}, longest {longest}")));
    }
    rows.extend(pace.late().map(|late| ("over the period", count(late))));
    lines(&rows, 20)
}
