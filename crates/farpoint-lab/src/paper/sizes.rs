//! Figure 14: latency, memory and throughput against the sample size.

use super::clouds::Cloud;
use super::figure::{Context, Figure, Finding, Rows, percent, row};
use super::published::{ROOM_QUICK_MB, ROOM_RADIUS_MB, TURN_FPS_MS, TURN_RADIUS_MS};
use super::table::{Row, Table, range};
use super::timed;
use crate::plot::{Axis, Lines, Panel, Series, Sheet};
use crate::timing::measure;
use anyhow::Result;
use farpoint_cli::output::{count, number};

pub(super) struct Sizes;

/// Shares of the points that are sampled.
const RATIOS: [f64; 5] = [0.015_625, 0.0625, 0.125, 0.25, 0.5];

/// What is drawn of a row: name and unit, and its value.
type Value = (&'static str, fn(&Row<'_>) -> f64);
const VALUES: [Value; 3] = [
    ("latency, ms", |row| 1e3 * row.number("seconds")),
    ("memory, MB", |row| row.number("bytes") / 1e6),
    ("throughput, Mpoints/s", |row| row.number("megapoints_per_second")),
];

impl Figure for Sizes {
    fn name(&self) -> &'static str {
        "figure14"
    }

    fn title(&self) -> &'static str {
        "Figure 14: latency, memory and throughput against the sample size"
    }

    fn about(&self) -> &'static str {
        "Exact algorithms only; all were checked to give the same indices. Latency is from \
         coordinates in memory to indices (on a GPU: kernels alone, by CUDA events). Memory is what \
         is in use at most beyond the input (on a GPU: all device memory, input included). \
         Throughput is the cloud's points over the latency."
    }

    fn head(&self) -> &'static [&'static str] {
        &timed::HEAD
    }

    fn measure(&self, context: &Context, cloud: &Cloud) -> Result<Rows> {
        let mut rows = Vec::new();
        for ratio in RATIOS {
            let samples = ((cloud.points().len() as f64 * ratio) as usize).max(1);
            let jobs = timed::exact(context, cloud, samples)?;
            let records = measure(cloud.case.subject(), &jobs, context.effort)?;
            rows.extend(timed::lines(context, &records));
        }
        Ok(rows)
    }

    fn plot(&self, table: &Table, foot: &str) -> Sheet {
        let clouds = table.each("cloud").into_iter();
        let panels = clouds
            .flat_map(|cloud| VALUES.iter().map(move |value| panel(table, cloud, value)))
            .collect();
        let title = format!("{} ({})", self.title(), timed::place(table));
        Sheet { title, foot: foot.into(), columns: VALUES.len(), panels }
    }

    fn readable(&self, table: &Table) -> Rows {
        let mut head = row(["cloud", "points", "samples"]);
        let algorithms = table.each("algorithm");
        head.extend(algorithms.iter().map(|name| (*name).to_owned()));
        head.extend(algorithms.iter().map(|name| format!("{name}, MB")));
        let mut rows = vec![head];
        for cloud in table.each("cloud") {
            for all in by_size(table, cloud) {
                let find = |name: &str| all.iter().find(|row| row.text("algorithm") == name);
                let whole = |name: &str| count(all[0].number(name) as u64);
                let mut cells = vec![cloud.to_owned(), whole("points"), whole("samples")];
                cells.extend(
                    algorithms.iter().map(|name| find(name).map_or("-".into(), timed::time)),
                );
                let bytes = |row: &Row<'_>| number(row.number("bytes") / 1e6);
                cells.extend(algorithms.iter().map(|name| find(name).map_or("-".into(), bytes)));
                rows.push(cells);
            }
        }
        rows
    }

    fn published(&self) -> Rows {
        let line = |what: &str, value: String| vec![what.to_owned(), value];
        vec![
            row(["named in section 5.6.1 (RTX 6000 Ada)", "value"]),
            line("FPS, 100,000 samples of the KITTI turn", format!("over {TURN_FPS_MS} ms")),
            line("RadiusFPS-G, the same", format!("{TURN_RADIUS_MS} ms")),
            line("QuickFPS, memory for the room", format!("nearly {ROOM_QUICK_MB} MB")),
            line("RadiusFPS-G, memory for the room", format!("about {ROOM_RADIUS_MB} MB")),
        ]
    }

    fn findings(&self, table: &Table) -> Vec<Finding> {
        let mut findings = vec![latency(table), throughput(table)];
        findings.extend(memory(table));
        findings.push(beside_naive(table));
        findings
    }
}

/// The rows of a cloud, those of a sample size together.
fn by_size<'a>(table: &'a Table, cloud: &'a str) -> Vec<Vec<Row<'a>>> {
    let mut sizes: Vec<Vec<Row<'a>>> = Vec::new();
    for row in table.with("cloud", cloud) {
        match sizes.last_mut() {
            Some(all) if all[0].text("samples") == row.text("samples") => all.push(row),
            _ => sizes.push(vec![row]),
        }
    }
    sizes
}

