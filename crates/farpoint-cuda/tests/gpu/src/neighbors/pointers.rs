//! Pairs in device memory: every layout and list that a batch can have, one side or both, with and
//! without scratch memory, nothing written outside the arrays.

use super::expected::{Expected, same_indices, same_numbers};
use super::pairs::Like;
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
struct Ask {
    name: &'static str,
    layouts: [RowLayout; 2],
    /// Rows of each cloud; padded to the largest number, or one after another.
    lengths: [Vec<usize>; 2],
    ragged: [bool; 2],
    distances: [bool; 2],
    indices: [bool; 2],
    given_scratch: bool,
    dims: usize,
    norm: Norm,
}

impl Ask {
    fn plain(name: &'static str, pairs: usize, rows: [usize; 2]) -> Self {
        Self {
            name,
            layouts: [RowLayout::Rows; 2],
            lengths: rows.map(|rows| vec![rows; pairs]),
            ragged: [false; 2],
            distances: [true; 2],
            indices: [true; 2],
            given_scratch: true,
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
    let lists = Ask { lengths: some, ..Ask::plain("lengths, empty clouds", 7, [0; 2]) };
    let asks = vec![
        Ask::plain("rows", 4, [700, 900]),
        Ask { given_scratch: false, ..Ask::plain("pool", 3, [3_000, 2_000]) },
        Ask {
            layouts: [RowLayout::Gaps, RowLayout::Axes],
            ..Ask::plain("gaps, axes", 3, [800, 600])
        },
        Ask { indices: [false; 2], ..Ask::plain("distances alone", 2, [500, 400]) },
        Ask { distances: [false; 2], ..Ask::plain("indices alone", 2, [500, 400]) },
        one_sided([true, false]),
        one_sided([false, true]),
        Ask { norm: Norm::One, ..lists.clone() },
        Ask { name: "ragged", ragged: [true; 2], ..lists.clone() },
        Ask {
            name: "ragged axes, pool",
            ragged: [true; 2],
            layouts: [RowLayout::Axes; 2],
            given_scratch: false,
            ..lists.clone()
        },
        Ask { name: "ragged against padded", ragged: [true, false], ..lists.clone() },
        Ask::plain("one large", 1, [20_000, 15_000]),
        lists.clone(),
    ];
    let high = vec![
        Ask { dims: 5, ..Ask::plain("rows", 4, [700, 900]) },
        Ask { name: "ragged", dims: 5, ragged: [true; 2], norm: Norm::One, ..lists },
    ];
    vec![
        group::<f32>("", METHODS, asks.clone()),
        group::<f64>("", METHODS, asks),
        group::<f32>(", 5 axes", ANY_AXES, high.clone()),
        group::<f64>(", 5 axes", ANY_AXES, high),
    ]
}

fn one_sided(asked: [bool; 2]) -> Ask {
    let plain = Ask::plain("one side", 3, [600, 1_200]);
    Ask { distances: asked, indices: asked, ..plain }
}

/// For the sanitizer.
pub(super) fn small() -> Vec<Group> {
    let lengths = [vec![300, 0, 1, 33], vec![20, 40, 100, 0]];
    let lists = Ask { lengths, ..Ask::plain("lengths", 4, [0; 2]) };
    let ragged = Ask { name: "ragged", ragged: [true; 2], ..lists.clone() };
    let asks = vec![one_sided([true, false]), lists, ragged];
    vec![group::<f32>("", METHODS, asks.clone()), group::<f64>("", METHODS, asks)]
}

fn group<T: CudaScalar>(name: &str, parts: &'static [&'static str], asks: Vec<Ask>) -> Group {
    Group::new(format!("chamfer device pointers {}{name}", T::SUFFIX), parts, move || {
        let cases = asks.into_iter().map(Case::<T>::new).collect::<Result<Vec<_>>>()?;
        Ok(move |device: &Gpu, part: &str, tally: &mut Tally| {
            for Variant { name, matcher, team } in variants(part) {
                let _team = Team::new(device, team);
                for case in &cases {
                    let what = format!("{name}, {}", case.ask.name);
                    case.compare(device, &matcher.clone().norm(case.ask.norm), &what, tally)?;
                }
            }
            Ok(())
        })
    })
}

/// A batch in the layout under test, and the expected result.
struct Case<T> {
    ask: Ask,
    data: [Vec<T>; 2],
    strides: [[i64; 2]; 2],
    truth: [Expected<T>; 2],
}

impl<T: CudaScalar> Case<T> {
    fn new(ask: Ask) -> Result<Self> {
        let side = |side: usize| -> Vec<Cloud<T>> {
            let cloud = |(k, &n): (usize, &usize)| match (ask.dims, k % 3) {
                (3, 0) => Cloud::of(Kind::Room, n, (2 * k + side) as u64),
                (dims, 1) => Like::Tied.pair([n, 1], dims, (2 * k + side) as u64).a,
                (dims, _) => Like::Random.pair([n, 1], dims, (2 * k + side) as u64).a,
            };
            ask.lengths[side].iter().enumerate().map(cloud).collect()
        };
        let clouds = [side(0), side(1)];
        let longest = ask.longest();
        let padded = [0, 1].map(|side| (!ask.ragged[side]).then_some(longest[side]));
        let laid = [0, 1].map(|side| laid_out(ask.layouts[side], padded[side], &clouds[side]));
        let [(a, first), (b, second)] = laid;
        let truth = Expected::of([&clouds[0], &clouds[1]], padded, ask.norm, ask.indices)?;
        Ok(Self { ask, data: [a, b], strides: [first, second], truth })
    }

