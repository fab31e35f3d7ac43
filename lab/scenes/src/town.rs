//! A town: a main street, perhaps a crossing, lots with houses and gardens along both sides.

use super::plan::{Area, KERB, Plan};
use super::surface::{Surface, class, surface};
use crate::{Labeled, Paint, UNLABELED};
use farpoint_generate::parts::{Random, Scene, Sensor, Vector as V};

/// Lots begin no farther away than this along the street.
const AWAY: f64 = 90.0;

/// A side of the main street.
#[derive(Clone, Copy)]
pub(super) struct Side {
    /// -1 right, 1 left.
    pub(super) sign: f64,
    /// y of the kerb, and of the end of the sidewalk.
    pub(super) kerb: f64,
    pub(super) edge: f64,
}

impl Side {
    /// Returns the place this far along the street and this far beyond the sidewalk.
    fn beyond(self, x: f64, away: f64) -> V {
        V(x, self.edge + self.sign * away, KERB)
    }
}

/// Generates one revolution of the LiDAR of [`farpoint_generate::lidar`] in a town, with an intensity in `0.0..1.0` and a
/// class of [`Setting::Town`](crate::Setting::Town) for every point: roads with parking, sidewalks, houses, fences,
/// trees, poles and signs, parked and moving vehicles, two-wheelers and people.
///
/// Intensities are those of the materials, with noise. 1 to 5 % of the points are
/// [`UNLABELED`]: bins and benches, and points here and there.
pub fn town(n: usize, seed: u64) -> Labeled {
    let Town { things, plan } = Town::new(&mut Random::new(seed, 7));
    let ground = |ray: [V; 2], random: &mut Random| plan.hit(ray, random);
    let echoes = Sensor::default().echoes(n, seed, &things, ground);
    let mut random = Random::new(seed, 11);
    let unknown = random.between(0.012, 0.03);
    let mut intensity = Vec::with_capacity(n);
    let mut classes = Vec::with_capacity(n);
    for (_, Surface { class, reflectance }) in &echoes {
        let light = reflectance * random.between(0.75, 1.0) + 0.012 * random.normal();
        intensity.push(light.clamp(0.0, 0.99) as f32);
        classes.push(if random.unit() < unknown { UNLABELED } else { *class });
    }
    let points = echoes.into_iter().map(|(point, _)| point).collect();
    Labeled { points, paint: Paint::Intensity(intensity), classes }
}

/// A town: its ground, and what stands on it.
pub(super) struct Town {
    pub(super) things: Scene<Surface>,
    pub(super) plan: Plan,
}

impl Town {
    /// Returns a town whose main street the sensor stands on.
    fn new(random: &mut Random) -> Self {
        let mut plan = streets(random);
        let sides = [-1.0, 1.0].map(|sign: f64| {
            let strip = plan.parking[usize::from(sign > 0.0)];
            let kerb = plan.middle + sign * plan.half;
            Side { sign, kerb, edge: kerb + sign * (strip + plan.walk) }
        });
        let lots = sides.map(|side| lots(&mut plan, side, random));
        let bare = Surface { class: UNLABELED, reflectance: 0.3 };
        let mut town = Self { things: Scene::new(bare), plan };
        for (side, lots) in sides.into_iter().zip(&lots) {
            for lot in lots {
                town.lot(side, lot, random);
            }
            town.street_furniture(side, random);
        }
        town.traffic(sides, random);
        town
    }

    /// Sets the surface of the solids added next.
    pub(super) fn made_of(&mut self, surface: Surface) {
        self.things.surface = surface;
    }

