//! `farpoint convert`: the points of files in another format, in their order.

use crate::output::{count, seconds};
use crate::text::lines;
use crate::{args, check, input, many, merged, messages, output, report, units};
use anyhow::{Result, anyhow, ensure};
use farpoint_io::Cloud;
use farpoint_pipeline::{Notes, converted};
use serde_json::json;
use std::path::{Path, PathBuf};
use std::time::Instant;

pub(crate) fn run(args: &args::Convert) -> Result<()> {
    let args::Convert { input, many, .. } = args;
    ensure!(
        args.filters.of_cell().is_none(),
        "--keep without a field is for 'sample' with --algorithm grid; give a field and its values"
    );
    if many.output_dir.is_some() || many.one.is_some() {
        ensure!(
            args.output.is_none(),
            "--output is one file, and --output-dir a folder of them; leave one out"
        );
        return many::convert(args);
    }
    check::one_file(many)?;
    let (inputs, to) = names(args)?;
    let begin = Instant::now();
    if many.merge {
        let paths = merged::paths(&inputs[0], &inputs[1..], many.found.recursive)?;
        checked(args, &paths, &to)?;
        let merged = merged::open(&paths, &args.reading, None)?;
        let (cloud, about, _) = merged::load(&merged)?;
        return write(args, (&cloud, Path::new(merged.scan().name())), &to, begin, Some(&about));
    }
    checked(args, &inputs, &to)?;
    let (cloud, _) = input::read_for(input, &args.reading.options(), &args.filters)?;
    write(args, (&cloud, input), &to, begin, None)
}

/// The inputs and the output: the last of the names, unless it has an option.
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

/// Refuses an output before anything is read.
fn checked(args: &args::Convert, inputs: &[PathBuf], to: &Path) -> Result<()> {
    let inputs: Vec<&Path> = inputs.iter().map(PathBuf::as_path).collect();
    check::cloud(to, &inputs, &args.writing)?;
    check::report(&args.report, &[&inputs[..], &[to]].concat())?;
    check::stdout_once(to, &args.report)
}

fn write(
    args: &args::Convert,
    (cloud, path): (&Cloud, &Path),
    to: &Path,
    begin: Instant,
    about: Option<&merged::About>,
) -> Result<()> {
    let (name, mut notes) = (input::name(path), Notes::default());
    let chosen = converted(cloud, &name, args.drop_zeros, &args.filter()?, &mut notes);
    messages::pass_on(&notes);
    let chosen = chosen.map_err(|error| anyhow!(error))?;
    let unit = units::of(cloud, &name, &[("--scale", args.writing.scale)])?;
    let scale = args.writing.scale.map(|scale| scale.in_units_of(unit));
    output::write_cloud(to, cloud, &chosen, &args.writing.options(scale))?;
    let time = begin.elapsed().as_secs_f64();
    let mut object = json!({
        "input": input::name(path),
        "output": to.display().to_string(),
        "points": cloud.len(),
        "written": chosen.len(),
        "seconds": time,
    });
    let rows = [
        ("input", input::name(path)),
        ("points", count(cloud.len())),
        ("written", count(chosen.len())),
        ("time", seconds(time)),
    ];
    let mut table = lines(&rows, 20);
    about.iter().for_each(|about| about.report(&mut object, &mut table));
    report::print(&args.report, object, &table, to == Path::new("-"))
}

impl args::Convert {
    /// What cannot be, whatever the files.
    pub(crate) fn filter(&self) -> Result<farpoint_io::Filter> {
        self.filters.filter().map_err(|wrong| anyhow!(wrong))
    }
}
