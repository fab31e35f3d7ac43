//! Parallel projections, in which a scale bar is true everywhere, and the choice of one that shows the
//! whole cloud.

use super::shape::Shape;
use super::vector::dot;

/// Free margin around a cloud in pixels.
const MARGIN: f64 = 14.0;

/// A parallel projection of space onto an image.
#[derive(Clone, Debug)]
pub(super) struct View {
    /// Center of the cloud and half its longest side, which scale all numbers to about 1.
    middle: [f64; 3],
    reach: f64,
    /// Unit vectors to the right, upwards and towards the viewer.
    axes: [[f64; 3]; 3],
    /// Position at the center of the image, along the first two axes.
    center: [f64; 2],
    /// Pixels that `reach` spans.
    zoom: f64,
    pub(super) size: [usize; 2],
}

/// Projected position of a point in pixels; a smaller depth is nearer.
#[derive(Clone, Copy, Debug)]
pub(super) struct Pixel {
    pub(super) x: f32,
    pub(super) y: f32,
    pub(super) depth: f32,
}

impl View {
    /// Fits all points into the image, seen from the side that suits their shape.
    pub(super) fn of(points: &[[f64; 3]], shape: &Shape, size: [usize; 2]) -> Self {
        let mut view = Self {
            middle: shape.middle,
            reach: shape.reach,
            axes: shape.axes,
            center: [0.0; 2],
            zoom: 1.0,
            size,
        };
        let [low, high] = view.ends(points);
        view.center = [0, 1].map(|k| (low[k] + high[k]) / 2.0);
        view.zoom = [0, 1]
            .map(|k| (size[k] as f64 - 2.0 * MARGIN).max(1.0) / (high[k] - low[k]))
            .into_iter()
            .filter(|zoom| zoom.is_normal())
            .reduce(f64::min)
            .unwrap_or(1.0);
        view
    }

    /// Returns the part of this view around a pixel, magnified `times`.
    pub(super) fn closer(&self, middle: [f64; 2], times: f64, size: [usize; 2]) -> Self {
        let off = [0, 1].map(|k| (middle[k] - self.size[k] as f64 / 2.0) / self.zoom);
        let center = [self.center[0] + off[0], self.center[1] - off[1]];
        Self { center, zoom: self.zoom * times, size, ..self.clone() }
    }

    /// Returns the part around a point as seen from above (along z), magnified `times`.
    pub(super) fn above(&self, middle: [f64; 3], times: f64, size: [usize; 2]) -> Self {
        let axes = [[1.0, 0.0, 0.0], [0.0, 1.0, 0.0], [0.0, 0.0, 1.0]];
        let view = Self { axes, zoom: self.zoom * times, size, ..self.clone() };
        let [right, up, _] = view.along(middle);
        Self { center: [right, up], ..view }
    }

    /// Returns the ratio of height to width of the points in this view.
    pub(super) fn form(points: &[[f64; 3]], shape: &Shape) -> f64 {
        let [low, high] = Self::of(points, shape, [1, 1]).ends(points);
        let form = (high[1] - low[1]) / (high[0] - low[0]);
        if form.is_finite() { form } else { 1.0 }
    }

    /// Returns the least and greatest coordinate of all points along the image's axes.
    fn ends(&self, points: &[[f64; 3]]) -> [[f64; 2]; 2] {
        let mut ends = [[f64::INFINITY; 2], [f64::NEG_INFINITY; 2]];
        for point in points {
            let [right, up, _] = self.along(*point);
            for (k, value) in [right, up].into_iter().enumerate() {
                ends[0][k] = ends[0][k].min(value);
                ends[1][k] = ends[1][k].max(value);
            }
        }
        if points.is_empty() { [[0.0; 2]; 2] } else { ends }
    }

    /// Returns a point along the image's axes, in units of `reach`.
    fn along(&self, point: [f64; 3]) -> [f64; 3] {
        let local: [f64; 3] =
            std::array::from_fn(|axis| (point[axis] - self.middle[axis]) / self.reach);
        self.axes.map(|axis| dot(axis, local))
    }

