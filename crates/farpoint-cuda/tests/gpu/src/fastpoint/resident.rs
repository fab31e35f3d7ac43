//! Batches in device memory: layouts, lengths, starts, an index given or not, and graphs.

use super::{PART, job};
use crate::clouds::Cloud;
use crate::guarded::Guarded;
use crate::pointers::{RowLayout, laid_out};
use crate::runner::Group;
use crate::tally::Tally;
use anyhow::{Result, ensure};
use farpoint::{Points, Start};
use farpoint_cuda::{
    Buffer, CudaScalar, DeviceApproximate, DeviceBatch, DeviceClouds, DeviceIndex, Error, Gpu,
    Stream,
};
use farpoint_generate::Kind;

/// A batch in device memory.
#[derive(Clone)]
struct Ask {
    name: &'static str,
    layout: RowLayout,
    lengths: Vec<usize>,
    ragged: bool,
    wanted: usize,
    /// Number of starts per cloud.
    starts: usize,
    given_scratch: bool,
    indexed: bool,
}

fn asks() -> Vec<Ask> {
    let plain = Ask {
        name: "rows",
        layout: RowLayout::Rows,
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
        Ask { name: "gaps, pool", layout: RowLayout::Gaps, given_scratch: false, ..plain.clone() },
        Ask { name: "lengths", lengths: uneven.clone(), ..plain.clone() },
        Ask { name: "lengths, an index", lengths: uneven.clone(), indexed: true, ..plain.clone() },
        Ask {
            name: "ragged axes",
            layout: RowLayout::Axes,
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

/// The batch as laid out in memory, and the CPU's result for each cloud.
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

pub(super) fn pointers<T: CudaScalar>() -> Group {
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

/// A captured call samples the content of its memory at launch.
pub(super) fn graphs() -> Group {
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
