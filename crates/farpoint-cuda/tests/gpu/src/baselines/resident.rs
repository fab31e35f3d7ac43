//! Batches in device memory: layouts, lengths, starts, an index given or not, and graphs.

use super::{PART, job};
use crate::clouds::Cloud;
use crate::guarded::Guarded;
use crate::pointers::{RowLayout, laid_out};
use crate::runner::Group;
use crate::tally::Tally;
use anyhow::{Result, ensure};
use farpoint::{Points, Start};
use farpoint_baselines::{gpu, sample};
use farpoint_cuda::{Buffer, CudaScalar, DeviceBatch, DeviceClouds, DeviceIndex, Gpu, Stream};
use farpoint_generate::Kind;

/// A batch in device memory.
#[derive(Clone)]
struct Spec {
    name: &'static str,
    layout: RowLayout,
    lengths: Vec<usize>,
    ragged: bool,
    samples: usize,
    /// Number of starts per cloud.
    starts: usize,
    provides_scratch: bool,
    has_index: bool,
}

fn specs() -> Vec<Spec> {
    let plain = Spec {
        name: "rows",
        layout: RowLayout::Rows,
        lengths: vec![2_000; 5],
        ragged: false,
        samples: 500,
        starts: 0,
        provides_scratch: true,
        has_index: false,
    };
    let uneven = vec![2_000, 0, 1, 400, 1_990, 312, 90];
    vec![
        Spec { name: "an index", has_index: true, ..plain.clone() },
        Spec {
            name: "gaps, pool",
            layout: RowLayout::Gaps,
            provides_scratch: false,
            ..plain.clone()
        },
        Spec { name: "lengths", lengths: uneven.clone(), ..plain.clone() },
        Spec {
            name: "lengths, an index",
            lengths: uneven.clone(),
            has_index: true,
            ..plain.clone()
        },
        Spec {
            name: "ragged axes",
            layout: RowLayout::Axes,
            lengths: uneven,
            ragged: true,
            ..plain.clone()
        },
        Spec { name: "a start each", starts: 1, ..plain.clone() },
        Spec { name: "three starts each", starts: 3, has_index: true, ..plain.clone() },
        Spec { name: "few", samples: 200, ..plain.clone() },
        Spec { name: "many small", lengths: vec![700; 150], samples: 350, ..plain.clone() },
        Spec { name: "one large", lengths: vec![40_000], samples: 10_000, ..plain.clone() },
        Spec {
            name: "one large, an index",
            lengths: vec![40_000],
            samples: 10_000,
            has_index: true,
            ..plain.clone()
        },
        plain,
    ]
}

/// The batch as laid out in memory, and the CPU's result for each cloud.
struct Resident<T> {
    spec: Spec,
    data: Vec<T>,
    strides: [i64; 2],
    starts: Vec<i64>,
    truth: Vec<Vec<usize>>,
}

impl<T: CudaScalar> Resident<T> {
    fn new(spec: Spec, seed: u64) -> Result<Self> {
        let kinds = [Kind::Room, Kind::Lattice, Kind::Object, Kind::Duplicated];
        let clouds: Vec<Cloud<T>> = (0..spec.lengths.len())
            .map(|k| Cloud::of(kinds[k % 4], spec.lengths[k], seed + k as u64))
            .collect();
        let max_rows = spec.lengths.iter().copied().max().unwrap_or(0);
        let (data, strides) = laid_out(spec.layout, (!spec.ragged).then_some(max_rows), &clouds);
        let (mut starts, mut truth) = (Vec::new(), Vec::new());
        for cloud in &clouds {
            let (n, count) = (cloud.len(), spec.samples.min(cloud.len()));
            let start_rows: Vec<usize> =
                (0..spec.starts).map(|s| n * (s + 1) / (spec.starts + 1)).collect();
            starts.extend(start_rows.iter().map(|&row| row as i64));
            let mut job = job(count);
            if !start_rows.is_empty() {
                job.start = Start::Indices(start_rows);
            }
            truth.push(if count == 0 { Vec::new() } else { sample(&job, cloud)?.indices });
        }
        Ok(Self { spec, data, strides, starts, truth })
    }

