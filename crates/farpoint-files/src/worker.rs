//! The work on a file: read, sample, write.

use crate::chosen::Chosen as Input;
use crate::{
    Done, Method, Notes, Options, Points, Stop, Wanted, choose, converted, each_chosen, levels,
    unit,
};
use farpoint::approximate::ApproximateSampler;
use farpoint::{Amount, BadRows, Cpu, Device, Level, Matcher, Progress, Sampler, Scalar, Start};
use farpoint_cuda::Gpu;
use farpoint_io::{Cloud, Column, Coordinates, Copc, memory};
use std::fs;
use std::ops::ControlFlow;
use std::path::Path;

/// Where files are worked on.
#[derive(Clone, Copy, Debug, Default)]
pub struct On {
    /// Threads for each file; all unless set.
    pub threads: Option<usize>,
    /// Instruction set; the best of the machine unless set.
    pub level: Option<Level>,
    /// A GPU of this number, for exact algorithms.
    pub gpu: Option<usize>,
}

/// What works on files, one after another or several side by side.
#[derive(Debug)]
pub struct Worker {
    options: Options,
    cpu: Cpu,
    gpu: Option<Gpu>,
}

/// What is written: rows of the cloud, or another cloud.
struct Chosen {
    rows: Vec<usize>,
    distances: Vec<f64>,
    radius: f64,
    made: Option<Cloud>,
}

/// What a device says of a job that it can't do.
struct Failed(String);

impl<E: std::error::Error> From<E> for Failed {
    fn from(error: E) -> Self {
        Self(error.to_string())
    }
}

impl Worker {
    /// What works with these options there.
    ///
    /// # Errors
    /// A text, if the sampler can't run there.
    pub fn new(options: Options, on: On) -> Result<Self, String> {
        let cpu = on.threads.map_or(Cpu::new(), |threads| Cpu::new().threads(threads));
        let cpu = on.level.map_or(cpu, |level| cpu.level(level));
        let gpu = on.gpu.map(Gpu::new).transpose().map_err(|error| error.to_string())?;
        let kind =
            if gpu.is_some() { farpoint::DeviceKind::Gpu } else { farpoint::DeviceKind::Cpu };
        match options.method {
            Method::Exact(algorithm) => algorithm.check(kind).map_err(|error| error.to_string())?,
            _ if gpu.is_some() => return Err("a GPU is for exact algorithms".into()),
            _ => {}
        }
        Ok(Self { options, cpu, gpu })
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
        let options = &self.options;
        let before = fs::metadata(input).ok();
        self.check_output(output, &name)?;
        let mut cloud = farpoint_io::read_for(input, &options.reading, &options.filter)
            .map_err(|error| error.to_string())?;
        cloud.warnings().iter().for_each(|warning| notes.warn(format!("{name}: {warning}")));
        if let Some([read, all]) = cloud.nodes_read() {
            notes.note(format!("{name}: {read} of {all} nodes are read"));
        }
        stop.check(&name)?;
        let lengths = [("spacing", options.wanted.length()), ("scale", options.scale)];
        let unit = unit(&cloud, &name, &lengths, notes)?;
        let (chosen, single) = match options.wanted {
            Wanted::All => {
                let drop_zeros = options.rows.drop_zeros;
                let rows = converted(&cloud, &name, drop_zeros, &options.filter, notes)?;
                (Chosen { rows, distances: Vec::new(), radius: 0.0, made: None }, false)
            }
            _ => self.sampled(&cloud, &name, unit, stop, notes)?,
        };
        let all = cloud.len();
        stop.check(&name)?;
        let radius = chosen.radius;
        let samples = chosen.rows.len() as u64;
        self.write(&mut cloud, chosen, (output, unit, single), notes)?;
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
        Ok(Done { points: all as u64, samples, radius, bytes })
    }

    /// The points that are chosen, and whether in single precision.
    fn sampled(
        &self,
        cloud: &Cloud,
        name: &str,
        unit: f64,
        stop: &Stop<'_>,
        notes: &mut Notes,
    ) -> Result<(Chosen, bool), String> {
        let options = &self.options;
        let input = choose(cloud, name, options.rows, &options.filter, notes)?;
        let single = matches!(input.points, Points::F32(_));
        let need = cloud.len() as u64 * if single { 32 } else { 64 };
        memory::require(name, need).map_err(|error| error.to_string())?;
        let failed = |error: Failed| stop.reason(name).unwrap_or(format!("{name}: {}", error.0));
        let chosen = self.chosen(&input, unit, stop).map_err(failed)?;
        Ok((chosen, single))
    }

    /// Refuses an output before the input is read.
    fn check_output(&self, output: &Path, name: &str) -> Result<(), String> {
        let folder =
            output.parent().filter(|folder| *folder != Path::new("")).unwrap_or(Path::new("."));
        fs::create_dir_all(folder)
            .map_err(|error| format!("{name}: {}: {error}", folder.display()))?;
        let options = &self.options;
        let leveled = matches!(options.method, Method::Exact(_)) && options.wanted != Wanted::All;
        let copc = options.is_copc(output).then(|| options.copc.clone().unwrap_or(Copc::new([])));
        if let (Some(_), false) = (&copc, leveled) {
            let what = "COPC has levels, which come from a farthest-first order";
            let fix = "order or sample with an exact algorithm, or write to another format";
            return Err(format!("{name}: {what}; {fix}"));
        }
        let writing = options.writing.clone().copc(copc);
        let checked = farpoint_io::check_output(output, &[], &writing);
        checked.map(drop).map_err(|error| format!("{name}: {error}"))
    }

