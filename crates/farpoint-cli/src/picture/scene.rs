//! A cloud seen from one side: visible points, found through a depth image, and shading that shows
//! forms.

use super::canvas::Canvas;
use super::color::{Color, GROUND, INK, mix};
use super::ramp::ramp;
use super::view::{Pixel, View};
use rayon::prelude::*;

/// Least and greatest diameter of the disc of a point, in pixels.
const LEAST: f32 = 2.6;
const MOST: f32 = 14.0;

/// Sides of the squares by which the area that points and samples cover is measured, in pixels.
const SQUARE: usize = 6;
const WIDE_SQUARE: usize = 24;

/// A point this many diameters behind the surface still belongs to it.
const SLACK: f32 = 3.0;

/// Share of the scale from which hidden points shine through, and their opacity.
const ALARMING: f64 = 0.5;
const HIDDEN: f32 = 0.4;

/// A cloud, a view of it, and its depth image.
pub(super) struct Scene {
    pub(super) view: View,
    /// Pixel of each point of the cloud; `None` outside of the image.
    pixels: Vec<Option<Pixel>>,
    /// Depth of the nearest point at each pixel.
    nearest: Vec<f32>,
    light: Vec<f32>,
    /// Diameter of a point.
    point: f32,
}

impl Scene {
    /// Computes the depth image; only points in `shown` hide others.
    pub(super) fn new(view: View, points: &[[f64; 3]], shown: &[bool]) -> Self {
        let pixel = |point: &[f64; 3]| Some(view.project(*point)).filter(|at| view.holds(*at));
        let pixels: Vec<_> = points.par_iter().map(pixel).collect();
        let front: Vec<Pixel> = pixels
            .iter()
            .zip(shown)
            .filter(|(_, shown)| **shown)
            .filter_map(|(at, _)| *at)
            .collect();
        let point = diameter(&view, &front);
        let mut nearest = vec![f32::INFINITY; view.size[0] * view.size[1]];
        for pixel in front {
            disc(&view, pixel, point, |at, _| nearest[at] = nearest[at].min(pixel.depth));
        }
        let mut scene = Self { view, pixels, nearest, light: Vec::new(), point };
        scene.light =
            (0..scene.nearest.len()).into_par_iter().map(|at| scene.light_at(at)).collect();
        scene
    }

    /// Draws each point in the color of its distance, the farthest last. Hidden points are drawn only if
    /// far from all samples: these shine through.
    pub(super) fn by_distance(&self, distances: &[f64], scale: f64) -> Canvas {
        let share = |row: usize| if scale > 0.0 { distances[row] / scale } else { 0.0 };
        let mut order: Vec<usize> =
            (0..self.pixels.len()).filter(|row| self.pixels[*row].is_some()).collect();
        order.par_sort_by(|&a, &b| distances[a].total_cmp(&distances[b]));
        let mut canvas = self.canvas();
        for row in order {
            let share = share(row);
            let hidden = if share > ALARMING { HIDDEN } else { 0.0 };
            self.draw(&mut canvas, row, ramp(share as f32), hidden);
        }
        canvas
    }

    /// Draws the points, dim, on a dimmer surface.
    fn faint(&self) -> Canvas {
        let mut canvas = self.canvas();
        let wide = self.view.size[0];
        let surface = mix(GROUND, INK, 0.14);
        for at in (0..self.light.len()).filter(|at| self.nearest[*at].is_finite()) {
            let color = surface.map(|value| value * self.light[at]);
            canvas.blend(at % wide, at / wide, color, 1.0);
        }
        for pixel in self.pixels.iter().flatten().filter(|pixel| self.in_front(**pixel)) {
            canvas.dot(pixel.x, pixel.y, 1.2, mix(GROUND, INK, 0.34));
        }
        canvas
    }

    /// Draws the samples as dots of this radius on the points they were chosen from.
    pub(super) fn dots(&self, sample: &[[f64; 3]], color: Color, radius: f32) -> Canvas {
        let mut canvas = self.faint();
        for Pixel { x, y, .. } in self.seen(sample) {
            canvas.dot(x, y, radius + 1.0, GROUND);
            canvas.dot(x, y, radius, color);
        }
        canvas
    }

    /// Returns a dot radius with which a sample covers about a third of its area.
    pub(super) fn dot(&self, sample: &[[f64; 3]]) -> f32 {
        (0.3 * apart(&self.view, &self.seen(sample), WIDE_SQUARE)).clamp(2.0, 6.0)
    }

    /// Returns the pixels of the samples that are in the image and not hidden.
    fn seen(&self, sample: &[[f64; 3]]) -> Vec<Pixel> {
        let pixels = sample.iter().map(|place| self.view.project(*place));
        pixels.filter(|at| self.view.holds(*at) && self.in_front(*at)).collect()
    }

