//! Execution plan of a request: in memory, or through the disk. All checks that are possible happen here, before a
//! point is read.

use crate::disk::{self, Error};
use crate::in_memory::InMemory;
use crate::merged::{Joined, in_parts, open_merged};
use crate::notes::Watch;
use crate::text::{bytes, name};
use crate::through_disk::ThroughDisk;
use crate::{Choice, Files, Finished, Method, Request};
use farpoint::Algorithm;
use farpoint_io::{Merged, Reader, memory};
use std::fs;
use std::path::Path;

/// Fraction of the free memory that is used unless a limit is set.
const FREE: f64 = 0.75;
/// A file smaller than this share of the free memory fits, however well it is compressed.
const SMALL: u64 = 200;

/// Execution plan of a request.
#[derive(Debug)]
pub enum Plan<'a> {
    /// It is read whole.
    InMemory(InMemory<'a>),
    /// It is read in parts, and its points go through files.
    ThroughDisk(ThroughDisk<'a>),
}

impl Plan<'_> {
    /// Samples, and writes the outputs.
    ///
    /// # Errors
    /// If the input can't be read, can't be sampled as requested, or an output can't be written.
    pub fn run(self, watch: &dyn Watch) -> Result<Finished, Error> {
        match self {
            Self::InMemory(plan) => plan.sample(watch)?.write(watch),
            Self::ThroughDisk(plan) => plan.run(watch),
        }
    }
}

impl Request {
    /// Plans the work: through the disk if a spool is given, or if the cloud exceeds the allowed or free memory.
    ///
    /// # Errors
    /// If an input can't be opened, or can't fulfill the request this way.
    pub fn plan<'a>(&'a self, files: Files<'a>, watch: &dyn Watch) -> Result<Plan<'a>, Error> {
        let limit = self.limit()?;
        if files.merge {
            return self.plan_merged(files, limit, watch);
        }
        let path = &files.inputs[0];
        let large = match limit {
            _ if !self.is_exact() => None,
            _ if path == Path::new("-") => {
                let message = "`spool` is for files, and the input is a pipe; save it first";
                refuse_if(self.limits.spool.is_some(), message)?;
                None
            }
            Some(memory) => self.scan_if_larger(path, memory)?.map(|reader| (reader, memory)),
            None => self.scan_if_too_large(&files, watch)?,
        };
        match large {
            Some((reader, memory)) => {
                if let Some(listed) = &self.listed {
                    let message = "is for clouds that fit in memory; remove it";
                    refuse_if(true, &format!("{} {message}", listed.option()))?;
                }
                self.disk_plan(reader, memory, None, files).map(Plan::ThroughDisk)
            }
            None => Ok(Plan::InMemory(self.in_memory_plan(None, files))),
        }
    }

