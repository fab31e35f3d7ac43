//! Writing of the output: a bag for each file of the input, completely or not at all.

use super::BagInput;
use super::choose::Chooser;
use super::pace::Pace;
use crate::messages::{count, warn};
use crate::progress::Progress;
use anyhow::{Result, anyhow, ensure};
use farpoint_io::bag::{Bag, Rewrite, Stages, Topic};
use farpoint_io::temporary;
use farpoint_pipeline::Request;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::atomic::AtomicBool;

/// Approximate memory of a run without `--memory`.
const MEMORY: u64 = 256 << 20;
/// Share of it for queued messages; the rest is for messages in work, and the output.
const SHARE: f64 = 0.375;

/// Result of all files.
pub(super) struct Summary {
    pub(super) pace: Pace,
    pub(super) stages: Stages,
    pub(super) topic: String,
    pub(super) encoding: String,
    pub(super) threads: usize,
    /// Messages with fewer usable points than requested.
    pub(super) short: u64,
}

/// Writes everything; `None` if it was interrupted.
pub(super) fn write_all(
    request: &Request,
    bag_input: &BagInput,
    bags: &[Bag],
    output: &Path,
    chooser: &Chooser<'_>,
    stop: &AtomicBool,
) -> Result<Option<Summary>> {
    let first = topic(request, &bags[0])?;
    let threads = request.place.thread_count();
    let mut summary = Summary {
        pace: Pace::default(),
        stages: Stages::default(),
        topic: first.name.clone(),
        encoding: first.encoding.clone(),
        threads,
        short: 0,
    };
    let folder = match bag_input.folder {
        true => Some(OutputFolder::new(&bag_input.path, output)?),
        false => None,
    };
    let messages =
        bags.iter().filter_map(|bag| topic(request, bag).ok()).map(|topic| topic.messages);
    let progress = Messages {
        bar: Progress::counting("sampling", &summary.topic, "messages"),
        total: messages.sum(),
    };
    for (file, bag) in bag_input.files.iter().zip(bags) {
        let target = match &folder {
            Some(folder) => folder.file(file)?,
            None => output.to_owned(),
        };
        if !write_file(request, bag, &target, (chooser, threads, stop), &mut summary, &progress)? {
            return Ok(None);
        }
    }
    drop(progress);
    if let Some(folder) = folder {
        folder.finish()?;
    }
    summary.short = chooser.short.load(std::sync::atomic::Ordering::Relaxed);
    Ok(Some(summary))
}

struct Messages {
    bar: Progress,
    total: u64,
}

/// Writes one file; returns true if it was written.
fn write_file(
    request: &Request,
    bag: &Bag,
    target: &Path,
    (chooser, threads, stop): (&Chooser<'_>, usize, &AtomicBool),
    summary: &mut Summary,
    progress: &Messages,
) -> Result<bool> {
    let name = bag.name();
    bag.contents().warnings.iter().for_each(|warning| warn(&format!("{name}: {warning}")));
    // With several files, not each needs messages of the topic.
    let Some(topic) = bag
        .contents()
        .topics
        .iter()
        .find(|topic| topic.name == summary.topic && topic.encoding == summary.encoding)
    else {
        return Err(anyhow!(
            "{name}: has no topic {} ({}), as the first file has",
            summary.topic,
            summary.encoding
        ));
    };
    let memory = request.limits.memory.unwrap_or(MEMORY);
    let rewrite = Rewrite::new(topic, threads, (memory as f64 * SHARE) as u64, stop);
    let choose = |message: &farpoint_io::bag::PointCloud2<'_>| chooser.choose(message);
    let totals = rewrite.write(bag, target, &choose, &mut |cut| {
        summary.pace.add(cut);
        progress.bar.count(summary.pace.messages() as usize, progress.total as usize);
    })?;
    let Some(totals) = totals else { return Ok(false) };
    let file_warnings = &bag.contents().warnings;
    totals
        .warnings
        .iter()
        // The survey of the file has printed its warnings already.
        .filter(|_| file_warnings.is_empty())
        .for_each(|warning| warn(&format!("{name}: {warning}")));
    summary.stages.unpacking += totals.stages.unpacking;
    summary.stages.cutting += totals.stages.cutting;
    summary.stages.writing += totals.stages.writing;
    summary.stages.whole += totals.stages.whole;
    Ok(true)
}

/// Returns the topic that the options name, with clouds.
fn topic<'a>(request: &Request, bag: &'a Bag) -> Result<&'a Topic> {
    let name = request.reading.topic.as_deref();
    let topic = bag.contents().cloud_topic(name);
    topic.map_err(|error| anyhow!("{}: {error}", bag.name()))
}

/// Checks that a folder can be created there.
pub(super) fn check_folder(output: &Path) -> Result<()> {
    let name = output.display();
    ensure!(
        !output.exists(),
        "{name}: already exists; the input is a folder, so use the name of a new folder"
    );
    let parent = parent(output);
    ensure!(
        parent.is_dir(),
        "{name}: the folder {} does not exist; create it first, or write elsewhere",
        parent.display()
    );
    Ok(())
}

fn parent(path: &Path) -> &Path {
    path.parent().filter(|folder| *folder != Path::new("")).unwrap_or(Path::new("."))
}

/// A folder under construction, moved to its place when it is complete.
struct OutputFolder {
    temporary: temporary::Folder,
    input: PathBuf,
    output: PathBuf,
}

impl OutputFolder {
    fn new(input: &Path, output: &Path) -> Result<Self> {
        let beside = parent(output);
        let temporary = temporary::Folder::within(beside).map_err(|error| {
            anyhow!("{}: cannot create a folder there: {error}", beside.display())
        })?;
        Ok(Self { temporary, input: input.to_owned(), output: output.to_owned() })
    }

    fn file(&self, input: &Path) -> Result<PathBuf> {
        let name = input.file_name().ok_or_else(|| anyhow!("{}: has no name", input.display()))?;
        let path = self.temporary.path().join(name);
        ensure!(!path.exists(), "{}: is listed twice in metadata.yaml", input.display());
        Ok(path)
    }

    /// Writes the list of files with their numbers of messages, and moves everything to its place.
    fn finish(self) -> Result<()> {
        let name = self.output.display().to_string();
        let finish = || -> std::io::Result<()> {
            fs::copy(
                self.input.join("metadata.yaml"),
                self.temporary.path().join("metadata.yaml"),
            )?;
            // Private while it was written.
            fs::set_permissions(self.temporary.path(), fs::metadata(&self.input)?.permissions())?;
            self.temporary.rename(&self.output)
        };
        finish().map_err(|source| farpoint_io::Error::Write { name, source }.into())
    }
}

/// Formats `3 messages`.
pub(super) fn messages(number: u64) -> String {
    format!("{} message{}", count(number), if number == 1 { "" } else { "s" })
}
