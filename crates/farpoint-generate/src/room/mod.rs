//! An indoor scan: a furnished room of 10 x 8 x 3 m, seen from three registered scanner
//! positions.

mod furniture;
pub(crate) mod shape;

use crate::random::Random;
use crate::vector::Vector;

/// Positions of the scanner.
const STATIONS: [Vector; 3] = [Vector(2.6, 2.9, 1.5), Vector(7.2, 5.4, 1.5), Vector(6.9, 1.9, 1.5)];

/// Standard deviation of the scanner's noise on each axis, in meters.
const NOISE: f64 = 0.0015;

/// Generates a scan of a furnished room in meters: floor, ceiling, walls with windows and a door,
/// tables, chairs, shelves with books, balls, vases, plants.
///
/// About twice as dense near the three scanner positions as far from them, 2 to 3 mm of
/// noise, rows in random order. The seed also moves the furniture.
pub fn room(n: usize, seed: u64) -> Vec<[f32; 3]> {
    let mut random = Random::new(seed, 6);
    let shapes = furniture::room(&mut random).shapes;
    let choice = Choice::new(shapes.iter().map(shape::Shape::area));
    let mut cloud = Vec::with_capacity(n);
    while cloud.len() < n {
        let Some(point) = shapes[choice.draw(&mut random)].point(&mut random) else { continue };
        if random.unit() < density(point) {
            cloud.push((point + random.normals() * NOISE).to_f32());
        }
    }
    cloud
}

/// Returns the share of the points that are kept here, at most about 1.
fn density(point: Vector) -> f64 {
    let seen = STATIONS.iter().map(|station| {
        let d = point - *station;
        1.0 / (1.5 + d.dot(d))
    });
    0.4 + 0.8 * seen.sum::<f64>()
}

/// Draws numbers with given weights in constant time (the alias method of Vose).
pub struct Choice {
    /// Share of each column, and the item of the rest of the column.
    columns: Vec<(f64, usize)>,
}

impl Choice {
    /// Weighs the numbers from 0 on.
    pub fn new(weights: impl Iterator<Item = f64>) -> Self {
        let weights: Vec<f64> = weights.collect();
        let mean = weights.iter().sum::<f64>() / weights.len() as f64;
        let mut columns: Vec<_> =
            weights.iter().enumerate().map(|(k, weight)| (weight / mean, k)).collect();
        let (mut small, mut large): (Vec<_>, Vec<_>) =
            (0..columns.len()).partition(|&k| columns[k].0 < 1.0);
        while let (Some(&little), Some(&much)) = (small.last(), large.last()) {
            small.pop();
            columns[little].1 = much;
            columns[much].0 -= 1.0 - columns[little].0;
            if columns[much].0 < 1.0 {
                large.pop();
                small.push(much);
            }
        }
        Self { columns }
    }

    /// Draws a number.
    #[inline]
    pub fn draw(&self, random: &mut Random) -> usize {
        let k = random.below(self.columns.len());
        let (share, other) = self.columns[k];
        if random.unit() < share { k } else { other }
    }
}