    fn canvas(&self) -> Canvas {
        Canvas::new(self.view.size[0], self.view.size[1], GROUND)
    }

    /// Draws a point, blended by the share `hidden` where it is hidden.
    fn draw(&self, canvas: &mut Canvas, row: usize, color: Color, hidden: f32) {
        let Some(pixel) = self.pixels[row] else { return };
        let wide = self.view.size[0];
        disc(&self.view, pixel, self.point, |at, cover| {
            let front = pixel.depth <= self.nearest[at] + SLACK * self.point;
            let strength = if front { 1.0 } else { hidden };
            let lit = color.map(|value| value * self.light[at]);
            canvas.blend(at % wide, at / wide, lit, cover * strength);
        });
    }

    /// Returns whether a pixel is visible, up to [`SLACK`].
    fn in_front(&self, pixel: Pixel) -> bool {
        let at = pixel.y as usize * self.view.size[0] + pixel.x as usize;
        pixel.depth <= self.nearest[at] + SLACK * self.point
    }

    /// Returns the light at a pixel, at most 1: less on surfaces turned away from a lamp at the upper left,
    /// and beside nearer surfaces (eye-dome lighting, after C. Boucheny).
    fn light_at(&self, at: usize) -> f32 {
        let here = self.nearest[at];
        if here.is_infinite() {
            return 1.0;
        }
        let reach = (1.5 * self.point).max(3.0);
        let near = |dx: f32, dy: f32| self.depth_at(at, (dx * reach) as i32, (dy * reach) as i32);
        let around = [(-1.0, 0.0), (1.0, 0.0), (0.0, -1.0), (0.0, 1.0)];
        let mut shade = 0.0;
        for (dx, dy) in
            around.into_iter().chain([(-0.7, -0.7), (0.7, 0.7), (0.7, -0.7), (-0.7, 0.7)])
        {
            let step = near(dx, dy).map_or(0.0, |there| (here - there) / reach - 2.0);
            shade += step.clamp(0.0, 6.0) / 6.0;
        }
        let slope = |[a, b]: [Option<f32>; 2]| match (a, b) {
            (Some(a), Some(b)) => ((b - a) / (2.0 * reach)).clamp(-2.0, 2.0),
            _ => 0.0,
        };
        let right = slope([near(-1.0, 0.0), near(1.0, 0.0)]);
        let down = slope([near(0.0, -1.0), near(0.0, 1.0)]);
        let length = (right * right + down * down + 1.0).sqrt();
        let lamp = (0.7 - 0.4 * right - 0.6 * down) / length;
        (0.62 + 0.38 * (lamp / 0.8).clamp(0.0, 1.0)) * (1.0 - 0.16 * shade).max(0.4)
    }

    /// Returns the depth at a neighbor of a pixel, if there is a surface.
    fn depth_at(&self, at: usize, dx: i32, dy: i32) -> Option<f32> {
        let [wide, high] = self.view.size;
        let x = (at % wide).checked_add_signed(dx as isize).filter(|x| *x < wide)?;
        let y = (at / wide).checked_add_signed(dy as isize).filter(|y| *y < high)?;
        Some(self.nearest[y * wide + x]).filter(|depth| depth.is_finite())
    }
}

/// Calls `put` with each pixel of a disc and its covered share.
fn disc(view: &View, at: Pixel, diameter: f32, mut put: impl FnMut(usize, f32)) {
    let radius = diameter / 2.0;
    let range = |middle: f32, end: usize| {
        let first = (middle - radius).max(0.0) as usize;
        first..=((middle + radius) as usize).min(end - 1)
    };
    for y in range(at.y, view.size[1]) {
        for x in range(at.x, view.size[0]) {
            let (dx, dy) = (x as f32 + 0.5 - at.x, y as f32 + 0.5 - at.y);
            let inside = radius + 0.5 - (dx * dx + dy * dy).sqrt();
            if inside > 0.0 {
                put(y * view.size[0] + x, inside.min(1.0));
            }
        }
    }
}

/// Returns the distance of points spread evenly over the squares of this side that they fill, in pixels.
fn apart(view: &View, pixels: &[Pixel], side: usize) -> f32 {
    let columns = view.size[0].div_ceil(side);
    let mut filled = vec![false; columns * view.size[1].div_ceil(side)];
    for pixel in pixels {
        filled[pixel.y as usize / side * columns + pixel.x as usize / side] = true;
    }
    let squares = filled.iter().filter(|filled| **filled).count();
    ((squares * side * side) as f32 / pixels.len().max(1) as f32).sqrt()
}

/// Returns a disc diameter with which discs nearly close a surface.
fn diameter(view: &View, pixels: &[Pixel]) -> f32 {
    (2.5 * apart(view, pixels, SQUARE)).clamp(LEAST, MOST)
}
