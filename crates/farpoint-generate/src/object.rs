//! A smooth closed surface like a scanned sculpture: a trefoil knot of a tube of varying
//! radius.

use crate::random::Random;
use crate::vector::Vector;
use libm::{cos, sin};
use std::f64::consts::TAU;

/// Stations along the knot between which the tube is interpolated.
const STATIONS: usize = 2048;

/// The knot's center line and its frame at one station.
#[derive(Clone, Copy)]
struct Station {
    center: Vector,
    normal: Vector,
    binormal: Vector,
    /// Derivative of the unit tangent by arc length.
    curvature: Vector,
    radius: f64,
    /// Area of the tube up to here, but for the factor 2 pi.
    area: f64,
}

/// Generates `n` points distributed evenly over a knotted sculpture that fits in the unit sphere, each
/// 0.0002 off the surface, in random order.
pub fn object(n: usize, seed: u64) -> Vec<[f32; 3]> {
    let mut random = Random::new(seed, 5);
    let stations = stations(random.between(0.0, TAU));
    let area = stations[STATIONS].area;
    let mut cloud = Vec::with_capacity(n);
    while cloud.len() < n {
        let target = random.unit() * area;
        // The area grows nearly evenly: a guess, then a short walk.
        let mut k = (target / area * STATIONS as f64) as usize;
        while stations[k].area > target {
            k -= 1;
        }
        while stations[k + 1].area <= target {
            k += 1;
        }
        let (a, b) = (&stations[k], &stations[k + 1]);
        let t = (target - a.area) / (b.area - a.area);
        let mix = |a: Vector, b: Vector| a + (b - a) * t;
        let (x, y) = random.circle();
        let outward = mix(a.normal, b.normal) * x + mix(a.binormal, b.binormal) * y;
        let radius = a.radius + (b.radius - a.radius) * t;
        // The inner side of a bend has less surface.
        let share = (1.0 - radius * mix(a.curvature, b.curvature).dot(outward)) * 0.5;
        if random.unit() < share {
            let off = radius + 0.0002 * random.normal();
            cloud.push((mix(a.center, b.center) + outward * off).to_f32());
        }
    }
    cloud
}

/// Returns the stations of the knot, closed: station `STATIONS` is station 0 again.
fn stations(phase: f64) -> Vec<Station> {
    let at = |k: f64| trefoil(k * TAU / STATIONS as f64);
    let mut area = 0.0;
    (0..=STATIONS)
        .map(|index| {
            let k = index as f64;
            let (before, center, after) = (at(k - 1.0), at(k), at(k + 1.0));
            let tangent = (after - before).normalized();
            let step = (after - before).length() / 2.0;
            let bend = (after - center).normalized() - (center - before).normalized();
            // Away from the axis of the torus that carries the knot.
            let away = Vector(center.0, center.1, 0.0);
            let normal = (away - tangent * away.dot(tangent)).normalized();
            let angle = k * TAU / STATIONS as f64;
            let radius = 0.15 * (1.0 + 0.22 * sin(6.0 * angle + phase) + 0.1 * cos(15.0 * angle));
            let station = Station {
                center,
                normal,
                binormal: tangent.cross(normal),
                curvature: bend * (1.0 / step),
                radius,
                area,
            };
            area += step * radius;
            station
        })
        .collect()
}

/// Returns a point of a trefoil inside the unit sphere.
fn trefoil(t: f64) -> Vector {
    Vector(
        (sin(t) + 2.0 * sin(2.0 * t)) * 0.265,
        (cos(t) - 2.0 * cos(2.0 * t)) * 0.265,
        -sin(3.0 * t) * 0.265,
    )
}
