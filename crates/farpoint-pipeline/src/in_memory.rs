//! A cloud that is read whole: read, select rows, sample, arrange, write.

use crate::cloud::choose::{choose, converted};
use crate::cloud::levels::{SPACING, levels, rounding_of};
use crate::disk::Error;
use crate::merged::read_merged;
use crate::notes::{Stage, Watch};
use crate::text::name;
use crate::{
    Files, Finished, InputPoints, Job, Method, Outcome, Points, Request, SampleSize, unit,
};
use farpoint::{Amount, Start};
use farpoint_io::{Cloud, Column, Copc, Filter, Format, Merged, ReadOptions, WriteOptions, memory};
use std::ops::ControlFlow;
use std::path::Path;
use std::time::Instant;

/// A request for a cloud in memory.
#[derive(Debug)]
pub struct InMemory<'a> {
    pub(crate) request: &'a Request,
    pub(crate) files: Files<'a>,
    /// The files as one cloud, if they are one.
    pub(crate) merged: Option<Merged>,
}

/// A cloud with the points chosen from it.
#[derive(Debug)]
pub struct SampledCloud<'a> {
    request: &'a Request,
    files: Files<'a>,
    /// The whole cloud.
    pub cloud: Cloud,
    /// Result so far.
    pub finished: Finished,
    /// The unit of the cloud in meters.
    unit: f64,
    /// True if it was sampled in single precision.
    single: bool,
    /// Largest error of a distance due to that.
    error: f64,
}

/// Reads a file: of COPC only the nodes that the filter can use rows of. With `unused`, warns of options that mean
/// nothing to its format. Returns the seconds, too.
///
/// # Errors
/// If the file can't be read; the text names it.
pub fn read(
    path: &Path,
    options: &ReadOptions,
    filter: &Filter,
    unused: bool,
    watch: &dyn Watch,
) -> Result<(Cloud, f64), farpoint_io::Error> {
    let name = name(path);
    watch.stage(Stage::Reading, &name);
    let start = Instant::now();
    let cloud = farpoint_io::read_for(path, options, filter)?;
    let seconds = start.elapsed().as_secs_f64();
    watch.stage(Stage::Between, "");
    if unused {
        unused_options(&name, &cloud, options, watch);
    }
    if let Some([read, all]) = cloud.nodes_read() {
        watch.note(&format!("{name}: {read} of {all} nodes are read"));
    }
    watch.warnings(&name, cloud.warnings());
    Ok((cloud, seconds))
}

/// Warns of options that mean nothing to the format.
fn unused_options(name: &str, cloud: &Cloud, options: &ReadOptions, watch: &dyn Watch) {
    let Some(format) = cloud.format() else { return };
    let other = format != Format::Mcap;
    let text = matches!(format, Format::Text | Format::Raw);
    for (unused, option, kind) in [
        (options.xyz.is_some() && !text, "`xyz`", "text and raw files"),
        (options.columns.is_some() && format != Format::Raw, "`columns`", "raw files"),
        (other && options.topic.is_some(), "`topic`", "MCAP files"),
        (other && options.message.is_some(), "`message`", "MCAP files"),
    ] {
        if unused {
            watch.warn(&format!("{name}: {option} is for {kind} and changes nothing in {format}"));
        }
    }
}

