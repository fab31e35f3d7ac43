//! One revolution of a rotating LiDAR, in a street.

mod scene;

use crate::random::Random;
use crate::vector::Vector;
use libm::{cos, sin};
use std::f64::consts::TAU;

pub use scene::Scene;

/// A rotating LiDAR. Lengths are in meters. The default is that of [`lidar()`].
#[derive(Debug, Clone, PartialEq)]
pub struct Sensor {
    /// Number of lasers, one above the other.
    pub rings: usize,
    /// Elevation of the highest and the lowest laser, in degrees.
    pub elevation: [f64; 2],
    /// Height of the sensor over the ground.
    pub height: f64,
    /// Largest range that is measured.
    pub reach: f64,
    /// Standard deviation of a range.
    pub noise: f64,
    /// Share of the echoes that are lost at full reach; at half of it half as many.
    pub lost: f64,
}

impl Default for Sensor {
    fn default() -> Self {
        Self {
            rings: 64,
            elevation: [2.0, -24.8],
            height: 1.73,
            reach: 100.0,
            noise: 0.015,
            lost: 0.25,
        }
    }
}

/// Generates one revolution of a 64-ring LiDAR 1.73 m above a street with houses, cars, poles and
/// trees, in meters; the sensor is the origin, x points along the street, z up.
///
/// Dense and ring-like near the sensor, sparse at 100 m; rows ring by ring from the highest,
/// by azimuth within each. A larger `n` turns the sensor more slowly.
pub fn lidar(n: usize, seed: u64) -> Vec<[f32; 3]> {
    let scene = Scene::street(&mut Random::new(seed, 7));
    let asphalt = |[from, along]: [Vector; 2], _: &mut Random| {
        (if along.2 < 0.0 { from.2 / -along.2 } else { f64::INFINITY }, ())
    };
    let echoes = Sensor::default().echoes(n, seed, &scene, asphalt);
    echoes.into_iter().map(|(point, ())| point).collect()
}

impl Sensor {
    /// Returns `n` points of a revolution, evenly chosen, with their surfaces; none if there are no echoes at all.
    ///
    /// `ground` returns range and surface of the hit of a ray, from a place in a direction, with the ground; the range
    /// is infinite without a hit.
    pub fn echoes<S: Copy>(
        &self,
        n: usize,
        seed: u64,
        scene: &Scene<S>,
        ground: impl Fn([Vector; 2], &mut Random) -> (f64, S),
    ) -> Vec<([f32; 3], S)> {
        if n == 0 {
            return Vec::new();
        }
        // A coarse turn estimates the share of rays that return; then columns are added until there are enough.
        let coarse = self.returns(256, seed, scene, &ground).len();
        if coarse == 0 {
            return Vec::new();
        }
        let share = coarse as f64 / (256 * self.rings) as f64;
        let mut columns = (n as f64 / (share * self.rings as f64) * 1.01) as usize + 1;
        let echoes = loop {
            let echoes = self.returns(columns, seed, scene, &ground);
            if echoes.len() >= n {
                break echoes;
            }
            columns += columns / 50 + 1;
        };
        let all = echoes.len() as u128;
        (0..n as u128).map(|k| echoes[(k * all / n as u128) as usize]).collect()
    }

    /// Returns the echoes of one turn of this many columns, ring by ring.
    fn returns<S: Copy>(
        &self,
        columns: usize,
        seed: u64,
        scene: &Scene<S>,
        ground: impl Fn([Vector; 2], &mut Random) -> (f64, S),
    ) -> Vec<([f32; 3], S)> {
        let mut random = Random::new(seed, 8);
        let lasers = self.lasers();
        let sensor = Vector(0.0, 0.0, self.height);
        let mut returns = vec![None; columns * self.rings];
        let mut near = Vec::new();
        for column in 0..columns {
            let azimuth = ((column as f64 + 0.5) / columns as f64 - 0.5) * TAU;
            scene.near(azimuth, &mut near);
            let (c, s) = (cos(azimuth), sin(azimuth));
            for (ring, &(level, up)) in lasers.iter().enumerate() {
                let ray = [sensor, Vector(c * level, s * level, up)];
                let below = ground(ray, &mut random);
                let (range, surface) = scene.hit(&near, below, ray, &mut random);
                // Weak echoes get lost.
                if range < self.reach && random.unit() * self.reach > range * self.lost {
                    let range = range + self.noise * random.normal();
                    returns[ring * columns + column] = Some(((ray[1] * range).to_f32(), surface));
                }
            }
        }
        returns.into_iter().flatten().collect()
    }

    /// Returns cosine and sine of each laser's elevation.
    fn lasers(&self) -> Vec<(f64, f64)> {
        let [highest, lowest] = self.elevation;
        let laser = |ring: usize| {
            let part = ring as f64 / (self.rings.max(2) - 1) as f64;
            let angle = (highest + (lowest - highest) * part) * (TAU / 360.0);
            (cos(angle), sin(angle))
        };
        (0..self.rings).map(laser).collect()
    }
}
