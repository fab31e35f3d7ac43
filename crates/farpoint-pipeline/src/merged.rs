//! Several files as one cloud.

use crate::Watch;
use crate::disk::Error;
use crate::notes::Stage;
use crate::text::count;
use farpoint_io::{Cloud, EqualRows, Merged, MergedFile, ReadOptions, Reader, memory};
use std::path::PathBuf;
use std::time::Instant;

/// Memory for rows that may be equal, if the free memory is unknown.
const DEFAULT_MEMORY: u64 = 1 << 30;

/// Report on the files.
#[derive(Clone, Debug)]
pub struct Joined {
    /// The files, each with its rows.
    pub files: Vec<MergedFile>,
    /// `None` if rows were not compared.
    pub equal: Option<EqualRows>,
}

/// Opens the files as one cloud; those that can't be read in parts may take `memory` bytes.
///
/// # Errors
/// Same as [`Merged::open`].
pub fn open_merged(
    paths: &[PathBuf],
    reading: &ReadOptions,
    memory: Option<u64>,
    watch: &dyn Watch,
) -> Result<Merged, farpoint_io::Error> {
    watch.stage(Stage::Opening, &format!("{} files", count(paths.len())));
    let merged = Merged::open(paths, reading, memory)?;
    watch.stage(Stage::Between, "");
    merged.warnings().iter().for_each(|warning| watch.warn(warning));
    Ok(merged)
}

/// Reads all rows into memory, counts equal ones, and returns the seconds that this took.
///
/// # Errors
/// Same as [`Reader::load`].
pub fn read_merged(
    merged: &Merged,
    watch: &dyn Watch,
) -> Result<(Cloud, Joined, f64), farpoint_io::Error> {
    watch.stage(Stage::Reading, merged.reader().name());
    let start = Instant::now();
    let cloud = merged.reader().load()?;
    let free = memory::available().unwrap_or(DEFAULT_MEMORY);
    let equal = merged.equal_rows_of(&cloud, free / 4);
    watch.stage(Stage::Between, "");
    Ok((cloud, Joined::compared(merged, equal, watch), start.elapsed().as_secs_f64()))
}

/// Returns the rows one part after another, within `memory` bytes.
pub(crate) fn in_parts(
    merged: Merged,
    memory: u64,
    watch: &dyn Watch,
) -> Result<(Reader, Joined), Error> {
    watch.stage(Stage::Comparing, merged.reader().name());
    let threads = (memory / 4 / merged.reader().memory_a_part().max(1)).clamp(1, 1 << 10);
    let threads = rayon::current_num_threads().min(threads as usize);
    let equal = merged.equal_rows(memory / 4, threads)?;
    watch.stage(Stage::Between, "");
    let joined = Joined::compared(&merged, equal, watch);
    Ok((merged.into_reader(), joined))
}

impl Joined {
    /// Returns the report of the headers alone.
    pub fn of_headers(merged: &Merged) -> Self {
        Self { files: merged.files().to_vec(), equal: None }
    }

    fn compared(merged: &Merged, equal: EqualRows, watch: &dyn Watch) -> Self {
        if equal.rows > 0 {
            let (name, rows) = (merged.reader().name(), equal_rows(equal));
            let text = "rows are equal to a row of an earlier file; they stay";
            watch.note(&format!("{name}: {rows} {text}"));
        }
        Self { equal: Some(equal), ..Self::of_headers(merged) }
    }
}

/// Formats the number of equal rows, as an estimate if it is one.
pub fn equal_rows(equal: EqualRows) -> String {
    format!("{}{}", if equal.about { "about " } else { "" }, count(equal.rows))
}
