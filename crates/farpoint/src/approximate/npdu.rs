//! Farthest point sampling with nearest-point-distance-updating (Li et al. 2022).
//!
//! The first sample, the first usable point, updates the distances of all points. Every later one
//! updates only a window of points around it, and the next sample is still the farthest of all.
//! The farthest is read off a tree of block maxima, so that a sample costs its window and not a
//! pass over the cloud: O(N + M w). Distances are the crate's, ties go to the lowest index.

use super::maxima::Maxima;
use super::{Details, Order, morton};
use crate::cloud::Cloud;
use crate::spatial::Neighbours;
use crate::{Scalar, Statistics};
use std::ops::Range;

/// A window is this many times as long as samples are apart on average, unless told.
const WINDOW: usize = 16;

/// Bits an axis of the Morton order: as fine as there are.
const BITS: u32 = morton::MOST_BITS;

/// Chooses `count` points, at least one.
pub(super) fn sample<T: Scalar>(
    cloud: &Cloud<T>,
    count: usize,
    window: Option<usize>,
    order: Order,
    statistics: &mut Statistics,
) -> (Vec<u32>, Details) {
    let chosen = (WINDOW * cloud.len).div_ceil(count);
    let window = window.unwrap_or(chosen).min(cloud.len);
    let all: Vec<u32> = (0..cloud.len as u32).collect();
    let samples = match order {
        Order::Input => along(cloud, all, count, window, statistics),
        Order::Morton => along(cloud, morton::order(cloud, BITS), count, window, statistics),
        Order::Neighbours => among_neighbours(cloud, &all, count, window, statistics),
    };
    (samples, Details::Npdu { window })
}

/// Windows are runs of `order`.
fn along<T: Scalar>(
    cloud: &Cloud<T>,
    order: Vec<u32>,
    count: usize,
    window: usize,
    statistics: &mut Statistics,
) -> Vec<u32> {
    let (n, first) = (cloud.len, order.iter().position(|&point| point == 0).unwrap_or(0));
    let mut state = State::new(cloud, order);
    state.update(first, 0..n, statistics);
    let mut samples = vec![state.maxima.label(first)];
    while samples.len() < count {
        let position = state.maxima.largest();
        samples.push(state.maxima.label(position));
        let start = position.saturating_sub(window / 2).min(n - window);
        state.update(position, start..start + window, statistics);
    }
    samples
}

/// Points in some order, with their distances to the sample as far as they are known.
struct State<T> {
    /// Coordinates by axis, in the order.
    axes: Vec<Vec<T>>,
    maxima: Maxima<T>,
}

impl<T: Scalar> State<T> {
    fn new(cloud: &Cloud<T>, order: Vec<u32>) -> Self {
        let sorted = |values: &[T]| order.iter().map(|&point| values[point as usize]).collect();
        let axes = cloud.axes.iter().map(|values| sorted(values)).collect();
        Self { axes, maxima: Maxima::new(vec![T::INFINITY; order.len()], order) }
    }

    /// Takes the point at a position, and lowers the distances in a range that holds it or not.
    fn update(&mut self, position: usize, range: Range<usize>, statistics: &mut Statistics) {
        let Self { axes, maxima } = self;
        let at: Vec<T> = axes.iter().map(|values| values[position]).collect();
        maxima.change(position..position + 1, |values| values[0] = T::from_f64(-1.0));
        statistics.distance_evaluations += range.len() as u64;
        let mut effective = 0u64;
        maxima.change(range.clone(), |values| {
            let rows = axes.iter().map(|axis| &axis[range.clone()]).collect::<Vec<_>>();
            for (k, value) in values.iter_mut().enumerate() {
                let square = |axis: usize| (rows[axis][k] - at[axis]) * (rows[axis][k] - at[axis]);
                let new = (3..rows.len())
                    .fold((square(0) + square(1)) + square(2), |sum, axis| sum + square(axis));
                effective += u64::from(new < *value);
                *value = if new < *value { new } else { *value };
            }
        });
        statistics.effective_updates += effective;
    }
}

/// Windows are the nearest points in space.
fn among_neighbours<T: Scalar>(
    cloud: &Cloud<T>,
    all: &[u32],
    count: usize,
    window: usize,
    statistics: &mut Statistics,
) -> Vec<u32> {
    let tree = Neighbours::new(cloud, all);
    // In the tree's order a window lies in few blocks.
    let order: Vec<u32> = tree.points().map(|(_, point)| point).collect();
    let mut position_of = vec![0u32; cloud.len];
    for (position, &point) in order.iter().enumerate() {
        position_of[point as usize] = position as u32;
    }
    let mut state = State::new(cloud, order);
    let first = position_of[0] as usize;
    state.update(first, 0..cloud.len, statistics);
    let maxima = &mut state.maxima;
    let mut samples = vec![0];
    let (mut near, mut touched) = (Vec::new(), Vec::new());
    while samples.len() < count {
        let position = maxima.largest();
        let sample = maxima.label(position);
        samples.push(sample);
        tree.nearest_many(sample, window, &mut near);
        maxima.set(position, T::from_f64(-1.0));
        touched.clear();
        touched.push(position as u32);
        for &(new, point) in &near {
            let position = position_of[point as usize];
            if new < maxima.value(position as usize) {
                maxima.set(position as usize, new);
                touched.push(position);
            }
        }
        statistics.distance_evaluations += near.len() as u64;
        statistics.effective_updates += touched.len() as u64 - 1;
        maxima.touch(&mut touched);
    }
    samples
}
