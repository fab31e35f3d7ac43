//! Figure 3: share of brute force's distance updates that change nothing.

use super::claim::{Claim, Found};
use super::clouds::Cloud;
use super::figure::{Context, Figure, TableRows, percent, row, short};
use super::rule::{Rule, Unit};
use super::table::{Row, Table};
use crate::plot::{Axis, Lines, Panel, Series, Sheet};
use crate::timing::OnCpu;
use anyhow::Result;
use farpoint::Algorithm;
use farpoint_cli::output::count;
use std::thread::available_parallelism;

pub(super) struct Updates;

const HEAD: [&str; 6] =
    ["cloud", "points", "step_from", "step_to", "ineffective_share", "steps_above_90_percent"];

/// Maximum number of distances computed, so that a million points take seconds.
const MOST_DISTANCES: usize = 15_000_000_000;

/// Sampling ratios: the paper prints none here; these are those of its figure 12, and a half.
const RATIOS: [f64; 3] = [0.125, 0.25, 0.5];

/// Number of steps per decade.
const PER_DECADE: f64 = 10.0;

impl Figure for Updates {
    fn name(&self) -> &'static str {
        "figure3"
    }

    fn title(&self) -> &'static str {
        "Figure 3: distance updates that change nothing"
    }

    fn about(&self) -> &'static str {
        "Brute force compares every new sample with all points; the share of them whose distance \
         to the nearest sample stays as it was, averaged over short runs of steps. A smaller \
         ratio is the beginning of the same curve. The axis shows 90, 99, 99.9 percent at equal \
         distances. Up to half of the points are sampled, fewer of \
         large clouds. Counted on the CPU."
    }

    fn head(&self) -> &'static [&'static str] {
        &HEAD
    }

    fn measure(&self, _: &Context, cloud: &Cloud) -> Result<TableRows> {
        let points = cloud.points().len();
        let steps = (points / 2).min(MOST_DISTANCES / points).max(2);
        let threads = available_parallelism().map_or(1, usize::from);
        let naive = OnCpu { algorithm: Algorithm::Naive, threads };
        let counts = naive.statistics(&cloud.case, steps)?;
        let vain =
            |step: usize| 1.0 - f64::from(counts.effective_by_step[step - 1]) / points as f64;
        let (mut rows, mut from, mut above) = (Vec::new(), 1, 0);
        for to in ends(points, counts.effective_by_step.len()) {
            let share = (from..=to).map(vain).sum::<f64>() / (to - from + 1) as f64;
            above += (from..=to).filter(|step| vain(*step) > 0.9).count();
            rows.push(vec![
                cloud.name().to_owned(),
                points.to_string(),
                from.to_string(),
                to.to_string(),
                format!("{share:.6}"),
                format!("{:.6}", above as f64 / to as f64),
            ]);
            from = to + 1;
        }
        Ok(rows)
    }

    fn plots(&self, table: &Table, foot: &str) -> Vec<(String, Sheet)> {
        let panels = table.each("cloud").into_iter().map(|cloud| panel(table, cloud)).collect();
        let title = format!("{}, step by step (gray: the other clouds)", self.title());
        vec![(self.name().into(), Sheet { title, foot: foot.into(), columns: 2, panels })]
    }

    fn readable(&self, table: &Table) -> TableRows {
        let mut rows = vec![row([
            "cloud",
            "points",
            "sampled",
            "steps",
            "in vain at the end",
            "steps with over 90 % in vain",
        ])];
        for (cloud, row) in table.each("cloud").into_iter().flat_map(|cloud| ends_of(table, cloud))
        {
            let points = row.number("points");
            rows.push(vec![
                cloud.to_owned(),
                count(points as u64),
                percent(row.number("step_to") / points),
                count(row.number("step_to") as u64),
                percent(row.number("ineffective_share")),
                percent(row.number("steps_above_90_percent")),
            ]);
        }
        rows
    }

    fn claims(&self, table: &Table) -> Vec<Claim> {
        let clouds = || table.each("cloud").into_iter();
        let lasts = clouds().filter_map(|cloud| table.with("cloud", cloud).last());
        let max = lasts
            .map(|row| Found::of(&row, "", 100.0 * row.number("steps_above_90_percent")))
            .collect();
        let dominated = |row: &Row<'_>| row.number("ineffective_share") > 0.9;
        let firsts = clouds().filter_map(|cloud| {
            let row = table.with("cloud", cloud).find(dominated)?;
            Some(Found::of(&row, "", 100.0 * row.number("step_from") / row.number("points")))
        });
        vec![
            Claim::new(
                PLACE,
                "More than 90 % of the updates change nothing in most later iterations.",
                ("share of the steps with more than 90 % in vain", Unit::Percent),
                max,
                Rule::Above(50.0),
            ),
            Claim::new(
                PLACE,
                "Updates that change nothing rapidly dominate after the initial stage.",
                (
                    "samples until more than 90 % are in vain, as a share of the points",
                    Unit::Percent,
                ),
                firsts.collect(),
                Rule::AtMost(1.0),
            )
            .note("The paper prints no number for the initial stage; 1 % is this report's."),
        ]
    }
}

