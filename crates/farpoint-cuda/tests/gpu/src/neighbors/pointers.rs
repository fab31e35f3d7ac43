//! Pairs in device memory: every layout and list that a batch can have, one side or both, with and
//! without scratch memory, nothing written outside the arrays.

use super::expected::{Expected, same_indices, same_numbers};
use super::pairs::PairKind;
use super::{ANY_AXES, METHODS, Team, Variant, variants};
use crate::clouds::Cloud;
use crate::guarded::Guarded;
use crate::pointers::{RowLayout, laid_out};
use crate::runner::Group;
use crate::tally::Tally;
use anyhow::Result;
use farpoint::{Matcher, Norm};
use farpoint_cuda::{Buffer, CudaScalar, DeviceGradients, DevicePairs, Gpu, Stream};
use farpoint_generate::Kind;

/// A batch of pairs and its requested results, for each side.
#[derive(Clone)]
struct Spec {
    name: &'static str,
    layouts: [RowLayout; 2],
    /// Rows of each cloud; padded to the largest number, or one after another.
    lengths: [Vec<usize>; 2],
    ragged: [bool; 2],
    distances: [bool; 2],
    indices: [bool; 2],
    provides_scratch: bool,
    dims: usize,
    norm: Norm,
}

impl Spec {
    fn plain(name: &'static str, pairs: usize, rows: [usize; 2]) -> Self {
        Self {
            name,
            layouts: [RowLayout::Rows; 2],
            lengths: rows.map(|rows| vec![rows; pairs]),
            ragged: [false; 2],
            distances: [true; 2],
            indices: [true; 2],
            provides_scratch: true,
            dims: 3,
            norm: Norm::Two,
        }
    }

    fn longest(&self) -> [usize; 2] {
        self.lengths.each_ref().map(|lengths| lengths.iter().copied().max().unwrap_or(0))
    }
}

pub(super) fn groups() -> Vec<Group> {
    let some = [vec![700, 0, 1, 650, 33, 700, 5], vec![300, 40, 900, 0, 33, 1, 0]];
    let lists = Spec { lengths: some, ..Spec::plain("lengths, empty clouds", 7, [0; 2]) };
    let specs = vec![
        Spec::plain("rows", 4, [700, 900]),
        Spec { provides_scratch: false, ..Spec::plain("pool", 3, [3_000, 2_000]) },
        Spec {
            layouts: [RowLayout::Gaps, RowLayout::Axes],
            ..Spec::plain("gaps, axes", 3, [800, 600])
        },
        Spec { indices: [false; 2], ..Spec::plain("distances alone", 2, [500, 400]) },
        Spec { distances: [false; 2], ..Spec::plain("indices alone", 2, [500, 400]) },
        one_sided([true, false]),
        one_sided([false, true]),
        Spec { norm: Norm::One, ..lists.clone() },
        Spec { name: "ragged", ragged: [true; 2], ..lists.clone() },
        Spec {
            name: "ragged axes, pool",
            ragged: [true; 2],
            layouts: [RowLayout::Axes; 2],
            provides_scratch: false,
            ..lists.clone()
        },
        Spec { name: "ragged against padded", ragged: [true, false], ..lists.clone() },
        Spec::plain("one large", 1, [20_000, 15_000]),
        lists.clone(),
    ];
    let high = vec![
        Spec { dims: 5, ..Spec::plain("rows", 4, [700, 900]) },
        Spec { name: "ragged", dims: 5, ragged: [true; 2], norm: Norm::One, ..lists },
    ];
    vec![
        group::<f32>("", METHODS, specs.clone()),
        group::<f64>("", METHODS, specs),
        group::<f32>(", 5 axes", ANY_AXES, high.clone()),
        group::<f64>(", 5 axes", ANY_AXES, high),
    ]
}

fn one_sided(requested: [bool; 2]) -> Spec {
    let plain = Spec::plain("one side", 3, [600, 1_200]);
    Spec { distances: requested, indices: requested, ..plain }
}

