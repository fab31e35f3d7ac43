//! The side from which a cloud is drawn: flat clouds face on, others obliquely from above. Files don't
//! say which axis points up, so this is guessed from the form of the cloud, and said in the picture.

use super::view::dot;

/// How a cloud lies in space, and the view that suits it.
#[derive(Clone, Debug)]
pub(super) struct Shape {
    /// Middle of the bounding box, and half its longest side.
    pub(super) middle: [f64; 3],
    pub(super) reach: f64,
    /// The bounding box: least and greatest along each axis.
    pub(super) ends: [[f64; 2]; 3],
    /// What points to the right, upwards and towards the viewer.
    pub(super) axes: [[f64; 3]; 3],
    /// Whether it may be a room: seen obliquely, and low.
    pub(super) room: bool,
    /// The view in words.
    pub(super) words: &'static str,
}

/// A cloud is flat if its smallest side is at most this share of the next.
const FLAT: f64 = 0.3;

/// Rooms and buildings are at most this share as high as wide and deep.
const LOW: f64 = 0.6;

/// This share of the points may lie outside of a side on each end: a few outliers don't set the view.
const OUTSIDE: f64 = 0.005;

/// Sides are measured on about so many points.
const MEASURED: usize = 100_000;

/// How the words for such a cloud begin.
const LOW_WORDS: &str = "seen obliquely from above";

const UNIT: [[f64; 3]; 3] = [[1.0, 0.0, 0.0], [0.0, 1.0, 0.0], [0.0, 0.0, 1.0]];

/// A side of the cloud: where it begins and ends.
#[derive(Clone, Copy)]
struct Side {
    low: f64,
    high: f64,
}

impl Side {
    // Halves, so that no difference overflows.
    fn half(self) -> f64 {
        self.high / 2.0 - self.low / 2.0
    }

    /// Whether zero lies well inside: the cloud was put around the origin.
    fn around_zero(self) -> bool {
        self.low < -0.2 * self.half() && self.high > 0.2 * self.half()
    }

    /// Whether all of it lies well above zero.
    fn above_zero(self) -> bool {
        self.low > 0.1 * self.half()
    }
}

impl Shape {
    /// Of points with finite coordinates.
    pub(super) fn of(points: &[[f64; 3]]) -> Self {
        let whole = [0, 1, 2].map(|axis| ends(points, axis));
        let middle = whole.map(|side| side.low / 2.0 + side.high / 2.0);
        let reach = whole.iter().fold(0.0, |most: f64, side| most.max(side.half()));
        let reach = if reach > 0.0 { reach } else { 1.0 };
        let (axes, words) = direction([0, 1, 2].map(|axis| most(points, axis)));
        let room = words.starts_with(LOW_WORDS);
        Self { middle, reach, ends: whole.map(|side| [side.low, side.high]), axes, room, words }
    }
}

/// The least and greatest coordinate.
fn ends(points: &[[f64; 3]], axis: usize) -> Side {
    let ends = points.iter().fold([f64::INFINITY, f64::NEG_INFINITY], |[low, high], point| {
        [low.min(point[axis]), high.max(point[axis])]
    });
    if points.is_empty() { Side { low: 0.0, high: 0.0 } } else { Side { low: ends[0], high: ends[1] } }
}

/// The same without a few outliers.
fn most(points: &[[f64; 3]], axis: usize) -> Side {
    let step = points.len().div_ceil(MEASURED).max(1);
    let mut values: Vec<f64> = points.iter().step_by(step).map(|point| point[axis]).collect();
    if values.is_empty() {
        return Side { low: 0.0, high: 0.0 };
    }
    let last = values.len() - 1;
    let outside = (last as f64 * OUTSIDE) as usize;
    let mut at = |place: usize| *values.select_nth_unstable_by(place, f64::total_cmp).1;
    Side { low: at(outside), high: at(last - outside) }
}

/// Right, up and towards the viewer, and the view in words.
fn direction(sides: [Side; 3]) -> ([[f64; 3]; 3], &'static str) {
    let [x, y, z] = UNIT;
    let back = |axis: [f64; 3]| axis.map(|value: f64| -value);
    let half = sides.map(Side::half);
    let mut order = [2, 1, 0];
    order.sort_by(|&a, &b| half[a].total_cmp(&half[b]));
    let [least, middle, _] = order;
    let [from_x, from_y, from_z] = sides;
    if half[least] <= FLAT * half[middle] {
        return match least {
            2 => ([x, y, z], "seen from above (z up)"),
            1 => ([x, z, back(y)], "seen from the front (z up)"),
            _ => ([y, z, x], "seen from the side (z up)"),
        };
    }
    let centered = from_x.around_zero();
    if centered && from_y.around_zero() && from_z.above_zero() {
        // Depth cameras: x to the right, y down, z ahead.
        return ([x, back(y), back(z)], "seen from the origin, along z (y down)");
    }
    // Turntable scans stand on the plane y = 0; low rooms are low along their upward axis.
    let turntable = centered && from_z.around_zero() && from_y.above_zero();
    let low = |up: usize| (0..3).all(|k| k == up || half[up] < LOW * half[k]);
    let (up, front, side) = match turntable || low(1) {
        true => (y, z, x),
        false => (z, back(y), x),
    };
    let is_low = low(if up == y { 1 } else { 2 });
    // From the longer side.
    let depth = half.iter().zip(front).map(|(half, k)| half * k.abs()).sum::<f64>();
    let (front, side) = if depth > 1.3 * half[0] { (side, back(front)) } else { (front, side) };
    let words = match (up == y, is_low) {
        (true, true) => "seen obliquely from above (y up)",
        (true, false) => "seen obliquely (y up)",
        (false, true) => "seen obliquely from above (z up)",
        (false, false) => "seen obliquely (z up)",
    };
    (oblique(up, front, side, if is_low { 45.0 } else { 20.0 }), words)
}

