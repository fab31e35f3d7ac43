//! Levels of points at least a radius apart, then exact sampling of the rest.
//!
//! Every point has its squared distance to the sample, as far as it is below the square of the
//! level's radius: samples look through a grid no farther than that. As radii fall, whatever is
//! below the next radius is known too, so that levels go on from each other's distances.

use crate::maxima::Maxima;
use crate::run::{Run, squared};
use anyhow::Result;
use farpoint::backend::{Cells, Grid};
use farpoint::{Axes, Matcher, Scalar, Statistics};

/// Width of a cell, in units of the search radius.
const CELL: f64 = 1.0;

pub(super) struct Levels<T> {
    /// Corners of the box of the first three axes.
    corners: [[T; 3]; 2],
    /// Chosen points in order.
    pub(super) samples: Vec<u32>,
    grid: Grid<T>,
    /// Points, their coordinates by axis and distances, in the order of the grid's places;
    /// distances of chosen points are -1.
    points: Vec<u32>,
    axes: Vec<Vec<T>>,
    distances: Vec<T>,
    place_of: Vec<u32>,
}

/// Minimum factor by which the radius grows if a level runs out of samples.
const LARGER: f64 = 1.01;

impl<T: Scalar> Levels<T> {
    pub(super) fn new(run: &Run<'_, T>) -> Self {
        let end = |axis: usize, choose: fn(T, T) -> T| {
            run.axes[axis].iter().copied().reduce(choose).unwrap_or(T::ZERO)
        };
        let low = [0, 1, 2].map(|axis| end(axis, |a, b| if b < a { b } else { a }));
        let high = [0, 1, 2].map(|axis| end(axis, |a, b| if b > a { b } else { a }));
        let n = run.cloud.points();
        Self {
            corners: [low, high],
            samples: Vec::with_capacity(run.count),
            grid: Grid::new(Cells::new(low, high, T::ZERO, CELL)),
            points: (0..n as u32).collect(),
            axes: run.axes.iter().map(|values| values.to_vec()).collect(),
            distances: vec![T::INFINITY; n],
            place_of: (0..n as u32).collect(),
        }
    }

    /// Takes the start points: each point learns its distance to the nearest of them. They may
    /// be many and crowded, so that searching around each would take long. Point 0 alone is left to
    /// the first pass, which reaches it first.
    pub(super) fn begin(&mut self, run: &Run<'_, T>) -> Result<()> {
        if *run.starts == [0] {
            return Ok(());
        }
        let of = |values: &&[T]| run.starts.iter().map(|&start| values[start as usize]).collect();
        let starts: Vec<Vec<T>> = run.axes.iter().map(of).collect();
        let starts: Vec<_> = starts.iter().map(Vec::as_slice).collect();
        let nearest = Matcher::new().nearest(&Axes::new(&run.axes)?, &Axes::new(&starts)?)?;
        self.distances = nearest.raw_distances;
        run.starts.iter().for_each(|&start| self.distances[start as usize] = T::from_f64(-1.0));
        self.samples.extend(run.starts);
        Ok(())
    }

    /// Takes points no nearer than `radius` to the sample, the lowest index first, until no such
    /// point is left. If that takes more than `until` samples in all, the radius is too small:
    /// they are put back, and a larger one is tried. Returns the radius that was enough, or `None`
    /// if it is not representable.
    pub(super) fn level(&mut self, mut radius: T, until: usize, run: &mut Run<'_, T>) -> Option<T> {
        let (samples, distances) = (self.samples.len(), self.by_point());
        loop {
            let squared = radius * radius;
            if !squared.is_finite() {
                return None;
            }
            self.sort(squared);
            let visited = self.pass(squared, until, run);
            if visited == self.points.len() {
                return Some(radius);
            }
            // Had the pass gone on it would have taken as much more as there are more points,
            // and samples on a surface are as many as the square of their distance is small.
            let share = self.points.len() as f64 / visited.max(1) as f64;
            radius = T::from_f64(radius.to_f64() * share.sqrt().clamp(LARGER, 2.0)).next_up();
            self.samples.truncate(samples);
            for (distance, &point) in self.distances.iter_mut().zip(&self.points) {
                *distance = distances[point as usize];
            }
        }
    }

