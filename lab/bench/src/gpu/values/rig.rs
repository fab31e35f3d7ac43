//! Operators on values in device memory, with memory given, one run at a time.

use anyhow::{Result, anyhow, ensure};
use farpoint::Cpu;
use farpoint::backend::SplitMix64;
use farpoint::values::{self, InverseDistance, ValueShape};
use farpoint_cuda::{
    Buffer, DeviceGatherMaxGradients, DeviceInterpolateGradients, DeviceRows, Event, Gpu,
    GradientMemory, IndexKind, Stream, ValueKind,
};
use std::sync::Mutex;

/// Operation to time.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Work {
    Gather,
    /// The inverted list alone.
    Invert,
    /// Gradients, the inverted list included.
    GatherBackward,
    /// Gradients from an existing inverted list.
    GatherBackwardOfList,
    Max,
    /// With `add`.
    MaxAdd,
    MaxBackward,
    MaxBackwardOfList,
    Weights,
    Interpolate,
    /// Gradients of values, the inverted list included.
    InterpolateBackward,
    InterpolateBackwardOfList,
    OfWeights,
}

impl Work {
    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Gather => "gather",
            Self::Invert => "inverted list",
            Self::GatherBackward => "gather, backward",
            Self::GatherBackwardOfList => "gather, backward of a list",
            Self::Max => "gather_max",
            Self::MaxAdd => "gather_max with add",
            Self::MaxBackward => "gather_max, backward",
            Self::MaxBackwardOfList => "gather_max, backward of a list",
            Self::Weights => "inverse_distance_weights",
            Self::Interpolate => "interpolate",
            Self::InterpolateBackward => "interpolate, backward",
            Self::InterpolateBackwardOfList => "interpolate, backward of a list",
            Self::OfWeights => "interpolate, backward of weights",
        }
    }

    /// Returns whether it uses memory for gradients, and builds an inverted list in it.
    fn takes(self) -> bool {
        matches!(self, Self::GatherBackward | Self::MaxBackward | Self::InterpolateBackward)
    }
}

/// Sizes, and the operations timed on them with target times in milliseconds.
pub(crate) struct Row {
    pub(crate) name: &'static str,
    pub(crate) shape: ValueShape,
    pub(crate) works: &'static [(Work, Option<f64>)],
}

const GROUPS: ValueShape =
    ValueShape { clouds: 1, rows: 30_000, places: 30_000, k: 32, channels: 64 };

pub(crate) const ROWS: [Row; 3] = [
    Row {
        name: "30,000 x 32, 64 channels",
        shape: GROUPS,
        works: &[
            (Work::Gather, Some(0.10)),
            (Work::Invert, None),
            (Work::GatherBackward, Some(0.25)),
            (Work::GatherBackwardOfList, Some(0.12)),
            (Work::Max, None),
            (Work::MaxAdd, Some(0.10)),
            (Work::MaxBackward, None),
            (Work::MaxBackwardOfList, None),
        ],
    },
    Row {
        name: "8 x (24,000 to 6,000) x 32, 64 channels",
        shape: ValueShape { clouds: 8, rows: 24_000, places: 6_000, ..GROUPS },
        works: &[
            (Work::Gather, None),
            (Work::Invert, None),
            (Work::GatherBackward, None),
            (Work::MaxAdd, None),
            (Work::MaxBackward, None),
        ],
    },
    Row {
        name: "30,000 to 120,000 x 3, 64 channels",
        shape: ValueShape { places: 120_000, k: 3, ..GROUPS },
        works: &[
            (Work::Weights, None),
            (Work::Interpolate, Some(0.02)),
            (Work::Invert, None),
            (Work::InterpolateBackward, Some(0.06)),
            (Work::InterpolateBackwardOfList, None),
            (Work::OfWeights, None),
        ],
    },
];

/// Input and room for output, on the host and in device memory.
pub(crate) struct Rig {
    stream: Stream,
    shape: ValueShape,
    host: Host,
    indices: Buffer<i64>,
    values: Buffer<f32>,
    add: Buffer<f32>,
    weights: Buffer<f32>,
    grad: Buffer<f32>,
    chosen: Buffer<i32>,
    /// Room for the largest output.
    output: Buffer<f32>,
    list: Buffer<u8>,
    memory: Buffer<u8>,
    /// Events before and after a run.
    events: Mutex<[Event; 2]>,
}

struct Host {
    indices: Vec<i64>,
    values: Vec<f32>,
    add: Vec<f32>,
    weights: Vec<f32>,
    grad: Vec<f32>,
}

