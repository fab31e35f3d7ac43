//! A case in device memory: input, room between rims for output, and the calls of all operators.

use super::case::{Case, Largest, Truth};
use super::numbers::Number;
use crate::guarded::Guarded;
use crate::tally::Tally;
use anyhow::Result;
use farpoint_cuda::{
    Buffer, DeviceGatherMaxGradients, DeviceInterpolateGradients, DeviceRows, Element, Error, Gpu,
    GradientMemory, IndexKind, Stream,
};

/// Source of the memory for gradients.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Memory {
    List,
    Provided,
    Pool,
}

/// An array that begins `shift` numbers after an address that is aligned to 256 bytes.
struct Input<E> {
    buffer: Buffer<E>,
    shift: usize,
}

impl<E: Element> Input<E> {
    fn new(stream: &Stream, values: &[E], shift: usize) -> Result<Self, Error> {
        let mut buffer = Buffer::new(stream, values.len() + shift, "input of a test")?;
        buffer.write(shift, values)?;
        Ok(Self { buffer, shift })
    }

    fn pointer(&self) -> u64 {
        self.buffer.pointer() + (self.shift * size_of::<E>()) as u64
    }
}

/// An output array, the same between rims.
struct Output<E> {
    array: Guarded<E>,
    shift: usize,
}

impl<E: Element + PartialEq> Output<E> {
    fn new(stream: &Stream, len: usize, shift: usize) -> Result<Self, Error> {
        Ok(Self { array: Guarded::new(stream, len + shift)?, shift })
    }

    fn pointer(&self) -> u64 {
        self.array.pointer() + (self.shift * size_of::<E>()) as u64
    }

    fn read(&self, label: &str) -> Result<Vec<E>> {
        let mut all = self.array.read(label)?;
        let before = all.drain(..self.shift);
        anyhow::ensure!(before.into_iter().all(|x| x == self.array.untouched()), "{label}: before");
        Ok(all)
    }
}

pub(super) struct Fixture<N: Number> {
    stream: Stream,
    rows: DeviceRows,
    narrow: Buffer<i32>,
    wide: Buffer<i64>,
    values: Input<N::Raw>,
    add: Input<N::Raw>,
    weights: Input<N::Wide>,
    grad: Input<N::Raw>,
    gathered: Output<N::Raw>,
    of_values: Output<N::Raw>,
    reduced: Output<N::Raw>,
    chosen: Output<i32>,
    of_weights: Output<N::Wide>,
    wrong: Output<i64>,
    list: (Buffer<u8>, usize),
    memory: (Buffer<u8>, usize),
}

impl<N: Number> Fixture<N> {
    /// Copies a case to the device, every array of values shifted by this many numbers.
    pub(super) fn new(stream: &Stream, case: &Case<N>, shift: usize) -> Result<Self, Error> {
        let (gpu, shape) = (stream.gpu(), case.shape);
        let narrow: Vec<i32> = match case.index_kind {
            IndexKind::I32 => case.indices.iter().map(|&index| index as i32).collect(),
            IndexKind::I64 => Vec::new(),
        };
        let narrow = Buffer::upload(stream, &narrow, "indices")?;
        let wide = Buffer::upload(stream, &case.indices, "indices")?;
        let index_kind = case.index_kind;
        let indices = if index_kind == IndexKind::I32 { narrow.pointer() } else { wide.pointer() };
        let rows = DeviceRows { shape, kind: N::KIND, indices, index_kind };
        let bytes = [gpu.inverted_bytes(&shape), gpu.gradient_bytes(&rows)];
        Ok(Self {
            stream: stream.clone(),
            rows,
            narrow,
            wide,
            values: Input::new(stream, &case.values, shift)?,
            add: Input::new(stream, &case.add, shift)?,
            weights: Input::new(stream, &case.weights, shift)?,
            grad: Input::new(stream, &case.grad, shift)?,
            gathered: Output::new(stream, case.add.len(), shift)?,
            of_values: Output::new(stream, case.values.len(), shift)?,
            reduced: Output::new(stream, case.grad.len(), shift)?,
            chosen: Output::new(stream, case.grad.len(), shift)?,
            of_weights: Output::new(stream, case.weights.len(), shift)?,
            wrong: Output::new(stream, 2, 0)?,
            list: (Buffer::new(stream, bytes[0], "an inverted list")?, bytes[0]),
            memory: (Buffer::new(stream, bytes[1], "memory for gradients")?, bytes[1]),
        })
    }

    /// Replaces the input by another case's of the same shape.
    pub(super) fn write(&mut self, case: &Case<N>) -> Result<(), Error> {
        if self.rows.index_kind == IndexKind::I32 {
            let narrow: Vec<i32> = case.indices.iter().map(|&index| index as i32).collect();
            self.narrow.write(0, &narrow)?;
        }
        self.wide.write(0, &case.indices)?;
        for (input, numbers) in [
            (&mut self.values, &case.values),
            (&mut self.add, &case.add),
            (&mut self.grad, &case.grad),
        ] {
            input.buffer.write(input.shift, numbers)?;
        }
        self.weights.buffer.write(self.weights.shift, &case.weights)
    }