const PLACE: &str = "section 2.2, figure 3";

/// Returns a panel with one cloud's line in front of those of all others.
fn panel(table: &Table, cloud: &str) -> Panel {
    let point = |row: Row<'_>| {
        let middle = (row.number("step_from") * row.number("step_to")).sqrt();
        (middle, 100.0 * row.number("ineffective_share"))
    };
    let line = |cloud: &str| table.with("cloud", cloud).map(&point).collect::<Vec<_>>();
    let others = table.each("cloud").into_iter().filter(|other| *other != cloud);
    let others = others.map(|other| Series { faint: true, ..Series::new("", line(other)) });
    Panel::Lines(Lines {
        title: short(table, cloud).into(),
        x: Axis::log("step: samples taken"),
        y: Axis::nines("points whose distance stays, percent"),
        series: others.chain([Series::new("", line(cloud))]).collect(),
    })
}

/// Returns the last steps of the runs that are averaged: a tenth of a decade each, and the ends of the ratios.
fn ends(points: usize, steps: usize) -> Vec<usize> {
    let decades = (0..).map(|k| 10f64.powf(f64::from(k) / PER_DECADE) as usize);
    let mut ends: Vec<_> = decades.take_while(|end| *end < steps).collect();
    ends.extend(RATIOS.map(|ratio| (ratio * points as f64) as usize));
    ends.push(steps);
    ends.retain(|end| (1..=steps).contains(end));
    ends.sort_unstable();
    ends.dedup();
    ends
}

/// Returns the rows at the end of a ratio, or the last one if none is reached.
fn ends_of<'a>(table: &'a Table, cloud: &'a str) -> Vec<(&'a str, Row<'a>)> {
    let rows: Vec<_> = table.with("cloud", cloud).collect();
    let at_a_ratio = |row: &&Row<'_>| {
        let points = row.number("points");
        RATIOS.iter().any(|ratio| row.number("step_to") == (ratio * points).floor())
    };
    let mut found: Vec<_> = rows.iter().filter(at_a_ratio).map(|row| (cloud, *row)).collect();
    if let (true, Some(last)) = (found.is_empty(), rows.last()) {
        found.push((cloud, *last));
    }
    found
}

#[cfg(test)]
mod tests {
    use super::ends;

    #[test]
    fn runs_cover_all_steps() {
        let ends = ends(1000, 500);
        assert_eq!((ends[0], ends.last()), (1, Some(&500)));
        assert!(ends.contains(&125) && ends.contains(&250));
        assert!(ends.windows(2).all(|pair| pair[0] < pair[1]));
    }
}
