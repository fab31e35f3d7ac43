//! Searches of clouds in device memory: every layout, list and kind of result, indexes kept and reused, graphs,
//! nothing written outside the arrays.

use super::asks::{Ask, Look, Side, balls, nearest};
use super::expected::{Expected, same, same_indices};
use super::{METHODS, method};
use crate::clouds::Cloud;
use crate::guarded::Guarded;
use crate::pointers::RowLayout;
use crate::runner::Group;
use crate::tally::Tally;
use anyhow::Result;
use farpoint::Searcher;
use farpoint_cuda::{
    Buffer, CudaScalar, DeviceClouds, DeviceIndex, DeviceSearch, Error, Gpu, Stream,
};
use farpoint_generate::Kind;

pub(super) fn groups(quick: bool) -> Vec<Group> {
    let kinds = Kind::ALL.map(|kind| Ask::of(Look::Kind(kind), 1, [400, 1_300]));
    let own = Kind::ALL.map(|kind| Ask::of(Look::Kind(kind), 1, [0, 900]).own());
    let looks = [Look::Tied, Look::Random, Look::Crowded, Look::Wide, Look::Huge, Look::Exponents]
        .into_iter()
        .chain([Look::Bad])
        .map(|look| Ask::of(look, 2, [300, 700]));
    let mut lists: Vec<_> =
        [[false; 2], [true; 2], [true, false], [false, true]].map(Ask::lists).into();
    lists.push(Ask { layouts: [RowLayout::Gaps, RowLayout::Axes], ..Ask::lists([false; 2]) });
    lists.push(Ask { layouts: [RowLayout::Axes; 2], ..Ask::lists([true; 2]) });
    lists.push(Ask::lists([true; 2]).own());
    lists.push(Ask::of(Look::Bad, 3, [0, 500]).own());
    let small = [[1, 1], [1, 33], [32, 1], [33, 32], [64, 65], [5, 3]]
        .map(|rows| Ask::of(Look::Kind(Kind::Room), 2, rows));
    let axes = |dims: usize| {
        [Look::Tied, Look::Random, Look::Crowded]
            .map(|look| Ask { dims, ..Ask::of(look, 2, [200, 500]) })
    };
    let mut groups = Vec::new();
    for (name, asks, radius) in [
        ("kinds", kinds.to_vec(), 0.4),
        ("itself", own.to_vec(), 0.4),
        ("looks", looks.collect(), 0.3),
        ("lists", lists, 0.5),
        ("small", small.to_vec(), 2.0),
    ] {
        groups.push(group::<f32>(name, METHODS, asks.clone(), radius));
        groups.push(group::<f64>(name, METHODS, asks, radius));
    }
    for dims in [1, 2, 4, 5, 9] {
        let name = format!("{dims} axes");
        groups.push(group::<f32>(&name, METHODS, axes(dims).to_vec(), 0.35));
        groups.push(group::<f64>(&name, METHODS, axes(dims).to_vec(), 0.35));
    }
    let large = [
        Ask::of(Look::Kind(Kind::Lidar), 1, [0, 30_000]).own(),
        Ask::of(Look::Kind(Kind::Room), 3, [2_000, 9_000]),
        Ask::of(Look::Crowded, 1, [0, 30_000]).own(),
        Ask::of(Look::Kind(Kind::Equal), 1, [0, 30_000]).own(),
    ];
    groups.push(group::<f32>("large", &["tree", "auto"], large.to_vec(), 0.3));
    if !quick {
        groups.push(group::<f64>("large", &["tree"], large.to_vec(), 0.3));
    }
    groups
}

/// For the sanitizer and older cards.
pub(super) fn small() -> Vec<Group> {
    let asks = vec![
        Ask::of(Look::Tied, 2, [40, 130]),
        Ask { dims: 5, ..Ask::of(Look::Random, 1, [33, 300]) },
        Ask::lists([true, false]),
        Ask::of(Look::Kind(Kind::Room), 1, [0, 1_500]).own(),
    ];
    vec![group::<f32>("few", METHODS, asks.clone(), 0.4), group::<f64>("few", METHODS, asks, 0.4)]
}

fn group<T: CudaScalar>(
    name: &str,
    parts: &'static [&'static str],
    asks: Vec<Ask>,
    radius: f64,
) -> Group {
    Group::new(format!("search {name} {}", T::SUFFIX), parts, move || {
        let mut cases = Vec::new();
        for ask in asks {
            let jobs = nearest().into_iter().chain(balls(radius));
            cases.push(Case::<T>::new(ask, jobs.collect())?);
        }
        Ok(move |device: &Gpu, part: &str, tally: &mut Tally| {
            cases.iter().try_for_each(|case| case.compare(device, part, tally))
        })
    })
}

/// A batch, and the CPU's results for each job, with and without indices of the whole.
struct Case<T> {
    ask: Ask,
    clouds: [Vec<Cloud<T>>; 2],
    jobs: Vec<(String, Searcher, bool, Expected<T>)>,
}

