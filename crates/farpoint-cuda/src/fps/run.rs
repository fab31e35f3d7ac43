//! Jobs on clouds in host memory: check, upload, launch, download, translate.

use super::algorithm::Choice;
use super::batch::{Batch, Shape, never, stop_at};
use super::{peak, span};
use crate::gpus::spread;
use crate::input::{self, Columns, invalid_result, sums};
use crate::memory::Buffer;
use crate::progress::Watch;
use crate::{CudaScalar, Error, Event, Gpu, Placement, Stream};
use farpoint::backend::PreparedCloud as Prepared;
use farpoint::backend::memory as fallible;
use farpoint::{Algorithm, Observer, Points, RanOn, Sample, Sampler, Statistics};
use std::time::Instant;

/// Samples one cloud, on the first GPU, or on all of them if it has at least `min_shared_rows` rows.
pub(crate) fn one<T: CudaScalar>(
    gpus: &[Gpu],
    min_shared_rows: usize,
    job: &Sampler,
    points: &dyn Points<T>,
    observer: Option<Observer<'_>>,
) -> Result<Sample<T>, Error> {
    let begin = Instant::now();
    Choice::new(job)?;
    let cloud = Prepared::new(job, points)?;
    let watch = Watch::new(observer, cloud.max_samples(), farpoint::Error::Cancelled);
    let (gpu, shape) = (&gpus[0], shape(&[&cloud]));
    let required_bytes = |choice| bytes::<T>(gpu, choice, shape);
    if let Some(shared) = span::share::<T>(gpus, min_shared_rows, job, shape, required_bytes)? {
        return one_shared(shared, job, &cloud, begin, &watch);
    }
    let mut samples = within_memory(gpu, job, &[&cloud], begin, &watch)?;
    Ok(samples.pop().expect("one cloud, one sample"))
}

/// Samples one cloud, on several GPUs or partly in host memory.
fn one_shared<T: CudaScalar>(
    shared: span::Shared<'_>,
    job: &Sampler,
    cloud: &Prepared<T>,
    begin: Instant,
    watch: &Watch<'_>,
) -> Result<Sample<T>, Error> {
    let mut part = watch.part(cloud.max_samples());
    part.reach(0)?;
    let sample = span::sample(shared, job, (cloud, shape(&[cloud])), begin)?;
    part.end()?;
    Ok(sample)
}

/// Samples clouds by one launch; if memory is short, by one for each half of them, and a single cloud partly in host
/// memory.
fn within_memory<T: CudaScalar>(
    gpu: &Gpu,
    job: &Sampler,
    clouds: &[&Prepared<T>],
    begin: Instant,
    watch: &Watch<'_>,
) -> Result<Vec<Sample<T>>, Error> {
    let shape = shape(clouds);
    let insufficient = gpu.has_memory_limit() && {
        let choice = Choice::new(job)?.resolve::<T>(gpu, shape);
        shape.samples > 0 && bytes::<T>(gpu, choice, shape) > gpu.available_memory(0)?
    };
    let error = match insufficient {
        true => None,
        false => match launch(gpu, job, clouds, begin, watch) {
            Err(error @ Error::OutOfMemory { .. }) => Some(error),
            done => return done,
        },
    };
    if let [cloud] = clouds {
        return match (span::alone(gpu, job), error) {
            (Some(shared), _) => Ok(vec![one_shared(shared, job, cloud, begin, watch)?]),
            (None, Some(error)) => Err(error),
            (None, None) => launch(gpu, job, clouds, begin, watch),
        };
    }
    let (first, second) = clouds.split_at(clouds.len() / 2);
    let mut samples = within_memory(gpu, job, first, begin, watch)?;
    samples.extend(within_memory(gpu, job, second, begin, watch)?);
    Ok(samples)
}

/// Memory that `one` would take on the GPUs and on the host.
pub(crate) fn placement<T: CudaScalar>(
    gpus: &[Gpu],
    min_shared_rows: usize,
    job: &Sampler,
    points: &dyn Points<T>,
) -> Result<Option<Placement>, Error> {
    let (rows, dims) = (points.len(), points.dim());
    let shape = Shape { clouds: 1, rows, dims, samples: job.amount.limit(rows)? };
    let required_bytes = |choice| bytes::<T>(&gpus[0], choice, shape);
    let shared = span::share::<T>(gpus, min_shared_rows, job, shape, required_bytes)?;
    shared.map(|shared| span::placement::<T>(shared, shape)).transpose()
}

