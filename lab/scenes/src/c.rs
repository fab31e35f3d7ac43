//! A C entrance of two functions, for Python's ctypes.

use crate::{Labeled, Paint, Setting};
use std::ffi::c_char;

/// Generates `count` points of a room (0) or of a town (1): coordinates, red, green, blue or an intensity, and
/// classes. Returns 0, or 1 if there is no such scene.
///
/// # Safety
/// `points` must have room for 3 numbers per point, `paint` for 3 bytes or one f32, `classes` for one byte.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn farpoint_scenes_generate(
    kind: usize,
    count: usize,
    seed: u64,
    points: *mut f32,
    paint: *mut u8,
    classes: *mut u8,
) -> i32 {
    let generate = || Setting::ALL.get(kind).map(|setting| setting.generate(count, seed));
    let Ok(Some(scene)) = std::panic::catch_unwind(generate) else { return 1 };
    let Labeled { points: rows, paint: light, classes: numbers } = scene;
    // SAFETY: the scene has `count` points, for which the caller passes arrays.
    unsafe {
        points.copy_from_nonoverlapping(rows.as_ptr().cast(), 3 * count);
        match light {
            Paint::Colors(colors) => {
                paint.copy_from_nonoverlapping(colors.as_ptr().cast(), 3 * count)
            }
            Paint::Intensity(values) => {
                paint.copy_from_nonoverlapping(values.as_ptr().cast(), 4 * count)
            }
        }
        classes.copy_from_nonoverlapping(numbers.as_ptr(), count);
    }
    0
}

/// Returns the names of the classes of a room (0) or of a town (1) by number, separated by commas; null for others.
#[unsafe(no_mangle)]
pub extern "C" fn farpoint_scenes_classes(kind: usize) -> *const c_char {
    Setting::ALL.get(kind).map_or(std::ptr::null(), |setting| setting.names().as_ptr())
}
