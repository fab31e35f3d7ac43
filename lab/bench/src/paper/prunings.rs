//! Table 4: speed-up by each pruning of radius on the CPU, by each fusion on a GPU.

use super::claim::{Claim, Found};
use super::clouds::Cloud;
use super::cuda;
use super::figure::{Context, Figure, TableRows, row, short};
use super::published::{FUSIONS, PRUNINGS};
use super::rule::{Rule, Unit};
use super::table::{Row, Table};
use super::timed;
use crate::plot::{Axis, Dots, Panel, Sheet};
use crate::timing::{Contender, OnCpu, measure};
use anyhow::Result;
use farpoint::{Algorithm, RadiusOptions};
use farpoint_cli::output::number;
use farpoint_cuda::Gpu;

pub(super) struct Prunings;

/// The columns of times, and two counts (empty on a GPU, which does not count).
const HEAD: [&str; 17] = {
    let mut head = [""; 17];
    let mut k = 0;
    while k < timed::HEAD.len() {
        head[k] = timed::HEAD[k];
        k += 1;
    }
    head[15] = "distances_per_sample";
    head[16] = "points_skipped_per_sample";
    head
};

/// The paper's order.
const SWITCHES: [(bool, bool); 4] = [(true, true), (true, false), (false, true), (false, false)];

impl Figure for Prunings {
    fn name(&self) -> &'static str {
        "table4"
    }

    fn title(&self) -> &'static str {
        "Table 4: what each part of radius is worth"
    }

    fn about(&self) -> &'static str {
        "A quarter of the points, sampled by radius with its two prunings (on a GPU: its two fused \
         kernels) switched on and off, over brute force on the same device. All variants give the \
         same indices, which was checked."
    }

    fn head(&self) -> &'static [&'static str] {
        &HEAD
    }

    fn measure(&self, context: &Context, cloud: &Cloud) -> Result<TableRows> {
        let samples = cloud.case.quarter();
        let contenders = match &context.gpu {
            None => on_cpu(cloud, samples),
            Some(gpu) => on_gpu(gpu, cloud, samples)?,
        };
        let records = measure(cloud.case.subject(), &contenders, context.effort)?;
        let mut rows = timed::lines(context, &records);
        for (k, (record, line)) in records.iter().zip(&mut rows).enumerate() {
            let counts = match (context.gpu.is_some(), k.checked_sub(1)) {
                (false, Some(k)) => {
                    // Counting the slow ones over a part is enough for a mean.
                    let counts = radius(SWITCHES[k]).statistics(&cloud.case, record.measured)?;
                    let mean = |total: u64| format!("{:.1}", total as f64 / record.measured as f64);
                    [mean(counts.distance_evaluations), mean(counts.points_skipped)]
                }
                _ => [String::new(), String::new()],
            };
            line.extend(counts);
        }
        Ok(rows)
    }

    fn plots(&self, table: &Table, foot: &str) -> Vec<(String, Sheet)> {
        let clouds = table.each("cloud");
        let gain = |cloud: &&str, variant: &str| {
            let mut of_it = table.with("cloud", cloud);
            of_it.find(|row| row.text("variant") == variant).map(|row| row.number("times_naive"))
        };
        let series = variants(table).into_iter().map(|variant| {
            (variant.to_owned(), clouds.iter().map(|cloud| gain(cloud, variant)).collect())
        });
        let panel = Panel::Dots(Dots {
            title: String::new(),
            x: Axis::log("times as fast as brute force"),
            rows: clouds.iter().map(|cloud| short(table, cloud).to_owned()).collect(),
            series: series.collect(),
            base: 1.0,
        });
        let title = format!("{} ({})", self.title(), timed::place(table));
        vec![(self.name().into(), Sheet::single(&title, foot, panel))]
    }

    fn readable(&self, table: &Table) -> TableRows {
        let mut rows = vec![row([
            "cloud",
            "variant",
            "time",
            "over brute force",
            "distances per sample",
            "skipped per sample",
        ])];
        let count = |row: &Row<'_>, name: &str| match row.text(name) {
            "" => "-".to_owned(),
            _ => number(row.number(name)),
        };
        rows.extend(table.iter().map(|row| {
            let variant =
                if row.text("variant").is_empty() { "(naive)" } else { row.text("variant") };
            vec![
                row.text("cloud").to_owned(),
                variant.to_owned(),
                timed::time(&row),
                timed::gain(&row),
                count(&row, "distances_per_sample"),
                count(&row, "points_skipped_per_sample"),
            ]
        }));
        rows
    }

    fn published(&self) -> TableRows {
        let mut rows = vec![row(["the paper's table 4 (S3DIS)", "mIoU", "total speed-up"])];
        rows.push(row(["FPS (GPU)", "67.90 %", "1.00x"]));
        let line = |variant: String, accuracy: f64, gain: f64| {
            vec![variant, format!("{accuracy:.2} %"), format!("{gain:.2}x")]
        };
        rows.extend(PRUNINGS.map(|(a, b, accuracy, gain)| {
            line(format!("RadiusFPS: {}", pruning((a, b))), accuracy, gain)
        }));
        rows.extend(FUSIONS.map(|(a, b, accuracy, gain)| {
            line(format!("RadiusFPS-G: {}", fusion((a, b))), accuracy, gain)
        }));
        rows
    }

    fn claims(&self, table: &Table) -> Vec<Claim> {
        match timed::device(table) {
            "cuda" => fusions_claimed(table),
            _ => prunings_claimed(table),
        }
    }
}

