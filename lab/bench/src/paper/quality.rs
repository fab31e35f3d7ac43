//! Table 5, as far as it needs no network: coverage of a cloud by each sampler, in place of mIoU.

use super::claim::{Claim, Found};
use super::clouds::Cloud;
use super::figure::{Context, Figure, TableRows, percent, row, short};
use super::published::{SAMPLERS, SEGMENTATION};
use super::rule::{Rule, Unit};
use super::table::{Row, Table};
use crate::plot::{Axis, Dots, Panel, Sheet};
use crate::timing::{Contender, Effort, OnCpu, Once, Record, baseline, measure};
use anyhow::Result;
use farpoint::approximate::{ApproximateSampler, Keep, Method};
use farpoint::measure::Spacing;
use farpoint::{Algorithm, Amount, Cpu, Sampler};
use farpoint_baselines as baselines;
use farpoint_cli::output::{count, number, seconds};
use std::time::Instant;

pub(super) struct Quality;

const HEAD: [&str; 16] = [
    "cloud",
    "points",
    "ratio",
    "samples",
    "sampler",
    "exact",
    "seconds",
    "covering_radius",
    "mean_distance",
    "p99_distance",
    "min_spacing",
    "mean_spacing",
    "max_spacing",
    "chamfer",
    "unique_share",
    "checksum",
];

/// Sampling ratios: that of the paper's figure 12; its networks take a quarter.
const RATIOS: [f64; 2] = [0.125, 0.25];

/// Approximate samplers and their names here: two of farpoint, the others baselines.
const SIMPLE: [(&str, Method); 2] =
    [("random", Method::Random { seed: 1 }), ("grid", Method::Grid { keep: Keep::Center })];
const BASELINES: [(&str, &str); 6] = [
    ("morton (EdgePC)", "morton"),
    ("npdu, input order", "npdu"),
    ("npdu, Morton order", "npdu:order=morton"),
    ("npdu, neighbors", "npdu:order=neighbors"),
    ("fastpoint, network", "fastpoint"),
    ("fastpoint, fit", "fastpoint:estimator=fit"),
];

/// Returns the names of the approximate samplers, in the order of the table.
fn approximate() -> impl Iterator<Item = &'static str> {
    SIMPLE.into_iter().map(|(name, _)| name).chain(BASELINES.into_iter().map(|(name, _)| name))
}

/// Low effort, as times are secondary here.
const EFFORT: Effort = Effort { warm: 0, runs: 3, budget: 1.0 };

