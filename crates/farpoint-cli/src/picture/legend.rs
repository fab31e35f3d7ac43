//! Legends: a scale bar of a round length, and a color bar with numbers.

use super::canvas::{Canvas, GAP, Text};
use super::color::{FAINT, INK, PAPER};
use super::ramp::{BEYOND, ramp};
use super::unit::{Unit, plain};

/// Greatest length of a scale bar as a share of the image.
const LONGEST: f64 = 0.33;

/// Height of the color bar with caption and numbers.
pub(super) const COLOR_BAR: usize = 96;
const THICK: usize = 24;

/// Least distance between numbers of the color bar, in pixels.
const NUMBERS: f64 = 110.0;

/// Height of a scale bar with its text.
pub(super) const SCALE_BAR: usize = 38;

/// Draws a scale bar for an image of this width, its upper left corner at the position.
pub(super) fn scale_bar(
    canvas: &mut Canvas,
    [x, y]: [usize; 2],
    wide: usize,
    pixels_per_unit: f64,
    unit: Unit,
) {
    let length = round_below(LONGEST * wide as f64 / pixels_per_unit);
    let pixels = (length * pixels_per_unit).round() as usize;
    if pixels == 0 || pixels > wide {
        return;
    }
    let label = unit.length(length);
    canvas.shade([x, y], [pixels + Text::Body.width(&label) + 24, SCALE_BAR - 4], PAPER, 0.8);
    canvas.fill([x + 4, y + 15], [pixels, 4], INK);
    for end in [x + 4, x + pixels] {
        canvas.fill([end, y + 9], [4, 16], INK);
    }
    canvas.text([x + pixels + 16, y + 3], Text::Body, &label, INK);
}

/// Draws the color legend: a caption, the bar, and numbers below; an arrow marks values beyond the end.
pub(super) fn color_bar(canvas: &mut Canvas, y: usize, scale: f64, caption: &str, beyond: &str) {
    canvas.text_within([GAP, y], Text::Body, caption, INK, canvas.width - 2 * GAP);
    let (top, arrow) = (y + 34, THICK / 2 + 4);
    let wide = canvas.width - 3 * GAP - arrow - Text::Body.width(beyond);
    for k in 0..wide {
        canvas.fill([GAP + k, top], [1, THICK], ramp(k as f32 / (wide - 1) as f32));
    }
    for k in 0..arrow {
        let cut = (k * THICK / 2 / arrow).min(THICK / 2 - 1);
        canvas.fill([GAP + wide + 2 + k, top + cut], [1, THICK - 2 * cut], BEYOND);
    }
    canvas.text([2 * GAP + wide + arrow, top - 2], Text::Body, beyond, INK);
    for tick in ticks(scale, wide as f64 / NUMBERS) {
        let x = GAP + (tick / scale * (wide - 2) as f64) as usize;
        canvas.fill([x, top + THICK], [2, 5], FAINT);
        let text = plain(tick);
        let x = (x + 1).saturating_sub(Text::Body.width(&text) / 2).max(GAP);
        canvas.text([x, top + THICK + 5], Text::Body, &text, INK);
    }
}

/// Returns round numbers from 0 to the end, at most `steps` steps; only 0 if there is no end.
fn ticks(scale: f64, steps: f64) -> Vec<f64> {
    if !scale.is_normal() {
        return vec![0.0];
    }
    let mut step = round_below(scale / steps);
    while scale / step > steps {
        step = round_above(step * 1.01);
    }
    (0..=(scale / step + 1e-9) as usize).map(|k| k as f64 * step).collect()
}

/// Rounds a positive value down to 1, 2, 5, 10, 20, ...
fn round_below(value: f64) -> f64 {
    let power = 10f64.powf(value.log10().floor());
    let fits = |factor: &f64| factor * power <= value * (1.0 + 1e-9);
    [5.0, 2.0, 1.0].into_iter().find(fits).unwrap_or(1.0) * power
}

/// Rounds a positive value up to 1, 2, 5, 10, 20, ...
fn round_above(value: f64) -> f64 {
    let below = round_below(value);
    let next = [2.0, 2.5, 5.0].map(|factor| below * factor);
    match below >= value * (1.0 - 1e-9) {
        true => below,
        false => next.into_iter().find(|n| *n >= value && round_below(*n) == *n).unwrap_or(value),
    }
}

/// Rounds a value up to two digits, as the end of a color scale.
pub(super) fn rounded_up(value: f64) -> f64 {
    if !value.is_normal() {
        return 0.0;
    }
    let unit = 10f64.powf(value.log10().floor() - 1.0);
    (value / unit * (1.0 - 1e-9)).ceil() * unit
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn round_lengths() {
        for (value, expected) in [(1.0, 1.0), (1.99, 1.0), (0.049, 0.02), (730.0, 500.0)] {
            assert!((round_below(value) / expected - 1.0f64).abs() < 1e-9, "{value}");
        }
        for (value, expected) in [(1.0, 1.0), (1.01, 2.0), (2.02, 5.0), (0.051, 0.1)] {
            assert!((round_above(value) / expected - 1.0f64).abs() < 1e-9, "{value}");
        }
        for (value, expected) in [(0.3817, 0.39), (12.0, 12.0), (0.0, 0.0), (f64::INFINITY, 0.0)] {
            assert!((rounded_up(value) - expected).abs() < 1e-9, "{value}");
        }
    }

    #[test]
    fn numbers_at_the_color_bar() {
        let labels = |scale, steps| ticks(scale, steps).into_iter().map(plain).collect::<Vec<_>>();
        assert_eq!(labels(0.39, 5.0), ["0", "0.1", "0.2", "0.3"]);
        assert_eq!(labels(12.0, 7.0), ["0", "2", "4", "6", "8", "10", "12"]);
        assert_eq!(labels(0.0, 7.0), ["0"]);
        for scale in [1e-300, 3.7e-9, 0.1, 17.0, 1e300] {
            let ticks = ticks(scale, 6.0);
            assert!((2..=7).contains(&ticks.len()) && ticks.iter().all(|t| *t <= scale * 1.001));
        }
    }

    /// The bar has the length of its label.
    #[test]
    fn a_scale_bar_is_true() {
        let mut image = Canvas::new(400, 200, PAPER);
        scale_bar(&mut image, [30, 20], 400, 37.0, Unit::Meters);
        // At most 132 pixels: 2 m are 74.
        let bar = (0..400).take_while(|x| *x < 110).filter(|x| image.pixel(*x, 37) == INK).count();
        assert_eq!(bar, 74);
    }
}
