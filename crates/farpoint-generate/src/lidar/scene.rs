//! Scene around the sensor, and its intersection with rays.

use crate::random::Random;
use crate::vector::Vector;
use libm::{atan2, cos, sin};
use std::f64::consts::{PI, TAU};

/// A solid, in meters, the sensor's foot at (0, 0, 0).
enum Solid {
    /// A box turned about the vertical: center of its base, half size on the ground,
    /// cosine and sine of its turn, height.
    Block { base: Vector, half: (f64, f64), turn: (f64, f64), height: f64 },
    /// An upright cylinder.
    Pole { base: Vector, radius: f64, height: f64 },
    /// Foliage: a ball that rays end inside of.
    Crown { center: Vector, radius: f64 },
    /// A ball that ends every ray.
    Ball { center: Vector, radius: f64 },
}

/// A solid and the azimuths at which rays can meet it.
struct Thing<S> {
    solid: Solid,
    surface: S,
    azimuth: f64,
    half_width: f64,
}

/// The things around the sensor, each with a surface.
pub struct Scene<S> {
    things: Vec<Thing<S>>,
    /// Surface of the solids added next.
    pub surface: S,
}

impl Scene<()> {
    /// Returns a straight street.
    pub(super) fn street(random: &mut Random) -> Self {
        let mut scene = Self::new(());
        for side in [-1.0, 1.0] {
            scene.houses(side, random);
            scene.parked(side, random);
            scene.greenery(side, random);
        }
        for (x, y) in [(14.0, -1.9), (-22.0, 1.8), (38.0, 1.7), (-48.0, -1.8)] {
            let at = Vector(x + random.between(-3.0, 3.0), y, 0.0);
            scene.plain_car(at, random.between(-0.04, 0.04));
        }
        scene
    }

    fn houses(&mut self, side: f64, random: &mut Random) {
        let mut x = -110.0;
        while x < 110.0 {
            let (wide, deep) = (random.between(9.0, 22.0), random.between(8.0, 14.0));
            let front = random.between(11.0, 16.0);
            let base = Vector(x + wide / 2.0, side * (front + deep / 2.0), 0.0);
            let turn = random.between(-0.03, 0.03);
            self.block(base, (wide / 2.0, deep / 2.0), turn, random.between(4.0, 14.0));
            // A porch, and a garden wall.
            let door = Vector(base.0, side * (front - 0.6), 0.0);
            self.block(door, (1.2, 0.7), turn, 2.6);
            let wall = Vector(base.0, side * 9.4, 0.0);
            self.block(wall, (wide * 0.4, 0.12), 0.0, random.between(0.5, 1.6));
            x += wide + random.between(1.0, 9.0);
        }
        // The kerb.
        self.block(Vector(0.0, side * 7.4, 0.0), (110.0, 2.0), 0.0, 0.13);
    }

    fn parked(&mut self, side: f64, random: &mut Random) {
        let mut x = -70.0;
        while x < 70.0 {
            x += random.between(5.2, 11.0);
            self.plain_car(Vector(x, side * 4.4, 0.0), random.between(-0.05, 0.05));
        }
    }

    fn greenery(&mut self, side: f64, random: &mut Random) {
        let mut x = -80.0;
        while x < 80.0 {
            x += random.between(6.0, 16.0);
            let (y, height) = (side * random.between(6.2, 8.6), random.between(2.2, 4.0));
            if random.unit() < 0.45 {
                self.pole(Vector(x, side * 5.9, 0.0), 0.09, random.between(4.0, 9.0));
            } else {
                self.pole(Vector(x, y, 0.0), random.between(0.1, 0.25), height);
                self.crown(Vector(x, y, height + 0.9), random.between(1.2, 2.3));
            }
        }
    }
}

impl<S: Copy> Scene<S> {
    /// Returns an empty scene.
    pub fn new(surface: S) -> Self {
        Self { things: Vec::new(), surface }
    }

    /// Adds a car without wheels.
    pub fn plain_car(&mut self, at: Vector, turn: f64) {
        self.block(at, (2.15, 0.88), turn, 0.85);
        self.block(at - Vector(0.25, 0.0, 0.0), (1.15, 0.78), turn, 1.47);
    }

    /// Adds a box turned about the vertical: center of its base, and half size on the ground.
    pub fn block(&mut self, base: Vector, half: (f64, f64), turn: f64, height: f64) {
        let reach = (half.0 * half.0 + half.1 * half.1).sqrt();
        let turn = (cos(turn), sin(turn));
        self.add(base, reach, Solid::Block { base, half, turn, height });
    }

