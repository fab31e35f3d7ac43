//! Coordinates as multiples of a step from a corner.

use farpoint_io::Cloud;

/// Whole numbers of 2 or 3 bytes along each axis.
pub(super) struct Places {
    /// Coordinates of (0, 0, 0).
    pub(super) origin: [f64; 3],
    pub(super) step: f64,
    pub(super) bytes: usize,
    /// The multiples, lowest byte first.
    pub(super) data: Vec<u8>,
}

/// Step as a share of the typical point distance up to which two bytes do.
const FINE: f64 = 1.0 / 20.0;

impl Places {
    /// Encodes these rows, which are `typical` apart; `beside` fits into the range too.
    pub(super) fn of(cloud: &Cloud, rows: &[usize], beside: &[[f64; 3]], typical: f64) -> Self {
        let places = || rows.iter().map(|&row| cloud.coordinates().get(row));
        let (origin, side) = corner(places().chain(beside.iter().copied()));
        let rough = side / f64::from(u16::MAX);
        let bytes = if rough <= FINE * typical { 2 } else { 3 };
        let max = f64::from((1_u32 << (8 * bytes)) - 1);
        let (origin, step) = stored(cloud, origin, side, max)
            .unwrap_or((origin, if side > 0.0 { side / max } else { 1.0 }));
        let mut made = Self { origin, step, bytes, data: Vec::new() };
        made.data = made.steps(places());
        made
    }

    /// Encodes these coordinates with the same step.
    pub(super) fn steps(&self, places: impl ExactSizeIterator<Item = [f64; 3]>) -> Vec<u8> {
        let max = f64::from((1_u32 << (8 * self.bytes)) - 1);
        let mut data = Vec::with_capacity(3 * self.bytes * places.len());
        for place in places {
            for (value, origin) in place.iter().zip(self.origin) {
                let steps = ((value - origin) / self.step).round().clamp(0.0, max);
                data.extend_from_slice(&(steps as u32).to_le_bytes()[..self.bytes]);
            }
        }
        data
    }
}

/// Returns the lowest corner and the longest side.
fn corner(places: impl Iterator<Item = [f64; 3]>) -> ([f64; 3], f64) {
    let (mut low, mut high) = ([f64::INFINITY; 3], [f64::NEG_INFINITY; 3]);
    for place in places {
        for axis in 0..3 {
            low[axis] = low[axis].min(place[axis]);
            high[axis] = high[axis].max(place[axis]);
        }
    }
    if low[0] > high[0] {
        return ([0.0; 3], 0.0);
    }
    (low, (0..3).map(|axis| high[axis] - low[axis]).fold(0.0, f64::max))
}

/// Returns the file's own step if the numbers are large enough for it: then nothing is rounded.
fn stored(cloud: &Cloud, origin: [f64; 3], side: f64, max: f64) -> Option<([f64; 3], f64)> {
    let [step, y, z] = cloud.scale()?;
    let same = step == y && step == z && step > 0.0;
    (same && side / step < max).then_some((origin, step))
}

#[cfg(test)]
mod tests {
    use super::*;
    use farpoint_io::Coordinates;

    fn steps(places: &Places, i: usize) -> u32 {
        let mut bytes = [0; 4];
        bytes[..places.bytes].copy_from_slice(&places.data[i * places.bytes..][..places.bytes]);
        u32::from_le_bytes(bytes)
    }

    /// Each coordinate round-trips to within half a step.
    #[test]
    fn coordinates_come_back() {
        let rows: Vec<[f64; 3]> =
            (0..100).map(|i| f64::from(i) * 0.37).map(|t| [1e6 + t, t.sin(), -t * 0.2]).collect();
        let cloud = Cloud::new(Coordinates::F64(rows.clone()));
        let order: Vec<usize> = (0..100).rev().collect();
        for (typical, bytes) in [(1.0, 2), (1e-4, 3)] {
            let places = Places::of(&cloud, &order, &[], typical);
            assert_eq!(places.bytes, bytes);
            for (k, &row) in order.iter().enumerate() {
                for (axis, expected) in rows[row].iter().enumerate() {
                    let steps = f64::from(steps(&places, 3 * k + axis));
                    let back = places.origin[axis] + steps * places.step;
                    assert!((back - expected).abs() <= 0.5 * places.step * 1.000_001);
                }
            }
        }
    }

    #[test]
    fn one_point_and_none() {
        let cloud = Cloud::new(Coordinates::F32(vec![[1.0, 2.0, 3.0]]));
        let places = Places::of(&cloud, &[0], &[], 0.0);
        assert_eq!((places.origin, places.step), ([1.0, 2.0, 3.0], 1.0));
        assert!(Places::of(&cloud, &[], &[], 0.0).data.is_empty());
    }
}
