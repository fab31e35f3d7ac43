//! Rooms are drawn open, like a doll's house: without the ceiling and the walls in front.

use super::shape::Shape;
use super::vector::dot;

/// A wall is at most this share of the cloud thick, ...
const THICK: f64 = 0.02;

/// ... holds at least this share of the points, ...
const POINTS: f64 = 0.03;

/// ... and fills this share of its side of the box, which is divided into a grid of this many squares each way.
const FILLED: f64 = 0.5;
const SQUARES: usize = 16;

/// Returns which points to draw, and true if that is all of them.
pub(super) fn open(points: &[[f64; 3]], shape: &Shape) -> (Vec<bool>, bool) {
    let mut shown = vec![true; points.len()];
    let mut all = true;
    if !shape.room {
        return (shown, all);
    }
    for axis in 0..3 {
        // On the viewer's side, measured from that side of the box.
        let mut unit = [0.0; 3];
        unit[axis] = 1.0;
        let sign = dot(shape.axes[2], unit).signum();
        let depth = |point: &[f64; 3]| {
            (shape.ends[axis][usize::from(sign > 0.0)] / 2.0 - point[axis] / 2.0) * sign
        };
        let thick = THICK * (shape.ends[axis][1] / 2.0 - shape.ends[axis][0] / 2.0);
        let rows: Vec<usize> =
            (0..points.len()).filter(|&row| depth(&points[row]) <= thick).collect();
        if rows.len() as f64 > POINTS * points.len() as f64 && fills(points, &rows, shape, axis) {
            rows.into_iter().for_each(|row| shown[row] = false);
            all = false;
        }
    }
    (shown, all)
}

/// Returns whether these points are spread over a side of the box.
fn fills(points: &[[f64; 3]], rows: &[usize], shape: &Shape, axis: usize) -> bool {
    let mut filled = [[false; SQUARES]; SQUARES];
    for &row in rows {
        let square = |axis: usize| {
            let [low, high] = shape.ends[axis];
            let share = (points[row][axis] / 2.0 - low / 2.0) / (high / 2.0 - low / 2.0);
            ((share.clamp(0.0, 1.0) * SQUARES as f64) as usize).min(SQUARES - 1)
        };
        filled[square((axis + 1) % 3)][square((axis + 2) % 3)] = true;
    }
    let count = filled.iter().flatten().filter(|filled| **filled).count();
    count as f64 > FILLED * (SQUARES * SQUARES) as f64
}

#[cfg(test)]
mod tests {
    use super::*;

    fn points(cloud: Vec<[f32; 3]>) -> Vec<[f64; 3]> {
        cloud.into_iter().map(|point| point.map(f64::from)).collect()
    }

    #[test]
    fn a_room_is_opened() {
        let room = points(farpoint_generate::room(20_000, 1));
        let shape = Shape::of(&room, None);
        let (shown, all) = open(&room, &shape);
        assert!(!all);
        let left: Vec<_> = room.iter().zip(&shown).filter(|(_, shown)| **shown).collect();
        let highest = left.iter().map(|(point, _)| point[2]).fold(0.0, f64::max);
        assert!(highest < 2.95 && left.len() > room.len() / 2, "{highest} {}", left.len());
    }

    #[test]
    fn other_clouds_are_not() {
        for cloud in [
            farpoint_generate::object(5000, 1),
            farpoint_generate::cube(5000, 1),
            farpoint_generate::lidar(5000, 1),
            farpoint_generate::sphere(5000, 1),
        ] {
            let cloud = points(cloud);
            let (shown, all) = open(&cloud, &Shape::of(&cloud, None));
            assert!(all && shown.iter().all(|shown| *shown));
        }
    }
}
