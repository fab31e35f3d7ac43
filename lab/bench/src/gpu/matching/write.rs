//! The record of the benchmark in Markdown and JSON.

use super::super::words::{milliseconds, reached};
use super::{Cell, Measured};
use crate::machine::Machine;
use farpoint_cuda::Properties;
use serde_json::{Value, json};
use std::fmt::Write;

/// Arithmetic operations for a pair of points in one direction, by definition: three subtractions,
/// three multiplications, two additions, one minimum.
const OPERATIONS: f64 = 9.0;

/// Lanes of a multiprocessor, which do one f32 operation per cycle.
const LANES: f64 = 128.0;

/// Properties that determine the arithmetic limit.
#[derive(Clone, Copy)]
pub(super) struct Card {
    multiprocessors: u32,
    /// In Hz.
    clock: u64,
}

impl Card {
    pub(super) fn of(card: &Properties) -> Self {
        Self { multiprocessors: card.multiprocessors, clock: card.clock }
    }

    /// Maximum f32 operations per second, nothing being fused.
    fn limit(self) -> f64 {
        f64::from(self.multiprocessors) * LANES * self.clock as f64
    }
}

/// Returns the share of the limit that comparing all pairs in this time reaches.
fn share(measured: &Measured, name: &str, card: Card) -> Option<f64> {
    let seconds = measured.record(name)?.median();
    Some(measured.row.compared() * OPERATIONS / seconds / card.limit())
}

pub(super) fn markdown(all: &[Measured], card: Card, machine: &Machine, command: &str) -> String {
    let mut text = format!(
        "# Times of nearest points on a GPU\n\n{machine}\n\n`{command}`\n\nMedians of CUDA-event \
         times, f32, both directions, input on the device, scratch memory given, after 3 runs \
         that are not counted; several sets of clouds in turn. All distances, indices and \
         gradients were compared with the CPU's, bit by bit.\n\nThe arithmetic limit of the card \
         is {} multiprocessors × 128 × {:.0} MHz = {:.2} T operations a second. A pair of points \
         counts as 9 operations a direction: 3 subtractions, 3 multiplications, 2 additions, 1 \
         minimum.\n\n",
        card.multiprocessors,
        card.clock as f64 / 1e6,
        card.limit() / 1e12
    );
    table(&mut text, all, card);
    figures(&mut text, all, card);
    for (row, cell) in all.iter().flat_map(|m| m.cells.iter().map(move |cell| (m.row.name, cell))) {
        if let Err(error) = &cell.result {
            let _ = writeln!(text, "- {row}, {}: {error}", cell.name);
        }
    }
    text
}

fn table(text: &mut String, all: &[Measured], card: Card) {
    let Some(first) = all.first() else { return };
    let names: Vec<_> = first.cells.iter().map(|cell| cell.name).collect();
    let _ = writeln!(
        text,
        "| pairs | {} | plain of limit | brute of limit | scratch, MB |",
        names.join(" | ")
    );
    let _ = writeln!(text, "|---|{}", "---:|".repeat(names.len() + 3));
    for measured in all {
        let shown = |cell: &Cell| match &cell.result {
            Ok(record) => milliseconds(record.median()),
            Err(_) => "FAIL".into(),
        };
        let cells: Vec<_> = measured.cells.iter().map(shown).collect();
        let of = |name| share(measured, name, card).map_or(String::new(), percent);
        let scratch = measured.record("tree").map_or(0, |record| record.bytes) as f64 / 1e6;
        let (plain, brute) = (of("plain"), of("brute"));
        let name = measured.row.name;
        let _ =
            writeln!(text, "| {name} | {} | {plain} | {brute} | {scratch:.1} |", cells.join(" | "));
    }
    text.push('\n');
}

fn percent(share: f64) -> String {
    format!("{:.1} %", 100.0 * share)
}

