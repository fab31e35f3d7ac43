//! Lowers distances by many samples, in one traversal.

use super::{FANOUT, LEAF, Leaf, Node, PART, Slab};
use crate::Corners;
use farpoint::backend::{Kernel, Simd, compress, load, memory, store, vectorize};
use farpoint::{Level, Scalar};
use rayon::prelude::*;

/// Numbers in the widest vector.
const LANES: usize = 16;

/// Up to this many leaves, one thread lowers all.
const PARALLEL_LEAVES: usize = 2 * PART;

/// Coordinates of samples by axis, padded for vectors.
#[derive(Clone)]
pub(crate) struct Samples<T> {
    /// Padded by a vector.
    at: [Vec<T>; 3],
    len: usize,
}

impl<T: Scalar> Samples<T> {
    pub(crate) fn new() -> Self {
        Self { at: std::array::from_fn(|_| vec![T::ZERO; LANES]), len: 0 }
    }

    pub(crate) fn push(&mut self, at: [T; 3]) {
        for (row, x) in self.at.iter_mut().zip(at) {
            row[self.len] = x;
            memory::push(row, T::ZERO);
        }
        self.len += 1;
    }

    pub(crate) fn len(&self) -> usize {
        self.len
    }

    pub(crate) fn clear(&mut self) {
        self.len = 0;
        self.at.iter_mut().for_each(|row| row.truncate(LANES));
    }

    pub(crate) fn get(&self, k: usize) -> [T; 3] {
        assert!(k < self.len);
        [0, 1, 2].map(|a| self.at[a][k])
    }

    fn corners(&self) -> Corners<T> {
        let mut corners = Corners::none();
        (0..self.len).for_each(|k| corners.add(self.get(k)));
        corners
    }

    #[inline(always)]
    fn vectors<S: Simd<T>>(&self, simd: S, k: usize) -> [S::V; 3] {
        [0, 1, 2].map(|a| load(simd, &self.at[a][k..]))
    }

    /// Grows the lists to `len` samples in all, with unspecified values.
    fn reserve(&mut self, len: usize) {
        if self.at[0].len() < len + LANES {
            self.at.iter_mut().for_each(|row| memory::resize(row, 2 * len + LANES, T::ZERO));
        }
    }
}

/// Up to this many samples, parts are processed one by one.
const FILTER_SAMPLES: usize = 128;

impl<T: Scalar> Slab<T> {
    /// Lowers all distances by those to the samples.
    pub(crate) fn lower(&mut self, samples: &Samples<T>) {
        if samples.len == 0 || self.leaves.is_empty() {
            return;
        }
        let threads = self.threads && rayon::current_num_threads() > 1;
        let (leaves, tops) = (&mut self.leaves[..], &mut self.tops[..]);
        let span = Span { leaves, tops, nodes: &mut self.nodes, parts: &mut self.parts };
        span.lower(samples, self.level, threads, &mut scratch());
    }
}

/// Buffers for the samples near a part, and near a node.
type Scratch<T> = [Samples<T>; 2];

fn scratch<T: Scalar>() -> Scratch<T> {
    [Samples::new(), Samples::new()]
}

/// Consecutive parts, with all nodes and leaves below them.
struct Span<'a, T> {
    leaves: &'a mut [Leaf<T>],
    tops: &'a mut [Node<T>],
    nodes: &'a mut [Node<T>],
    parts: &'a mut [Node<T>],
}

impl<'a, T: Scalar> Span<'a, T> {
    /// Splits into spans of `parts` parts.
    fn chunks(self, parts: usize) -> impl Iterator<Item = Span<'a, T>> {
        let leaves = self.leaves.chunks_mut(parts * PART).zip(self.tops.chunks_mut(parts * PART));
        let nodes = self.nodes.chunks_mut(parts * FANOUT).zip(self.parts.chunks_mut(parts));
        leaves.zip(nodes).map(|((leaves, tops), (nodes, parts))| Span {
            leaves,
            tops,
            nodes,
            parts,
        })
    }

    /// Filters samples for a span of parts before those for each part: otherwise the time would grow with the number of
    /// parts times the number of samples.
    fn lower(self, samples: &Samples<T>, level: Level, threads: bool, scratch: &mut Scratch<T>) {
        let corners = samples.corners();
        let reached = |node: &Node<T>| node.corners.near_box(&corners) < node.largest;
        if let [part] = &mut *self.parts {
            if reached(part) {
                let Self { leaves, tops, nodes, .. } = self;
                vectorize(level, Lower { samples, leaves, tops, nodes, part, scratch });
            }
            return;
        }
        let size = match samples.len > FILTER_SAMPLES {
            true => self.parts.len().div_ceil(FANOUT).next_power_of_two(),
            false => 1,
        };
        let lower_span = |span: Span<'_, T>, scratch: &mut Scratch<T>| {
            if size == 1 {
                return span.lower(samples, level, threads, scratch);
            }
            let above = &Node::above(span.parts);
            if reached(above) {
                let mut near = Samples::new();
                vectorize(level, Filter { samples, node: above, into: &mut near });
                if near.len > 0 {
                    span.lower(&near, level, threads, scratch);
                }
            }
        };
        if threads && self.leaves.len() > PARALLEL_LEAVES {
            let spans: Vec<_> = self.chunks(size).collect();
            spans
                .into_par_iter()
                .for_each_init(self::scratch, |scratch, span| lower_span(span, scratch));
        } else {
            self.chunks(size).for_each(|span| lower_span(span, scratch));
        }
    }
}

struct Filter<'a, T> {
    samples: &'a Samples<T>,
    node: &'a Node<T>,
    into: &'a mut Samples<T>,
}

