//! Farthest point sampling with nearest-point-distance-updating (Li et al. 2022).
//!
//! The first sample updates the distances of all points. Every later one updates only a window of
//! points around it, and the next sample is still the farthest of all. Start points are samples
//! like others: the first of them updates all, the others their windows. The farthest is read off a
//! tree of block maxima, so that a sample costs its window and not a pass over the cloud: O(N + M
//! w). Distances are the crate's, ties go to the lowest index.

use super::maxima::Maxima;
use super::work::Run;
use super::{Details, Order, morton};
use crate::cloud::WorkingCopy;
use crate::memory;
use crate::spatial::Neighbors;
use crate::{Error, Scalar, Statistics};
use std::ops::Range;

/// Default length of a window, in units of the average number of points per sample.
const WINDOW: usize = 16;

/// Bits per axis of the Morton order, the finest.
const BITS: u32 = morton::MAX_BITS;

/// Parameters of this method.
pub(super) struct Parameters<'a> {
    /// Number of samples, at least one.
    pub(super) count: usize,
    /// Start points: at least one, and no more than the count.
    pub(super) starts: &'a [u32],
    pub(super) window: Option<usize>,
    pub(super) order: Order,
}

pub(super) fn sample<T: Scalar>(
    run: &mut Run<'_, '_, T>,
    parameters: &Parameters<'_>,
) -> Result<(Vec<u32>, Details), Error> {
    let n = run.cloud.len;
    let window = parameters.window.unwrap_or((WINDOW * n).div_ceil(parameters.count)).min(n);
    let all = 0..n as u32;
    let samples = match parameters.order {
        Order::Input => sample_along(run, parameters, memory::collected(all), window)?,
        Order::Morton => {
            let order = morton::order(run, BITS)?;
            sample_along(run, parameters, order, window)?
        }
        Order::Neighbors => {
            sample_among_neighbors(run, parameters, &memory::collected(all), window)?
        }
    };
    Ok((samples, Details::Npdu { window }))
}

/// Samples with windows that are runs of `order`.
fn sample_along<T: Scalar>(
    run: &mut Run<'_, '_, T>,
    parameters: &Parameters<'_>,
    order: Vec<u32>,
    window: usize,
) -> Result<Vec<u32>, Error> {
    let n = run.cloud.len;
    let mut state = State::new(run.cloud, order);
    let mut samples = memory::with_capacity(parameters.count);
    while samples.len() < parameters.count {
        let position = state.next(parameters.starts, samples.len());
        let start = position.saturating_sub(window / 2).min(n - window);
        let range = if samples.is_empty() { 0..n } else { start..start + window };
        samples.push(state.maxima.label(position));
        state.update(position, range.clone(), &mut run.statistics);
        run.watch.step(range.len(), samples.len(), state.largest())?;
    }
    Ok(samples)
}

/// Points in some order, with their distances to the sample as far as known.
struct State<T> {
    /// Coordinates by axis, in the order.
    axes: Vec<Vec<T>>,
    maxima: Maxima<T>,
    /// Position of each point.
    position_of: Vec<u32>,
}

impl<T: Scalar> State<T> {
    fn new(cloud: &WorkingCopy<T>, order: Vec<u32>) -> Self {
        let sorted =
            |values: &[T]| memory::collected(order.iter().map(|&point| values[point as usize]));
        let axes = cloud.axes.iter().map(|values| sorted(values)).collect();
        let mut position_of = memory::zeros(order.len());
        for (position, &point) in order.iter().enumerate() {
            position_of[point as usize] = position as u32;
        }
        let maxima = Maxima::new(memory::filled(order.len(), T::INFINITY), order);
        Self { axes, maxima, position_of }
    }

    /// Returns the position of the next sample, after `samples` of them: a start point, or the farthest.
    fn next(&self, starts: &[u32], samples: usize) -> usize {
        let start = starts.get(samples).map(|&point| self.position_of[point as usize] as usize);
        start.unwrap_or_else(|| self.maxima.largest())
    }

    /// Returns the largest squared distance.
    fn largest(&self) -> T {
        self.maxima.value(self.maxima.largest())
    }

    /// Takes the point at a position, and lowers the distances in a range that may not contain it.
    fn update(&mut self, position: usize, range: Range<usize>, statistics: &mut Statistics) {
        let Self { axes, maxima, .. } = self;
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

/// Samples with windows of the nearest points in space.
fn sample_among_neighbors<T: Scalar>(
    run: &mut Run<'_, '_, T>,
    parameters: &Parameters<'_>,
    all: &[u32],
    window: usize,
) -> Result<Vec<u32>, Error> {
    let tree = Neighbors::new(run.cloud, all);
    run.watch.pass(all.len())?;
    // In the tree's order a window lies in few blocks.
    let mut state = State::new(run.cloud, memory::collected(tree.points().map(|(_, point)| point)));
    let first = state.next(parameters.starts, 0);
    let mut samples = memory::with_capacity(parameters.count);
    samples.push(state.maxima.label(first));
    state.update(first, 0..all.len(), &mut run.statistics);
    run.watch.step(all.len(), 1, state.largest())?;
    let (mut near, mut touched) = (Vec::new(), Vec::new());
    while samples.len() < parameters.count {
        let position = state.next(parameters.starts, samples.len());
        let State { maxima, position_of, .. } = &mut state;
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
        run.statistics.distance_evaluations += near.len() as u64;
        run.statistics.effective_updates += touched.len() as u64 - 1;
        maxima.touch(&mut touched);
        run.watch.step(near.len(), samples.len(), state.largest())?;
    }
    Ok(samples)
}
