//! Many files with their manifest: the files left to do, their order, and the result of each.

pub(crate) mod inputs;
pub(crate) mod manifest;
pub(crate) mod plan;
pub(crate) mod row;
pub(crate) mod run;

use crate::{Done, Error, File, Manifest, Row, TRIES_MOST};
use std::cmp::Reverse;
use std::path::Path;
use std::sync::{Mutex, MutexGuard, PoisonError};

/// Files of a run; the manifest gets a row for each.
#[derive(Debug)]
pub struct Batch {
    files: Vec<File>,
    digest: String,
    remaining: Vec<usize>,
    state: Mutex<State>,
}

#[derive(Debug)]
struct State {
    manifest: Manifest,
    /// Number of times that each file ended the process that worked on it.
    deaths: Vec<u32>,
    rows: Vec<Option<Row>>,
}

impl Batch {
    /// Opens the manifest in `out`. Files finished in it need no work unless `force` is set.
    ///
    /// # Errors
    /// Same as [`Manifest::open`].
    pub fn open(files: Vec<File>, out: &Path, digest: &str, force: bool) -> Result<Self, Error> {
        let manifest = Manifest::open(out)?;
        let finished = |file| manifest.finished(file, digest).filter(|_| !force).cloned();
        let rows: Vec<Option<Row>> = files.iter().map(finished).collect();
        let deaths: Vec<u32> =
            files.iter().map(|file| u32::from(manifest.was_open(file))).collect();
        let mut remaining: Vec<usize> = (0..files.len()).filter(|&k| rows[k].is_none()).collect();
        remaining.sort_by_key(|&k| (deaths[k], Reverse(files[k].weight), k));
        let state = Mutex::new(State { manifest, deaths, rows });
        Ok(Self { files, digest: digest.to_owned(), remaining, state })
    }

    /// Returns all files.
    pub fn files(&self) -> &[File] {
        &self.files
    }

    /// Returns the files that need work: those that take much memory first, those of [`Batch::is_suspect`] last.
    pub fn remaining(&self) -> &[usize] {
        &self.remaining
    }

    /// Returns whether a process has ended while it worked on the file. The file may be the cause, or somebody has
    /// ended that process: such files are worked on last, one at a time, in a process that is watched.
    pub fn is_suspect(&self, k: usize) -> bool {
        self.state().deaths[k] > 0
    }

    /// Returns the number of lines of the manifest that could not be read.
    pub fn unreadable(&self) -> usize {
        self.state().manifest.unreadable
    }

    /// Returns the row of a file that is done, or failed in this run.
    pub fn row(&self, k: usize) -> Option<Row> {
        self.state().rows[k].clone()
    }

    /// Records that work on the file begins, before it does.
    ///
    /// # Errors
    /// [`Error::System`] if that can't be written.
    pub fn begin(&self, k: usize) -> Result<(), Error> {
        self.state().manifest.begin(&self.files[k])
    }

    /// Writes the row of a file: its output is in place, or it has none.
    ///
    /// # Errors
    /// [`Error::System`] if that can't be written.
    pub fn finish(
        &self,
        k: usize,
        seconds: f64,
        result: Result<Done, String>,
    ) -> Result<Row, Error> {
        self.add(k, Row::of(&self.files[k], &self.digest, seconds, result))
    }

    /// Records that the process that worked on the file ended; returns whether to try again. The third time it gets a
    /// row that says so.
    ///
    /// # Errors
    /// [`Error::System`] if that can't be written.
    pub fn killed(&self, k: usize) -> Result<bool, Error> {
        let deaths = {
            let state = &mut *self.state();
            state.deaths[k] += 1;
            state.deaths[k]
        };
        self.mark_interrupted(k);
        if deaths < TRIES_MOST {
            return Ok(true);
        }
        let input = self.files[k].input.display();
        let error = format!(
            "{input}: its process was killed {deaths} times (out of memory?), so it is not tried \
             again; `force=True` tries it"
        );
        let row = Row::of(&self.files[k], &self.digest, 0.0, Err(error));
        self.add(k, Row { killed: deaths, ..row })?;
        Ok(false)
    }

    /// Writes the row of a file whose process was ended, with this reason.
    ///
    /// # Errors
    /// [`Error::System`] if that can't be written.
    pub fn fail(&self, k: usize, seconds: f64, error: String) -> Result<Row, Error> {
        let row = self.finish(k, seconds, Err(error));
        self.mark_interrupted(k);
        row
    }

    /// Marks the half-written output of a file's process for removal at the end.
    fn mark_interrupted(&self, k: usize) {
        self.state().manifest.was_cut(&self.files[k]);
    }

    fn add(&self, k: usize, row: Row) -> Result<Row, Error> {
        let state = &mut *self.state();
        state.manifest.finish(&self.files[k], row.clone())?;
        state.rows[k] = Some(row.clone());
        Ok(row)
    }

    /// Ends a run that was not killed, whether or not all files are done.
    pub fn close(self) -> Vec<Option<Row>> {
        let state = self.state.into_inner().unwrap_or_else(PoisonError::into_inner);
        state.manifest.close();
        state.rows
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
