//! Samplers side by side, after the paper's figures 12 and 13: a panel for each, in it the whole cloud,
//! colored by the distance to the nearest sample, and below a close-up of the sample itself. All panels
//! show the same places.

use super::canvas::{Canvas, GAP, Text, WIDE};
use super::color::{EXACT, FAINT, INK, OTHER, PAPER};
use super::legend::{COLOR_BAR, SCALE_BAR, color_bar, rounded_up, scale_bar};
use super::open::open;
use super::scene::Scene;
use super::shape::{Shape, Up};
use super::unit::Unit;
use super::view::{Pixel, View};
use crate::output::{count, number};
use anyhow::Result;
use rayon::prelude::*;

/// Input of the picture.
pub(crate) struct Panels<'a> {
    pub(crate) points: &'a [[f64; 3]],
    pub(crate) title: String,
    /// Requested number of samples per sampler.
    pub(crate) requested: usize,
    /// The distance at the end of the colors.
    pub(crate) scale: f64,
    pub(crate) unit: Unit,
    /// Up axis; guessed if `None`.
    pub(crate) up: Option<Up>,
    pub(crate) panels: Vec<Panel<'a>>,
}

/// One sampler.
pub(crate) struct Panel<'a> {
    pub(crate) title: String,
    pub(crate) exact: bool,
    pub(crate) radius: f64,
    pub(crate) mean: f64,
    pub(crate) samples: usize,
    pub(crate) sample: &'a [[f64; 3]],
    /// Distance of each point to its nearest sample.
    pub(crate) distances: &'a [f64],
}

/// A picture and its PNG file.
pub(crate) struct Picture {
    pub(crate) png: Vec<u8>,
    pub(crate) size: [usize; 2],
}

/// Greatest number of panels side by side.
const COLUMNS: usize = 2;
const PANEL: usize = (WIDE - (COLUMNS + 1) * GAP) / COLUMNS;
/// Least and greatest height of the whole cloud in pixels.
const WHOLE: [f64; 2] = [230.0, 470.0];
const CLOSE: usize = 230;
/// Height of the head of the picture, and of the title of a panel.
const HEAD: usize = 92;
const TITLE: usize = 78;

/// Approximate number of samples in a close-up.
const SHOWN: usize = 450;

/// Least and greatest magnification of a close-up.
const CLOSER: [f64; 2] = [4.0, 60.0];

/// Draws the picture.
pub(crate) fn panels(input: &Panels<'_>) -> Result<Picture> {
    let shape = Shape::of(input.points, input.up);
    let whole =
        (PANEL as f64 * View::form(input.points, &shape)).clamp(WHOLE[0], WHOLE[1]) as usize;
    let rows = input.panels.len().div_ceil(COLUMNS);
    let high = TITLE + whole + SCALE_BAR + CLOSE + 2 * GAP;
    let size = [WIDE, HEAD + COLOR_BAR + GAP + rows * high];
    let mut canvas = Canvas::new(size[0], size[1], PAPER);

    let view = View::of(input.points, &shape, [PANEL, whole]);
    let (shown, complete) = open(input.points, &shape);
    let close = close_up(&view, input, &shown);
    let near = Scene::new(close, input.points, &shown);
    let far = Scene::new(view, input.points, &shown);
    let scale = rounded_up(input.scale);
    let dot = near.dot(input.panels.first().map_or(&[], |panel| panel.sample));
    let draw = |panel: &Panel<'_>| {
        let accent = if panel.exact { EXACT } else { OTHER };
        let mut above = far.by_distance(panel.distances, scale);
        above.frame(near.view.corners_in(&far.view), INK);
        let mut below = near.dots(panel.sample, accent, dot);
        let bar = [0, CLOSE - SCALE_BAR + 4];
        scale_bar(&mut below, bar, PANEL, near.view.pixels_per_unit(), input.unit);
        [above, below]
    };
    let drawn: Vec<_> = input.panels.par_iter().map(draw).collect();

    canvas.text_within([GAP, 6], Text::Title, &input.title, INK, WIDE - 2 * GAP);
    canvas.text_within([GAP, 50], Text::Body, &shape.words(complete), FAINT, WIDE - 2 * GAP);
    let caption = format!(
        "distance to the nearest sample, in {} (larger ones are drawn on top)",
        input.unit.name()
    );
    color_bar(&mut canvas, HEAD, scale, &caption, "more");
    for (k, (panel, [above, below])) in input.panels.iter().zip(&drawn).enumerate() {
        let x = GAP + k % COLUMNS * (PANEL + GAP);
        let y = HEAD + COLOR_BAR + GAP + k / COLUMNS * high;
        title(&mut canvas, [x, y], panel, input.requested);
        canvas.paste([x, y + TITLE], above);
        canvas.paste([x, y + TITLE + whole + SCALE_BAR], below);
        let bar = [x, y + TITLE + whole + 2];
        scale_bar(&mut canvas, bar, PANEL, far.view.pixels_per_unit(), input.unit);
    }
    Ok(Picture { png: canvas.png()?, size })
}

