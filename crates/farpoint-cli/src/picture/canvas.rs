//! An RGB image with text, from the pre-drawn Noto Sans Mono.

use super::color::{Color, mix};
use super::palette::indexed;
use anyhow::Result;
use noto_sans_mono_bitmap::{FontWeight, RasterHeight, get_raster, get_raster_width};

/// Width of a picture in pixels; its text stays readable when shown 400 pixels wide.
pub(super) const WIDE: usize = 976;
pub(super) const GAP: usize = 12;

/// Size and weight of text.
#[derive(Clone, Copy)]
pub(super) enum Text {
    Title,
    Body,
}

impl Text {
    fn font(self) -> (FontWeight, RasterHeight) {
        match self {
            Self::Title => (FontWeight::Bold, RasterHeight::Size32),
            Self::Body => (FontWeight::Regular, RasterHeight::Size24),
        }
    }

    /// Returns the width of a text in pixels.
    pub(super) fn width(self, text: &str) -> usize {
        let (weight, size) = self.font();
        text.chars().count() * get_raster_width(weight, size)
    }
}

/// The image; rows from the top.
pub(super) struct Canvas {
    pub(super) width: usize,
    pub(super) height: usize,
    pixels: Vec<Color>,
}

impl Canvas {
    pub(super) fn new(width: usize, height: usize, color: Color) -> Self {
        Self { width, height, pixels: vec![color; width * height] }
    }

    /// Blends a color into a pixel; pixels outside the image are ignored.
    pub(super) fn blend(&mut self, x: usize, y: usize, color: Color, share: f32) {
        if x < self.width && y < self.height {
            let pixel = &mut self.pixels[y * self.width + x];
            *pixel = mix(*pixel, color, share);
        }
    }

    /// Draws a disc with a smooth rim.
    pub(super) fn dot(&mut self, x: f32, y: f32, radius: f32, color: Color) {
        let reach = radius.ceil() as i32 + 1;
        for dy in -reach..=reach {
            for dx in -reach..=reach {
                let (column, row) = (x.floor() as i32 + dx, y.floor() as i32 + dy);
                let (off_x, off_y) = (column as f32 + 0.5 - x, row as f32 + 0.5 - y);
                let inside = radius + 0.5 - (off_x * off_x + off_y * off_y).sqrt();
                if inside > 0.0 && column >= 0 && row >= 0 {
                    self.blend(column as usize, row as usize, color, inside.min(1.0));
                }
            }
        }
    }

    /// Fills a rectangle.
    pub(super) fn fill(&mut self, [x, y]: [usize; 2], [wide, high]: [usize; 2], color: Color) {
        for row in y..y + high {
            (x..x + wide).for_each(|column| self.blend(column, row, color, 1.0));
        }
    }

    /// Draws the outline of a rectangle between two corners.
    pub(super) fn frame(&mut self, [low, high]: [[f32; 2]; 2], color: Color) {
        const THICK: usize = 3;
        let end = |at: f32, end: usize| (at.max(0.0) as usize).min(end.saturating_sub(THICK));
        let [left, right] = [end(low[0], self.width), end(high[0], self.width)];
        let [top, bottom] = [end(low[1], self.height), end(high[1], self.height)];
        for y in [top, bottom] {
            self.fill([left, y], [right - left + THICK, THICK], color);
        }
        for x in [left, right] {
            self.fill([x, top], [THICK, bottom - top + THICK], color);
        }
    }

    /// Blends a color into a rectangle.
    pub(super) fn shade(&mut self, [x, y]: [usize; 2], size: [usize; 2], color: Color, share: f32) {
        for row in y..y + size[1] {
            (x..x + size[0]).for_each(|column| self.blend(column, row, color, share));
        }
    }

    /// Draws one line of text of at most the given width, shortened in the middle if it is too long.
    pub(super) fn text_within(
        &mut self,
        at: [usize; 2],
        kind: Text,
        text: &str,
        color: Color,
        wide: usize,
    ) {
        self.text(at, kind, &shortened(text, wide / kind.width("m")), color);
    }

    /// Draws one line of text, its top left corner at (x, y); characters missing in the font become '?'.
    pub(super) fn text(&mut self, [x, y]: [usize; 2], kind: Text, text: &str, color: Color) {
        let (weight, size) = kind.font();
        let step = get_raster_width(weight, size);
        for (k, letter) in text.chars().enumerate() {
            let glyph = get_raster(letter, weight, size).or_else(|| get_raster('?', weight, size));
            for (dy, row) in glyph.iter().flat_map(|glyph| glyph.rows().enumerate()) {
                for (dx, &share) in row.iter().enumerate() {
                    self.blend(x + k * step + dx, y + dy, color, f32::from(share) / 255.0);
                }
            }
        }
    }

    /// Pastes another image into this one.
    pub(super) fn paste(&mut self, [x, y]: [usize; 2], other: &Self) {
        for row in 0..other.height {
            for column in 0..other.width {
                self.blend(x + column, y + row, other.pixels[row * other.width + column], 1.0);
            }
        }
    }

    #[cfg(test)]
    pub(super) fn pixel(&self, x: usize, y: usize) -> Color {
        self.pixels[y * self.width + x]
    }

    /// Encodes the image as PNG.
    pub(super) fn png(&self) -> Result<Vec<u8>> {
        let (palette, indices) = indexed(&self.pixels);
        let mut file = Vec::new();
        let mut encoder = png::Encoder::new(&mut file, self.width as u32, self.height as u32);
        encoder.set_color(png::ColorType::Indexed);
        encoder.set_depth(png::BitDepth::Eight);
        encoder.set_palette(palette.concat());
        encoder.set_compression(png::Compression::High);
        // Neighboring indices are not similar numbers.
        encoder.set_filter(png::Filter::NoFilter);
        encoder.write_header()?.write_image_data(&indices)?;
        Ok(file)
    }
}

/// Shortens a text to at most `most` characters, keeping its beginning and its end.
fn shortened(text: &str, most: usize) -> String {
    let letters: Vec<char> = text.chars().collect();
    if letters.len() <= most {
        return text.to_owned();
    }
    let kept = most.saturating_sub(3);
    let end = &letters[letters.len() - kept / 2..];
    let begin = &letters[..kept - kept / 2];
    begin.iter().copied().chain("...".chars()).chain(end.iter().copied()).collect()
}

#[cfg(test)]
mod tests {
    use super::shortened;

    #[test]
    fn long_texts_lose_their_middle() {
        assert_eq!(shortened("points.ply", 10), "points.ply");
        assert_eq!(shortened("a-very-long-name.ply", 11), "a-ve....ply");
        assert_eq!(shortened("abcdef", 2), "...");
    }
}
