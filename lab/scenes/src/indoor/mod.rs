//! A furnished room or corridor with the classes of S3DIS, seen from a few scanner positions.

mod clutter;
mod furniture;
mod interior;
mod materials;
mod plan;
mod shell;
mod walls;

use crate::{Labeled, Paint};
use farpoint_generate::parts::{Choice, Random, Shape, Vector};
use interior::Interior;

/// Standard deviation of the scanner's noise on each axis, in meters.
const NOISE: f64 = 0.002;

/// Generates a scan of a room with sides of 3 to 12 m, or of a corridor of up to 12 m, with a color and a class of
/// [`Setting::Indoor`](crate::Setting::Indoor) for every point.
///
/// The seed decides the size, the furniture and its materials. Denser near the two to four
/// scanner positions, without surfaces that none of them sees; rows in random order, a corner of the floor is the
/// origin.
pub fn indoor(n: usize, seed: u64) -> Labeled {
    let mut random = Random::new(seed, 9);
    let interior = plan::furnished(&mut random);
    let shapes = &interior.builder.shapes;
    let choice = Choice::new(shapes.iter().map(Shape::area));
    let mut points = Vec::with_capacity(n);
    let mut colors = Vec::with_capacity(n);
    let mut classes = Vec::with_capacity(n);
    let mut random = Random::new(seed, 10);
    while points.len() < n {
        let k = choice.draw(&mut random);
        let Some(point) = shapes[k].point(&mut random) else { continue };
        if random.unit() < density(&interior, point) {
            let finish = &interior.finishes[k];
            points.push((point + random.normals() * NOISE).to_f32());
            colors.push(finish.color(&mut random));
            classes.push(finish.class);
        }
    }
    Labeled { points, paint: Paint::Colors(colors), classes }
}

/// Returns the share of the points that are kept here; 0 where no scanner sees.
fn density(interior: &Interior, point: Vector) -> f64 {
    let seen = interior.stations.iter().filter(|station| interior.sees(**station, point));
    let light = seen.map(|station| {
        let d = point - *station;
        1.0 / (1.5 + d.dot(d))
    });
    let light: f64 = light.sum();
    if light > 0.0 { 0.35 + 0.8 * light } else { 0.0 }
}
