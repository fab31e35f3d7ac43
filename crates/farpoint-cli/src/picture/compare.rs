//! The demo's picture: a room scan, a random sample and a farthest point sample of it. Above the
//! whole room, colored by the distance to the nearest sample; below the samples themselves,
//! close enough to tell them apart.

use super::canvas::{Canvas, Color, FAINT, INK, PAPER, Text, mix};
use super::nearest;
use super::view::{Depths, View};
use crate::output::count;
use anyhow::Result;
use rayon::prelude::*;

/// What is compared.
pub(crate) struct Comparison<'a> {
    pub(crate) points: &'a [[f32; 3]],
    pub(crate) random: &'a [usize],
    pub(crate) farthest: &'a [usize],
    /// Covering radius of the random and of the farthest point sample.
    pub(crate) radius: [f64; 2],
}

const PANEL: usize = 660;
const ROOM: usize = 430;
const CLOSE: usize = 470;
const GAP: usize = 12;
const HEAD: usize = 84;
const LEGEND: usize = 44;

const ACCENT: [Color; 3] = [[0.86, 0.89, 0.94], [1.0, 0.62, 0.27], [0.33, 0.83, 0.95]];

/// Draws the picture; returns a PNG file.
pub(crate) fn compare(comparison: &Comparison<'_>) -> Result<Vec<u8>> {
    let points = comparison.points;
    let pick = |rows: &[usize]| rows.iter().map(|&row| points[row]).collect::<Vec<_>>();
    let samples = [points.to_vec(), pick(comparison.random), pick(comparison.farthest)];
    let open: Vec<_> = points.iter().copied().filter(|point| seen_from_above(*point)).collect();
    // Farthest point sampling stays in the lower half of the scale.
    let scale = 2.0 * comparison.radius[1] as f32;
    // Thin scans are drawn with larger squares and dots.
    let thin = (1e6 / points.len() as f32).sqrt().clamp(0.7, 6.0);
    let room = Scene::new(room_view(), &open, 0.035 * thin, 0.0);
    let close = Scene::new(close_view(), points, 0.025 * thin, 0.014);

    let width = 3 * PANEL + 4 * GAP;
    let height = HEAD + ROOM + LEGEND + CLOSE + GAP;
    let mut canvas = Canvas::new(width, height, PAPER);
    let panels: Vec<_> = samples
        .par_iter()
        .enumerate()
        .map(|(column, sample)| {
            let above = match column {
                0 => room.by_height(&open),
                _ => room.by_distance(&nearest::distances(&open, sample), scale),
            };
            let size = thin * if column == 0 { 0.0035 } else { 0.0065 };
            (above, close.dots(points, sample, ACCENT[column], size))
        })
        .collect();
    for (column, (above, below)) in panels.iter().enumerate() {
        let x = GAP + column * (PANEL + GAP);
        canvas.paste([x, HEAD], above);
        canvas.paste([x, HEAD + ROOM + LEGEND], below);
    }
    heads(&mut canvas, comparison);
    legend(&mut canvas, scale);
    canvas.png()
}

fn heads(canvas: &mut Canvas, comparison: &Comparison<'_>) {
    let radius = |k: usize| format!("largest gap {:.1} cm", 100.0 * comparison.radius[k]);
    let heads = [
        ("The scan", format!("{} points", count(comparison.points.len()))),
        ("Random", format!("{} points, {}", count(comparison.random.len()), radius(0))),
        ("Farthest point", format!("{} points, {}", count(comparison.farthest.len()), radius(1))),
    ];
    for (column, (title, body)) in heads.iter().enumerate() {
        let x = GAP + column * (PANEL + GAP);
        canvas.text([x + 4, 8], Text::Title, title, ACCENT[column]);
        canvas.text([x + 4, 46], Text::Body, body, INK);
    }
}

