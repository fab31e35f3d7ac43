//! View direction of a cloud: flat clouds and terrain face on, others obliquely. In a coordinate reference
//! system z points up; other files don't state their axis, so it is guessed from the form of the cloud; the
//! picture names the view.

use super::vector::{cross, normalized};
use farpoint_io::Cloud;

/// The axis that points up in a picture.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
pub(crate) enum Up {
    X,
    Y,
    Z,
}

impl Up {
    /// Returns the requested axis, or z for a cloud in a coordinate reference system; `None` if unknown.
    pub(crate) fn of(requested: Option<Self>, cloud: &Cloud) -> Option<Self> {
        requested.or_else(|| cloud.crs().map(|_| Self::Z))
    }
}

/// Position of a cloud in space, and the view that suits it.
#[derive(Clone, Debug)]
pub(super) struct Shape {
    /// Center of the bounding box, and half its longest side.
    pub(super) middle: [f64; 3],
    pub(super) reach: f64,
    /// Bounding box: least and greatest coordinate along each axis.
    pub(super) ends: [[f64; 2]; 3],
    /// Unit vectors to the right, upwards and towards the viewer.
    pub(super) axes: [[f64; 3]; 3],
    /// True if it may be a room: seen obliquely, and low.
    pub(super) room: bool,
    /// The view in words.
    words: &'static str,
}

/// A cloud is flat if its smallest side is at most this share of the next.
const FLAT: f64 = 0.3;

/// Rooms and buildings are at most this share as high as wide and deep.
const LOW: f64 = 0.8;

/// Terrain, or a view of a depth camera: over each small part of the ground, at most this share of
/// the cloud's height.
const FIELD: f64 = 0.22;

/// Parts of the ground each way, and layers of height.
const PARTS: usize = 10;
const LAYERS: usize = 64;

/// A base holds at least the first share of the points, a floor or ceiling the second; each at least
/// twice as many as there are across another axis.
const BASE: f64 = 0.04;
const FLOOR: f64 = 0.08;

/// This share of the points may lie outside of a side on each end: a few outliers don't set the view.
const OUTSIDE: f64 = 0.005;

/// Approximate number of points on which sides are measured.
const MEASURED: usize = 100_000;

/// First words for such a cloud.
const LOW_WORDS: &str = "oblique view from above";

const UNIT: [[f64; 3]; 3] = [[1.0, 0.0, 0.0], [0.0, 1.0, 0.0], [0.0, 0.0, 1.0]];

/// A side of the cloud: its two ends.
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

    /// Returns the position of a coordinate within the side, 0 to 1.
    fn share(self, value: f64) -> f64 {
        let share = (value / 2.0 - self.low / 2.0) / self.half();
        if share.is_nan() { 0.0 } else { share.clamp(0.0, 1.0) }
    }

    /// Returns whether zero lies well inside: the cloud was centered at the origin.
    fn around_zero(self) -> bool {
        self.low < -0.2 * self.half() && self.high > 0.2 * self.half()
    }

    /// Returns whether all of it lies above zero by `times` its half.
    fn above_zero(self, times: f64) -> bool {
        self.low > times * self.half()
    }
}

impl Shape {
    /// Computes the shape of points with finite coordinates; the up axis is guessed if `None`.
    pub(super) fn of(points: &[[f64; 3]], up: Option<Up>) -> Self {
        let whole = [0, 1, 2].map(|axis| ends(points, axis));
        let middle = whole.map(|side| side.low / 2.0 + side.high / 2.0);
        let reach = whole.iter().fold(0.0, |most: f64, side| most.max(side.half()));
        let reach = if reach > 0.0 { reach } else { 1.0 };
        let step = points.len().div_ceil(MEASURED).max(1);
        let some: Vec<[f64; 3]> = points.iter().step_by(step).copied().collect();
        let (axes, words) = match up {
            None | Some(Up::Z) => guessed(&some, up.is_some()),
            Some(up) => upright([0, 1, 2].map(|axis| most(&some, axis).half()), up),
        };
        let room = words.starts_with(LOW_WORDS);
        Self { middle, reach, ends: whole.map(|side| [side.low, side.high]), axes, room, words }
    }

    /// Describes the view for the head of a picture; `complete` unless walls were left out.
    pub(super) fn words(&self, complete: bool) -> String {
        match complete {
            true => format!("whole cloud, {}", self.words),
            false => format!("{}, ceiling and near walls left out", self.words),
        }
    }
}