/// A number of two algorithms at every cloud and size, the first over the second.
fn ratios(table: &Table, [a, b]: [&str; 2], column: &str) -> Vec<f64> {
    let clouds = table.each("cloud").into_iter();
    let sizes = clouds.flat_map(|cloud| by_size(table, cloud));
    sizes
        .filter_map(|all| {
            let of = |name: &str| all.iter().find(|row| row.text("algorithm") == name);
            Some(of(a)?.number(column) / of(b)?.number(column))
        })
        .collect()
}

/// In how many cases radius takes least of those that the paper compares, and of how many.
fn wins(table: &Table) -> (usize, usize) {
    let clouds = table.each("cloud").into_iter();
    let cases: Vec<_> = clouds.flat_map(|cloud| by_size(table, cloud)).collect();
    let seconds = |all: &[Row<'_>], name: &str| {
        let row = all.iter().find(|row| row.text("algorithm") == name);
        row.map_or(f64::INFINITY, |row| row.number("seconds"))
    };
    let won = cases
        .iter()
        .filter(|all| seconds(all, "radius") < seconds(all, "naive").min(seconds(all, "quick")));
    (won.count(), cases.len())
}

/// Most, if not all.
fn mostly((part, all): (usize, usize)) -> Option<bool> {
    Some(10 * part >= 9 * all)
}

fn latency(table: &Table) -> Finding {
    let (won, cases) = wins(table);
    let text = |pair: [&str; 2]| {
        let [low, high] = range(ratios(table, pair, "seconds").into_iter());
        format!("{} to {}", number(low), number(high))
    };
    let quick = match table.with("algorithm", "quick").next() {
        Some(_) => format!(", quick {}", text(["quick", "radius"])),
        None => String::new(),
    };
    Finding {
        paper: format!(
            "RadiusFPS-G has the lowest latency of FPS, QuickFPS and itself at every size: \
             {TURN_RADIUS_MS} ms against over {TURN_FPS_MS} ms of FPS for 100,000 samples of the \
             KITTI turn ({} times).",
            number(TURN_FPS_MS / TURN_RADIUS_MS)
        ),
        ours: format!(
            "radius takes least of them in {won} of {cases} cases; naive takes {} times as \
             long{quick} times. farpoint's own peak, which the paper does not know, is faster than \
             radius by {}.",
            text(["naive", "radius"]),
            text(["radius", "peak"])
        ),
        agrees: mostly((won, cases)),
        why: "The paper compares programs for GPUs. Here all are farpoint's own; on a CPU with vectors \
              quick's KD-tree, whose buckets follow the density of the points, does better than \
              equal voxels, and for few samples of small clouds brute force does.",
    }
}

fn throughput(table: &Table) -> Finding {
    let (won, cases) = wins(table);
    Finding {
        paper: "RadiusFPS-G has the highest throughput at all sample sizes.".into(),
        ours: format!("As points over latency it is radius in the same {won} of {cases} cases."),
        agrees: mostly((won, cases)),
        why: "The paper does not say what it counts as throughput.",
    }
}

fn memory(table: &Table) -> Option<Finding> {
    let quick = ratios(table, ["quick", "radius"], "bytes");
    let [low, high] = range(quick.iter().copied());
    if quick.is_empty() {
        return None;
    }
    let more = quick.iter().filter(|ratio| **ratio > 1.0).count();
    Some(Finding {
        paper: format!(
            "RadiusFPS-G uses about half of QuickFPS's memory ({ROOM_RADIUS_MB} against nearly \
             {ROOM_QUICK_MB} MB for the room)."
        ),
        ours: format!(
            "quick takes {} to {} times the memory of radius; more in {} of the cases.",
            number(low),
            number(high),
            percent(more as f64 / quick.len() as f64)
        ),
        agrees: Some(low > 1.4),
        why: "The paper measures the released GPU program; farpoint's quick keeps its KD-tree in a \
              few numbers a bucket and its points in one sorted copy, as radius does.",
    })
}

fn beside_naive(table: &Table) -> Finding {
    let [low, high] = range(ratios(table, ["radius", "naive"], "bytes").into_iter());
    Finding {
        paper: "RadiusFPS-G's memory is strictly comparable to that of FPS.".into(),
        ours: format!(
            "radius takes {} to {} times the memory of naive.",
            number(low),
            number(high)
        ),
        agrees: Some(high < 1.5),
        why: "Here the input is not counted on the CPU, and brute force needs little else: one copy \
              of the coordinates and a distance a point. radius sorts, and keeps indices and voxels.",
    }
}

fn panel(table: &Table, cloud: &str, (label, value): &Value) -> Panel {
    let series = table.each("algorithm").into_iter().map(|algorithm| {
        let of_it = table.with("cloud", cloud).filter(|row| row.text("algorithm") == algorithm);
        let points = of_it.map(|row| (row.number("samples"), value(&row))).collect();
        Series::new(algorithm, points)
    });
    Panel::Lines(Lines {
        title: cloud.into(),
        x: Axis::log("samples"),
        y: Axis::log(label),
        series: series.collect(),
    })
}
