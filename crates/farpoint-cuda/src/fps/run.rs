//! The host path: check, upload, launch, download, translate.

use super::algorithm::Choice;
use super::batch::{Batch, Shape, never, stop_at};
use super::{Sample, Sampler};
use crate::input::{self, Columns, impossible, sums};
use crate::memory::Buffer;
use crate::{CudaScalar, Error, Event, Gpu, Points, Statistics, Stream};
use farpoint::fps::Prepared;
use std::time::Instant;

/// One cloud.
pub(super) fn one<T: CudaScalar, P: Points<T> + ?Sized>(
    sampler: &Sampler,
    device: &Gpu,
    points: &P,
) -> Result<Sample<T>, Error> {
    let begin = Instant::now();
    let clouds = [Prepared::new(&sampler.on_host()?, points)?];
    let mut samples = on_device(sampler, device, &clouds, begin)?;
    Ok(samples.pop().expect("one cloud, one sample"))
}

/// Many clouds on one device or several.
pub(super) fn many<T: CudaScalar, P: Points<T>>(
    sampler: &Sampler,
    devices: &[Gpu],
    clouds: &[P],
) -> Result<Vec<Sample<T>>, Error> {
    let begin = Instant::now();
    let clouds = Prepared::batch(&sampler.on_host()?, clouds)?;
    match devices {
        [] => Err(Error::Unsupported("no device was given".into())),
        [device] => on_device(sampler, device, &clouds, begin),
        devices => super::across::run(sampler, devices, &clouds, begin),
    }
}

/// Samples prepared clouds by one launch.
pub(super) fn on_device<T: CudaScalar>(
    sampler: &Sampler,
    device: &Gpu,
    clouds: &[Prepared<T>],
    begin: Instant,
) -> Result<Vec<Sample<T>>, Error> {
    let shape = shape(clouds);
    input::check_rows(shape.rows)?;
    let choice = sampler.choice().resolve(device, shape, size_of::<T>());
    if shape.wanted == 0 {
        return Ok(clouds.iter().map(|cloud| nothing(sampler, &choice, cloud)).collect());
    }
    let stream = Stream::new(device)?;
    let input = Input::upload(&stream, clouds, shape)?;
    let answer = Answer::new(&stream, clouds)?;
    let batch = batch(clouds, shape, &input, &answer);
    let mut statistics = Statistics {
        upload_seconds: begin.elapsed().as_secs_f64(),
        input_bytes: input.bytes(),
        answer_bytes: answer.bytes(),
        scratch_bytes: choice.scratch_bytes::<T>(device, shape),
        ..Statistics::default()
    };
    let names = if sampler.statistics { choice.counters() } else { &[] };
    let mut counters = Buffer::<u64>::new(&stream, names.len(), "the counters")?;
    counters.fill(0)?;
    let counted = if names.is_empty() { 0 } else { counters.pointer() };
    let events = [Event::new(device)?, Event::new(device)?];
    events[0].record(&stream)?;
    // SAFETY: the buffers have the sizes that the batch tells, and are freed in stream order.
    unsafe { choice.enqueue(device, &stream, &batch, shape, None, counted)? };
    events[1].record(&stream)?;
    stream.wait(choice.algorithm.name())?;
    statistics.counts =
        std::iter::zip(names.iter().copied(), counters.download(names.len())?).collect();
    statistics.seconds = events[1].seconds_since(&events[0])?;
    let fetch = Instant::now();
    let mut samples = answer.download(clouds, &choice)?;
    statistics.download_seconds = fetch.elapsed().as_secs_f64();
    if sampler.statistics {
        samples.iter_mut().for_each(|sample| sample.statistics = Some(statistics.clone()));
    }
    Ok(samples)
}

fn shape<T: CudaScalar>(clouds: &[Prepared<T>]) -> Shape {
    let most = |of: fn(&Prepared<T>) -> usize| clouds.iter().map(of).max().unwrap_or(0);
    Shape {
        clouds: clouds.len(),
        rows: most(Prepared::points),
        dims: most(Prepared::dims),
        wanted: most(Prepared::wanted),
    }
}

/// The sample of a cloud that nothing is asked of.
fn nothing<T: CudaScalar>(sampler: &Sampler, choice: &Choice, cloud: &Prepared<T>) -> Sample<T> {
    Sample {
        indices: Vec::new(),
        squared_distances: Vec::new(),
        // Nothing covers no point, but any one sample would.
        squared_covering_radius: if cloud.points() > 0 { T::INFINITY } else { T::ZERO },
        algorithm: choice.algorithm,
        dropped: cloud.dropped(),
        statistics: sampler.statistics.then(Statistics::default),
    }
}

fn batch<T: CudaScalar>(
    clouds: &[Prepared<T>],
    shape: Shape,
    input: &Input<T>,
    answer: &Answer<T>,
) -> Batch<T> {
    let stop = clouds.iter().find_map(Prepared::stop_radius);
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
        wanted: shape.wanted as i64,
        starts,
        start_count: input.start_count as u32,
        stop: stop.map_or_else(never, stop_at),
        indices: answer.numbers.pointer() + 8 * shape.clouds as u64,
        values: answer.values.pointer() + (size_of::<T>() * shape.clouds) as u64,
        covering: answer.values.pointer(),
        chosen: answer.numbers.pointer(),
    }
}

