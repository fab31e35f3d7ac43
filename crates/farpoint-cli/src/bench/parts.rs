//! The parts that compare times; each builds its jobs, measures them together, reports.

use super::measure::{Case, Job, Record, measure, statistics};
use super::plot::{Axis, Plot, Series};
use super::write::{row, time, times};
use super::{Bench, generated};
use crate::output::{count, number};
use anyhow::Result;
use farpoint::{Algorithm, RadiusOptions};
use farpoint_generate::Kind;

const ALL: [Algorithm; 4] = [Algorithm::Naive, Algorithm::Radius, Algorithm::Tree, Algorithm::Peak];

/// Every algorithm on every cloud, on one thread and on all.
pub(super) fn algorithms(bench: &Bench<'_>) -> Result<()> {
    let mut all = Vec::new();
    for case in bench.generated().iter().chain(&bench.given) {
        let m = case.quarter();
        let mut jobs: Vec<_> = ALL.iter().map(|a| Job::new(*a, m, 1)).collect();
        jobs.push(Job::new(Algorithm::Auto, m, 1));
        if bench.threads > 1 {
            let wide = [Algorithm::Naive, Algorithm::Tree, Algorithm::Peak, Algorithm::Auto];
            jobs.extend(wide.map(|a| Job::new(a, m, bench.threads)));
        }
        let records = measure(case, &jobs, bench.effort)?;
        let head = ["algorithm", "threads", "time", "samples/s", "over naive", "bytes a point"];
        let mut rows = vec![row(head)];
        rows.extend(records.iter().map(|record| {
            let name = match record.asked {
                Algorithm::Auto => format!("auto ({})", record.algorithm),
                other => other.to_string(),
            };
            vec![
                name,
                record.threads.to_string(),
                time(record),
                count((m as f64 / record.median()) as u64),
                times(&records[0], record),
                number(record.bytes_a_point()),
            ]
        }));
        bench.table(&heading("Algorithms", case, m), &rows)?;
        all.extend(records);
    }
    bench.csv("algorithms", &all)
}

fn heading(part: &str, case: &Case, samples: usize) -> String {
    format!("{part}: {}, {} of {} points", case.name, count(samples), count(case.usable()))
}

/// Figure 15b: speed-up of radius over naive against the number of voxels, one thread.
pub(super) fn voxels(bench: &Bench<'_>) -> Result<()> {
    let (mut all, mut series) = (Vec::new(), Vec::new());
    let sizes: &[u32] = match bench.args.quick {
        true => &[8, 24, 64],
        false => &[8, 12, 16, 24, 32, 48, 64, 96, 128],
    };
    for case in bench.generated().iter().chain(&bench.given) {
        let m = case.quarter();
        let mut jobs = vec![Job::new(Algorithm::Naive, m, 1)];
        jobs.extend(sizes.iter().map(|&nvox| {
            let options = RadiusOptions { nvox: Some(nvox), ..RadiusOptions::default() };
            Job::new(Algorithm::Radius, m, 1).radius(format!("nvox={nvox}"), options)
        }));
        jobs.push(Job::new(Algorithm::Radius, m, 1).radius("default", RadiusOptions::default()));
        let records = measure(case, &jobs, bench.effort)?;
        let mut rows = vec![row(["radius with", "time", "over naive"])];
        rows.extend(records.iter().map(|record| {
            let name = if record.variant.is_empty() { "(naive)" } else { &record.variant };
            vec![name.to_owned(), time(record), times(&records[0], record)]
        }));
        bench.table(&heading("Figure 15b", case, m), &rows)?;
        let gain = |k: usize| records[0].median() / records[k + 1].median();
        let points = sizes.iter().enumerate().map(|(k, &nvox)| (f64::from(nvox), gain(k)));
        series.push(Series { name: case.name.clone(), points: points.collect() });
        all.extend(records);
    }
    bench.csv("voxels", &all)?;
    let plot = Plot {
        title: "RadiusFPS: speed-up over brute force, a quarter of the points, one thread".into(),
        foot: bench.machine.to_string(),
        x: Axis::log("voxels along the longest side"),
        y: Axis::log("times as fast as naive"),
        series,
    };
    bench.plot("voxels", &plot)
}

