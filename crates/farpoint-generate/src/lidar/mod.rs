//! One revolution of a rotating LiDAR, in a street or elsewhere.

mod plan;
mod scene;
mod suburb;
mod surface;
mod town;
mod traffic;

use crate::labeled::{Labeled, Paint, UNLABELED};
use crate::random::Random;
use crate::vector::Vector;
use libm::{cos, sin};
use scene::Scene;
use std::f64::consts::TAU;
use surface::Surface;

/// Parameters of [`lidar_turn`]: the sensor and its place. Lengths are in meters. The default is
/// that of [`lidar()`].
#[derive(Debug, Clone, PartialEq)]
pub struct Turn {
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
    /// Surroundings of the sensor.
    pub place: Place,
}

/// Surroundings of a LiDAR.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Place {
    /// A straight street between rows of houses.
    Street,
    /// Roads that may cross, houses at any angle, hedges and trees on rough, sloping ground, and
    /// the roof of the car that carries it; how many of each depends on the seed.
    Suburb,
    /// A street with all the classes of [`TOWN_CLASSES`](crate::TOWN_CLASSES), which [`town()`] returns
    /// beside the points.
    Town,
}

impl Default for Turn {
    fn default() -> Self {
        Self {
            rings: 64,
            elevation: [2.0, -24.8],
            height: 1.73,
            reach: 100.0,
            noise: 0.015,
            lost: 0.25,
            place: Place::Street,
        }
    }
}

/// Generates one revolution of a 64-ring LiDAR 1.73 m above a street with houses, cars, poles and
/// trees, in meters; the sensor is the origin, x points along the street, z up.
///
/// Dense and ring-like near the sensor, sparse at 100 m; rows ring by ring from the highest,
/// by azimuth within each. A larger `n` turns the sensor more slowly.
pub fn lidar(n: usize, seed: u64) -> Vec<[f32; 3]> {
    lidar_turn(n, seed, &Turn::default())
}

/// Like [`lidar()`], with another sensor or in another place. Returns no points if there are no echoes
/// at all: the reach is too short, or there is no ring.
///
/// ```
/// use farpoint_generate::{Place, Turn, lidar_turn};
///
/// let turn = Turn { rings: 32, elevation: [10.0, -30.0], place: Place::Suburb, ..Turn::default() };
/// assert_eq!(lidar_turn(5000, 1, &turn).len(), 5000);
/// ```
pub fn lidar_turn(n: usize, seed: u64, turn: &Turn) -> Vec<[f32; 3]> {
    turn.echoes(n, seed).into_iter().map(|echo| echo.point).collect()
}

/// Generates one revolution of the LiDAR of [`lidar()`] in a town, with an intensity in `0.0..1.0` and a class of
/// [`TOWN_CLASSES`](crate::TOWN_CLASSES) for every point: roads with parking, sidewalks, houses, fences, trees,
/// poles and signs, parked and moving vehicles, two-wheelers and people.
///
/// Intensities are those of the materials, with noise. 1 to 5 % of the points are
/// [`UNLABELED`]: bins and benches, and points here and there.
pub fn town(n: usize, seed: u64) -> Labeled {
    let turn = Turn { place: Place::Town, ..Turn::default() };
    let echoes = turn.echoes(n, seed);
    let mut random = Random::new(seed, 11);
    let unknown = random.between(0.012, 0.03);
    let mut intensity = Vec::with_capacity(n);
    let mut classes = Vec::with_capacity(n);
    for echo in &echoes {
        let Surface { class, reflectance } = echo.surface;
        let light = reflectance * random.between(0.75, 1.0) + 0.012 * random.normal();
        intensity.push(light.clamp(0.0, 0.99) as f32);
        classes.push(if random.unit() < unknown { UNLABELED } else { class });
    }
    let points = echoes.iter().map(|echo| echo.point).collect();
    Labeled { points, paint: Paint::Intensity(intensity), classes }
}

/// Returns `n` of the echoes, evenly chosen, in their order.
fn thinned(echoes: &[Echo], n: usize) -> Vec<Echo> {
    let all = echoes.len() as u128;
    (0..n as u128).map(|k| echoes[(k * all / n as u128) as usize]).collect()
}

/// A point and its surface.
#[derive(Clone, Copy)]
struct Echo {
    point: [f32; 3],
    surface: Surface,
}

impl Turn {
    /// Returns `n` echoes of a turn; none if there are no echoes at all.
    fn echoes(&self, n: usize, seed: u64) -> Vec<Echo> {
        if n == 0 {
            return Vec::new();
        }
        let mut random = Random::new(seed, 7);
        let scene = match self.place {
            Place::Street => Scene::street(&mut random),
            Place::Suburb => Scene::suburb(self.height, &mut random),
            Place::Town => Scene::town(&mut random),
        };
        // A coarse turn estimates the share of rays that return; then columns are added until there are enough.
        let coarse = self.returns(&scene, 256, seed).len();
        if coarse == 0 {
            return Vec::new();
        }
        let share = coarse as f64 / (256 * self.rings) as f64;
        let mut columns = (n as f64 / (share * self.rings as f64) * 1.01) as usize + 1;
        let echoes = loop {
            let echoes = self.returns(&scene, columns, seed);
            if echoes.len() >= n {
                break echoes;
            }
            columns += columns / 50 + 1;
        };
        thinned(&echoes, n)
    }

    /// Returns the echoes of one turn of this many columns, ring by ring.
    fn returns(&self, scene: &Scene, columns: usize, seed: u64) -> Vec<Echo> {
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
                let along = Vector(c * level, s * level, up);
                let hit = scene.hit(&near, sensor, along, &mut random);
                let range = hit.range;
                // Weak echoes get lost.
                if range < self.reach && random.unit() * self.reach > range * self.lost {
                    let range = range + self.noise * random.normal();
                    let point = (along * range).to_f32();
                    returns[ring * columns + column] = Some(Echo { point, surface: hit.surface });
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
