//! `farpoint sample` and `farpoint order` with many inputs: finding the files, processing them, and the
//! report.

mod isolated;
mod report;

use crate::args::{Convert, Many, Order, Report, Sample, Writing};
use crate::messages::{self, complain, warn};
use crate::progress::Progress;
use crate::{bag, check, interrupt};
use anyhow::{Result, anyhow, bail, ensure};
use farpoint::Progress as Step;
use farpoint_io::memory;
use farpoint_pipeline::{
    Batch, Cards, Concurrency, Executor, Request, expand, names_several, plan,
};
use std::fmt;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Instant;

/// Exit status where some files failed and the others are done.
pub(crate) const SOME_FAILED: u8 = 3;

/// Error of a run in which some files failed.
#[derive(Debug)]
pub(crate) struct Failed {
    pub(crate) files: usize,
    pub(crate) of: usize,
}

impl fmt::Display for Failed {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "{} of {} files failed; what is wrong with them stands above",
            self.files, self.of
        )
    }
}

impl std::error::Error for Failed {}

/// Request and options of a command with many files.
struct Asked<'a> {
    first: &'a Path,
    many: &'a Many,
    request: Request,
    writing: &'a Writing,
    report: &'a Report,
    /// Verb for messages.
    verb: &'static str,
}

/// Returns whether the arguments name several files.
pub(crate) fn is_asked(first: &Path, many: &Many) -> bool {
    if many.merge {
        return false;
    }
    let given = many.output_dir.is_some() || many.one.is_some();
    // A folder may be one bag.
    let several = names_several(first) && !bag::is_folder(first).unwrap_or(false);
    given || !many.more.is_empty() || several
}

/// Runs `farpoint sample`.
pub(crate) fn sample(args: &Sample) -> Result<()> {
    check::sampling(args)?;
    let one = [(args.output.indices.is_some(), "--indices"), (args.stats, "--stats")];
    if let Some((_, option)) = one.into_iter().find(|(given, _)| *given) {
        bail!(
            "{option} is for a single file; leave it out, or sample one file without --output-dir"
        );
    }
    let (request, writing) = (on_one_gpu(args.request()?)?, &args.output.writing);
    let (first, many, report, verb) = (&args.input.input, &args.many, &args.report, "sampling");
    Asked { first, many, request, writing, report, verb }.run()
}

/// Runs `farpoint order`.
pub(crate) fn order(args: &Order) -> Result<()> {
    check::ordering(args)?;
    let (request, writing) = (on_one_gpu(args.request()?)?, &args.output.writing);
    let (first, many, report, verb) = (&args.input.input, &args.many, &args.report, "ordering");
    Asked { first, many, request, writing, report, verb }.run()
}

/// Runs `farpoint convert`.
pub(crate) fn convert(args: &Convert) -> Result<()> {
    let Convert { input: first, many, writing, report, .. } = args;
    Asked { first, many, request: args.request()?, writing, report, verb: "converting" }.run()
}

/// Makes files processed side by side share one GPU.
fn on_one_gpu(mut request: Request) -> Result<Request> {
    let card = match &request.place.gpu {
        None => 0,
        Some(Cards::These(cards)) if cards.len() == 1 => cards[0],
        Some(_) => bail!("--gpu names several GPUs, and files side by side share one; name one"),
    };
    request.place.gpu = Some(Cards::These(vec![card]));
    Ok(request)
}

impl Asked<'_> {
    fn run(self) -> Result<()> {
        if let Some([input, output]) = self.many.one.as_deref() {
            return isolated::one(&self.executor(1)?, input, output, self.many);
        }
        let (out, begin) = (self.check()?, Instant::now());
        let given: Vec<PathBuf> = std::iter::once(self.first)
            .chain(self.many.more.iter().map(PathBuf::as_path))
            .map(Path::to_owned)
            .collect();
        let found = expand(&given, self.many.found.recursive, Some(out))?;
        let files = plan(found, out, self.writing.extension())?;
        let batch = Batch::open(files, out, &self.request.digest(), self.many.force)?;
        if batch.unreadable() > 0 {
            let lines = batch.unreadable();
            warn(&format!(
                "{}: {lines} lines can't be read; their files are done again",
                out.display()
            ));
        }
        let side = self.side(batch.left().len());
        let executor = self.executor(side.threads)?;
        let stop = interrupt::gentle();
        let done = self.work(&batch, &executor, &side);
        let rows = batch.files().len();
        let left = batch.left().to_vec();
        let all = batch.close();
        done?;
        if stop.load(Ordering::SeqCst) {
            interrupt::end();
        }
        let summary = report::Summary::new(&all, &left, out, begin.elapsed().as_secs_f64());
        summary.print(self.report)?;
        match summary.failed {
            0 => Ok(()),
            files => Err(Failed { files, of: rows }.into()),
        }
    }

    /// Checks the options before any file is looked for; returns the output folder.
    fn check(&self) -> Result<&Path> {
        let Some(out) = &self.many.output_dir else {
            bail!(
                "{}: several files have several outputs; add --output-dir DIR for a folder that they go to, or \
                 --merge to take them as one cloud",
                self.first.display()
            )
        };
        ensure!(
            !out.is_file(),
            "--output-dir {}: is a file; give the name of a folder",
            out.display()
        );
        if let Some(format) = self.request.writing.format {
            self.writing.check(format).map_err(|refused| anyhow!(refused))?;
        }
        check::report(self.report, &[])?;
        Ok(out)
    }

    fn executor(&self, threads: usize) -> Result<Executor> {
        let mut request = self.request.clone();
        request.place.threads.get_or_insert(threads);
        Executor::new(request).map_err(|error| anyhow!(error))
    }

    /// Returns a concurrency of as many files as there are cores for; fewer files than cores share them.
    fn side(&self, files: usize) -> Concurrency {
        let cores = std::thread::available_parallelism().map_or(1, usize::from);
        let each = self.request.place.threads;
        let jobs =
            self.many.jobs.map_or(cores / each.unwrap_or(1), usize::from).clamp(1, files.max(1));
        let half = || memory::available().map_or(4 << 30, |free| free / 2);
        Concurrency {
            jobs,
            threads: each.unwrap_or(cores / jobs).max(1),
            memory: self.request.limits.memory.unwrap_or_else(half),
            fail_fast: self.many.fail_fast,
            limit: self.many.time_limit.map(|limit| limit.0),
        }
    }

    fn work(
        &self,
        batch: &Batch,
        executor: &Executor,
        side: &Concurrency,
    ) -> Result<(), farpoint_pipeline::Error> {
        let (all, done) = (batch.left().len(), AtomicUsize::new(0));
        let progress = Progress::of_files(self.verb, &format!("{} files", messages::count(all)));
        farpoint_pipeline::run(
            batch,
            executor,
            side,
            interrupt::gentle(),
            &|row, notes| {
                messages::pass_on(notes);
                if let Err(error) = &row.result {
                    complain("error", error);
                }
                let done = done.fetch_add(1, Ordering::Relaxed) + 1;
                let _ = progress.step(Step::new(done, all, 0.0));
            },
            &|file| isolated::call(file),
        )
    }
}

/// Returns the exit status of an error.
pub(crate) fn status(error: &anyhow::Error) -> ExitCode {
    ExitCode::from(if error.is::<Failed>() { SOME_FAILED } else { crate::BAD_INPUT })
}
