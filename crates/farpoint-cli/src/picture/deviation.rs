//! A cloud, each point colored by its distance to another cloud, so that differences between two scans
//! stand out.

use super::canvas::{Canvas, GAP, Text, WIDE};
use super::color::{FAINT, INK, PAPER};
use super::legend::{COLOR_BAR, SCALE_BAR, color_bar, rounded_up, scale_bar};
use super::open::open;
use super::scene::Scene;
use super::shape::{Shape, Up};
use super::unit::Unit;
use super::view::View;
use crate::output::{count, number};
use anyhow::Result;

/// Input of the picture.
pub(crate) struct Deviation {
    pub(crate) points: Vec<[f64; 3]>,
    pub(crate) distances: Vec<f64>,
    /// Names of the two clouds.
    pub(crate) from: String,
    pub(crate) to: String,
    pub(crate) unit: Unit,
    /// Up axis; guessed if `None`.
    pub(crate) up: Option<Up>,
    /// Distance above which points are counted.
    pub(crate) threshold: Option<f64>,
}

/// Least and greatest height of the scene in pixels.
const SCENE: [f64; 2] = [480.0, 900.0];
const HEAD: usize = 122;

/// Share of the points within the color scale.
const WITHIN: f64 = 0.99;

/// Draws the picture; returns a PNG file.
pub(crate) fn deviation(deviation: &Deviation) -> Result<Vec<u8>> {
    let points = &deviation.points;
    let shape = Shape::of(points, deviation.up);
    let wide = WIDE - 2 * GAP;
    let high = (wide as f64 * View::form(points, &shape)).clamp(SCENE[0], SCENE[1]) as usize;
    let legend = HEAD + high + SCALE_BAR;
    let mut canvas = Canvas::new(WIDE, legend + COLOR_BAR, PAPER);
    let (shown, complete) = open(points, &shape);
    let scene = Scene::new(View::of(points, &shape, [wide, high]), points, &shown);
    let scale = scale(deviation);
    canvas.paste([GAP, HEAD], &scene.by_distance(&deviation.distances, scale));
    let bar = [GAP, HEAD + high + 2];
    scale_bar(&mut canvas, bar, wide, scene.view.pixels_per_unit(), deviation.unit);
    heads(&mut canvas, deviation, &shape, complete);
    let caption =
        format!("distance to the nearest point of {}, in {}", deviation.to, deviation.unit.name());
    let above = deviation.distances.iter().filter(|distance| **distance > scale).count();
    let beyond = format!("more: {} points", count(above));
    color_bar(&mut canvas, legend, scale, &caption, &beyond);
    canvas.png()
}

/// Returns the distance at the end of the color scale.
fn scale(deviation: &Deviation) -> f64 {
    let max = quantile(&deviation.distances, WITHIN);
    let max = if max > 0.0 { max } else { quantile(&deviation.distances, 1.0) };
    rounded_up(max.max(2.0 * deviation.threshold.unwrap_or(0.0)))
}

fn heads(canvas: &mut Canvas, deviation: &Deviation, shape: &Shape, complete: bool) {
    let distances = &deviation.distances;
    let mean = distances.iter().sum::<f64>() / distances.len().max(1) as f64;
    let max = distances.iter().fold(0.0, |a: f64, b| a.max(*b));
    let mut line = format!("{} points: mean {}, ", count(distances.len()), number(mean));
    if let Some(threshold) = deviation.threshold {
        let above = distances.iter().filter(|distance| **distance > threshold).count();
        line += &format!("{} above {threshold}, ", count(above));
    }
    line += &format!("largest {}", number(max));
    let wide = WIDE - 2 * GAP;
    let title = format!("{} against {}", deviation.from, deviation.to);
    canvas.text_within([GAP, 6], Text::Title, &title, INK, wide);
    canvas.text_within([GAP, 50], Text::Body, &line, INK, wide);
    canvas.text_within([GAP, 82], Text::Body, &shape.words(complete), FAINT, wide);
}

/// Returns the quantile `share` of the values.
fn quantile(values: &[f64], share: f64) -> f64 {
    let mut values = values.to_vec();
    if values.is_empty() {
        return 0.0;
    }
    let place = ((values.len() - 1) as f64 * share) as usize;
    *values.select_nth_unstable_by(place, f64::total_cmp).1
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quantiles() {
        assert_eq!(quantile(&[], 0.5), 0.0);
        assert_eq!(quantile(&[3.0, 1.0, 2.0], 0.5), 2.0);
        assert_eq!(quantile(&[3.0, 1.0, 2.0], 1.0), 3.0);
    }

    #[test]
    fn the_scale_follows_the_distances() {
        let of = |distances: Vec<f64>, threshold| {
            let points = vec![[0.0; 3]; distances.len()];
            let [from, to] = [String::new(), String::new()];
            scale(&Deviation {
                points,
                distances,
                from,
                to,
                unit: Unit::Unknown,
                up: None,
                threshold,
            })
        };
        let mut distances = vec![0.25; 995];
        distances.extend([90.0; 5]);
        assert_eq!(of(distances.clone(), None), 0.25);
        assert_eq!(of(distances, Some(3.0)), 6.0);
        let mut rare = vec![0.0; 999];
        rare.push(7.0);
        assert_eq!((of(rare, None), of(vec![0.0; 9], None)), (7.0, 0.0));
    }
}