impl<'a> InMemory<'a> {
    /// Reads the cloud and samples it; without sampling, selects the rows that are used.
    ///
    /// # Errors
    /// If it can't be read, if none of its rows can be used, or if the cloud can't fulfill the request.
    pub fn sample(self, watch: &dyn Watch) -> Result<SampledCloud<'a>, Error> {
        let Self { request, files, merged } = self;
        let Request { reading, filter, .. } = request;
        let (name, cloud, joined, read) = match &merged {
            Some(merged) => {
                let (cloud, joined, seconds) = read_merged(merged, watch)?;
                (merged.reader().name().to_owned(), cloud, Some(joined), seconds)
            }
            None => {
                let path = &files.inputs[0];
                let (cloud, seconds) = read(path, reading, filter, request.command, watch)?;
                (name(path), cloud, None, seconds)
            }
        };
        let (outcome, points, unit, single, error) = match request.size {
            SampleSize::All => {
                let rows = converted(&cloud, &name, request.rows.drop_zeros, filter, watch)?;
                (
                    Outcome::of_rows(rows),
                    cloud.len(),
                    request.unit(&cloud, &name, watch)?,
                    false,
                    0.0,
                )
            }
            _ => sample_cloud(request, &files, &cloud, &name, watch)?,
        };
        let (points, samples) = (points as u64, outcome.indices.len() as u64);
        let (write, disk, meters) = (None, None, cloud.meters_per_unit());
        let finished =
            Finished { name, meters, points, samples, read, write, joined, disk, outcome };
        Ok(SampledCloud { request, files, cloud, finished, unit, single, error })
    }
}

fn sample_cloud(
    request: &Request,
    files: &Files<'_>,
    cloud: &Cloud,
    name: &str,
    watch: &dyn Watch,
) -> Result<(Outcome, usize, f64, bool, f64), Error> {
    let input = choose(cloud, name, request.rows, &request.filter, watch)?;
    let error = rounding_of(cloud, &input);
    let input = match &request.listed {
        Some(listed) => {
            let listed = listed.read(input.points.len())?;
            input.among(listed)
        }
        None => input,
    };
    request.check_start(&input)?;
    let unit = request.unit(cloud, name, watch)?;
    let filtered = !request.filter.is_empty() && input.usable() == 0;
    if filtered && !matches!(request.size, SampleSize::Count(1..)) {
        let outcome = Outcome { dropped: input.of, ..Outcome::of_rows(Vec::new()) };
        return Ok((outcome, input.of, unit, false, error));
    }
    let job = request.job(&input, unit);
    let copc = files.output.and_then(|output| request.levels(output));
    let copc_bytes = copc.map_or(0, |_| Copc::memory(input.points.len()));
    memory::require(name, job.bytes(&input).max(copc_bytes))?;
    watch.stage(Stage::Sampling, name);
    let outcome = job.run(&input, &request.place, request.statistics, &|step| match watch
        .step(step.samples, step.total)
    {
        true => ControlFlow::Continue(()),
        false => ControlFlow::Break(()),
    });
    watch.stage(Stage::Between, "");
    let outcome = outcome.map_err(|error| format!("{name}: {error}"))?;
    Ok((outcome, input.of, unit, matches!(input.points, Points::F32(_)), error))
}

