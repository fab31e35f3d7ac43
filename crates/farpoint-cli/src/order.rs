//! `farpoint order`: the whole cloud farthest first, with the spacing of every prefix.

use crate::input::{self, Points};
use crate::job::{self, Job};
use crate::outcome::Outcome;
use crate::progress::Progress;
use crate::report::{self, Times};
use crate::{args, check, output};
use anyhow::{Result, anyhow};
use farpoint::Amount;
use farpoint_io::{Cloud, Column};
use std::path::Path;
use std::time::Instant;

/// Name of the new column.
const SPACING: &str = "spacing";

pub(crate) fn run(args: &args::Order) -> Result<()> {
    check::order(args)?;
    let (mut cloud, read) = input::read(&args.input.input, args.input.columns)?;
    let points = input::prepare(&cloud, &args.input)?;
    let (all, single) = (points.len(), matches!(points, Points::F32(_)));
    let start = job::start(&points, &args.run, args.input.drop_zeros)?;
    let job = Job::new(&args.run, None, Amount::All, start, false);
    let name = input::name(&args.input.input);
    let progress = Progress::start(format!("sampling {name}"));
    let outcome = job.run(&points, &args.run.place, false, &progress);
    drop(progress);
    let outcome = outcome.map_err(|error| anyhow!("{name}: {error}"))?;
    drop(points);
    add_spacing(&mut cloud, &outcome, single);
    let start = Instant::now();
    output::write_cloud(&args.output, &cloud, &outcome.indices)?;
    let times = Times { read, write: Some(start.elapsed().as_secs_f64()) };
    if args.json {
        output::print(&format!("{}\n", report::as_json(&outcome, all, &times)))
    } else if args.output == Path::new("-") {
        Ok(())
    } else {
        output::print(&report::as_table(&args.input.input, &outcome, all, &times))
    }
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
