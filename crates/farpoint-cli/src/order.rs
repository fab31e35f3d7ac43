//! `farpoint order`: the whole cloud farthest first, with the spacing of every prefix.

use crate::input::{self, Points};
use crate::job;
use crate::progress::Progress;
use crate::report::{self, Files, Times};
use crate::view::{Page, Panes, Sequence, Subject};
use crate::{args, check, many, merged, output, selection, units, view};
use anyhow::{Result, anyhow, bail, ensure};
use farpoint::Amount;
use farpoint_io::{Cloud, Copc, memory};
use farpoint_pipeline::Outcome;
use std::path::{Path, PathBuf};
use std::time::Instant;

pub(crate) fn run(args: &args::Order) -> Result<()> {
    if many::is_asked(&args.input.input, &args.many) {
        selection::refuse(&args.run.selection, "a single file")?;
        ensure!(
            args.shown.view.is_none(),
            "--view shows one cloud; leave it out, or add --merge to take all files as one"
        );
        return many::order(args);
    }
    if args.many.merge {
        selection::refuse(&args.run.selection, "a single file")?;
        check::ordering(args)?;
        check::one_file(&args.many)?;
        let paths = merged::paths(&args.input.input, &args.many.more, args.many.found.recursive)?;
        let inputs: Vec<&Path> = paths.iter().map(PathBuf::as_path).collect();
        check::ordered(args, &inputs)?;
        let merged = merged::open(&paths, &args.input.reading, None)?;
        let (cloud, about, read) = merged::load(&merged)?;
        return ordered(args, Path::new(merged.scan().name()), cloud, read, Some(&about));
    }
    check::order(args)?;
    let path = &args.input.input;
    let (cloud, read) = input::read_for(path, &args.input.reading.options(), &args.filters)?;
    ordered(args, path, cloud, read, None)
}

fn ordered(
    args: &args::Order,
    path: &Path,
    mut cloud: Cloud,
    read: f64,
    about: Option<&merged::About>,
) -> Result<()> {
    let Some(output) = &args.output.output else { bail!("no output is given; add --output FILE") };
    let name = input::name(path);
    let points = input::choose(&cloud, path, args.input.rows, &args.filters)?;
    let points = selection::among(points, &args.run.selection)?;
    let (writing, request) = (&args.output.writing, args.request()?);
    let unit = units::of(&cloud, &name, &[("--scale", writing.scale)])?;
    let (all, single) = (points.of, matches!(points.points, Points::F32(_)));
    let start = job::start(&points, &args.run, args.input.rows.drop_zeros)?;
    let job = request.job(&points, Amount::All, start);
    let writes = if writing.is_copc(output) { Copc::memory(points.points.len()) } else { 0 };
    memory::require(&name, job.bytes(&points).max(writes))?;
    let progress = Progress::start("sampling", &name);
    let outcome = job.run(&points, &args.place.place(), false, &|step| progress.step(step));
    drop(progress);
    let mut outcome = outcome.map_err(|error| anyhow!("{name}: {error}"))?;
    let usable = points.usable();
    drop(points);
    // Before the new column, so that this is the page of 'farpoint view'.
    let page = page(args, &Subject { input: path, cloud: &cloud, usable, up: args.up }, &outcome)?;
    let start = Instant::now();
    let options = request.arrange(&mut cloud, &mut outcome, output, unit, single);
    output::write_cloud(output, &cloud, &outcome.indices, &options)?;
    page.iter().try_for_each(|(path, page)| view::write(path, page))?;
    let times = Times { read, write: Some(start.elapsed().as_secs_f64()) };
    let files = Files { input: path, output: Some(output) };
    let mut object = report::as_json(&files, &outcome, all, &times);
    let mut table = report::as_table(&files, &outcome, all, &times);
    about.iter().for_each(|about| about.report(&mut object, &mut table));
    if let Some(path) = &args.shown.view {
        object["view"] = path.display().to_string().into();
        table.push_str(&format!("{:<20}  {}\n", "page", path.display()));
    }
    report::print(&args.report, object, &table, output == Path::new("-"))
}

/// The page that is asked for and where it goes: of the order that was just computed.
fn page<'a>(
    args: &'a args::Order,
    subject: &Subject<'_>,
    outcome: &Outcome,
) -> Result<Option<(&'a Path, Page)>> {
    let Some(path) = &args.shown.view else { return Ok(None) };
    let sequence = Sequence::first(outcome, args.shown.most().0);
    Ok(Some((path, Page::of(subject, sequence, &Panes::default())?)))
}
