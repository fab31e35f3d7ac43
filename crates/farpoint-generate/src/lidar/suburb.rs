//! A place without a plan: its width, density and vegetation depend on the seed.

use super::scene::{Ground, Scene};
use crate::random::Random;
use crate::vector::Vector;
use libm::{atan2, cos, sin};
use std::f64::consts::{PI, TAU};

/// Things stand no farther away than this.
const AWAY: f64 = 95.0;

/// A straight road.
struct Road {
    along: (f64, f64),
    /// Distance of its center line to the left of the sensor.
    off: f64,
    half_width: f64,
}

impl Road {
    fn new(angle: f64, off: f64, half_width: f64) -> Self {
        Self { along: (cos(angle), sin(angle)), off, half_width }
    }

    /// Returns the distance of a place from the kerb, negative on the road.
    fn beside(&self, x: f64, y: f64) -> f64 {
        (self.along.0 * y - self.along.1 * x - self.off).abs() - self.half_width
    }

    /// Returns the place this far along the road and this far to the left of its center.
    fn at(&self, far: f64, left: f64) -> (f64, f64) {
        let (left, along) = (self.off + left, self.along);
        (along.0 * far - along.1 * left, along.1 * far + along.0 * left)
    }
}

impl Scene {
    /// Returns a place where the sensor stands on a road, `height` over it.
    pub(super) fn suburb(height: f64, random: &mut Random) -> Self {
        let ground = Ground {
            slope: (random.between(-0.03, 0.03), random.between(-0.03, 0.03)),
            rough: 0.1 * random.unit() * random.unit(),
        };
        let mut scene = Self::on(ground);
        let width = random.between(3.0, 9.0) * if random.below(3) == 0 { 2.5 } else { 1.0 };
        let mut roads = vec![Road::new(0.0, random.between(-2.0, 2.0), width)];
        if random.unit() < 0.6 {
            let (angle, off) = (random.between(1.0, 2.1), random.between(-40.0, 40.0));
            roads.push(Road::new(angle, off, random.between(2.5, 7.0)));
        }
        scene.buildings(&roads, random);
        scene.plants(&roads, random);
        scene.cars(&roads, random);
        if random.unit() < 0.4 {
            // The own roof.
            let roof = height - random.between(0.08, 0.5);
            scene.block(Vector(-0.3, 0.0, 0.0), (1.6, 0.8), 0.0, roof);
        }
        scene
    }

    fn buildings(&mut self, roads: &[Road], random: &mut Random) {
        let setback = random.between(0.5, 8.0);
        let tallest = random.between(5.0, 25.0);
        for _ in 0..5 + random.below(80) {
            let half = (random.between(2.0, 13.0), random.between(2.0, 8.0));
            let (tall, turn) = (random.between(2.2, tallest), any_turn(random));
            self.beside(roads, setback + half.0, random, |scene, at, _| {
                scene.block(at, half, turn, tall);
            });
        }
        // Walls and fences.
        for _ in 0..random.below(40) {
            let half = (random.between(2.0, 12.0), 0.1);
            let (tall, turn) = (random.between(0.5, 2.0), any_turn(random));
            self.beside(roads, 3.0, random, |scene, at, _| scene.block(at, half, turn, tall));
        }
    }

    fn plants(&mut self, roads: &[Road], random: &mut Random) {
        let green = 1 + random.below(120);
        for _ in 0..random.below(green) {
            let radius = random.between(0.8, 3.5);
            self.beside(roads, 1.0, random, |scene, at, random| {
                let stem = random.between(1.0, 5.0);
                scene.pole(at, random.between(0.08, 0.3), stem);
                scene.crown(at + Vector(0.0, 0.0, stem + 0.7 * radius), radius);
            });
        }
        // Bushes.
        for _ in 0..random.below(green) {
            let radius = random.between(0.3, 1.6);
            self.beside(roads, radius, random, |scene, at, _| {
                scene.crown(at + Vector(0.0, 0.0, 0.5 * radius), radius);
            });
        }
        for _ in 0..random.below(30) {
            let tall = random.between(2.0, 9.0);
            self.beside(roads, 0.3, random, |scene, at, _| scene.pole(at, 0.08, tall));
        }
    }

    fn cars(&mut self, roads: &[Road], random: &mut Random) {
        for _ in 0..random.below(60) {
            let road = &roads[random.below(roads.len())];
            let side = if random.below(2) == 0 { -1.0 } else { 1.0 };
            // Most are parked.
            let left = if random.below(4) == 0 { 0.4 } else { 1.0 } * (road.half_width - 1.0);
            let (x, y) = road.at(random.between(-70.0, 70.0), side * left);
            if x * x + y * y > 25.0 {
                let turn = atan2(road.along.1, road.along.0) + random.between(-0.06, 0.06);
                self.plain_car(self.ground.under(x, y), turn);
            }
        }
    }

    /// Puts something at a place that is at least `gap` from every road, if one is found.
    fn beside(
        &mut self,
        roads: &[Road],
        gap: f64,
        random: &mut Random,
        put: impl FnOnce(&mut Self, Vector, &mut Random),
    ) {
        for _ in 0..4 {
            let (far, angle) = (AWAY * random.unit().sqrt(), TAU * random.unit());
            let (x, y) = (far * cos(angle), far * sin(angle));
            if roads.iter().all(|road| road.beside(x, y) > gap) {
                return put(self, self.ground.under(x, y), random);
            }
        }
    }
}

/// Returns a turn along x or y in most cases.
fn any_turn(random: &mut Random) -> f64 {
    let quarter = random.below(2) as f64 * (PI / 2.0);
    let off = if random.below(3) == 0 { PI / 2.0 } else { 0.1 };
    quarter + random.between(-off, off)
}
