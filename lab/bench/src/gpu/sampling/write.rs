//! The record of a benchmark in Markdown and JSON.

use super::super::words::{milliseconds, reached};
use super::rows::{MILLION, TEN_MILLION};
use super::{Cell, Measured};
use crate::machine::Machine;
use crate::timing::Record;
use serde_json::{Value, json};
use std::fmt::Write;

/// Maximum bytes of scratch memory per point, and maximum times of the million.
const PEAK_BYTES: f64 = 64.0;
const RADIUS_BYTES: f64 = 48.0;
const TIMES_OF_MILLION: f64 = 13.0;

/// Formats a time with three digits, and `*` if it was computed.
pub(super) fn time(record: &Record) -> String {
    let mark = if record.computed() { "*" } else { "" };
    format!("{}{mark}", milliseconds(record.median()))
}

pub(super) fn markdown(all: &[Measured], machine: &Machine, command: &str) -> String {
    let mut text = format!(
        "# Times on a GPU\n\n{machine}\n\n`{command}`\n\nMedians of CUDA-event times, input on \
         the device, scratch memory given, after 3 runs that are not counted; several sets of \
         clouds in turn. All indices were compared with the CPU's. `*`: computed from fewer \
         samples.\n\n"
    );
    table(&mut text, all);
    targets(&mut text, all);
    fusions(&mut text, all);
    counters(&mut text, all);
    memory(&mut text, all);
    let wrong: Vec<_> = all.iter().flat_map(|m| m.cells.iter().chain(&m.fusions)).collect();
    for cell in wrong {
        if let Err(error) = &cell.result {
            let _ = writeln!(text, "- {}: {error}", cell.name());
        }
    }
    text
}

fn shown(cell: &Cell) -> String {
    let none = if cell.unsupported { "-" } else { "FAIL" };
    cell.result.as_ref().map_or_else(|_| none.into(), time)
}

fn table(text: &mut String, all: &[Measured]) {
    let Some(first) = all.first() else { return };
    let names: Vec<_> = first.cells.iter().map(|cell| cell.algorithm).collect();
    let _ = writeln!(text, "| cloud | {} | textbook (mmcv) | best public |", names.join(" | "));
    let _ = writeln!(text, "|---|{}", "---:|".repeat(names.len() + 2));
    for Measured { row, cells, .. } in all {
        let cells: Vec<_> = cells.iter().map(shown).collect();
        let published = |ms: Option<f64>| ms.map_or(String::new(), |ms| format!("{ms} ms"));
        let (textbook, public) = (published(row.textbook), published(row.public));
        let _ = writeln!(text, "| {} | {} | {textbook} | {public} |", row.name, cells.join(" | "));
    }
    text.push('\n');
}

/// Lists every target, with the measured figure.
fn targets(text: &mut String, all: &[Measured]) {
    text.push_str("| figure | found | to reach | reached |\n|---|---:|---:|---|\n");
    let mut line = |what: String, found: String, target: String, reached: String| {
        let _ = writeln!(text, "| {what} | {found} | {target} | {reached} |");
    };
    for measured in all {
        let row = measured.row;
        let name = row.name;
        let full = |part: &str| measured.record(part).filter(|record| !record.computed());
        let fastest = ["auto", "peak", "persistent", "radius", "naive"]
            .into_iter()
            .filter_map(|part| Some((part, full(part)?.median())))
            .min_by(|a, b| a.1.total_cmp(&b.1));
        if let (Some(target), Some((part, seconds))) = (row.target, fastest) {
            let what = format!("{name}, fastest ({part})");
            line(
                what,
                milliseconds(seconds),
                format!("{target} ms"),
                reached(seconds * 1e3, target),
            );
        }
        if let (Some(target), Some(auto)) = (row.target, full("auto")) {
            let found = milliseconds(auto.median());
            let yes = reached(auto.median() * 1e3, target);
            line(format!("{name}, auto"), found, format!("{target} ms"), yes);
        }
        if let (Some(probe), Some(radius)) = (row.probe, full("radius")) {
            let found = milliseconds(radius.median());
            let yes = reached(radius.median() * 1e3, probe);
            line(format!("{name}, radius (probe)"), found, format!("{probe} ms"), yes);
        }
    }
    let peak = |name: &str| all.iter().find(|m| m.row.name == name)?.record("peak");
    if let (Some(one), Some(ten)) = (peak(MILLION), peak(TEN_MILLION)) {
        let times = ten.median() / one.median();
        let yes = reached(times, TIMES_OF_MILLION);
        let what = format!("{TEN_MILLION}, peak, times the million");
        line(what, format!("{times:.1}"), TIMES_OF_MILLION.to_string(), yes);
    }
    text.push('\n');
}

fn fusions(text: &mut String, all: &[Measured]) {
    if all.iter().all(|measured| measured.fusions.is_empty()) {
        return;
    }
    text.push_str("## Fusions of radius (the paper's table 4)\n\n");
    for measured in all.iter().filter(|measured| !measured.fusions.is_empty()) {
        let _ = writeln!(text, "{}\n\n| kernels | time | over both fused |", measured.row.name);
        text.push_str("|---|---:|---:|\n");
        let both = measured.cells.iter().find(|cell| cell.algorithm == "radius");
        let seconds = |cell: &Cell| cell.result.as_ref().map_or(f64::NAN, Record::median);
        let least = both.map_or(f64::NAN, seconds);
        for cell in both.into_iter().chain(&measured.fusions) {
            let ratio = seconds(cell) / least;
            let name = if cell.variant.is_empty() { "radius, both fused" } else { &cell.name() };
            let _ = writeln!(text, "| {name} | {} | {ratio:.2} |", shown(cell));
        }
        text.push('\n');
    }
}

