//! Writing of the output: a bag for each file of the input, completely or not at all.

use super::BagInput;
use super::choose::Chooser;
use super::pace::Pace;
use crate::messages::{count, warn};
use crate::progress::Progress;
use anyhow::{Result, anyhow, ensure};
use farpoint_io::bag::{Bag, Rewrite, Stages, Topic};
use farpoint_io::temporary;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};

/// Approximate memory of a run without `--memory`.
const MEMORY: u64 = 256 << 20;
/// Share of it for queued messages; the rest is for messages in work, and the output.
const SHARE: f64 = 0.375;

/// Result of all files.
pub(super) struct Summary {
    pub(super) topics: Vec<TopicSummary>,
    pub(super) stages: Stages,
    pub(super) threads: usize,
    /// Messages with fewer usable points than requested.
    pub(super) short: u64,
    /// Rows that are exactly (0, 0, 0).
    pub(super) zeros: u64,
}

/// Result of a topic in all files.
pub(super) struct TopicSummary {
    pub(super) name: String,
    pub(super) encoding: String,
    pub(super) pace: Pace,
}

impl Summary {
    /// Returns the sum of a number of all topics.
    pub(super) fn total(&self, number: impl Fn(&Pace) -> u64) -> u64 {
        self.topics.iter().map(|topic| number(&topic.pace)).sum()
    }

    /// Returns the points read, kept, and left out.
    pub(super) fn points(&self) -> [u64; 3] {
        std::array::from_fn(|k| self.total(|pace| pace.points[k]))
    }
}

/// Writes everything, with the clouds of these topics sampled; `None` if it was interrupted.
pub(super) fn write_all(
    names: &[String],
    bag_input: &BagInput,
    bags: &[Bag],
    output: &Path,
    chooser: &Chooser<'_>,
    stop: &AtomicBool,
) -> Result<Option<Summary>> {
    let topics = cloud_topics(names, &bags[0])?.into_iter().map(|topic| TopicSummary {
        name: topic.name.clone(),
        encoding: topic.encoding.clone(),
        pace: Pace::default(),
    });
    let (threads, stages) = (chooser.request.place.thread_count(), Stages::default());
    let mut summary = Summary { topics: topics.collect(), stages, threads, short: 0, zeros: 0 };
    let folder = match bag_input.folder {
        true => Some(OutputFolder::new(&bag_input.path, output)?),
        false => None,
    };
    let topics = bags.iter().filter_map(|bag| cloud_topics(names, bag).ok()).flatten();
    let progress = Messages {
        total: topics.map(|topic| topic.messages).sum(),
        bar: Progress::counting("sampling", &listed(&summary), "messages"),
    };
    for (file, bag) in bag_input.files.iter().zip(bags) {
        let target = match &folder {
            Some(folder) => folder.file(file)?,
            None => output.to_owned(),
        };
        if !write_file(bag, &target, (chooser, stop), &mut summary, &progress)? {
            return Ok(None);
        }
    }
    drop(progress);
    if let Some(folder) = folder {
        folder.finish()?;
    }
    summary.short = chooser.short.load(Ordering::Relaxed);
    summary.zeros = chooser.zeros.load(Ordering::Relaxed);
    Ok(Some(summary))
}

struct Messages {
    bar: Progress,
    total: u64,
}

/// Writes one file; returns true if it was written.
fn write_file(
    bag: &Bag,
    target: &Path,
    (chooser, stop): (&Chooser<'_>, &AtomicBool),
    summary: &mut Summary,
    progress: &Messages,
) -> Result<bool> {
    let name = bag.name();
    bag.contents().warnings.iter().for_each(|warning| warn(&format!("{name}: {warning}")));
    // With several files, not each needs messages of the topics.
    let same = |of_first: &TopicSummary| {
        let TopicSummary { name: topic, encoding, .. } = of_first;
        let mut all = bag.contents().topics.iter();
        all.find(|known| known.name == *topic && known.encoding == *encoding).ok_or_else(|| {
            anyhow!("{name}: has no topic {topic} ({encoding}), as the first file has")
        })
    };
    let topics = summary.topics.iter().map(same).collect::<Result<Vec<_>>>()?;
    let memory = chooser.request.limits.memory.unwrap_or(MEMORY);
    let rewrite = Rewrite::new(&topics, summary.threads, (memory as f64 * SHARE) as u64, stop);
    let choose = |message: &farpoint_io::bag::PointCloud2<'_>| chooser.choose(message);
    let totals = rewrite.write(bag, target, &choose, &mut |cut| {
        summary.topics[cut.topic].pace.add(cut);
        progress.bar.count(summary.total(Pace::messages) as usize, progress.total as usize);
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

/// Returns the topics of these names, or the only one with clouds.
fn cloud_topics<'a>(names: &[String], bag: &'a Bag) -> Result<Vec<&'a Topic>> {
    let mut topics: Vec<&Topic> = Vec::new();
    let names = names.iter().map(|name| Some(name.as_str()));
    for name in names.clone().chain((names.len() == 0).then_some(None)) {
        let topic = bag.contents().cloud_topic(name);
        let topic = topic.map_err(|error| anyhow!("{}: {error}", bag.name()))?;
        if !topics.contains(&topic) {
            topics.push(topic);
        }
    }
    Ok(topics)
}

/// Lists the names of the topics.
pub(super) fn listed(summary: &Summary) -> String {
    let names: Vec<_> = summary.topics.iter().map(|topic| topic.name.as_str()).collect();
    names.join(", ")
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