    /// Makes one pass over all points in index order; returns the number of points visited.
    fn pass(&mut self, squared: T, until: usize, run: &mut Run<'_, T>) -> usize {
        let mut runs = Vec::new();
        for point in 0..self.points.len() {
            let place = self.place_of[point] as usize;
            // Points struck out stay so: a single pass finds all.
            if self.distances[place] < squared {
                continue;
            }
            if self.samples.len() >= until {
                return point;
            }
            self.take(place, squared, &mut runs, &mut run.statistics, |_, _| {});
        }
        self.points.len()
    }

    /// Returns the distances by point.
    fn by_point(&self) -> Vec<T> {
        self.place_of.iter().map(|&place| self.distances[place as usize]).collect()
    }

    /// Sorts everything into a grid for searches below a squared distance.
    fn sort(&mut self, squared: T) {
        let [low, high] = self.corners;
        let at = |place: usize| [0, 1, 2].map(|axis| self.axes[axis][place]);
        let (points, mut places) = ((0..self.points.len()).map(at), Vec::new());
        self.grid.sort_points(Cells::new(low, high, squared, CELL), points, &mut places);
        self.points = sorted(&self.points, &places);
        self.distances = sorted(&self.distances, &places);
        for values in &mut self.axes {
            *values = sorted(values, &places);
        }
        for (place, &point) in self.points.iter().enumerate() {
            self.place_of[point as usize] = place as u32;
        }
    }

    /// Takes the point in a place: lowers distances below `below`, calling back for each that fell.
    fn take(
        &mut self,
        place: usize,
        below: T,
        runs: &mut Vec<(u32, u32)>,
        statistics: &mut Statistics,
        mut on_lowered: impl FnMut(usize, T),
    ) {
        self.samples.push(self.points[place]);
        self.distances[place] = T::from_f64(-1.0);
        self.grid.search([self.axes[0][place], self.axes[1][place], self.axes[2][place]], runs);
        let mut searched = 0usize;
        for &(start, end) in &*runs {
            searched += (end - start) as usize;
            for other in start as usize..end as usize {
                let new = squared(&self.axes, other, place);
                if new < self.distances[other] && new < below {
                    self.distances[other] = new;
                    statistics.effective_updates += 1;
                    on_lowered(other, new);
                }
            }
        }
        statistics.distance_evaluations += searched as u64;
    }

    /// Adds samples by exact farthest point sampling up to the count; returns the largest squared
    /// distance left. No point is as far as `radius` from the sample: the last level saw to that.
    pub(super) fn fill(&mut self, radius: T, run: &mut Run<'_, T>) -> T {
        // All distances are below the square of the radius, so a search that far finds all that
        // a new sample changes.
        let squared = radius * radius;
        let mut maxima = Maxima::new(self.distances.clone(), self.points.clone());
        let (mut runs, mut touched) = (Vec::new(), Vec::new());
        while self.samples.len() < run.count {
            let place = maxima.largest();
            touched.clear();
            touched.push(place as u32);
            maxima.set(place, T::from_f64(-1.0));
            self.take(place, squared, &mut runs, &mut run.statistics, |other, new| {
                maxima.set(other, new);
                touched.push(other as u32);
            });
            maxima.touch(&mut touched);
        }
        let largest = maxima.value(maxima.largest());
        if largest > T::ZERO { largest } else { T::ZERO }
    }
}

/// Returns each value in its place.
fn sorted<V: Copy>(values: &[V], places: &[u32]) -> Vec<V> {
    let mut sorted = values.to_vec();
    for (&value, &place) in values.iter().zip(places) {
        sorted[place as usize] = value;
    }
    sorted
}
