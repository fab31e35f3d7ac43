//! Levels of points at least a radius apart, then exact sampling of the rest.
//!
//! Every point has its squared distance to the sample, as far as it is below the square of the
//! level's radius: samples look through a grid no farther than that. As radii fall, whatever is
//! below the next radius is known too, so that levels go on from each other's distances.

use super::Parameters;
use crate::approximate::maxima::Maxima;
use crate::approximate::watch::EVERY;
use crate::approximate::work::Run;
use crate::cloud::WorkingCopy;
use crate::memory::{self, Buffer};
use crate::spatial::{Cells, Grid, Neighbors};
use crate::threads::for_each_chunk;
use crate::{Error, Scalar, Statistics};

/// Distances per task of a thread.
const RUN: usize = 1 << 10;

/// Width of a cell, in units of the search radius.
const CELL: f64 = 1.0;

pub(super) struct Levels<'a, T> {
    cloud: &'a WorkingCopy<T>,
    parameters: &'a Parameters<'a>,
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

impl<'a, T: Scalar> Levels<'a, T> {
    pub(super) fn new(cloud: &'a WorkingCopy<T>, parameters: &'a Parameters<'a>) -> Self {
        let n = cloud.len;
        Self {
            cloud,
            parameters,
            samples: memory::with_capacity(parameters.count),
            grid: Grid::new(Cells::new(cloud.low, cloud.high, T::ZERO, CELL)),
            points: memory::collected(0..n as u32),
            axes: cloud
                .axes
                .iter()
                .map(|axis| memory::collected(axis[..n].iter().copied()))
                .collect(),
            distances: memory::filled(n, T::INFINITY),
            place_of: memory::collected(0..n as u32),
        }
    }

    /// Takes the start points: each point learns its distance to the nearest of them. They may
    /// be many and crowded, so that searching around each would take long. Point 0 alone is left to
    /// the first pass, which reaches it first.
    pub(super) fn begin(&mut self, run: &mut Run<'_, '_, T>) -> Result<(), Error> {
        let starts = self.parameters.starts;
        if *starts == [0] {
            return Ok(());
        }
        let tree = Neighbors::new(self.cloud, starts);
        for (chunk, distances) in self.distances.chunks_mut(EVERY).enumerate() {
            for_each_chunk(distances, RUN, run.threads, |run, distances| {
                for (k, distance) in distances.iter_mut().enumerate() {
                    *distance = tree.nearest((chunk * EVERY + run * RUN + k) as u32, None);
                }
            });
            run.watch.step(distances.len(), starts.len(), T::INFINITY)?;
        }
        starts.iter().for_each(|&start| self.distances[start as usize] = T::from_f64(-1.0));
        self.samples.extend(starts);
        Ok(())
    }

    /// Takes points no nearer than `radius` to the sample, the lowest index first, until no such
    /// point is left. If that takes more than `until` samples in all, the radius is too small:
    /// they are put back, and a larger one is tried. Returns the radius that was enough, or `None`
    /// if it is not representable.
    pub(super) fn level(
        &mut self,
        mut radius: T,
        until: usize,
        run: &mut Run<'_, '_, T>,
    ) -> Result<Option<T>, Error> {
        let (samples, distances) = (self.samples.len(), self.by_point());
        loop {
            let squared = radius * radius;
            if !squared.is_finite() {
                return Ok(None);
            }
            self.sort(squared);
            run.watch.step(self.cloud.len, self.samples.len(), T::INFINITY)?;
            let visited = self.pass(squared, until, run)?;
            if visited == self.cloud.len {
                return Ok(Some(radius));
            }
            // Had the pass gone on it would have taken as much more as there are more points,
            // and samples on a surface are as many as the square of their distance is small.
            let share = self.cloud.len as f64 / visited.max(1) as f64;
            radius = T::from_f64(radius.to_f64() * share.sqrt().clamp(LARGER, 2.0)).next_up();
            self.samples.truncate(samples);
            for (distance, &point) in self.distances.iter_mut().zip(&self.points) {
                *distance = distances[point as usize];
            }
        }
    }

