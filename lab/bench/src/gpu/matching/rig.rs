//! Matching of pairs in device memory, with scratch memory given, as a contender.

use super::rows::{Expected, Input, Row};
use crate::timing::{Contender, Once, Turn};
use anyhow::{Result, anyhow};
use farpoint::{Matcher, Method};
use farpoint_cuda::{Buffer, DeviceGradients, DevicePairs, Event, Gpu, Stream};
use std::sync::Mutex;

/// Operation to time.
#[derive(Clone, Copy)]
pub(super) enum Work {
    Search(Method),
    /// The gradients of a search's results.
    Backward,
}

impl Work {
    pub(super) fn name(self) -> &'static str {
        match self {
            Self::Search(method) => method.name(),
            Self::Backward => "backward",
        }
    }

    fn matcher(self) -> Matcher {
        match self {
            Self::Search(method) => Matcher::new().method(method),
            Self::Backward => Matcher::new(),
        }
    }
}

/// Sets of pairs in device memory.
pub(super) struct Rig<'a> {
    gpu: &'a Gpu,
    stream: Stream,
    row: &'a Row,
    input: &'a Input,
    sets: Vec<[Side; 2]>,
    /// Events before and after a run.
    events: Mutex<[Event; 2]>,
}

/// One side of all pairs of a set, and room for its results.
struct Side {
    points: Buffer<f32>,
    /// Gradients of the distances.
    grads: Buffer<f32>,
    distances: Buffer<f32>,
    indices: Buffer<i64>,
    gradients: Buffer<f32>,
}

impl Side {
    fn new(stream: &Stream, points: &[f32], expected: &Expected) -> Result<Self> {
        let rows = expected.grads.len();
        Ok(Self {
            points: Buffer::upload(stream, points, "points of a benchmark")?,
            grads: Buffer::upload(
                stream,
                &expected.grads,
                "gradients of distances of a benchmark",
            )?,
            distances: Buffer::new(stream, rows, "distances of a benchmark")?,
            indices: Buffer::new(stream, rows, "indices of a benchmark")?,
            gradients: Buffer::new(stream, points.len(), "gradients of a benchmark")?,
        })
    }

    /// Compares the results of a run with the CPU's.
    fn check(&self, work: Work, truth: &Expected) -> Result<()> {
        match work {
            Work::Search(_) => {
                let rows = truth.indices.len();
                truth.check(&self.distances.download(rows)?, &self.indices.download(rows)?)
            }
            Work::Backward => {
                truth.check_gradients(&self.gradients.download(truth.gradients.len())?)
            }
        }
    }
}

impl<'a> Rig<'a> {
    /// Copies the sets to the device.
    pub(super) fn new(gpu: &'a Gpu, row: &'a Row, input: &'a Input) -> Result<Self> {
        let stream = Stream::new(gpu)?;
        let mut sets = Vec::new();
        for set in &input.sets {
            let side = |k: usize| Side::new(&stream, &set.points[k], &set.truth[k]);
            sets.push([side(0)?, side(1)?]);
        }
        let events = Mutex::new([Event::new(gpu)?, Event::new(gpu)?]);
        Ok(Self { gpu, stream, row, input, sets, events })
    }

    /// Returns this work on all sets in turn. Gradients are those of a search that is done here.
    pub(super) fn contender(&self, work: Work) -> Result<Contender<'_>> {
        let matcher = work.matcher();
        let shape = self.pairs(0);
        let bytes = match work {
            Work::Search(_) => self.gpu.nearest_scratch_bytes(&matcher, &shape),
            Work::Backward => self.gpu.gradients_scratch_bytes(&shape),
        };
        let scratch = Buffer::new(&self.stream, bytes, "scratch memory of a benchmark")?;
        if let Work::Backward = work {
            (0..self.sets.len()).try_for_each(|set| self.search(set))?;
        }
        let run = move |turn: Turn| {
            let seconds = self.once(work, &matcher, turn.set, &scratch)?;
            if turn.checked {
                let truth = &self.input.sets[turn.set].truth;
                for (side, truth) in self.sets[turn.set].iter().zip(truth) {
                    let about = |error| anyhow!("set {}: {error}", turn.set);
                    side.check(work, truth).map_err(about)?;
                }
            }
            Ok(Once { indices: Vec::new(), seconds, algorithm: work.name(), bytes: Some(bytes) })
        };
        Ok(Contender::new(work.name(), 0, run).sets(self.sets.len()))
    }

    fn pairs(&self, set: usize) -> DevicePairs<f32> {
        let sides = &self.sets[set];
        let of = |address: fn(&Side) -> u64| sides.each_ref().map(address);
        let points = of(|side| side.points.pointer());
        let distances = of(|side| side.distances.pointer()).map(Some);
        let indices = of(|side| side.indices.pointer()).map(Some);
        DevicePairs::padded(points, self.row.pairs, self.row.rows, 3).outputs(distances, indices)
    }

    fn search(&self, set: usize) -> Result<()> {
        // SAFETY: the buffers have the given sizes, and the stream is synchronized below.
        unsafe { self.gpu.enqueue_nearest(&Matcher::new(), &self.stream, &self.pairs(set))? };
        Ok(self.stream.synchronize()?)
    }

    /// Returns the seconds of one run on the device.
    fn once(&self, work: Work, matcher: &Matcher, set: usize, scratch: &Buffer<u8>) -> Result<f64> {
        let (gpu, stream, pairs) = (self.gpu, &self.stream, self.pairs(set));
        let scratch = Some((scratch.pointer(), scratch.len()));
        let events = self.events.lock().map_err(|_| anyhow!("a run before panicked"))?;
        events[0].record(stream)?;
        match work {
            Work::Search(_) => {
                let pairs = DevicePairs { scratch, ..pairs };
                // SAFETY: the buffers have the given sizes, and the stream is synchronized below.
                unsafe { gpu.enqueue_nearest(matcher, stream, &pairs)? };
            }
            Work::Backward => {
                let of = |address: fn(&Side) -> u64| self.sets[set].each_ref().map(address);
                let (grads, gradients) = (of(|s| s.grads.pointer()), of(|s| s.gradients.pointer()));
                let request =
                    DeviceGradients { scratch, ..DeviceGradients::new(pairs, grads, gradients) };
                // SAFETY: the buffers have the given sizes, the indices are those of a search on the
                // same pairs, and the stream is synchronized below.
                unsafe { gpu.enqueue_gradients(matcher, stream, &request)? };
            }
        }
        events[1].record(stream)?;
        stream.synchronize()?;
        Ok(events[1].seconds_since(&events[0])?)
    }
}
