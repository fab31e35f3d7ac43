//! Map of files in plan view, colored by point density: holes and thin places of a delivery.

use super::canvas::{Canvas, GAP, Text, WIDE};
use super::color::{FAINT, GROUND, INK, PAPER};
use super::legend::{COLOR_BAR, SCALE_BAR, color_bar, rounded_up, scale_bar};
use super::ramp::ramp;
use super::unit::Unit;
use anyhow::Result;

/// Densities of the ground, rows from the south.
pub(crate) struct Raster {
    /// Southwest corner, and edge of a place.
    pub(crate) low: [f64; 2],
    pub(crate) edge: f64,
    pub(crate) size: [usize; 2],
    /// Points per square unit; 0 where there are none.
    pub(crate) densities: Vec<f32>,
}

impl Raster {
    /// Places along a side that a map can show.
    pub(crate) const MOST: usize = WIDE - 2 * GAP;
}

/// A file on the map.
#[derive(Clone)]
pub(crate) struct Extent {
    pub(crate) name: String,
    /// Southwest and northeast corner.
    pub(crate) ends: [[f64; 2]; 2],
}

impl Extent {
    /// Returns the rectangle around points.
    pub(crate) fn around(name: String, points: &[[f64; 2]]) -> Self {
        let end = |start: f64, of: fn(f64, f64) -> f64| {
            [0, 1].map(|axis| points.iter().map(|point| point[axis]).fold(start, of))
        };
        Self { name, ends: [end(f64::INFINITY, f64::min), end(f64::NEG_INFINITY, f64::max)] }
    }

    /// Returns the length along an axis.
    pub(crate) fn side(&self, axis: usize) -> f64 {
        self.ends[1][axis] - self.ends[0][axis]
    }
}

/// Input of the map.
pub(crate) struct Tiles {
    pub(crate) raster: Raster,
    pub(crate) files: Vec<Extent>,
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
/// Least side of a file with a frame, in pixels.
const FRAMED: f32 = 24.0;
/// Least width of a name, in letters, and its height in pixels.
const LETTERS: usize = 6;
const LINE: usize = 26;
/// A name covers at most this part of its file.
const NAMED: f32 = 6.0;

/// Draws the map as PNG.
pub(crate) fn tiles(input: &Tiles) -> Result<Vec<u8>> {
    let Raster { edge, size, .. } = input.raster;
    let side = size.map(|places| places as f64 * edge);
    let wide = WIDE - 2 * GAP;
    let zoom = (wide as f64 / side[0]).min(HIGH / side[1]);
    let size = side.map(|side| ((side * zoom).round() as usize).max(1));
    let mut map = Canvas::new(size[0], size[1], GROUND);
    let scale = rounded_up(input.scale);
    draw(&mut map, &input.raster, scale);
    outline(&mut map, input, zoom);
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

/// Draws the densities over the whole map.
fn draw(map: &mut Canvas, raster: &Raster, scale: f64) {
    let [columns, rows] = raster.size;
    for y in 0..map.height {
        for x in 0..map.width {
            let [column, row] = [x * columns / map.width, y * rows / map.height];
            let density = raster.densities[row * columns + column];
            if density > 0.0 {
                map.blend(x, map.height - 1 - y, ramp(density / scale as f32), 1.0);
            }
        }
    }
}

/// Draws the frames of the files, and the names that leave most of their files visible and lie on no other.
fn outline(map: &mut Canvas, input: &Tiles, zoom: f64) {
    let (low, high) = (input.raster.low, map.height as f64);
    let corners = |file: &Extent| {
        let [from, to] = file.ends.map(|end| [0, 1].map(|axis| (end[axis] - low[axis]) * zoom));
        [[from[0], high - to[1]], [to[0], high - from[1]]].map(|end| end.map(|at| at as f32))
    };
    let framed = input
        .files
        .iter()
        .map(|file| (&file.name, corners(file)))
        .filter(|(_, ends)| (0..2).all(|axis| ends[1][axis] - ends[0][axis] >= FRAMED));
    let framed: Vec<_> = framed.collect();
    framed.iter().for_each(|(_, ends)| map.frame(*ends, FAINT));
    let mut named: Vec<[usize; 3]> = Vec::new();
    for (name, [from, to]) in framed {
        let [wide, high] = [to[0] - from[0], to[1] - from[1]];
        let inner = (wide as usize).saturating_sub(GAP);
        let width = Text::Body.width(name).min(inner);
        let [x, y] = from.map(|at| at.max(0.0) as usize + 6);
        let free = |[left, other, top]: &[usize; 3]| {
            x + width < *left || left + other < x || y.abs_diff(*top) > LINE
        };
        let small = (width * LINE) as f32 * NAMED <= wide * high;
        if inner >= LETTERS * Text::Body.width("m") && small && named.iter().all(free) {
            map.shade([x, y], [width, LINE], PAPER, 0.7);
            map.text_within([x, y], Text::Body, name, INK, inner);
            named.push([x, width, y]);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn input(files: Vec<Extent>) -> Tiles {
        let raster = Raster {
            low: [-5.0; 2],
            edge: 10.0,
            size: [2, 2],
            densities: vec![2.0, 1.0, 0.0, 2.0],
        };
        Tiles {
            raster,
            files,
            title: "a".into(),
            words: "b".into(),
            unit: Unit::Unknown,
            scale: 2.0,
        }
    }

    fn file(name: &str, ends: [[f64; 2]; 2]) -> Extent {
        Extent { name: name.to_owned(), ends }
    }

    #[test]
    fn densities_lie_where_they_are() {
        let mut map = Canvas::new(200, 200, GROUND);
        draw(&mut map, &input(Vec::new()).raster, 2.0);
        let (half, full) = (ramp(0.5), ramp(1.0));
        for ([x, y], color) in
            [([50, 150], full), ([150, 150], half), ([50, 50], GROUND), ([150, 50], full)]
        {
            assert_eq!(map.pixel(x, y), color, "{x} {y}");
        }
        let all = vec![file("a", [[-5.0; 2], [5.0; 2]]), file("", [[1e7; 2], [1e7; 2]])];
        assert!(tiles(&input(all)).unwrap().starts_with(b"\x89PNG"));
    }

    /// However many files lie on each other, most of what they cover stays visible.
    #[test]
    fn names_do_not_bury_the_map() {
        let grid = |across: usize, side: f64| {
            let at = move |k: usize| [k % across, k / across].map(|k| k as f64 * side * 0.9 - 5.0);
            let one = move |k| file("a-long-name.laz", [at(k), at(k).map(|low| low + side)]);
            (0..across * across).map(one).collect::<Vec<_>>()
        };
        for across in [1, 2, 3, 10, 30, 100] {
            let mut map = Canvas::new(900, 900, GROUND);
            outline(&mut map, &input(grid(across, 20.0 / across as f64)), 45.0);
            let places = (0..900 * 900).map(|k| map.pixel(k % 900, k / 900));
            let covered = places.filter(|color| *color != GROUND).count();
            assert!(covered < 900 * 900 / 3, "{across}: {covered}");
            assert!(across > 3 || covered > 15 * 26, "{across}: {covered}");
        }
    }
}