impl Figure for Quality {
    fn name(&self) -> &'static str {
        "table5"
    }

    fn title(&self) -> &'static str {
        "Table 5: quality of every sampler"
    }

    fn about(&self) -> &'static str {
        "The paper measures how well a network segments what was sampled; here the sample itself is \
         judged: the distance of every point of the cloud to its nearest sample (mean, 99th \
         percentile, largest = covering radius), the spacing inside the sample, and the Chamfer \
         distance to the whole cloud. The plot shows distances over those of exact farthest point \
         sampling, a quarter of the points; 1 (the line) is as good. Times are of one thread, medians of three runs or \
         fewer long ones."
    }

    fn head(&self) -> &'static [&'static str] {
        &HEAD
    }

    fn measure(&self, context: &Context, cloud: &Cloud) -> Result<TableRows> {
        let mut rows = Vec::new();
        for ratio in RATIOS {
            let samples = ((cloud.points().len() as f64 * ratio) as usize).max(2);
            let contenders = contenders(context, cloud, samples);
            for record in measure(cloud.case.subject(), &contenders, EFFORT)? {
                let mut line = vec![
                    cloud.name().to_owned(),
                    cloud.points().len().to_string(),
                    ratio.to_string(),
                    record.indices.len().to_string(),
                ];
                line.extend(judged(cloud.points(), &record)?);
                rows.push(line);
            }
        }
        Ok(rows)
    }

    fn plots(&self, table: &Table, foot: &str) -> Vec<(String, Sheet)> {
        let panels = table.each("cloud").into_iter().map(|cloud| panel(table, cloud)).collect();
        let title = "Table 5: distances of the cloud to each sample, over those of FPS".into();
        vec![(self.name().into(), Sheet { title, foot: foot.into(), columns: 1, panels })]
    }

    fn readable(&self, table: &Table) -> TableRows {
        let mut rows = vec![row([
            "cloud",
            "ratio",
            "sampler",
            "samples",
            "time",
            "mean distance",
            "99 %",
            "covering radius",
            "over FPS",
            "spacing: least",
            "mean",
            "most",
            "Chamfer",
            "unique",
        ])];
        rows.extend(table.iter().map(|row| {
            let value = |name: &str| number(row.number(name));
            let over = relative(table, &row, "covering_radius");
            vec![
                row.text("cloud").to_owned(),
                percent(row.number("ratio")),
                row.text("sampler").to_owned(),
                count(row.number("samples") as u64),
                seconds(row.number("seconds")),
                value("mean_distance"),
                value("p99_distance"),
                value("covering_radius"),
                over.map_or("-".into(), |over| format!("{}x", number(over))),
                value("min_spacing"),
                value("mean_spacing"),
                value("max_spacing"),
                value("chamfer"),
                percent(row.number("unique_share")),
            ]
        }));
        rows
    }

    fn published(&self) -> TableRows {
        let mut head = row(["mIoU, percent", "data set"]);
        head.extend(SAMPLERS.map(str::to_owned));
        let line = |(model, set, values): (&str, &str, [f64; 8])| {
            let mut cells = row([model, set]);
            cells.extend(values.map(|value| format!("{value:.2}")));
            cells
        };
        std::iter::once(head).chain(SEGMENTATION.map(line)).collect()
    }

    fn claims(&self, table: &Table) -> Vec<Claim> {
        let mut claims = vec![exactness(table), accuracy()];
        claims.extend(ORDER.iter().map(|statement| statement.claim(table)));
        claims
    }
}

/// Returns every sampler as a contender; the first is exact.
fn contenders<'a>(context: &'a Context, cloud: &'a Cloud, samples: usize) -> Vec<Contender<'a>> {
    let mut contenders = Vec::new();
    if let Some(gpu) = &context.gpu {
        contenders.extend([Algorithm::peak(), Algorithm::radius()].map(|algorithm| {
            let run = move |points: &[[f32; 3]], samples| {
                let sampler = Sampler::count(samples).algorithm(algorithm);
                Ok(sampler.on(gpu).sample(points)?.indices)
            };
            contender(algorithm.name(), cloud, samples, run).variant("GPU")
        }));
    }
    let on_cpu = |algorithm| OnCpu { algorithm, threads: 1 }.contender(&cloud.case, samples);
    contenders.push(on_cpu(Algorithm::peak()));
    if context.gpu.is_none() {
        let quick = baselines::Method::Quick { height: None };
        contenders.push(baseline(&cloud.case, quick, samples));
        contenders.push(on_cpu(Algorithm::radius()));
    }
    contenders.extend(SIMPLE.map(|(name, method)| {
        let run = move |points: &[[f32; 3]], samples| {
            let (cpu, sampler) =
                (Cpu::new().threads(1), ApproximateSampler::count(method, samples));
            Ok(sampler.on(&cpu).sample(points)?.indices)
        };
        contender(name, cloud, samples, run).approximate()
    }));
    contenders.extend(BASELINES.map(|(name, method)| {
        let method = method.parse().expect("a baseline");
        let run = move |points: &[[f32; 3]], samples| {
            let mut job = baselines::Job::new(method, Amount::Count(samples));
            job.threads = Some(1);
            Ok(baselines::sample(&job, points)?.indices)
        };
        contender(name, cloud, samples, run).approximate()
    }));
    contenders
}

/// Returns a contender whose whole call is timed.
fn contender<'a>(
    name: &'static str,
    cloud: &'a Cloud,
    samples: usize,
    run: impl Fn(&[[f32; 3]], usize) -> Result<Vec<usize>> + Sync + 'a,
) -> Contender<'a> {
    Contender::new(name, samples, move |turn| {
        let start = Instant::now();
        let indices = run(cloud.points(), turn.samples)?;
        let seconds = start.elapsed().as_secs_f64();
        Ok(Once { indices, seconds, algorithm: name, bytes: None })
    })
}

