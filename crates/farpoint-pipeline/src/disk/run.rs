//! A job from its input to its outputs.

use crate::cloud::choose::none_usable;
use crate::cloud::levels::rounding;
use crate::disk::build::Build;
use crate::disk::error::Error;
use crate::disk::extents::{Extents, Run};
use crate::disk::folder::{CLOUD, Folder, READING};
use crate::disk::grid::Tiles;
use crate::disk::job::{Event, Job, Outputs, Sampled};
use crate::disk::log::{Log, RUN};
use crate::disk::memory::{Shares, least};
use crate::disk::reading::Reading;
use crate::disk::rows::{Stored, Use};
use crate::disk::spool::Spool;
use crate::disk::stamp::identity;
use crate::disk::state::{Start, State};
use crate::disk::store::SpoolStore;
use crate::disk::survey::{Survey, starts};
use crate::disk::write::{self, Found, Work};
use farpoint::backend::caught;
use farpoint::{Amount, Scalar};
use farpoint_io::{ReadOptions, Reader, WriteOptions};
use farpoint_tiles::{Conductor, Entry, Key, Local, Mode, Plan, Tile, TileOptions};
use std::fs;
use std::ops::Range;
use std::path::Path;
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

/// Parts of the input that each thread reads between two calls of the observer.
const LAP: usize = 16;
/// Time between two records of what has been read.
const RECORDED: Duration = Duration::from_secs(10);

/// Progress callback; return `false` to cancel.
pub(crate) type Observer<'a> = &'a mut (dyn FnMut(Event) -> bool + Send);

/// Samples a file through a spool on the disk, with about as much memory as the job allows: the rows that
/// [`farpoint::reference`] chooses, and the bytes that [`farpoint_io::write`] writes of them. `observer` receives the
/// progress, and cancels the run by `false`.
///
/// # Errors
/// If the input cannot be read, the spool not be written or used, or an output not be written; if the cloud can't
/// fulfill the job. In a given folder, the spool stays for [`Job::resume`].
pub fn sample(
    reader: &Reader,
    job: &Job,
    outputs: &Outputs<'_>,
    observer: Observer<'_>,
) -> Result<Sampled, Error> {
    let shares = shares(reader, job, outputs)?;
    caught(|| Ok(run(reader, job, shares, outputs, observer)))?
}

/// Returns the folder of the outputs, in which temporary files are.
pub(crate) fn beside<'a>(outputs: &Outputs<'a>) -> &'a Path {
    let output = outputs.points.map(|(path, _)| path).or(outputs.indices);
    let folder = output.and_then(Path::parent).filter(|folder| *folder != Path::new(""));
    folder.unwrap_or(Path::new("."))
}

/// Writes rows of a file that were chosen elsewhere, in their order and with all their attributes, with about
/// `memory` bytes of memory: they are read in one pass, and sorted in a folder beside the output that is removed in
/// the end. `keep_going` is called now and then, by any thread, and cancels the work by `false`. Returns warnings.
///
/// # Errors
/// If a row is not in the file, if that cannot be read, or the output not be written with this memory;
/// [`Error::Stopped`]. The output is whole or not there.
pub fn write_rows(
    reader: &Reader,
    rows: &[u64],
    memory: u64,
    (path, options): (&Path, &WriteOptions),
    keep_going: &(dyn Fn() -> bool + Sync),
) -> Result<Vec<String>, Error> {
    if let Some(&row) = rows.iter().find(|&&row| row >= reader.len()) {
        let (name, what) = (
            reader.name().to_owned(),
            format!("row {row} does not exist; it has {} rows", reader.len()),
        );
        return Err(Error::Input { name, what, fix: "choose rows of this file".into() });
    }
    let job = Job::new(Amount::Count(rows.len()), memory);
    let outputs = Outputs { points: Some((path, options)), indices: None };
    let shares = shares(reader, &job, &outputs)?;
    let folder = Folder::take(None, beside(&outputs))?;
    let work = Work { reader, job: &job, shares, folder };
    let mut chosen = |each: &mut dyn FnMut(u64, f64) -> Result<(), farpoint_tiles::Error>| {
        rows.iter().try_for_each(|&row| each(row, 0.0))
    };
    let stop = || if keep_going() { Ok(()) } else { Err(Error::Stopped) };
    let found = Found { count: rows.len() as u64, error: 0.0, single: false };
    let warnings = caught(|| Ok(write::outputs(&work, &outputs, found, &mut chosen, &stop)))?;
    work.folder.finish();
    warnings
}