    /// Returns the pixel of a point, which may lie outside of the image.
    pub(super) fn project(&self, point: [f64; 3]) -> Pixel {
        let [right, up, toward] = self.along(point);
        let x = self.size[0] as f64 / 2.0 + (right - self.center[0]) * self.zoom;
        let y = self.size[1] as f64 / 2.0 - (up - self.center[1]) * self.zoom;
        Pixel { x: x as f32, y: y as f32, depth: (-toward * self.zoom) as f32 }
    }

    /// Returns whether a pixel is in the image.
    pub(super) fn holds(&self, pixel: Pixel) -> bool {
        let inside = |at: f32, end: usize| at >= 0.0 && at < end as f32;
        inside(pixel.x, self.size[0]) && inside(pixel.y, self.size[1])
    }

    /// Returns the pixels per unit of the cloud.
    pub(super) fn pixels_per_unit(&self) -> f64 {
        self.zoom / self.reach
    }

    /// Returns two corners of this view as pixels of another view from the same side.
    pub(super) fn corners_in(&self, other: &Self) -> [[f32; 2]; 2] {
        let corner = |sign: f64| {
            [0, 1].map(|k| {
                let turn = if k == 0 { 1.0 } else { -1.0 };
                let half = self.size[k] as f64 / 2.0 / self.zoom * other.zoom;
                let middle = (self.center[k] - other.center[k]) * turn * other.zoom;
                (middle + other.size[k] as f64 / 2.0 + sign * half) as f32
            })
        };
        [corner(-1.0), corner(1.0)]
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::picture::shape::tests::corners;

    /// Boxes of any form, far from the origin or not, tiny or huge: all points and all corners of the
    /// box lie within the margin.
    #[test]
    fn everything_is_seen() {
        let sides = [[1.0, 1.0, 1.0], [930.0, 510.0, 1600.0], [9.0, 1e-3, 2.0], [0.0, 0.0, 5.0]];
        let offsets = [[0.0; 3], [637_000.0, 5e6, -100.0], [-3.0, 0.04, 1e9]];
        for (side, offset) in sides.iter().flat_map(|s| offsets.iter().map(move |o| (s, o))) {
            for factor in [1e-9, 1.0, 1e100] {
                let place = |unit: [f64; 3]| -> [f64; 3] {
                    std::array::from_fn(|k| (offset[k] + unit[k] * side[k]) * factor)
                };
                let inner = farpoint_generate::cube(500, 3).into_iter().map(|p| p.map(f64::from));
                let mut points: Vec<_> = inner.map(place).collect();
                points.extend(corners([0.0; 3], [1.0; 3]).map(place));
                let shape = Shape::of(&points, None);
                for size in [[470, 300], [300, 470], [976, 560]] {
                    let view = View::of(&points, &shape, size);
                    for point in &points {
                        let Pixel { x, y, .. } = view.project(*point);
                        let within = |at: f32, end: usize| at > 10.0 && at < end as f32 - 10.0;
                        assert!(within(x, size[0]) && within(y, size[1]), "{shape:?} {x} {y}");
                    }
                }
            }
        }
    }

    /// As large as it fits: on two sides only the margin is left.
    #[test]
    fn nothing_is_wasted() {
        let points = farpoint_generate::sphere(2000, 1).into_iter().map(|p| p.map(f64::from));
        let points: Vec<_> = points.collect();
        let view = View::of(&points, &Shape::of(&points, None), [400, 300]);
        let high = points.iter().map(|point| view.project(*point).y).fold(0.0, f32::max);
        assert!((high - (300.0 - MARGIN as f32)).abs() < 0.01, "{high}");
        let unit = view.pixels_per_unit();
        assert!((130.0..140.0).contains(&unit), "a sphere of radius 1 spans 272 pixels: {unit}");
    }

    #[test]
    fn a_closer_view_shows_the_place() {
        let points = corners([0.0; 3], [100.0, 60.0, 2.0]);
        let view = View::of(&points, &Shape::of(&points, None), [400, 300]);
        let close = view.closer([100.0, 80.0], 4.0, [200, 100]);
        let [low, high] = close.corners_in(&view);
        assert_eq!(([low, high]), [[75.0, 67.5], [125.0, 92.5]]);
        assert!((close.pixels_per_unit() / view.pixels_per_unit() - 4.0).abs() < 1e-9);
    }
}
