//! A room under construction: surfaces with their classes and colors, occlusion, and occupied places.

use farpoint_generate::parts::{Builder, Random, Shape, Vector};
use std::f64::consts::FRAC_PI_2;

/// Red, green and blue, 0 to 255.
pub(super) type Color = [f64; 3];

/// Class and color of a surface.
#[derive(Debug, Clone, Copy)]
pub(super) struct Finish {
    pub(super) class: u8,
    color: Color,
    /// Standard deviation of the color over the surface.
    grain: f64,
}

impl Finish {
    pub(super) fn new(class: u8, color: Color, grain: f64) -> Self {
        Self { class, color, grain }
    }

    /// Returns the color of one point.
    pub(super) fn color(&self, random: &mut Random) -> [u8; 3] {
        // Bright and dark more than of another hue.
        let bright = self.grain * random.normal();
        self.color.map(|c| (c + bright + 0.3 * self.grain * random.normal() + 0.5) as u8)
    }

    fn shaded(self, light: f64) -> Self {
        Self { color: self.color.map(|c| c * light), ..self }
    }
}

/// A box that occludes, in a frame of its own.
struct Blocker {
    origin: Vector,
    turn: (f64, f64),
    low: Vector,
    high: Vector,
}

/// Distance of blockers below their surfaces, so that a surface does not hide itself.
const INSET: f64 = 0.004;

impl Blocker {
    fn local(&self, v: Vector) -> Vector {
        let (c, s) = self.turn;
        Vector(c * v.0 + s * v.1, c * v.1 - s * v.0, v.2)
    }

    /// Returns whether the box blocks the segment between two positions.
    fn hides(&self, from: Vector, to: Vector) -> bool {
        let (o, d) = (self.local(from - self.origin), self.local(to - from));
        let (mut enter, mut leave) = (0.0f64, 1.0f64);
        for (o, d, low, high) in [
            (o.0, d.0, self.low.0, self.high.0),
            (o.1, d.1, self.low.1, self.high.1),
            (o.2, d.2, self.low.2, self.high.2),
        ] {
            let (a, b) = ((low - o) / d, (high - o) / d);
            enter = enter.max(a.min(b));
            leave = leave.min(a.max(b));
        }
        enter < leave
    }
}

/// A rectangle of the floor: lowest x and y, highest x and y.
pub(super) type Area = [f64; 4];

/// One of the four walls.
pub(super) struct Wall {
    /// The corner on the left of whoever looks at the wall, and the turn of its frame: x along the wall,
    /// y into the room.
    corner: (f64, f64),
    pub(super) angle: f64,
    pub(super) length: f64,
    /// Holes for doors and windows: from, to, lowest, highest.
    pub(super) holes: Vec<[f64; 4]>,
    /// Occupied parts: from, to, lowest, highest.
    used: Vec<[f64; 4]>,
}

pub(super) struct Interior {
    pub(super) builder: Builder,
    /// Finish of each shape of the builder.
    pub(super) finishes: Vec<Finish>,
    blockers: Vec<Blocker>,
    occupied: Vec<Area>,
    pub(super) walls: [Wall; 4],
    /// Length, depth and height.
    pub(super) size: Vector,
    /// Positions of the scanner.
    pub(super) stations: Vec<Vector>,
}

impl Interior {
    pub(super) fn new(size: Vector) -> Self {
        let Vector(x, y, _) = size;
        let corners = [((0.0, 0.0), x), ((x, 0.0), y), ((x, y), x), ((0.0, y), y)];
        let mut quarter = 0.0;
        let walls = corners.map(|(corner, length)| {
            let angle = quarter * FRAC_PI_2;
            quarter += 1.0;
            Wall { corner, angle, length, holes: Vec::new(), used: Vec::new() }
        });
        Self {
            builder: Builder::default(),
            finishes: Vec::new(),
            blockers: Vec::new(),
            occupied: Vec::new(),
            walls,
            size,
            stations: Vec::new(),
        }
    }

