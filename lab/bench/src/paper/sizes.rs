//! Figure 14: latency, memory and throughput against the sample size.

use super::claim::{Claim, Found};
use super::clouds::Cloud;
use super::figure::{Context, Figure, TableRows, row, short};
use super::published::{ROOM_QUICK_MB, ROOM_RADIUS_MB, TURN_FPS_MS, TURN_RADIUS_MS, Workload};
use super::rule::{Rule, Unit};
use super::table::{Row, Table};
use super::timed;
use crate::plot::{Axis, Lines, Panel, Series, Sheet};
use crate::timing::measure;
use anyhow::Result;
use farpoint_cli::output::{count, number};

pub(super) struct Sizes;

/// Sampling ratios.
const RATIOS: [f64; 5] = [0.015_625, 0.0625, 0.125, 0.25, 0.5];

/// A quantity drawn for a row: name, unit, and its value.
type Value = (&'static str, &'static str, fn(&Row<'_>) -> f64);
const VALUES: [Value; 3] = [
    ("latency", "milliseconds", |row| 1e3 * row.number("seconds")),
    ("memory", "megabytes", |row| row.number("bytes") / 1e6),
    ("throughput", "million points per second", |row| row.number("megapoints_per_second")),
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

    fn measure(&self, context: &Context, cloud: &Cloud) -> Result<TableRows> {
        let mut rows = Vec::new();
        for ratio in RATIOS {
            let samples = ((cloud.points().len() as f64 * ratio) as usize).max(1);
            let jobs = timed::exact(context, cloud, samples)?;
            let records = measure(cloud.case.subject(), &jobs, context.effort)?;
            rows.extend(timed::lines(context, &records));
        }
        Ok(rows)
    }

    fn plots(&self, table: &Table, foot: &str) -> Vec<(String, Sheet)> {
        let sheet = |value: &Value| {
            let clouds = table.each("cloud").into_iter();
            let panels = clouds.map(|cloud| panel(table, cloud, value)).collect();
            let place = timed::place(table);
            let title = format!("Figure 14: {} against the sample size ({place})", value.0);
            let sheet = Sheet { title, foot: foot.into(), columns: 2, panels };
            (format!("{}-{}", self.name(), value.0), sheet)
        };
        VALUES.iter().map(sheet).collect()
    }

    fn readable(&self, table: &Table) -> TableRows {
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

    fn published(&self) -> TableRows {
        let line = |what: &str, value: String| vec![what.to_owned(), value];
        vec![
            row(["named in section 5.6.1 (RTX 6000 Ada)", "value"]),
            line("FPS, 100,000 samples of the KITTI turn", format!("over {TURN_FPS_MS} ms")),
            line("RadiusFPS-G, the same", format!("{TURN_RADIUS_MS} ms")),
            line("QuickFPS, memory for the room", format!("nearly {ROOM_QUICK_MB} MB")),
            line("RadiusFPS-G, memory for the room", format!("about {ROOM_RADIUS_MB} MB")),
        ]
    }

    fn claims(&self, table: &Table) -> Vec<Claim> {
        let device = timed::device(table);
        let mut claims = latency(table, device);
        claims.extend(throughput(table, device));
        claims.extend(memory(table, device));
        claims
    }
}

/// Returns the rows of a cloud, grouped by sample size.
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

/// Returns a number of one algorithm over another's, at every cloud and size.
fn ratios(table: &Table, [a, b]: [&str; 2], column: &str) -> Vec<Found> {
    let clouds = table.each("cloud").into_iter();
    let sizes = clouds.flat_map(|cloud| by_size(table, cloud));
    sizes
        .filter_map(|all| {
            let of = |name: &str| all.iter().find(|row| row.text("algorithm") == name);
            let (a, b) = (of(a)?, of(b)?);
            Some(Found::of(a, samples(a), a.number(column) / b.number(column)))
        })
        .collect()
}

fn samples(row: &Row<'_>) -> String {
    format!("with {} samples", count(row.number("samples") as u64))
}

const PLACE: &str = "section 5.6.1, figure 14";
const NO_QUICK: &str = "this record does not measure quick on a GPU";
const NOT_GPU: &str = "the paper's number is of a GPU, this record of a CPU";
const PROGRAMS: &str = "The paper compares programs for GPUs; here all are farpoint's own, on the \
    device of this record.";
/// Factor of "about" in statements on memory.
const FACTOR: f64 = 1.5;

fn latency(table: &Table, device: &str) -> Vec<Claim> {
    let ratio = TURN_FPS_MS / TURN_RADIUS_MS;
    let turn = format!(
        "RadiusFPS-G takes {TURN_RADIUS_MS} ms, FPS over {TURN_FPS_MS} ms for the LiDAR turn (100,000 \
         samples): at least {ratio:.2} times as fast."
    );
    let lowest = |other| format!("RadiusFPS-G has a lower latency than {other} at every size.");
    let mut claims = vec![match device {
        "cuda" => Claim::new(
            PLACE,
            turn,
            ("time of naive over that of radius, half of the points", Unit::Times),
            most_samples(ratios(table, ["naive", "radius"], "seconds")),
            Rule::AtLeast(ratio),
        )
        .on(Workload::Turn)
        .note("Half of a turn's points are some 60,000 samples."),
        _ => Claim::incomparable(PLACE, turn, NOT_GPU),
    }];
    claims.push(
        Claim::new(
            PLACE,
            lowest("FPS"),
            ("time of naive over that of radius", Unit::Times),
            ratios(table, ["naive", "radius"], "seconds"),
            Rule::Above(1.0),
        )
        .note(PROGRAMS)
        .why("For few samples of small clouds brute force has less to prepare."),
    );
    claims.push(match device {
        "cuda" => Claim::incomparable(PLACE, lowest("QuickFPS"), NO_QUICK),
        _ => Claim::new(
            PLACE,
            lowest("QuickFPS"),
            ("time of quick over that of radius", Unit::Times),
            ratios(table, ["quick", "radius"], "seconds"),
            Rule::Above(1.0),
        )
        .note(PROGRAMS)
        .why("On a CPU with vectors quick's KD-tree, whose buckets follow the density of the points, \
              does better than equal voxels."),
    });
    claims
}

/// Returns the last size of each cloud.
fn most_samples(found: Vec<Found>) -> Vec<Found> {
    let mut last: Vec<Found> = Vec::new();
    for found in found {
        match last.last_mut() {
            Some(before) if before.is_of_same_cloud(&found) => *before = found,
            _ => last.push(found),
        }
    }
    last
}

fn throughput(table: &Table, device: &str) -> [Claim; 2] {
    let note = "Throughput is points over latency here; the paper does not say what it counts.";
    let highest = |other| format!("RadiusFPS-G has a higher throughput than {other} at all sizes.");
    let claim = |other, quantity, pair| {
        let found = ratios(table, pair, "megapoints_per_second");
        Claim::new(PLACE, highest(other), (quantity, Unit::Times), found, Rule::Above(1.0))
            .note(note)
    };
    let naive = claim("FPS", "throughput of radius over that of naive", ["radius", "naive"]);
    let quick = match device {
        "cuda" => Claim::incomparable(PLACE, highest("QuickFPS"), NO_QUICK),
        _ => claim("QuickFPS", "throughput of radius over that of quick", ["radius", "quick"]),
    };
    [naive, quick]
}

fn memory(table: &Table, device: &str) -> Vec<Claim> {
    let half = ROOM_QUICK_MB / ROOM_RADIUS_MB;
    let half_says = format!(
        "QuickFPS takes about {half} times the memory of RadiusFPS-G for the room (nearly \
         {ROOM_QUICK_MB} MB against about {ROOM_RADIUS_MB})."
    );
    let radius = table.with("algorithm", "radius");
    let megabytes = radius.map(|row| Found::of(&row, samples(&row), row.number("bytes") / 1e6));
    let room_says = format!("RadiusFPS-G takes about {ROOM_RADIUS_MB} MB for the room.");
    let absolute = match device {
        "cuda" => Claim::new(
            PLACE,
            room_says,
            ("memory of radius", Unit::Megabytes),
            megabytes.collect(),
            Rule::within(FACTOR, ROOM_RADIUS_MB),
        )
        .on(Workload::Room),
        _ => Claim::incomparable(PLACE, room_says, NOT_GPU),
    };
    let quick = match device {
        "cuda" => Claim::incomparable(PLACE, half_says, NO_QUICK),
        _ => Claim::new(
            PLACE,
            half_says,
            ("memory of quick over that of radius", Unit::Times),
            ratios(table, ["quick", "radius"], "bytes"),
            Rule::within(FACTOR, half),
        )
        .on(Workload::Room)
        .why(
            "The paper measures the released GPU program; farpoint's quick keeps its KD-tree in a \
              few numbers per bucket and its points in one sorted copy, as radius does.",
        ),
    };
    let comparable = Claim::new(
        PLACE,
        "RadiusFPS-G's memory is strictly comparable to that of FPS.",
        ("memory of radius over that of naive", Unit::Times),
        ratios(table, ["radius", "naive"], "bytes"),
        Rule::AtMost(FACTOR),
    )
    .why(
        "Brute force needs little: one copy of the coordinates and a distance per point. radius \
          sorts, and keeps indices and voxels. On a CPU the input is not counted.",
    );
    vec![absolute, quick, comparable]
}

fn panel(table: &Table, cloud: &str, (_, unit, value): &Value) -> Panel {
    let series = table.each("algorithm").into_iter().map(|algorithm| {
        let of_it = table.with("cloud", cloud).filter(|row| row.text("algorithm") == algorithm);
        let points = of_it.map(|row| (row.number("samples"), value(&row))).collect();
        Series::new(algorithm, points)
    });
    Panel::Lines(Lines {
        title: short(table, cloud).into(),
        x: Axis::log("samples"),
        y: Axis::log(unit),
        series: series.collect(),
    })
}
