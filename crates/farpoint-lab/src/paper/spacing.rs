//! Figure 2: how even a farthest point sample is, beside a random one.

use super::clouds::Cloud;
use super::figure::{Context, Figure, Finding, Rows, percent, row};
use super::table::{Row, Table, range};
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

    fn measure(&self, context: &Context, cloud: &Cloud) -> Result<Rows> {
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

    fn plot(&self, table: &Table, foot: &str) -> Sheet {
        let panels = table.each("cloud").into_iter().map(|cloud| panel(table, cloud)).collect();
        Sheet { title: self.title().into(), foot: foot.into(), columns: 3, panels }
    }

    fn readable(&self, table: &Table) -> Rows {
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

    fn findings(&self, table: &Table) -> Vec<Finding> {
        let pairs: Vec<_> =
            table.with("sampler", SAMPLERS[0]).zip(table.with("sampler", SAMPLERS[1])).collect();
        let encloses = |(farthest, random): &&(Row<'_>, Row<'_>)| {
            random.number("min_spacing") <= farthest.number("min_spacing")
                && random.number("max_spacing") >= farthest.number("max_spacing")
        };
        let enclosed = pairs.iter().filter(encloses).count();
        let mut not: Vec<_> = pairs.iter().filter(|pair| !encloses(pair)).collect();
        not.dedup_by_key(|pair| pair.0.text("cloud"));
        let not: Vec<_> = not.iter().map(|pair| pair.0.text("cloud")).collect();
        let [low, high] = range(pairs.iter().map(|(farthest, _)| spread(farthest)));
        let [random_low, random_high] = range(pairs.iter().map(|(_, random)| spread(random)));
        vec![
            Finding {
                paper: "The range of random sampling completely encompasses that of farthest \
                        point sampling."
                    .into(),
                ours: match not.is_empty() {
                    true => format!("So it is in all {enclosed} samples."),
                    false => format!(
                        "So it is in {enclosed} of {} samples; not in all of: {}.",
                        pairs.len(),
                        not.join(", ")
                    ),
                },
                agrees: Some(enclosed == pairs.len()),
                why: "These clouds have isolated points, or half of them is sampled. Farthest point \
                      sampling takes isolated points first, and its largest spacing is theirs; a \
                      random sample misses most. The paper shows the dragon only.",
            },
            Finding {
                paper: "Farthest point sampling maintains a consistent distance between samples; \
                        random sampling is too dense or too sparse."
                    .into(),
                ours: format!(
                    "Largest spacing over smallest: {} to {} for farthest point samples, {} to {} \
                     for random ones.",
                    number(low),
                    number(high),
                    number(random_low),
                    number(random_high)
                ),
                agrees: Some(pairs.iter().all(|(farthest, random)| {
                    spread(farthest) < spread(random) || !spread(random).is_finite()
                })),
                why: "Infinite where points repeat and both are sampled.",
            },
        ]
    }
}

/// So many samples are a share of the points: at least two, which have a spacing.
fn samples(points: usize, ratio: f64) -> usize {
    ((points as f64 * ratio) as usize).clamp(2, points)
}

fn spread(row: &Row<'_>) -> f64 {
    row.number("max_spacing") / row.number("min_spacing")
}

fn panel(table: &Table, cloud: &str) -> Panel {
    let series = SAMPLERS.map(|sampler| {
        let of_it = || table.with("cloud", cloud).filter(|row| row.text("sampler") == sampler);
        let share = |row: &Row<'_>| 100.0 * row.number("ratio");
        let points = of_it().map(|row| (share(&row), row.number("mean_spacing"))).collect();
        let band = of_it()
            .map(|row| [share(&row), row.number("min_spacing"), row.number("max_spacing")])
            .collect();
        Series { band, ..Series::new(sampler, points) }
    });
    Panel::Lines(Lines {
        title: cloud.into(),
        x: Axis::log("sampled points, percent"),
        y: Axis::log("spacing, unit of the cloud"),
        series: series.into(),
    })
}
