//! A cloud that is read whole: read, choose rows, sample, arrange, write.

use crate::cloud::levels::levels;
use crate::disk::Error;
use crate::notes::{Stage, Watch, noted};
use crate::source::{Joined, Read, Source};
use crate::{Chosen, Files, Finished, Job, Length, Method, Outcome, Points, Request, Wanted};
use crate::{choose, converted, unit};
use farpoint::{Amount, Start};
use farpoint_io::{Cloud, Column, Copc, WriteOptions, memory};
use std::ops::ControlFlow;
use std::path::Path;
use std::time::Instant;

/// A request for a cloud in memory.
#[derive(Debug)]
pub struct InMemory<'a> {
    pub(crate) request: &'a Request,
    pub(crate) files: Files<'a>,
    pub(crate) source: Source,
}

/// A cloud with the points that were chosen of it.
#[derive(Debug)]
pub struct Taken<'a> {
    request: &'a Request,
    files: Files<'a>,
    /// What it is called.
    pub name: String,
    /// All of it.
    pub cloud: Cloud,
    /// The sample.
    pub outcome: Outcome,
    /// Rows that could be chosen: all, or those that were listed.
    pub points: usize,
    /// The unit of the cloud in meters.
    unit: f64,
    /// Whether it was sampled in single precision.
    single: bool,
    /// Seconds of reading.
    read: f64,
    joined: Option<Joined>,
}

impl<'a> InMemory<'a> {
    /// Reads the cloud and samples it; without sampling, chooses the rows that are used.
    ///
    /// # Errors
    /// If it can't be read, if none of its rows can be used, or if what is asked for can't be had of it.
    pub fn sample(self, watch: &dyn Watch) -> Result<Taken<'a>, Error> {
        let Self { request, files, source } = self;
        let Read { cloud, name, seconds: read, joined } = source.read(request, watch)?;
        let (outcome, points, unit, single) = match request.wanted {
            Wanted::All => {
                let Request { rows, filter, .. } = request;
                let rows =
                    noted(watch, |notes| converted(&cloud, &name, rows.drop_zeros, filter, notes))?;
                (Outcome::of_rows(rows), cloud.len(), request.unit(&cloud, &name, watch)?, false)
            }
            _ => sampled(request, &files, &cloud, &name, watch)?,
        };
        Ok(Taken { request, files, name, cloud, outcome, points, unit, single, read, joined })
    }
}

fn sampled(
    request: &Request,
    files: &Files<'_>,
    cloud: &Cloud,
    name: &str,
    watch: &dyn Watch,
) -> Result<(Outcome, usize, f64, bool), Error> {
    let input = noted(watch, |notes| choose(cloud, name, request.rows, &request.filter, notes))?;
    let input = match &request.listed {
        Some(listed) => {
            let listed = listed.read(input.points.len())?;
            input.among(listed)
        }
        None => input,
    };
    request.check_start(&input)?;
    let unit = request.unit(cloud, name, watch)?;
    let job = request.job(&input, unit);
    let copc = files.output.is_some_and(|output| request.is_copc(output));
    let writes = if copc { Copc::memory(input.points.len()) } else { 0 };
    memory::require(name, job.bytes(&input).max(writes))?;
    watch.stage(Stage::Sampling, name);
    let outcome = job.run(&input, &request.place, request.statistics, &|step| match watch
        .step(step.samples, step.wanted)
    {
        true => ControlFlow::Continue(()),
        false => ControlFlow::Break(()),
    });
    watch.stage(Stage::Between, "");
    let outcome = outcome.map_err(|error| format!("{name}: {error}"))?;
    Ok((outcome, input.of, unit, matches!(input.points, Points::F32(_))))
}