/// Samples many clouds on one GPU or several, by one job or by one each.
pub(crate) fn many<T: CudaScalar>(
    gpus: &[Gpu],
    jobs: &[Sampler],
    clouds: &[&dyn Points<T>],
    observer: Option<Observer<'_>>,
) -> Result<Vec<Sample<T>>, Error> {
    let begin = Instant::now();
    for job in jobs {
        Choice::new(job)?;
    }
    let clouds = Prepared::batch(jobs, clouds)?;
    let total = clouds.iter().map(Prepared::max_samples).fold(0, usize::saturating_add);
    let watch = Watch::new(observer, total, farpoint::Error::Cancelled);
    let tasks: Vec<_> = std::iter::zip(jobs.iter().cycle(), &clouds).collect();
    let work = |(_, cloud): &(&Sampler, &Prepared<T>)| cloud.points() + cloud.max_samples();
    spread(gpus, &tasks, work, |gpu, tasks| {
        let mut samples = Vec::with_capacity(tasks.len());
        for tasks in tasks.chunk_by(|(a, _), (b, _)| can_share_launch(a, b)) {
            let clouds: Vec<_> = tasks.iter().map(|&(_, cloud)| cloud).collect();
            samples.extend(within_memory(gpu, tasks[0].0, &clouds, begin, &watch)?);
        }
        Ok(samples)
    })
}

/// Returns whether clouds of two jobs can be sampled by the same launch: numbers of samples and starts
/// may differ.
fn can_share_launch(a: &Sampler, b: &Sampler) -> bool {
    let spacing = |job: &Sampler| match job.amount {
        farpoint::Amount::Spacing(spacing) => Some(spacing),
        _ => None,
    };
    std::ptr::eq(a, b)
        || (a.algorithm, a.statistics, spacing(a)) == (b.algorithm, b.statistics, spacing(b))
}

/// Samples prepared clouds by one launch.
fn launch<T: CudaScalar>(
    gpu: &Gpu,
    job: &Sampler,
    clouds: &[&Prepared<T>],
    begin: Instant,
    watch: &Watch<'_>,
) -> Result<Vec<Sample<T>>, Error> {
    let shape = shape(clouds);
    input::check_rows(shape.rows)?;
    let choice = Choice::new(job)?.resolve::<T>(gpu, shape);
    let mut part = watch.part(clouds.iter().map(|cloud| cloud.max_samples()).sum());
    part.reach(0)?;
    if shape.samples == 0 {
        let empty_sample = |cloud: &&Prepared<T>| empty_sample(gpu, job, choice.algorithm(), cloud);
        return Ok(clouds.iter().map(empty_sample).collect());
    }
    let stream = Stream::new(gpu)?;
    let add_fit = |error: Error, held| {
        error.with_fit(held, shape.rows, |rows| bytes::<T>(gpu, choice, Shape { rows, ..shape }))
    };
    let input = Input::upload(&stream, clouds, shape).map_err(|error| add_fit(error, 0))?;
    let output = Output::new(&stream, clouds).map_err(|error| add_fit(error, input.bytes()))?;
    let batch = batch(clouds, shape, &input, &output);
    let mut statistics = Statistics::default();
    statistics.seconds.copy = begin.elapsed().as_secs_f64();
    statistics.bytes.input = input.bytes();
    statistics.bytes.answer = output.bytes();
    statistics.bytes.scratch = choice.scratch_bytes::<T>(gpu, shape);
    let count = if job.statistics { choice.counters() } else { 0 };
    let mut counters = Buffer::<u64>::new(&stream, count, "the counters")?;
    counters.fill(0)?;
    let counters_address = if count == 0 { 0 } else { counters.pointer() };
    let events = [Event::new(gpu)?, Event::new(gpu)?];
    events[0].record(&stream)?;
    // SAFETY: the buffers have the sizes that the batch says, and are freed in stream order.
    let queued =
        unsafe { choice.enqueue(&stream, &batch, shape, None, counters_address, Some(&mut part)) };
    queued.map_err(|error| add_fit(error, input.bytes() + output.bytes()))?;
    events[1].record(&stream)?;
    stream.wait(choice.algorithm().name())?;
    part.end()?;
    peak::record(&counters.download(count)?, &mut statistics);
    statistics.seconds.kernels = events[1].seconds_since(&events[0])?;
    let download_begin = Instant::now();
    let mut samples = output.download(gpu, clouds, choice.algorithm())?;
    statistics.seconds.download = download_begin.elapsed().as_secs_f64();
    if job.statistics {
        samples.iter_mut().for_each(|sample| sample.statistics = Some(statistics.clone()));
    }
    Ok(samples)
}