/// Draws the sampler's name and its coverage.
fn title(canvas: &mut Canvas, [x, y]: [usize; 2], panel: &Panel<'_>, requested: usize) {
    let (accent, words) = match panel.exact {
        true => (EXACT, "exact"),
        false => (OTHER, "approximate"),
    };
    let wide = PANEL - Text::Body.width(words) - GAP;
    canvas.text_within([x, y], Text::Title, &panel.title, accent, wide);
    canvas.text([x + PANEL - Text::Body.width(words), y + 6], Text::Body, words, accent);
    let mut line = format!("radius {}, mean {}", number(panel.radius), number(panel.mean));
    if panel.samples != requested {
        line = format!("{} samples, {line}", count(panel.samples));
    }
    canvas.text_within([x, y + 42], Text::Body, &line, INK, PANEL);
}

/// Candidate positions of a close-up along each side.
const PLACES: usize = 24;

/// Side of the raster by whose filled cells a position's points are counted.
const RASTER: usize = 16;

/// Returns a close-up in which samples are distinct.
fn close_up(view: &View, input: &Panels<'_>, shown: &[bool]) -> View {
    let Some(first) = input.panels.first() else { return view.clone() };
    let points = input.points.par_iter().zip(shown).filter(|(_, shown)| **shown);
    let pixels: Vec<Pixel> = points.map(|(point, _)| view.project(*point)).collect();
    let mut times = CLOSER[0];
    loop {
        let close = best_place(view, &pixels, times);
        let seen = |place: &&[f64; 3]| close.holds(close.project(**place));
        if times >= CLOSER[1] || first.sample.iter().filter(seen).count() <= SHOWN {
            return close;
        }
        times *= 1.3;
    }
}

/// Returns the part of a view, `times` magnified, that shows most: the one whose raster is filled most,
/// as empty space and a single wall are equally dull.
fn best_place(view: &View, pixels: &[Pixel], times: f64) -> View {
    let size = [PANEL, CLOSE];
    // Of a cell, and how many there are in the view.
    let side = size.map(|side| side as f64 / times / RASTER as f64);
    let cells = [0, 1].map(|axis| (view.size[axis] as f64 / side[axis]).ceil() as usize);
    let mut filled = vec![0u32; cells[0] * cells[1]];
    for Pixel { x, y, .. } in pixels {
        let at = [*x, *y].map(f64::from);
        let [x, y] = [0, 1].map(|k| ((at[k] / side[k]) as usize).min(cells[k] - 1));
        filled[y * cells[0] + x] += 1;
    }
    let place = |k: usize, axis: usize| k * cells[axis].saturating_sub(RASTER) / (PLACES - 1);
    let mut best = (0.0, [0, 0]);
    for k in 0..PLACES * PLACES {
        let first = [place(k % PLACES, 0), place(k / PLACES, 1)];
        let worth = worth(&filled, cells, first);
        if worth > best.0 {
            best = (worth, first);
        }
    }
    let middle = [0, 1].map(|axis| (best.1[axis] + RASTER / 2) as f64 * side[axis]);
    view.closer(middle, times, size)
}

/// Scores a close-up by its filled cells, less where many points share few of them.
fn worth(filled: &[u32], cells: [usize; 2], first: [usize; 2]) -> f64 {
    let mut worth = 0.0;
    for row in first[1]..(first[1] + RASTER).min(cells[1]) {
        for column in first[0]..(first[0] + RASTER).min(cells[0]) {
            worth += f64::from(filled[row * cells[0] + column]).min(8.0).sqrt();
        }
    }
    worth
}
