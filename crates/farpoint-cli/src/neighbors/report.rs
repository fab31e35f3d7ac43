//! The outcome as a table and as JSON.

use super::{Outcome, Search};
use crate::input;
use crate::output::{count, number, seconds};
use crate::picture::Unit;
use crate::report;
use crate::text::lines;
use anyhow::Result;
use farpoint::Order;
use farpoint_pipeline::RanOn;
use serde_json::{Value, json};
use std::path::Path;

pub(super) fn print(
    search: &Search<'_>,
    outcome: &Outcome,
    read_seconds: f64,
    unit: Unit,
) -> Result<()> {
    let stdout_used = search.args.output == Path::new("-");
    let object = as_json(search, outcome, read_seconds);
    let table = as_table(search, outcome, read_seconds, unit);
    report::print(&search.args.report, object, &table, stdout_used)
}

fn as_json(search: &Search<'_>, outcome: &Outcome, read_seconds: f64) -> Value {
    let Search { args, searcher } = search;
    let Outcome { points, dropped, spread, ran_on, .. } = outcome;
    let (device, gpu, threads) = match ran_on {
        RanOn::Cpu { threads, .. } => ("cpu", None, Some(threads)),
        RanOn::Gpu { name } => ("cuda", Some(name), None),
    };
    let ball = searcher.ball;
    let order = ball.map(|ball| if ball.order == Order::Nearest { "nearest" } else { "index" });
    json!({
        "a": input::name(&args.a),
        "b": args.b.as_deref().map(input::name),
        "output": args.output.display().to_string(),
        "a_points": points[0],
        "b_points": points[1],
        "a_dropped": dropped[0],
        "b_dropped": dropped[1],
        "k": args.k.map(|k| k.0),
        "radius": ball.map(|ball| ball.radius),
        "min_radius": ball.map(|ball| ball.min_radius),
        "inclusive": args.inclusive,
        "order": order,
        "exclude_self": args.exclude_self,
        "norm": if searcher.norm == farpoint::Norm::One { 1 } else { 2 },
        "squared": args.squared,
        "neighbors": spread.neighbors,
        "fewest": spread.fewest,
        "most": spread.most,
        "without": spread.without,
        "farthest": spread.farthest,
        "device": device,
        "gpu": gpu,
        "threads": threads,
        "read_seconds": read_seconds,
        "search_seconds": outcome.search_seconds,
        "write_seconds": outcome.write_seconds,
    })
}

fn as_table(search: &Search<'_>, outcome: &Outcome, read_seconds: f64, unit: Unit) -> String {
    let args = search.args;
    let Outcome { points, dropped, spread, .. } = outcome;
    let cloud = |path: &Path, side: usize| {
        let left_out = match dropped[side] {
            0 => String::new(),
            dropped => format!(", {} left out", count(dropped)),
        };
        format!("{}, {} points{left_out}", input::name(path), count(points[side]))
    };
    let mut rows = vec![("neighbors of", cloud(&args.a, 0))];
    rows.push(("in", args.b.as_deref().map_or("the same".to_owned(), |path| cloud(path, 1))));
    let range = match (spread.fewest, spread.most) {
        (fewest, most) if fewest == most => count(most),
        (fewest, most) => format!("{} to {}", count(fewest), count(most)),
    };
    rows.push(("found", format!("{}, {range} a point", count(spread.neighbors))));
    if spread.without > 0 {
        rows.push(("without a neighbor", count(spread.without)));
    }
    if spread.neighbors > 0 {
        let farthest = number(spread.farthest);
        rows.push((
            "farthest",
            match args.squared {
                true => format!("{farthest} (squared)"),
                false => unit.of_number(farthest),
            },
        ));
    }
    rows.push(("read", seconds(read_seconds)));
    let on = report::place(&outcome.ran_on);
    rows.push(("search", format!("{} on {on}", seconds(outcome.search_seconds))));
    rows.push(("write", seconds(outcome.write_seconds)));
    lines(&rows, 20)
}
