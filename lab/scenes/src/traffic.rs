//! Vehicles, two-wheelers, people, poles, signs and bins of the street.

use super::plan::KERB;
use super::surface::{class, surface};
use super::town::{Side, Town};
use farpoint_generate::parts::{Random, Vector as V};
use libm::{cos, sin};
use std::f64::consts::PI;

/// Least distance of vehicles and people to the sensor.
const NEAREST: f64 = 3.5;

/// A place and the cosine and sine of a turn: the frame of a thing of several parts.
struct Frame {
    at: V,
    angle: f64,
    turn: (f64, f64),
}

impl Frame {
    fn new(at: V, angle: f64) -> Self {
        Self { at, angle, turn: (cos(angle), sin(angle)) }
    }

    fn place(&self, x: f64, y: f64, z: f64) -> V {
        let (c, s) = self.turn;
        self.at + V(c * x - s * y, s * x + c * y, z)
    }
}

impl Town {
    fn part(&mut self, frame: &Frame, base: (f64, f64, f64), half: (f64, f64), height: f64) {
        let (x, y, z) = base;
        self.things.block(frame.place(x, y, z), half, frame.angle, height);
    }

    /// Adds body, cabin and wheels.
    pub(super) fn car(&mut self, at: V, angle: f64, random: &mut Random) {
        let frame = Frame::new(at, angle);
        let (long, tall) = (random.between(1.9, 2.4), random.between(1.38, 1.75));
        self.made_of(surface(class::CAR, 0.35, random));
        self.part(&frame, (0.0, 0.0, 0.25), (long, 0.88), 0.62);
        let (cabin, back) = (random.between(0.5, 0.72) * long, random.between(-0.25, 0.05) * long);
        self.part(&frame, (back, 0.0, 0.8), (cabin, 0.76), tall - 0.8);
        for (x, y) in [(-0.62, -0.78), (-0.62, 0.78), (0.62, -0.78), (0.62, 0.78)] {
            self.part(&frame, (x * long, y, 0.0), (0.31, 0.1), 0.6);
        }
    }

    /// Adds a delivery van: a truck.
    pub(super) fn van(&mut self, at: V, angle: f64, random: &mut Random) {
        let frame = Frame::new(at, angle);
        let (long, tall) = (random.between(2.2, 4.2), random.between(2.4, 3.4));
        self.made_of(surface(class::TRUCK, 0.4, random));
        self.part(&frame, (-0.6, 0.0, 0.5), (long - 0.6, 1.05), tall - 0.5);
        self.part(&frame, (long + 0.1, 0.0, 0.4), (0.8, 1.0), 0.7 * tall);
        for (x, y) in [(-0.7, -0.95), (-0.7, 0.95), (0.85, -0.95), (0.85, 0.95)] {
            self.part(&frame, (x * long, y, 0.0), (0.42, 0.12), 0.84);
        }
    }

    /// Adds a bus, or a trailer.
    fn other_vehicle(&mut self, at: V, angle: f64, random: &mut Random) {
        let frame = Frame::new(at, angle);
        self.made_of(surface(class::OTHER_VEHICLE, 0.45, random));
        if random.below(2) == 0 {
            self.part(&frame, (0.0, 0.0, 0.35), (random.between(4.5, 6.0), 1.25), 2.7);
            return;
        }
        self.part(&frame, (0.0, 0.0, 0.45), (1.3, 0.8), random.between(0.3, 1.3));
        self.part(&frame, (1.8, 0.0, 0.4), (0.6, 0.06), 0.1);
        for y in [-0.85, 0.85] {
            self.part(&frame, (0.0, y, 0.0), (0.28, 0.08), 0.55);
        }
    }

    /// Adds legs, body and head.
    fn person(&mut self, at: V, angle: f64, random: &mut Random) {
        let frame = Frame::new(at, angle);
        let size = random.between(0.88, 1.1);
        self.made_of(surface(class::PERSON, 0.4, random));
        let step = random.between(0.0, 0.22);
        self.part(&frame, (step, -0.1, 0.0), (0.08, 0.08), 0.85 * size);
        self.part(&frame, (-step, 0.1, 0.0), (0.08, 0.08), 0.85 * size);
        self.part(&frame, (0.0, 0.0, 0.82 * size), (0.13, 0.23), 0.62 * size);
        self.things.ball(frame.place(0.02, 0.0, 1.6 * size), 0.12);
    }