/// Returns the least and greatest coordinate.
fn ends(points: &[[f64; 3]], axis: usize) -> Side {
    let ends = points.iter().fold([f64::INFINITY, f64::NEG_INFINITY], |[low, high], point| {
        [low.min(point[axis]), high.max(point[axis])]
    });
    if points.is_empty() {
        Side { low: 0.0, high: 0.0 }
    } else {
        Side { low: ends[0], high: ends[1] }
    }
}

/// Returns the least and greatest coordinate without a few outliers.
fn most(points: &[[f64; 3]], axis: usize) -> Side {
    let mut values: Vec<f64> = points.iter().map(|point| point[axis]).collect();
    if values.is_empty() {
        return Side { low: 0.0, high: 0.0 };
    }
    let last = values.len() - 1;
    let outside = (last as f64 * OUTSIDE) as usize;
    let mut at = |place: usize| *values.select_nth_unstable_by(place, f64::total_cmp).1;
    Side { low: at(outside), high: at(last - outside) }
}

/// Axes (right, up, towards the viewer) and the view in words.
type Direction = ([[f64; 3]; 3], &'static str);

fn back(axis: [f64; 3]) -> [f64; 3] {
    axis.map(|value| -value)
}

/// Returns the view for a known up axis: flat clouds from above, others obliquely.
fn upright(half: [f64; 3], up: Up) -> Direction {
    let [x, y, z] = UNIT;
    let others = (0..3).filter(|&axis| axis != up as usize).map(|axis| half[axis]);
    if half[up as usize] > FLAT * others.fold(f64::INFINITY, f64::min) {
        return obliquely(half, up);
    }
    match up {
        Up::X => ([y, z, x], "view from above (along x)"),
        Up::Y => ([x, back(z), y], "view from above (along y)"),
        Up::Z => ([x, y, z], "view from above (along z)"),
    }
}

/// Returns a view from the longer side, and higher if the cloud is low.
fn obliquely(half: [f64; 3], up: Up) -> Direction {
    let [x, y, z] = UNIT;
    let low = (0..3).all(|k| k == up as usize || half[up as usize] < LOW * half[k]);
    let (upwards, front, side) = match up {
        Up::X => (x, y, z),
        Up::Y => (y, z, x),
        Up::Z => (z, back(y), x),
    };
    let along = |axis: [f64; 3]| half.iter().zip(axis).map(|(half, k)| half * k.abs()).sum::<f64>();
    let deep = along(front) > 1.3 * along(side);
    let (front, side) = if deep { (side, back(front)) } else { (front, side) };
    let words = match (up, low) {
        (Up::X, true) => "oblique view from above (x up)",
        (Up::Y, true) => "oblique view from above (y up)",
        (Up::Z, true) => "oblique view from above (z up)",
        (Up::X, false) => "oblique view (x up)",
        (Up::Y, false) => "oblique view (y up)",
        (Up::Z, false) => "oblique view (z up)",
    };
    (oblique(upwards, front, side, if low { 45.0 } else { 20.0 }), words)
}

/// Guesses the view of a cloud by its form, and the axis that points up unless that is z.
fn guessed(points: &[[f64; 3]], z_is_up: bool) -> Direction {
    let sides = [0, 1, 2].map(|axis| most(points, axis));
    let [x, y, z] = UNIT;
    let half = sides.map(Side::half);
    let mut order = [2, 1, 0];
    order.sort_by(|&a, &b| half[a].total_cmp(&half[b]));
    let [least, middle, _] = order;
    if half[least] <= FLAT * half[middle] {
        return match least {
            2 => ([x, y, z], "view from above (along z)"),
            1 => ([x, z, back(y)], "view from the front (z up)"),
            _ => ([y, z, x], "view from the side (z up)"),
        };
    }
    let ahead = sides[2].high;
    if !z_is_up
        && sides[2].above_zero(0.5)
        && sides[..2].iter().all(|s| s.low.abs().max(s.high.abs()) < ahead)
    {
        // Depth cameras: x to the right, y down, z ahead.
        return ([x, back(y), back(z)], "view from the origin (along z, y down)");
    }
    match !z_is_up && y_is_up(points, sides) {
        true => obliquely(half, Up::Y),
        false if thickness(points, sides) < FIELD => ([x, y, z], "view from above (along z)"),
        false => obliquely(half, Up::Z),
    }
}

/// Returns whether y points up: turntable scans stand above the plane y = 0; statues have a base, and
/// buildings floors, which hold more points than any layer across z.
fn y_is_up(points: &[[f64; 3]], sides: [Side; 3]) -> bool {
    let [x, y, z] = sides;
    let turntable = x.around_zero() && z.around_zero() && y.above_zero(0.1);
    let [[base_y, layer_y], [base_z, layer_z]] =
        [1, 2].map(|axis| layers(points, axis, sides[axis]));
    let stands = base_y >= BASE && base_y > 2.0 * base_z;
    let lowest = y.half() < LOW * x.half() && y.half() < LOW * z.half();
    turntable || stands || (lowest && layer_y >= FLOOR && layer_y > 2.0 * layer_z)
}

/// Returns the share of the points in the lowest layer across an axis, and in the fullest.
fn layers(points: &[[f64; 3]], axis: usize, side: Side) -> [f64; 2] {
    let mut counts = [0u32; LAYERS];
    for point in points {
        counts[((side.share(point[axis]) * LAYERS as f64) as usize).min(LAYERS - 1)] += 1;
    }
    let most = counts.iter().max().copied().unwrap_or(0);
    [counts[0], most].map(|count| f64::from(count) / points.len().max(1) as f64)
}

/// Returns the mean share of a cloud's height over a small part of the ground; 1 with too few
/// points.
fn thickness(points: &[[f64; 3]], sides: [Side; 3]) -> f64 {
    let mut parts = vec![(0u32, 1.0f64, 0.0f64); PARTS * PARTS];
    for point in points {
        let [x, y, z] = [0, 1, 2].map(|axis| sides[axis].share(point[axis]));
        let [column, row] = [x, y].map(|at| ((at * PARTS as f64) as usize).min(PARTS - 1));
        let part = &mut parts[row * PARTS + column];
        *part = (part.0 + 1, part.1.min(z), part.2.max(z));
    }
    let report: Vec<f64> =
        parts.iter().filter(|part| part.0 >= 5).map(|(_, low, high)| high - low).collect();
    if report.len() < PARTS { 1.0 } else { report.iter().sum::<f64>() / report.len() as f64 }
}

/// Returns a view from the front, turned to the side, `elevation` degrees above the horizon.
fn oblique(up: [f64; 3], front: [f64; 3], side: [f64; 3], elevation: f64) -> [[f64; 3]; 3] {
    let (turn, rise) = (30f64.to_radians(), elevation.to_radians());
    let level: [f64; 3] = std::array::from_fn(|k| turn.cos() * front[k] + turn.sin() * side[k]);
    let toward = std::array::from_fn(|k| rise.cos() * level[k] + rise.sin() * up[k]);
    let right = normalized(cross(up, toward));
    [right, cross(toward, right), toward]
}

#[cfg(test)]
pub(super) mod tests {
    use super::*;
    use crate::picture::vector::dot;

    /// Returns the eight corners of a box.
    pub(in crate::picture) fn corners(low: [f64; 3], high: [f64; 3]) -> [[f64; 3]; 8] {
        std::array::from_fn(|k| {
            std::array::from_fn(|axis| if k >> axis & 1 == 1 { high[axis] } else { low[axis] })
        })
    }

    fn words(low: [f64; 3], high: [f64; 3]) -> &'static str {
        Shape::of(&corners(low, high), None).words
    }

    #[test]
    fn forms_and_their_views() {
        let cases = [
            ("KITTI", [-78.1, -55.7, -11.6], [78.0, 44.9, 2.8], "from above (along z)"),
            (
                "Autzen",
                [636_683., 850_612., 411.],
                [637_927., 851_856., 598.],
                "from above (along z)",
            ),
            ("Lucy", [-465.0, -255.0, -800.0], [465.0, 255.0, 800.0], "oblique view (z up)"),
            ("bunny", [-0.0947, 0.033, -0.0619], [0.061, 0.1873, 0.0588], "oblique view (y up)"),
            ("dragon", [-0.1077, 0.0528, -0.0501], [0.096, 0.1966, 0.0408], "oblique view (y up)"),
            ("bathtub", [-18.5, -30.0, -23.3], [18.5, 30.0, 23.3], "oblique view (z up)"),
            ("room", [0.0, 0.0, 0.0], [10.0, 7.5, 2.8], "oblique view from above (z up)"),
            ("Kinect", [-0.46, -0.51, 0.69], [0.72, 0.48, 2.59], "from the origin"),
            ("facade", [0.0, 0.0, 0.0], [20.0, 0.5, 9.0], "from the front (z up)"),
        ];
        for (name, low, high, expected) in cases {
            let text = words(low, high);
            assert!(text.contains(expected), "{name}: {text}");
        }
    }

    fn text(points: impl IntoIterator<Item = [f64; 3]>) -> &'static str {
        Shape::of(&points.into_iter().collect::<Vec<_>>(), None).words
    }

    /// Base and floor give the up axis, whichever axis that is.
    #[test]
    fn floors_and_bases_tell_what_is_up() {
        let room = farpoint_generate::room(20_000, 1).into_iter().map(|p| p.map(f64::from));
        let building = room.clone().map(|[x, y, z]| [x, z - 1.0, -y]);
        assert_eq!(text(room), "oblique view from above (z up)");
        assert_eq!(text(building.clone()), "oblique view from above (y up)");
        let known = Shape::of(&building.collect::<Vec<_>>(), Some(Up::Z));
        assert_eq!(known.words, "oblique view (z up)");
        // A dome on its base.
        let ball = farpoint_generate::sphere(20_000, 1).into_iter().map(|p| p.map(f64::from));
        let dome = ball.map(|[x, y, z]| [x, 1.2 * y.max(-0.7), z]);
        assert_eq!(text(dome.clone()), "oblique view (y up)");
        assert_eq!(text(dome.map(|[x, y, z]| [x, -z, y])), "oblique view (z up)");
    }

    #[test]
    fn what_points_up_can_be_said() {
        let cube = corners([0.0; 3], [1.0; 3]);
        for (up, axis) in [(Up::X, 0), (Up::Y, 1), (Up::Z, 2)] {
            let shape = Shape::of(&cube, Some(up));
            assert!(shape.axes[1][axis] > 0.9, "{up:?}: {:?}", shape.axes);
            assert!(shape.words.contains(&format!("({} up)", ["x", "y", "z"][axis])));
            let [right, upwards, toward] = shape.axes;
            assert!(dot(cross(right, upwards), toward) > 0.99, "{up:?} is mirrored");
            let mut flat = [1.0; 3];
            flat[axis] = 0.1;
            let shape = Shape::of(&corners([0.0; 3], flat), Some(up));
            assert!(shape.axes[2][axis] > 0.99, "{up:?}: {:?}", shape.axes);
            let [right, upwards, toward] = shape.axes;
            assert!(dot(cross(right, upwards), toward) > 0.99, "{up:?} is mirrored");
        }
    }

    #[test]
    fn terrain_is_seen_from_above() {
        let square = farpoint_generate::cube(20_000, 1).into_iter().map(|p| p.map(f64::from));
        let hills = square.map(|[x, y, z]| [9.0 * x, 9.0 * y, 3.0 * x * x + 2.0 * y + 0.3 * z]);
        assert_eq!(text(hills), "view from above (along z)");
    }

    /// Right, up and toward the viewer are perpendicular, of length 1, and not mirrored.
    #[test]
    fn no_view_is_mirrored() {
        let highs = [
            [9.0, 8.0, 1.0],
            [9.0, 1.0, 8.0],
            [1.0, 9.0, 8.0],
            [9.0, 8.0, 3.0],
            [9.0, 3.0, 8.0],
            [3.0, 9.0, 9.0],
            [5.0, 9.0, 9.0],
            [9.0, 8.0, 7.0],
        ];
        for (high, low) in highs.iter().flat_map(|h| [(h, [0.0; 3]), (h, [-4.0, -4.0, 0.9])]) {
            let [right, up, toward] = Shape::of(&corners(low, *high), None).axes;
            let turned = cross(right, up);
            for k in 0..3 {
                assert!((turned[k] - toward[k]).abs() < 1e-12, "{low:?} {high:?}");
            }
            assert!((dot(right, right) - 1.0).abs() < 1e-12 && dot(right, up).abs() < 1e-12);
        }
    }
}
