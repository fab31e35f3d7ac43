//! A cloud colored by height, for browsers that cannot draw the page's cloud, and the direction from
//! which it is seen first.

use super::canvas::{Canvas, GAP, WIDE};
use super::color::PAPER;
use super::open::open;
use super::scene::Scene;
use super::shape::{Shape, Up};
use super::view::View;
use anyhow::Result;

/// A picture and its view.
pub(crate) struct Still {
    pub(crate) png: Vec<u8>,
    /// Direction from the cloud to the viewer.
    pub(crate) toward: [f64; 3],
    /// Index of the up axis.
    pub(crate) up: usize,
}

/// Least and greatest height of the picture in pixels.
const HIGH: [f64; 2] = [300.0, 620.0];

/// Component of the direction along one axis above which a cloud is seen face on.
const FACE_ON: f64 = 0.99;

/// Draws points with finite coordinates; the up axis is guessed if `None`.
pub(crate) fn still(points: &[[f64; 3]], up: Option<Up>) -> Result<Still> {
    let shape = Shape::of(points, up);
    let wide = WIDE / 2;
    let high = (wide as f64 * View::form(points, &shape)).clamp(HIGH[0], HIGH[1]) as usize;
    let axis = upward(&shape, up);
    let (shown, _) = open(points, &shape);
    let scene = Scene::new(View::of(points, &shape, [wide, high]), points, &shown);
    let ends = shape.ends[axis];
    let heights: Vec<f64> = points.iter().map(|point| point[axis] - ends[0]).collect();
    let mut canvas = Canvas::new(wide + 2 * GAP, high + 2 * GAP, PAPER);
    // Twice the height: what is high must not shine through what hides it.
    canvas.paste([GAP, GAP], &scene.by_distance(&heights, 2.0 * (ends[1] - ends[0])));
    Ok(Still { png: canvas.png()?, toward: shape.axes[2], up: axis })
}

/// Returns the axis about which the viewer turns the cloud.
fn upward(shape: &Shape, up: Option<Up>) -> usize {
    let [_, above, toward] = shape.axes;
    match up {
        Some(Up::X) => 0,
        Some(Up::Y) => 1,
        Some(Up::Z) => 2,
        // Seen from above, as a map.
        None if toward[2].abs() > FACE_ON => 2,
        None => (0..3).max_by(|a, b| above[*a].abs().total_cmp(&above[*b].abs())).unwrap_or(2),
    }
}