/// Returns the name of a sampler here.
fn named(record: &Record) -> String {
    match record.variant.as_str() {
        "" => record.requested.to_owned(),
        variant => format!("{} ({variant})", record.requested),
    }
}

/// Returns the cells from the sampler's name on.
fn judged(points: &[[f32; 3]], record: &Record) -> Result<Vec<String>> {
    let quality = farpoint::measure::quality(points, &record.indices)?;
    let spacing =
        |value: fn(&Spacing) -> f64| quality.spacing.as_ref().map_or(0.0, value).to_string();
    let exact = approximate().all(|name| name != record.requested);
    Ok(vec![
        named(record),
        exact.to_string(),
        format!("{:.9}", record.median()),
        quality.coverage.max.to_string(),
        quality.coverage.mean.to_string(),
        quality.coverage.p99.to_string(),
        spacing(|spacing| spacing.min),
        spacing(|spacing| spacing.mean),
        spacing(|spacing| spacing.max),
        quality.chamfer.to_string(),
        quality.unique.to_string(),
        format!("{:016x}", record.checksum),
    ])
}

/// Returns the row of exact sampling of the same cloud and size.
fn exact_twin<'a>(table: &'a Table, row: &Row<'a>) -> Option<Row<'a>> {
    let mut rows = table.with("cloud", row.text("cloud"));
    rows.find(|other| other.text("exact") == "true" && other.text("samples") == row.text("samples"))
}

/// Returns a measure relative to that of exact sampling.
fn relative(table: &Table, row: &Row<'_>, column: &str) -> Option<f64> {
    Some(row.number(column) / exact_twin(table, row)?.number(column))
}

const PLACE: &str = "section 5.5.1, table 5";
const INSTEAD: &str = "Judged by the distance within which 99 % of the cloud's points have a sample, \
    in place of mIoU.";

/// A statement that one sampler is better or worse than another.
struct Statement {
    statement: &'static str,
    quantity: &'static str,
    /// Sampler whose distance is divided by that of the other (`None`: FPS).
    sampler: &'static str,
    other: Option<&'static str>,
    rule: Rule,
    why: &'static str,
}

/// Order of the samplers by the mIoU of table 5.
const ORDER: [Statement; 7] = [
    worse("Random sampling is worse than FPS.", "distance of 99 %, random over FPS", "random"),
    worse("Grid sampling is worse than FPS.", "distance of 99 %, grid over FPS", "grid"),
    better(
        "Grid sampling is better than random sampling.",
        "distance of 99 %, grid over random",
        "grid",
    ),
    worse("EdgePC is worse than FPS.", "distance of 99 %, morton over FPS", "morton (EdgePC)"),
    better(
        "EdgePC is better than random sampling.",
        "distance of 99 %, morton over random",
        "morton (EdgePC)",
    ),
    Statement {
        statement: "FPS+NPDU is worse than random sampling.",
        quantity: "distance of 99 %, npdu in the order of the input over random",
        sampler: "npdu, input order",
        other: Some("random"),
        rule: Rule::Above(1.0),
        why: "NPDU takes neighbors in the order for neighbors in space. Clouds that a loader has \
              shuffled or hashed break that; scans in the order of their sensor do not.",
    },
    Statement {
        statement: "FastPoint is as good as FPS.",
        quantity: "distance of 99 %, fastpoint with its network over FPS",
        sampler: "fastpoint, network",
        other: None,
        rule: Rule::Within { factor: 1.1, paper: [1.0; 2] },
        why: "The network here is farpoint's own, trained on its own curves.",
    },
];

const fn worse(
    statement: &'static str,
    quantity: &'static str,
    sampler: &'static str,
) -> Statement {
    Statement { statement, quantity, sampler, other: None, rule: Rule::Above(1.0), why: "" }
}

const fn better(
    statement: &'static str,
    quantity: &'static str,
    sampler: &'static str,
) -> Statement {
    let (other, rule) = (Some("random"), Rule::Below(1.0));
    Statement { statement, quantity, sampler, other, rule, why: FAR_FIELD }
}

