//! Samplers side by side, after the paper's figures 12 and 13: a panel for each, in it the whole
//! cloud from above, colored by the distance to the nearest sample, and below a close-up of the
//! sample itself. All panels show the same places.

use super::canvas::{Canvas, Color, FAINT, INK, PAPER, Text, mix};
use super::compare::ramp;
use super::plan::Plan;
use crate::output::{count, number};
use anyhow::Result;
use rayon::prelude::*;

/// What is drawn.
pub(crate) struct Panels<'a> {
    pub(crate) points: &'a [[f64; 3]],
    pub(crate) title: String,
    /// The distance at the end of the colors.
    pub(crate) scale: f64,
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
    /// Of each point to its nearest sample.
    pub(crate) distances: &'a [f64],
}

/// A picture, as a PNG file.
pub(crate) struct Picture {
    pub(crate) png: Vec<u8>,
    pub(crate) size: [usize; 2],
}

/// Panels side by side at most.
const COLUMNS: usize = 3;
const WIDE: usize = 620;
const WHOLE: usize = 400;
const CLOSE: usize = 400;
const TITLE: usize = 78;
const GAP: usize = 14;
const HEAD: usize = 62;

const GROUND: Color = [0.02, 0.025, 0.035];
const EXACT: Color = [0.33, 0.83, 0.95];
const APPROXIMATE: Color = [1.0, 0.72, 0.36];

/// Draws the picture.
pub(crate) fn panels(all: &Panels<'_>) -> Result<Picture> {
    let columns = all.panels.len().clamp(1, COLUMNS);
    let rows = all.panels.len().div_ceil(columns);
    let high = TITLE + WHOLE + 4 + CLOSE;
    let size = [columns * (WIDE + GAP) + GAP, HEAD + rows * (high + GAP)];
    let mut canvas = Canvas::new(size[0], size[1], PAPER);
    let whole = Plan::around(all.points, [WIDE, WHOLE]);
    let close = whole.close_up(all.points, [WIDE, CLOSE]);
    let order = from_below(all.points);
    let drawn: Vec<_> = all
        .panels
        .par_iter()
        .map(|panel| {
            let mut above = colored(&whole, all, panel, &order);
            above.frame(close.corners_in(&whole), INK);
            (above, dotted(&close, all.points, panel, &order))
        })
        .collect();
    for (k, (panel, (above, below))) in all.panels.iter().zip(&drawn).enumerate() {
        let x = GAP + k % columns * (WIDE + GAP);
        let y = HEAD + k / columns * (high + GAP);
        let accent = if panel.exact { EXACT } else { APPROXIMATE };
        canvas.text([x + 2, y + 4], Text::Title, &panel.title, accent);
        let words = if panel.exact { "exact" } else { "approximate" };
        let end = x + WIDE - Text::Small.width(words) - 2;
        canvas.text([end, y + 12], Text::Small, words, accent);
        let body = format!(
            "{} points, covering radius {}, mean {}",
            count(panel.samples),
            number(panel.radius),
            number(panel.mean)
        );
        canvas.text([x + 2, y + 44], Text::Small, &body, INK);
        canvas.paste([x, y + TITLE], above);
        canvas.paste([x, y + TITLE + WHOLE + 4], below);
    }
    heading(&mut canvas, all, size[0]);
    Ok(Picture { png: canvas.png()?, size })
}

/// The title on the left, what the colors mean on the right, where there is room for it.
fn heading(canvas: &mut Canvas, all: &Panels<'_>, wide: usize) {
    let y = 18;
    canvas.text([GAP + 2, y], Text::Body, &all.title, INK);
    let end = format!("{} and more", number(all.scale));
    let words = "distance to the nearest sample  0";
    let length = 260;
    let needed = Text::Small.width(words) + length + Text::Small.width(&end) + 2 * GAP + 20;
    if needed + Text::Body.width(&all.title) + 4 * GAP > wide {
        return;
    }
    let x = wide - needed;
    canvas.text([x, y + 3], Text::Small, words, FAINT);
    let bar = x + Text::Small.width(words) + 10;
    for k in 0..length {
        canvas.fill([bar + k, y + 5], [1, 18], ramp(k as f32 / length as f32));
    }
    canvas.text([bar + length + 10, y + 3], Text::Small, &end, FAINT);
}

/// Points from the lowest up, so that what is above hides what is below.
fn from_below(points: &[[f64; 3]]) -> Vec<u32> {
    let mut order: Vec<u32> = (0..points.len() as u32).collect();
    order.sort_by(|&a, &b| points[a as usize][2].total_cmp(&points[b as usize][2]));
    order
}

/// The whole cloud, each point in the color of its distance to the sample. Far points are drawn
/// last: none of them is hidden.
fn colored(plan: &Plan, all: &Panels<'_>, panel: &Panel<'_>, order: &[u32]) -> Canvas {
    let mut canvas = Canvas::new(plan.size[0], plan.size[1], GROUND);
    let scale = all.scale.max(f64::MIN_POSITIVE);
    let radius = plan.dot(all.points.len(), 0.7, 2.2);
    let alarming = |k: &&u32| panel.distances[**k as usize] > 0.5 * scale;
    let calm = order.iter().filter(|k| !alarming(k));
    for &k in calm.chain(order.iter().filter(alarming)) {
        if let Some([x, y]) = plan.project(all.points[k as usize]) {
            let share = panel.distances[k as usize] / scale;
            canvas.dot(x, y, radius, ramp(share as f32));
        }
    }
    canvas
}

/// The sample as dots over the faint cloud.
fn dotted(plan: &Plan, points: &[[f64; 3]], panel: &Panel<'_>, order: &[u32]) -> Canvas {
    let mut canvas = Canvas::new(plan.size[0], plan.size[1], GROUND);
    let faint = mix(GROUND, FAINT, 0.33);
    for &k in order {
        if let Some([x, y]) = plan.project(points[k as usize]) {
            canvas.dot(x, y, 1.0, faint);
        }
    }
    let accent = if panel.exact { EXACT } else { APPROXIMATE };
    let seen: Vec<_> = panel.sample.iter().filter_map(|place| plan.project(*place)).collect();
    let radius = plan.dot(seen.len(), 1.6, 4.0);
    for [x, y] in seen {
        canvas.dot(x, y, radius, accent);
    }
    canvas
}