    /// Makes one pass over all points in index order; returns the number of points visited.
    fn pass(&mut self, squared: T, until: usize, run: &mut Run<'_, '_, T>) -> Result<usize, Error> {
        let mut runs = Vec::new();
        for point in 0..self.cloud.len {
            let place = self.place_of[point] as usize;
            // Points struck out stay so: a single pass finds all.
            if self.distances[place] < squared {
                continue;
            }
            if self.samples.len() >= until {
                return Ok(point);
            }
            let searched = self.take(place, squared, &mut runs, &mut run.statistics, |_, _| {});
            run.watch.step(searched, self.samples.len(), T::INFINITY)?;
        }
        Ok(self.cloud.len)
    }

    /// Returns the distances by point.
    fn by_point(&self) -> Vec<T> {
        memory::collected(self.place_of.iter().map(|&place| self.distances[place as usize]))
    }

    /// Sorts everything into a grid for searches below a squared distance.
    fn sort(&mut self, squared: T) {
        let cells = Cells::new(self.cloud.low, self.cloud.high, squared, CELL);
        let count = self.points.len();
        let at = [0, 1, 2].map(|a| &self.axes[a][..count]);
        let mut places = Buffer::default();
        self.grid.sort(cells, count, [at].into_iter(), &mut places, |_| ());
        self.points = sorted(&self.points, &places);
        self.distances = sorted(&self.distances, &places);
        for values in &mut self.axes {
            *values = sorted(values, &places);
        }
        for (place, &point) in self.points.iter().enumerate() {
            self.place_of[point as usize] = place as u32;
        }
    }

    /// Takes the point in a place: lowers distances below `squared`, calling back for each that fell.
    /// Returns the number of points visited.
    fn take(
        &mut self,
        place: usize,
        squared: T,
        runs: &mut Vec<(u32, u32)>,
        statistics: &mut Statistics,
        mut on_lowered: impl FnMut(usize, T),
    ) -> usize {
        self.samples.push(self.points[place]);
        self.distances[place] = T::from_f64(-1.0);
        self.grid.search([self.axes[0][place], self.axes[1][place], self.axes[2][place]], runs);
        let mut searched = 0;
        for &(start, end) in &*runs {
            searched += (end - start) as usize;
            for other in start as usize..end as usize {
                let square = |axis: usize| {
                    let difference = self.axes[axis][other] - self.axes[axis][place];
                    difference * difference
                };
                let new = (3..self.axes.len())
                    .fold((square(0) + square(1)) + square(2), |sum, axis| sum + square(axis));
                if new < self.distances[other] && new < squared {
                    self.distances[other] = new;
                    statistics.effective_updates += 1;
                    on_lowered(other, new);
                }
            }
        }
        statistics.distance_evaluations += searched as u64;
        searched
    }

    /// Adds samples by exact farthest point sampling up to the count; returns the largest squared
    /// distance left. No point is as far as `radius` from the sample: the last level saw to that.
    pub(super) fn fill(&mut self, radius: T, run: &mut Run<'_, '_, T>) -> Result<T, Error> {
        // All distances are below the square of the radius, so a search that far finds all that
        // a new sample changes.
        let squared = radius * radius;
        let mut maxima = Maxima::new(
            memory::collected(self.distances.iter().copied()),
            memory::collected(self.points.iter().copied()),
        );
        let (mut runs, mut touched) = (Vec::new(), Vec::new());
        while self.samples.len() < self.parameters.count {
            let place = maxima.largest();
            touched.clear();
            touched.push(place as u32);
            maxima.set(place, T::from_f64(-1.0));
            let searched =
                self.take(place, squared, &mut runs, &mut run.statistics, |other, new| {
                    maxima.set(other, new);
                    touched.push(other as u32);
                });
            maxima.touch(&mut touched);
            let largest = maxima.value(maxima.largest());
            run.watch.step(searched, self.samples.len(), largest)?;
        }
        let largest = maxima.value(maxima.largest());
        Ok(if largest > T::ZERO { largest } else { T::ZERO })
    }
}

/// Returns each value in its place.
fn sorted<V: Copy>(values: &[V], places: &[u32]) -> Vec<V> {
    let mut sorted = memory::collected(values.iter().copied());
    for (&value, &place) in values.iter().zip(places) {
        sorted[place as usize] = value;
    }
    sorted
}