impl SampledCloud<'_> {
    /// Returns the number of points that could be chosen: without those of NaN and infinity.
    pub fn usable(&self) -> usize {
        self.finished.points as usize - self.finished.outcome.dropped
    }

    /// Writes the outputs.
    ///
    /// # Errors
    /// If one can't be written; it is then missing, or unchanged.
    pub fn write(mut self, watch: &dyn Watch) -> Result<Finished, Error> {
        let start = Instant::now();
        let Files { output, indices, .. } = self.files;
        if let Some(path) = output {
            let options = self.arrange(path);
            let made = self.made(path);
            let Finished { name, outcome, .. } = &self.finished;
            made.iter().for_each(|made| watch.warnings(name, made.warnings()));
            let cloud = made.as_ref().unwrap_or(&self.cloud);
            let to = path.display().to_string();
            watch.stage(Stage::Writing, &to);
            let warnings = farpoint_io::write(path, cloud, &outcome.indices, &options)?;
            watch.stage(Stage::Between, "");
            watch.warnings(&to, &warnings);
        }
        let outcome = &mut self.finished.outcome;
        if let Some(path) = indices {
            if self.request.sorted && outcome.means.is_none() {
                outcome.indices.sort_unstable();
            }
            farpoint_io::write_indices(path, &outcome.indices)?;
        }
        let wrote = output.is_some() || indices.is_some();
        self.finished.write = wrote.then(|| start.elapsed().as_secs_f64());
        Ok(self.finished)
    }

    /// Returns the cloud of centroids, if the sample consists of them, with a column `points`: the number of points that
    /// each stands for. Raw numbers have no names, and keep their columns.
    fn made(&self, output: &Path) -> Option<Cloud> {
        let (groups, centers) = self.finished.outcome.means.as_ref()?;
        let mut made = self.cloud.means(groups, centers.clone());
        let format = self.request.writing.format.or_else(|| Format::from_path(output));
        if format != Some(Format::Raw) {
            made.add_column("points", Column::U32(groups.counts()));
        }
        Some(made)
    }

    /// Brings the sample into its output form: in the order of the input if requested, with the column `spacing` of
    /// an order, or as the levels of COPC. Returns the options to write it with.
    fn arrange(&mut self, output: &Path) -> WriteOptions {
        let Self { request, cloud, single, error, .. } = self;
        let Outcome { indices, distances, means, .. } = &mut self.finished.outcome;
        let copc = request.levels(output).map(|options| levels(&options, distances, *error));
        // The points of a COPC node have an order of their own.
        if request.sorted && means.is_none() && copc.is_none() {
            indices.sort_unstable();
        }
        if request.size == SampleSize::Order && copc.is_none() {
            add_spacing(cloud, indices, distances, *single);
        }
        request.writing(self.unit).copc(copc)
    }
}

impl Request {
    /// Returns the unit of a cloud in meters.
    pub(crate) fn unit(&self, cloud: &Cloud, name: &str, watch: &dyn Watch) -> Result<f64, Error> {
        let amount = match self.size {
            SampleSize::Cell { .. } if self.command => "cell",
            _ => "spacing",
        };
        let [amount, scale] = [amount, "scale"].map(|option| format!("`{option}`"));
        let lengths = self.size.lengths().into_iter().map(|length| (&*amount, Some(length)));
        let lengths: Vec<_> = lengths.chain([(&*scale, self.scale)]).collect();
        Ok(unit(cloud, name, &lengths, watch)?)
    }

    /// Returns the job on these points. An exact algorithm without a start begins at the first row that can be used.
    fn job(&self, input: &InputPoints<'_>, unit: f64) -> Job {
        if let Some(grid) = self.grid(unit) {
            return Job::Voxels(grid);
        }
        let amount = match self.size {
            SampleSize::AtMost(limit) if limit >= input.usable() => Amount::All,
            size => size.amount(unit),
        };
        let first = || input.first_usable().map_or(Start::First, Start::Index);
        let exact = matches!(self.method, Method::Exact(_));
        Job::new(self.method, amount, self.start.clone().or_else(|| exact.then(first)))
    }

    /// Refuses a start that is left out.
    fn check_start(&self, input: &InputPoints<'_>) -> Result<(), Error> {
        let rows = match &self.start {
            Some(Start::Index(row)) => std::slice::from_ref(row),
            Some(Start::Indices(rows)) => rows,
            _ => return Ok(()),
        };
        let selects_rows = self.rows.drop_zeros || input.used.is_some();
        let unusable = |row: &&usize| input.is_usable(**row) == Some(false);
        let Some(row) = rows.iter().find(unusable).filter(|_| selects_rows && self.command) else {
            return Ok(());
        };
        let reason = match &self.listed {
            Some(listed) => format!("{} does not name that row", listed.option()),
            None if self.rows.drop_zeros => "`drop_zeros=True` leaves that row out".to_owned(),
            None => "the filters leave that row out".to_owned(),
        };
        Err(Error::Refused(format!("`start={row}`: {reason}, or it holds NaN or infinity")))
    }

    /// Returns the options of an output whose unit is `unit` meters.
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
    cloud.add_column(SPACING, column);
}