fn yes(on: bool) -> &'static str {
    if on { "on" } else { "off" }
}

fn pruning((pruning, skip): (bool, bool)) -> String {
    format!("pruning {}, skip {}", yes(pruning), yes(skip))
}

fn fusion((selection, update): (bool, bool)) -> String {
    format!("selection fused {}, update fused {}", yes(selection), yes(update))
}

fn radius((pruning, skip): (bool, bool)) -> OnCpu {
    let options = RadiusOptions::default().radius_pruning(pruning).point_skip(skip);
    OnCpu { algorithm: Algorithm::Radius(options), threads: 1 }
}

/// Without radius pruning every sample visits every voxel: linear.
fn on_cpu(cloud: &Cloud, samples: usize) -> Vec<Contender<'_>> {
    let naive = OnCpu { algorithm: Algorithm::Naive, threads: 1 };
    let mut contenders = vec![naive.contender(&cloud.case, samples)];
    contenders.extend(SWITCHES.map(|switches| {
        let contender = radius(switches).contender(&cloud.case, samples);
        contender.variant(pruning(switches)).linear(!switches.0)
    }));
    contenders
}

fn on_gpu<'a>(gpu: &'a Gpu, cloud: &'a Cloud, samples: usize) -> Result<Vec<Contender<'a>>> {
    let contender = |algorithm| cuda::contender(gpu, &cloud.case, algorithm, samples);
    let mut contenders = Vec::from_iter(contender(Algorithm::Naive)?);
    for (selection, update) in SWITCHES {
        let options = RadiusOptions::default().fuse_selection(selection).fuse_update(update);
        let name = fusion((selection, update));
        contenders.extend(
            contender(Algorithm::Radius(options))?.map(|contender| contender.variant(name)),
        );
    }
    Ok(contenders)
}

/// Returns the switches that were measured, not brute force.
fn variants(table: &Table) -> Vec<&str> {
    table.each("variant").into_iter().filter(|variant| !variant.is_empty()).collect()
}