/// From the front, turned to the side, so many degrees above the horizon.
fn oblique(up: [f64; 3], front: [f64; 3], side: [f64; 3], elevation: f64) -> [[f64; 3]; 3] {
    let (turn, rise) = (30f64.to_radians(), elevation.to_radians());
    let level: [f64; 3] = std::array::from_fn(|k| turn.cos() * front[k] + turn.sin() * side[k]);
    let toward = std::array::from_fn(|k| rise.cos() * level[k] + rise.sin() * up[k]);
    let right = normalized(cross(up, toward));
    [right, cross(toward, right), toward]
}

fn cross(a: [f64; 3], b: [f64; 3]) -> [f64; 3] {
    [a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]]
}

fn normalized(a: [f64; 3]) -> [f64; 3] {
    let length = dot(a, a).sqrt();
    a.map(|value| value / length)
}

#[cfg(test)]
pub(super) mod tests {
    use super::*;

    /// The eight corners of a box.
    pub(in crate::picture) fn corners(low: [f64; 3], high: [f64; 3]) -> [[f64; 3]; 8] {
        std::array::from_fn(|k| {
            std::array::from_fn(|axis| if k >> axis & 1 == 1 { high[axis] } else { low[axis] })
        })
    }

    fn words(low: [f64; 3], high: [f64; 3]) -> &'static str {
        Shape::of(&corners(low, high)).words
    }

    #[test]
    fn forms_and_their_views() {
        let cases = [
            ("KITTI", [-78.1, -55.7, -11.6], [78.0, 44.9, 2.8], "from above (z up)"),
            ("Autzen", [636_683., 850_612., 411.], [637_927., 851_856., 598.], "from above (z up)"),
            ("Lucy", [-465.0, -255.0, -800.0], [465.0, 255.0, 800.0], "obliquely (z up)"),
            ("bunny", [-0.0947, 0.033, -0.0619], [0.061, 0.1873, 0.0588], "obliquely (y up)"),
            ("dragon", [-0.1077, 0.0528, -0.0501], [0.096, 0.1966, 0.0408], "obliquely (y up)"),
            ("bathtub", [-18.5, -30.0, -23.3], [18.5, 30.0, 23.3], "obliquely (z up)"),
            ("building", [-23.0, -2.0, -7.9], [5.6, 7.6, 12.4], "obliquely from above (y up)"),
            ("room", [0.0, 0.0, 0.0], [10.0, 7.5, 2.8], "obliquely from above (z up)"),
            ("Kinect", [-0.46, -0.51, 0.69], [0.72, 0.48, 2.59], "from the origin, along z"),
            ("facade", [0.0, 0.0, 0.0], [20.0, 0.5, 9.0], "from the front (z up)"),
        ];
        for (name, low, high, wanted) in cases {
            let said = words(low, high);
            assert!(said.contains(wanted), "{name}: {said}");
        }
    }

    /// Right, up and toward the viewer are perpendicular, of length 1, and not mirrored.
    #[test]
    fn no_view_is_mirrored() {
        let highs = [[9.0, 8.0, 1.0], [9.0, 1.0, 8.0], [1.0, 9.0, 8.0], [9.0, 8.0, 3.0],
            [9.0, 3.0, 8.0], [3.0, 9.0, 9.0], [5.0, 9.0, 9.0], [9.0, 8.0, 7.0]];
        for (high, low) in highs.iter().flat_map(|h| [(h, [0.0; 3]), (h, [-4.0, -4.0, 0.9])]) {
            let [right, up, toward] = Shape::of(&corners(low, *high)).axes;
            let turned = cross(right, up);
            for k in 0..3 {
                assert!((turned[k] - toward[k]).abs() < 1e-12, "{low:?} {high:?}");
            }
            assert!((dot(right, right) - 1.0).abs() < 1e-12 && dot(right, up).abs() < 1e-12);
        }
    }
}