    /// Adds an upright cylinder.
    pub fn pole(&mut self, base: Vector, radius: f64, height: f64) {
        self.add(base, radius, Solid::Pole { base, radius, height });
    }

    /// Adds foliage: a ball that rays end inside of.
    pub fn crown(&mut self, center: Vector, radius: f64) {
        self.add(center, radius, Solid::Crown { center, radius });
    }

    /// Adds a ball that ends every ray.
    pub fn ball(&mut self, center: Vector, radius: f64) {
        self.add(center, radius, Solid::Ball { center, radius });
    }

    fn add(&mut self, at: Vector, reach: f64, solid: Solid) {
        let away = (at.0 * at.0 + at.1 * at.1).sqrt();
        // asin(x) <= x * pi / 2 on 0..1.
        let half_width = if away <= reach { PI } else { reach / away * (PI / 2.0) };
        let (azimuth, surface) = (atan2(at.1, at.0), self.surface);
        self.things.push(Thing { solid, surface, azimuth, half_width });
    }

    /// Finds the numbers of the things that a ray at this azimuth can meet.
    pub(super) fn near(&self, azimuth: f64, found: &mut Vec<usize>) {
        found.clear();
        found.extend((0..self.things.len()).filter(|&k| {
            let thing = &self.things[k];
            let off = (azimuth - thing.azimuth).abs() % TAU;
            off.min(TAU - off) <= thing.half_width
        }));
    }

    /// Returns range and surface of the nearest hit of a ray: one of the things `near`, or else the ground's.
    pub(super) fn hit(
        &self,
        near: &[usize],
        ground: (f64, S),
        [from, along]: [Vector; 2],
        random: &mut Random,
    ) -> (f64, S) {
        near.iter().fold(ground, |nearest, &k| {
            let thing = &self.things[k];
            let range = thing.solid.range(from, along, nearest.0, random);
            if range < nearest.0 { (range, thing.surface) } else { nearest }
        })
    }
}

impl Solid {
    fn range(&self, from: Vector, along: Vector, nearest: f64, random: &mut Random) -> f64 {
        match self {
            Self::Block { base, half, turn, height } => {
                let local = |v: Vector| {
                    Vector(turn.0 * v.0 + turn.1 * v.1, turn.0 * v.1 - turn.1 * v.0, v.2)
                };
                let (o, d) = (local(from - *base), local(along));
                let (mut enter, mut leave) = (0.0f64, f64::INFINITY);
                for (o, d, low, high) in [
                    (o.0, d.0, -half.0, half.0),
                    (o.1, d.1, -half.1, half.1),
                    (o.2, d.2, 0.0, *height),
                ] {
                    let (a, b) = ((low - o) / d, (high - o) / d);
                    enter = enter.max(a.min(b));
                    leave = leave.min(a.max(b));
                }
                if enter <= leave { enter } else { f64::INFINITY }
            }
            Self::Pole { base, radius, height } => {
                let (o, d) = (from - *base, along);
                let (a, half_b) = (d.0 * d.0 + d.1 * d.1, o.0 * d.0 + o.1 * d.1);
                let c = o.0 * o.0 + o.1 * o.1 - radius * radius;
                let root = half_b * half_b - a * c;
                if root < 0.0 {
                    return f64::INFINITY;
                }
                let t = (-half_b - root.sqrt()) / a;
                let z = o.2 + t * d.2;
                if t > 0.0 && (0.0..=*height).contains(&z) { t } else { f64::INFINITY }
            }
            Self::Crown { center, radius } => {
                let o = from - *center;
                let half_b = o.dot(along);
                let root = half_b * half_b - (o.dot(o) - radius * radius);
                if root < 0.0 || -half_b - root.sqrt() > nearest {
                    return f64::INFINITY;
                }
                // Leaves: one free path in three passes through.
                let path = 2.0 * root.sqrt();
                let depth = random.unit() * 1.5 * path.max(radius * 0.8);
                if depth < path { -half_b - root.sqrt() + depth } else { f64::INFINITY }
            }
            Self::Ball { center, radius } => {
                let o = from - *center;
                let half_b = o.dot(along);
                let root = half_b * half_b - (o.dot(o) - radius * radius);
                if root < 0.0 { f64::INFINITY } else { -half_b - root.sqrt() }
            }
        }
    }
}
