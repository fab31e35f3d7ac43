//! `farpoint order`: the whole cloud farthest first, with the spacing of every prefix.

use crate::progress::ProgressWatch;
use crate::view::{Page, Panes, Sequence, Subject};
use crate::{args, check, input, many, report, sample, view};
use anyhow::{Result, bail, ensure};
use farpoint_pipeline::{Files, Plan, SampledCloud};
use std::path::Path;
use std::time::Instant;

pub(crate) fn run(args: &args::Order) -> Result<()> {
    let (first, many, selection) = (&args.input.input, &args.many, &args.run.selection);
    if many::has_many_files(first, many) {
        selection.refuse("a single file")?;
        ensure!(
            args.page.view.is_none(),
            "--view shows one cloud; remove it, or add --merge to take all files as one"
        );
        return many::order(args);
    }
    check::order_options(args)?;
    let inputs = input::one_cloud(first, many, selection)?;
    check::order_outputs(args, &inputs)?;
    let Some(output) = &args.output.output else { bail!("no output is given; add --output FILE") };
    let (request, watch) = (args.request()?, ProgressWatch::default());
    let files = Files { inputs: &inputs, merge: many.merge, output: Some(output), indices: None };
    let (mut finished, page) = match sample::plan(&request, files, &watch)? {
        Plan::ThroughDisk(plan) => {
            let message =
                "--view is for clouds that fit in memory; remove it, or allow more --memory";
            ensure!(args.page.view.is_none(), message);
            (plan.run(&watch)?, None)
        }
        Plan::InMemory(plan) => {
            let sampled = plan.sample(&watch)?;
            // Before the new column, so that this is the page of 'farpoint view'.
            let page = page(args, &sampled)?;
            (sampled.write(&watch)?, page)
        }
    };
    drop(watch);
    let start = Instant::now();
    page.iter().try_for_each(|(path, page)| view::write(path, page))?;
    finished.write = finished.write.map(|seconds| seconds + start.elapsed().as_secs_f64());
    let (mut object, mut table) = report::of(&finished, Some(output), true);
    if let Some(path) = &args.page.view {
        object["view"] = path.display().to_string().into();
        table.push_str(&format!("{:<20}  {}\n", "page", path.display()));
    }
    report::print(&args.report, object, &table, output == Path::new("-"))
}

/// Returns the requested page of the computed order, and its path.
fn page<'a>(args: &'a args::Order, sampled: &SampledCloud<'_>) -> Result<Option<(&'a Path, Page)>> {
    let Some(path) = &args.page.view else { return Ok(None) };
    let sequence = Sequence::first(&sampled.finished.outcome, args.page.max_points().0);
    let page = Page::of(&Subject::of(sampled, args.up), sequence, &Panes::default())?;
    Ok(Some((path, page)))
}
