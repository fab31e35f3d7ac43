//! Figure 2: evenness of a farthest point sample, beside a random one.

use super::claim::{Claim, Found};
use super::clouds::Cloud;
use super::figure::{Context, Figure, TableRows, percent, row, short};
use super::published::Workload;
use super::rule::{Rule, Unit};
use super::table::{Row, Table};
use crate::plot::{Axis, Lines, Panel, Series, Sheet};
use anyhow::Result;
use farpoint::approximate::{ApproximateSampler, Method};
use farpoint::measure::{Spacing, covering_radius, spacing};
use farpoint_cli::output::{count, number};

pub(super) struct Spacings;

const HEAD: [&str; 9] = [
    "cloud",
    "points",
    "ratio",
    "samples",
    "sampler",
    "covering_radius",
    "mean_spacing",
    "min_spacing",
    "max_spacing",
];

const RATIOS: [f64; 6] = [0.015_625, 0.031_25, 0.0625, 0.125, 0.25, 0.5];

const SAMPLERS: [&str; 2] = ["farthest point", "random"];

impl Figure for Spacings {
    fn name(&self) -> &'static str {
        "figure2"
    }

    fn title(&self) -> &'static str {
        "Figure 2: spacing of farthest point samples and of random ones"
    }

    fn about(&self) -> &'static str {
        "The distance from each sample to the nearest other sample: its mean (line) and its range \
         from smallest to largest (shaded), against the share of the points that is sampled. A range \
         that starts at zero (repeated points) reaches the lower edge. Random samples are without \
         replacement, seed 1."
    }

    fn head(&self) -> &'static [&'static str] {
        &HEAD
    }

    fn measure(&self, context: &Context, cloud: &Cloud) -> Result<TableRows> {
        let points = cloud.points();
        let most = samples(points.len(), RATIOS[RATIOS.len() - 1]);
        let farthest = context.farthest(points, most)?;
        let mut rows = Vec::new();
        for ratio in RATIOS {
            let samples = samples(points.len(), ratio);
            // Every prefix of farthest point sampling is its sample of that size.
            let random = ApproximateSampler::count(Method::Random { seed: 1 }, samples);
            let random = random.sample(points)?.indices;
            for (sampler, sample) in SAMPLERS.iter().zip([&farthest[..samples], &random]) {
                let radius = covering_radius(points, sample)?;
                let Spacing { mean, min, max, .. } = spacing(points, sample)?;
                rows.push(vec![
                    cloud.name().to_owned(),
                    points.len().to_string(),
                    ratio.to_string(),
                    samples.to_string(),
                    (*sampler).to_owned(),
                    radius.to_string(),
                    mean.to_string(),
                    min.to_string(),
                    max.to_string(),
                ]);
            }
        }
        Ok(rows)
    }

    fn plots(&self, table: &Table, foot: &str) -> Vec<(String, Sheet)> {
        let panels = table.each("cloud").into_iter().map(|cloud| panel(table, cloud)).collect();
        let title = format!("{}: mean (line), smallest to largest (shaded)", self.title());
        vec![(self.name().into(), Sheet { title, foot: foot.into(), columns: 2, panels })]
    }

    fn readable(&self, table: &Table) -> TableRows {
        let mut rows = vec![row([
            "cloud",
            "ratio",
            "samples",
            "sampler",
            "mean spacing",
            "smallest",
            "largest",
            "largest over smallest",
            "covering radius",
        ])];
        rows.extend(table.iter().map(|row| {
            let value = |name: &str| number(row.number(name));
            vec![
                row.text("cloud").to_owned(),
                percent(row.number("ratio")),
                count(row.number("samples") as u64),
                row.text("sampler").to_owned(),
                value("mean_spacing"),
                value("min_spacing"),
                value("max_spacing"),
                number(spread(&row)),
                value("covering_radius"),
            ]
        }));
        rows
    }

    fn claims(&self, table: &Table) -> Vec<Claim> {
        let pairs = || table.with("sampler", SAMPLERS[0]).zip(table.with("sampler", SAMPLERS[1]));
        let over = |of: fn(&Row<'_>) -> f64| -> Vec<Found> {
            // Both are 0 where points repeat.
            let ratio = |(farthest, random): &(Row<'_>, Row<'_>)| match (of(random), of(farthest)) {
                (random, farthest) if random == farthest => 1.0,
                (random, farthest) => random / farthest,
            };
            pairs().map(|pair| Found::of(&pair.0, share(&pair.0), ratio(&pair))).collect()
        };
        let encloses = "The range of random sampling completely encompasses that of FPS.";
        let uneven = |pair: &(Row<'_>, Row<'_>)| spread(&pair.1).is_finite();
        let spreads = pairs().filter(uneven).map(|(farthest, random)| {
            Found::of(&farthest, share(&farthest), spread(&random) / spread(&farthest))
        });
        let (least, most) = (
            ("smallest spacing of random samples over that of FPS", Unit::Times),
            ("largest spacing of random samples over that of FPS", Unit::Times),
        );
        vec![
            Claim::new(PLACE, encloses, least, over(smallest), Rule::AtMost(1.0))
                .on(Workload::Dragon)
                .note("Clouds with repeated points have a smallest spacing of 0 in both."),
            Claim::new(PLACE, encloses, most, over(largest), Rule::AtLeast(1.0))
                .on(Workload::Dragon)
                .note(ISOLATED),
            Claim::new(
                PLACE,
                "FPS keeps a more consistent distance between samples than random sampling.",
                ("largest over smallest spacing, random over FPS", Unit::Times),
                spreads.collect(),
                Rule::Above(1.0),
            )
            .note("Random samples that hold a point twice are left out: their ratio is infinite."),
        ]
    }
}

const PLACE: &str = "figure 2";
const ISOLATED: &str = "FPS takes isolated points first, and its largest spacing is theirs; a random \
    sample misses most of them. The paper shows the dragon only.";

fn smallest(row: &Row<'_>) -> f64 {
    row.number("min_spacing")
}

fn largest(row: &Row<'_>) -> f64 {
    row.number("max_spacing")
}

fn share(row: &Row<'_>) -> String {
    percent(row.number("ratio"))
}

/// Returns the number of samples for a share of the points: at least two, which have a spacing.
fn samples(points: usize, ratio: f64) -> usize {
    ((points as f64 * ratio) as usize).clamp(2, points)
}

fn spread(row: &Row<'_>) -> f64 {
    largest(row) / smallest(row)
}

fn panel(table: &Table, cloud: &str) -> Panel {
    let series = [(SAMPLERS[0], "FPS"), (SAMPLERS[1], "random")].map(|(sampler, name)| {
        let of_it = || table.with("cloud", cloud).filter(|row| row.text("sampler") == sampler);
        let share = |row: &Row<'_>| 100.0 * row.number("ratio");
        let points = of_it().map(|row| (share(&row), row.number("mean_spacing"))).collect();
        let band = of_it().map(|row| [share(&row), smallest(&row), largest(&row)]).collect();
        Series { band, ..Series::new(name, points) }
    });
    Panel::Lines(Lines {
        title: short(table, cloud).into(),
        x: Axis::log("share sampled, percent"),
        y: Axis::log("spacing, in the cloud's unit"),
        series: series.into(),
    })
}
