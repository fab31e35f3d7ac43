//! `farpoint info`: what is in a file, by its header where that says enough, or by its points.

mod facts;
mod told;

use crate::input::{self, Points};
use crate::messages::warn;
use crate::progress::Progress;
use crate::{args, check, report};
use anyhow::Result;
use facts::{Attributes, Rows};
use farpoint_io::{Cloud, Summary};
use std::path::Path;
use told::Told;

pub(crate) fn run(args: &args::Info) -> Result<()> {
    check::told(&args.told, &[&args.input])?;
    let told = match summary(args)? {
        Some(summary) if !args.points && (summary.bounds.is_some() || summary.points == 0) => {
            let name = input::name(&args.input);
            summary.warnings.iter().for_each(|warning| warn(&format!("{name}: {warning}")));
            Told::of_header(name, summary)
        }
        summary => read(args, summary)?,
    };
    report::tell(&args.told, told.as_json(), &told.as_table(), false)
}

/// What the header tells, if the format's headers tell much.
fn summary(args: &args::Info) -> Result<Option<Summary>> {
    let path: &Path = &args.input;
    let progress = Progress::start("reading the header of", &input::name(path));
    let summary = farpoint_io::summary(path, &args.reading.options())?;
    drop(progress);
    Ok(summary)
}

/// Reads all points; what they don't tell is left from the header.
fn read(args: &args::Info, summary: Option<Summary>) -> Result<Told> {
    let (cloud, _) = input::read(&args.input, &args.reading.options())?;
    let points = Points::of(&cloud);
    let rows = Rows::of(&points, args.points);
    let attributes = args.points.then(|| Attributes::of(&cloud)).unwrap_or_default();
    let precision = if matches!(points, Points::F32(_)) { "f32" } else { "f64" };
    let told = Told {
        file: input::name(&args.input),
        format: cloud.format(),
        description: cloud.description(),
        points: cloud.len() as u64,
        precision,
        fields: cloud.fields(),
        bounds: rows.bounds,
        crs: cloud.crs().cloned(),
        scale: cloud.scale(),
        rows: Some(rows),
        attributes,
        ..Told::empty()
    };
    Ok(told.with_origin(summary))
}

/// Whether an attribute may go by several names, the first that is there counts.
fn column(cloud: &Cloud, names: &[&str]) -> Option<farpoint_io::Column> {
    names.iter().find_map(|name| cloud.column(name))
}
