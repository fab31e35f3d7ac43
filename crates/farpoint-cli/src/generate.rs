//! `farpoint generate`: a seeded cloud into a file.

use crate::args;
use crate::output::count;
use crate::progress::Progress;
use crate::sample::write;
use anyhow::{Result, ensure};
use farpoint_io::{Cloud, Coordinates, WriteOptions};

/// As many as a cloud may have.
const MOST: usize = u32::MAX as usize - 1;

pub(crate) fn run(args: &args::Generate) -> Result<()> {
    check_count(args.count)?;
    farpoint_io::check_output(&args.output, &[], &WriteOptions::default())?;
    let progress = Progress::start(format!("generating {}", args.kind));
    let points = farpoint_generate::generate(args.kind, args.count, args.seed);
    drop(progress);
    let rows: Vec<_> = (0..points.len()).collect();
    write(&args.output, &Cloud::new(Coordinates::F32(points)), &rows)
}

/// Refuses what can't be an index, or won't fit in memory.
pub(crate) fn check_count(points: usize) -> Result<()> {
    ensure!(
        points <= MOST && Vec::<[f32; 3]>::new().try_reserve_exact(points).is_ok(),
        "{} points are too many for this machine or for a cloud (at most {}); ask for fewer",
        count(points),
        count(MOST)
    );
    Ok(())
}
