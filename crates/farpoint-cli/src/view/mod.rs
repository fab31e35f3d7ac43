//! `farpoint view`: a cloud, farthest first, as one page that a browser shows without a server or a network.

mod attributes;
mod encode;
mod page;
mod panes;
mod places;
mod prefixes;

pub(crate) use page::{Page, Subject};
pub(crate) use panes::{Chosen, Pane, Panes};
pub(crate) use prefixes::Sequence;

use crate::messages::note;
use crate::output::{count, write_file};
use crate::progress::{Progress, ProgressWatch};
use crate::{args, check, report};
use anyhow::Result;
use farpoint_pipeline::Files;
use std::path::Path;
use std::time::Instant;

/// Size from which a page prints a warning: browsers take long, and mail refuses it.
const LARGE: usize = 50 << 20;

pub(crate) fn run(args: &args::View) -> Result<()> {
    check::view(args)?;
    let (request, watch) = (args.request()?, ProgressWatch::default());
    let inputs = std::slice::from_ref(&args.input.input);
    let files = Files { inputs, merge: false, output: None, indices: None };
    let mut sampled = request.in_memory(files, &watch)?.sample(&watch)?;
    let start = Instant::now();
    let sequence = Sequence::first(&sampled.finished.outcome, args.points.0);
    write(&args.output, &Page::of(&Subject::of(&sampled, args.up), sequence, &Panes::default())?)?;
    sampled.finished.write = Some(start.elapsed().as_secs_f64());
    let (object, table) = report::of(&sampled.finished, Some(&args.output), false);
    report::print(&args.report, object, &table, args.output == Path::new("-"))
}

/// Writes a page, and warns if it is large.
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