/// Draws rows at random; if there are more places than rows, places in the order of a scan, of which
/// neighbors share rows, as those of an upsampling do.
fn indices(shape: &ValueShape, random: &mut SplitMix64) -> Result<Vec<i64>> {
    let (rows, of_cloud) = (shape.rows, shape.places * shape.k);
    let mut order: Vec<i64> = (0..rows as i64).collect();
    for last in (1..rows).rev() {
        order.swap(last, random.below(last as u64 + 1) as usize);
    }
    let index = |flat: usize| {
        let near = flat % of_cloud / shape.k * rows / shape.places;
        let row = (near + random.below(8) as usize) % rows;
        if shape.places > rows { order[row] } else { random.below(rows as u64) as i64 }
    };
    Ok((0..shape.indices()?).map(index).collect())
}

impl Host {
    fn new(shape: &ValueShape) -> Result<Self> {
        let mut random = SplitMix64::new(1);
        let indices = indices(shape, &mut random)?;
        let mut many =
            |count: usize| -> Vec<f32> { (0..count).map(|_| random.unit() as f32).collect() };
        Ok(Self {
            indices,
            values: many(shape.values()?),
            add: many(shape.gathered()?),
            weights: many(shape.indices()?),
            grad: many(shape.reduced()?),
        })
    }
}

fn rows(shape: ValueShape, indices: &Buffer<i64>) -> DeviceRows {
    let (kind, index_kind) = (ValueKind::F32, IndexKind::I64);
    DeviceRows { shape, kind, indices: indices.pointer(), index_kind }
}

impl Rig {
    /// Copies the input of a row to the device; the list and the choices are computed there.
    pub(crate) fn new(gpu: &Gpu, row: &Row) -> Result<Self> {
        let (stream, shape) = (Stream::new(gpu)?, row.shape);
        let host = Host::new(&shape)?;
        let indices = Buffer::upload(&stream, &host.indices, "indices of a benchmark")?;
        let bytes = gpu.gradient_bytes(&rows(shape, &indices));
        let upload = |values: &[f32]| Buffer::upload(&stream, values, "values of a benchmark");
        let max_len = shape.gathered()?.max(shape.values()?).max(shape.indices()?);
        let rig = Self {
            shape,
            values: upload(&host.values)?,
            add: upload(&host.add)?,
            weights: upload(&host.weights)?,
            grad: upload(&host.grad)?,
            chosen: Buffer::new(&stream, shape.reduced()?, "choices of a benchmark")?,
            output: Buffer::new(&stream, max_len, "output of a benchmark")?,
            list: Buffer::new(&stream, gpu.inverted_bytes(&shape), "list of a benchmark")?,
            memory: Buffer::new(&stream, bytes, "memory of a benchmark")?,
            events: Mutex::new([Event::new(gpu)?, Event::new(gpu)?]),
            indices,
            host,
            stream,
        };
        rig.enqueue(Work::MaxAdd)?;
        rig.enqueue(Work::Invert)?;
        rig.stream.synchronize()?;
        Ok(rig)
    }

    /// Returns the bytes of memory besides input and output.
    pub(crate) fn bytes(&self, work: Work) -> usize {
        match work {
            Work::Invert => self.stream.gpu().invert_scratch_bytes(&self.shape),
            work if work.takes() => self.memory.len(),
            _ => 0,
        }
    }

    /// Returns the seconds of one run on the device.
    pub(crate) fn once(&self, work: Work) -> Result<f64> {
        let events = self.events.lock().map_err(|_| anyhow!("a run before panicked"))?;
        events[0].record(&self.stream)?;
        self.enqueue(work)?;
        events[1].record(&self.stream)?;
        self.stream.synchronize()?;
        Ok(events[1].seconds_since(&events[0])?)
    }