/// The strip between the rows: what is seen above and below, and the scale of the colors.
fn legend(canvas: &mut Canvas, scale: f32) {
    let y = HEAD + ROOM;
    canvas.text([GAP + 4, y + 11], Text::Small, "below: a close-up of the table", FAINT);
    let x = GAP + PANEL + GAP;
    let words = "distance to the nearest sample";
    canvas.text([x + 4, y + 11], Text::Small, words, FAINT);
    let bar = x + 4 + Text::Small.width(words) + 16;
    let length = 560;
    canvas.text([bar, y + 11], Text::Small, "0", FAINT);
    for k in 0..length {
        let color = ramp(k as f32 / length as f32);
        canvas.fill([bar + 20 + k, y + 13], [1, 18], color);
    }
    let most = format!("{:.0} cm and more", 100.0 * scale);
    canvas.text([bar + 28 + length, y + 11], Text::Small, &most, FAINT);
}

/// Without the ceiling and the two near walls.
fn seen_from_above(point: [f32; 3]) -> bool {
    point[2] < 2.6 && point[0] < 9.93 && point[1] > 0.05
}

fn room_view() -> View {
    View::new([10.6, -6.6, 9.6], [5.1, 3.75, 0.55], 900.0, [PANEL, ROOM])
}

fn close_view() -> View {
    View::new([4.95, 1.9, 1.72], [4.62, 3.95, 0.76], 940.0, [PANEL, CLOSE])
}

/// A camera and the depth image of the whole cloud from there.
struct Scene {
    view: View,
    depths: Depths,
    /// Jumps of depth, as a share of it, that are the squares' and not the scene's.
    rough: f32,
}

impl Scene {
    fn new(view: View, points: &[[f32; 3]], size: f32, rough: f32) -> Self {
        let depths = Depths::new(&view, points, size);
        Self { view, depths, rough }
    }

    /// The surface, each pixel in the color of the point seen there.
    fn surface(&self, color: impl Fn(usize) -> Color) -> Canvas {
        let mut canvas = Canvas::new(self.view.width, self.view.height, [0.02, 0.025, 0.035]);
        for y in 0..self.view.height {
            for x in 0..self.view.width {
                if let Some(point) = self.depths.point(x, y) {
                    let light = self.depths.light(x, y, self.rough);
                    canvas.blend(x, y, color(point).map(|value| value * light), 1.0);
                }
            }
        }
        canvas
    }

    fn by_height(&self, points: &[[f32; 3]]) -> Canvas {
        self.surface(|point| height_color(points[point][2]))
    }

    fn by_distance(&self, distances: &[f32], scale: f32) -> Canvas {
        self.surface(|point| ramp(distances[point] / scale))
    }

    /// The sample as dots on a dim image of the surface they were taken from.
    fn dots(&self, points: &[[f32; 3]], sample: &[[f32; 3]], color: Color, size: f32) -> Canvas {
        let mut canvas = self.surface(|point| height_color(points[point][2]).map(|v| v * 0.3));
        let mut seen: Vec<_> = sample
            .iter()
            .filter_map(|point| self.view.project(*point))
            .filter(|pixel| self.depths.sees(*pixel, 0.03))
            .collect();
        seen.sort_by(|a, b| b.depth.total_cmp(&a.depth));
        for pixel in seen {
            let radius = self.view.pixels(size, pixel.depth);
            // Far dots fade.
            let fade = (1.35 - 0.15 * pixel.depth).clamp(0.35, 1.0);
            canvas.dot(pixel.x, pixel.y, radius, mix(PAPER, color, fade));
        }
        canvas
    }
}

fn height_color(z: f32) -> Color {
    let stops = [[0.36, 0.42, 0.52], [0.55, 0.66, 0.72], [0.8, 0.84, 0.8], [0.93, 0.9, 0.82]];
    along(&stops, z / 2.6)
}

/// Calm up to half way, where farthest point sampling ends, then alarming.
pub(super) fn ramp(share: f32) -> Color {
    let stops = [
        [0.17, 0.36, 0.53],
        [0.19, 0.41, 0.57],
        [0.22, 0.48, 0.62],
        [0.27, 0.56, 0.66],
        [0.97, 0.83, 0.30],
        [0.96, 0.42, 0.13],
        [0.90, 0.06, 0.12],
    ];
    along(&stops, share)
}

/// The color at a share of the way along the stops.
fn along(stops: &[Color], share: f32) -> Color {
    let at = share.clamp(0.0, 1.0) * (stops.len() - 1) as f32;
    let k = (at as usize).min(stops.len() - 2);
    mix(stops[k], stops[k + 1], at - k as f32)
}
