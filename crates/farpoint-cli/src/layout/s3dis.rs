//! S3DIS: rooms of six areas, of which the fifth is for validation.

use super::{Part, color, held_out};
use farpoint_generate::{INDOOR_CLASSES, Labeled};
use std::io::Write;

/// The areas for training.
const OTHERS: [usize; 5] = [1, 2, 3, 4, 6];

/// Area and room of a scene.
fn room(number: usize) -> (String, String) {
    let area = if held_out(number) { 5 } else { OTHERS[number % 6 - 1] };
    (format!("Area_{area}"), format!("office_{}", number / 6 + 1))
}

/// A file of rows for each class, and one for the room.
pub(super) fn text(number: usize, scene: &Labeled) -> Vec<Part> {
    let (area, room) = room(number);
    let mut files = Vec::new();
    let mut whole = Vec::new();
    for (class, name) in INDOOR_CLASSES.iter().enumerate() {
        let mut rows = Vec::new();
        for (row, [x, y, z]) in scene.points.iter().enumerate() {
            if usize::from(scene.classes[row]) == class {
                let [r, g, b] = color(scene, row);
                // Written to memory, which has no errors.
                let _ = writeln!(rows, "{x:.3} {y:.3} {z:.3} {r} {g} {b}");
            }
        }
        if !rows.is_empty() {
            whole.extend_from_slice(&rows);
            files.push(Part::new(format!("{area}/{room}/Annotations/{name}_1.txt"), rows));
        }
    }
    files.push(Part::new(format!("{area}/{room}/{room}.txt"), whole));
    files
}

/// One array, as projects that use the data set keep it.
pub(super) fn npy(number: usize, scene: &Labeled) -> Vec<Part> {
    let (area, room) = room(number);
    let count = scene.points.len();
    let mut bytes = header(count);
    bytes.reserve(28 * count);
    for (row, point) in scene.points.iter().enumerate() {
        let color = color(scene, row).map(f32::from);
        let class = f32::from(scene.classes[row]);
        for value in point.iter().chain(&color).chain([&class]) {
            bytes.extend_from_slice(&value.to_le_bytes());
        }
    }
    vec![Part::new(format!("{area}_{room}.npy"), bytes)]
}

/// The start of a NPY file of float32, (`count`, 7): padded, so that the numbers begin at a multiple of 64.
fn header(count: usize) -> Vec<u8> {
    let text = format!("{{'descr': '<f4', 'fortran_order': False, 'shape': ({count}, 7), }}");
    let length = (10 + text.len() + 1).next_multiple_of(64) - 10;
    let mut bytes = b"\x93NUMPY\x01\x00".to_vec();
    bytes.extend_from_slice(&(length as u16).to_le_bytes());
    bytes.extend_from_slice(format!("{text:<width$}\n", width = length - 1).as_bytes());
    bytes
}
