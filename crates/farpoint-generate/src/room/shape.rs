//! Surfaces that can be sampled evenly, and furniture built from them.

use crate::random::Random;
use crate::vector::Vector;
use libm::{cos, sin};
use std::f64::consts::{PI, TAU};

/// A piece of surface.
#[allow(missing_docs, reason = "the variants say what their fields are")]
pub enum Shape {
    /// A parallelogram `origin + s*u + t*v` for s, t in 0..1, less the holes
    /// `[s_low, s_high, t_low, t_high]`.
    Patch { origin: Vector, u: Vector, v: Vector, holes: Vec<[f64; 4]> },
    /// The side of an upright cylinder or cone, from `low` to `low + height`.
    Side { low: Vector, radius: [f64; 2], height: f64 },
    /// A level disc.
    Disc { center: Vector, radius: f64 },
    /// An ellipsoid of revolution about the vertical: radius, half height.
    Ball { center: Vector, radius: f64, half: f64 },
}

impl Shape {
    /// Returns the area, holes included; for a ball that of the wrapping sphere.
    pub fn area(&self) -> f64 {
        match self {
            Self::Patch { u, v, .. } => u.cross(*v).length(),
            Self::Side { radius, height, .. } => PI * (radius[0] + radius[1]) * height,
            Self::Disc { radius, .. } => PI * radius * radius,
            Self::Ball { radius, half, .. } => 4.0 * PI * radius * radius.max(*half),
        }
    }

    /// Returns a random point of the shape, `None` in a hole.
    #[inline]
    pub fn point(&self, random: &mut Random) -> Option<Vector> {
        match self {
            Self::Patch { origin, u, v, holes } => {
                let (s, t) = (random.unit(), random.unit());
                let inside = |h: &[f64; 4]| h[0] <= s && s < h[1] && h[2] <= t && t < h[3];
                (!holes.iter().any(inside)).then(|| *origin + *u * s + *v * t)
            }
            Self::Side { low, radius, height } => {
                let ((x, y), t) = (random.circle(), random.unit());
                let r = radius[0] + (radius[1] - radius[0]) * t;
                Some(*low + Vector(x * r, y * r, t * height))
            }
            Self::Disc { center, radius } => {
                let ((x, y), r) = (random.circle(), radius * random.unit().sqrt());
                Some(*center + Vector(x * r, y * r, 0.0))
            }
            Self::Ball { center, radius, half } => {
                let d = random.direction();
                Some(*center + Vector(d.0 * radius, d.1 * radius, d.2 * half))
            }
        }
    }
}

/// Shapes placed in a frame: an origin and a turn about the vertical.
pub struct Builder {
    /// The shapes so far.
    pub shapes: Vec<Shape>,
    origin: Vector,
    turn: (f64, f64),
}

impl Default for Builder {
    fn default() -> Self {
        Self { shapes: Vec::new(), origin: Vector(0.0, 0.0, 0.0), turn: (1.0, 0.0) }
    }
}

impl Builder {
    /// Moves the frame to `(x, y, z)`, turned by `angle`.
    pub fn stand(&mut self, x: f64, y: f64, z: f64, angle: f64) {
        self.origin = Vector(x, y, z);
        self.turn = (cos(angle), sin(angle));
    }

    /// Returns the frame: its origin, cosine and sine of its turn.
    pub fn frame(&self) -> (Vector, (f64, f64)) {
        (self.origin, self.turn)
    }

    fn turned(&self, v: Vector) -> Vector {
        let (c, s) = self.turn;
        Vector(c * v.0 - s * v.1, s * v.0 + c * v.1, v.2)
    }

    fn placed(&self, v: Vector) -> Vector {
        self.origin + self.turned(v)
    }

    /// Adds a parallelogram with holes.
    pub fn patch(&mut self, origin: Vector, u: Vector, v: Vector, holes: &[[f64; 4]]) {
        let (origin, u, v) = (self.placed(origin), self.turned(u), self.turned(v));
        self.shapes.push(Shape::Patch { origin, u, v, holes: holes.to_vec() });
    }

    /// Adds all six faces of a box from `low`, of this size.
    pub fn block(&mut self, low: Vector, size: Vector) {
        let (x, y, z) =
            (Vector(size.0, 0.0, 0.0), Vector(0.0, size.1, 0.0), Vector(0.0, 0.0, size.2));
        for (u, v, w) in [(x, y, z), (y, z, x), (z, x, y)] {
            self.patch(low, u, v, &[]);
            self.patch(low + w, u, v, &[]);
        }
    }

    /// Adds a box about the frame's axis: center of its base, and size.
    pub fn centered(&mut self, base: Vector, size: Vector) {
        self.block(base - Vector(size.0 / 2.0, size.1 / 2.0, 0.0), size);
    }

    /// Adds an upright cylinder with both ends.
    pub fn cylinder(&mut self, low: Vector, radius: f64, height: f64) {
        self.cone(low, [radius, radius], height);
        self.disc(low, radius);
        self.disc(low + Vector(0.0, 0.0, height), radius);
    }

    /// Adds the side of an upright cone.
    pub fn cone(&mut self, low: Vector, radius: [f64; 2], height: f64) {
        let low = self.placed(low);
        self.shapes.push(Shape::Side { low, radius, height });
    }

    /// Adds a level disc.
    pub fn disc(&mut self, center: Vector, radius: f64) {
        let center = self.placed(center);
        self.shapes.push(Shape::Disc { center, radius });
    }

    /// Adds an ellipsoid about a vertical axis.
    pub fn ball(&mut self, center: Vector, radius: f64, half: f64) {
        let center = self.placed(center);
        self.shapes.push(Shape::Ball { center, radius, half });
    }

    /// Adds a vase: cones stacked along a waved profile.
    pub fn vase(&mut self, low: Vector, radius: f64, height: f64) {
        let profile = |k: usize| radius * (0.75 + 0.4 * sin(k as f64 / 24.0 * TAU * 0.8));
        for k in 0..24 {
            let step = height / 24.0;
            let base = low + Vector(0.0, 0.0, step * k as f64);
            self.cone(base, [profile(k), profile(k + 1)], step);
        }
    }
}