/// For the sanitizer.
pub(super) fn small() -> Vec<Group> {
    let lengths = [vec![300, 0, 1, 33], vec![20, 40, 100, 0]];
    let lists = Spec { lengths, ..Spec::plain("lengths", 4, [0; 2]) };
    let ragged = Spec { name: "ragged", ragged: [true; 2], ..lists.clone() };
    let specs = vec![one_sided([true, false]), lists, ragged];
    vec![group::<f32>("", METHODS, specs.clone()), group::<f64>("", METHODS, specs)]
}

fn group<T: CudaScalar>(name: &str, parts: &'static [&'static str], specs: Vec<Spec>) -> Group {
    Group::new(format!("chamfer device pointers {}{name}", T::SUFFIX), parts, move || {
        let cases = specs.into_iter().map(Case::<T>::new).collect::<Result<Vec<_>>>()?;
        Ok(move |device: &Gpu, part: &str, tally: &mut Tally| {
            for Variant { name, matcher, team } in variants(part) {
                let _team = Team::new(device, team);
                for case in &cases {
                    let label = format!("{name}, {}", case.spec.name);
                    case.compare(device, &matcher.clone().norm(case.spec.norm), &label, tally)?;
                }
            }
            Ok(())
        })
    })
}

/// A batch in the layout under test, and the expected result.
struct Case<T> {
    spec: Spec,
    data: [Vec<T>; 2],
    strides: [[i64; 2]; 2],
    truth: [Expected<T>; 2],
}

impl<T: CudaScalar> Case<T> {
    fn new(spec: Spec) -> Result<Self> {
        let side = |side: usize| -> Vec<Cloud<T>> {
            let cloud = |(k, &n): (usize, &usize)| match (spec.dims, k % 3) {
                (3, 0) => Cloud::of(Kind::Room, n, (2 * k + side) as u64),
                (dims, 1) => PairKind::Tied.pair([n, 1], dims, (2 * k + side) as u64).a,
                (dims, _) => PairKind::Random.pair([n, 1], dims, (2 * k + side) as u64).a,
            };
            spec.lengths[side].iter().enumerate().map(cloud).collect()
        };
        let clouds = [side(0), side(1)];
        let longest = spec.longest();
        let padded = [0, 1].map(|side| (!spec.ragged[side]).then_some(longest[side]));
        let layouts = [0, 1].map(|side| laid_out(spec.layouts[side], padded[side], &clouds[side]));
        let [(a, first), (b, second)] = layouts;
        let truth = Expected::of([&clouds[0], &clouds[1]], padded, spec.norm, spec.indices)?;
        Ok(Self { spec, data: [a, b], strides: [first, second], truth })
    }

    fn compare(
        &self,
        device: &Gpu,
        matcher: &Matcher,
        label: &str,
        tally: &mut Tally,
    ) -> Result<()> {
        let stream = Stream::new(device)?;
        let input = [self.input(&stream, 0)?, self.input(&stream, 1)?];
        let output = [self.output(&stream, 0)?, self.output(&stream, 1)?];
        let mut pairs = self.device_pairs(&input, &output);
        let bytes = device.nearest_scratch_bytes(matcher, &pairs);
        let backward_bytes = device.gradients_scratch_bytes(&pairs);
        let scratch =
            Guarded::<u8>::new(&stream, if self.spec.provides_scratch { bytes } else { 0 })?;
        let backward_scratch = Guarded::<u8>::new(
            &stream,
            if self.spec.provides_scratch { backward_bytes } else { 0 },
        )?;
        pairs.scratch = self.spec.provides_scratch.then_some((scratch.pointer(), bytes));
        // SAFETY: the arrays have the sizes given and outlive the stream's work.
        let queued = unsafe { device.enqueue_nearest(matcher, &stream, &pairs) };
        if tally.take(label, queued).is_none() {
            return Ok(());
        }
        stream.synchronize()?;
        scratch.read("scratch memory")?;
        for (side, output) in output.iter().enumerate() {
            tally.check(format!("{label}, side {side}"), self.same(side, output)?);
        }
        let send = |side: usize| self.spec.indices[side].then(|| input[side].grads.pointer());
        let request = DeviceGradients {
            grads: [send(0), send(1)],
            scratch: self
                .spec
                .provides_scratch
                .then_some((backward_scratch.pointer(), backward_bytes)),
            ..DeviceGradients::new(pairs, [0; 2], [0, 1].map(|k| output[k].gradients.pointer()))
        };
        // SAFETY: the arrays have the sizes given and outlive the stream's work; the indices are those
        // of the search, so within the other cloud.
        let queued = unsafe { device.enqueue_gradients(matcher, &stream, &request) };
        if tally.take(format!("{label}, backward"), queued).is_some() {
            stream.synchronize()?;
            backward_scratch.read("scratch memory")?;
            for (side, (output, truth)) in output.iter().zip(&self.truth).enumerate() {
                let found = output.gradients.read("gradients")?;
                let same = same_numbers("gradients", &found, &truth.gradients);
                tally.check(format!("{label}, backward, side {side}"), same);
            }
        }
        Ok(())
    }

