//! Palettes for small files: all pictures share one palette, which holds every color of the ramp in
//! every light.

use super::color::{Color, EXACT, GROUND, INK, OTHER, mix};
use super::ramp::ramp;
use std::collections::HashMap;

/// Steps of the ramp, of light, from the ground to ink, and of the rims of dots.
const RAMP: usize = 32;
const LIGHT: [f32; 5] = [1.0, 0.85, 0.71, 0.56, 0.42];
const GRAY: usize = 24;
const RIM: [f32; 6] = [1.0, 0.8, 0.62, 0.45, 0.3, 0.15];

/// Leading bits of red, green and blue by which pixels share a color.
const BITS: u32 = 6;

/// Returns the palette, and the index of the nearest palette color for each pixel.
pub(super) fn indexed(pixels: &[Color]) -> (Vec<[u8; 3]>, Vec<u8>) {
    let palette: Vec<[u8; 3]> = colors().into_iter().map(|color| color.map(byte)).collect();
    let mut known: HashMap<[u8; 3], u8> = HashMap::new();
    let index = |color: &Color| {
        let bytes = color.map(byte);
        let key = bytes.map(|value| value >> (8 - BITS));
        *known.entry(key).or_insert_with(|| nearest(&palette, bytes))
    };
    let indices = pixels.iter().map(index).collect();
    (palette, indices)
}

fn colors() -> Vec<Color> {
    let lit = |color: Color| LIGHT.map(|light| color.map(|value| value * light));
    let mut colors: Vec<Color> =
        (0..RAMP).flat_map(|k| lit(ramp(k as f32 / (RAMP - 1) as f32))).collect();
    colors.extend((0..GRAY).map(|k| mix(GROUND, INK, k as f32 / (GRAY - 1) as f32)));
    colors.push([1.0; 3]);
    for accent in [EXACT, OTHER] {
        colors.extend(RIM.map(|share| mix(GROUND, accent, share)));
    }
    colors
}

fn byte(value: f32) -> u8 {
    (value.clamp(0.0, 1.0) * 255.0 + 0.5) as u8
}

/// Returns the index of the palette color nearest to a color.
fn nearest(palette: &[[u8; 3]], color: [u8; 3]) -> u8 {
    let distance = |other: &[u8; 3]| -> i32 {
        // Eyes see green best.
        [(0, 3), (1, 6), (2, 2)]
            .map(|(k, weight)| weight * (i32::from(other[k]) - i32::from(color[k])).pow(2))
            .into_iter()
            .sum()
    };
    let place = (0..palette.len()).min_by_key(|k| distance(&palette[*k]));
    place.unwrap_or(0) as u8
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::picture::color::PAPER;

    /// Returns a color as read back from the file.
    fn written(color: Color) -> [i32; 3] {
        let (palette, indices) = indexed(&[color]);
        assert!(palette.len() <= 256);
        palette[usize::from(indices[0])].map(i32::from)
    }

    #[test]
    fn colors_are_written_as_they_were() {
        let ramps = (0..=100).flat_map(|k| {
            [1.0, 0.9, 0.6, 0.5].map(|light| ramp(k as f32 / 100.0).map(|value| value * light))
        });
        for color in ramps.chain([PAPER, INK, GROUND, EXACT, OTHER, [1.0; 3]]) {
            let (seen, expected) = (written(color), color.map(|value| i32::from(byte(value))));
            let off = (0..3).map(|k| (seen[k] - expected[k]).abs()).max();
            assert!(off <= Some(18), "{expected:?} becomes {seen:?}");
        }
    }

    /// Lightness in the file still follows the value.
    #[test]
    fn the_ramp_keeps_its_order() {
        let light = |color: [i32; 3]| 2126 * color[0] + 7152 * color[1] + 722 * color[2];
        let steps: Vec<_> = (0..=15).map(|k| light(written(ramp(k as f32 / 15.0)))).collect();
        assert!(steps.is_sorted_by(|a, b| a < b), "{steps:?}");
    }
}