    fn plan_merged<'a>(
        &'a self,
        files: Files<'a>,
        limit: Option<u64>,
        watch: &dyn Watch,
    ) -> Result<Plan<'a>, Error> {
        let merged = open_merged(files.inputs, &self.reading, limit, watch)?;
        let merged = merged.filtered(self.filter.clone())?;
        let needed = self.memory_of(merged.reader());
        let memory = match limit {
            Some(memory) => (self.limits.spool.is_some() || needed > memory).then_some(memory),
            None => self.disk_memory(merged.reader().name(), needed, watch),
        };
        let Some(memory) = memory else {
            return Ok(Plan::InMemory(self.in_memory_plan(Some(merged), files)));
        };
        let (reader, joined) = in_parts(merged, memory, watch)?;
        self.disk_plan(reader, memory, Some(joined), files).map(Plan::ThroughDisk)
    }

    /// Plans the work in memory, however large the cloud is.
    ///
    /// # Errors
    /// If several files can't be one cloud.
    pub fn in_memory<'a>(
        &'a self,
        files: Files<'a>,
        watch: &dyn Watch,
    ) -> Result<InMemory<'a>, Error> {
        let open = || open_merged(files.inputs, &self.reading, None, watch);
        Ok(self.in_memory_plan(files.merge.then(open).transpose()?, files))
    }

    /// Plans the work on one file through the disk, whatever its size, with `memory` bytes of memory.
    ///
    /// # Errors
    /// Same as [`disk::open`], and if an option is for clouds in memory.
    pub fn through_disk<'a>(
        &'a self,
        files: Files<'a>,
        memory: u64,
    ) -> Result<ThroughDisk<'a>, Error> {
        let path = &files.inputs[0];
        let reader = disk::open(path, &self.reading, memory)?.filtered(self.filter.clone())?;
        self.disk_plan(reader, memory, None, files)
    }

    fn in_memory_plan<'a>(&'a self, merged: Option<Merged>, files: Files<'a>) -> InMemory<'a> {
        InMemory { request: self, files, merged }
    }

    fn disk_plan<'a>(
        &'a self,
        reader: Reader,
        memory: u64,
        joined: Option<Joined>,
        files: Files<'a>,
    ) -> Result<ThroughDisk<'a>, Error> {
        self.check_disk_options(reader.name())?;
        Ok(ThroughDisk { request: self, files, reader, memory, joined })
    }

    fn is_exact(&self) -> bool {
        matches!(self.method, Method::Exact(_))
    }

    /// Returns the memory that is set by options.
    fn limit(&self) -> Result<Option<u64>, Error> {
        let limits = &self.limits;
        if !self.is_exact() {
            let is_set = limits.memory.is_some() || limits.spool.is_some();
            refuse_if(is_set, "`memory` and `spool` require an exact algorithm; remove them")?;
            return Ok(None);
        }
        refuse_if(
            limits.spool.is_none() && limits.resume,
            "`resume=True` needs the folder of the interrupted run; set it with `spool`",
        )?;
        if limits.memory.is_some() || limits.spool.is_none() {
            return Ok(limits.memory);
        }
        let unknown = || "the free memory of this system is unknown; set `memory`".to_owned();
        Ok(Some(share(memory::available().ok_or_else(unknown)?)))
    }

    /// Returns the file, if it takes more memory than is allowed, or if a spool is given.
    fn scan_if_larger(&self, path: &Path, memory: u64) -> Result<Option<Reader>, Error> {
        let automatic = self.limits.spool.is_none();
        let reader = match disk::open(path, &self.reading, memory) {
            Err(error @ Error::Memory { .. }) => {
                let in_memory_bytes = self.memory_of_header(path);
                if automatic
                    && in_memory_bytes.is_some_and(|in_memory_bytes| in_memory_bytes <= memory)
                {
                    return Ok(None);
                }
                return Err(self.least(in_memory_bytes, error));
            }
            found => found?.filtered(self.filter.clone())?,
        };
        Ok((!automatic || self.memory_of(&reader) > memory).then_some(reader))
    }

    /// Returns the file and the memory for it, if it does not fit in free memory.
    fn scan_if_too_large(
        &self,
        files: &Files<'_>,
        watch: &dyn Watch,
    ) -> Result<Option<(Reader, u64)>, Error> {
        let path = &files.inputs[0];
        let (Some(free), Ok(about)) = (memory::available(), fs::metadata(path)) else {
            return Ok(None);
        };
        if !about.is_file() || about.len() < free / SMALL || self.unsupported_on_disk().is_some() {
            return Ok(None);
        }
        // Files that can't be read in parts are left to the whole-file readers, which report missing memory.
        let reader = match Reader::open(path, &self.reading, Some(0)) {
            // Text is worth a pass over it only if it does not fit.
            Err(farpoint_io::Error::NotInParts { needed, .. }) if needed > free => {
                Reader::open(path, &self.reading, Some(free))
            }
            found => found,
        };
        let reader = match reader {
            Err(farpoint_io::Error::NotInParts { .. }) => return Ok(None),
            found => found?.filtered(self.filter.clone())?,
        };
        let memory = self.disk_memory(&name(path), self.memory_of(&reader), watch);
        Ok(memory.map(|memory| (reader, memory)))
    }

    /// Returns the memory for a run through the disk, if less than `needed` is free, with a note.
    fn disk_memory(&self, name: &str, needed: u64, watch: &dyn Watch) -> Option<u64> {
        let free = memory::available().filter(|free| self.is_exact() && needed > *free)?;
        if self.unsupported_on_disk().is_some() {
            return None;
        }
        let memory = share(free);
        let [needed_text, free_text, memory_text] = [needed, free, memory].map(bytes);
        let note = format!(
            "{name}: would take about {needed_text} of memory, {free_text} are free; sampled through the disk with {memory_text} \
             (see `memory` and `spool`)"
        );
        watch.note(&note);
        Some(memory)
    }

    /// Returns an option that sampling through the disk lacks.
    fn unsupported_on_disk(&self) -> Option<&'static str> {
        let algorithm = matches!(self.method, Method::Exact(Algorithm::Auto));
        let options = [
            (!algorithm, "`algorithm`"),
            (self.place.device == Choice::Cuda, "`device=cuda`"),
            (self.place.gpu.is_some(), "`gpu`"),
            (self.place.level.is_some(), "`simd`"),
            (self.statistics, "`stats`"),
        ];
        options.into_iter().find(|(is_set, _)| *is_set).map(|(_, option)| option)
    }

    fn check_disk_options(&self, name: &str) -> Result<(), Error> {
        let Some(option) = self.unsupported_on_disk() else { return Ok(()) };
        Err(Error::Refused(format!(
            "{name}: {option} is for clouds in memory; remove it, or allow more `memory`"
        )))
    }

    /// Returns the error, with the sufficient memory if sampling in memory takes less than through the disk.
    pub(crate) fn least(&self, in_memory_bytes: Option<u64>, error: Error) -> Error {
        match (error, in_memory_bytes) {
            (Error::Memory { name, needed, allowed, .. }, Some(in_memory_bytes))
                if self.command && self.limits.spool.is_none() && in_memory_bytes < needed =>
            {
                Error::Memory {
                    name,
                    what: "sampling",
                    needed: in_memory_bytes,
                    allowed,
                    fix: "allow more",
                }
            }
            (error, _) => error,
        }
    }
}

fn refuse_if(condition: bool, message: &str) -> Result<(), Error> {
    if condition { Err(Error::Refused(message.to_owned())) } else { Ok(()) }
}

/// Returns the share of free memory that is used.
fn share(free: u64) -> u64 {
    (free as f64 * FREE) as u64
}
