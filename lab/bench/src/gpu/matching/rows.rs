//! Pairs of the table, and their targets.

use anyhow::{Result, bail, ensure};
use farpoint::neighbors::backward;
use farpoint::{Gradients, Matcher};
use farpoint_generate::{Kind, generate};
use farpoint_io::{Coordinates, ReadOptions, read};
use rayon::prelude::*;
use std::fmt::Display;
use std::path::Path;
use std::time::Instant;

/// A row of the table.
#[derive(Clone, Copy)]
pub(super) struct Row {
    pub(super) name: &'static str,
    pub(super) pairs: usize,
    /// Rows of each cloud of a pair.
    pub(super) rows: [usize; 2],
    source: Source,
    /// Number of sets of pairs, for runs in turn.
    sets: usize,
    /// Target time in milliseconds.
    pub(super) target: Option<f64>,
    /// Target share of the arithmetic limit for `brute`.
    pub(super) share: Option<f64>,
    /// Target speed-up of the fastest method over `plain`.
    pub(super) times: Option<f64>,
}

#[derive(Clone, Copy)]
enum Source {
    /// Different clouds of a kind.
    Made(Kind),
    /// Clouds, and the same moved by 0.1.
    Moved(Kind),
    /// Files of the folder of real clouds.
    Files([&'static str; 2]),
}

const fn row(
    name: &'static str,
    source: Source,
    pairs: usize,
    rows: [usize; 2],
    sets: usize,
) -> Row {
    Row { name, pairs, rows, source, sets, target: None, share: None, times: None }
}

const TURNS: [&str; 2] = ["kitti/odometry_seq00_000000.bin", "kitti/odometry_seq00_000001.bin"];
const MILLION: [usize; 2] = [1_000_000; 2];

pub(super) const ROWS: [Row; 12] = [
    Row {
        share: Some(0.6),
        ..row("32 objects 2,048", Source::Made(Kind::Object), 32, [2_048; 2], 7)
    },
    row("4 objects 16,384", Source::Made(Kind::Object), 4, [16_384; 2], 5),
    row("objects 40,000", Source::Made(Kind::Object), 1, [40_000; 2], 3),
    row("rooms 100,000", Source::Made(Kind::Room), 1, [100_000; 2], 3),
    row("KITTI, two turns", Source::Files(TURNS), 1, [124_668, 124_605], 1),
    Row {
        target: Some(4.0),
        times: Some(100.0),
        ..row("rooms 1,000,000", Source::Made(Kind::Room), 1, MILLION, 2)
    },
    Row {
        target: Some(4.0),
        times: Some(100.0),
        ..row("room 1,000,000 moved by 0.1", Source::Moved(Kind::Room), 1, MILLION, 2)
    },
    // Gradients might cost more than the search: little to do, or all of it for one point.
    row("objects 300", Source::Made(Kind::Object), 1, [300; 2], 5),
    row("32 objects 512", Source::Made(Kind::Object), 32, [512; 2], 5),
    row("objects 4,096", Source::Made(Kind::Object), 1, [4_096; 2], 5),
    row("2,500 equal points", Source::Made(Kind::Equal), 1, [2_500; 2], 2),
    row("20,000 equal points", Source::Made(Kind::Equal), 1, [20_000; 2], 2),
];

/// Pairs of a row, and the CPU's results.
pub(super) struct Input {
    pub(super) sets: Vec<Set>,
    /// Seconds of the CPU for a set with its gradients, a hint only.
    pub(super) cpu_seconds: f64,
}

pub(super) struct Set {
    /// Dense `(pairs, rows, 3)` arrays.
    pub(super) points: [Vec<f32>; 2],
    pub(super) truth: [Expected; 2],
}

/// The CPU's results for one side of all pairs, one after another.
#[derive(Default)]
pub(super) struct Expected {
    /// Gradients of the distances: input.
    pub(super) grads: Vec<f32>,
    pub(super) distances: Vec<f32>,
    pub(super) indices: Vec<i64>,
    pub(super) gradients: Vec<f32>,
}

type Cloud = Vec<[f32; 3]>;
/// Both sides of all pairs of a set.
type Clouds = [Vec<Cloud>; 2];

impl Expected {
    fn of(clouds: &Clouds) -> Result<[Self; 2]> {
        let mut sides = [Self::default(), Self::default()];
        for (a, b) in clouds[0].iter().zip(&clouds[1]) {
            let chamfer = Matcher::new().chamfer(a, b)?;
            let grads = [grads(a.len(), 1), grads(b.len(), 2)];
            let Gradients { a, b } = backward(&chamfer, a, b, &grads[0], &grads[1])?;
            let found = [chamfer.a_to_b, chamfer.b_to_a].into_iter().zip(grads).zip([a, b]);
            for (side, ((found, grads), gradients)) in sides.iter_mut().zip(found) {
                side.grads.extend(grads);
                side.distances.extend(found.raw_distances);
                side.indices.extend(found.indices.into_iter().map(i64::from));
                side.gradients.extend(gradients);
            }
        }
        Ok(sides)
    }

    /// Compares a search with these results, bit by bit.
    pub(super) fn check(&self, distances: &[f32], indices: &[i64]) -> Result<()> {
        same("distance", distances, &self.distances, |x| x.to_bits())?;
        same("index", indices, &self.indices, |x| x)
    }

    pub(super) fn check_gradients(&self, gradients: &[f32]) -> Result<()> {
        same("gradient", gradients, &self.gradients, |x| x.to_bits())
    }
}

fn same<T: Copy + Display, B: PartialEq>(
    what: &str,
    found: &[T],
    truth: &[T],
    bits: impl Fn(T) -> B,
) -> Result<()> {
    let differs = found.iter().zip(truth).position(|(a, b)| bits(*a) != bits(*b));
    if let Some(k) = differs {
        bail!("{what} {k} is {}, not {}", found[k], truth[k]);
    }
    Ok(())
}

/// Gradients of distances: a number in -1..1 per row.
fn grads(rows: usize, seed: u32) -> Vec<f32> {
    // Any numbers whose sums depend on their order: steps of the golden ratio.
    (1..=rows)
        .map(|k| (2.0 * (0.618_034 * k as f64 + f64::from(seed)).fract() - 1.0) as f32)
        .collect()
}

impl Row {
    /// Number of pairs of points that are compared in both directions together.
    pub(super) fn compared(&self) -> f64 {
        2.0 * self.pairs as f64 * self.rows[0] as f64 * self.rows[1] as f64
    }

    /// Generates or reads the clouds and matches them on the CPU; `None` if a file is missing.
    pub(super) fn input(&self, data: Option<&Path>) -> Result<Option<Input>> {
        let clouds: Vec<Clouds> = match self.source {
            Source::Files(names) => match files(names, data)? {
                Some(clouds) => vec![clouds],
                None => return Ok(None),
            },
            Source::Made(kind) => (0..self.sets).map(|set| self.made(kind, set)).collect(),
            Source::Moved(kind) => (0..self.sets).map(|set| self.moved(kind, set)).collect(),
        };
        let begin = Instant::now();
        let truths: Vec<_> = clouds.par_iter().map(Expected::of).collect::<Result<_>>()?;
        let cpu_seconds = begin.elapsed().as_secs_f64() / clouds.len() as f64;
        let flat = |clouds: Vec<Cloud>| clouds.concat().as_flattened().to_vec();
        let sets = clouds.into_iter().zip(truths);
        let sets: Vec<_> =
            sets.map(|(clouds, truth)| Set { points: clouds.map(flat), truth }).collect();
        for set in &sets {
            let numbers = self.rows.map(|rows| self.pairs * rows * 3);
            ensure!(set.points.each_ref().map(Vec::len) == numbers, "{}: other sizes", self.name);
        }
        Ok(Some(Input { sets, cpu_seconds }))
    }

    /// Returns the seeds of a set's pairs.
    fn seeds(&self, set: usize) -> Vec<u64> {
        (set * self.pairs..).take(self.pairs).map(|seed| seed as u64).collect()
    }

    fn made(&self, kind: Kind, set: usize) -> Clouds {
        let side = |side: usize| {
            let seeds = self.seeds(set);
            let cloud = |seed: &u64| generate(kind, self.rows[side], 2 * seed + side as u64);
            seeds.par_iter().map(cloud).collect()
        };
        [side(0), side(1)]
    }

    fn moved(&self, kind: Kind, set: usize) -> Clouds {
        let seeds = self.seeds(set);
        let still: Vec<Cloud> =
            seeds.par_iter().map(|seed| generate(kind, self.rows[0], 1 + seed)).collect();
        let moved = |row: &[f32; 3]| row.map(|x| (f64::from(x) + 0.1) as f32);
        let others = still.iter().map(|cloud| cloud.iter().map(moved).collect()).collect();
        [still, others]
    }
}

fn files(names: [&str; 2], data: Option<&Path>) -> Result<Option<Clouds>> {
    let mut clouds = [Vec::new(), Vec::new()];
    for (name, clouds) in names.into_iter().zip(&mut clouds) {
        let Some(path) = data.map(|folder| folder.join(name)).filter(|path| path.exists()) else {
            return Ok(None);
        };
        let cloud = read(&path, &ReadOptions::default())?;
        let Coordinates::F32(rows) = cloud.coordinates() else { return Ok(None) };
        clouds.push(rows.clone());
    }
    Ok(Some(clouds))
}

#[cfg(test)]
mod tests {
    use super::Expected;

    #[test]
    fn differences_are_named() {
        let clouds = [vec![vec![[0.0; 3], [4.0, 0.0, 0.0]]], vec![vec![[3.0, 0.0, 0.0]]]];
        let [a, b] = Expected::of(&clouds).unwrap();
        assert_eq!((&a.distances[..], &a.indices[..]), (&[9.0, 1.0][..], &[0, 0][..]));
        assert_eq!((&b.distances[..], &b.indices[..]), (&[1.0][..], &[1][..]));
        assert!(a.check(&[9.0, 1.0], &[0, 0]).is_ok());
        let error = a.check(&[9.0, 1.5], &[0, 0]).unwrap_err().to_string();
        assert_eq!(error, "distance 1 is 1.5, not 1");
        assert!(b.check_gradients(&b.gradients.clone()).is_ok());
    }
}
