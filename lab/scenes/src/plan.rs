//! Ground plan of a town: roads at level 0, all else a kerb higher.

use super::surface::{Surface, class};
use farpoint_generate::parts::{Random, Vector};

/// Height of the kerbs.
pub(super) const KERB: f64 = 0.12;

/// A rectangle along the axes: lowest x and y, highest x and y.
pub(super) type Area = [f64; 4];

/// The ground of a town whose main street runs along x.
pub(super) struct Plan {
    /// Distance of the middle of the main street to the left of the sensor, and its half width.
    pub(super) middle: f64,
    pub(super) half: f64,
    /// Width of the strip for parked cars on each side, right and left, 0 for none.
    pub(super) parking: [f64; 2],
    /// Width of the sidewalks.
    pub(super) walk: f64,
    /// Position of a crossing street, and its half width.
    pub(super) crossing: Option<(f64, f64)>,
    /// Parking lots and yards with their classes.
    pub(super) lots: Vec<(Area, u8)>,
    /// Height of the grass.
    pub(super) grass: f64,
}

impl Plan {
    /// Returns the distance of a place from the kerb of the main street, negative on the street.
    pub(super) fn beside(&self, y: f64) -> f64 {
        (y - self.middle).abs() - self.half
    }

    /// Returns the distance from the kerb of the crossing street.
    pub(super) fn before_crossing(&self, x: f64) -> f64 {
        self.crossing.map_or(f64::INFINITY, |(at, half)| (x - at).abs() - half)
    }

    /// Returns the width of the strip for parked cars on this side (0 right, 1 left) of the main street.
    pub(super) fn strip(&self, y: f64) -> f64 {
        self.parking[usize::from(y > self.middle)]
    }

    pub(super) fn class(&self, x: f64, y: f64) -> u8 {
        let (main, cross, strip) = (self.beside(y), self.before_crossing(x), self.strip(y));
        if main < 0.0 || cross < 0.0 {
            return class::ROAD;
        }
        if main < strip && cross > self.walk + 3.0 {
            return class::PARKING;
        }
        if main < strip + self.walk || cross < self.walk {
            return class::SIDEWALK;
        }
        let inside = |a: &Area| a[0] <= x && x < a[2] && a[1] <= y && y < a[3];
        let lot = self.lots.iter().find(|(area, _)| inside(area));
        lot.map_or(class::TERRAIN, |(_, class)| *class)
    }

    /// Returns whether a place lies a kerb above the road.
    fn is_raised(&self, x: f64, y: f64) -> bool {
        let main = self.beside(y);
        let strip = main < self.strip(y) && self.before_crossing(x) > self.walk + 3.0;
        main >= 0.0 && self.before_crossing(x) >= 0.0 && !strip
    }

    /// Returns range and surface of the hit of a ray from above with the ground.
    pub(super) fn hit(&self, [from, along]: [Vector; 2], random: &mut Random) -> (f64, Surface) {
        if along.2 >= 0.0 {
            return (f64::INFINITY, self.surface(class::TERRAIN, 0.0, 0.0));
        }
        let place = |range: f64| (from.0 + along.0 * range, from.1 + along.1 * range);
        let high = (KERB - from.2) / along.2;
        let (x, y) = place(high);
        if self.is_raised(x, y) {
            let class = self.class(x, y);
            let grass = if class == class::TERRAIN { self.grass * random.unit() } else { 0.0 };
            let range = (KERB + grass - from.2) / along.2;
            return (range, self.surface(class, x, y));
        }
        let low = -from.2 / along.2;
        let (x, y) = place(low);
        if self.is_raised(x, y) {
            // The face of the kerb.
            return (0.5 * (high + low), self.surface(class::SIDEWALK, x, y));
        }
        (low, self.surface(self.class(x, y), x, y))
    }

    fn surface(&self, class: u8, x: f64, y: f64) -> Surface {
        let reflectance = match class {
            class::ROAD if self.is_marked(x, y) => 0.75,
            class::ROAD => 0.22,
            class::PARKING => 0.27,
            class::SIDEWALK => 0.36,
            class::OTHER_GROUND => 0.3,
            _ => 0.42,
        };
        Surface { class, reflectance }
    }

    /// Returns whether a place of the road is painted: lines at both sides, dashes in the middle.
    fn is_marked(&self, x: f64, y: f64) -> bool {
        let off = (y - self.middle).abs();
        let dashed = off < 0.08 && (x + 1000.0) % 6.0 < 3.0;
        let side = (off - self.half + 0.3).abs() < 0.07;
        (dashed || side) && self.before_crossing(x) > 0.0
    }
}
