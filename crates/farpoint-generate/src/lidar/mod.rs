//! One turn of a rotating LiDAR in a street.

mod scene;

use crate::random::Random;
use crate::vector::Vector;
use libm::{cos, sin};
use scene::Scene;
use std::f64::consts::TAU;

/// Lasers, one above the other.
const RINGS: usize = 64;
/// Elevation of the highest and the lowest laser, in degrees.
const ELEVATION: [f64; 2] = [2.0, -24.8];
/// Height of the sensor over the ground.
const HEIGHT: f64 = 1.73;
/// Beyond this nothing comes back.
const REACH: f64 = 100.0;
/// Deviation of a range.
const NOISE: f64 = 0.015;

/// One turn of a 64-ring LiDAR that stands 1.73 m over a street with houses, cars, poles and
/// trees, in metres; the sensor is the origin, x along the street, z up.
///
/// Dense and ring-like near the sensor, thin at 100 m; rows ring by ring from the highest,
/// by azimuth in each. A larger `n` turns the sensor more slowly.
pub fn lidar(n: usize, seed: u64) -> Vec<[f32; 3]> {
    if n == 0 {
        return Vec::new();
    }
    let scene = Scene::new(&mut Random::new(seed, 7));
    // A coarse turn tells how many rays come back; then as many columns as it takes.
    let share = turn(&scene, 256, seed).len().max(1) as f64 / (256 * RINGS) as f64;
    let mut columns = (n as f64 / (share * RINGS as f64) * 1.01) as usize + 1;
    let points = loop {
        let points = turn(&scene, columns, seed);
        if points.len() >= n {
            break points;
        }
        columns += columns / 50 + 1;
    };
    thinned(&points, n)
}

/// `n` of the points, evenly chosen, in their order.
fn thinned(points: &[[f32; 3]], n: usize) -> Vec<[f32; 3]> {
    let all = points.len() as u128;
    (0..n as u128).map(|k| points[(k * all / n as u128) as usize]).collect()
}

/// What comes back from one turn of this many columns, ring by ring.
fn turn(scene: &Scene, columns: usize, seed: u64) -> Vec<[f32; 3]> {
    let mut random = Random::new(seed, 8);
    let lasers: [(f64, f64); RINGS] = std::array::from_fn(|ring| {
        let part = ring as f64 / (RINGS - 1) as f64;
        let degrees = ELEVATION[0] + (ELEVATION[1] - ELEVATION[0]) * part;
        let angle = degrees * (TAU / 360.0);
        (cos(angle), sin(angle))
    });
    let sensor = Vector(0.0, 0.0, HEIGHT);
    let mut returns = vec![[f32::NAN; 3]; columns * RINGS];
    let mut near = Vec::new();
    for column in 0..columns {
        let azimuth = ((column as f64 + 0.5) / columns as f64 - 0.5) * TAU;
        scene.near(azimuth, &mut near);
        let (c, s) = (cos(azimuth), sin(azimuth));
        for (ring, &(level, up)) in lasers.iter().enumerate() {
            let along = Vector(c * level, s * level, up);
            let range = scene.range(&near, sensor, along, &mut random);
            // Weak echoes get lost.
            if range < REACH && random.unit() * REACH * 4.0 > range {
                let range = range + NOISE * random.normal();
                returns[ring * columns + column] = (along * range).to_f32();
            }
        }
    }
    returns.retain(|point| !point[0].is_nan());
    returns
}