    fn input(&self, stream: &Stream, side: usize) -> Result<Input<T>> {
        let lengths: Vec<i64> = self.spec.lengths[side].iter().map(|&n| n as i64).collect();
        let offsets: Vec<i64> =
            (0..=lengths.len()).map(|end| lengths[..end].iter().sum()).collect();
        Ok(Input {
            points: Buffer::upload(stream, &self.data[side], "points")?,
            offsets: Buffer::upload(stream, &offsets, "offsets")?,
            lengths: Buffer::upload(stream, &lengths, "lengths")?,
            grads: Buffer::upload(stream, &self.truth[side].grads, "gradients of distances")?,
        })
    }

    fn output(&self, stream: &Stream, side: usize) -> Result<Output<T>> {
        let (rows, numbers) = (self.truth[side].indices.len(), self.truth[side].gradients.len());
        Ok(Output {
            distances: Guarded::new(stream, rows)?,
            indices: Guarded::new(stream, rows)?,
            gradients: Guarded::new(stream, numbers)?,
        })
    }

    fn device_pairs(&self, input: &[Input<T>; 2], output: &[Output<T>; 2]) -> DevicePairs<T> {
        let spec = &self.spec;
        let points = input.each_ref().map(|side| side.points.pointer());
        let (pairs, longest) = (spec.lengths[0].len(), spec.longest());
        let mut device_pairs = DevicePairs::padded(points, pairs, longest, spec.dims);
        for side in 0..2 {
            let differ = spec.lengths[side].iter().any(|&n| n != longest[side]);
            let ragged = spec.ragged[side];
            let target = &mut device_pairs.sides[side];
            target.strides = self.strides[side];
            target.offsets = ragged.then(|| input[side].offsets.pointer());
            target.lengths = (differ && !ragged).then(|| input[side].lengths.pointer());
            target.distances = spec.distances[side].then(|| output[side].distances.pointer());
            target.indices = spec.indices[side].then(|| output[side].indices.pointer());
        }
        device_pairs
    }

    /// Compares a side's requested results; the others must be untouched.
    fn same(&self, side: usize, output: &Output<T>) -> Result<Result<(), String>> {
        let truth = &self.truth[side];
        let distances = output.distances.read("distances")?;
        let indices = output.indices.read("indices")?;
        let is_unexpected = |requested: bool, touched: bool| !requested && touched;
        let untouched = (output.distances.untouched(), output.indices.untouched());
        if is_unexpected(self.spec.distances[side], distances.iter().any(|x| *x != untouched.0))
            || is_unexpected(self.spec.indices[side], indices.iter().any(|x| *x != untouched.1))
        {
            return Ok(Err("written without request".into()));
        }
        let first = match self.spec.distances[side] {
            true => same_numbers("distances", &distances, &truth.distances),
            false => Ok(()),
        };
        Ok(first.and_then(|()| match self.spec.indices[side] {
            true => same_indices("indices", &indices, &truth.indices),
            false => Ok(()),
        }))
    }
}

struct Input<T> {
    points: Buffer<T>,
    offsets: Buffer<i64>,
    lengths: Buffer<i64>,
    grads: Buffer<T>,
}

struct Output<T> {
    distances: Guarded<T>,
    indices: Guarded<i64>,
    gradients: Guarded<T>,
}