fn counters(text: &mut String, all: &[Measured]) {
    text.push_str("## What peak counts\n\nOn the first set; times are sums over its clouds.\n\n");
    for measured in all {
        let Some(statistics) = &measured.counters else { continue };
        let counts = statistics.named().into_iter().filter_map(|(name, measured)| match measured {
            farpoint::Measured::Seconds(seconds) => {
                Some(format!("{name} {}", milliseconds(seconds)))
            }
            farpoint::Measured::Count(count) => Some(match name.strip_suffix(" ns") {
                Some(stage) => format!("{stage} {}", milliseconds(count as f64 / 1e9)),
                None => format!("{name} {count}"),
            }),
            _ => None,
        });
        let counts: Vec<_> = counts.collect();
        let whole = milliseconds(statistics.seconds.kernels);
        let _ = writeln!(text, "- {} ({whole}): {}", measured.row.name, counts.join(", "));
    }
    text.push('\n');
}

/// Bytes of scratch memory per point.
fn memory(text: &mut String, all: &[Measured]) {
    text.push_str(
        "## Scratch memory, bytes per point\n\n| cloud | algorithm | found | at most | |\n",
    );
    text.push_str("|---|---|---:|---:|---|\n");
    for measured in all {
        for (part, most) in [("peak", PEAK_BYTES), ("radius", RADIUS_BYTES)] {
            let Some(record) = measured.record(part) else { continue };
            let bytes = record.bytes_per_point();
            let (name, yes) = (measured.row.name, reached(bytes, most));
            let _ = writeln!(text, "| {name} | {part} | {bytes:.1} | {most} | {yes} |");
        }
    }
    text.push('\n');
}

pub(super) fn json(all: &[Measured], machine: &Machine, command: &str) -> Value {
    let cell = |cell: &Cell| match &cell.result {
        Err(error) => json!({ "algorithm": cell.name(), "error": error }),
        Ok(record) => {
            let [median, fastest, slowest] = record.seconds.map(|seconds| seconds * 1e3);
            json!({
                "algorithm": cell.name(),
                "milliseconds": median,
                "fastest": fastest,
                "slowest": slowest,
                "runs": record.runs,
                "samples_taken": record.measured,
                "extrapolated": record.computed(),
                "scratch_bytes": record.bytes,
                "checksum": format!("{:#018x}", record.checksum),
            })
        }
    };
    let row = |measured: &Measured| {
        let row = &measured.row;
        let counts = measured.counters.iter().flat_map(|statistics| &statistics.counters);
        json!({
            "cloud": row.name, "clouds": row.clouds, "points": row.points, "samples": row.samples,
            "target": row.target, "textbook": row.textbook, "public": row.public,
            "probe": row.probe, "prototype": row.prototype,
            "cpu_milliseconds": measured.cpu_seconds * 1e3,
            "algorithms": measured.cells.iter().map(cell).collect::<Vec<_>>(),
            "fusions": measured.fusions.iter().map(cell).collect::<Vec<_>>(),
            "peak": counts.map(|(name, count)| (name.to_string(), json!(count)))
                .collect::<serde_json::Map<_, _>>(),
        })
    };
    json!({
        "machine": machine.json(),
        "command": command,
        "rows": all.iter().map(row).collect::<Vec<_>>(),
    })
}

#[cfg(test)]
mod tests {
    use super::super::rows::ROWS;
    use super::*;

    fn record(milliseconds: f64, measured: usize) -> Record {
        Record {
            cloud: String::new(),
            points: 1_000_000,
            samples: 250_000,
            algorithm: "",
            requested: "",
            variant: String::new(),
            threads: 1,
            seconds: [milliseconds / 1e3; 3],
            runs: 3,
            measured,
            bytes: 70_000_000,
            indices: Vec::new(),
            checksum: 1,
        }
    }

    fn cell(algorithm: &'static str, result: Result<Record, String>) -> Cell {
        Cell { algorithm, variant: "", result, unsupported: false }
    }

    #[test]
    fn figures_stand_beside_their_targets() {
        let cells = vec![
            cell("naive", Ok(record(36_000.0, 700))),
            cell("radius", Ok(record(1_500.0, 250_000))),
            cell("peak", Ok(record(6.0, 250_000))),
            cell("auto", Err("broken".into())),
        ];
        let less = Cell { variant: "nothing fused", ..cell("radius", Ok(record(3e3, 250_000))) };
        let (row, fusions) = (ROWS[0], vec![less]);
        let all = [Measured { row, cpu_seconds: 0.1, cells, fusions, counters: None }];
        let text = markdown(&all, &Machine::current(), "bench");
        assert!(text.contains("| 36000 ms* | 1500 ms | 6.00 ms | FAIL |"), "{text}");
        assert!(text.contains("fastest (peak) | 6.00 ms | 4 ms | **no**, 1.50 times |"), "{text}");
        assert!(text.contains("radius (probe) | 1500 ms | 1623 ms | yes |"), "{text}");
        assert!(text.contains("| radius, both fused | 1500 ms | 1.00 |"), "{text}");
        assert!(text.contains("| radius, nothing fused | 3000 ms | 2.00 |"), "{text}");
        assert!(text.contains("| peak | 70.0 | 64 | **no**, 1.09 times |"), "{text}");
        assert!(text.contains("- auto: broken"), "{text}");
        assert_eq!(json(&all, &Machine::current(), "bench")["rows"][0]["target"], 4.0);
    }
}
