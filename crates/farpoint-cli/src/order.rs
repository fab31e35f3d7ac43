//! `farpoint order`: the whole cloud farthest first, with the spacing of every prefix.

use crate::input::{self, Points};
use crate::job::{self, Job};
use crate::outcome::Outcome;
use crate::progress::Progress;
use crate::report::{self, Files, Times};
use crate::{args, check, output, units};
use anyhow::{Result, anyhow};
use farpoint::Amount;
use farpoint_io::{Cloud, Column, memory};
use std::path::Path;
use std::time::Instant;

/// Name of the new column.
const SPACING: &str = "spacing";

pub(crate) fn run(args: &args::Order) -> Result<()> {
    check::order(args)?;
    let (path, name) = (&args.input.input, input::name(&args.input.input));
    let (mut cloud, read) = input::read(path, &args.input.reading.options())?;
    let points = input::prepare(&cloud, path, args.input.rows)?;
    let writing = &args.output.writing;
    let unit = units::of(&cloud, &name, &[("--scale", writing.scale)])?;
    let (all, single) = (points.len(), matches!(points, Points::F32(_)));
    let start = job::start(&points, &args.run, args.input.rows.drop_zeros)?;
    let job = Job::new(&args.run, None, Amount::All, start, false);
    memory::require(&name, job.bytes(&points))?;
    let progress = Progress::start("sampling", &name);
    let outcome = job.run(&points, &args.place, false, &progress);
    drop(progress);
    let outcome = outcome.map_err(|error| anyhow!("{name}: {error}"))?;
    drop(points);
    add_spacing(&mut cloud, &outcome, single);
    let start = Instant::now();
    let scale = writing.scale.map(|scale| scale.in_units_of(unit));
    let output = &args.output.output;
    output::write_cloud(output, &cloud, &outcome.indices, &writing.options(scale))?;
    let times = Times { read, write: Some(start.elapsed().as_secs_f64()) };
    let files = Files { input: path, output: Some(output) };
    let object = report::as_json(&files, &outcome, all, &times);
    let table = report::as_table(&files, &outcome, all, &times);
    report::tell(&args.told, object, &table, output == Path::new("-"))
}

/// Adds the selection distance of each row, in the precision of the coordinates; NaN in rows
/// that were left out and won't be written.
fn add_spacing(cloud: &mut Cloud, outcome: &Outcome, single: bool) {
    let mut column = vec![f64::NAN; cloud.len()];
    for (&row, &distance) in outcome.indices.iter().zip(&outcome.distances) {
        column[row] = distance;
    }
    let column = match single {
        true => Column::F32(column.into_iter().map(|value| value as f32).collect()),
        false => Column::F64(column),
    };
    cloud.add_column(SPACING, column);
}
