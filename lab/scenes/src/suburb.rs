//! A place without a plan: its width, density and vegetation depend on the seed.

use farpoint_generate::parts::{Random, Scene, Sensor, Vector};
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

/// Roads that may cross, houses at any angle, hedges and trees on rough, sloping ground.
struct Suburb {
    things: Scene<()>,
    /// Rise of the ground along x and y: a plane through the sensor's foot.
    slope: (f64, f64),
    /// Height of the grass that rays end in.
    rough: f64,
}

/// Generates one revolution of a LiDAR in a suburb, perhaps with the roof of the car that carries it. Returns no points
/// if there are no echoes at all: the reach is too short, or there is no ring.
///
/// ```
/// use farpoint_scenes::{Sensor, suburb};
///
/// let sensor = Sensor { rings: 32, elevation: [10.0, -30.0], ..Sensor::default() };
/// assert_eq!(suburb(5000, 1, &sensor).len(), 5000);
/// ```
pub fn suburb(n: usize, seed: u64, sensor: &Sensor) -> Vec<[f32; 3]> {
    let suburb = Suburb::new(sensor.height, &mut Random::new(seed, 7));
    let ground = |ray: [Vector; 2], random: &mut Random| (suburb.range(ray, random), ());
    let echoes = sensor.echoes(n, seed, &suburb.things, ground);
    echoes.into_iter().map(|(point, ())| point).collect()
}

impl Suburb {
    /// Returns the position on the ground with these two coordinates.
    fn under(&self, x: f64, y: f64) -> Vector {
        Vector(x, y, self.slope.0 * x + self.slope.1 * y)
    }

    /// Returns the range at which a ray from above the sensor's foot ends on the ground; infinite if nowhere.
    fn range(&self, [from, along]: [Vector; 2], random: &mut Random) -> f64 {
        let fall = self.slope.0 * along.0 + self.slope.1 * along.1 - along.2;
        if fall <= 0.0 {
            return f64::INFINITY;
        }
        let grass = if self.rough > 0.0 { self.rough * random.unit() } else { 0.0 };
        (from.2 - grass) / fall
    }

    /// Returns a place where the sensor stands on a road, `height` over it.
    fn new(height: f64, random: &mut Random) -> Self {
        let mut suburb = Self {
            things: Scene::new(()),
            slope: (random.between(-0.03, 0.03), random.between(-0.03, 0.03)),
            rough: 0.1 * random.unit() * random.unit(),
        };
        let width = random.between(3.0, 9.0) * if random.below(3) == 0 { 2.5 } else { 1.0 };
        let mut roads = vec![Road::new(0.0, random.between(-2.0, 2.0), width)];
        if random.unit() < 0.6 {
            let (angle, off) = (random.between(1.0, 2.1), random.between(-40.0, 40.0));
            roads.push(Road::new(angle, off, random.between(2.5, 7.0)));
        }
        suburb.buildings(&roads, random);
        suburb.plants(&roads, random);
        suburb.cars(&roads, random);
        if random.unit() < 0.4 {
            // The own roof.
            let roof = height - random.between(0.08, 0.5);
            suburb.things.block(Vector(-0.3, 0.0, 0.0), (1.6, 0.8), 0.0, roof);
        }
        suburb
    }

    fn buildings(&mut self, roads: &[Road], random: &mut Random) {
        let setback = random.between(0.5, 8.0);
        let tallest = random.between(5.0, 25.0);
        for _ in 0..5 + random.below(80) {
            let half = (random.between(2.0, 13.0), random.between(2.0, 8.0));
            let (tall, turn) = (random.between(2.2, tallest), any_turn(random));
            self.beside(roads, setback + half.0, random, |things, at, _| {
                things.block(at, half, turn, tall);
            });
        }
        // Walls and fences.
        for _ in 0..random.below(40) {
            let half = (random.between(2.0, 12.0), 0.1);
            let (tall, turn) = (random.between(0.5, 2.0), any_turn(random));
            self.beside(roads, 3.0, random, |things, at, _| things.block(at, half, turn, tall));
        }
    }

    fn plants(&mut self, roads: &[Road], random: &mut Random) {
        let green = 1 + random.below(120);
        for _ in 0..random.below(green) {
            let radius = random.between(0.8, 3.5);
            self.beside(roads, 1.0, random, |things, at, random| {
                let stem = random.between(1.0, 5.0);
                things.pole(at, random.between(0.08, 0.3), stem);
                things.crown(at + Vector(0.0, 0.0, stem + 0.7 * radius), radius);
            });
        }
        // Bushes.
        for _ in 0..random.below(green) {
            let radius = random.between(0.3, 1.6);
            self.beside(roads, radius, random, |things, at, _| {
                things.crown(at + Vector(0.0, 0.0, 0.5 * radius), radius);
            });
        }
        for _ in 0..random.below(30) {
            let tall = random.between(2.0, 9.0);
            self.beside(roads, 0.3, random, |things, at, _| things.pole(at, 0.08, tall));
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
                self.things.plain_car(self.under(x, y), turn);
            }
        }
    }

    /// Puts something at a place that is at least `gap` from every road, if one is found.
    fn beside(
        &mut self,
        roads: &[Road],
        gap: f64,
        random: &mut Random,
        put: impl FnOnce(&mut Scene<()>, Vector, &mut Random),
    ) {
        for _ in 0..4 {
            let (far, angle) = (AWAY * random.unit().sqrt(), TAU * random.unit());
            let (x, y) = (far * cos(angle), far * sin(angle));
            if roads.iter().all(|road| road.beside(x, y) > gap) {
                let at = self.under(x, y);
                return put(&mut self.things, at, random);
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