    fn enqueue(&self, work: Work) -> Result<()> {
        let (gpu, stream) = (self.stream.gpu(), &self.stream);
        let rows = &rows(self.shape, &self.indices);
        let memory = match work.takes() {
            true => GradientMemory::Provided(self.memory.pointer(), self.memory.len()),
            false => GradientMemory::Inverted(self.list.pointer(), self.list.len()),
        };
        let values = self.values.pointer();
        let (add, weights) = (self.add.pointer(), self.weights.pointer());
        let (grad, chosen, to) =
            (self.grad.pointer(), self.chosen.pointer(), self.output.pointer());
        let places = (rows.shape.clouds * rows.shape.places, rows.shape.k);
        // SAFETY: all arrays are as large as the shape says, choices and list are of these indices, and
        // the rig outlives the work, which callers wait for.
        unsafe {
            match work {
                Work::Gather => gpu.enqueue_gather(stream, rows, values, to)?,
                Work::Invert => {
                    let (list, scratch) = (self.list.pointer(), self.memory.pointer());
                    let scratch = Some((scratch, self.memory.len()));
                    gpu.enqueue_invert(stream, rows, (list, self.list.len()), scratch)?;
                }
                Work::GatherBackward | Work::GatherBackwardOfList => {
                    gpu.enqueue_gather_backward(stream, rows, memory, add, to)?;
                }
                Work::Max | Work::MaxAdd => {
                    let add = (work == Work::MaxAdd).then_some(add);
                    gpu.enqueue_gather_max(stream, rows, (values, add), to, Some(chosen))?;
                }
                Work::MaxBackward | Work::MaxBackwardOfList => {
                    let request =
                        DeviceGatherMaxGradients { chosen, grad, values: Some(to), add: None };
                    gpu.enqueue_gather_max_backward(stream, rows, memory, &request)?;
                }
                Work::Weights => {
                    let how = InverseDistance::default();
                    gpu.enqueue_inverse_distance_weights::<f32>(stream, places, how, weights, to)?;
                }
                Work::Interpolate => gpu.enqueue_interpolate(stream, rows, values, weights, to)?,
                Work::InterpolateBackward | Work::InterpolateBackwardOfList | Work::OfWeights => {
                    let of_weights = (work == Work::OfWeights).then_some(to);
                    let of_values = (work != Work::OfWeights).then_some(to);
                    let request =
                        DeviceInterpolateGradients { values, weights, grad, of_values, of_weights };
                    gpu.enqueue_interpolate_backward(stream, rows, memory, &request)?;
                }
            }
        }
        Ok(())
    }

    /// Compares the results of a run with the CPU's, bit by bit.
    pub(crate) fn check(&self, work: Work) -> Result<()> {
        let truth = self.truth(work)?;
        let found = self.output.download(truth.len())?;
        let differs = |(a, b): (&f32, &f32)| a.to_bits() != b.to_bits();
        let differs = found.iter().zip(&truth).position(differs);
        ensure!(differs.is_none(), "{}: number {differs:?} is not the CPU's", work.name());
        Ok(())
    }

    fn truth(&self, work: Work) -> Result<Vec<f32>> {
        let (cpu, shape) = (Cpu::new(), &self.shape);
        let Host { indices, values, add, weights, grad } = &self.host;
        Ok(match work {
            Work::Invert => Vec::new(),
            Work::Gather => values::gather(&cpu, shape, values, indices)?,
            Work::GatherBackward | Work::GatherBackwardOfList => {
                values::gather_backward(&cpu, shape, indices, add)?
            }
            Work::Max => values::gather_max(&cpu, shape, values, indices, None)?.values,
            Work::MaxAdd => values::gather_max(&cpu, shape, values, indices, Some(add))?.values,
            Work::MaxBackward | Work::MaxBackwardOfList => {
                let chosen = self.chosen.download(shape.reduced()?)?;
                values::gather_max_backward(&cpu, shape, indices, &chosen, grad, false)?.values
            }
            Work::Weights => {
                let how = InverseDistance::default();
                values::inverse_distance_weights(&cpu, shape.k, weights, how)?
            }
            Work::Interpolate => values::interpolate(&cpu, shape, values, indices, weights)?,
            Work::InterpolateBackward | Work::InterpolateBackwardOfList => {
                values::interpolate_backward(&cpu, shape, indices, weights, grad)?
            }
            Work::OfWeights => {
                values::interpolate_weights_backward(&cpu, shape, values, indices, grad)?
            }
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn indices_are_rows_and_neighbors_share_them() {
        for row in &ROWS {
            let shape =
                ValueShape { clouds: 2, rows: 60, places: row.shape.places / 500, ..row.shape };
            let indices = indices(&shape, &mut SplitMix64::new(1)).unwrap();
            assert_eq!(indices.len(), shape.indices().unwrap());
            assert!(indices.iter().all(|index| (0..60).contains(index)));
        }
        let scan = ValueShape { clouds: 1, rows: 100, places: 400, k: 3, channels: 1 };
        let mut near = indices(&scan, &mut SplitMix64::new(1)).unwrap()[..12].to_vec();
        near.sort_unstable();
        near.dedup();
        assert!(near.len() <= 8, "{near:?}");
    }
}