/// The clouds in device memory, one after another, axis by axis.
struct Input<T> {
    points: Buffer<T>,
    /// Rows of all clouds together.
    rows: usize,
    _lists: Buffer<i64>,
    /// Addresses of offsets, samples, slots and starts, 0 for those that are not needed.
    lists: [u64; 4],
    start_count: usize,
}

impl<T: CudaScalar> Input<T> {
    fn upload(stream: &Stream, clouds: &[Prepared<T>], shape: Shape) -> Result<Self, Error> {
        let rows: usize = clouds.iter().map(Prepared::points).sum();
        let points = input::upload(stream, clouds, shape.dims)?;
        let start_count = clouds.iter().map(|cloud| cloud.starts().len()).max().unwrap_or(0);
        let lists = lists(clouds, start_count);
        let all = Buffer::upload(stream, &lists.concat(), "the lists of clouds")?;
        let lists = input::addresses(&all, &lists);
        Ok(Self { points, rows, _lists: all, lists, start_count })
    }

    fn bytes(&self) -> usize {
        self.points.len() * size_of::<T>() + self._lists.len() * 8
    }
}

impl<T: CudaScalar> Columns<T> for Prepared<T> {
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

/// Offsets, samples, slots and starts of the clouds, empty where what is the same for all
/// clouds says it.
fn lists<T: CudaScalar>(clouds: &[Prepared<T>], start_count: usize) -> [Vec<i64>; 4] {
    let same = |of: fn(&Prepared<T>) -> usize| clouds.iter().all(|c| of(c) == of(&clouds[0]));
    let (mut offsets, mut samples, mut slots, mut starts) = (vec![], vec![], vec![], vec![]);
    if !same(Prepared::points) {
        offsets = sums(clouds.iter().map(Prepared::points));
    }
    if !same(Prepared::wanted) {
        samples = clouds.iter().map(|cloud| cloud.wanted() as i64).collect();
        slots = sums(clouds.iter().map(Prepared::wanted));
    }
    if clouds.iter().any(|cloud| cloud.starts().iter().any(|&start| start != 0)) {
        for cloud in clouds {
            starts.extend(cloud.starts().iter().map(|&start| i64::from(start)));
            // A cloud that nothing is asked of has none.
            starts.resize(starts.len() + start_count - cloud.starts().len(), 0);
        }
    }
    [offsets, samples, slots, starts]
}

/// Device memory for the answer.
struct Answer<T> {
    /// Samples chosen a cloud, then the indices.
    numbers: Buffer<i64>,
    /// Covering radius a cloud, then the selection distances.
    values: Buffer<T>,
    /// Slot of each cloud's first sample.
    slots: Vec<usize>,
}

impl<T: CudaScalar> Answer<T> {
    fn new(stream: &Stream, clouds: &[Prepared<T>]) -> Result<Self, Error> {
        let slots: Vec<_> =
            sums(clouds.iter().map(Prepared::wanted)).into_iter().map(|sum| sum as usize).collect();
        let all = clouds.len() + slots[clouds.len()];
        let numbers = Buffer::new(stream, all, "the indices")?;
        let values = Buffer::new(stream, all, "the selection distances")?;
        Ok(Self { numbers, values, slots })
    }

    fn bytes(&self) -> usize {
        self.numbers.len() * 8 + self.values.len() * size_of::<T>()
    }

    /// Fetches the samples. The stream has come past the kernels.
    fn download(&self, clouds: &[Prepared<T>], choice: &Choice) -> Result<Vec<Sample<T>>, Error> {
        let chosen = self.numbers.download(clouds.len())?;
        let covering = self.values.download(clouds.len())?;
        let end = |b: usize| {
            // Never trust a kernel's number with memory.
            let taken = usize::try_from(chosen[b]).ok().filter(|&n| n <= clouds[b].wanted());
            taken
                .map(|n| self.slots[b] + n)
                .ok_or_else(|| impossible(choice.algorithm.name(), chosen[b]))
        };
        let ends = (0..clouds.len()).map(end).collect::<Result<Vec<_>, _>>()?;
        // With a spacing there may be far fewer samples than slots.
        let used = ends.iter().copied().max().unwrap_or(0);
        let (mut indices, mut values) = (vec![0; used], vec![T::ZERO; used]);
        self.numbers.read(clouds.len(), &mut indices)?;
        self.values.read(clouds.len(), &mut values)?;
        let sample = |(b, cloud): (usize, &Prepared<T>)| {
            let slots = self.slots[b]..ends[b];
            let row = |&point: &i64| {
                let fits = usize::try_from(point).ok().filter(|&point| point < cloud.points());
                fits.map(|point| cloud.row(point))
                    .ok_or_else(|| impossible(choice.algorithm.name(), point))
            };
            Ok(Sample {
                indices: indices[slots.clone()].iter().map(row).collect::<Result<_, _>>()?,
                squared_distances: values[slots].to_vec(),
                squared_covering_radius: covering[b],
                algorithm: choice.algorithm,
                dropped: cloud.dropped(),
                statistics: None,
            })
        };
        clouds.iter().enumerate().map(sample).collect()
    }
}
