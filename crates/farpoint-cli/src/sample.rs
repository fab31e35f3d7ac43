//! `farpoint sample`: check everything, read, sample, write, report.

use crate::args::{Length, SampleOutput};
use crate::input::Points;
use crate::interrupt::guarded;
use crate::large::Large;
use crate::messages::note;
use crate::progress::Progress;
use crate::report::{self, Files, Times};
use crate::{args, bag, check, input, job, large, many, merged, output, selection, units};
use anyhow::{Result, anyhow};
use farpoint_io::{Cloud, Copc, memory};
use farpoint_pipeline::Outcome;
use std::path::{Path, PathBuf};
use std::time::Instant;

pub(crate) fn run(args: &args::Sample) -> Result<()> {
    if let Some(recording) = bag::whole(&args.input.input, &args.input.reading, &args.many)? {
        selection::refuse(&args.run.selection, "a single cloud (--message K)")?;
        return bag::sample(args, &recording);
    }
    if many::is_asked(&args.input.input, &args.many) {
        selection::refuse(&args.run.selection, "a single file")?;
        return many::sample(args);
    }
    if args.many.merge {
        selection::refuse(&args.run.selection, "a single file")?;
        return merged(args);
    }
    check::sample(args)?;
    if let Some(large) = large::chosen(args)? {
        selection::refuse(&args.run.selection, "clouds that fit in memory")?;
        return large::run(args, &large);
    }
    let path = &args.input.input;
    let (cloud, read) = input::read_for(path, &args.input.reading.options(), &args.filters)?;
    in_memory(args, Read { cloud, path, seconds: read, about: None })
}

/// All inputs as one cloud: in memory if that fits, through the disk if not.
fn merged(args: &args::Sample) -> Result<()> {
    check::sampling(args)?;
    check::one_file(&args.many)?;
    let paths = merged::paths(&args.input.input, &args.many.more, args.many.found.recursive)?;
    let inputs: Vec<&Path> = paths.iter().map(PathBuf::as_path).collect();
    check::sampled(args, &inputs)?;
    let limit = large::limit(args)?;
    let merged = merged::open(&paths, &args.input.reading, limit)?;
    let merged = merged.filtered(args.filters.filter().map_err(|wrong| anyhow!(wrong))?)?;
    if let Some(memory) = large::asked(args, merged.scan())? {
        let (scan, about) = merged::in_parts(merged, memory)?;
        return large::run(args, &Large { scan, memory, about: Some(about) });
    }
    let (cloud, about, seconds) = merged::load(&merged)?;
    let path = Path::new(merged.scan().name());
    in_memory(args, Read { cloud, path, seconds, about: Some(about) })
}

/// A cloud that was read.
struct Read<'a> {
    cloud: Cloud,
    /// What it is called.
    path: &'a Path,
    seconds: f64,
    about: Option<merged::About>,
}

fn in_memory(args: &args::Sample, mut read: Read<'_>) -> Result<()> {
    let (cloud, name, request) = (&read.cloud, input::name(read.path), args.request()?);
    let points = input::choose(cloud, read.path, args.input.rows, &args.filters)?;
    let points = selection::among(points, &args.run.selection)?;
    let start = job::start(&points, &args.run, args.input.rows.drop_zeros)?;
    let unit = units::of(cloud, &name, &lengths(args))?;
    let job = request.job(&points, request.wanted.amount(unit), start);
    let writes = if args.is_copc() { Copc::memory(points.points.len()) } else { 0 };
    memory::require(&name, job.bytes(&points).max(writes))?;
    let (all, single) = (points.of, matches!(points.points, Points::F32(_)));
    let progress = Progress::start("sampling", &name);
    let outcome = job.run(&points, &args.place.place(), args.stats, &|step| progress.step(step));
    drop(progress);
    let mut outcome = outcome.map_err(|error| anyhow!("{name}: {error}"))?;
    drop(points);
    let start = Instant::now();
    let SampleOutput { output, indices, .. } = &args.output;
    if let Some(path) = output {
        let options = request.arrange(&mut read.cloud, &mut outcome, path, unit, single);
        if outcome.made.is_some() {
            note(&format!("{name}: centroids keep no attributes but their positions"));
        }
        let written = outcome.made.as_ref().unwrap_or(&read.cloud);
        output::write_cloud(path, written, &outcome.indices, &options)?;
    }
    if let Some(path) = indices {
        if args.output.sorted && outcome.made.is_none() {
            outcome.indices.sort_unstable();
        }
        guarded(|| farpoint_io::write_indices(path, &outcome.indices))?;
    }
    let wrote = output.is_some() || indices.is_some();
    let write = wrote.then(|| start.elapsed().as_secs_f64());
    report(args, &read, &outcome, all, &Times { read: read.seconds, write })
}

/// The options that are lengths.
fn lengths(args: &args::Sample) -> [(&'static str, Option<Length>); 3] {
    let wanted = &args.wanted;
    let scale = args.output.writing.scale;
    [("--spacing", wanted.spacing), ("--cell", wanted.cell), ("--scale", scale)]
}

fn report(
    args: &args::Sample,
    read: &Read<'_>,
    outcome: &Outcome,
    points: usize,
    times: &Times,
) -> Result<()> {
    let files = Files { input: read.path, output: args.output.output.as_deref() };
    let mut table = report::as_table(&files, outcome, points, times);
    let mut object = report::as_json(&files, outcome, points, times);
    read.about.iter().for_each(|about| about.report(&mut object, &mut table));
    report::sampled(args, object, &table)
}
