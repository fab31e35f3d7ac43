//! `farpoint convert`: the points of files in another format, in their order.

use crate::output::{count, seconds};
use crate::progress::ProgressWatch;
use crate::text::lines;
use crate::{args, check, input, many, report};
use anyhow::{Result, ensure};
use farpoint_pipeline::{Files, Finished};
use serde_json::json;
use std::path::{Path, PathBuf};
use std::time::Instant;

pub(crate) fn run(args: &args::Convert) -> Result<()> {
    let many = &args.many;
    if many.output_dir.is_some() || many.one.is_some() {
        ensure!(
            args.output.is_none(),
            "--output and --output-dir cannot be used together; remove one"
        );
        return many::convert(args);
    }
    check::one_file(many)?;
    let (mut inputs, to) = names(args)?;
    let begin = Instant::now();
    if many.merge {
        inputs = input::paths(&inputs[0], &inputs[1..], many.search.recursive)?;
    }
    check_outputs(args, &inputs, &to)?;
    let (request, watch) = (args.request()?, ProgressWatch::default());
    let files = Files { inputs: &inputs, merge: many.merge, output: Some(&to), indices: None };
    let finished = request.in_memory(files, &watch)?.sample(&watch)?.write(&watch)?;
    drop(watch);
    print(args, &finished, &to, begin.elapsed().as_secs_f64())
}

/// Returns the inputs and the output: the last of the names, unless it has an option.
fn names(args: &args::Convert) -> Result<(Vec<PathBuf>, PathBuf)> {
    let mut names: Vec<PathBuf> =
        std::iter::once(&args.input).chain(&args.many.more).cloned().collect();
    let to = match &args.output {
        Some(output) => output.clone(),
        None => {
            ensure!(
                names.len() > 1,
                "{}: no output is given; add its name, or --output-dir DIR",
                args.input.display()
            );
            names.pop().unwrap_or_default()
        }
    };
    ensure!(
        args.many.merge || names.len() == 1,
        "{} inputs and one output {}; add --merge to make them one cloud, or --output-dir DIR",
        names.len(),
        to.display()
    );
    Ok((names, to))
}

/// Checks the output before anything is read.
fn check_outputs(args: &args::Convert, inputs: &[PathBuf], to: &Path) -> Result<()> {
    let inputs: Vec<&Path> = inputs.iter().map(PathBuf::as_path).collect();
    check::cloud(to, &inputs, &args.writing)?;
    check::stdout_once(to, &args.report)?;
    let read = [args.filters.file(), args.writing.file()];
    check::outputs(&args.report, &[("--output", Some(to))], &inputs, &read)
}

fn print(args: &args::Convert, finished: &Finished, to: &Path, time: f64) -> Result<()> {
    let mut object = json!({
        "input": finished.name,
        "output": to.display().to_string(),
        "points": finished.points,
        "written": finished.samples,
        "seconds": time,
    });
    let rows = [
        ("input", finished.name.clone()),
        ("points", count(finished.points)),
        ("written", count(finished.samples)),
        ("time", seconds(time)),
    ];
    let mut table = lines(&rows, 20);
    finished.joined.iter().for_each(|files| report::add_files(files, &mut object, &mut table));
    report::print(&args.report, object, &table, to == Path::new("-"))
}
