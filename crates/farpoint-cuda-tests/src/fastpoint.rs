//! FastPoint on a GPU gives what the CPU gives, which is its definition: indices, radii and all that is told of them.

use crate::clouds::{Cloud, any_exponent};
use crate::guarded::Guarded;
use crate::pointers::{Layout, laid_out};
use crate::runner::Group;
use crate::tally::Tally;
use anyhow::{Result, ensure};
use farpoint::approximate::{Estimator, Method};
use farpoint::{Algorithm, ApproximateSample, ApproximateSampler, Points, Start};
use farpoint_cuda::{
    Buffer, CudaScalar, DeviceApproximate, DeviceBatch, DeviceClouds, DeviceIndex, Error, Gpu,
    Stream,
};
use farpoint_generate::Kind;
use std::time::Duration;

/// The one part of these groups.
const PART: &[&str] = &["fastpoint"];

pub(crate) fn groups(quick: bool) -> Vec<Group> {
    let mut groups = Vec::new();
    for kind in Kind::ALL {
        groups.push(of_host::<f32>(kind, &[320, 1_025, 5_000]));
        groups.push(of_host::<f64>(kind, &[3_000]));
    }
    for kind in [Kind::Room, Kind::Lidar, Kind::Lattice, Kind::Duplicated] {
        groups.push(of_host::<f32>(kind, if quick { &[30_000] } else { &[30_000, 300_000] }));
    }
    groups.extend([options::<f32>(), options::<f64>(), edges(), orders()]);
    groups.extend([pointers::<f32>(), pointers::<f64>(), graphs(), gives_up()]);
    groups
}

/// For the sanitizer.
pub(crate) fn small() -> Vec<Group> {
    vec![of_host::<f32>(Kind::Room, &[700]), pointers::<f32>()]
}

fn job(count: usize) -> ApproximateSampler {
    with(count, Algorithm::Auto, Estimator::Network)
}

fn with(count: usize, first: Algorithm, estimator: Estimator) -> ApproximateSampler {
    ApproximateSampler::count(Method::FastPoint { first, estimator }, count)
}

/// A job on a cloud, and what the CPU makes of it.
struct Case<T> {
    name: String,
    cloud: Cloud<T>,
    job: ApproximateSampler,
    truth: ApproximateSample,
}

impl<T: CudaScalar> Case<T> {
    fn new(name: impl Into<String>, cloud: Cloud<T>, job: ApproximateSampler) -> Result<Self> {
        let truth = job.sample(&cloud)?;
        Ok(Self { name: name.into(), cloud, job, truth })
    }

    fn compare(&self, device: &Gpu, tally: &mut Tally) {
        let found = self.job.on(device).sample(&self.cloud);
        let Some(found) = tally.take(&self.name, found) else { return };
        tally.check(&self.name, same(&found, &self.truth));
    }
}

fn same(found: &ApproximateSample, truth: &ApproximateSample) -> Result<(), String> {
    let at = std::iter::zip(&found.indices, &truth.indices).position(|(a, b)| a != b);
    if let Some(at) = at {
        let (a, b) = (found.indices[at], truth.indices[at]);
        return Err(format!(
            "sample {at} is {a}, not {b}; {:?}, not {:?}",
            found.details, truth.details
        ));
    }
    match (found.len() == truth.len(), found.details == truth.details) {
        (true, true) => Ok(()),
        _ => Err(format!("{} samples, {:?}, not {:?}", found.len(), found.details, truth.details)),
    }
}

fn group<T: CudaScalar>(
    name: String,
    cases: impl FnOnce() -> Result<Vec<Case<T>>> + Send + 'static,
) -> Group {
    Group::new(name, PART, move || {
        let cases = cases()?;
        Ok(move |device: &Gpu, _: &str, tally: &mut Tally| {
            cases.iter().for_each(|case| case.compare(device, tally));
            Ok(())
        })
    })
}