impl Taken<'_> {
    /// How many points could be chosen: without those of NaN and infinity.
    pub fn usable(&self) -> usize {
        self.points - self.outcome.dropped
    }

    /// Writes the outputs.
    ///
    /// # Errors
    /// If one can't be written; it is then not there, or as it was.
    pub fn write(mut self, watch: &dyn Watch) -> Result<Finished, Error> {
        let start = Instant::now();
        let Files { output, indices, .. } = self.files;
        if let Some(path) = output {
            let options = self.arrange(path);
            if self.outcome.made.is_some() && self.request.command {
                let what =
                    format!("{}: centroids keep no attributes but their positions", self.name);
                noted(watch, |notes| notes.note(what));
            }
            let (cloud, to) = (self.outcome.made.as_ref().unwrap_or(&self.cloud), path.display());
            watch.stage(Stage::Writing, &to.to_string());
            let warnings = farpoint_io::write(path, cloud, &self.outcome.indices, &options)?;
            watch.stage(Stage::Between, "");
            noted(watch, |notes| {
                warnings.iter().for_each(|warning| notes.warn(format!("{to}: {warning}")));
            });
        }
        if let Some(path) = indices {
            if self.request.sorted && self.outcome.made.is_none() {
                self.outcome.indices.sort_unstable();
            }
            watch.stage(Stage::Indices, "");
            farpoint_io::write_indices(path, &self.outcome.indices)?;
            watch.stage(Stage::Between, "");
        }
        let wrote = output.is_some() || indices.is_some();
        Ok(self.finished(wrote.then(|| start.elapsed().as_secs_f64())))
    }

    /// What came of it, where writing took so many seconds.
    pub fn finished(self, write: Option<f64>) -> Finished {
        Finished {
            name: self.name,
            points: self.points as u64,
            samples: self.outcome.indices.len() as u64,
            read: self.read,
            write,
            joined: self.joined,
            disk: None,
            outcome: self.outcome,
        }
    }

    /// Brings the sample into the form in which it is written: in the order of the input where that is asked for, with the
    /// column `spacing` of an order, or as the levels of COPC. Returns the options to write it with.
    fn arrange(&mut self, output: &Path) -> WriteOptions {
        let Self { request, outcome, cloud, single, .. } = self;
        let copc = request.is_copc(output);
        let levels =
            copc.then(|| levels(request.copc.as_ref(), &outcome.distances, cloud, *single));
        // Of the points in COPC those of a node are sorted in any case.
        if request.sorted && outcome.made.is_none() && !copc {
            outcome.indices.sort_unstable();
        }
        if request.wanted == Wanted::Order && !copc {
            add_spacing(cloud, &outcome.indices, &outcome.distances, *single);
        }
        request.writing(self.unit).copc(levels)
    }
}

impl Request {
    /// The unit of a cloud in meters.
    pub(crate) fn unit(&self, cloud: &Cloud, name: &str, watch: &dyn Watch) -> Result<f64, Error> {
        let amount = match self.wanted {
            Wanted::Cell(_) if self.command => "cell",
            _ => "spacing",
        };
        let option = |option: &str| format!("{}{option}", if self.command { "--" } else { "" });
        let [amount, scale] = [amount, "scale"].map(option);
        let lengths: [(&str, Option<Length>); 2] =
            [(&amount, self.wanted.length()), (&scale, self.scale)];
        Ok(noted(watch, |notes| unit(cloud, name, &lengths, notes))?)
    }

    /// Returns its job on these points. An exact algorithm without a start begins at the first row that can be used.
    fn job(&self, input: &Chosen<'_>, unit: f64) -> Job {
        let amount = match self.wanted {
            Wanted::AtMost(most) if most >= input.usable() => Amount::All,
            wanted => wanted.amount(unit),
        };
        let first = || input.first_usable().map_or(Start::First, Start::Index);
        let exact = matches!(self.method, Method::Exact(_));
        Job::new(self.method, amount, self.start.clone().or_else(|| exact.then(first)))
    }

    /// Refuses a start that is left out.
    fn check_start(&self, input: &Chosen<'_>) -> Result<(), Error> {
        let rows = match &self.start {
            Some(Start::Index(row)) => std::slice::from_ref(row),
            Some(Start::Indices(rows)) => rows,
            _ => return Ok(()),
        };
        let some = self.rows.drop_zeros || input.used.is_some();
        let unusable = |row: &&usize| input.is_usable(**row) == Some(false);
        let Some(row) = rows.iter().find(unusable).filter(|_| some && self.command) else {
            return Ok(());
        };
        let what = match &self.listed {
            Some(listed) => format!("{} does not name that row", listed.option()),
            None if self.rows.drop_zeros => "--drop-zeros leaves that row out".to_owned(),
            None => "the filters leave that row out".to_owned(),
        };
        Err(Error::Refused(format!("--start {row}: {what}, or it holds NaN or infinity")))
    }

    /// The options of an output whose unit is so many meters.
    pub(crate) fn writing(&self, unit: f64) -> WriteOptions {
        self.writing.clone().scale(self.scale.map(|scale| scale.in_units_of(unit)))
    }
}

/// Adds a column `spacing`: the selection distance of each row, in the precision of the coordinates; NaN
/// in rows that were left out and won't be written.
fn add_spacing(cloud: &mut Cloud, rows: &[usize], distances: &[f64], single: bool) {
    let mut column = vec![f64::NAN; cloud.len()];
    for (&row, &distance) in rows.iter().zip(distances) {
        column[row] = distance;
    }
    let column = match single {
        true => Column::F32(column.into_iter().map(|value| value as f32).collect()),
        false => Column::F64(column),
    };
    cloud.add_column("spacing", column);
}