impl<T: Scalar> Kernel<T> for Filter<'_, T> {
    type Output = ();

    #[inline(always)]
    fn run<S: Simd<T>>(self, simd: S) {
        filter(simd, self.samples, self.node, self.into);
    }
}

struct Lower<'a, T> {
    samples: &'a Samples<T>,
    leaves: &'a mut [Leaf<T>],
    tops: &'a mut [Node<T>],
    nodes: &'a mut [Node<T>],
    part: &'a mut Node<T>,
    scratch: &'a mut [Samples<T>; 2],
}

impl<T: Scalar> Kernel<T> for Lower<'_, T> {
    type Output = ();

    #[inline(always)]
    fn run<S: Simd<T>>(self, simd: S) {
        let Self { samples, leaves, tops, nodes, part, scratch: [near_part, near_node] } = self;
        filter(simd, samples, part, near_part);
        if near_part.len == 0 {
            return;
        }
        for (k, node) in nodes.iter_mut().enumerate() {
            let below = k * FANOUT..((k + 1) * FANOUT).min(leaves.len());
            filter(simd, near_part, node, near_node);
            if near_node.len == 0 {
                continue;
            }
            for (leaf, top) in leaves[below.clone()].iter_mut().zip(&mut tops[below.clone()]) {
                lower_leaf(simd, near_node, leaf, top);
            }
            node.correct(&tops[below]);
        }
        part.correct(nodes);
    }
}

/// Returns lower bounds of the computed distances between the points of the box and each of the points.
#[inline(always)]
fn near<T: Scalar, S: Simd<T>>(simd: S, corners: &[[S::V; 3]; 2], at: [S::V; 3]) -> S::V {
    let zero = simd.splat(T::ZERO);
    let gap = |a: usize| {
        let outside = simd.max(simd.sub(corners[0][a], at[a]), simd.sub(at[a], corners[1][a]));
        let gap = simd.max(outside, zero);
        simd.mul(gap, gap)
    };
    simd.add(simd.add(gap(0), gap(1)), gap(2))
}

#[inline(always)]
fn splat_corners<T: Scalar, S: Simd<T>>(simd: S, corners: &Corners<T>) -> [[S::V; 3]; 2] {
    [corners.low, corners.high].map(|corner| corner.map(|x| simd.splat(x)))
}

/// Returns the valid lanes of a vector with `remaining` elements up to the end of a list.
#[inline(always)]
pub(super) fn lanes_below(remaining: usize) -> u32 {
    if remaining >= 32 { u32::MAX } else { (1 << remaining) - 1 }
}

/// Collects the samples that can lower a distance in a node.
#[inline(always)]
fn filter<T: Scalar, S: Simd<T>>(
    simd: S,
    samples: &Samples<T>,
    node: &Node<T>,
    into: &mut Samples<T>,
) {
    let corners = splat_corners(simd, &node.corners);
    let largest = simd.splat(node.largest);
    into.reserve(samples.len);
    let mut count = 0;
    for k in (0..samples.len).step_by(S::LANES) {
        let at = samples.vectors(simd, k);
        let hit = simd.lt(near(simd, &corners, at), largest) & lanes_below(samples.len - k);
        for (row, at) in into.at.iter_mut().zip(at) {
            compress(simd, hit, at, &mut row[count..]);
        }
        count += hit.count_ones() as usize;
    }
    into.len = count;
}

/// Lowers the distances of a leaf. It is loaded once for every vector of samples with near ones.
#[inline(always)]
fn lower_leaf<T: Scalar, S: Simd<T>>(
    simd: S,
    samples: &Samples<T>,
    leaf: &mut Leaf<T>,
    top: &mut Node<T>,
) {
    let corners = splat_corners(simd, &top.corners);
    let largest = simd.splat(top.largest);
    let mut new_largest = None;
    for k in (0..samples.len).step_by(S::LANES) {
        let at = samples.vectors(simd, k);
        let hit = simd.lt(near(simd, &corners, at), largest) & lanes_below(samples.len - k);
        if hit != 0 {
            new_largest = Some(lower_lanes(simd, samples, k, hit, leaf));
        }
    }
    if let Some(new_largest) = new_largest {
        top.largest = simd.largest(new_largest);
    }
}

/// Lowers distances by the samples `first + lane` of the lanes in `hit`; returns the largest in each lane.
#[inline(always)]
fn lower_lanes<T: Scalar, S: Simd<T>>(
    simd: S,
    samples: &Samples<T>,
    first: usize,
    hit: u32,
    leaf: &mut Leaf<T>,
) -> S::V {
    let mut largest = simd.splat(T::from_f64(-1.0));
    let Leaf { at, value } = leaf;
    let block = samples.at.each_ref().map(|row| &row[first..first + S::LANES]);
    for lane in (0..LEAF).step_by(2 * S::LANES) {
        let other = lane + S::LANES;
        let [a, b] = [lane, other].map(|lane| [0, 1, 2].map(|k| load(simd, &at[k][lane..])));
        let mut old = [lane, other].map(|lane| load(simd, &value[lane..]));
        let mut remaining = hit;
        while remaining != 0 {
            let k = remaining.trailing_zeros() as usize;
            remaining &= remaining - 1;
            let s = [0, 1, 2].map(|a| simd.splat(block[a][k]));
            for (old, at) in old.iter_mut().zip([a, b]) {
                let [x, y, z] = [0, 1, 2].map(|k| {
                    let difference = simd.sub(at[k], s[k]);
                    simd.mul(difference, difference)
                });
                *old = simd.min(simd.add(simd.add(x, y), z), *old);
            }
        }
        store(simd, &mut value[lane..], old[0]);
        store(simd, &mut value[other..], old[1]);
        largest = simd.max(largest, simd.max(old[0], old[1]));
    }
    largest
}
