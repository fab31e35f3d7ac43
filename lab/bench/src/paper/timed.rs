//! Common part of the figures of time: their columns, and the conversion of records to rows.

use super::clouds::Cloud;
use super::cuda;
use super::figure::{Context, TableRows};
use super::table::{Row, Table};
use crate::timing::{Contender, OnCpu, Record, baseline};
use anyhow::Result;
use farpoint::Algorithm;
use farpoint_baselines::Method;
use farpoint_cli::output::{number, seconds};

/// Columns of the figures of time. `bytes` is the memory used beyond the input (CPU) or all device
/// memory (GPU); `samples_measured` is less than `samples` if the time was computed from a part.
pub(super) const HEAD: [&str; 15] = [
    "device",
    "cloud",
    "points",
    "samples",
    "algorithm",
    "variant",
    "seconds",
    "fastest",
    "slowest",
    "runs",
    "samples_measured",
    "bytes",
    "megapoints_per_second",
    "times_naive",
    "checksum",
];

/// Returns the rows of records, of which the first is the baseline of the others' speed.
pub(super) fn lines(context: &Context, records: &[Record]) -> TableRows {
    let Some(naive) = records.first() else { return TableRows::new() };
    records.iter().map(|record| line(context, record, naive)).collect()
}

fn line(context: &Context, record: &Record, naive: &Record) -> Vec<String> {
    let mut cells = vec![
        context.device().to_owned(),
        record.cloud.clone(),
        record.points.to_string(),
        record.samples.to_string(),
        record.requested.to_owned(),
        record.variant.clone(),
    ];
    cells.extend(record.cells());
    cells.extend([
        format!("{:.6}", record.points as f64 / record.median() / 1e6),
        format!("{:.4}", naive.median() / record.median()),
        format!("{:016x}", record.checksum),
    ]);
    cells
}

/// Returns the exact algorithms of figure 14 for one sample size; naive comes first.
pub(super) fn exact<'a>(
    context: &'a Context,
    cloud: &'a Cloud,
    samples: usize,
) -> Result<Vec<Contender<'a>>> {
    let Some(gpu) = &context.gpu else {
        let of = |algorithm| OnCpu { algorithm, threads: 1 }.contender(&cloud.case, samples);
        let quick = baseline(&cloud.case, Method::Quick { height: None }, samples);
        let peak = of(Algorithm::peak());
        return Ok(vec![of(Algorithm::Naive), quick, of(Algorithm::radius()), peak]);
    };
    let mut contenders = Vec::new();
    let all = [Algorithm::Naive, Algorithm::radius(), Algorithm::Persistent, Algorithm::peak()];
    for algorithm in all {
        contenders.extend(cuda::contender(gpu, &cloud.case, algorithm, samples)?);
    }
    Ok(contenders)
}

/// Formats a time, marked if it was computed from a part.
pub(super) fn time(row: &Row<'_>) -> String {
    let computed = row.number("samples_measured") < row.number("samples");
    format!("{}{}", seconds(row.number("seconds")), if computed { "*" } else { "" })
}

/// Formats the speed-up over brute force, marked if computed from a part.
pub(super) fn gain(row: &Row<'_>) -> String {
    format!("{}x", number(row.number("times_naive")))
}

/// Returns "cpu" or "cuda", as in the first row.
pub(super) fn device(table: &Table) -> &str {
    table.iter().next().map_or("cpu", |row| row.text("device"))
}

/// Returns the name of the device, for titles.
pub(super) fn place(table: &Table) -> &'static str {
    match device(table) {
        "cuda" => "GPU",
        _ => "CPU, one thread",
    }
}

/// Explanation of the mark, under tables.
pub(super) const COMPUTED: &str = "Times are medians of several runs made side by side; those \
    marked * are computed from a part of the samples, as brute force takes equally long for each.";