/// Opens a file to be sampled with this much memory. Text is read in parts, whatever its size; files that can't be
/// read in parts are held in memory.
///
/// # Errors
/// Same as [`Reader::open`]; [`Error::Memory`] if the file would be held in memory and is too large for that.
pub fn open(path: &Path, options: &ReadOptions, memory: u64) -> Result<Reader, Error> {
    let needs_memory = |error| match error {
        farpoint_io::Error::NotInParts { name, needed, .. } => {
            Error::through(&name, least(needed), memory)
        }
        error => error.into(),
    };
    match Reader::open(path, options, Some(1)) {
        Err(farpoint_io::Error::NotInParts { .. }) => {
            Reader::open(path, options, Some(memory)).map_err(needs_memory)
        }
        found => Ok(found?),
    }
}

/// Returns the memory shares of a job.
fn shares(reader: &Reader, job: &Job, outputs: &Outputs<'_>) -> Result<Shares, Error> {
    let converting = write::converting(reader, job, outputs)?;
    Shares::of(reader, job, converting, rayon::current_num_threads())
}

fn run(
    reader: &Reader,
    job: &Job,
    shares: Shares,
    outputs: &Outputs<'_>,
    observer: Observer<'_>,
) -> Result<Sampled, Error> {
    let folder = Folder::take(job.spool.as_deref(), beside(outputs))?;
    let work = Work { reader, job, shares, folder };
    let done = work.run(outputs, observer);
    // Nothing is left of a run that ended before there was anything to resume.
    if done.is_ok() || !work.folder.has_spool() {
        work.folder.finish();
    }
    done
}

/// Calls the observer; an error if it cancels.
pub(crate) fn notify(observer: Observer<'_>, event: Event) -> Result<(), Error> {
    if observer(event) { Ok(()) } else { Err(Error::Stopped) }
}