/// A kind of cloud, from a sixteenth of its points up to all.
fn of_host<T: CudaScalar>(kind: Kind, sizes: &'static [usize]) -> Group {
    let name = format!("fastpoint, {kind} {}, n <= {}", T::SUFFIX, sizes[sizes.len() - 1]);
    group::<T>(name, move || {
        let mut cases = Vec::new();
        for &n in sizes {
            let cloud = Cloud::<T>::of(kind, n, 7);
            let counts: &[usize] =
                if n > 30_000 { &[n / 4] } else { &[1, 310, 311, n / 16, n / 4, n / 2, n] };
            for &count in counts.iter().filter(|&&count| count <= n) {
                for estimator in [Estimator::Network, Estimator::Fit] {
                    let name = format!("{n} -> {count}, {estimator:?}");
                    cases.push(Case::new(
                        name,
                        cloud.clone(),
                        with(count, Algorithm::Auto, estimator),
                    )?);
                }
            }
        }
        Ok(cases)
    })
}

/// Starts, first stages, and numbers of axes.
fn options<T: CudaScalar>() -> Group {
    group::<T>(format!("fastpoint, options {}", T::SUFFIX), || {
        let mut cases = Vec::new();
        let cloud = Cloud::<T>::of(Kind::Room, 4_000, 3);
        let many: Vec<usize> = (0..300).map(|k| k * 13 + 5).collect();
        let crowded: Vec<usize> = (1_000..1_950).collect();
        let starts = [
            Start::Index(3_999),
            Start::Random(5),
            Start::Indices(vec![0]),
            Start::Indices(vec![7, 0, 3_000]),
            Start::Indices(many),
            Start::Indices(crowded),
        ];
        for start in starts {
            for count in [950, 1_000, 2_000] {
                let name = format!("-> {count}, {:.40}", format!("{start:?}"));
                cases.push(Case::new(name, cloud.clone(), job(count).start(start.clone()))?);
            }
        }
        let truth = job(1_000).sample(&cloud)?;
        for first in ["naive", "radius", "peak", "persistent", "quick"] {
            let job = with(1_000, first.parse()?, Estimator::Network);
            let (name, cloud) = (format!("first stage {first}"), cloud.clone());
            // The CPU does not have all of them.
            cases.push(Case { name, cloud, job, truth: truth.clone() });
        }
        for dims in [1, 2, 4, 7] {
            for tied in [None, Some(9)] {
                let cloud = Cloud::<T>::random(2_500, dims, tied, 8);
                for count in [400, 1_200] {
                    let name = format!("{dims} axes, tied {tied:?}, -> {count}");
                    cases.push(Case::new(name, cloud.clone(), job(count))?);
                }
            }
        }
        Ok(cases)
    })
}

/// Numbers at the edges of what floating point holds, where radii vanish or overflow.
fn edges() -> Group {
    group::<f32>("fastpoint, edges f32".into(), || {
        let mut cases = Vec::new();
        for scale in [1e-45, 1e-38, 1e-23, 1e-19, 1e15, 1e18, 1e19, 3e37] {
            for tied in [None, Some(7)] {
                let cloud = Cloud::<f32>::random(2_000, 3, tied, 5).times(10.0).times(scale);
                let name = format!("times {scale:e}, tied {tied:?}");
                cases.push(Case::new(name, cloud, job(700))?);
            }
        }
        for (low, high) in [(60, 66), (-149, 127), (-149, -120), (-75, -60)] {
            let cloud = any_exponent::<f32>(2_000, low, high, 6);
            cases.push(Case::new(format!("2^{low}..2^{high}"), cloud, job(500))?);
        }
        let same = Cloud { data: vec![0.25f32; 3 * 2_000], dims: 3 };
        cases.push(Case::new("one place", same, job(500))?);
        let line =
            Cloud { data: (0..20_000).flat_map(|i| [i as f32, 0.0, 0.0]).collect(), dims: 3 };
        cases.push(Case::new("a line", line, job(5_000))?);
        let mut far = Cloud::<f32>::of(Kind::Room, 5_000, 2);
        far.data[0] = 1e6;
        cases.push(Case::new("a stray point", far, job(1_250))?);
        Ok(cases)
    })
}

