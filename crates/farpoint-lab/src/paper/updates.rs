//! Figure 3: how many of brute force's distance updates change nothing.

use super::clouds::Cloud;
use super::figure::{Context, Figure, Finding, Rows, percent, row};
use super::table::{Row, Table, range};
use crate::plot::{Axis, Lines, Panel, Series, Sheet};
use crate::timing::OnCpu;
use anyhow::Result;
use farpoint::Algorithm;
use farpoint_cli::output::count;
use std::thread::available_parallelism;

pub(super) struct Updates;

const HEAD: [&str; 6] =
    ["cloud", "points", "step_from", "step_to", "ineffective_share", "steps_above_90_percent"];

/// At most so many distances are computed, so that a million points take seconds.
const MOST_DISTANCES: usize = 15_000_000_000;

/// The paper's sampling ratios are not printed; these are those of its figure 12, and a half.
const RATIOS: [f64; 3] = [0.125, 0.25, 0.5];

/// Steps that a decade is divided into.
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
         ratio is the beginning of the same curve. On the right the rest, those that do change, on a \
         logarithmic axis. Up to half of the points are sampled, fewer of \
         large clouds. Counted on the CPU."
    }

    fn head(&self) -> &'static [&'static str] {
        &HEAD
    }

    fn measure(&self, _: &Context, cloud: &Cloud) -> Result<Rows> {
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

    fn plot(&self, table: &Table, foot: &str) -> Sheet {
        let vain = |row: &Row<'_>| 100.0 * row.number("ineffective_share");
        let panels = vec![
            panel(table, Axis::linear("points whose distance stays, percent"), vain),
            panel(table, Axis::log("points whose distance falls, percent"), |row| {
                100.0 - vain(row)
            }),
        ];
        Sheet { title: self.title().into(), foot: foot.into(), columns: 2, panels }
    }

    fn readable(&self, table: &Table) -> Rows {
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

    fn findings(&self, table: &Table) -> Vec<Finding> {
        let last = |cloud| table.with("cloud", cloud).last();
        let clouds = table.each("cloud");
        let shares = clouds.iter().filter_map(|cloud| last(cloud));
        let [least, most] = range(shares.map(|row| row.number("steps_above_90_percent")));
        let firsts = clouds.iter().filter_map(|cloud| {
            let mut rows = table.with("cloud", cloud);
            rows.find(|row| row.number("ineffective_share") > 0.9)
                .map(|row| row.number("step_from"))
        });
        let [_, latest] = range(firsts);
        vec![Finding {
            paper: "Ineffective updates rapidly dominate after the initial stage and remain above \
                    90 % in most later iterations."
                .into(),
            ours: format!(
                "{} to {} of the steps have more than 90 % in vain; on every cloud it is so at the \
                 latest from step {latest} on average.",
                percent(least),
                percent(most)
            ),
            agrees: Some(least > 0.5),
            why: "",
        }]
    }
}

/// A line for each cloud.
fn panel(table: &Table, y: Axis, value: impl Fn(&Row<'_>) -> f64) -> Panel {
    let point = |row: Row<'_>| {
        let middle = (row.number("step_from") * row.number("step_to")).sqrt();
        (middle, value(&row))
    };
    let line = |cloud: &str| Series::new(cloud, table.with("cloud", cloud).map(&point).collect());
    Panel::Lines(Lines {
        title: String::new(),
        x: Axis::log("step: samples taken"),
        y,
        series: table.each("cloud").into_iter().map(line).collect(),
    })
}

/// Last steps of the runs that are averaged: a tenth of a decade each, and where the ratios end.
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

/// The rows where a ratio ends, or the last one if none is reached.
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