    fn chosen(&self, input: &Input<'_>, unit: f64, stop: &Stop<'_>) -> Result<Chosen, Failed> {
        let amount = self.options.wanted.amount(unit);
        let first = || input.first_usable().map_or(Start::First, Start::Index);
        let start = self.options.start.clone();
        match self.options.method {
            Method::Exact(algorithm) => {
                let job = Sampler::new(amount).algorithm(algorithm).bad_rows(BadRows::Skip);
                let job = job.start(start.unwrap_or_else(first));
                match &self.gpu {
                    Some(gpu) => each_chosen!(input, _all, some => exact(&job, some, gpu, stop)),
                    None => each_chosen!(input, _all, some => exact(&job, some, &self.cpu, stop)),
                }
            }
            Method::Approximate(method) => {
                let job = approximate(method, amount, start);
                each_chosen!(input, all, some => self.approximate(&job, all, some, stop))
            }
            Method::Centroids(method) => {
                let job = approximate(method, amount, start);
                each_chosen!(input, _all, some => self.centroids(&job, some, stop))
            }
        }
    }

    fn approximate<T: Scalar, P: farpoint::Points<T> + ?Sized>(
        &self,
        job: &ApproximateSampler,
        all: &[[T; 3]],
        some: &P,
        stop: &Stop<'_>,
    ) -> Result<Chosen, Failed> {
        let sample = job.on(&self.cpu).sample_with(some, &mut |_| stop.flow());
        let rows = sample?.indices;
        let kept: Vec<[T; 3]> = rows.iter().map(|&row| all[row]).collect();
        let radius = covering_radius(some, &kept)?;
        Ok(Chosen { rows, distances: Vec::new(), radius, made: None })
    }

    fn centroids<T: Scalar, P: farpoint::Points<T> + ?Sized>(
        &self,
        job: &ApproximateSampler,
        points: &P,
        stop: &Stop<'_>,
    ) -> Result<Chosen, Failed> {
        let made = job.on(&self.cpu).centroids_with(points, &mut |_| stop.flow());
        let made = made?;
        let kept: &[[T; 3]] = made.coordinates.as_chunks().0;
        let radius = covering_radius(points, kept)?;
        Ok(Chosen {
            rows: (0..kept.len()).collect(),
            distances: Vec::new(),
            radius,
            made: Some(centroid_cloud(kept, made.counts)),
        })
    }

    fn write(
        &self,
        cloud: &mut Cloud,
        mut chosen: Chosen,
        (output, unit, single): (&Path, f64, bool),
        notes: &mut Notes,
    ) -> Result<(), String> {
        let copc = self.options.is_copc(output);
        let given = self.options.copc.as_ref();
        let levels = copc.then(|| levels(given, &chosen.distances, cloud, single));
        if self.options.sorted && chosen.made.is_none() && !copc {
            chosen.rows.sort_unstable();
        }
        if self.options.wanted == Wanted::Order && !copc {
            add_spacing(cloud, &chosen.rows, &chosen.distances, single);
        }
        let writing = self.options.writing.clone();
        let scale = self.options.scale.map(|scale| scale.in_units_of(unit));
        let writing = writing.scale(scale).copc(levels);
        let written = chosen.made.as_ref().unwrap_or(cloud);
        let warnings = farpoint_io::write(output, written, &chosen.rows, &writing);
        for warning in warnings.map_err(|error| error.to_string())? {
            notes.warn(format!("{}: {warning}", output.display()));
        }
        Ok(())
    }
}

fn approximate(
    method: farpoint::approximate::Method,
    amount: Amount,
    start: Option<Start>,
) -> ApproximateSampler {
    let job = ApproximateSampler::new(method, amount).bad_rows(BadRows::Skip);
    start.into_iter().fold(job, ApproximateSampler::start)
}

fn exact<T: Scalar, P: farpoint::Points<T> + ?Sized, D: Device<T>>(
    job: &Sampler,
    points: &P,
    device: &D,
    stop: &Stop<'_>,
) -> Result<Chosen, Failed>
where
    Failed: From<D::Error>,
{
    let sample = job.on(device).sample_with(points, &mut |_: Progress| stop.flow());
    let sample = sample?;
    Ok(Chosen {
        distances: (0..sample.len()).map(|k| sample.distance(k).to_f64()).collect(),
        radius: sample.covering_radius().to_f64(),
        rows: sample.indices,
        made: None,
    })
}

/// Largest distance of a point to the sample; bad rows don't count, and no sample covers nothing.
///
/// # Errors
/// As [`Matcher::nearest`].
pub fn covering_radius<T: Scalar, P: farpoint::Points<T> + ?Sized>(
    points: &P,
    sample: &[[T; 3]],
) -> Result<f64, farpoint::Error> {
    if sample.is_empty() {
        return Ok(f64::INFINITY);
    }
    let nearest = Matcher::new().bad_rows(BadRows::Skip).nearest(points, sample)?;
    Ok(nearest.max_distance().to_f64())
}

/// A cloud of centroids, with a column `points`: how many points each stands for.
pub fn centroid_cloud<T: Scalar>(rows: &[[T; 3]], counts: Vec<u32>) -> Cloud {
    let coordinates = match size_of::<T>() {
        4 => Coordinates::F32(rows.iter().map(|row| row.map(|x| x.to_f64() as f32)).collect()),
        _ => Coordinates::F64(rows.iter().map(|row| row.map(T::to_f64)).collect()),
    };
    let mut cloud = Cloud::new(coordinates);
    cloud.add_column("points", Column::U32(counts));
    cloud
}

/// Adds a column `spacing`: the selection distance of each row, in the precision of the coordinates; NaN
/// in rows that were left out and won't be written.
pub fn add_spacing(cloud: &mut Cloud, rows: &[usize], distances: &[f64], single: bool) {
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

impl Stop<'_> {
    fn flow(&self) -> ControlFlow<()> {
        if self.is_wanted() { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
    }
}