/// Rows in other orders: what depends on whom is another matter in each.
fn orders() -> Group {
    group::<f32>("fastpoint, orders f32".into(), || {
        let mut cases = Vec::new();
        let cloud = Cloud::<f32>::of(Kind::Lidar, 20_000, 4);
        let mut rows: Vec<[f32; 3]> =
            cloud.data.chunks_exact(3).map(|p| [p[0], p[1], p[2]]).collect();
        let mut add = |name: &str, rows: &[[f32; 3]]| -> Result<()> {
            let cloud = Cloud { data: rows.as_flattened().to_vec(), dims: 3 };
            for count in [1_250, 5_000, 12_000] {
                cases.push(Case::new(format!("{name} -> {count}"), cloud.clone(), job(count))?);
            }
            Ok(())
        };
        add("as made", &rows)?;
        rows.reverse();
        add("reversed", &rows)?;
        rows.sort_by(|a, b| a[0].total_cmp(&b[0]));
        add("along x", &rows)?;
        let mut random = farpoint::backend::SplitMix64::new(1);
        for k in (1..rows.len()).rev() {
            rows.swap(k, random.below(k as u64 + 1) as usize);
        }
        add("shuffled", &rows)?;
        Ok(cases)
    })
}

/// A batch in device memory.
#[derive(Clone)]
struct Ask {
    name: &'static str,
    layout: Layout,
    lengths: Vec<usize>,
    ragged: bool,
    wanted: usize,
    /// Starts of each cloud.
    starts: usize,
    given_scratch: bool,
    indexed: bool,
}

fn asks() -> Vec<Ask> {
    let plain = Ask {
        name: "rows",
        layout: Layout::Rows,
        lengths: vec![2_000; 5],
        ragged: false,
        wanted: 500,
        starts: 0,
        given_scratch: true,
        indexed: false,
    };
    let uneven = vec![2_000, 0, 1, 400, 1_990, 312, 90];
    vec![
        Ask { name: "an index", indexed: true, ..plain.clone() },
        Ask { name: "gaps, pool", layout: Layout::Gaps, given_scratch: false, ..plain.clone() },
        Ask { name: "lengths", lengths: uneven.clone(), ..plain.clone() },
        Ask { name: "lengths, an index", lengths: uneven.clone(), indexed: true, ..plain.clone() },
        Ask {
            name: "ragged axes",
            layout: Layout::Axes,
            lengths: uneven,
            ragged: true,
            ..plain.clone()
        },
        Ask { name: "a start each", starts: 1, ..plain.clone() },
        Ask { name: "three starts each", starts: 3, indexed: true, ..plain.clone() },
        Ask { name: "few", wanted: 200, ..plain.clone() },
        Ask { name: "many small", lengths: vec![700; 150], wanted: 350, ..plain.clone() },
        Ask { name: "one large", lengths: vec![40_000], wanted: 10_000, ..plain.clone() },
        Ask {
            name: "one large, an index",
            lengths: vec![40_000],
            wanted: 10_000,
            indexed: true,
            ..plain.clone()
        },
        plain,
    ]
}

/// The batch as it lies in memory, and the CPU's answer for each cloud.
struct Resident<T> {
    ask: Ask,
    data: Vec<T>,
    strides: [i64; 2],
    starts: Vec<i64>,
    truth: Vec<Vec<usize>>,
}

impl<T: CudaScalar> Resident<T> {
    fn new(ask: Ask, seed: u64) -> Result<Self> {
        let kinds = [Kind::Room, Kind::Lattice, Kind::Object, Kind::Duplicated];
        let clouds: Vec<Cloud<T>> = (0..ask.lengths.len())
            .map(|k| Cloud::of(kinds[k % 4], ask.lengths[k], seed + k as u64))
            .collect();
        let most = ask.lengths.iter().copied().max().unwrap_or(0);
        let (data, strides) = laid_out(ask.layout, (!ask.ragged).then_some(most), &clouds);
        let (mut starts, mut truth) = (Vec::new(), Vec::new());
        for cloud in &clouds {
            let (n, count) = (cloud.len(), ask.wanted.min(cloud.len()));
            let given: Vec<usize> =
                (0..ask.starts).map(|s| n * (s + 1) / (ask.starts + 1)).collect();
            starts.extend(given.iter().map(|&row| row as i64));
            let job =
                if given.is_empty() { job(count) } else { job(count).start(Start::Indices(given)) };
            truth.push(if count == 0 { Vec::new() } else { job.sample(cloud)?.indices });
        }
        Ok(Self { ask, data, strides, starts, truth })
    }

