//! `farpoint sample`: check everything, read, sample, write, report.

use crate::args::{Length, SampleOutput};
use crate::input::Points;
use crate::interrupt::guarded;
use crate::job::{self, Job};
use crate::large::Large;
use crate::messages::note;
use crate::outcome::Outcome;
use crate::progress::Progress;
use crate::report::{self, Files, Times};
use crate::{args, bag, check, input, large, many, merged, output, selection, units};
use anyhow::{Result, anyhow};
use farpoint_io::{Cloud, Copc, memory};
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
    in_memory(args, &Read { cloud, path, seconds: read, about: None })
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
    in_memory(args, &Read { cloud, path, seconds, about: Some(about) })
}

/// A cloud that was read.
struct Read<'a> {
    cloud: Cloud,
    /// What it is called.
    path: &'a Path,
    seconds: f64,
    about: Option<merged::About>,
}

fn in_memory(args: &args::Sample, read: &Read<'_>) -> Result<()> {
    let (cloud, name) = (&read.cloud, input::name(read.path));
    let points = input::choose(cloud, read.path, args.input.rows, &args.filters)?;
    let points = selection::among(points, &args.run.selection)?;
    let start = job::start(&points, &args.run, args.input.rows.drop_zeros)?;
    let unit = units::of(cloud, &name, &lengths(args))?;
    let amount = args.wanted.amount(|length| length.in_units_of(unit));
    let job = Job::new(&args.run, Some(&args.approximate), amount, start, args.stats);
    let writes = if args.is_copc() { Copc::memory(points.points.len()) } else { 0 };
    memory::require(&name, job.bytes(&points).max(writes))?;
    let single = matches!(points.points, Points::F32(_));
    let progress = Progress::start("sampling", &name);
    let outcome = job.run(&points, &args.place, args.stats, &progress);
    drop(progress);
    let mut outcome = outcome.map_err(|error| anyhow!("{name}: {error}"))?;
    let levels = levels(args, cloud, &outcome, single)?;
    // Of the points in COPC those of a node are sorted in any case.
    if args.output.sorted && outcome.made.is_none() && levels.is_none() {
        outcome.indices.sort_unstable();
    }
    let start = Instant::now();
    let wrote = write(args, &name, cloud, &mut outcome, (unit, levels))?;
    let write = wrote.then(|| start.elapsed().as_secs_f64());
    report(args, read, &outcome, points.of, &Times { read: read.seconds, write })
}

/// The levels of COPC, if that is written.
fn levels(
    args: &args::Sample,
    cloud: &Cloud,
    outcome: &Outcome,
    single: bool,
) -> Result<Option<Copc>> {
    let given = args.is_copc().then(|| args.output.writing.levels()).transpose()?;
    Ok(given.map(|given| farpoint_files::levels(given.as_ref(), &outcome.distances, cloud, single)))
}

/// The options that are lengths.
fn lengths(args: &args::Sample) -> [(&'static str, Option<Length>); 3] {
    let wanted = &args.wanted;
    let scale = args.output.writing.scale;
    [("--spacing", wanted.spacing), ("--cell", wanted.cell), ("--scale", scale)]
}

/// Writes what was asked for; `unit` is that of the cloud in meters. Returns whether that was
/// anything.
fn write(
    args: &args::Sample,
    name: &str,
    cloud: &Cloud,
    outcome: &mut Outcome,
    (unit, levels): (f64, Option<Copc>),
) -> Result<bool> {
    let SampleOutput { output, indices, writing, .. } = &args.output;
    if let Some(path) = output {
        if outcome.made.is_some() {
            note(&format!("{name}: centroids keep no attributes but their positions"));
        }
        let scale = writing.scale.map(|scale| scale.in_units_of(unit));
        let written: &Cloud = outcome.made.as_ref().unwrap_or(cloud);
        let options = writing.options(scale).copc(levels);
        output::write_cloud(path, written, &outcome.indices, &options)?;
    }
    if let Some(path) = indices {
        if args.output.sorted && outcome.made.is_none() {
            outcome.indices.sort_unstable();
        }
        guarded(|| farpoint_io::write_indices(path, &outcome.indices))?;
    }
    Ok(output.is_some() || indices.is_some())
}

/// Reports the result where it does not mix with the data.
fn report(
    args: &args::Sample,
    read: &Read<'_>,
    outcome: &Outcome,
    points: usize,
    times: &Times,
) -> Result<()> {
    let SampleOutput { output, indices, .. } = &args.output;
    let files = Files { input: read.path, output: output.as_deref() };
    let mut table = report::as_table(&files, outcome, points, times);
    let mut object = report::as_json(&files, outcome, points, times);
    read.about.iter().for_each(|about| about.report(&mut object, &mut table));
    let stdout = Some(Path::new("-"));
    let taken = output.as_deref() == stdout || indices.as_deref() == stdout;
    if taken && args.stats {
        output::print_error(&table);
    }
    report::print(&args.report, object, &table, taken)?;
    if times.write.is_none() && args.report.json.is_none() {
        note(
            "nothing was written; give -o FILE for the points, or --indices FILE.npy for their rows",
        );
    }
    Ok(())
}
