//! Sampling of clouds in device memory, with scratch memory given, as a contender.

use crate::timing::{Contender, Once, Turn};
use anyhow::{Result, anyhow};
use farpoint::{Algorithm, RadiusOptions, Sampler};
use farpoint_cuda::{Buffer, DeviceBatch, Event, Gpu, Stream};
use std::sync::Mutex;

/// An algorithm with its switches.
#[derive(Clone, Copy)]
pub(super) struct Way {
    pub(super) algorithm: Algorithm,
    /// Description of its options.
    pub(super) variant: &'static str,
}

impl Way {
    /// Returns the algorithm with its default options.
    pub(super) fn plain(algorithm: Algorithm) -> Self {
        Self { algorithm, variant: "" }
    }

    fn fused(variant: &'static str, selection: bool, update: bool) -> Self {
        let options = RadiusOptions::default().fuse_selection(selection).fuse_update(update);
        Self { variant, algorithm: Algorithm::Radius(options) }
    }

    /// Returns the rows of the paper's table 4 that are not all fused.
    pub(super) fn less_fused() -> [Self; 3] {
        [
            Self::fused("selection fused", true, false),
            Self::fused("update fused", false, true),
            Self::fused("nothing fused", false, false),
        ]
    }

    fn sampler(&self, samples: usize) -> Sampler {
        Sampler::count(samples).algorithm(self.algorithm)
    }
}

/// Compares the indices of all clouds of a set: set, samples of a cloud, indices.
pub(super) type Check<'a> = &'a (dyn Fn(usize, usize, &[i64]) -> Result<()> + Sync);

/// Sets of clouds of one shape in device memory.
pub(super) struct Rig<'a> {
    gpu: &'a Gpu,
    stream: Stream,
    shape: [usize; 3],
    sets: Vec<Buffer<f32>>,
    indices: Buffer<i64>,
    /// Events before and after a run.
    events: Mutex<[Event; 2]>,
}

impl<'a> Rig<'a> {
    /// Copies the sets to the device, with room for `wanted` indices per cloud.
    pub(super) fn new(
        gpu: &'a Gpu,
        shape: [usize; 3],
        sets: &[Vec<f32>],
        sample_count: usize,
    ) -> Result<Self> {
        let stream = Stream::new(gpu)?;
        let upload = |set: &Vec<f32>| Buffer::upload(&stream, set, "points of a benchmark");
        let sets = sets.iter().map(upload).collect::<Result<_, _>>()?;
        let indices = Buffer::new(&stream, shape[0] * sample_count, "indices of a benchmark")?;
        let events = Mutex::new([Event::new(gpu)?, Event::new(gpu)?]);
        Ok(Self { gpu, stream, shape, sets, indices, events })
    }

    /// Samples `wanted` points of each cloud this way.
    pub(super) fn contender<'r>(
        &'r self,
        way: Way,
        sample_count: usize,
        check: Check<'r>,
    ) -> Result<Contender<'r>> {
        let [b, n, d] = self.shape;
        let bytes =
            self.gpu.sample_scratch_bytes::<f32>(&way.sampler(sample_count), b, n, d, sample_count);
        let scratch = Buffer::new(&self.stream, bytes, "scratch memory of a benchmark")?;
        let run = move |turn: Turn| {
            let seconds = self.once(&way.sampler(turn.samples), turn.set, &scratch)?;
            let mut indices = Vec::new();
            if turn.checked {
                let found = self.indices.download(b * turn.samples)?;
                check(turn.set, turn.samples, &found)?;
                indices.extend(found.into_iter().map(|index| index as usize));
            }
            Ok(Once { indices, seconds, algorithm: way.algorithm.name(), bytes: Some(bytes) })
        };
        let contender = Contender::new(way.algorithm.name(), sample_count, run);
        Ok(contender.variant(way.variant).sets(self.sets.len()))
    }

    /// Returns the seconds of one run on the device.
    fn once(&self, sampler: &Sampler, set: usize, scratch: &Buffer<u8>) -> Result<f64> {
        let (points, indices) = (self.sets[set].pointer(), self.indices.pointer());
        let batch = DeviceBatch {
            scratch: Some((scratch.pointer(), scratch.len())),
            ..DeviceBatch::<f32>::padded(points, self.shape, indices)
        };
        let events = self.events.lock().map_err(|_| anyhow!("a run before panicked"))?;
        events[0].record(&self.stream)?;
        // SAFETY: the buffers have the given sizes, and the stream is synchronized below.
        unsafe { self.gpu.enqueue_sample(sampler, &self.stream, &batch)? };
        events[1].record(&self.stream)?;
        self.stream.synchronize()?;
        Ok(events[1].seconds_since(&events[0])?)
    }
}
