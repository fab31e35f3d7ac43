//! `farpoint sample`: a request of the options, a plan, its run, a report.

use crate::progress::Shown;
use crate::{args, bag, check, input, many, report};
use anyhow::Result;
use farpoint_pipeline::{Files, Plan};
use std::sync::OnceLock;

/// Hook that runs before memory is limited.
static BEFORE: OnceLock<fn()> = OnceLock::new();

/// Sets a hook that runs before a file is sampled through the disk: the program's allocator must give free
/// memory back, or more is taken than was allowed.
pub fn before_large(prepare: fn()) {
    BEFORE.get_or_init(|| prepare);
}

pub(crate) fn run(args: &args::Sample) -> Result<()> {
    let (first, many, selection) = (&args.input.input, &args.many, &args.run.selection);
    if let Some(recording) = bag::whole(first, &args.input.reading, many)? {
        selection.refuse("a single cloud (--message K)")?;
        return bag::sample(args, &recording);
    }
    if many::is_asked(first, many) {
        selection.refuse("a single file")?;
        return many::sample(args);
    }
    check::sampling(args)?;
    let inputs = input::one_cloud(first, many, selection)?;
    check::sampled(args, &inputs)?;
    let request = args.request()?;
    let (output, indices) = (args.output.output.as_deref(), args.output.indices.as_deref());
    let files = Files { inputs: &inputs, merge: many.merge, output, indices };
    let watch = Shown::default();
    let plan = request.plan(files, &watch)?;
    if let (Plan::ThroughDisk(_), Some(prepare)) = (&plan, BEFORE.get()) {
        prepare();
    }
    let finished = plan.run(&watch)?;
    drop(watch);
    report::sampled(args, &finished)
}