    /// Adds two wheels and the parts between them, with a rider or without.
    fn two_wheeler(&mut self, at: V, angle: f64, motor: bool, ridden: bool, random: &mut Random) {
        let frame = Frame::new(at, angle);
        let class = match (motor, ridden) {
            (false, false) => class::BICYCLE,
            (true, false) => class::MOTORCYCLE,
            (false, true) => class::BICYCLIST,
            (true, true) => class::MOTORCYCLIST,
        };
        self.made_of(surface(class, if motor { 0.35 } else { 0.3 }, random));
        let thick = if motor { 0.09 } else { 0.035 };
        let (wheel, offset) = if motor { (0.31, 0.68) } else { (0.34, 0.54) };
        for x in [-offset, offset] {
            self.part(&frame, (x, 0.0, 0.0), (wheel, thick), 2.0 * wheel);
        }
        if motor {
            self.part(&frame, (0.0, 0.0, 0.3), (0.55, 0.18), 0.55);
            self.part(&frame, (0.45, 0.0, 0.9), (0.06, 0.36), 0.14);
        } else {
            self.part(&frame, (0.0, 0.0, 0.42), (0.42, 0.03), 0.4);
            self.part(&frame, (0.42, 0.0, 0.9), (0.05, 0.28), 0.12);
        }
        if ridden {
            for y in [-0.16, 0.16] {
                self.part(&frame, (0.1, y, 0.3), (0.14, 0.07), 0.6);
            }
            self.part(&frame, (0.0, 0.0, 0.85), (0.17, 0.23), 0.6);
            self.things.ball(frame.place(0.12, 0.0, 1.6), 0.14);
        }
    }

    /// Adds lamps, signs, street trees, bins; two-wheelers and people on the sidewalk.
    pub(super) fn street_furniture(&mut self, side: Side, random: &mut Random) {
        let inner = side.edge - side.kerb;
        // A place on the sidewalk, between its outer edge and the road or the strip of parked cars.
        let at = |x: f64, part: f64| V(x, side.kerb + inner * part, KERB);
        let near = (inner.abs() - 1.3).max(0.2) / inner.abs();
        let mut x = -85.0;
        while x < 85.0 {
            x += random.between(5.0, 14.0);
            let place = at(x, 1.0 - 0.12);
            match random.below(8) {
                0 | 1 => self.lamp(at(x, near), side, random),
                2 => self.sign(at(x, near), random),
                3 => self.tree(place, random),
                4 => self.unlabeled(place, random),
                5 => self.person(at(x, random.between(0.8, 0.95)), PI * random.unit(), random),
                _ => {}
            }
        }
        // Near the sensor, where they have enough points.
        for motor in [false, true] {
            for _ in 0..1 + random.below(3) {
                let x = distance(4.0, 18.0, random);
                let angle =
                    random.between(-0.5, 0.5) + if random.below(2) == 0 { 0.5 * PI } else { 0.0 };
                self.two_wheeler(at(x, random.between(0.85, 0.95)), angle, motor, false, random);
            }
        }
        for _ in 0..2 {
            let x = distance(6.0, 30.0, random);
            self.sign(at(x, near), random);
        }
        for _ in 0..1 + random.below(3) {
            let place = at(distance(3.5, 20.0, random), random.between(0.75, 0.95));
            self.person(place, 2.0 * PI * random.unit(), random);
        }
    }

    fn lamp(&mut self, at: V, side: Side, random: &mut Random) {
        let tall = random.between(4.0, 8.5);
        self.made_of(surface(class::POLE, 0.45, random));
        self.things.pole(at, random.between(0.06, 0.12), tall);
        let arm = at + V(0.0, -side.sign * 0.7, tall - 0.1);
        self.things.block(arm, (0.05, 0.75), 0.0, 0.1);
    }