/// Returns times of one variant over another's, on every cloud. Brute force is the variant without a name.
fn ratios(table: &Table, over: &str, under: &str) -> Vec<Found> {
    let clouds = table.each("cloud").into_iter();
    let ratio = |cloud| {
        let rows = table.with("cloud", cloud);
        let find = |variant: &str| rows.clone().find(|row| row.text("variant") == variant);
        let (over, under) = (find(over)?, find(under)?);
        Some(Found::of(&over, "", over.number("seconds") / under.number("seconds")))
    };
    clouds.filter_map(ratio).collect()
}

const PLACE: &str = "section 5.4, table 4";
const WHOLE: &str = "the paper's number is of a whole segmentation network over one with FPS on a \
    GPU; here sampling alone is measured";

fn prunings_claimed(table: &Table) -> Vec<Claim> {
    let names = SWITCHES.map(pruning);
    let [both, alone, skip, neither] = names.each_ref().map(String::as_str);
    let [(.., with_both), (.., with_pruning), (.., accuracy, with_skip)] = PRUNINGS;
    let time = |what| (what, Unit::Times);
    vec![
        Claim::incomparable(
            PLACE,
            format!(
                "The network is {with_pruning} times as fast with radius pruning, {with_both} with \
                 point skip too, {with_skip} with point skip alone."
            ),
            WHOLE,
        ),
        Claim::new(
            PLACE,
            "Radius pruning alone makes sampling faster than FPS.",
            time("time of naive over that of radius with pruning alone"),
            ratios(table, "", alone),
            Rule::Above(1.0),
        ),
        Claim::new(
            PLACE,
            "Without radius pruning it is slower.",
            time("time without prunings over that with radius pruning alone"),
            ratios(table, neither, alone),
            Rule::Above(1.0),
        ),
        Claim::new(
            PLACE,
            "Point skip added to radius pruning makes it faster still.",
            time("time without point skip over that with both"),
            ratios(table, alone, both),
            Rule::Above(1.0),
        )
        .why(
            "farpoint computes 8 or 16 distances by one instruction, so that the test costs about \
              what it saves.",
        ),
        Claim::new(
            PLACE,
            "Point skip alone is fastest.",
            time("time with both over that with point skip alone"),
            ratios(table, both, skip),
            Rule::Above(1.0),
        )
        .why(
            "The paper calls its row a negative control in which voxels go out of step. Here every \
              combination keeps them right, so that skip alone still looks at all voxels.",
        ),
        Claim::incomparable(
            PLACE,
            format!("Point skip alone samples wrongly (mIoU {accuracy} %)."),
            "no network is trained here; farpoint's switches were checked to give the same indices",
        ),
    ]
}

fn fusions_claimed(table: &Table) -> Vec<Claim> {
    let names = SWITCHES.map(fusion);
    let [both, selection, update, neither] = names.each_ref().map(String::as_str);
    let gains = FUSIONS.map(|(.., gain)| gain.to_string());
    let time = |what| (what, Unit::Times);
    let claim = |statement: &str, quantity, over, under| {
        Claim::new(PLACE, statement, time(quantity), ratios(table, over, under), Rule::Above(1.0))
    };
    vec![
        Claim::incomparable(
            PLACE,
            format!(
                "The network is {} times as fast with both fusions, {} with the selection fused, {} \
                 with the update fused, {} with none.",
                gains[0], gains[1], gains[2], gains[3]
            ),
            WHOLE,
        ),
        claim(
            "Fusing the selection makes sampling faster.",
            "time without fusions over that with the selection fused",
            neither,
            selection,
        ),
        claim(
            "Fusing the update makes sampling faster.",
            "time without fusions over that with the update fused",
            neither,
            update,
        ),
        claim(
            "Both fusions are faster than the selection fused alone.",
            "time with the selection fused over that with both",
            selection,
            both,
        ),
        claim(
            "Both fusions are faster than the update fused alone.",
            "time with the update fused over that with both",
            update,
            both,
        ),
        claim(
            "RadiusFPS-G is faster than FPS even without fusions.",
            "time of naive over that of radius without fusions",
            "",
            neither,
        ),
    ]
}
