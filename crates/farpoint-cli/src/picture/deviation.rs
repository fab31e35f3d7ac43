//! A cloud seen from above and aside, each point in the color of its distance to another
//! cloud: a person sees at a glance where two scans differ.

use super::canvas::{Canvas, FAINT, INK, PAPER, Text};
use super::compare::ramp;
use super::view::{Depths, View};
use crate::output::{count, number};
use anyhow::Result;

/// What is drawn.
pub(crate) struct Deviation {
    pub(crate) points: Vec<[f64; 3]>,
    pub(crate) distances: Vec<f64>,
    pub(crate) title: String,
    /// The distance from which colors are alarming; chosen by the distances if there is none.
    pub(crate) threshold: Option<f64>,
}

const SIZE: [usize; 2] = [1600, 1000];
const HEAD: usize = 84;
const LEGEND: usize = 48;
const GAP: usize = 16;

/// Without a threshold, this share of the points is drawn in calm colors.
const CALM: f64 = 0.9;

/// Jumps of depth, as a share of it, that are the squares' and not the scene's.
const ROUGH: f32 = 0.01;

/// Draws the picture; returns a PNG file.
pub(crate) fn deviation(deviation: &Deviation) -> Result<Vec<u8>> {
    let scale = 2.0 * deviation.threshold.unwrap_or_else(|| quantile(&deviation.distances, CALM));
    let mut canvas = Canvas::new(SIZE[0], SIZE[1], PAPER);
    if let Some(frame) = Frame::around(&deviation.points) {
        canvas.paste([0, HEAD], &scene(&frame, deviation, scale));
    }
    let mean = deviation.distances.iter().sum::<f64>() / deviation.distances.len().max(1) as f64;
    let most = deviation.distances.iter().fold(0.0, |a: f64, b| a.max(*b));
    let points = count(deviation.points.len());
    let body = format!("{points} points, mean {}, largest {}", number(mean), number(most));
    canvas.text([GAP, 8], Text::Title, &deviation.title, INK);
    canvas.text([GAP, 46], Text::Body, &body, FAINT);
    legend(&mut canvas, scale);
    canvas.png()
}

fn scene(frame: &Frame, deviation: &Deviation, scale: f64) -> Canvas {
    let size = [SIZE[0], SIZE[1] - HEAD - LEGEND];
    let view = frame.view(size);
    let points: Vec<[f32; 3]> = deviation.points.iter().map(|point| frame.local(*point)).collect();
    // Squares as wide as points on a surface are apart.
    let depths = Depths::new(&view, &points, 2.5 / (points.len() as f32).sqrt());
    let mut canvas = Canvas::new(size[0], size[1], [0.02, 0.025, 0.035]);
    for y in 0..size[1] {
        for x in 0..size[0] {
            if let Some(point) = depths.point(x, y) {
                let share = deviation.distances[point] / scale.max(f64::MIN_POSITIVE);
                let light = depths.light(x, y, ROUGH);
                canvas.blend(x, y, ramp(share as f32).map(|value| value * light), 1.0);
            }
        }
    }
    canvas
}

fn legend(canvas: &mut Canvas, scale: f64) {
    let y = SIZE[1] - LEGEND + 12;
    let words = "distance to the nearest point";
    canvas.text([GAP, y], Text::Small, words, FAINT);
    let (bar, length) = (GAP + Text::Small.width(words) + 24, 700);
    canvas.text([bar, y], Text::Small, "0", FAINT);
    for k in 0..length {
        canvas.fill([bar + 20 + k, y + 2], [1, 18], ramp(k as f32 / length as f32));
    }
    let most = format!("{} and more", number(scale));
    canvas.text([bar + 28 + length, y], Text::Small, &most, FAINT);
}

/// Where the cloud is and how large: a few outliers don't count.
struct Frame {
    middle: [f64; 3],
    /// Half the longest side.
    reach: f64,
}

impl Frame {
    /// `None` for no points.
    fn around(points: &[[f64; 3]]) -> Option<Self> {
        if points.is_empty() {
            return None;
        }
        let ends: [[f64; 2]; 3] = std::array::from_fn(|axis| {
            let values: Vec<f64> = points.iter().map(|point| point[axis]).collect();
            [quantile(&values, 0.02), quantile(&values, 0.98)]
        });
        let reach = ends.iter().fold(0.0, |most: f64, [low, high]| most.max((high - low) / 2.0));
        let middle = ends.map(|[low, high]| low + (high - low) / 2.0);
        Some(Self { middle, reach: if reach > 0.0 { reach } else { 1.0 } })
    }

    /// A point relative to the frame, which becomes two units wide.
    fn local(&self, point: [f64; 3]) -> [f32; 3] {
        std::array::from_fn(|axis| ((point[axis] - self.middle[axis]) / self.reach) as f32)
    }

    /// From the front, above and a little aside.
    fn view(&self, [wide, high]: [usize; 2]) -> View {
        let focal = 1.35 * wide.min(high) as f32;
        View::new([1.2, -2.4, 2.1], [0.0, 0.0, -0.05], focal, [wide, high])
    }
}

/// The value that this share of the values is not above.
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
    use super::quantile;

    #[test]
    fn quantiles() {
        assert_eq!(quantile(&[], 0.5), 0.0);
        assert_eq!(quantile(&[3.0, 1.0, 2.0], 0.5), 2.0);
        assert_eq!(quantile(&[3.0, 1.0, 2.0], 1.0), 3.0);
    }
}
