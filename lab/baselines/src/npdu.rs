//! Farthest point sampling with nearest-point-distance-updating (Li et al. 2022).
//!
//! The first sample updates the distances of all points. Every later one updates only a window of
//! points around it, and the next sample is still the farthest of all. Start points are samples
//! like others: the first of them updates all, the others their windows. The farthest is read off a
//! tree of block maxima, so that a sample costs its window and not a pass over the cloud: O(N + M
//! w). Distances are the crate's, ties go to the lowest index.

use crate::maxima::Maxima;
use crate::run::Run;
use crate::{Order, morton};
use anyhow::Result;
use farpoint::{Axes, Index, Scalar, Searcher, Statistics};
use std::ops::Range;

/// Default length of a window, in units of the average number of points per sample.
const WINDOW: usize = 16;

/// Bits per axis of the Morton order, the finest.
const BITS: u32 = 21;

/// Returns the samples, and the number of points per window.
pub(crate) fn sample<T: Scalar>(
    run: &mut Run<'_, T>,
    window: Option<usize>,
    order: Order,
) -> Result<(Vec<u32>, usize)> {
    let n = run.cloud.points();
    let window = window.unwrap_or((WINDOW * n).div_ceil(run.count)).min(n);
    let samples = match order {
        Order::Input => along(run, (0..n as u32).collect(), window),
        Order::Morton => along(run, morton::order(&run.axes, BITS), window),
        Order::Neighbors => among_neighbors(run, window)?,
    };
    Ok((samples, window))
}

/// Samples with windows that are runs of `order`.
fn along<T: Scalar>(run: &mut Run<'_, T>, order: Vec<u32>, window: usize) -> Vec<u32> {
    let n = order.len();
    let mut state = State::new(&run.axes, order);
    let mut samples = Vec::with_capacity(run.count);
    while samples.len() < run.count {
        let position = state.next(run.starts, samples.len());
        let start = position.saturating_sub(window / 2).min(n - window);
        let range = if samples.is_empty() { 0..n } else { start..start + window };
        samples.push(state.maxima.label(position));
        state.update(position, range, &mut run.statistics);
    }
    samples
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
    fn new(axes: &[&[T]], order: Vec<u32>) -> Self {
        let sorted = |values: &&[T]| order.iter().map(|&point| values[point as usize]).collect();
        let axes = axes.iter().map(sorted).collect();
        let mut position_of = vec![0; order.len()];
        for (position, &point) in order.iter().enumerate() {
            position_of[point as usize] = position as u32;
        }
        let maxima = Maxima::new(vec![T::INFINITY; order.len()], order);
        Self { axes, maxima, position_of }
    }

    /// Returns the position of the next sample, after `samples` of them: a start point, or the farthest.
    fn next(&self, starts: &[u32], samples: usize) -> usize {
        let start = starts.get(samples).map(|&point| self.position_of[point as usize] as usize);
        start.unwrap_or_else(|| self.maxima.largest())
    }

    /// Takes the point at a position, and lowers the distances in a range that may not contain it.
    fn update(&mut self, position: usize, range: Range<usize>, statistics: &mut Statistics) {
        let Self { axes, maxima, .. } = self;
        maxima.change(position..position + 1, |values| values[0] = T::from_f64(-1.0));
        statistics.distance_evaluations += range.len() as u64;
        let mut effective = 0u64;
        let at: Vec<T> = axes.iter().map(|values| values[position]).collect();
        let rows: Vec<_> = axes.iter().map(|axis| &axis[range.clone()]).collect();
        maxima.change(range, |values| {
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
fn among_neighbors<T: Scalar>(run: &mut Run<'_, T>, window: usize) -> Result<Vec<u32>> {
    let n = run.cloud.points();
    let index = Index::new(&Axes::new(&run.axes)?)?;
    let mut state = State::new(&run.axes, (0..n as u32).collect());
    let first = state.next(run.starts, 0);
    let mut samples = Vec::with_capacity(run.count);
    samples.push(first as u32);
    state.update(first, 0..n, &mut run.statistics);
    let search = Searcher::nearest(window);
    let mut touched = Vec::new();
    while samples.len() < run.count {
        let sample = state.next(run.starts, samples.len());
        samples.push(sample as u32);
        let at: Vec<_> = run.axes.iter().map(|values| &values[sample..=sample]).collect();
        let near = index.search(&search, &Axes::new(&at)?)?;
        state.maxima.set(sample, T::from_f64(-1.0));
        touched.clear();
        touched.push(sample as u32);
        for (&point, &new) in near.indices(0).iter().zip(near.raw_distances(0)) {
            if new < state.maxima.value(point as usize) {
                state.maxima.set(point as usize, new);
                touched.push(point);
            }
        }
        run.statistics.distance_evaluations += near.indices(0).len() as u64;
        run.statistics.effective_updates += touched.len() as u64 - 1;
        state.maxima.touch(&mut touched);
    }
    Ok(samples)
}
