//! The demo's picture: a random sample and a farthest point sample of a room scan. Above the room,
//! colored by the distance to the nearest sample; below the samples themselves, close enough to tell
//! them apart.

use super::canvas::{Canvas, GAP, Text, WIDE};
use super::color::{Color, EXACT, FAINT, INK, OTHER, PAPER};
use super::legend::{COLOR_BAR, SCALE_BAR, color_bar, rounded_up, scale_bar};
use super::open::open;
use super::scene::Scene;
use super::shape::Shape;
use super::unit::Unit;
use super::view::View;
use crate::output::count;
use anyhow::Result;
use rayon::prelude::*;

/// The two samples compared and their cloud.
pub(crate) struct Comparison<'a> {
    pub(crate) points: &'a [[f32; 3]],
    pub(crate) samples: [Candidate<'a>; 2],
    /// The larger covering radius of an even sample: the colors end at twice of it.
    pub(crate) radius: f64,
}

/// One of the samples.
pub(crate) struct Candidate<'a> {
    pub(crate) title: &'static str,
    pub(crate) rows: &'a [usize],
    /// Covering radius.
    pub(crate) radius: f64,
}

const PANEL: usize = (WIDE - 3 * GAP) / 2;
const ROOM: usize = 390;
const CLOSE: usize = 280;
const HEAD: usize = 92;
const TITLE: usize = 78;

const ACCENT: [Color; 2] = [OTHER, EXACT];

/// A place on the table, in meters.
const TABLE: [f64; 3] = [4.5, 3.8, 0.8];

/// Magnification of the close-up at this sample count, which keeps samples distinct.
const CLOSER: f64 = 16.0;
const SAMPLES: f64 = 250_000.0;

/// Draws the picture; returns a PNG file.
pub(crate) fn compare(comparison: &Comparison<'_>) -> Result<Vec<u8>> {
    let wide = |point: &[f32; 3]| point.map(f64::from);
    let points: Vec<[f64; 3]> = comparison.points.iter().map(wide).collect();
    let shape = Shape::of(&points, None);
    let view = View::of(&points, &shape, [PANEL, ROOM]);
    let share = comparison.samples[0].rows.len() as f64 / SAMPLES;
    let closer = (CLOSER * share.sqrt()).clamp(2.0, 2.0 * CLOSER);
    let close = view.above(TABLE, closer, [PANEL, CLOSE]);
    let (shown, _) = open(&points, &shape);
    let near = Scene::new(close, &points, &shown);
    let far = Scene::new(view, &points, &shown);
    let scale = rounded_up(2.0 * comparison.radius);

    let mut canvas =
        Canvas::new(WIDE, HEAD + COLOR_BAR + TITLE + ROOM + SCALE_BAR + CLOSE + GAP, PAPER);
    for (column, sample) in comparison.samples.iter().enumerate() {
        let places: Vec<_> = sample.rows.iter().map(|&row| points[row]).collect();
        let nearest = farpoint::nearest(&points, &places[..])?;
        let distances: Vec<f64> =
            (0..nearest.len()).into_par_iter().map(|row| nearest.distance(row)).collect();
        let x = GAP + column * (PANEL + GAP);
        let y = HEAD + COLOR_BAR;
        let words = format!("covering radius {:.1} cm", 100.0 * sample.radius);
        canvas.text([x, y], Text::Title, sample.title, ACCENT[column]);
        canvas.text([x, y + 42], Text::Body, &words, INK);
        let mut above = far.by_distance(&distances, scale);
        above.frame(around(&near.view, &far.view), INK);
        let mut below = near.dots(&places, ACCENT[column], near.dot(&places));
        let bar = [0, CLOSE - SCALE_BAR + 4];
        scale_bar(&mut below, bar, PANEL, near.view.pixels_per_unit(), Unit::Meters);
        canvas.paste([x, y + TITLE], &above);
        canvas.paste([x, y + TITLE + ROOM + SCALE_BAR], &below);
        let bar = [x, y + TITLE + ROOM + 2];
        scale_bar(&mut canvas, bar, PANEL, far.view.pixels_per_unit(), Unit::Meters);
    }
    heads(&mut canvas, comparison, scale);
    canvas.png()
}

/// Returns the corners of the rectangle around what `near` shows of the table, in pixels of `far`.
fn around(near: &View, far: &View) -> [[f32; 2]; 2] {
    let half = [PANEL, CLOSE].map(|pixels| pixels as f64 / 2.0 / near.pixels_per_unit());
    let corners = [[-1.0, -1.0], [-1.0, 1.0], [1.0, -1.0], [1.0, 1.0]].map(|[right, up]| {
        let [x, y, z] = TABLE;
        let pixel = far.project([x + right * half[0], y + up * half[1], z]);
        [pixel.x, pixel.y]
    });
    let ends = |pick: fn(f32, f32) -> f32| {
        corners.into_iter().reduce(|a, b| [pick(a[0], b[0]), pick(a[1], b[1])]).unwrap_or_default()
    };
    [ends(f32::min), ends(f32::max)]
}

fn heads(canvas: &mut Canvas, comparison: &Comparison<'_>, scale: f64) {
    let title = format!(
        "{} of {} points of a room",
        count(comparison.samples[0].rows.len()),
        count(comparison.points.len())
    );
    canvas.text_within([GAP, 6], Text::Title, &title, INK, WIDE - 2 * GAP);
    let words =
        "the whole room without ceiling and near walls; below, a part of the table from above";
    canvas.text_within([GAP, 50], Text::Body, words, FAINT, WIDE - 2 * GAP);
    let caption = "distance to the nearest sample, in meters (larger ones are drawn on top)";
    color_bar(canvas, HEAD, scale, caption, "more");
}
