//! `farpoint info`: contents of a file, from its header where that is enough, or from its points.

mod density;
mod description;
mod facts;
mod grid;

use crate::input::{self, Points};
use crate::many::Failed;
use crate::messages::{self, Verbosity, complain, note, warn};
use crate::output::write_file;
use crate::progress::{Progress, ProgressWatch};
use crate::{args, bag, check, report};
use anyhow::{Result, bail};
use density::{Density, Total};
use description::Description;
use facts::{Attributes, CoordinateFacts};
use farpoint_io::{Cloud, Error, Reader, Summary};
use farpoint_pipeline::{Joined, expand, names_several, open_merged, read_merged};
use serde_json::json;
use std::path::Path;

/// Most points that are read for bounds that a header with a summary lacks: a few seconds.
const MOST_READ: u64 = 10_000_000;

pub(crate) fn run(args: &args::Info) -> Result<()> {
    check::info(args)?;
    if args.merge {
        return describe_merged(args);
    }
    if args.more.is_empty()
        && let Some(bag_input) = bag::find(&args.input, &args.reading)?
    {
        return bag::info(args, &bag_input);
    }
    if !args.more.is_empty() || (names_several(&args.input) && !bag::is_folder(&args.input)?) {
        return describe_each(args);
    }
    let mut contents = description(&args.input, args)?;
    let totals = Total::all(contents.density.iter_mut().collect());
    report::print(&args.report, contents.as_json(), &contents.as_table(), false)?;
    draw(totals, args)
}

/// Describes all files as one cloud.
fn describe_merged(args: &args::Info) -> Result<()> {
    let paths = input::paths(&args.input, &args.more, args.search.recursive)?;
    let watch = ProgressWatch::default();
    let merged = open_merged(&paths, &args.reading.options()?, None, &watch)?;
    let reader = merged.reader();
    let name = reader.name().to_owned();
    let read = match args.reads_points() || reader.bounds().is_none() {
        true => match read_merged(&merged, &watch).map_err(anyhow::Error::from) {
            Err(error) if is_too_large(&error, args) => None,
            read => Some(read?),
        },
        false => None,
    };
    let (mut contents, files) = match read {
        Some((cloud, files, _)) => (of_cloud(name, &cloud, args)?, files),
        None => (of_reader(name, reader), Joined::of_headers(&merged)),
    };
    let totals = Total::all(contents.density.iter_mut().collect());
    let (mut object, mut table) = (contents.as_json(), contents.as_table());
    report::add_files(&files, &mut object, &mut table);
    report::print(&args.report, object, &table, false)?;
    draw(totals, args)
}

/// Describes each file; files that can't be read print an error, and the others go on.
fn describe_each(args: &args::Info) -> Result<()> {
    let inputs: Vec<_> = std::iter::once(&args.input).chain(&args.more).cloned().collect();
    let found = expand(&inputs, args.search.recursive, None, &ProgressWatch::default())?;
    let (mut described, mut errors) = (Vec::new(), Vec::new());
    for file in &found {
        match description(&file.path, args) {
            Ok(description) => {
                described.push(description);
                density::bound(densities(&mut described), density::CELLS);
            }
            Err(error) => {
                complain("error", &error.to_string());
                let input = file.path.display().to_string();
                errors.push(json!({ "input": input, "error": error.to_string() }));
            }
        }
    }
    let failures = Failed { files: errors.len(), total: found.len() };
    let totals = Total::all(densities(&mut described));
    let objects: Vec<_> = described.iter().map(Description::as_json).collect();
    let mut object = json!({ "files": objects, "errors": errors });
    // Facts of points are many rows a file.
    let long = args.points || described.len() == 1 || messages::is_enabled(Verbosity::Verbose);
    let mut tables = match long {
        true => described.iter().map(Description::as_table).collect(),
        false => vec![description::table(&described)],
    };
    match &totals[..] {
        [] => {}
        [total] => {
            object["density"] = total.as_json();
            tables.push(total.as_table());
        }
        [one, other, ..] => warn(&format!(
            "no total of densities: {}, and {}; transform files to one system, or ask for each system alone",
            one.system(),
            other.system()
        )),
    }
    report::print(&args.report, object, &tables.join("\n"), false)?;
    draw(totals, args)?;
    if failures.files == 0 { Ok(()) } else { Err(failures.into()) }
}