    fn compare(&self, device: &Gpu) -> Result<()> {
        let stream = Stream::new(device)?;
        let (spec, b) = (&self.spec, self.spec.lengths.len());
        let rows = spec.lengths.iter().copied().max().unwrap_or(0);
        let points = Buffer::upload(&stream, &self.data, "points")?;
        let list = |numbers: Vec<usize>| -> Result<Buffer<i64>> {
            let numbers: Vec<i64> = numbers.into_iter().map(|n| n as i64).collect();
            Ok(Buffer::upload(&stream, &numbers, "a list")?)
        };
        let offsets = list((0..=b).map(|end| spec.lengths[..end].iter().sum()).collect())?;
        let lengths = list(spec.lengths.clone())?;
        let starts = Buffer::upload(&stream, &self.starts, "starts")?;
        let indices = Guarded::<i64>::new(&stream, b * spec.samples)?;
        let job = job(spec.samples);
        let shape = [b, rows, 3];
        let bytes = gpu::scratch_bytes::<T>(device, &job, shape, spec.samples, spec.has_index)?;
        let scratch = Guarded::<u8>::new(&stream, bytes)?;
        let index = Guarded::<u8>::new(
            &stream,
            if spec.has_index { device.index_bytes::<T>(b, rows) } else { 0 },
        )?;
        let device_clouds = DeviceClouds {
            strides: self.strides,
            offsets: spec.ragged.then_some(offsets.pointer()),
            lengths: (!spec.ragged).then_some(lengths.pointer()),
            index: spec.has_index.then(|| (index.pointer(), device.index_bytes::<T>(b, rows))),
            ..DeviceClouds::padded(points.pointer(), rows, 3)
        };
        let batch = DeviceBatch {
            strides: device_clouds.strides,
            offsets: device_clouds.offsets,
            lengths: device_clouds.lengths,
            starts: (spec.starts > 0).then_some((starts.pointer(), spec.starts)),
            scratch: spec.provides_scratch.then_some((scratch.pointer(), bytes)),
            ..DeviceBatch::<T>::padded(points.pointer(), shape, indices.pointer())
        };
        // SAFETY: the arrays have the sizes given and outlive the stream's work.
        unsafe {
            if spec.has_index {
                device.enqueue_index(&stream, &DeviceIndex::<T>::new(device_clouds, b, 3))?;
            }
            gpu::enqueue(&job, &stream, &batch, device_clouds.index)?;
        }
        stream.synchronize()?;
        scratch.read("scratch memory")?;
        index.read("the index")?;
        self.check(&indices.read("indices")?)
    }

    fn check(&self, indices: &[i64]) -> Result<()> {
        for (cloud, truth) in self.truth.iter().enumerate() {
            let slots = &indices[cloud * self.spec.samples..][..self.spec.samples];
            let (found, remaining) = slots.split_at(truth.len());
            let difference = std::iter::zip(found, truth).position(|(&a, &b)| a != b as i64);
            ensure!(difference.is_none(), "cloud {cloud} differs from sample {difference:?} on");
            ensure!(
                remaining.iter().all(|&row| row == -1),
                "cloud {cloud}: a slot left over is not -1"
            );
        }
        Ok(())
    }
}

pub(super) fn pointers<T: CudaScalar>() -> Group {
    Group::new(format!("fastpoint, device pointers {}", T::SUFFIX), PART, || {
        let cases = specs()
            .into_iter()
            .map(|spec| Resident::<T>::new(spec, 1))
            .collect::<Result<Vec<_>>>()?;
        Ok(move |device: &Gpu, _: &str, tally: &mut Tally| {
            for case in &cases {
                let result = case.compare(device);
                tally.check(case.spec.name, result.map_err(|error| format!("{error:#}")));
            }
            Ok(())
        })
    })
}

/// A captured call samples the content of its memory at launch.
pub(super) fn graphs() -> Group {
    Group::new("fastpoint, graph", PART, || {
        let spec = specs().pop().expect("some");
        let cases = (0..4)
            .map(|seed| Resident::<f32>::new(spec.clone(), 10 * seed))
            .collect::<Result<Vec<_>>>()?;
        Ok(move |device: &Gpu, _: &str, tally: &mut Tally| {
            let result = replayed(device, &cases, tally);
            tally.check("captured", result.map_err(|error| format!("{error:#}")));
            Ok(())
        })
    })
}

fn replayed(device: &Gpu, cases: &[Resident<f32>], tally: &mut Tally) -> Result<()> {
    let stream = Stream::new(device)?;
    let spec = &cases[0].spec;
    let (clouds, rows) = (spec.lengths.len(), spec.lengths[0]);
    let job = job(spec.samples);
    let mut points = Buffer::upload(&stream, &cases[0].data, "points")?;
    let indices = Buffer::<i64>::new(&stream, clouds * spec.samples, "indices")?;
    let batch = DeviceBatch::<f32>::padded(points.pointer(), [clouds, rows, 3], indices.pointer());
    // SAFETY: the arrays have the sizes given and outlive the stream's work.
    let enqueue = || unsafe { gpu::enqueue(&job, &stream, &batch, None) };
    // The first use of a kernel loads it, which a capture may not.
    enqueue()?;
    stream.synchronize()?;
    let mut queued = Ok(());
    let graph = stream.capture(|| {
        queued = enqueue();
        Ok(())
    })?;
    queued?;
    for (replay, case) in cases.iter().enumerate() {
        points.write(0, &case.data)?;
        // SAFETY: the arrays outlive the launches, which `download` waits for.
        unsafe { graph.launch(&stream)? };
        let found = indices.download(clouds * spec.samples)?;
        tally.check(
            format!("replay {replay}"),
            case.check(&found).map_err(|error| format!("{error:#}")),
        );
    }
    Ok(())
}