    /// Adds shapes of one finish; surfaces that face the ceiling are lighter.
    pub(super) fn add(&mut self, finish: Finish, build: impl FnOnce(&mut Builder)) {
        let before = self.finishes.len();
        build(&mut self.builder);
        for shape in &self.builder.shapes[before..] {
            let light = match shape {
                Shape::Patch { u, v, .. } => {
                    let normal = u.cross(*v);
                    0.86 + 0.14 * normal.2.abs() / normal.length()
                }
                Shape::Disc { .. } => 1.0,
                Shape::Side { .. } | Shape::Ball { .. } => 0.9,
            };
            self.finishes.push(finish.shaded(light));
        }
    }

    /// Adds a box that occludes.
    pub(super) fn solid(&mut self, finish: Finish, low: Vector, size: Vector) {
        self.hide(low, size);
        self.add(finish, |b| b.block(low, size));
    }

    /// Adds a [`Self::solid`] about the frame's axis: center of its base, and size.
    pub(super) fn centered(&mut self, finish: Finish, base: Vector, size: Vector) {
        self.solid(finish, base - Vector(size.0 / 2.0, size.1 / 2.0, 0.0), size);
    }

    /// Adds a box that occludes, without a surface.
    pub(super) fn hide(&mut self, low: Vector, size: Vector) {
        let (origin, turn) = self.builder.frame();
        let inset = Vector(INSET, INSET, INSET);
        self.blockers.push(Blocker { origin, turn, low: low + inset, high: low + size - inset });
    }

    pub(super) fn sees(&self, station: Vector, point: Vector) -> bool {
        !self.blockers.iter().any(|blocker| blocker.hides(station, point))
    }

    /// Claims a rectangle of the floor if it is free and inside the room.
    pub(super) fn claim(&mut self, area: Area) -> bool {
        let [x0, y0, x1, y1] = area;
        let inside = x0 >= 0.0 && y0 >= 0.0 && x1 <= self.size.0 && y1 <= self.size.1;
        let free = !self.occupied.iter().any(|t| x0 < t[2] && t[0] < x1 && y0 < t[3] && t[1] < y1);
        if inside && free {
            self.occupied.push(area);
        }
        inside && free
    }

    /// Keeps further things out of the middle.
    pub(super) fn keep_middle(&mut self) {
        let (x, y) = (self.size.0 / 2.0, self.size.1 / 2.0);
        self.occupied.push([x - 0.2, y - 0.2, x + 0.2, y + 0.2]);
    }

    /// Claims a free rectangle of this size somewhere, and returns its center.
    pub(super) fn somewhere(
        &mut self,
        size: (f64, f64),
        random: &mut Random,
    ) -> Option<(f64, f64)> {
        let reach = (self.size.0 - size.0, self.size.1 - size.1);
        if reach.0 <= 0.0 || reach.1 <= 0.0 {
            return None;
        }
        (0..20).find_map(|_| {
            let (x, y) = (reach.0 * random.unit(), reach.1 * random.unit());
            let center = (x + size.0 / 2.0, y + size.1 / 2.0);
            self.claim([x, y, x + size.0, y + size.1]).then_some(center)
        })
    }

    /// Claims a free part of a wall, with the floor before it down to `deep` if that is above 0, and
    /// makes its left end the frame: x along the wall, y into the room. Returns its position along
    /// the wall.
    pub(super) fn against(
        &mut self,
        wall: usize,
        wide: f64,
        deep: f64,
        heights: (f64, f64),
        random: &mut Random,
    ) -> Option<f64> {
        let reach = self.walls[wall].length - wide - 0.1;
        if reach <= 0.0 {
            return None;
        }
        (0..8).find_map(|_| {
            let from = 0.05 + reach * random.unit();
            let part = [from, from + wide, heights.0, heights.1];
            self.take(wall, part, deep).then_some(from)
        })
    }

    /// [`Self::against`] any wall; returns the wall.
    pub(super) fn against_any(
        &mut self,
        wide: f64,
        deep: f64,
        heights: (f64, f64),
        random: &mut Random,
    ) -> Option<usize> {
        let first = random.below(4);
        (first..first + 4)
            .map(|wall| wall % 4)
            .find(|&wall| self.against(wall, wide, deep, heights, random).is_some())
    }

