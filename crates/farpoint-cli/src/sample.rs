//! `farpoint sample`: check everything, read, sample, write, report.

use crate::interrupt::guarded;
use crate::job::{self, Job};
use crate::output::note;
use crate::progress::Progress;
use crate::report::{self, Times};
use crate::{args, check, input, output};
use anyhow::{Result, anyhow};
use farpoint_io::Cloud;
use std::time::Instant;

pub(crate) fn run(args: &args::Sample) -> Result<()> {
    check::sample(args)?;
    let (cloud, read) = input::read(&args.input.input, args.input.columns)?;
    let points = input::prepare(&cloud, &args.input)?;
    let start = job::start(&points, &args.run, args.input.drop_zeros)?;
    let job = Job::new(&args.run, Some(&args.approximate), args.amount(), start, args.stats);
    let name = input::name(&args.input.input);
    let progress = Progress::start(format!("sampling {name}"));
    let outcome = job.run(&points, &args.run.place, args.stats, &progress);
    drop(progress);
    let outcome = outcome.map_err(|error| anyhow!("{name}: {error}"))?;
    let start = Instant::now();
    if let Some(path) = &args.output {
        if outcome.made.is_some() {
            note(&format!("{name}: centroids keep no attributes but their positions"));
        }
        let written: &Cloud = outcome.made.as_ref().unwrap_or(&cloud);
        output::write_cloud(path, written, &outcome.indices)?;
    }
    if let Some(path) = &args.indices {
        guarded(|| farpoint_io::write_indices(path, &outcome.indices))?;
    }
    let wrote = args.output.is_some() || args.indices.is_some();
    let write = wrote.then(|| start.elapsed().as_secs_f64());
    report::print(args, &outcome, points.len(), &Times { read, write })
}