/// Table 4: what each of the two prunings is worth. Without radius pruning every sample looks
/// at every voxel, so such times are computed from a part.
pub(super) fn prunings(bench: &Bench<'_>) -> Result<()> {
    let mut all = Vec::new();
    for case in bench.generated().iter().chain(&bench.given) {
        let m = case.quarter();
        let on_and_off = [(true, true), (true, false), (false, true), (false, false)];
        let jobs = on_and_off.map(|(radius_pruning, point_skip)| {
            let options = RadiusOptions { nvox: None, radius_pruning, point_skip };
            let yes = |on: bool| if on { "on" } else { "off" };
            let name = format!("pruning {}, skip {}", yes(radius_pruning), yes(point_skip));
            Job::new(Algorithm::Radius, m, 1).radius(name, options).linear(!radius_pruning)
        });
        let records = measure(case, &jobs, bench.effort)?;
        let mut rows =
            vec![row(["radius", "time", "over neither", "distances a sample", "skipped a sample"])];
        for (record, job) in records.iter().zip(jobs) {
            // Counting the slow ones over a part is enough for a mean.
            let job = Job { samples: record.measured, ..job };
            let counts = statistics(case, &job)?;
            let mark = if record.computed() { "*" } else { "" };
            let mean =
                |total: u64| format!("{}{mark}", number(total as f64 / record.measured as f64));
            rows.push(vec![
                record.variant.clone(),
                time(record),
                times(&records[3], record),
                mean(counts.distance_evaluations),
                mean(counts.points_skipped),
            ]);
        }
        bench.table(&heading("Table 4", case, m), &rows)?;
        all.extend(records);
    }
    bench.csv("prunings", &all)
}

/// Figure 14: time, memory and throughput against the number of samples, one thread.
pub(super) fn sizes(bench: &Bench<'_>) -> Result<()> {
    let mut all = Vec::new();
    for case in bench.room().iter().chain(&bench.given) {
        let mut rows = vec![row(["samples", "algorithm", "time", "samples/s", "MB", "over naive"])];
        let mut records: Vec<Record> = Vec::new();
        for part in [256, 64, 16, 8, 4, 2] {
            let m = (case.usable() / part).max(1);
            let jobs = ALL.map(|a| Job::new(a, m, 1));
            let batch = measure(case, &jobs, bench.effort)?;
            rows.extend(batch.iter().map(|record| {
                vec![
                    count(m),
                    record.asked.to_string(),
                    time(record),
                    count((m as f64 / record.median()) as u64),
                    number(record.bytes as f64 / 1e6),
                    times(&batch[0], record),
                ]
            }));
            records.extend(batch);
        }
        let title = format!("Figure 14: {}, {} points", case.name, count(case.usable()));
        bench.table(&title, &rows)?;
        size_plots(bench, case, &records)?;
        all.extend(records);
    }
    bench.csv("sizes", &all)
}

fn size_plots(bench: &Bench<'_>, case: &Case, records: &[Record]) -> Result<()> {
    type Value = fn(&Record) -> f64;
    let plots: [(&str, &str, Value); 3] = [
        ("time", "seconds", |record| record.median()),
        ("memory", "MB beyond the input", |record| record.bytes as f64 / 1e6),
        ("throughput", "samples a second", |record| record.samples as f64 / record.median()),
    ];
    for (name, label, value) in plots {
        let series = ALL.map(|algorithm| {
            let of_it = records.iter().filter(|record| record.asked == algorithm);
            let points = of_it.map(|record| (record.samples as f64, value(record))).collect();
            Series { name: algorithm.to_string(), points }
        });
        let plot = Plot {
            title: format!("{}: {name} against sample size, one thread", case.name),
            foot: bench.machine.to_string(),
            x: Axis::log("samples"),
            y: Axis::log(label),
            series: series.into(),
        };
        bench.plot(&format!("sizes-{name}-{}", case.name), &plot)?;
    }
    Ok(())
}