    /// Returns memory for gradients; queues the inverted list if it is requested.
    fn memory(&self, memory: Memory) -> Result<GradientMemory, Error> {
        Ok(match memory {
            Memory::Pool => GradientMemory::Pool,
            Memory::Provided => GradientMemory::Provided(self.memory.0.pointer(), self.memory.1),
            Memory::List => {
                let list = (self.list.0.pointer(), self.list.1);
                // SAFETY: list and indices are as large as the calls above say, and live with the rig.
                unsafe { self.gpu().enqueue_invert(&self.stream, &self.rows, list, None)? };
                GradientMemory::Inverted(list.0, list.1)
            }
        })
    }

    fn gpu(&self) -> &Gpu {
        self.stream.gpu()
    }

    /// Queues a part of [`super::PARTS`], forward or backward.
    pub(super) fn enqueue(
        &self,
        part: &str,
        with_add: bool,
        backward: Option<Memory>,
    ) -> Result<(), Error> {
        let (gpu, stream, rows) = (self.gpu(), &self.stream, &self.rows);
        let memory = backward.map(|memory| self.memory(memory)).transpose()?;
        let values = self.values.pointer();
        // SAFETY: all arrays have the sizes of the shape, the choices are those that the operator left,
        // and the rig outlives the work, which is waited for before anything is read.
        unsafe {
            match (part, memory) {
                ("gather", None) => {
                    gpu.enqueue_check_indices(stream, rows, self.wrong.pointer())?;
                    gpu.enqueue_gather(stream, rows, values, self.gathered.pointer())
                }
                ("gather", Some(memory)) => {
                    let (grad, output) = (self.add.pointer(), self.of_values.pointer());
                    gpu.enqueue_gather_backward(stream, rows, memory, grad, output)
                }
                ("gather_max", None) => {
                    let add = with_add.then_some(self.add.pointer());
                    let (output, chosen) = (self.reduced.pointer(), Some(self.chosen.pointer()));
                    gpu.enqueue_gather_max(stream, rows, (values, add), output, chosen)
                }
                ("gather_max", Some(memory)) => {
                    let request = DeviceGatherMaxGradients {
                        chosen: self.chosen.pointer(),
                        grad: self.grad.pointer(),
                        values: Some(self.of_values.pointer()),
                        add: with_add.then_some(self.gathered.pointer()),
                    };
                    gpu.enqueue_gather_max_backward(stream, rows, memory, &request)
                }
                (_, None) => {
                    let (weights, output) = (self.weights.pointer(), self.reduced.pointer());
                    gpu.enqueue_interpolate(stream, rows, values, weights, output)
                }
                (_, Some(memory)) => {
                    let request = DeviceInterpolateGradients {
                        values,
                        weights: self.weights.pointer(),
                        grad: self.grad.pointer(),
                        of_values: Some(self.of_values.pointer()),
                        of_weights: Some(self.of_weights.pointer()),
                    };
                    gpu.enqueue_interpolate_backward(stream, rows, memory, &request)
                }
            }
        }
    }

    /// Compares the results of a part, once the stream is done.
    pub(super) fn compare(
        &self,
        part: &str,
        with_add: bool,
        backward: bool,
        truth: &Truth<N>,
    ) -> Result<Result<(), String>> {
        let same = |label: &str, array: &Output<N::Raw>, truth: &[N::Raw]| -> Result<_> {
            Ok(N::same(label, &array.read(label)?, truth))
        };
        let Largest { values, chosen, of_values, of_added } = &truth.largest[usize::from(with_add)];
        let results = match (part, backward) {
            ("gather", false) => {
                let wrong = self.wrong.read("wrong")?;
                let wrong = (wrong == truth.wrong).then_some(()).ok_or(format!("wrong: {wrong:?}"));
                vec![same("rows", &self.gathered, &truth.gathered)?, wrong]
            }
            ("gather", true) => vec![same("gradients", &self.of_values, &truth.of_gathered)?],
            ("gather_max", false) => {
                let found = self.chosen.read("choices")?;
                let differs = found.iter().zip(chosen).position(|(a, b)| a != b);
                let chosen =
                    differs.map_or(Ok(()), |at| Err(format!("choice {at}: {}", found[at])));
                vec![same("maxima", &self.reduced, values)?, chosen]
            }
            ("gather_max", true) => {
                let mut all = vec![same("gradients", &self.of_values, of_values)?];
                if with_add {
                    all.push(same("gradients of the added values", &self.gathered, of_added)?);
                }
                all
            }
            (_, false) => vec![same("sums", &self.reduced, &truth.sums)?],
            (_, true) => {
                let found = N::raws(&self.of_weights.read("gradients of weights")?);
                let of_weights = N::same("of weights", &found, &N::raws(&truth.of_weights));
                vec![same("gradients", &self.of_values, &truth.of_sums)?, of_weights]
            }
        };
        Ok(results.into_iter().collect())
    }

    /// Runs a part in all ways and compares each.
    pub(super) fn check(
        &self,
        label: &str,
        part: &str,
        truth: &Truth<N>,
        tally: &mut Tally,
    ) -> Result<()> {
        let adds: &[bool] = if part == "gather_max" { &[false, true] } else { &[false] };
        for &with_add in adds {
            for backward in [None, Some(Memory::List), Some(Memory::Provided), Some(Memory::Pool)] {
                let label = format!("{label}, {part}, added: {with_add}, backward: {backward:?}");
                if tally.take(&label, self.enqueue(part, with_add, backward)).is_some() {
                    self.stream.synchronize()?;
                    tally.check(&label, self.compare(part, with_add, backward.is_some(), truth)?);
                }
            }
        }
        Ok(())
    }
}
