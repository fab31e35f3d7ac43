//! The samplers side by side on a page (`--view`).

use super::{Evaluation, Parameters};
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
    parameters: &Parameters,
    cloud: &Cloud,
    (points, rows): (&[[T; 3]], &[usize]),
    evaluations: &[Evaluation],
) -> Result<Page> {
    let max_points = args.page.max_points().0;
    let amount = if max_points < points.len() { Amount::Count(max_points) } else { Amount::All };
    let cpu = Cpu::new().threads(parameters.threads);
    let sample = Sampler::new(amount).on(&cpu).sample(points);
    let sample = sample.map_err(|error| anyhow!("{}: {error}", parameters.input))?;
    let distances: Vec<f64> = (0..sample.len()).map(|k| sample.distance(k).to_f64()).collect();
    let order: Vec<usize> = sample.indices.iter().map(|&point| rows[point]).collect();
    let sequence = Sequence {
        rows: &order,
        distances: &distances,
        covering_radius: sample.covering_radius().to_f64(),
    };
    let unit = Unit::of(cloud);
    let panes = Panes {
        rows,
        panes: evaluations.iter().map(|evaluation| pane(evaluation, unit)).collect(),
    };
    let input = &args.input.input;
    Page::of(&Subject { input, cloud, usable: points.len(), up: args.up }, sequence, &panes)
}

fn pane(evaluation: &Evaluation, unit: Unit) -> Pane<'_> {
    let coverage = &evaluation.quality.coverage;
    let unit = match unit.symbol() {
        "" => String::new(),
        symbol => format!(" {symbol}"),
    };
    Pane {
        title: evaluation.title.clone(),
        note: format!(
            "{} samples, radius {}{unit}, mean {}{unit}",
            count(evaluation.quality.samples as u64),
            number(coverage.max),
            number(coverage.mean)
        ),
        exact: evaluation.exact,
        chosen: match &evaluation.rows {
            Some(rows) => Chosen::Rows(rows),
            None => Chosen::Made(&evaluation.sample),
        },
        distances: &evaluation.distances,
    }
}
