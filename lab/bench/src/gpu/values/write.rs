//! The record of the benchmark in Markdown and JSON.

use super::super::words::{milliseconds, reached};
use super::Measured;
use crate::machine::Machine;
use serde_json::{Value, json};
use std::fmt::Write;

pub(super) fn markdown(all: &[Measured], machine: &Machine, command: &str) -> String {
    let mut text = format!(
        "# Times of operators on values on a GPU\n\n{machine}\n\n`{command}`\n\nMedians of CUDA-event \
         times, f32, indices of 64 bits at random, input on the device, memory given, after 3 runs \
         that are not counted. All results were compared with the CPU's, bit by bit.\n\n\
         | sizes | operator | time | to reach | reached | memory, MB |\n|---|---|---:|---:|---|---:|\n"
    );
    for Measured { row, cells } in all {
        for cell in cells {
            let (name, work) = (row.name, cell.work.name());
            let target = cell.target.map_or(String::new(), |target| format!("{target} ms"));
            let _ = match &cell.result {
                Err(error) => writeln!(text, "| {name} | {work} | FAIL {error} | {target} | | |"),
                Ok(record) => {
                    let yes = cell.target.map(|target| reached(record.median() * 1e3, target));
                    let (found, yes) = (milliseconds(record.median()), yes.unwrap_or_default());
                    let memory = record.bytes as f64 / 1e6;
                    writeln!(text, "| {name} | {work} | {found} | {target} | {yes} | {memory:.1} |")
                }
            };
        }
    }
    text.push('\n');
    text
}

pub(super) fn json(all: &[Measured], machine: &Machine, command: &str) -> Value {
    let cell = |cell: &super::Cell| match &cell.result {
        Err(error) => json!({ "operator": cell.work.name(), "error": error }),
        Ok(record) => {
            let [median, fastest, slowest] = record.seconds.map(|seconds| seconds * 1e3);
            json!({
                "operator": cell.work.name(),
                "milliseconds": median,
                "fastest": fastest,
                "slowest": slowest,
                "runs": record.runs,
                "target": cell.target,
                "memory_bytes": record.bytes,
            })
        }
    };
    let row = |measured: &Measured| {
        let shape = measured.row.shape;
        json!({
            "sizes": measured.row.name,
            "clouds": shape.clouds,
            "rows": shape.rows,
            "places": shape.places,
            "k": shape.k,
            "channels": shape.channels,
            "operators": measured.cells.iter().map(cell).collect::<Vec<_>>(),
        })
    };
    json!({
        "machine": machine.json(),
        "command": command,
        "rows": all.iter().map(row).collect::<Vec<_>>(),
    })
}
