//! `farpoint view`: a cloud, farthest first, as one page that a browser shows without a server or a network.

mod attributes;
mod encode;
mod page;
mod panes;
mod places;
mod prefixes;
mod sequence;

pub(crate) use page::{Page, Subject};
pub(crate) use panes::{Chosen, Pane, Panes};
pub(crate) use sequence::Sequence;

use crate::input;
use crate::job;
use crate::messages::note;
use crate::output::{count, write_file};
use crate::progress::Progress;
use crate::report::{self, Files, Times};
use crate::{args, check, selection};
use anyhow::{Result, anyhow};
use farpoint::Amount;
use farpoint_io::memory;
use farpoint_pipeline::Job;
use std::path::Path;
use std::time::Instant;

/// A page larger than this is told: browsers take long, and mail refuses it.
const LARGE: usize = 50 << 20;

pub(crate) fn run(args: &args::View) -> Result<()> {
    check::view(args)?;
    let (path, name) = (&args.input.input, input::name(&args.input.input));
    let (cloud, read) = input::read_for(path, &args.input.reading.options(), &args.filters)?;
    let points = input::choose(&cloud, path, args.input.rows, &args.filters)?;
    let points = selection::among(points, &args.run.selection)?;
    let start = job::start(&points, &args.run, args.input.rows.drop_zeros)?;
    let all = points.usable();
    let job = Job::new(job::method(&args.run, None), amount(args.points.0, all), start);
    memory::require(&name, job.bytes(&points))?;
    let progress = Progress::start("sampling", &name);
    let outcome = job.run(&points, &args.place.place(), false, &|step| progress.step(step));
    drop(progress);
    let outcome = outcome.map_err(|error| anyhow!("{name}: {error}"))?;
    let start = Instant::now();
    let subject = Subject { input: path, cloud: &cloud, usable: all, up: args.up };
    let sequence = Sequence::first(&outcome, args.points.0);
    write(&args.output, &Page::of(&subject, sequence, &Panes::default())?)?;
    let times = Times { read, write: Some(start.elapsed().as_secs_f64()) };
    let files = Files { input: path, output: Some(&args.output) };
    let object = report::as_json(&files, &outcome, points.of, &times);
    let table = report::as_table(&files, &outcome, points.of, &times);
    report::print(&args.report, object, &table, args.output == Path::new("-"))
}

/// As many points as the page is to hold, or all that there are.
fn amount(most: usize, all: usize) -> Amount {
    if most < all { Amount::Count(most) } else { Amount::All }
}

/// Writes a page, and tells if it is large.
pub(crate) fn write(output: &Path, page: &Page) -> Result<()> {
    let progress = Progress::start("writing", &output.display().to_string());
    let page = page.html()?;
    write_file(output, page.as_bytes())?;
    drop(progress);
    if page.len() > LARGE {
        let megabytes = count((page.len() / 1_000_000) as u64);
        note(&format!(
            "{}: {megabytes} MB, which browsers take long to open; --points makes it smaller",
            output.display()
        ));
    }
    Ok(())
}
