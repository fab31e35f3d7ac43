//! `farpoint sample` and `farpoint order` with many inputs: finding the files, processing them, and the
//! report.

mod isolated;
mod report;

use crate::args::{Convert, Many, Named, Order, Report, Sample, Writing};
use crate::messages::{self, complain, warn};
use crate::progress::{Progress, ProgressWatch};
use crate::{bag, check, interrupt};
use anyhow::{Result, anyhow, bail, ensure};
use farpoint::Progress as Step;
use farpoint_io::memory;
use farpoint_pipeline::{
    Batch, Cards, Concurrency, Executor, File, Request, expand, names_several, plan,
};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Instant;
use std::{fmt, fs};

/// Exit status where some files failed and the others are done.
pub(crate) const SOME_FAILED: u8 = 3;

/// Error of a run in which some files failed.
#[derive(Debug)]
pub(crate) struct Failed {
    pub(crate) files: usize,
    pub(crate) total: usize,
}

impl fmt::Display for Failed {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} of {} files failed; see the errors above", self.files, self.total)
    }
}

impl std::error::Error for Failed {}

/// Request and options of a command with many files.
struct ManyFiles<'a> {
    first: &'a Path,
    many: &'a Many,
    request: Request,
    writing: &'a Writing,
    report: &'a Report,
    /// Other files that are read.
    read: [Named<'a>; 2],
    /// Verb for messages.
    verb: &'static str,
}

/// Returns whether the arguments name several files.
pub(crate) fn has_many_files(first: &Path, many: &Many) -> bool {
    if many.merge {
        return false;
    }
    let requested = many.output_dir.is_some() || many.one.is_some();
    // A folder may be one bag.
    let several = names_several(first) && !bag::is_folder(first).unwrap_or(false);
    requested || !many.more.is_empty() || several
}

/// Runs `farpoint sample`.
pub(crate) fn sample(args: &Sample) -> Result<()> {
    check::sample_options(args)?;
    let single_file = [(args.output.indices.is_some(), "--indices"), (args.stats, "--stats")];
    if let Some((_, option)) = single_file.into_iter().find(|(is_set, _)| *is_set) {
        bail!("{option} is for a single file; remove it, or sample one file without --output-dir");
    }
    let (request, writing) = (on_one_gpu(args.request()?)?, &args.output.writing);
    let (first, many, report, verb) = (&args.input.input, &args.many, &args.report, "sampling");
    let read = [args.filters.file(), writing.file()];
    ManyFiles { first, many, request, writing, report, read, verb }.run()
}

/// Runs `farpoint order`.
pub(crate) fn order(args: &Order) -> Result<()> {
    check::order_options(args)?;
    let (request, writing) = (on_one_gpu(args.request()?)?, &args.output.writing);
    let (first, many, report, verb) = (&args.input.input, &args.many, &args.report, "ordering");
    let read = [args.filters.file(), writing.file()];
    ManyFiles { first, many, request, writing, report, read, verb }.run()
}

/// Runs `farpoint convert`.
pub(crate) fn convert(args: &Convert) -> Result<()> {
    let Convert { input: first, many, writing, report, .. } = args;
    let (request, read) = (args.request()?, [args.filters.file(), writing.file()]);
    ManyFiles { first, many, request, writing, report, read, verb: "converting" }.run()
}

/// Makes files processed in parallel share one GPU.
fn on_one_gpu(mut request: Request) -> Result<Request> {
    let card = match &request.place.gpu {
        None => 0,
        Some(Cards::These(cards)) if cards.len() == 1 => cards[0],
        Some(_) => bail!("--gpu names several GPUs, and files in parallel share one; name one"),
    };
    request.place.gpu = Some(Cards::These(vec![card]));
    Ok(request)
}

/// Returns whether an argument may name inputs: an existing path, a pattern or a list.
fn is_input(path: &Path) -> bool {
    path.exists() || names_several(path)
}

