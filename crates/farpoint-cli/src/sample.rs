//! `farpoint sample`: check everything, read, sample, write, report.

use crate::args::{Length, SampleOutput};
use crate::interrupt::guarded;
use crate::job::{self, Job};
use crate::messages::note;
use crate::outcome::Outcome;
use crate::progress::Progress;
use crate::report::{self, Files, Times};
use crate::selection::{self, Selection};
use crate::{args, check, input, large, many, output, units};
use anyhow::{Result, anyhow};
use farpoint_io::{Cloud, memory};
use std::path::Path;
use std::time::Instant;

pub(crate) fn run(args: &args::Sample) -> Result<()> {
    if many::is_asked(&args.input.input, &args.many) {
        selection::refuse(&args.run.selection, "a single file")?;
        return many::sample(args);
    }
    check::sample(args)?;
    if let Some(large) = large::chosen(args)? {
        selection::refuse(&args.run.selection, "clouds that fit in memory")?;
        return large::run(args, &large);
    }
    let (path, name) = (&args.input.input, input::name(&args.input.input));
    let (cloud, read) = input::read(path, &args.input.reading.options())?;
    let points = input::prepare(&cloud, path, args.input.rows)?;
    let selected = Selection::read(&args.run.selection, points.len())?;
    let start = job::start(&points, &args.run, args.input.rows.drop_zeros)?;
    let unit = units::of(&cloud, &name, &lengths(args))?;
    let amount = args.wanted.amount(|length| length.in_units_of(unit));
    let job = Job::new(&args.run, Some(&args.approximate), amount, start, args.stats);
    memory::require(&name, job.bytes(&points))?;
    let progress = Progress::start("sampling", &name);
    let outcome = job.run(&points, selected.as_ref(), &args.place, args.stats, &progress);
    drop(progress);
    let outcome = outcome.map_err(|error| anyhow!("{name}: {error}"))?;
    let start = Instant::now();
    let wrote = write(args, &cloud, &outcome, unit)?;
    let times = Times { read, write: wrote.then(|| start.elapsed().as_secs_f64()) };
    report(args, &outcome, selected.map_or(points.len(), |rows| rows.len()), &times)
}

/// The options that are lengths.
fn lengths(args: &args::Sample) -> [(&'static str, Option<Length>); 3] {
    let wanted = &args.wanted;
    let scale = args.output.writing.scale;
    [("--spacing", wanted.spacing), ("--cell", wanted.cell), ("--scale", scale)]
}

/// Writes what was asked for; `unit` is that of the cloud in meters. Returns whether that was
/// anything.
fn write(args: &args::Sample, cloud: &Cloud, outcome: &Outcome, unit: f64) -> Result<bool> {
    let SampleOutput { output, indices, writing } = &args.output;
    if let Some(path) = output {
        if outcome.made.is_some() {
            let name = input::name(&args.input.input);
            note(&format!("{name}: centroids keep no attributes but their positions"));
        }
        let scale = writing.scale.map(|scale| scale.in_units_of(unit));
        let written: &Cloud = outcome.made.as_ref().unwrap_or(cloud);
        output::write_cloud(path, written, &outcome.indices, &writing.options(scale))?;
    }
    if let Some(path) = indices {
        guarded(|| farpoint_io::write_indices(path, &outcome.indices))?;
    }
    Ok(output.is_some() || indices.is_some())
}

/// Reports the result where it does not mix with the data.
fn report(args: &args::Sample, outcome: &Outcome, points: usize, times: &Times) -> Result<()> {
    let SampleOutput { output, indices, .. } = &args.output;
    let files = Files { input: &args.input.input, output: output.as_deref() };
    let table = report::as_table(&files, outcome, points, times);
    let stdout = Some(Path::new("-"));
    let taken = output.as_deref() == stdout || indices.as_deref() == stdout;
    if taken && args.stats {
        output::print_error(&table);
    }
    report::print(&args.report, report::as_json(&files, outcome, points, times), &table, taken)?;
    if times.write.is_none() && args.report.json.is_none() {
        note(
            "nothing was written; give -o FILE for the points, or --indices FILE.npy for their rows",
        );
    }
    Ok(())
}
