//! Searches of clouds in device memory: every layout, list and kind of result, indexes kept and reused, graphs,
//! nothing written outside the arrays.

use super::batches::{CloudKind, Side, Spec, balls, nearest};
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
    let kinds = Kind::ALL.map(|kind| Spec::of(CloudKind::Kind(kind), 1, [400, 1_300]));
    let self_search =
        Kind::ALL.map(|kind| Spec::of(CloudKind::Kind(kind), 1, [0, 900]).self_search());
    let together = self_search.iter().cloned().chain([
        Spec::of(CloudKind::Tied, 1, [0, 900]).self_search(),
        Spec::of(CloudKind::Bad, 1, [0, 900]).self_search(),
        Spec::lists([true; 2]).self_search(),
    ]);
    let together: Vec<_> = together.map(|spec| spec.times(8)).collect();
    let cloud_kinds = [
        CloudKind::Tied,
        CloudKind::Random,
        CloudKind::Crowded,
        CloudKind::Wide,
        CloudKind::Huge,
        CloudKind::Exponents,
    ]
    .into_iter()
    .chain([CloudKind::Bad])
    .map(|cloud_kind| Spec::of(cloud_kind, 2, [300, 700]));
    let mut lists: Vec<_> =
        [[false; 2], [true; 2], [true, false], [false, true]].map(Spec::lists).into();
    lists.push(Spec { layouts: [RowLayout::Gaps, RowLayout::Axes], ..Spec::lists([false; 2]) });
    lists.push(Spec { layouts: [RowLayout::Axes; 2], ..Spec::lists([true; 2]) });
    lists.push(Spec::lists([true; 2]).self_search());
    lists.push(Spec::of(CloudKind::Bad, 3, [0, 500]).self_search());
    let small = [[1, 1], [1, 33], [32, 1], [33, 32], [64, 65], [5, 3]]
        .map(|rows| Spec::of(CloudKind::Kind(Kind::Room), 2, rows));
    let axes = |dims: usize| {
        [CloudKind::Tied, CloudKind::Random, CloudKind::Crowded]
            .map(|cloud_kind| Spec { dims, ..Spec::of(cloud_kind, 2, [200, 500]) })
    };
    let mut groups = Vec::new();
    for (name, specs, radius) in [
        ("kinds", kinds.to_vec(), 0.4),
        ("itself", self_search.to_vec(), 0.4),
        ("looks", cloud_kinds.collect(), 0.3),
        ("lists", lists, 0.5),
        ("small", small.to_vec(), 2.0),
    ] {
        groups.push(group::<f32>(name, METHODS, specs.clone(), radius));
        groups.push(group::<f64>(name, METHODS, specs, radius));
    }
    for dims in [1, 2, 4, 5, 9] {
        let name = format!("{dims} axes");
        groups.push(group::<f32>(&name, METHODS, axes(dims).to_vec(), 0.35));
        groups.push(group::<f64>(&name, METHODS, axes(dims).to_vec(), 0.35));
    }
    let large = [
        Spec::of(CloudKind::Kind(Kind::Lidar), 1, [0, 30_000]).self_search(),
        Spec::of(CloudKind::Kind(Kind::Room), 4, [2_000, 9_000]),
        Spec::of(CloudKind::Crowded, 1, [0, 30_000]).self_search(),
        Spec::of(CloudKind::Kind(Kind::Equal), 1, [0, 30_000]).self_search(),
    ];
    groups.push(group::<f32>("together", &["tree"], together, 0.4));
    groups.push(group::<f32>("large", &["tree", "auto"], large.to_vec(), 0.3));
    if !quick {
        groups.push(group::<f64>("large", &["tree"], large.to_vec(), 0.3));
    }
    groups
}

/// For the sanitizer and older cards.
pub(super) fn small() -> Vec<Group> {
    let specs = vec![
        Spec::of(CloudKind::Tied, 2, [40, 130]),
        Spec { dims: 5, ..Spec::of(CloudKind::Random, 1, [33, 300]) },
        Spec::lists([true, false]),
        Spec::of(CloudKind::Kind(Kind::Room), 1, [0, 1_500]).self_search(),
    ];
    let together = vec![Spec::of(CloudKind::Tied, 1, [0, 900]).self_search().times(8)];
    vec![
        group::<f32>("few", METHODS, specs.clone(), 0.4),
        group::<f64>("few", METHODS, specs, 0.4),
        group::<f32>("few together", &["tree"], together, 0.4),
    ]
}

fn group<T: CudaScalar>(
    name: &str,
    parts: &'static [&'static str],
    specs: Vec<Spec>,
    radius: f64,
) -> Group {
    Group::new(format!("search {name} {}", T::SUFFIX), parts, move || {
        let mut cases = Vec::new();
        for spec in specs {
            let jobs = nearest().into_iter().chain(balls(radius));
            cases.push(Case::<T>::new(spec, jobs.collect())?);
        }
        Ok(move |device: &Gpu, part: &str, tally: &mut Tally| {
            cases.iter().try_for_each(|case| case.compare(device, part, tally))
        })
    })
}

/// A batch, and the CPU's results for each job, with indices within the cloud and within the batch.
struct Case<T> {
    spec: Spec,
    clouds: [Vec<Cloud<T>>; 2],
    jobs: Vec<(String, Searcher, bool, Expected<T>)>,
}