impl<T: CudaScalar> Case<T> {
    fn new(ask: Ask, jobs: Vec<(&'static str, Searcher)>) -> Result<Self> {
        let clouds = [ask.clouds(0), ask.clouds(1)];
        let of = |(at, (name, job)): (usize, (&str, Searcher))| {
            let whole = at % 3 == 1;
            let truth = Expected::of(&ask, [&clouds[0], &clouds[1]], &job, whole)?;
            Ok((format!("{name}, k {}, {}", job.k, ask.name), job, whole, truth))
        };
        let jobs = jobs.into_iter().enumerate().map(of).collect::<Result<_>>()?;
        Ok(Self { ask, clouds, jobs })
    }

    fn compare(&self, device: &Gpu, part: &str, tally: &mut Tally) -> Result<()> {
        let stream = Stream::new(device)?;
        let mut x = Side::new(&stream, &self.ask, 0, &self.clouds[0])?;
        let mut y = Side::new(&stream, &self.ask, 1, &self.clouds[1])?;
        if self.ask.own {
            x.clouds = y.clouds;
        }
        let index = self.index(device, &stream, &y.clouds)?;
        for (at, (name, job, whole, truth)) in self.jobs.iter().enumerate() {
            let job = job.clone().method(method(part));
            // Every other search reuses the index that was built once.
            let kept = part == "tree" && at % 2 == 1;
            y.clouds.index = kept.then(|| (index.pointer(), index.len()));
            let (x, y) = (x.clouds, y.clouds);
            let wanted = DeviceSearch::<T> {
                narrow: at % 4 >= 2,
                whole: *whole,
                ..DeviceSearch::new(x, y, self.ask.lengths[0].len(), self.ask.dims)
            };
            let run = Run { device, stream: &stream, job, wanted, truth, at };
            let result = if at % 4 >= 2 { run.compare::<i32>() } else { run.compare::<i64>() };
            if let Some(same) = tally.take(name, result) {
                tally.check(name, same);
            }
        }
        anyhow::ensure!(x.lists() + y.lists() > 0, "lists are kept until here");
        Ok(())
    }

    fn index(&self, device: &Gpu, stream: &Stream, y: &DeviceClouds) -> Result<Buffer<u8>> {
        let clouds = self.ask.lengths[1].len();
        let memory = Buffer::<u8>::new(stream, device.index_bytes::<T>(clouds, y.rows), "index")?;
        let of = DeviceClouds { index: Some((memory.pointer(), memory.len())), ..*y };
        // SAFETY: the clouds lie in buffers that outlive the stream's work.
        unsafe { device.enqueue_index(stream, &DeviceIndex::<T>::new(of, clouds, self.ask.dims))? };
        stream.synchronize()?;
        Ok(memory)
    }
}

/// Integer type in which indices are stored.
pub(super) trait Stored: farpoint_cuda::Element + PartialEq + Into<i64> {}
impl Stored for i32 {}
impl Stored for i64 {}

/// One search.
struct Run<'a, T> {
    device: &'a Gpu,
    stream: &'a Stream,
    job: Searcher,
    wanted: DeviceSearch<T>,
    truth: &'a Expected<T>,
    at: usize,
}

impl<T: CudaScalar> Run<'_, T> {
    fn compare<I: Stored>(&self) -> Result<Result<(), String>, Error> {
        let (stream, truth, k) = (self.stream, self.truth, self.job.k);
        let distances = Guarded::<T>::new(stream, truth.distances.len())?;
        let indices = Guarded::<I>::new(stream, truth.indices.len())?;
        let counts = Guarded::<I>::new(stream, truth.counts.len())?;
        let bytes = self.device.search_scratch_bytes(&self.job, &self.wanted);
        let given = !self.at.is_multiple_of(3);
        let scratch = Guarded::<u8>::new(stream, if given { bytes } else { 0 })?;
        let asked = (self.at % 5 != 4, self.at % 7 != 6);
        let mut wanted = self.wanted.answers(
            asked.0.then(|| distances.pointer()),
            Some(indices.pointer()),
            asked.1.then(|| counts.pointer()),
        );
        wanted.scratch = given.then_some((scratch.pointer(), bytes));
        // SAFETY: the arrays have the sizes given and outlive the stream's work.
        let enqueue = || unsafe { self.device.enqueue_search(&self.job, stream, &wanted) };
        enqueue()?;
        stream.synchronize()?;
        if self.at % 6 == 5 && given {
            let captured = stream.capture(enqueue);
            // Older drivers can't capture a cooperative launch.
            if let Ok(graph) = captured {
                // SAFETY: as above.
                unsafe { graph.launch(stream)? };
                stream.synchronize()?;
            }
        }
        let read = || -> Result<Result<(), String>> {
            scratch.read("scratch memory")?;
            let wide = |numbers: Vec<I>| numbers.into_iter().map(Into::into).collect::<Vec<i64>>();
            let found = wide(indices.read("indices")?);
            let mut result = same_indices(&found, &truth.indices, k);
            if asked.0 {
                let found = distances.read("distances")?;
                result = result.and_then(|()| same(&found, &truth.distances, k));
            }
            if asked.1 {
                let found = wide(counts.read("counts")?);
                result = result.and_then(|()| same_indices(&found, &truth.counts, 1));
            }
            Ok(result)
        };
        Ok(read().unwrap_or_else(|error| Err(format!("{error:#}"))))
    }
}
