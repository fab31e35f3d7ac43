//! SemanticKITTI: turns of sequences, of which 08 is for validation.

use super::{Part, held_out};
use farpoint_generate::{Labeled, Paint};

/// The id of each class of a town, in its order.
const IDS: [u32; 19] = [10, 11, 15, 18, 20, 30, 31, 32, 40, 44, 48, 49, 50, 51, 70, 71, 72, 80, 81];

/// Classes below this are things, whose labels have the number of an instance in their upper half.
const THINGS: u8 = 8;

/// A turn and its labels.
pub(super) fn files(number: usize, scene: &Labeled) -> Vec<Part> {
    let (sequence, turn) = match held_out(number) {
        true => ("08", number / 6),
        false => ("00", number - number / 6 - 1),
    };
    let mut points = Vec::with_capacity(16 * scene.points.len());
    let mut labels = Vec::with_capacity(4 * scene.points.len());
    for (row, point) in scene.points.iter().enumerate() {
        for value in point.iter().chain([&intensity(scene, row)]) {
            points.extend_from_slice(&value.to_le_bytes());
        }
        labels.extend_from_slice(&label(scene.classes[row]).to_le_bytes());
    }
    let path = |kind: &str| format!("sequences/{sequence}/{kind}/{turn:06}");
    vec![Part::new(path("velodyne") + ".bin", points), Part::new(path("labels") + ".label", labels)]
}

/// Class in the lower half, 0 for none; all things of a class are one instance.
fn label(class: u8) -> u32 {
    let id = IDS.get(usize::from(class)).copied().unwrap_or(0);
    if class < THINGS { 1 << 16 | id } else { id }
}

fn intensity(scene: &Labeled, row: usize) -> f32 {
    match &scene.paint {
        Paint::Intensity(values) => values[row],
        Paint::Colors(_) => 0.0,
    }
}