/// Lists every target, with the measured figure.
fn figures(text: &mut String, all: &[Measured], card: Card) {
    text.push_str("| figure | found | to reach | reached |\n|---|---:|---:|---|\n");
    let mut line = |what: String, found: String, target: String, reached: String| {
        let _ = writeln!(text, "| {what} | {found} | {target} | {reached} |");
    };
    for measured in all {
        let row = &measured.row;
        let name = row.name;
        if let (Some(target), Some(found)) = (row.share, share(measured, "brute", card)) {
            let yes = reached(target, found);
            line(
                format!("{name}, brute, share of the limit"),
                percent(found),
                percent(target),
                yes,
            );
        }
        let Some(auto) = measured.record("auto") else { continue };
        if let Some(target) = row.target {
            let (found, yes) = (milliseconds(auto.median()), reached(auto.median() * 1e3, target));
            line(format!("{name}, auto"), found, format!("{target} ms"), yes);
        }
        if let (Some(target), Some(plain)) = (row.times, measured.record("plain")) {
            let found = plain.median() / auto.median();
            let yes = reached(target, found);
            line(
                format!("{name}, times as fast as plain"),
                format!("{found:.0}"),
                target.to_string(),
                yes,
            );
        }
        if let Some(backward) = measured.record("backward") {
            let (found, target) = (backward.median(), auto.median());
            let yes = reached(found, target);
            line(
                format!("{name}, backward, no slower than auto"),
                milliseconds(found),
                milliseconds(target),
                yes,
            );
        }
    }
    text.push('\n');
}

pub(super) fn json(all: &[Measured], card: Card, machine: &Machine, command: &str) -> Value {
    let cell = |cell: &Cell| match &cell.result {
        Err(error) => json!({ "method": cell.name, "error": error }),
        Ok(record) => {
            let [median, fastest, slowest] = record.seconds.map(|seconds| seconds * 1e3);
            json!({
                "method": cell.name,
                "milliseconds": median,
                "fastest": fastest,
                "slowest": slowest,
                "runs": record.runs,
                "scratch_bytes": record.bytes,
            })
        }
    };
    let row = |measured: &Measured| {
        json!({
            "pairs": measured.row.name,
            "batch": measured.row.pairs,
            "rows": measured.row.rows,
            "target": measured.row.target,
            "cpu_milliseconds": measured.cpu_seconds * 1e3,
            "brute_of_limit": share(measured, "brute", card),
            "methods": measured.cells.iter().map(cell).collect::<Vec<_>>(),
        })
    };
    json!({
        "machine": machine.json(),
        "command": command,
        "operations_a_pair": OPERATIONS,
        "limit_operations_a_second": card.limit(),
        "rows": all.iter().map(row).collect::<Vec<_>>(),
    })
}

#[cfg(test)]
mod tests {
    use super::super::rows::ROWS;
    use super::super::{Cell, Measured};
    use super::*;
    use crate::timing::Record;

    #[test]
    fn figures_stand_beside_their_targets() {
        let card = Card { multiprocessors: 132, clock: 1_980_000_000 };
        let timing = |ms: f64| Record {
            cloud: String::new(),
            points: 2_000_000,
            samples: 0,
            algorithm: "",
            requested: "",
            variant: String::new(),
            threads: 1,
            seconds: [ms / 1e3; 3],
            runs: 3,
            measured: 0,
            bytes: 0,
            indices: Vec::new(),
            checksum: 1,
        };
        let cell = |name, ms| Cell { name, result: Ok(timing(ms)) };
        let cells = vec![cell("plain", 900.0), cell("auto", 3.0), cell("backward", 4.0)];
        let all = [Measured { row: ROWS[5], cpu_seconds: 0.1, cells }];
        let text = markdown(&all, card, &Machine::current(), "bench");
        assert!(text.contains("rooms 1,000,000, auto | 3.00 ms | 4 ms | yes |"), "{text}");
        assert!(text.contains("times as fast as plain | 300 | 100 | yes |"), "{text}");
        assert!(text.contains("no slower than auto | 4.00 ms | 3.00 ms | **no**, 1.33"), "{text}");
    }
}
