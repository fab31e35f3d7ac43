//! The work on one file: read, sample, write.

use crate::cloud::levels::levels;
use crate::disk::{self, Limits};
use crate::{
    Choice, Chosen, Done, Job, Method, Notes, Outcome, Points, Request, Stop, Wanted, Where,
    choose, converted, unit,
};
use farpoint::{DeviceKind, Start};
use farpoint_io::{Cloud, Column, Copc, WriteOptions, memory};
use std::fs;
use std::ops::ControlFlow;
use std::path::Path;

/// Works on files, one after another or several side by side.
#[derive(Debug)]
pub struct Executor {
    request: Request,
    place: Where,
}

impl Executor {
    /// Returns an executor of this request there; [`Choice::Auto`] is the CPU, since files side by side leave nothing for a
    /// GPU to gain.
    ///
    /// # Errors
    /// A text, if the sampler can't run there.
    pub fn new(request: Request, mut place: Where) -> Result<Self, String> {
        if place.device == Choice::Auto {
            place.device = Choice::Cpu;
        }
        let on_gpu = place.device == Choice::Cuda;
        if on_gpu {
            place.present().map_err(|error| error.to_string())?;
        }
        let kind = if on_gpu { DeviceKind::Gpu } else { DeviceKind::Cpu };
        match request.method {
            Method::Exact(algorithm) => algorithm.check(kind).map_err(|error| error.to_string())?,
            _ if on_gpu => return Err("a GPU is for exact algorithms".into()),
            _ => {}
        }
        Ok(Self { request, place })
    }

    /// Reads `input`, samples it, and writes `output` whole or not at all, in a folder that is made if
    /// there is none. Stops where `stop` says so, but not while a file is read or written.
    ///
    /// # Errors
    /// A text that names the file and says what is wrong with it.
    pub fn sample(
        &self,
        input: &Path,
        output: &Path,
        stop: &Stop<'_>,
        notes: &mut Notes,
    ) -> Result<Done, String> {
        let name = input.display().to_string();
        let request = &self.request;
        let before = fs::metadata(input).ok();
        self.check_output(output, &name)?;
        let mut cloud = farpoint_io::read_for(input, &request.reading, &request.filter)
            .map_err(|error| error.to_string())?;
        cloud.warnings().iter().for_each(|warning| notes.warn(format!("{name}: {warning}")));
        if let Some([read, all]) = cloud.nodes_read() {
            notes.note(format!("{name}: {read} of {all} nodes are read"));
        }
        stop.check(&name)?;
        let lengths = [("spacing", request.wanted.length()), ("scale", request.scale)];
        let unit = unit(&cloud, &name, &lengths, notes)?;
        let all = cloud.len();
        let (radius, written) = match request.wanted {
            Wanted::All => {
                let drop_zeros = request.rows.drop_zeros;
                let rows = converted(&cloud, &name, drop_zeros, &request.filter, notes)?;
                stop.check(&name)?;
                let writing = request.writing(unit);
                (0.0, write(output, &cloud, rows, &writing, notes)?)
            }
            _ => {
                let (mut outcome, single) = self.sampled(&cloud, &name, unit, stop, notes)?;
                stop.check(&name)?;
                let writing = request.arrange(&mut cloud, &mut outcome, output, unit, single);
                let made = outcome.made.as_ref().unwrap_or(&cloud);
                (outcome.covering_radius, write(output, made, outcome.indices, &writing, notes)?)
            }
        };
        let changed = before.is_some_and(|before| {
            fs::metadata(input).is_ok_and(|now| {
                before.len() != now.len() || before.modified().ok() != now.modified().ok()
            })
        });
        if changed {
            // What was written may be half of the old file and half of the new one.
            let _ = fs::remove_file(output);
            return Err(format!("{name}: was changed while it was read; sample it again"));
        }
        let bytes =
            fs::metadata(output).map_err(|error| format!("{}: {error}", output.display()))?.len();
        Ok(Done { points: all as u64, samples: written as u64, radius, bytes })
    }

