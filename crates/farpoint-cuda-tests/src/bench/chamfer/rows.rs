//! The pairs of the table, and what is to be reached.

use crate::chamfer::{Expected, moved};
use crate::clouds::Cloud;
use anyhow::{Result, ensure};
use farpoint::Norm;
use farpoint_generate::Kind;
use farpoint_io::{Coordinates, ReadOptions, read};
use rayon::prelude::*;
use std::path::Path;
use std::time::Instant;

/// A row of the table.
#[derive(Clone, Copy)]
pub(super) struct Row {
    pub(super) name: &'static str,
    pub(super) pairs: usize,
    /// Rows of either cloud of a pair.
    pub(super) rows: [usize; 2],
    source: Source,
    /// Sets of pairs, one run after the other.
    sets: usize,
    /// Milliseconds to reach.
    pub(super) target: Option<f64>,
    /// The share of the arithmetic limit that `brute` is to reach.
    pub(super) share: Option<f64>,
    /// How many times as fast as `plain` the fastest is to be.
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
    // Where gradients might cost more than the search: little to do, or all of it for one point.
    row("objects 300", Source::Made(Kind::Object), 1, [300; 2], 5),
    row("32 objects 512", Source::Made(Kind::Object), 32, [512; 2], 5),
    row("objects 4,096", Source::Made(Kind::Object), 1, [4_096; 2], 5),
    row("2,500 equal points", Source::Made(Kind::Equal), 1, [2_500; 2], 2),
    row("20,000 equal points", Source::Made(Kind::Equal), 1, [20_000; 2], 2),
];

/// The pairs of a row, and what the CPU says of them.
pub(super) struct Input {
    pub(super) sets: Vec<Set>,
    /// Seconds of the CPU for a set with its gradients, a hint only.
    pub(super) cpu_seconds: f64,
}

pub(super) struct Set {
    /// Dense `(pairs, rows, 3)` arrays.
    pub(super) points: [Vec<f32>; 2],
    pub(super) truth: [Expected<f32>; 2],
}

impl Row {
    /// Pairs of points that are compared in both directions together.
    pub(super) fn compared(&self) -> f64 {
        2.0 * self.pairs as f64 * self.rows[0] as f64 * self.rows[1] as f64
    }

    /// Makes or reads the clouds and matches them on the CPU; `None` if a file is not there.
    pub(super) fn input(&self, data: Option<&Path>) -> Result<Option<Input>> {
        let clouds: Vec<[Vec<Cloud<f32>>; 2]> = match self.source {
            Source::Files(names) => match files(names, data)? {
                Some(clouds) => vec![clouds],
                None => return Ok(None),
            },
            _ => (0..self.sets).map(|set| self.made(set)).collect(),
        };
        let begin = Instant::now();
        let truth = |[a, b]: &[Vec<Cloud<f32>>; 2]| {
            Expected::of([a, b], self.rows.map(Some), Norm::Two, [true; 2])
        };
        let truths: Vec<_> = clouds.par_iter().map(truth).collect::<Result<_>>()?;
        let cpu_seconds = begin.elapsed().as_secs_f64() / clouds.len() as f64;
        let flat = |clouds: Vec<Cloud<f32>>| clouds.into_iter().flat_map(|c| c.data).collect();
        let sets = clouds.into_iter().zip(truths);
        let sets: Vec<_> =
            sets.map(|(clouds, truth)| Set { points: clouds.map(flat), truth }).collect();
        for set in &sets {
            let numbers = self.rows.map(|rows| self.pairs * rows * 3);
            ensure!(set.points.each_ref().map(Vec::len) == numbers, "{}: other sizes", self.name);
        }
        Ok(Some(Input { sets, cpu_seconds }))
    }

    fn made(&self, set: usize) -> [Vec<Cloud<f32>>; 2] {
        let seeds = (set * self.pairs..).take(self.pairs).collect::<Vec<_>>();
        let pair = |&seed: &usize| match self.source {
            Source::Moved(kind) => {
                let pair = moved(kind, self.rows[0], 1 + seed as u64);
                (pair.a, pair.b)
            }
            Source::Made(kind) => {
                let cloud =
                    |side: usize| Cloud::of(kind, self.rows[side], (2 * seed + side) as u64);
                (cloud(0), cloud(1))
            }
            Source::Files(_) => unreachable!("files are read"),
        };
        let (a, b) = seeds.par_iter().map(pair).unzip();
        [a, b]
    }
}

fn files(names: [&str; 2], data: Option<&Path>) -> Result<Option<[Vec<Cloud<f32>>; 2]>> {
    let mut clouds = [Vec::new(), Vec::new()];
    for (name, clouds) in names.into_iter().zip(&mut clouds) {
        let Some(path) = data.map(|folder| folder.join(name)).filter(|path| path.exists()) else {
            return Ok(None);
        };
        let cloud = read(&path, &ReadOptions::default())?;
        let Coordinates::F32(rows) = cloud.coordinates() else { return Ok(None) };
        clouds.push(Cloud { data: rows.as_flattened().to_vec(), dims: 3 });
    }
    Ok(Some(clouds))
}