    fn compare(
        &self,
        device: &Gpu,
        matcher: &Matcher,
        what: &str,
        tally: &mut Tally,
    ) -> Result<()> {
        let stream = Stream::new(device)?;
        let input = [self.input(&stream, 0)?, self.input(&stream, 1)?];
        let answer = [self.answer(&stream, 0)?, self.answer(&stream, 1)?];
        let mut pairs = self.told(&input, &answer);
        let bytes = device.nearest_scratch_bytes(matcher, &pairs);
        let back = device.gradients_scratch_bytes(&pairs);
        let scratch = Guarded::<u8>::new(&stream, if self.ask.given_scratch { bytes } else { 0 })?;
        let other = Guarded::<u8>::new(&stream, if self.ask.given_scratch { back } else { 0 })?;
        pairs.scratch = self.ask.given_scratch.then_some((scratch.pointer(), bytes));
        // SAFETY: the arrays have the sizes given and outlive the stream's work.
        let queued = unsafe { device.enqueue_nearest(matcher, &stream, &pairs) };
        if tally.take(what, queued).is_none() {
            return Ok(());
        }
        stream.synchronize()?;
        scratch.read("scratch memory")?;
        for (side, answer) in answer.iter().enumerate() {
            tally.check(format!("{what}, side {side}"), self.same(side, answer)?);
        }
        let send = |side: usize| self.ask.indices[side].then(|| input[side].grads.pointer());
        let wanted = DeviceGradients {
            grads: [send(0), send(1)],
            scratch: self.ask.given_scratch.then_some((other.pointer(), back)),
            ..DeviceGradients::new(pairs, [0; 2], [0, 1].map(|k| answer[k].gradients.pointer()))
        };
        // SAFETY: the arrays have the sizes given and outlive the stream's work; the indices are those
        // of the search, so within the other cloud.
        let queued = unsafe { device.enqueue_gradients(matcher, &stream, &wanted) };
        if tally.take(format!("{what}, backward"), queued).is_some() {
            stream.synchronize()?;
            other.read("scratch memory")?;
            for (side, (answer, truth)) in answer.iter().zip(&self.truth).enumerate() {
                let found = answer.gradients.read("gradients")?;
                let same = same_numbers("gradients", &found, &truth.gradients);
                tally.check(format!("{what}, backward, side {side}"), same);
            }
        }
        Ok(())
    }

    fn input(&self, stream: &Stream, side: usize) -> Result<Input<T>> {
        let lengths: Vec<i64> = self.ask.lengths[side].iter().map(|&n| n as i64).collect();
        let offsets: Vec<i64> =
            (0..=lengths.len()).map(|end| lengths[..end].iter().sum()).collect();
        Ok(Input {
            points: Buffer::upload(stream, &self.data[side], "points")?,
            offsets: Buffer::upload(stream, &offsets, "offsets")?,
            lengths: Buffer::upload(stream, &lengths, "lengths")?,
            grads: Buffer::upload(stream, &self.truth[side].grads, "gradients of distances")?,
        })
    }

    fn answer(&self, stream: &Stream, side: usize) -> Result<Answer<T>> {
        let (rows, numbers) = (self.truth[side].indices.len(), self.truth[side].gradients.len());
        Ok(Answer {
            distances: Guarded::new(stream, rows)?,
            indices: Guarded::new(stream, rows)?,
            gradients: Guarded::new(stream, numbers)?,
        })
    }

    fn told(&self, input: &[Input<T>; 2], answer: &[Answer<T>; 2]) -> DevicePairs<T> {
        let ask = &self.ask;
        let points = input.each_ref().map(|side| side.points.pointer());
        let (pairs, longest) = (ask.lengths[0].len(), ask.longest());
        let mut told = DevicePairs::padded(points, pairs, longest, ask.dims);
        for side in 0..2 {
            let differ = ask.lengths[side].iter().any(|&n| n != longest[side]);
            let ragged = ask.ragged[side];
            let to = &mut told.sides[side];
            to.strides = self.strides[side];
            to.offsets = ragged.then(|| input[side].offsets.pointer());
            to.lengths = (differ && !ragged).then(|| input[side].lengths.pointer());
            to.distances = ask.distances[side].then(|| answer[side].distances.pointer());
            to.indices = ask.indices[side].then(|| answer[side].indices.pointer());
        }
        told
    }

    /// Compares a side's requested results; the others must be untouched.
    fn same(&self, side: usize, answer: &Answer<T>) -> Result<Result<(), String>> {
        let truth = &self.truth[side];
        let distances = answer.distances.read("distances")?;
        let indices = answer.indices.read("indices")?;
        let left = |asked: bool, touched: bool| !asked && touched;
        let untouched = (answer.distances.untouched(), answer.indices.untouched());
        if left(self.ask.distances[side], distances.iter().any(|x| *x != untouched.0))
            || left(self.ask.indices[side], indices.iter().any(|x| *x != untouched.1))
        {
            return Ok(Err("written unasked".into()));
        }
        let first = match self.ask.distances[side] {
            true => same_numbers("distances", &distances, &truth.distances),
            false => Ok(()),
        };
        Ok(first.and_then(|()| match self.ask.indices[side] {
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

struct Answer<T> {
    distances: Guarded<T>,
    indices: Guarded<i64>,
    gradients: Guarded<T>,
}
