//! `farpoint neighbors`: the neighbors of each point, as arrays for NumPy.

mod report;
mod result;
mod search;

use crate::args::{self, Length, Rows};
use crate::check;
use crate::input::{self, Points};
use crate::picture::Unit;
use anyhow::{Result, anyhow, ensure};
use farpoint::{NonFinite, Norm, Searcher};
use farpoint_pipeline::RanOn;
use result::Spread;
use std::path::Path;

/// A search and its output.
struct Search<'a> {
    args: &'a args::Neighbors,
    searcher: Searcher,
}

/// Result of a search.
struct Outcome {
    /// Number of points of both clouds, and how many of them were left out.
    points: [usize; 2],
    dropped: [usize; 2],
    spread: Spread,
    ran_on: RanOn,
    search_seconds: f64,
    write_seconds: f64,
}

pub(crate) fn run(args: &args::Neighbors) -> Result<()> {
    check(args)?;
    let reading = args.reading.options()?;
    let (cloud, mut read) = input::read(&args.a, &reading)?;
    let other = args.b.as_deref().map(|path| input::read(path, &reading)).transpose()?;
    read += other.as_ref().map_or(0.0, |(_, seconds)| *seconds);
    if let (Some((other, _)), Some(path)) = (&other, &args.b) {
        input::compare_units([(&cloud, &args.a), (other, path)]);
    }
    let lengths = [("--radius", args.radius), ("--min-radius", args.min_radius)];
    let unit = input::unit(&cloud, &args.a, &lengths)?;
    let rows = Rows { drop_zeros: args.drop_zeros, f32: false };
    let a = input::prepare(&cloud, &args.a, rows)?;
    let b = match (&other, &args.b) {
        (Some((cloud, _)), Some(path)) => Some(input::prepare(cloud, path, rows)?),
        _ => None,
    };
    let search = Search { args, searcher: searcher(args, |length| length.in_units_of(unit)) };
    let outcome = match (a, b) {
        (Points::F32(a), None) => search.run(&a, &a)?,
        (Points::F64(a), None) => search.run(&a, &a)?,
        (Points::F32(a), Some(Points::F32(b))) => search.run(&a, &b)?,
        // The more precise of the two.
        (a, Some(b)) => search.run(&a.widened(), &b.widened())?,
    };
    report::print(&search, &outcome, read, Unit::of(&cloud))
}

/// Returns the search of these options; `length` converts a length to the unit of the file.
fn searcher(args: &args::Neighbors, length: impl Fn(Length) -> f64) -> Searcher {
    let k = args.k.map_or(1, |k| k.0);
    let searcher = match args.radius {
        None => Searcher::nearest(k),
        Some(radius) => Searcher::ball(length(radius), k)
            .min_radius(args.min_radius.map_or(0.0, &length))
            .inclusive(args.inclusive)
            .order(args.order()),
    };
    searcher
        .exclude_self(args.exclude_self)
        .method(args.method)
        .norm(args.norm())
        .non_finite(NonFinite::Skip)
}

/// Checks the options before the inputs are read.
fn check(args: &args::Neighbors) -> Result<()> {
    let job = format!("--method {}", args.method);
    check::device(&args.place, &job, &|kind| args.method.check(kind))?;
    let (stdin, b) = (Path::new("-"), args.b.as_deref());
    ensure!(
        args.a != stdin || b != Some(stdin),
        "only one of the two clouds can come from stdin; name a file for the other"
    );
    ensure!(
        !args.squared || args.norm() == Norm::Two,
        "--squared has no effect with --norm 1; remove one"
    );
    let option = if args.k.is_some_and(|k| k.0 == 0) { "-k" } else { "--radius, --min-radius" };
    searcher(args, Length::in_meters).check().map_err(|error| anyhow!("{option}: {error}"))?;
    let inputs = [args.a.as_path(), b.unwrap_or(&args.a)];
    check::file("--output", &args.output, &["npz"])?;
    check::stdout_once(&args.output, &args.report)?;
    check::outputs(&args.report, &[("--output", Some(&args.output))], &inputs, &[])
}