const FAR_FIELD: &str =
    "On LiDAR turns it leaves the sparse far field thin, as random sampling does.";

impl Statement {
    fn claim(&self, table: &Table) -> Claim {
        let distance = |row: &Row<'_>| row.number("p99_distance");
        let found = table.with("sampler", self.sampler).filter_map(|row| {
            let other = match self.other {
                None => exact_twin(table, &row)?,
                Some(other) => of_sampler(table, &row, other)?,
            };
            let value = distance(&row) / distance(&other);
            Some(Found::of(&row, percent(row.number("ratio")), value))
        });
        let (quantity, found) = ((self.quantity, Unit::Times), found.collect());
        Claim::new(PLACE, self.statement, quantity, found, self.rule).note(INSTEAD).why(self.why)
    }
}

/// Returns another sampler's row of the same cloud and share.
fn of_sampler<'a>(table: &'a Table, row: &Row<'a>, sampler: &str) -> Option<Row<'a>> {
    let mut rows = table.iter().filter(|other| other.text("cloud") == row.text("cloud"));
    rows.find(|other| other.text("sampler") == sampler && other.text("ratio") == row.text("ratio"))
}

fn exactness(table: &Table) -> Claim {
    let found = table.each("cloud").into_iter().filter_map(|cloud| {
        let exact: Vec<_> =
            table.with("cloud", cloud).filter(|row| row.text("exact") == "true").collect();
        let same = |row: &&Row<'_>| {
            exact_twin(table, row).is_some_and(|twin| twin.text("checksum") == row.text("checksum"))
        };
        let share = exact.iter().filter(same).count() as f64 / exact.len() as f64;
        Some(Found::of(exact.first()?, "", 100.0 * share))
    });
    Claim::new(
        "section 3, table 5",
        "RadiusFPS samples as FPS does.",
        ("exact algorithms that choose the same indices in the same order", Unit::Percent),
        found.collect(),
        Rule::AtLeast(100.0),
    )
    .note("So that no network can tell them apart; farpoint's rules fix the first point and ties.")
}

fn accuracy() -> Claim {
    let off = SEGMENTATION.map(|(.., miou)| (miou[7] - miou[0]).abs());
    let max = off.into_iter().fold(0.0, f64::max);
    Claim::incomparable(
        PLACE,
        format!(
            "The mIoU of two networks on S3DIS, ScanNet and SemanticKITTI, with eight samplers: \
             RadiusFPS-G differs from FPS by up to {max:.2} percentage points."
        ),
        "no network is trained here, and the data sets are not part of farpoint",
    )
}

/// Measures that are drawn, and their names.
const MEASURES: [(&str, &str); 3] = [
    ("mean", "mean_distance"),
    ("99th percentile", "p99_distance"),
    ("largest (covering radius)", "covering_radius"),
];

/// Returns a panel with a row for each approximate sampler.
fn panel(table: &Table, cloud: &str) -> Panel {
    let ratio = RATIOS[1].to_string();
    let value = |sampler: &str, column: &str| {
        let mut rows = table.with("cloud", cloud);
        let row = rows.find(|row| row.text("sampler") == sampler && row.text("ratio") == ratio)?;
        relative(table, &row, column)
    };
    let measured = table.each("sampler");
    let samplers = approximate();
    let samplers: Vec<_> = samplers.filter(|name| measured.contains(name)).collect();
    let series = MEASURES.map(|(name, column)| {
        let values = samplers.iter().map(|sampler| value(sampler, column)).collect();
        (name.to_owned(), values)
    });
    Panel::Dots(Dots {
        title: short(table, cloud).into(),
        x: Axis::log("times the distance of FPS").holding(drawn(table)),
        rows: samplers.into_iter().map(str::to_owned).collect(),
        series: series.into(),
        base: 1.0,
    })
}

/// Returns all values drawn for any cloud, so that panels can be compared.
fn drawn(table: &Table) -> Vec<f64> {
    let ratio = RATIOS[1].to_string();
    let rows = table.iter().filter(|row| row.text("ratio") == ratio);
    rows.flat_map(|row| MEASURES.map(|(_, column)| relative(table, &row, column)))
        .flatten()
        .collect()
}