    fn compare(&self, device: &Gpu) -> Result<()> {
        let stream = Stream::new(device)?;
        let (ask, b) = (&self.ask, self.ask.lengths.len());
        let rows = ask.lengths.iter().copied().max().unwrap_or(0);
        let points = Buffer::upload(&stream, &self.data, "points")?;
        let list = |numbers: Vec<usize>| -> Result<Buffer<i64>> {
            let numbers: Vec<i64> = numbers.into_iter().map(|n| n as i64).collect();
            Ok(Buffer::upload(&stream, &numbers, "a list")?)
        };
        let offsets = list((0..=b).map(|end| ask.lengths[..end].iter().sum()).collect())?;
        let lengths = list(ask.lengths.clone())?;
        let starts = Buffer::upload(&stream, &self.starts, "starts")?;
        let indices = Guarded::<i64>::new(&stream, b * ask.wanted)?;
        let job = job(ask.wanted);
        let shape = [b, rows, 3];
        let bytes = device.approximate_scratch_bytes::<T>(&job, shape, ask.wanted, ask.indexed);
        let scratch = Guarded::<u8>::new(&stream, bytes)?;
        let index = Guarded::<u8>::new(
            &stream,
            if ask.indexed { device.index_bytes::<T>(b, rows) } else { 0 },
        )?;
        let of = DeviceClouds {
            strides: self.strides,
            offsets: ask.ragged.then_some(offsets.pointer()),
            lengths: (!ask.ragged).then_some(lengths.pointer()),
            index: ask.indexed.then(|| (index.pointer(), device.index_bytes::<T>(b, rows))),
            ..DeviceClouds::padded(points.pointer(), rows, 3)
        };
        let batch = DeviceBatch {
            strides: of.strides,
            offsets: of.offsets,
            lengths: of.lengths,
            starts: (ask.starts > 0).then_some((starts.pointer(), ask.starts)),
            scratch: ask.given_scratch.then_some((scratch.pointer(), bytes)),
            ..DeviceBatch::<T>::padded(points.pointer(), shape, indices.pointer())
        };
        // SAFETY: the arrays have the sizes given and outlive the stream's work.
        unsafe {
            if ask.indexed {
                device.enqueue_index(&stream, &DeviceIndex::<T>::new(of, b, 3))?;
            }
            device.enqueue_approximate(
                &job,
                &stream,
                &DeviceApproximate { batch, index: of.index },
            )?;
        }
        stream.synchronize()?;
        scratch.read("scratch memory")?;
        index.read("the index")?;
        self.check(&indices.read("indices")?)
    }

    fn check(&self, indices: &[i64]) -> Result<()> {
        for (cloud, truth) in self.truth.iter().enumerate() {
            let slots = &indices[cloud * self.ask.wanted..][..self.ask.wanted];
            let (found, left) = slots.split_at(truth.len());
            let at = std::iter::zip(found, truth).position(|(&a, &b)| a != b as i64);
            ensure!(at.is_none(), "cloud {cloud} differs from sample {at:?} on");
            ensure!(left.iter().all(|&row| row == -1), "cloud {cloud}: a slot left over is not -1");
        }
        Ok(())
    }
}

fn pointers<T: CudaScalar>() -> Group {
    Group::new(format!("fastpoint, device pointers {}", T::SUFFIX), PART, || {
        let cases =
            asks().into_iter().map(|ask| Resident::<T>::new(ask, 1)).collect::<Result<Vec<_>>>()?;
        Ok(move |device: &Gpu, _: &str, tally: &mut Tally| {
            for case in &cases {
                let result = case.compare(device);
                tally.check(case.ask.name, result.map_err(|error| format!("{error:#}")));
            }
            Ok(())
        })
    })
}

