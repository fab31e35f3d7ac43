//! `farpoint sample`: a request of the options, a plan, its run, a report.

use crate::progress::ProgressWatch;
use crate::{args, bag, check, input, many, report};
use anyhow::Result;
use farpoint_pipeline::{Files, Plan, Request};
use std::sync::OnceLock;

/// Hook that runs before memory is limited.
static BEFORE_LARGE: OnceLock<fn()> = OnceLock::new();

/// Sets a hook that runs before a file is sampled through the disk: the program's allocator must give free
/// memory back, or the limit is exceeded.
pub fn before_large(prepare: fn()) {
    BEFORE_LARGE.get_or_init(|| prepare);
}

pub(crate) fn run(args: &args::Sample) -> Result<()> {
    let (first, many, selection) = (&args.input.input, &args.many, &args.run.selection);
    if let Some(bag_input) = bag::find_only(first, &args.input.reading, many)? {
        selection.refuse("a single cloud (--message K)")?;
        return bag::sample(args, &bag_input);
    }
    if many::has_many_files(first, many) {
        selection.refuse("a single file")?;
        return many::sample(args);
    }
    check::sample_options(args)?;
    let inputs = input::one_cloud(first, many, selection)?;
    check::sample_outputs(args, &inputs)?;
    let request = args.request()?;
    let (output, indices) = (args.output.output.as_deref(), args.output.indices.as_deref());
    let files = Files { inputs: &inputs, merge: many.merge, output, indices };
    let watch = ProgressWatch::default();
    let plan = plan(&request, files, &watch)?;
    let finished = plan.run(&watch)?;
    drop(watch);
    report::print_sample(args, &finished)
}

/// Plans the work on one cloud.
pub(crate) fn plan<'a>(
    request: &'a Request,
    files: Files<'a>,
    watch: &ProgressWatch,
) -> Result<Plan<'a>> {
    let plan = request.plan(files, watch)?;
    if let (Plan::ThroughDisk(_), Some(prepare)) = (&plan, BEFORE_LARGE.get()) {
        prepare();
    }
    Ok(plan)
}