fn densities(described: &mut [Description]) -> Vec<&mut Density> {
    described.iter_mut().filter_map(|one| one.density.as_mut()).collect()
}

/// Draws the map of densities, if requested.
fn draw(mut totals: Vec<Total>, args: &args::Info) -> Result<()> {
    let Some(path) = &args.map else { return Ok(()) };
    match (totals.pop(), totals.is_empty()) {
        (Some(total), true) => write_file(path, &total.picture(input::name(&args.input))?),
        _ => bail!(
            "{}: no map was drawn: there are no points, or files have different units or coordinate systems",
            path.display()
        ),
    }
}

fn description(path: &Path, args: &args::Info) -> Result<Description> {
    let name = input::name(path);
    match summary(path, args)? {
        Some(summary)
            if !args.reads_points()
                && (summary.bounds.is_some() || !(1..=MOST_READ).contains(&summary.points)) =>
        {
            summary.warnings.iter().for_each(|warning| warn(&format!("{name}: {warning}")));
            note_bounds(&name, summary.bounds.is_none() && summary.points > 0);
            Ok(Description::of_header(name, summary))
        }
        summary => read(path, args, summary),
    }
}

/// Notes that the bounds are not known.
fn note_bounds(name: &str, missing: bool) {
    if missing {
        note(&format!(
            "{name}: the header states no bounds, and the points were not read; --points reads them"
        ));
    }
}

/// Reads the header's summary, if the format's headers have one.
fn summary(path: &Path, args: &args::Info) -> Result<Option<Summary>> {
    let progress = Progress::start("reading the header of", &input::name(path));
    let summary = farpoint_io::summary(path, &args.reading.options()?)?;
    drop(progress);
    Ok(summary)
}

/// Reads all points; facts that they lack are taken from the header.
fn read(path: &Path, args: &args::Info, summary: Option<Summary>) -> Result<Description> {
    let (name, options) = (input::name(path), args.reading.options()?);
    let contents = match input::read(path, &options) {
        Ok((cloud, _)) => of_cloud(name, &cloud, args)?,
        Err(error) if is_too_large(&error, args) => {
            // Text has no header, and its lines are counted.
            let reader = Reader::open(path, &options, Some(1)).map_err(|_| error)?;
            reader.warnings().iter().for_each(|warning| warn(&format!("{name}: {warning}")));
            of_reader(name, &reader)
        }
        Err(error) => return Err(error),
    };
    Ok(contents.with_origin(summary))
}

/// Returns whether points don't fit into memory that nobody asked for.
fn is_too_large(error: &anyhow::Error, args: &args::Info) -> bool {
    !args.reads_points() && matches!(error.downcast_ref(), Some(Error::TooLarge { .. }))
}

/// Describes a file of which only the header was read.
fn of_reader(name: String, reader: &Reader) -> Description {
    note_bounds(&name, reader.bounds().is_none() && !reader.is_empty());
    let head = reader.head();
    Description {
        file: name,
        format: head.format(),
        description: head.description(),
        points: reader.len(),
        precision: if reader.is_single() { "f32" } else { "f64" },
        fields: head.fields(),
        bounds: reader.bounds(),
        crs: reader.crs().cloned(),
        meters: head.meters_per_unit(),
        scale: head.scale(),
        ..Description::empty()
    }
}

/// Describes a cloud that was read.
fn of_cloud(name: String, cloud: &Cloud, args: &args::Info) -> Result<Description> {
    let points = Points::of(cloud);
    let rows = CoordinateFacts::of(cloud, &points, args.points);
    let attributes = if args.points { Attributes::of(cloud) } else { Attributes::default() };
    let precision = if matches!(points, Points::F32(_)) { "f32" } else { "f64" };
    let density = if args.density { Density::of(&name, cloud, &points)? } else { None };
    Ok(Description {
        file: name,
        format: cloud.format(),
        description: cloud.description(),
        points: cloud.len() as u64,
        precision,
        fields: cloud.fields(),
        bounds: rows.bounds,
        crs: cloud.crs().cloned(),
        meters: cloud.meters_per_unit(),
        scale: cloud.scale(),
        rows: Some(rows),
        attributes,
        density,
        ..Description::empty()
    })
}

/// Returns the first attribute that is present among several names.
fn column(cloud: &Cloud, names: &[&str]) -> Option<farpoint_io::Column> {
    names.iter().find_map(|name| cloud.column(name))
}