/// A captured call samples whatever lies in its memory.
fn graphs() -> Group {
    Group::new("fastpoint, graph", PART, || {
        let ask = asks().pop().expect("some");
        let cases = (0..4)
            .map(|seed| Resident::<f32>::new(ask.clone(), 10 * seed))
            .collect::<Result<Vec<_>>>()?;
        Ok(move |device: &Gpu, _: &str, tally: &mut Tally| {
            let result = replayed(device, &cases, tally);
            tally.take("captured", result);
            Ok(())
        })
    })
}

fn replayed(device: &Gpu, cases: &[Resident<f32>], tally: &mut Tally) -> Result<(), Error> {
    let stream = Stream::new(device)?;
    let ask = &cases[0].ask;
    let (clouds, rows) = (ask.lengths.len(), ask.lengths[0]);
    let job = job(ask.wanted);
    let mut points = Buffer::upload(&stream, &cases[0].data, "points")?;
    let indices = Buffer::<i64>::new(&stream, clouds * ask.wanted, "indices")?;
    let batch = DeviceBatch::<f32>::padded(points.pointer(), [clouds, rows, 3], indices.pointer());
    let wanted = DeviceApproximate { batch, index: None };
    // SAFETY: the arrays have the sizes given and outlive the stream's work.
    let enqueue = || unsafe { device.enqueue_approximate(&job, &stream, &wanted) };
    // The first use of a kernel loads it, which a capture may not.
    enqueue()?;
    stream.synchronize()?;
    let graph = stream.capture(enqueue)?;
    for (replay, case) in cases.iter().enumerate() {
        points.write(0, &case.data)?;
        // SAFETY: the arrays outlive the launches, which `download` waits for.
        unsafe { graph.launch(&stream)? };
        let found = indices.download(clouds * ask.wanted)?;
        tally.check(
            format!("replay {replay}"),
            case.check(&found).map_err(|error| format!("{error:#}")),
        );
    }
    Ok(())
}

/// Stages at which a block leaves (`enum Stage` of `kernels/common/guard.cuh`).
const STAGES: [(u32, &str); 2] = [(0, "at once"), (2, "in a pass")];

/// A block that never comes is waited for so long, and no longer; the next call is right.
fn gives_up() -> Group {
    Group::new("fastpoint gives up", PART, || {
        let job = with(5_000, Algorithm::Naive, Estimator::Network);
        let case = Case::new("after it", Cloud::<f32>::of(Kind::Room, 20_000, 3), job)?;
        Ok(move |device: &Gpu, _: &str, tally: &mut Tally| {
            for (stage, when) in STAGES {
                let before = device.patience();
                device.set_patience(Duration::from_millis(300));
                device.set_absent(Some(stage));
                let found = case.job.on(device).sample(&case.cloud);
                device.set_absent(None);
                device.set_patience(before);
                tally.is(format!("{when}: gave up"), matches!(found, Err(Error::GaveUp { .. })));
                case.compare(device, tally);
            }
            Ok(())
        })
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use farpoint::approximate::Details;

    /// That the cases reach what they are for: levels and none, passes that are repeated, and fills.
    #[test]
    fn cases_are_of_all_kinds() {
        let details =
            |cloud: &Cloud<f32>, count: usize| match job(count).sample(cloud).unwrap().details {
                Details::FastPoint(details) => details,
                _ => panic!("of another method"),
            };
        let room = Cloud::<f32>::of(Kind::Room, 5_000, 7);
        assert!(details(&room, 310).radii.is_empty() && details(&room, 311).radii.len() == 6);
        let found = details(&room, 1_250);
        assert!(found.found < 1_250 && found.found > 1_000, "{found:?}");
        let huge = Cloud::<f32>::random(2_000, 3, None, 5).times(10.0).times(1e19);
        assert!(details(&huge, 700).radii.is_empty());
    }
}