    fn take(&mut self, wall: usize, part: [f64; 4], deep: f64) -> bool {
        let Wall { corner, angle, used, .. } = &self.walls[wall];
        let crossed =
            |u: &[f64; 4]| part[0] < u[1] && u[0] < part[1] && part[2] < u[3] && u[2] < part[3];
        if used.iter().any(crossed) {
            return false;
        }
        let (along, inward) = DIRECTIONS[wall];
        let place = |x: f64, y: f64| {
            (corner.0 + along.0 * x + inward.0 * y, corner.1 + along.1 * x + inward.1 * y)
        };
        let (a, b, angle) = (place(part[0], 0.0), place(part[1], deep), *angle);
        let area = [a.0.min(b.0), a.1.min(b.1), a.0.max(b.0), a.1.max(b.1)];
        if deep > 0.0 && !self.claim(area) {
            return false;
        }
        self.walls[wall].used.push(part);
        self.builder.stand(a.0, a.1, 0.0, angle);
        true
    }

    /// Makes the left corner of a wall the frame.
    pub(super) fn stand_at(&mut self, wall: usize) {
        let Wall { corner, angle, .. } = &self.walls[wall];
        self.builder.stand(corner.0, corner.1, 0.0, *angle);
    }

    /// Cuts a hole into a wall, `from` and `to` along it.
    pub(super) fn cut(&mut self, wall: usize, hole: [f64; 4]) {
        self.walls[wall].holes.push(hole);
    }

    /// Returns the directions along a wall, and from it into the room.
    pub(super) fn directions(wall: usize) -> ((f64, f64), (f64, f64)) {
        DIRECTIONS[wall]
    }
}

/// Directions along each wall, and from it into the room.
const DIRECTIONS: [((f64, f64), (f64, f64)); 4] = [
    ((1.0, 0.0), (0.0, 1.0)),
    ((0.0, 1.0), (-1.0, 0.0)),
    ((-1.0, 0.0), (0.0, -1.0)),
    ((0.0, -1.0), (1.0, 0.0)),
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn boxes_hide_what_is_behind_them_and_not_their_front() {
        let mut room = Interior::new(Vector(6.0, 4.0, 3.0));
        room.builder.stand(3.0, 2.0, 0.0, 0.3);
        room.centered(Finish::new(0, [0.0; 3], 0.0), Vector(0.0, 0.0, 0.0), Vector(1.0, 1.0, 1.0));
        let eye = Vector(0.5, 2.0, 0.5);
        assert!(!room.sees(eye, Vector(5.0, 2.0, 0.5)));
        assert!(room.sees(eye, Vector(5.0, 2.0, 2.5)));
        let (c, s) = (libm::cos(0.3), libm::sin(0.3));
        let face = |x: f64| Vector(3.0 + c * x, 2.0 + s * x, 0.5);
        assert!(room.sees(eye, face(-0.5)));
        assert!(!room.sees(eye, face(0.5)));
        // From above, the top.
        assert!(room.sees(Vector(0.5, 2.0, 2.0), Vector(3.0, 2.0, 1.0)));
    }

    #[test]
    fn no_two_things_take_the_same_floor_or_wall() {
        let mut random = Random::new(1, 1);
        let mut room = Interior::new(Vector(6.0, 4.0, 3.0));
        for _ in 0..60 {
            room.against_any(0.8, 0.5, (0.0, 1.0), &mut random);
            room.somewhere((0.5, 0.7), &mut random);
        }
        assert!(room.occupied.len() > 20, "{}", room.occupied.len());
        for (k, a) in room.occupied.iter().enumerate() {
            assert!(a[0] >= 0.0 && a[1] >= 0.0 && a[2] <= 6.0 && a[3] <= 4.0, "{a:?}");
            for b in &room.occupied[..k] {
                let disjoint = a[2] <= b[0] || b[2] <= a[0] || a[3] <= b[1] || b[3] <= a[1];
                assert!(disjoint, "{a:?} {b:?}");
            }
        }
    }
}
