//! `farpoint generate`: a seeded cloud into a file.

use crate::args::{CloudOutput, Length};
use crate::output::write_cloud;
use crate::progress::Progress;
use crate::{args, check, report};
use anyhow::Result;
use farpoint_io::{Cloud, Coordinates};
use serde_json::json;
use std::path::Path;
use std::time::Instant;

pub(crate) fn run(args: &args::Generate) -> Result<()> {
    let CloudOutput { output, writing } = &args.output;
    check::points(args.count.0)?;
    check::cloud(output, &[], writing)?;
    check::report(&args.report, &[output])?;
    check::stdout_once(output, &args.report)?;
    let start = Instant::now();
    let progress = Progress::start("generating", args.kind.name());
    let points = farpoint_generate::generate(args.kind, args.count.0, args.seed);
    drop(progress);
    let rows: Vec<_> = (0..points.len()).collect();
    let options = writing.options(writing.scale.map(Length::in_meters));
    write_cloud(output, &Cloud::new(Coordinates::F32(points)), &rows, &options)?;
    let time = start.elapsed().as_secs_f64();
    let object = json!({
        "output": output.display().to_string(),
        "kind": args.kind.name(),
        "points": rows.len(),
        "seed": args.seed,
        "seconds": time,
    });
    report::print(&args.report, object, "", output == Path::new("-"))
}