impl Work<'_> {
    fn run(&self, outputs: &Outputs<'_>, observer: Observer<'_>) -> Result<Sampled, Error> {
        let start = Instant::now();
        let (state, resumed) = self.state(outputs, observer)?;
        let tiles = state.tiles.len();
        notify(observer, Event::Spooled { tiles, resumed })?;
        let read = start.elapsed().as_secs_f64();
        let mut sampled = match state.stored.is_single() {
            true => self.chosen::<f32>(state, resumed, outputs, observer)?,
            false => self.chosen::<f64>(state, resumed, outputs, observer)?,
        };
        sampled.seconds[0] = read;
        Ok(sampled)
    }

    fn rows(&self) -> Use {
        let narrow = self.job.single && !self.reader.is_single();
        Use { drop_zeros: self.job.drop_zeros, narrow }
    }

    /// Returns the spool of an interrupted run, or a new one; and whether it was resumed.
    fn state(&self, outputs: &Outputs<'_>, observer: Observer<'_>) -> Result<(State, bool), Error> {
        let identity = identity(self.reader, self.job)?;
        if self.job.resume {
            let parts = self.reader.parts();
            if let Some(state) = State::load(&self.folder.file(CLOUD))? {
                identity.compare(&state.job, self.folder.path())?;
                // The run was killed just before it removed this.
                let _ = fs::remove_file(self.folder.file(READING));
                return Ok((state, true));
            }
            if let Some(reading) = Reading::load(&self.folder, parts)? {
                identity.compare(&reading.job, self.folder.path())?;
                return Ok((self.make(reading, true, outputs, observer)?, true));
            }
        } else if self.folder.has_spool() {
            return Err(Error::unusable(
                self.folder.path(),
                "contains an interrupted run",
                "resume it with `resume=True`, or delete the folder",
            ));
        }
        let survey = Survey::new(self.reader, self.rows())?;
        let reading = Reading::new(identity.text(), survey, self.shares.tile);
        Ok((self.make(reading, false, outputs, observer)?, false))
    }

    /// Reads the input twice: to find the extent of its rows, and to write them to the spool.
    fn make(
        &self,
        mut reading: Reading,
        resumed: bool,
        outputs: &Outputs<'_>,
        observer: Observer<'_>,
    ) -> Result<State, Error> {
        let (reader, rows) = (self.reader, self.rows());
        let mut recorded = Instant::now();
        while let Some(parts) = self.lap(reading.surveyed) {
            reading.survey.read(reader, rows, parts.clone(), self.shares.readers)?;
            reading.surveyed = parts.end;
            self.report(&mut recorded, parts.end, observer, || reading.save(&self.folder))?;
        }
        let seen = &reading.survey;
        let (bad, zeros, bounds) = (seen.bad, seen.zeros, seen.bounds());
        let corner = bounds.filter(|_| rows.narrow).map(|bounds| bounds[0]);
        notify(observer, Event::Surveyed { resumed, rows: reader.len(), bad, zeros, corner })?;
        let points = seen.points();
        if points == 0 && !reader.is_empty() && reader.filter().is_empty() {
            return Err(none_usable(reader.name(), reader.len() as usize).into());
        }
        let limit = self.amount(points).limit(points as usize)?;
        if limit > 0 && points == 0 {
            return Err(farpoint::Error::EmptyCloud.into());
        }
        let bounds = bounds.unwrap_or_default();
        let stored = Stored::of(reader, rows, bounds[0]);
        let tiles = Tiles::choose(seen.grid.clone(), &seen.counts, reading.tile);
        let starts = match limit {
            0 => Vec::new(),
            _ => starts(reader, seen, self.job, rows, stored, &tiles)?,
        };
        let spool = self.spool((&mut reading, &mut recorded), stored, tiles, outputs, observer)?;
        let (job, extent, tiles) = (reading.job, reading.extent, spool.tiles);
        Log::create(&self.folder.file("log"), tiles.len())?;
        let state = State { job, bad, zeros, points, bounds, starts, extent, stored, tiles };
        state.save(&self.folder.file(CLOUD), &self.folder.file("cloud.new"))?;
        let _ = fs::remove_file(self.folder.file(READING));
        Ok(state)
    }

    /// Reads the input for the second time, and writes its rows to the spool.
    fn spool(
        &self,
        (reading, recorded): (&mut Reading, &mut Instant),
        stored: Stored,
        tiles: Tiles,
        outputs: &Outputs<'_>,
        observer: Observer<'_>,
    ) -> Result<Spool, Error> {
        let (path, lists) = (self.folder.file("points"), tiles.len());
        if reading.extent == 0 {
            reading.extent = self.shares.extent(lists) as u64;
        }
        let (reader, rows, threads) = (self.reader, self.rows(), self.shares.readers);
        let extent = reading.extent as usize;
        let build = Build { reader, rows, stored, tiles, extent, threads };
        if reading.spooled == 0 {
            let points = reading.survey.points();
            let limit = self.amount(points).limit(points as usize)?;
            self.check_space(build.bytes(points), limit as u64, outputs)?;
            reading.runs = vec![Run::default(); lists];
        }
        let extents = Extents::open(&path, extent, reading.end, std::mem::take(&mut reading.runs))?;
        while let Some(parts) = self.lap(reading.spooled) {
            build.read(parts.clone(), &extents)?;
            reading.spooled = parts.end;
            self.report(recorded, reader.parts() + parts.end, observer, || {
                (reading.end, reading.runs) = extents.sync()?;
                reading.save(&self.folder)
            })?;
        }
        if self.folder.file(READING).exists() {
            // Tiles are put in order in place: a run that is killed meanwhile reads them again.
            reading.spool_again();
            reading.save(&self.folder)?;
        }
        build.finish(&path, extents)
    }

    /// Returns the parts of the input that are read next, after those before `first`.
    fn lap(&self, first: usize) -> Option<Range<usize>> {
        let parts = self.job.sizes.lap.unwrap_or(LAP * self.shares.readers);
        let end = self.reader.parts().min(first + parts);
        (first < end).then_some(first..end)
    }

    /// Reports what has been read. It is recorded now and then, and if the observer cancels the run, in a folder that is
    /// kept.
    fn report(
        &self,
        recorded: &mut Instant,
        parts: usize,
        observer: Observer<'_>,
        record: impl FnOnce() -> Result<(), Error>,
    ) -> Result<(), Error> {
        let notified = notify(observer, Event::Read { parts, of: 2 * self.reader.parts() });
        let due = notified.is_err() || recorded.elapsed() >= RECORDED;
        if due && self.job.spool.is_some() {
            record()?;
            *recorded = Instant::now();
        }
        notified
    }

    /// Checks that the disk has room for a spool of this size, and for what writing up to `limit` rows takes; the
    /// number of rows of a spacing is not known before.
    fn check_space(&self, spool: u64, limit: u64, outputs: &Outputs<'_>) -> Result<(), Error> {
        // The spool of an earlier run that was killed while it read is in the way.
        let _ = fs::remove_file(self.folder.file("points"));
        let count = if matches!(self.job.amount, Amount::Spacing(_)) { 0 } else { limit };
        let needed = spool + write::bytes(self, outputs, count);
        self.folder.check_space(needed, self.job.sizes.free)
    }

    /// Samples the spool, and writes the outputs.
    fn chosen<T: Scalar>(
        &self,
        state: State,
        resumed: bool,
        outputs: &Outputs<'_>,
        observer: Observer<'_>,
    ) -> Result<Sampled, Error> {
        let start = Instant::now();
        let (points, tiles) = (self.reader.len(), state.tiles.len());
        let dropped = points - state.points;
        let (narrow, bounds) = (matches!(state.stored, Stored::Narrowed(_)), state.bounds);
        let plan = self.plan::<T>(&state);
        let spool = Arc::new(state.open(&self.folder.file("points"))?);
        let log = Arc::new(Mutex::new(Log::open(&self.folder.file("log"), tiles)?));
        let mut workers = Local(self.tiles::<T>(&spool, &log));
        let mut conductor = begin(plan, &log, tiles, resumed, &mut workers)?;
        while let Some(band) = conductor.advance(&mut workers)? {
            let mut log = locked(&log);
            log.append(RUN, &conductor.manifest())?;
            log.sync()?;
            let (number, samples, limit) = (band.number, band.samples, band.limit);
            notify(observer, Event::Band { number, samples, limit })?;
        }
        let sampling = start.elapsed().as_secs_f64();
        let outcome = conductor.outcome().ok_or_else(|| {
            farpoint_tiles::Error::Mismatch("the run ended without an outcome".into())
        })?;
        notify(observer, Event::Writing)?;
        let start = Instant::now();
        // The logs suffice from here on: points that stayed in memory are not needed.
        workers.0 = self.tiles::<T>(&spool, &log);
        let mut chosen = |each: &mut dyn FnMut(u64, f64) -> Result<(), farpoint_tiles::Error>| {
            let distance = |key: Key| key.value::<T>().sqrt().to_f64();
            conductor.chosen(&mut workers, &mut |key| each(key.index(), distance(key)))
        };
        let found = Found {
            count: outcome.samples,
            error: if narrow { rounding(bounds) } else { 0.0 },
            single: spool.stored.is_single(),
        };
        let warnings = write::outputs(self, outputs, found, &mut chosen, &|| Ok(()))?;
        let spooled = spool.file.metadata().map_or(0, |about| about.len());
        Ok(Sampled {
            points,
            dropped,
            samples: outcome.samples,
            covering_radius: outcome.squared_covering_radius.sqrt().to_f64(),
            tiles,
            bands: outcome.bands,
            spooled,
            seconds: [0.0, sampling, start.elapsed().as_secs_f64()],
            warnings,
        })
    }

    /// Returns the number of points to choose of this many; none of those that a filter leaves, if it leaves none.
    fn amount(&self, points: u64) -> Amount {
        match self.job.amount {
            Amount::Count(count) => Amount::Count(count),
            _ if points == 0 && !self.reader.filter().is_empty() => Amount::Count(0),
            amount => amount,
        }
    }

    fn plan<T: Scalar>(&self, state: &State) -> Plan<T> {
        let entry = |start: &Start| Entry {
            at: start.at.map(T::from_f64),
            value: T::INFINITY,
            index: start.row,
            tile: start.tile,
        };
        let starts = state.starts.iter().map(entry).collect();
        let plan = Plan::new(self.amount(state.points), starts);
        plan.mode(Mode::Sweep).max_candidates(self.shares.candidates).carried(self.shares.carried)
    }

    fn tiles<T: Scalar>(
        &self,
        spool: &Arc<Spool>,
        log: &Arc<Mutex<Log>>,
    ) -> Vec<Tile<T, SpoolStore>> {
        let cached = (self.shares.pages / spool.tiles.len().max(1) as u64) as usize;
        let options = TileOptions::default()
            .resident(false)
            .cached_pages(cached)
            .threads(true)
            .max_candidates(self.shares.candidates as usize);
        let tile = |tile| Tile::new(SpoolStore::new(spool, log, tile), options);
        (0..spool.tiles.len() as u32).map(tile).collect()
    }
}

fn locked(log: &Mutex<Log>) -> std::sync::MutexGuard<'_, Log> {
    log.lock().unwrap_or_else(std::sync::PoisonError::into_inner)
}

/// Returns a conductor at the beginning, or after the last band that all tiles had finished.
fn begin<T: Scalar>(
    plan: Plan<T>,
    log: &Mutex<Log>,
    tiles: usize,
    resumed: bool,
    workers: &mut Local<Tile<T, SpoolStore>>,
) -> Result<Conductor<T>, Error> {
    let bands = locked(log).records(RUN);
    if resumed && bands > 0 {
        let manifest = locked(log).record(RUN, bands - 1)?;
        return Ok(Conductor::resume(plan, &manifest, workers)?);
    }
    Ok(Conductor::begin(plan, tiles as u32, workers)?)
}
