//! `farpoint order`: the whole cloud farthest first, with the spacing of every prefix.

use crate::input::{self, Points};
use crate::job::{self, Job};
use crate::progress::Progress;
use crate::report::{self, Files, Times};
use crate::selection::{self, Selection};
use crate::{args, check, many, output, units};
use anyhow::{Result, anyhow, bail};
use farpoint::Amount;
use farpoint_io::memory;
use std::path::Path;
use std::time::Instant;

pub(crate) fn run(args: &args::Order) -> Result<()> {
    if many::is_asked(&args.input.input, &args.many) {
        selection::refuse(&args.run.selection, "a single file")?;
        return many::order(args);
    }
    check::order(args)?;
    let Some(output) = &args.output.output else { bail!("no output is given; add --output FILE") };
    let (path, name) = (&args.input.input, input::name(&args.input.input));
    let (mut cloud, read) = input::read(path, &args.input.reading.options())?;
    let points = input::prepare(&cloud, path, args.input.rows)?;
    let writing = &args.output.writing;
    let unit = units::of(&cloud, &name, &[("--scale", writing.scale)])?;
    let selected = Selection::read(&args.run.selection, points.len())?;
    let all = selected.as_ref().map_or(points.len(), Selection::len);
    let single = matches!(points, Points::F32(_));
    let start = job::start(&points, &args.run, args.input.rows.drop_zeros)?;
    let job = Job::new(&args.run, None, Amount::All, start, false);
    memory::require(&name, job.bytes(&points))?;
    let progress = Progress::start("sampling", &name);
    let outcome = job.run(&points, selected.as_ref(), &args.place, false, &progress);
    drop(progress);
    let outcome = outcome.map_err(|error| anyhow!("{name}: {error}"))?;
    drop(points);
    farpoint_files::add_spacing(&mut cloud, &outcome.indices, &outcome.distances, single);
    let start = Instant::now();
    let scale = writing.scale.map(|scale| scale.in_units_of(unit));
    output::write_cloud(output, &cloud, &outcome.indices, &writing.options(scale))?;
    let times = Times { read, write: Some(start.elapsed().as_secs_f64()) };
    let files = Files { input: path, output: Some(output) };
    let object = report::as_json(&files, &outcome, all, &times);
    let table = report::as_table(&files, &outcome, all, &times);
    report::print(&args.report, object, &table, output == Path::new("-"))
}
