//! Lowers distances by many samples, in one walk.

use super::{FANOUT, LEAF, Leaf, Node, PART, Slab};
use crate::Corners;
use farpoint::backend::{Kernel, Simd, compress, load, memory, store, vectorize};
use farpoint::{Level, Scalar};
use rayon::prelude::*;

/// Numbers in the widest vector.
const LANES: usize = 16;

/// With fewer leaves, one thread does all.
const SHARE: usize = 2 * PART;

/// Coordinates of samples by axis, as vectors want them.
#[derive(Clone)]
pub(crate) struct Samples<T> {
    /// Longer than the list by a vector.
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

    /// Makes room for so many in all, whose values do not matter yet.
    fn reserve(&mut self, len: usize) {
        if self.at[0].len() < len + LANES {
            self.at.iter_mut().for_each(|row| memory::resize(row, 2 * len + LANES, T::ZERO));
        }
    }
}

/// With fewer samples, all parts are looked at one by one.
const FEW: usize = 128;

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

/// Samples near a part, and near a node.
type Scratch<T> = [Samples<T>; 2];

fn scratch<T: Scalar>() -> Scratch<T> {
    [Samples::new(), Samples::new()]
}

/// Parts that follow each other, with all below.
struct Span<'a, T> {
    leaves: &'a mut [Leaf<T>],
    tops: &'a mut [Node<T>],
    nodes: &'a mut [Node<T>],
    parts: &'a mut [Node<T>],
}

impl<'a, T: Scalar> Span<'a, T> {
    /// Spans of so many parts.
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

    /// Samples are looked through for a span of parts before they are for each of them: without that, the time would
    /// grow with the number of parts times the number of samples.
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
        let size = match samples.len > FEW {
            true => self.parts.len().div_ceil(FANOUT).next_power_of_two(),
            false => 1,
        };
        let one = |span: Span<'_, T>, scratch: &mut Scratch<T>| {
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
        if threads && self.leaves.len() > SHARE {
            let spans: Vec<_> = self.chunks(size).collect();
            spans.into_par_iter().for_each_init(self::scratch, |scratch, span| one(span, scratch));
        } else {
            self.chunks(size).for_each(|span| one(span, scratch));
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
        let Self { samples, leaves, tops, nodes, part, scratch: [of_part, of_node] } = self;
        filter(simd, samples, part, of_part);
        if of_part.len == 0 {
            return;
        }
        for (k, node) in nodes.iter_mut().enumerate() {
            let below = k * FANOUT..((k + 1) * FANOUT).min(leaves.len());
            filter(simd, of_part, node, of_node);
            if of_node.len == 0 {
                continue;
            }
            for (leaf, top) in leaves[below.clone()].iter_mut().zip(&mut tops[below.clone()]) {
                lower_leaf(simd, of_node, leaf, top);
            }
            node.correct(&tops[below]);
        }
        part.correct(nodes);
    }
}

/// Not above the computed distance between any point of the box and each of the points.
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

/// The lanes of a vector that starts so many places before the end of a list.
#[inline(always)]
pub(super) fn lanes_below(left: usize) -> u32 {
    if left >= 32 { u32::MAX } else { (1 << left) - 1 }
}

/// The samples that can change something in a node.
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

/// Lowers the distances of a leaf. It is loaded once for every vector of samples of which some are near.
#[inline(always)]
fn lower_leaf<T: Scalar, S: Simd<T>>(
    simd: S,
    samples: &Samples<T>,
    leaf: &mut Leaf<T>,
    top: &mut Node<T>,
) {
    let corners = splat_corners(simd, &top.corners);
    let largest = simd.splat(top.largest);
    let mut most = None;
    for k in (0..samples.len).step_by(S::LANES) {
        let at = samples.vectors(simd, k);
        let hit = simd.lt(near(simd, &corners, at), largest) & lanes_below(samples.len - k);
        if hit != 0 {
            most = Some(lower_lanes(simd, samples, k, hit, leaf));
        }
    }
    if let Some(most) = most {
        top.largest = simd.largest(most);
    }
}

/// Lowers distances by the samples `first + lane` of the lanes in `hit`; the largest that is left, in some lane.
#[inline(always)]
fn lower_lanes<T: Scalar, S: Simd<T>>(
    simd: S,
    samples: &Samples<T>,
    first: usize,
    hit: u32,
    leaf: &mut Leaf<T>,
) -> S::V {
    let mut most = simd.splat(T::from_f64(-1.0));
    let Leaf { at, value } = leaf;
    let here = samples.at.each_ref().map(|row| &row[first..first + S::LANES]);
    for lane in (0..LEAF).step_by(2 * S::LANES) {
        let other = lane + S::LANES;
        let [a, b] = [lane, other].map(|lane| [0, 1, 2].map(|k| load(simd, &at[k][lane..])));
        let mut old = [lane, other].map(|lane| load(simd, &value[lane..]));
        let mut left = hit;
        while left != 0 {
            let k = left.trailing_zeros() as usize;
            left &= left - 1;
            let s = [0, 1, 2].map(|a| simd.splat(here[a][k]));
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
        most = simd.max(most, simd.max(old[0], old[1]));
    }
    most
}
