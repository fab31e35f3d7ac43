//! Map of files in plan view, colored by point density: holes and thin places of a delivery.

use super::canvas::{Canvas, GAP, Text, WIDE};
use super::color::{FAINT, GROUND, INK, PAPER};
use super::legend::{COLOR_BAR, SCALE_BAR, color_bar, rounded_up, scale_bar};
use super::ramp::ramp;
use super::unit::Unit;
use anyhow::Result;

/// A file as a raster of densities, rows from the south.
pub(crate) struct Tile {
    pub(crate) name: String,
    /// Southwest corner, and edge of a place of the raster.
    pub(crate) low: [f64; 2],
    pub(crate) edge: f64,
    pub(crate) size: [usize; 2],
    /// Points per square unit; 0 where there are none.
    pub(crate) densities: Vec<f32>,
}

/// Input of the map.
pub(crate) struct Tiles<'a> {
    pub(crate) tiles: &'a [&'a Tile],
    pub(crate) title: String,
    pub(crate) words: String,
    pub(crate) unit: Unit,
    /// Density at the end of the colors.
    pub(crate) scale: f64,
}

/// Greatest height of the map in pixels.
const HIGH: f64 = 1200.0;
/// Height of title and words.
const HEAD: usize = 92;
/// Least width of a tile with its name, in letters.
const LETTERS: usize = 6;

/// Draws the map as PNG.
pub(crate) fn tiles(input: &Tiles<'_>) -> Result<Vec<u8>> {
    let (mut low, mut high) = ([f64::INFINITY; 2], [f64::NEG_INFINITY; 2]);
    for tile in input.tiles {
        for axis in 0..2 {
            low[axis] = low[axis].min(tile.low[axis]);
            high[axis] = high[axis].max(tile.low[axis] + tile.edge * tile.size[axis] as f64);
        }
    }
    let side = [0, 1].map(|axis| high[axis] - low[axis]);
    let wide = WIDE - 2 * GAP;
    let zoom = (wide as f64 / side[0]).min(HIGH / side[1]);
    let size = side.map(|side| ((side * zoom).round() as usize).max(1));
    let mut map = Canvas::new(size[0], size[1], GROUND);
    let scale = rounded_up(input.scale);
    for tile in input.tiles {
        let corner = [(tile.low[0] - low[0]) * zoom, (tile.low[1] - low[1]) * zoom];
        draw(&mut map, tile, corner, zoom, scale);
    }
    let top = HEAD + COLOR_BAR + GAP;
    let mut canvas = Canvas::new(WIDE, top + size[1] + SCALE_BAR + GAP, PAPER);
    canvas.text_within([GAP, 6], Text::Title, &input.title, INK, wide);
    canvas.text_within([GAP, 50], Text::Body, &input.words, FAINT, wide);
    let words = format!("points per {}", input.unit.square());
    color_bar(&mut canvas, HEAD, scale, &words, "more");
    canvas.paste([GAP + (wide - size[0]) / 2, top], &map);
    scale_bar(&mut canvas, [GAP, top + size[1] + 4], wide, zoom, input.unit);
    canvas.png()
}

/// Draws a tile with its southwest corner at a place in pixels from that of the map.
fn draw(map: &mut Canvas, tile: &Tile, corner: [f64; 2], zoom: f64, scale: f64) {
    let pixels = tile.size.map(|places| places as f64 * tile.edge * zoom);
    let first = corner.map(|at| at.floor() as usize);
    let last = [0, 1].map(|axis| {
        let end = (corner[axis] + pixels[axis]).ceil() as usize;
        end.min([map.width, map.height][axis])
    });
    for row in first[1]..last[1] {
        for column in first[0]..last[0] {
            let place = [column, row].map(|at| at as f64 + 0.5);
            let [x, y] = [0, 1].map(|axis| (place[axis] - corner[axis]) / (tile.edge * zoom));
            if x < 0.0 || y < 0.0 || x as usize >= tile.size[0] || y as usize >= tile.size[1] {
                continue;
            }
            let density = tile.densities[y as usize * tile.size[0] + x as usize];
            if density > 0.0 {
                let color = ramp(density / scale as f32);
                map.blend(column, map.height - 1 - row, color, 1.0);
            }
        }
    }
    let upper = (map.height as f64 - corner[1] - pixels[1]).max(0.0);
    let lower = map.height as f64 - corner[1];
    let ends = [[corner[0], upper], [corner[0] + pixels[0], lower]];
    map.frame(ends.map(|end| end.map(|at| at as f32)), FAINT);
    let inner = pixels[0] as usize;
    if inner >= LETTERS * Text::Body.width("m") + GAP && pixels[1] >= 40.0 {
        let at = [corner[0] as usize + 6, upper as usize + 5];
        let name_width = Text::Body.width(&tile.name).min(inner - GAP);
        map.shade(at, [name_width, 26], PAPER, 0.7);
        map.text_within(at, Text::Body, &tile.name, INK, inner - GAP);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Two tiles side by side, one of them with a hole.
    #[test]
    fn tiles_lie_where_they_are() {
        let tile = |x: f64, densities: Vec<f32>| Tile {
            name: "a".to_owned(),
            low: [x, -5.0],
            edge: 10.0,
            size: [2, 2],
            densities,
        };
        let mut map = Canvas::new(400, 200, GROUND);
        draw(&mut map, &tile(0.0, vec![1.0; 4]), [0.0, 0.0], 10.0, 2.0);
        draw(&mut map, &tile(20.0, vec![2.0, 1.0, 0.0, 2.0]), [200.0, 0.0], 10.0, 2.0);
        let (half, full) = (ramp(0.5), ramp(1.0));
        for ([x, y], color) in [
            ([50, 50], half),
            ([150, 150], half),
            ([250, 150], full),
            ([350, 150], half),
            ([250, 50], GROUND),
            ([350, 50], full),
        ] {
            assert_eq!(map.pixel(x, y), color, "{x} {y}");
        }
        let all = [tile(0.0, vec![1.0; 4]), tile(1e7, vec![2.0; 4])];
        let words = || "words".to_owned();
        let all = [&all[0], &all[1]];
        let input =
            Tiles { tiles: &all, title: words(), words: words(), unit: Unit::Unknown, scale: 2.0 };
        assert!(tiles(&input).unwrap().starts_with(b"\x89PNG"));
    }
}