    fn lot(&mut self, side: Side, lot: &Lot, random: &mut Random) {
        let (from, to) = (lot.from, lot.to);
        if lot.class != class::TERRAIN {
            return self.open_lot(side, lot, random);
        }
        if lot.built {
            self.house(side, lot, random);
        }
        // A fence or a hedge along the sidewalk.
        let (wide, tall) = (0.5 * (to - from) - 0.8, random.between(0.7, 1.7));
        let at = side.beyond(0.5 * (from + to), random.between(0.2, 0.5));
        match random.below(3) {
            0 => self.fence(at, wide, tall, random),
            1 => {
                self.made_of(surface(class::VEGETATION, 0.45, random));
                let mut x = -wide;
                while x < wide {
                    self.things.crown(at + V(x, 0.0, 0.4 * tall), random.between(0.4, 0.6) * tall);
                    x += 0.6 * tall;
                }
            }
            _ => {}
        }
        self.garden(side, lot, random);
        // Between the gardens.
        if random.below(2) == 0 {
            self.made_of(surface(class::FENCE, 0.35, random));
            let deep = 0.5 * lot.garden;
            self.things.block(side.beyond(to, deep), (0.06, deep), 0.0, random.between(0.8, 1.8));
        }
    }

    /// Adds trees and bushes; a thicket where there is no house.
    fn garden(&mut self, side: Side, lot: &Lot, random: &mut Random) {
        let deep = if lot.built { lot.garden.max(1.5) } else { lot.deep };
        let (trees, bushes) = if lot.built { (1, 2 + random.below(4)) } else { (5, 16) };
        for _ in 0..random.below(trees + 2) {
            let (x, away) = (random.between(lot.from, lot.to), random.between(1.0, deep));
            self.tree(side.beyond(x, away), random);
        }
        for _ in 0..bushes {
            let (x, radius) = (random.between(lot.from, lot.to), random.between(0.4, 1.7));
            self.made_of(surface(class::VEGETATION, 0.45, random));
            let at = side.beyond(x, radius.min(0.7 * deep) + random.between(0.0, deep));
            self.things.crown(at + V(0.0, 0.0, 0.6 * radius), radius);
        }
    }

    /// Adds posts and three rails, or a wall of boards.
    fn fence(&mut self, at: V, half: f64, tall: f64, random: &mut Random) {
        self.made_of(surface(class::FENCE, 0.35, random));
        if random.below(2) == 0 {
            return self.things.block(at, (half, 0.05), 0.0, tall);
        }
        for part in [0.2, 0.55, 0.9] {
            self.things.block(at + V(0.0, 0.0, part * tall), (half, 0.04), 0.0, 0.09);
        }
        let posts = (2.0 * half / 2.0) as usize + 1;
        for k in 0..posts {
            let x = 2.0 * half * (k as f64 + 0.5) / posts as f64 - half;
            self.things.block(at + V(x, 0.0, 0.0), (0.06, 0.06), 0.0, tall);
        }
    }

    fn house(&mut self, side: Side, lot: &Lot, random: &mut Random) {
        let wide = 0.5 * (lot.to - lot.from) - random.between(0.0, 2.0);
        let (deep, tall) = (random.between(4.0, 8.0), random.between(3.5, 15.0));
        let at = side.beyond(0.5 * (lot.from + lot.to), lot.garden + deep);
        self.made_of(surface(class::BUILDING, 0.35, random));
        let turn = random.between(-0.03, 0.03);
        self.things.block(at, (wide, deep), turn, tall);
        // The roof, in two steps, and a porch or a balcony.
        self.things.block(at + V(0.0, 0.0, tall), (0.9 * wide, 0.66 * deep), turn, 1.2);
        self.things.block(at + V(0.0, 0.0, tall + 1.2), (0.85 * wide, 0.33 * deep), turn, 1.2);
        if lot.garden > 2.0 {
            let x = random.between(-0.6, 0.6) * wide;
            let porch = at + V(x, -side.sign * (deep + 0.5), 0.0);
            let up = if random.below(2) == 0 { 0.0 } else { 2.6 };
            self.things.block(
                porch + V(0.0, 0.0, up),
                (1.2, 0.6),
                turn,
                if up > 0.0 { 1.0 } else { 2.5 },
            );
        }
    }

