//! A cloud that is larger than memory: notes on its way through the disk.

use crate::cloud::choose::{report_filtered, report_narrowed, report_rows, warn_of_none};
use crate::disk::{self, Error, Event, Outputs};
use crate::merged::Joined;
use crate::notes::{Stage, Watch};
use crate::text::{bytes, count};
use crate::{Files, Finished, Outcome, Request, SampleSize, Tiles};
use farpoint::Amount;
use farpoint::backend::granted_here;
use farpoint_io::{Reader, temporary};
use rayon::ThreadPoolBuilder;
use std::path::Path;

/// A request for a cloud that goes through the disk.
#[derive(Debug)]
pub struct ThroughDisk<'a> {
    pub(crate) request: &'a Request,
    pub(crate) files: Files<'a>,
    pub(crate) reader: Reader,
    /// Bytes of memory that may be taken.
    pub(crate) memory: u64,
    pub(crate) joined: Option<Joined>,
}

impl ThroughDisk<'_> {
    /// Samples, and writes the outputs.
    ///
    /// # Errors
    /// Same as [`disk::sample`].
    pub fn run(self, watch: &dyn Watch) -> Result<Finished, Error> {
        let Self { request, files, reader, memory, joined } = self;
        let name = reader.name();
        watch.warnings(name, reader.warnings());
        let unit = request.unit(reader.head(), name, watch)?;
        let (job, options) = (request.disk_job(unit, memory, &reader), request.writing(unit));
        let options = options.copc(files.output.and_then(|output| request.levels(output)));
        let points = files.output.map(|path| (path, &options));
        let outputs = Outputs { points, indices: files.indices };
        for (path, size) in temporary::remove_left_folders(disk::beside(&outputs)) {
            watch.note(&format!(
                "{}: {} that a killed run left are removed",
                path.display(),
                bytes(size)
            ));
        }
        let to = files.output.unwrap_or(Path::new(name)).display().to_string();
        let kept = request.limits.spool.is_some();
        watch.stage(if kept { Stage::Spooling } else { Stage::Reading }, name);
        watch.step(0, 2 * reader.parts());
        let _pool = request.place.threads.and_then(|n| granted_here(n, ThreadPoolBuilder::new));
        let sampled = disk::sample(&reader, &job, &outputs, &mut |event| {
            report_event(request, &reader, event, watch, &to)
        });
        watch.stage(Stage::Between, "");
        let sampled = sampled.map_err(|error| match error {
            // As in memory.
            Error::Job(error) if !matches!(error, farpoint::Error::OutOfMemory { .. }) => {
                Error::Refused(format!("{name}: {error}"))
            }
            error => request.least(Some(request.memory_of(&reader)), error),
        })?;
        watch.warnings(&to, &sampled.warnings);
        let [read, sampling, write] = sampled.seconds;
        let (tiles, bands, spooled) = (sampled.tiles, sampled.bands, sampled.spooled);
        Ok(Finished {
            name: name.to_owned(),
            meters: reader.head().meters_per_unit(),
            points: sampled.points,
            samples: sampled.samples,
            read,
            write: Some(write),
            joined,
            disk: Some(Tiles { memory, tiles, bands, spooled }),
            outcome: Outcome {
                algorithm: "tiles".into(),
                exact: true,
                covering_radius: sampled.covering_radius,
                dropped: sampled.dropped as usize,
                seconds: sampling,
                ..Outcome::of_rows(Vec::new())
            },
        })
    }
}

/// Passes on progress; returns whether to go on.
fn report_event(
    request: &Request,
    reader: &Reader,
    event: Event,
    watch: &dyn Watch,
    to: &str,
) -> bool {
    let name = reader.name();
    match event {
        Event::Surveyed { resumed, rows: all, bad, zeros, corner } => {
            let [all, mut bad, zeros] = [all, bad, zeros].map(|n| n as usize);
            if !reader.filter().is_empty() {
                let dropped = if request.rows.drop_zeros { zeros } else { 0 };
                report_filtered(name, [all, all - bad], watch);
                warn_of_none(name, [all, all - bad - dropped], watch);
                bad = 0;
            }
            report_rows(name, request.rows.drop_zeros, [all, bad, zeros], watch);
            let anew = request.limits.resume && !resumed;
            if let (true, Some(folder)) = (anew, &request.limits.spool) {
                let note = "contains no run to resume; starting a new one";
                watch.note(&format!("{}: {note}", folder.display()));
            }
            if let Some(corner) = corner {
                report_narrowed(name, corner, watch);
            }
        }
        Event::Read { parts, of } => return watch.step(parts, of),
        Event::Spooled { tiles, resumed } => {
            let how = if resumed { "the interrupted run's" } else { "made" };
            watch.detail(&format!("spool of {} tiles", count(tiles)), how);
            watch.stage(Stage::Sampling, name);
        }
        Event::Band { samples, limit, .. } => {
            return watch.step(samples.min(limit) as usize, limit as usize);
        }
        Event::Writing => watch.stage(Stage::Writing, to),
    }
    watch.should_continue()
}

impl Request {
    /// Returns the job through the disk, for a file whose unit is `unit` meters.
    fn disk_job(&self, unit: f64, memory: u64, reader: &Reader) -> disk::Job {
        let amount = match self.size {
            SampleSize::AtMost(count) if count as u64 >= reader.len() => Amount::All,
            size => size.amount(unit),
        };
        disk::Job::new(amount, memory)
            .start(self.start.clone())
            .drop_zeros(self.rows.drop_zeros)
            .single(self.rows.single)
            .sorted(self.sorted)
            .spacing(self.size == SampleSize::Order)
            .spool(self.limits.spool.clone())
            .resume(self.limits.resume)
    }
}
