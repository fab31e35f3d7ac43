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
    check::points(args.count.0)?;
    let CloudOutput { output, writing } = &args.output;
    check::cloud(output, &[], writing)?;
    check::stdout_once(output, &args.report)?;
    check::outputs(&args.report, &[("--output", Some(output))], &[], &[writing.file()])?;
    let start = Instant::now();
    let progress = Progress::start("generating", args.kind.name());
    let points = farpoint_generate::generate(args.kind, args.count.0, args.seed);
    let cloud = Cloud::new(Coordinates::F32(points));
    drop(progress);
    let rows: Vec<_> = (0..cloud.len()).collect();
    let options = writing.options(writing.scale.map(Length::in_meters));
    write_cloud(output, &cloud, &rows, &options)?;
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