    /// Returns the sample, and whether it was taken in single precision.
    fn sampled(
        &self,
        cloud: &Cloud,
        name: &str,
        unit: f64,
        stop: &Stop<'_>,
        notes: &mut Notes,
    ) -> Result<(Outcome, bool), String> {
        let request = &self.request;
        let input = choose(cloud, name, request.rows, &request.filter, notes)?;
        let single = matches!(input.points, Points::F32(_));
        let job = request.job(&input, request.wanted.amount(unit), request.start.clone());
        memory::require(name, job.bytes(&input)).map_err(|error| error.to_string())?;
        let flow = |_| match stop.is_wanted() {
            true => ControlFlow::Break(()),
            false => ControlFlow::Continue(()),
        };
        let outcome = job.run(&input, &self.place, false, &flow);
        let failed = |error| stop.reason(name).unwrap_or(format!("{name}: {error}"));
        Ok((outcome.map_err(failed)?, single))
    }

    /// Refuses an output before the input is read.
    fn check_output(&self, output: &Path, name: &str) -> Result<(), String> {
        let folder =
            output.parent().filter(|folder| *folder != Path::new("")).unwrap_or(Path::new("."));
        fs::create_dir_all(folder)
            .map_err(|error| format!("{name}: {}: {error}", folder.display()))?;
        let request = &self.request;
        let leveled = matches!(request.method, Method::Exact(_)) && request.wanted != Wanted::All;
        let copc = request.is_copc(output).then(|| request.copc.clone().unwrap_or(Copc::new([])));
        if let (Some(_), false) = (&copc, leveled) {
            let what = "COPC has levels, which come from a farthest-first order";
            let fix = "order or sample with an exact algorithm, or write to another format";
            return Err(format!("{name}: {what}; {fix}"));
        }
        let writing = request.writing.clone().copc(copc);
        let checked = farpoint_io::check_output(output, &[], &writing);
        checked.map(drop).map_err(|error| format!("{name}: {error}"))
    }
}

/// Writes rows of a cloud; returns how many.
fn write(
    output: &Path,
    cloud: &Cloud,
    rows: Vec<usize>,
    writing: &WriteOptions,
    notes: &mut Notes,
) -> Result<usize, String> {
    let warnings = farpoint_io::write(output, cloud, &rows, writing);
    for warning in warnings.map_err(|error| error.to_string())? {
        notes.warn(format!("{}: {warning}", output.display()));
    }
    Ok(rows.len())
}

impl Request {
    /// Returns its job on these points. An exact algorithm without a start begins at the first row that can be used.
    pub fn job(&self, input: &Chosen<'_>, amount: farpoint::Amount, start: Option<Start>) -> Job {
        let first = || input.first_usable().map_or(Start::First, Start::Index);
        let exact = matches!(self.method, Method::Exact(_));
        Job::new(self.method, amount, start.or_else(|| exact.then(first)))
    }

    /// Returns its job through the disk, for a file whose unit is so many meters.
    pub fn disk_job(&self, unit: f64, limits: &Limits) -> disk::Job {
        disk::Job::new(self.wanted.amount(unit), limits.memory)
            .start(self.start.clone())
            .drop_zeros(self.rows.drop_zeros)
            .single(self.rows.single)
            .sorted(self.sorted)
            .spool(limits.spool.clone())
            .resume(limits.resume)
    }

    /// The options of an output whose unit is so many meters.
    pub fn writing(&self, unit: f64) -> WriteOptions {
        self.writing.clone().scale(self.scale.map(|scale| scale.in_units_of(unit)))
    }

    /// Brings a sample into the form in which it is written to `output`: in the order of the input where that is asked for,
    /// with the column `spacing` of an order, or as the levels of COPC. Returns the options to write it with. `unit` is that
    /// of the cloud in meters; `single`, whether it was sampled in single precision.
    pub fn arrange(
        &self,
        cloud: &mut Cloud,
        outcome: &mut Outcome,
        output: &Path,
        unit: f64,
        single: bool,
    ) -> WriteOptions {
        let copc = self.is_copc(output);
        let levels = copc.then(|| levels(self.copc.as_ref(), &outcome.distances, cloud, single));
        // Of the points in COPC those of a node are sorted in any case.
        if self.sorted && outcome.made.is_none() && !copc {
            outcome.indices.sort_unstable();
        }
        if self.wanted == Wanted::Order && !copc {
            add_spacing(cloud, &outcome.indices, &outcome.distances, single);
        }
        self.writing(unit).copc(levels)
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