/// Ten times the points at the same ratio.
pub(super) fn growth(bench: &Bench<'_>) -> Result<()> {
    let sizes =
        if bench.args.quick { [1_000, 10_000, 100_000] } else { [100_000, 1_000_000, 10_000_000] };
    let (mut all, mut rows) = (Vec::<Record>::new(), Vec::new());
    rows.push(row(["points", "samples", "algorithm", "time", "over a tenth", "bytes a point"]));
    for points in sizes {
        let case = generated(Kind::Room, points);
        let job = Job::new(Algorithm::Auto, case.quarter(), 1);
        let record = measure(&case, &[job], bench.effort)?.remove(0);
        let grown = match all.last() {
            Some(last) => format!("{}x", number(record.median() / last.median())),
            None => String::new(),
        };
        rows.push(vec![
            count(points),
            count(record.samples),
            format!("auto ({})", record.algorithm),
            time(&record),
            grown,
            number(record.bytes_a_point()),
        ]);
        all.push(record);
    }
    bench.table("Growth: room, a quarter of the points, one thread", &rows)?;
    let points = all.iter().map(|record| (record.points as f64, record.median())).collect();
    let plot = Plot {
        title: "A quarter of a room scan, one thread".into(),
        foot: bench.machine.to_string(),
        x: Axis::log("points"),
        y: Axis::log("seconds"),
        series: vec![Series { name: "auto".into(), points }],
    };
    bench.plot("growth", &plot)?;
    bench.csv("growth", &all)
}

/// One thread against several.
pub(super) fn threads(bench: &Bench<'_>) -> Result<()> {
    let mut all = Vec::new();
    let mut steps: Vec<_> = (0..).map(|k| 1 << k).take_while(|t| *t < bench.threads).collect();
    steps.push(bench.threads);
    for case in bench.room().iter().chain(&bench.given) {
        let m = case.quarter();
        let who = [Algorithm::Naive, Algorithm::Tree, Algorithm::Peak];
        let jobs: Vec<_> =
            who.iter().flat_map(|a| steps.iter().map(move |t| Job::new(*a, m, *t))).collect();
        let records = measure(case, &jobs, bench.effort)?;
        let mut rows = vec![row(["algorithm", "threads", "time", "over one"])];
        for of_one in records.chunks(steps.len()) {
            rows.extend(of_one.iter().map(|record| {
                let name = record.asked.to_string();
                vec![name, record.threads.to_string(), time(record), times(&of_one[0], record)]
            }));
        }
        bench.table(&heading("Threads", case, m), &rows)?;
        all.extend(records);
    }
    bench.csv("threads", &all)
}

/// Clouds full of ties and repeats against one without, all of one size.
pub(super) fn ties(bench: &Bench<'_>) -> Result<()> {
    let points = if bench.args.quick { 20_000 } else { 200_000 };
    let kinds = [
        Kind::Cube,
        Kind::Lattice,
        Kind::Line,
        Kind::Equal,
        Kind::Duplicated,
        Kind::Clusters,
        Kind::Sphere,
    ];
    let mut all: Vec<Record> = Vec::new();
    let mut rows = vec![row(["cloud", "algorithm", "time", "time of the cube's"])];
    for kind in kinds {
        let case = generated(kind, points);
        let job = Job::new(Algorithm::Auto, case.quarter(), 1);
        all.extend(measure(&case, &[job], bench.effort)?);
        let (first, last) = (&all[0], &all[all.len() - 1]);
        rows.push(vec![
            kind.to_string(),
            format!("auto ({})", last.algorithm),
            time(last),
            format!("{}x", number(last.median() / first.median())),
        ]);
    }
    let title = format!("Ties and repeats: a quarter of {} points, one thread", count(points));
    bench.table(&title, &rows)?;
    bench.csv("ties", &all)
}
