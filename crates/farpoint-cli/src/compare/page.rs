//! The samplers side by side on a page (`--view`).

use super::{Asked, Judged};
use crate::args;
use crate::output::{count, number};
use crate::picture::Unit;
use crate::view::{Chosen, Page, Pane, Panes, Sequence, Subject};
use anyhow::{Result, anyhow};
use farpoint::{Amount, Cpu, Sampler, Scalar};
use farpoint_io::Cloud;

/// Builds the page of a cloud, whose usable `points` are at these `rows`.
pub(super) fn page<T: Scalar>(
    args: &args::Compare,
    asked: &Asked,
    cloud: &Cloud,
    (points, rows): (&[[T; 3]], &[usize]),
    judged: &[Judged],
) -> Result<Page> {
    let most = args.shown.most().0;
    let amount = if most < points.len() { Amount::Count(most) } else { Amount::All };
    let cpu = Cpu::new().threads(asked.threads);
    let sample = Sampler::new(amount).on(&cpu).sample(points);
    let sample = sample.map_err(|error| anyhow!("{}: {error}", asked.input))?;
    let distances: Vec<f64> = (0..sample.len()).map(|k| sample.distance(k).to_f64()).collect();
    let order: Vec<usize> = sample.indices.iter().map(|&point| rows[point]).collect();
    let sequence = Sequence {
        rows: &order,
        distances: &distances,
        covering_radius: sample.covering_radius().to_f64(),
    };
    let unit = Unit::of(cloud);
    let panes = Panes { rows, panes: judged.iter().map(|judged| pane(judged, unit)).collect() };
    let input = &args.input.input;
    Page::of(&Subject { input, cloud, usable: points.len(), up: args.up }, sequence, &panes)
}

fn pane(judged: &Judged, unit: Unit) -> Pane<'_> {
    let coverage = &judged.quality.coverage;
    let unit = match unit.symbol() {
        "" => String::new(),
        symbol => format!(" {symbol}"),
    };
    Pane {
        title: judged.title.clone(),
        note: format!(
            "{} samples, radius {}{unit}, mean {}{unit}",
            count(judged.quality.samples as u64),
            number(coverage.max),
            number(coverage.mean)
        ),
        exact: judged.exact,
        chosen: match &judged.rows {
            Some(rows) => Chosen::Rows(rows),
            None => Chosen::Made(&judged.sample),
        },
        distances: &judged.distances,
    }
}