    /// Adds a parking lot or a yard.
    fn open_lot(&mut self, side: Side, lot: &Lot, random: &mut Random) {
        let mut x = lot.from + 1.6;
        while x < lot.to - 1.2 {
            let away = random.between(3.0, 4.0);
            let at = side.beyond(x, away);
            match random.below(8) {
                0..=3 if lot.class == class::PARKING => {
                    self.car(at, 0.5 * std::f64::consts::PI, random)
                }
                4 => self.van(at, 0.5 * std::f64::consts::PI, random),
                _ => {}
            }
            x += 2.7;
        }
        let (half, tall) = (0.5 * (lot.to - lot.from), random.between(1.2, 2.2));
        self.fence(side.beyond(0.5 * (lot.from + lot.to), lot.deep), half, tall, random);
    }

    /// Adds a trunk, and a crown on it.
    pub(super) fn tree(&mut self, at: V, random: &mut Random) {
        let (stem, radius) = (random.between(1.4, 3.6), random.between(1.0, 3.2));
        self.made_of(surface(class::TRUNK, 0.3, random));
        self.things.pole(at, random.between(0.1, 0.3), stem);
        self.made_of(surface(class::VEGETATION, 0.45, random));
        self.things.crown(at + V(0.0, 0.0, stem + 0.75 * radius), radius);
        let (x, y) = random.circle();
        let off = V(x * 0.5 * radius, y * 0.5 * radius, stem + 0.6 * radius);
        self.things.crown(at + off, 0.7 * radius);
    }
}

/// A piece of ground between the sidewalk and the back.
struct Lot {
    from: f64,
    to: f64,
    class: u8,
    /// True if a house stands on it.
    built: bool,
    /// Depth of the ground before the house, and of an open lot.
    garden: f64,
    deep: f64,
}

fn streets(random: &mut Random) -> Plan {
    let half = random.between(3.2, 6.5);
    let parking = [0; 2].map(|_| if random.below(2) == 0 { random.between(2.0, 2.5) } else { 0.0 });
    let crossing = (random.below(5) < 3).then(|| {
        let away = random.between(9.0, 45.0);
        let at = if random.below(2) == 0 { away } else { -away };
        (at, random.between(2.8, 5.0))
    });
    Plan {
        middle: random.between(-1.0, 1.0) * (half - 1.6),
        half,
        parking,
        walk: random.between(1.6, 4.0),
        crossing,
        lots: Vec::new(),
        grass: random.between(0.02, 0.16),
    }
}

/// Divides a side of the street into lots, and marks the open ones in the plan.
fn lots(plan: &mut Plan, side: Side, random: &mut Random) -> Vec<Lot> {
    let mut lots = Vec::new();
    let mut from = -AWAY;
    let garden = random.between(0.5, 9.0);
    while from < AWAY {
        let to = from + random.between(9.0, 22.0);
        let clear = plan.walk + 0.5;
        let crossed = plan
            .crossing
            .is_some_and(|(at, half)| from < at + half + clear && at - half - clear < to);
        if crossed {
            // The next lot begins behind the crossing.
            from = plan.crossing.map_or(to, |(at, half)| at + half + clear);
            continue;
        }
        let class = match random.below(7) {
            0 => class::PARKING,
            1 | 2 => class::OTHER_GROUND,
            _ => class::TERRAIN,
        };
        let deep = random.between(7.0, 16.0);
        if class != class::TERRAIN {
            let far = side.edge + side.sign * deep;
            let area: Area = [from, side.edge.min(far), to, side.edge.max(far)];
            plan.lots.push((area, class));
        }
        let (built, garden) = (random.below(4) > 0, garden + random.between(0.0, 2.0));
        lots.push(Lot { from, to, class, built, garden, deep });
        from = to + if random.below(3) == 0 { random.between(1.0, 6.0) } else { 0.2 };
    }
    lots
}