/// Bytes of device memory for clouds of one shape: input, result and scratch.
fn bytes<T: CudaScalar>(gpu: &Gpu, choice: Choice, shape: Shape) -> usize {
    let samples = shape.samples.min(shape.rows);
    let cloud = shape.rows * shape.dims * size_of::<T>() + (samples + 1) * (8 + size_of::<T>());
    (shape.clouds * cloud).saturating_add(choice.scratch_bytes::<T>(gpu, shape))
}

fn max_of<T: CudaScalar>(clouds: &[&Prepared<T>], size: fn(&Prepared<T>) -> usize) -> usize {
    clouds.iter().map(|cloud| size(cloud)).max().unwrap_or(0)
}

/// Returns the size of these clouds together.
pub fn shape<T: CudaScalar>(clouds: &[&Prepared<T>]) -> Shape {
    Shape {
        clouds: clouds.len(),
        rows: max_of(clouds, Prepared::points),
        dims: max_of(clouds, Prepared::dims),
        samples: max_of(clouds, Prepared::max_samples),
    }
}

/// The empty sample of a cloud with none requested.
fn empty_sample<T: CudaScalar>(
    gpu: &Gpu,
    job: &Sampler,
    algorithm: Algorithm,
    cloud: &Prepared<T>,
) -> Sample<T> {
    // Nothing covers no point, but any one sample would.
    let covering = if cloud.points() > 0 { T::INFINITY } else { T::ZERO };
    let ran_on = RanOn::Gpu { ordinal: gpu.ordinal() };
    let mut sample = Sample::new(Vec::new(), Vec::new(), covering, algorithm, ran_on);
    sample.dropped = cloud.dropped();
    sample.statistics = job.statistics.then(Statistics::default);
    sample
}

/// Returns the kernels' view of clouds in device memory, and of their results.
pub fn batch<T: CudaScalar>(
    clouds: &[&Prepared<T>],
    shape: Shape,
    input: &Input<T>,
    output: &Output<T>,
) -> Batch<T> {
    let stop = clouds.iter().find_map(|cloud| cloud.stop_radius());
    let [offsets, samples, slots, starts] = input.lists;
    Batch {
        points: input.points.pointer(),
        row_stride: 1,
        axis_stride: input.rows as i64,
        dims: shape.dims as u32,
        clouds: shape.clouds as u32,
        offsets,
        lengths: 0,
        rows: shape.rows as i64,
        samples,
        slots,
        wanted: shape.samples as i64,
        starts,
        start_count: input.start_count as u32,
        stop: stop.map_or_else(never, stop_at),
        indices: output.numbers.pointer() + 8 * shape.clouds as u64,
        values: output.values.pointer() + (size_of::<T>() * shape.clouds) as u64,
        covering: output.values.pointer(),
        chosen: output.numbers.pointer(),
    }
}

/// Clouds in device memory, one after another, axis by axis.
pub struct Input<T> {
    points: Buffer<T>,
    /// Rows of all clouds together.
    rows: usize,
    _lists: Buffer<i64>,
    /// Addresses of offsets, samples, slots and starts; 0 for those that are not needed.
    lists: [u64; 4],
    start_count: usize,
}

impl<T: CudaScalar> Input<T> {
    /// Uploads clouds.
    pub fn upload(stream: &Stream, clouds: &[&Prepared<T>], shape: Shape) -> Result<Self, Error> {
        let rows: usize = clouds.iter().map(|cloud| cloud.points()).sum();
        let points = input::upload(stream, clouds, shape.dims)?;
        let start_count = max_of(clouds, |cloud| cloud.starts().len());
        let lists = lists(clouds, start_count);
        let all = Buffer::upload(stream, &lists.concat(), "the lists of clouds")?;
        let lists = input::addresses(&all, &lists);
        Ok(Self { points, rows, _lists: all, lists, start_count })
    }

    fn bytes(&self) -> usize {
        self.points.len() * size_of::<T>() + self._lists.len() * 8
    }
}

impl<T: CudaScalar> Columns<T> for &Prepared<T> {
    fn points(&self) -> usize {
        Prepared::points(self)
    }
    fn dims(&self) -> usize {
        Prepared::dims(self)
    }
    fn axis(&self, axis: usize) -> &[T] {
        Prepared::axis(self, axis)
    }
}

