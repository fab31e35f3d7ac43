//! Many inputs in one run.

use std::path::PathBuf;
use std::str::FromStr;
use std::time::Duration;

/// Further inputs, and options for all of them.
#[derive(Debug, clap::Args)]
#[command(next_help_heading = "Many files")]
pub(crate) struct Many {
    /// More inputs: files, folders, patterns such as 'scans/**/*.laz', and lists of these (@list.txt).
    #[arg(value_name = "IN", help_heading = None::<&str>)]
    pub(crate) more: Vec<PathBuf>,
    /// Write the output of each input into this folder, in the tree of the input folder. Running the same
    /// command again resumes it: files that are done according to farpoint.jsonl there are skipped.
    #[arg(long, value_name = "DIR", conflicts_with = "output")]
    pub(crate) output_dir: Option<PathBuf>,
    /// Merge all inputs into one cloud, in sorted order: tiles of a survey. The rows of --indices are numbered
    /// through all of them; coordinates are unchanged, and fields are those of all files.
    #[arg(long, conflicts_with = "output_dir")]
    pub(crate) merge: bool,
    #[command(flatten)]
    pub(crate) search: FileSearch,
    /// Number of files processed in parallel, on one thread each [default: one per core].
    #[arg(long, value_name = "J", value_parser = clap::value_parser!(u16).range(1..))]
    pub(crate) jobs: Option<u16>,
    /// Time limit for each file, in seconds.
    #[arg(long, value_name = "SECONDS")]
    pub(crate) time_limit: Option<Seconds>,
    /// Start no further file after one has failed.
    #[arg(long)]
    pub(crate) fail_fast: bool,
    /// Process all files again, including those that are done.
    #[arg(long)]
    pub(crate) force: bool,
    /// Internal: processes one file in a process of its own, after it ended an earlier run.
    #[arg(long, num_args = 2, value_names = ["IN", "OUT"], hide = true)]
    pub(crate) one: Option<Vec<PathBuf>>,
}

impl Many {
    /// Returns an option for several files, if one is set.
    pub(crate) fn set_option(&self) -> Option<&'static str> {
        let options = [
            (self.search.recursive, "--recursive"),
            (self.jobs.is_some(), "--jobs"),
            (self.time_limit.is_some(), "--time-limit"),
            (self.fail_fast, "--fail-fast"),
            (self.force, "--force"),
        ];
        options.into_iter().find(|(is_set, _)| *is_set).map(|(_, name)| name)
    }
}

/// Options of searching folders.
#[derive(Debug, Clone, Copy, clap::Args)]
pub(crate) struct FileSearch {
    /// Also search the subfolders of the given folders.
    #[arg(long, help_heading = "Many files")]
    pub(crate) recursive: bool,
}

/// A duration of more than 0.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Seconds(pub(crate) Duration);

impl FromStr for Seconds {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let advice = "use a number of seconds above 0, such as 60";
        let number: f64 = text.parse().map_err(|_| advice)?;
        match Duration::try_from_secs_f64(number) {
            Ok(limit) if !limit.is_zero() => Ok(Self(limit)),
            _ => Err(advice.into()),
        }
    }
}