    /// Adds a plate or two on a pole.
    fn sign(&mut self, at: V, random: &mut Random) {
        let tall = random.between(2.1, 2.7);
        self.made_of(surface(class::POLE, 0.45, random));
        self.things.pole(at, 0.04, tall);
        self.made_of(surface(class::SIGN, 0.72, random));
        // In front of the pole as the sensor sees it.
        let toward = if at.0 > 0.0 { -0.07 } else { 0.07 };
        let turn = random.between(-0.3, 0.3);
        let half = random.between(0.28, 0.42);
        self.things.block(at + V(toward, 0.0, tall - 2.0 * half), (0.02, half), turn, 2.0 * half);
        if random.below(3) == 0 {
            self.things.block(
                at + V(toward, 0.0, tall - 2.0 * half - 0.45),
                (0.02, 0.3),
                turn,
                0.35,
            );
        }
    }

    /// Adds a bin, a bench or a box.
    fn unlabeled(&mut self, at: V, random: &mut Random) {
        self.made_of(surface(class::UNLABELED, 0.35, random));
        match random.below(3) {
            0 => self.things.pole(at, 0.28, 1.0),
            1 => self.things.block(at + V(0.0, 0.0, 0.38), (0.8, 0.22), 0.0, 0.08),
            _ => self.things.block(at, (0.4, 0.25), 0.0, 1.2),
        }
    }

    /// Adds parked cars in the strips, and traffic on the road.
    pub(super) fn traffic(&mut self, sides: [Side; 2], random: &mut Random) {
        let crossing = self.plan.crossing;
        for side in sides {
            let strip = self.plan.parking[usize::from(side.sign > 0.0)];
            let mut x = -75.0;
            while strip > 0.0 && x < 75.0 {
                x += random.between(5.4, 9.0);
                let clear = crossing.is_none_or(|(at, half)| (x - at).abs() > half + 9.0);
                let at = V(x, side.kerb + side.sign * 0.5 * strip, 0.0);
                let turn = random.between(-0.03, 0.03);
                match random.below(12) {
                    _ if !clear => {}
                    0..=6 => self.car(at, turn, random),
                    // Not beside the sensor, which would see nothing else.
                    7 | 8 if x.abs() < 11.0 => {}
                    7 => self.van(at + V(0.0, side.sign * 0.1, 0.0), turn, random),
                    8 => self.other_vehicle(at, turn, random),
                    _ => {}
                }
            }
        }
        self.moving(sides, random);
    }

    /// Adds moving objects in the lanes on both sides of the middle; each has a stretch of its own.
    fn moving(&mut self, sides: [Side; 2], random: &mut Random) {
        let mut stretch: Vec<f64> = (1..9).flat_map(|k| [f64::from(k), -f64::from(k)]).collect();
        random.shuffle(&mut stretch);
        let middle = 0.5 * (sides[0].kerb + sides[1].kerb);
        for (k, stretch) in stretch.into_iter().take(11).enumerate() {
            let side = sides[random.below(2)];
            let half = (side.kerb - middle).abs();
            let angle = if side.sign < 0.0 { 0.0 } else { PI } + random.between(-0.05, 0.05);
            let lane = V(0.0, middle + side.sign * 0.5 * half, 0.0);
            let edge = V(0.0, side.kerb - side.sign * 0.7, 0.0);
            // The smaller ones are never far.
            let small = |r: &mut Random| V(distance(NEAREST + 1.0, 16.0, r), 0.0, 0.0);
            let large = V(9.0 * stretch + random.between(-1.5, 1.5), 0.0, 0.0);
            match k {
                0 | 1 => {
                    let at = edge + small(random);
                    self.two_wheeler(at, angle, false, true, random);
                }
                2 | 3 => {
                    let at = lane + small(random);
                    self.two_wheeler(at, angle, true, true, random);
                }
                4 => self.person(edge + small(random), 0.5 * PI, random),
                5 => self.van(lane + large, angle, random),
                6 => self.other_vehicle(lane + large, angle, random),
                _ => self.car(lane + large, angle, random),
            }
        }
    }
}

/// Returns a position before or behind the sensor, this far.
fn distance(min: f64, max: f64, random: &mut Random) -> f64 {
    let distance = random.between(min, max);
    if random.below(2) == 0 { distance } else { -distance }
}