/// Offsets, samples, slots and starts of the clouds; empty if all clouds have the same.
fn lists<T: CudaScalar>(clouds: &[&Prepared<T>], start_count: usize) -> [Vec<i64>; 4] {
    let same = |size: fn(&Prepared<T>) -> usize| clouds.iter().all(|c| size(c) == size(clouds[0]));
    let (mut offsets, mut samples, mut slots, mut starts) = (vec![], vec![], vec![], vec![]);
    if !same(Prepared::points) {
        offsets = sums(clouds.iter().map(|cloud| cloud.points()));
    }
    if !same(Prepared::max_samples) {
        samples = clouds.iter().map(|cloud| cloud.max_samples() as i64).collect();
        slots = sums(clouds.iter().map(|cloud| cloud.max_samples()));
    }
    if clouds.iter().any(|cloud| cloud.starts().iter().any(|&start| start != 0)) {
        for cloud in clouds {
            starts.extend(cloud.starts().iter().map(|&start| i64::from(start)));
            // A cloud with no sample requested has no starts.
            starts.resize(starts.len() + start_count - cloud.starts().len(), 0);
        }
    }
    [offsets, samples, slots, starts]
}

/// Device memory for the result.
pub struct Output<T> {
    /// Samples chosen per cloud, then the indices.
    numbers: Buffer<i64>,
    /// Covering radius per cloud, then the selection distances.
    values: Buffer<T>,
    /// Slot of each cloud's first sample.
    slots: Vec<usize>,
}

impl<T: CudaScalar> Output<T> {
    /// Allocates memory for the samples of these clouds.
    pub fn new(stream: &Stream, clouds: &[&Prepared<T>]) -> Result<Self, Error> {
        let slots: Vec<_> = sums(clouds.iter().map(|cloud| cloud.max_samples()))
            .into_iter()
            .map(|sum| sum as usize)
            .collect();
        let all = clouds.len() + slots[clouds.len()];
        let numbers = Buffer::new(stream, all, "the indices")?;
        let values = Buffer::new(stream, all, "the selection distances")?;
        Ok(Self { numbers, values, slots })
    }

    fn bytes(&self) -> usize {
        self.numbers.len() * 8 + self.values.len() * size_of::<T>()
    }

    /// Downloads the samples once the kernels are done.
    pub fn download(
        &self,
        gpu: &Gpu,
        clouds: &[&Prepared<T>],
        algorithm: Algorithm,
    ) -> Result<Vec<Sample<T>>, Error> {
        let chosen = self.numbers.download(clouds.len())?;
        let covering = self.values.download(clouds.len())?;
        let end = |b: usize| {
            // Never use a kernel's number as a size unchecked.
            let count = usize::try_from(chosen[b]).ok().filter(|&n| n <= clouds[b].max_samples());
            count
                .map(|n| self.slots[b] + n)
                .ok_or_else(|| invalid_result(algorithm.name(), chosen[b]))
        };
        let ends = (0..clouds.len()).map(end).collect::<Result<Vec<_>, _>>()?;
        // With a spacing there may be far fewer samples than slots.
        let max_end = ends.iter().copied().max().unwrap_or(0);
        let (mut indices, mut values) =
            (fallible::zeros(max_end), fallible::filled(max_end, T::ZERO));
        self.numbers.read(clouds.len(), &mut indices)?;
        self.values.read(clouds.len(), &mut values)?;
        let ran_on = RanOn::Gpu { ordinal: gpu.ordinal() };
        let sample = |(b, cloud): (usize, &&Prepared<T>)| {
            let slots = self.slots[b]..ends[b];
            let row = |&point: &i64| {
                let index = usize::try_from(point).ok().filter(|&point| point < cloud.points());
                index
                    .map(|point| cloud.row(point))
                    .ok_or_else(|| invalid_result(algorithm.name(), point))
            };
            let rows = fallible::try_collected(indices[slots.clone()].iter().map(row))?;
            let distances = fallible::collected(values[slots].iter().copied());
            let mut sample = Sample::new(rows, distances, covering[b], algorithm, ran_on);
            sample.starts = cloud.starts().len();
            sample.dropped = cloud.dropped();
            Ok(sample)
        };
        clouds.iter().enumerate().map(sample).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::can_share_launch;
    use farpoint::{Algorithm, Sampler, Start};

    #[test]
    fn compatible_jobs_share_a_launch() {
        let count = Sampler::count(5);
        assert!(can_share_launch(&count, &count));
        assert!(can_share_launch(&count, &Sampler::ratio(0.5).start(Start::Index(3))));
        assert!(can_share_launch(&Sampler::spacing(0.5), &Sampler::spacing(0.5)));
        assert!(!can_share_launch(&count, &Sampler::spacing(0.5)));
        assert!(!can_share_launch(&Sampler::spacing(0.4), &Sampler::spacing(0.5)));
        assert!(!can_share_launch(&count, &count.clone().algorithm(Algorithm::Naive)));
        assert!(!can_share_launch(&count, &count.clone().statistics(true)));
    }
}