impl<T: CudaScalar> Case<T> {
    fn new(spec: Spec, jobs: Vec<(&'static str, Searcher)>) -> Result<Self> {
        let clouds = [spec.clouds(0), spec.clouds(1)];
        let case_of = |(number, (name, job)): (usize, (&str, Searcher))| {
            let whole = number % 3 == 1;
            let truth = Expected::of(&spec, [&clouds[0], &clouds[1]], &job, whole)?;
            Ok((format!("{name}, k {}, {}", job.k, spec.name), job, whole, truth))
        };
        let jobs = jobs.into_iter().enumerate().map(case_of).collect::<Result<_>>()?;
        Ok(Self { spec, clouds, jobs })
    }

    fn compare(&self, device: &Gpu, part: &str, tally: &mut Tally) -> Result<()> {
        let stream = Stream::new(device)?;
        let mut x = Side::new(&stream, &self.spec, 0, &self.clouds[0])?;
        let mut y = Side::new(&stream, &self.spec, 1, &self.clouds[1])?;
        if self.spec.self_search {
            x.clouds = y.clouds;
        }
        let indexes =
            [self.index(device, &stream, &x.clouds)?, self.index(device, &stream, &y.clouds)?];
        for (number, (name, job, whole, truth)) in self.jobs.iter().enumerate() {
            let job = job.clone().method(method(part));
            // Every other search reuses the index of `y` that was built once, and every other two that of `x`.
            let kept = [number % 4 >= 2, number % 2 == 1].map(|kept| kept && part == "tree");
            let [of_x, of_y] = indexes.each_ref().map(|index| (index.pointer(), index.len()));
            x.clouds.index = (kept[0] && !self.spec.self_search).then_some(of_x);
            y.clouds.index = kept[1].then_some(of_y);
            let (x, y) = (x.clouds, y.clouds);
            let request = DeviceSearch::<T> {
                narrow: number % 4 >= 2,
                whole: *whole,
                ..DeviceSearch::new(x, y, self.spec.lengths[0].len(), self.spec.dims)
            };
            let run = Run { device, stream: &stream, job, request, truth, number };
            let result = if number % 4 >= 2 { run.compare::<i32>() } else { run.compare::<i64>() };
            if let Some(same) = tally.take(name, result) {
                tally.check(name, same);
            }
        }
        anyhow::ensure!(x.lists() + y.lists() > 0, "lists are kept until here");
        Ok(())
    }

    fn index(&self, device: &Gpu, stream: &Stream, side: &DeviceClouds) -> Result<Buffer<u8>> {
        let clouds = self.spec.lengths[0].len();
        let bytes = device.index_bytes::<T>(clouds, side.rows);
        let memory = Buffer::<u8>::new(stream, bytes, "index")?;
        let device_clouds = DeviceClouds { index: Some((memory.pointer(), memory.len())), ..*side };
        // SAFETY: the clouds lie in buffers that outlive the stream's work.
        unsafe {
            device.enqueue_index(
                stream,
                &DeviceIndex::<T>::new(device_clouds, clouds, self.spec.dims),
            )?
        };
        stream.synchronize()?;
        Ok(memory)
    }
}

/// Integer type in which indices are stored.
pub(super) trait IndexType: farpoint_cuda::Element + PartialEq + Into<i64> {}
impl IndexType for i32 {}
impl IndexType for i64 {}

/// One search.
struct Run<'a, T> {
    device: &'a Gpu,
    stream: &'a Stream,
    job: Searcher,
    request: DeviceSearch<T>,
    truth: &'a Expected<T>,
    number: usize,
}

impl<T: CudaScalar> Run<'_, T> {
    fn compare<I: IndexType>(&self) -> Result<Result<(), String>, Error> {
        let (stream, truth, k) = (self.stream, self.truth, self.job.k);
        let distances = Guarded::<T>::new(stream, truth.distances.len())?;
        let indices = Guarded::<I>::new(stream, truth.indices.len())?;
        let counts = Guarded::<I>::new(stream, truth.counts.len())?;
        let bytes = self.device.search_scratch_bytes(&self.job, &self.request);
        let provided = !self.number.is_multiple_of(3);
        let scratch = Guarded::<u8>::new(stream, if provided { bytes } else { 0 })?;
        let requested = (self.number % 5 != 4, self.number % 7 != 6);
        let mut request = self.request.outputs(
            requested.0.then(|| distances.pointer()),
            Some(indices.pointer()),
            requested.1.then(|| counts.pointer()),
        );
        request.scratch = provided.then_some((scratch.pointer(), bytes));
        // SAFETY: the arrays have the sizes given and outlive the stream's work.
        let enqueue = || unsafe { self.device.enqueue_search(&self.job, stream, &request) };
        enqueue()?;
        stream.synchronize()?;
        if self.number % 6 == 5 && provided {
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
            if requested.0 {
                let found = distances.read("distances")?;
                result = result.and_then(|()| same(&found, &truth.distances, k));
            }
            if requested.1 {
                let found = wide(counts.read("counts")?);
                result = result.and_then(|()| same_indices(&found, &truth.counts, 1));
            }
            Ok(result)
        };
        Ok(read().unwrap_or_else(|error| Err(format!("{error:#}"))))
    }
}
