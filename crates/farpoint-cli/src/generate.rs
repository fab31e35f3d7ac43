//! `farpoint generate`: a seeded cloud into a file.

use crate::output::write_cloud;
use crate::progress::Progress;
use crate::{args, check};
use anyhow::Result;
use farpoint_io::{Cloud, Coordinates, WriteOptions};

pub(crate) fn run(args: &args::Generate) -> Result<()> {
    check::points(args.count)?;
    farpoint_io::check_output(&args.output, &[], &WriteOptions::default())?;
    let progress = Progress::start(format!("generating {}", args.kind));
    let points = farpoint_generate::generate(args.kind, args.count, args.seed);
    drop(progress);
    let rows: Vec<_> = (0..points.len()).collect();
    write_cloud(&args.output, &Cloud::new(Coordinates::F32(points)), &rows)
}
