//! `--merge`: several files as one cloud.

use crate::args::Reading;
use crate::messages::{count, note, warn};
use crate::progress::Progress;
use anyhow::Result;
use farpoint_io::{Cloud, EqualRows, Merged, MergedFile, Scan, memory};
use farpoint_pipeline::expand;
use serde_json::{Value, json};
use std::path::{Path, PathBuf};
use std::time::Instant;

/// Memory for rows that may be equal, where the system does not tell what is free.
const SOME: u64 = 1 << 30;

/// The files that are named, in sorted order.
pub(crate) fn paths(first: &Path, more: &[PathBuf], recursive: bool) -> Result<Vec<PathBuf>> {
    let given: Vec<PathBuf> = std::iter::once(first.to_owned()).chain(more.to_vec()).collect();
    let found = expand(&given, recursive, None)?;
    Ok(found.into_iter().map(|found| found.path).collect())
}

/// Opens the files as one cloud; what can't be read in parts may take so much memory.
pub(crate) fn open(paths: &[PathBuf], reading: &Reading, memory: Option<u64>) -> Result<Merged> {
    let progress = Progress::start("opening", &format!("{} files", count(paths.len())));
    let merged = Merged::open(paths, &reading.options(), memory)?;
    drop(progress);
    merged.warnings().iter().for_each(|warning| warn(warning));
    Ok(merged)
}

/// What is told of the files.
pub(crate) struct About {
    files: Vec<MergedFile>,
    /// `None` if rows were not compared.
    equal: Option<EqualRows>,
}

impl About {
    /// Of the headers alone.
    pub(crate) fn of_headers(merged: &Merged) -> Self {
        Self { files: merged.files().to_vec(), equal: None }
    }

    fn new(merged: &Merged, equal: EqualRows) -> Self {
        if equal.rows > 0 {
            let rows = shown(equal);
            note(&format!(
                "{}: {rows} rows are equal to a row of an earlier file; they stay",
                merged.scan().name()
            ));
        }
        Self { files: merged.files().to_vec(), equal: Some(equal) }
    }

    /// Adds it to a report.
    pub(crate) fn report(&self, object: &mut Value, table: &mut String) {
        let file = |file: &MergedFile| json!({ "file": file.name, "first_row": file.first, "rows": file.rows });
        object["files"] = self.files.iter().map(file).collect();
        let mut lines = vec![("files", count(self.files.len()))];
        if let Some(equal) = self.equal {
            object["equal_rows"] = equal.rows.into();
            object["equal_rows_are_estimated"] = equal.about.into();
            lines.push(("equal rows", shown(equal)));
        }
        for (name, value) in lines {
            table.push_str(&format!("{name:<20}  {value}\n"));
        }
    }
}

/// The number, as an estimate if it is one.
fn shown(equal: EqualRows) -> String {
    format!("{}{}", if equal.about { "about " } else { "" }, count(equal.rows as usize))
}

/// All rows in memory, and the seconds that this took.
pub(crate) fn load(merged: &Merged) -> Result<(Cloud, About, f64)> {
    let progress = Progress::start("reading", merged.scan().name());
    let start = Instant::now();
    let cloud = merged.scan().load()?;
    let free = memory::available().unwrap_or(SOME);
    let equal = merged.equal_rows_of(&cloud, free / 4);
    drop(progress);
    Ok((cloud, About::new(merged, equal), start.elapsed().as_secs_f64()))
}

/// The rows one part after another, within so much memory.
pub(crate) fn in_parts(merged: Merged, memory: u64) -> Result<(Scan, About)> {
    let progress = Progress::start("comparing", merged.scan().name());
    let threads = (memory / 4 / merged.scan().memory_a_part().max(1)).clamp(1, 1 << 10);
    let threads = rayon::current_num_threads().min(threads as usize);
    let equal = merged.equal_rows(memory / 4, threads)?;
    drop(progress);
    let about = About::new(&merged, equal);
    Ok((merged.into_scan(), about))
}