impl ManyFiles<'_> {
    fn run(self) -> Result<()> {
        if let Some([input, output]) = self.many.one.as_deref() {
            return isolated::run_one(&self.executor(1)?, input, output, self.many);
        }
        let (out, begin) = (self.check()?, Instant::now());
        let inputs: Vec<PathBuf> = std::iter::once(self.first)
            .chain(self.many.more.iter().map(PathBuf::as_path))
            .map(Path::to_owned)
            .collect();
        let found =
            expand(&inputs, self.many.search.recursive, Some(out), &ProgressWatch::default())?;
        let inputs: Vec<PathBuf> = found.iter().map(|file| file.path.clone()).collect();
        // Before the folder of the outputs is created.
        if let (Err(source), false) =
            (fs::metadata(&inputs[0]), inputs.iter().any(|path| path.exists()))
        {
            let name = inputs[0].display().to_string();
            return Err(farpoint_io::Error::Read { name, source }.into());
        }
        let files = plan(found, out, self.writing.extension())?;
        self.check_files(&files, &inputs)?;
        let batch = Batch::open(files, out, &self.request.digest(), self.many.force)?;
        if batch.unreadable() > 0 {
            let lines = batch.unreadable();
            warn(&format!(
                "{}: {lines} lines can't be read; their files are processed again",
                out.display()
            ));
        }
        let concurrency = self.concurrency(batch.remaining().len());
        let executor = self.executor(concurrency.threads)?;
        let stop = interrupt::defer_exit();
        let result = self.work(&batch, &executor, &concurrency);
        let files = batch.files().len();
        let remaining = batch.remaining().to_vec();
        let rows = batch.close();
        result?;
        if stop.load(Ordering::SeqCst) {
            interrupt::end();
        }
        let summary = report::Summary::new(&rows, &remaining, out, begin.elapsed().as_secs_f64());
        summary.print(self.report)?;
        match summary.failed {
            0 => Ok(()),
            failed => Err(Failed { files: failed, total: files }.into()),
        }
    }

    /// Checks the options before any file is looked for; returns the output folder.
    fn check(&self) -> Result<&Path> {
        let Some(out) = &self.many.output_dir else {
            // A length with a space, or an output without -o.
            if let Some(absent) = self.many.more.iter().find(|path| !is_input(path)) {
                bail!(
                    "{0}: no such file, and several inputs need --output-dir; an output is named with -o {0}, and a \
                     length and its unit are one word, as in 5cm",
                    absent.display()
                );
            }
            bail!(
                "{}: several inputs need --output-dir DIR for their outputs, or --merge to make \
                 them one cloud",
                self.first.display()
            )
        };
        ensure!(
            !out.is_file(),
            "--output-dir {}: is a file; use the name of a folder",
            out.display()
        );
        if let Some(format) = self.request.writing.format {
            self.writing.check(format).map_err(|error| anyhow!(error))?;
        }
        Ok(out)
    }

    /// Refuses outputs over other files that are read, and a report over any file.
    fn check_files(&self, files: &[File], inputs: &[PathBuf]) -> Result<()> {
        let outputs = files.iter().map(|file| ("--output-dir", Some(file.output.as_path())));
        let inputs: Vec<_> = inputs.iter().map(PathBuf::as_path).collect();
        check::outputs(self.report, &outputs.collect::<Vec<_>>(), &inputs, &self.read)
    }

    fn executor(&self, threads: usize) -> Result<Executor> {
        let mut request = self.request.clone();
        request.place.threads.get_or_insert(threads);
        Executor::new(request).map_err(|error| anyhow!(error))
    }

    /// Returns a concurrency of as many files as there are cores for; fewer files than cores share them.
    fn concurrency(&self, files: usize) -> Concurrency {
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
        concurrency: &Concurrency,
    ) -> Result<(), farpoint_pipeline::Error> {
        let (all, done) = (batch.remaining().len(), AtomicUsize::new(0));
        let progress = Progress::of_files(self.verb, &format!("{} files", messages::count(all)));
        progress.count(0, all);
        farpoint_pipeline::run(
            batch,
            executor,
            concurrency,
            interrupt::defer_exit(),
            &|row, notes| {
                messages::print_notes(notes);
                if let Err(error) = &row.result {
                    complain("error", error);
                }
                let done = done.fetch_add(1, Ordering::Relaxed) + 1;
                let _ = progress.step(Step::new(done, all, 0.0));
            },
            &|file| isolated::run_isolated(file),
        )
    }
}

/// Returns the exit status of an error.
pub(crate) fn status(error: &anyhow::Error) -> u8 {
    if error.is::<Failed>() { SOME_FAILED } else { crate::BAD_INPUT }
}
