//! Axes: their range, the ticks of a logarithmic one, and how numbers at ticks are written.

use plotters::coord::combinators::{BindKeyPoints, LogCoord, WithKeyPoints};
use plotters::prelude::IntoLogRange;
use std::ops::Range;

/// One axis.
#[derive(Clone)]
pub(crate) struct Axis {
    /// Its name and unit.
    pub(crate) label: String,
    pub(crate) log: bool,
}

impl Axis {
    pub(crate) fn log(label: &str) -> Self {
        Self { label: label.into(), log: true }
    }

    pub(crate) fn linear(label: &str) -> Self {
        Self { label: label.into(), log: false }
    }

    /// A range that holds all values, with a little room. A linear axis begins at zero.
    pub(super) fn range(&self, values: impl Iterator<Item = f64>) -> Range<f64> {
        let values = values.filter(|v| v.is_finite() && (!self.log || *v > 0.0));
        let (low, high) = values
            .fold((f64::INFINITY, f64::NEG_INFINITY), |(low, high), v| (low.min(v), high.max(v)));
        if low > high {
            return 1.0..10.0;
        }
        if self.log {
            let room = (high / low).powf(0.06).max(1.12);
            return low / room..high * room;
        }
        let (low, high) = (low.min(0.0), high.max(0.0));
        low..high + 0.06 * (high - low).max(1e-12)
    }
}

/// A logarithmic range with round numbers at its ticks, at most `most` of them. The library's own
/// are whole powers of ten, of which a short axis has none.
pub(super) fn log_scale(range: Range<f64>, most: usize) -> WithKeyPoints<LogCoord<f64>> {
    let ticks = log_ticks(&range, most);
    range.log_scale().with_key_points(ticks)
}

fn log_ticks(range: &Range<f64>, most: usize) -> Vec<f64> {
    let (first, last) = (range.start.log10().floor() as i32, range.end.log10().ceil() as i32);
    let within = |every: i32, steps: &[f64]| -> Vec<f64> {
        let powers = (first..=last).filter(|e| e.rem_euclid(every) == 0);
        let all = powers.flat_map(|e| steps.iter().map(move |s| s * 10f64.powi(e)));
        all.filter(|tick| range.contains(tick)).collect()
    };
    [&[1.0, 1.5, 2.0, 3.0, 5.0, 7.0][..], &[1.0, 2.0, 5.0], &[1.0, 3.0], &[1.0]]
        .into_iter()
        .map(|steps| within(1, steps))
        .find(|ticks| ticks.len() <= most)
        .unwrap_or_else(|| within((last - first) / most.max(1) as i32 + 1, &[1.0]))
}

/// A number at a tick: 2000000 as 2M.
pub(super) fn short(value: f64) -> String {
    let (scaled, unit) = match value.abs() {
        v if v >= 1e6 => (value / 1e6, "M"),
        v if v >= 1e3 => (value / 1e3, "k"),
        v if v >= 1e-3 || v == 0.0 => (value, ""),
        _ => return format!("{value:.0e}"),
    };
    let digits = format!("{scaled:.3}");
    format!("{}{unit}", digits.trim_end_matches('0').trim_end_matches('.'))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ticks_are_round_and_inside() {
        assert_eq!(log_ticks(&(0.02..300.0), 4), [0.1, 1.0, 10.0, 100.0]);
        assert!(log_ticks(&(0.02..300.0), 12).len() > 4);
        assert_eq!(log_ticks(&(5e-7..2e6), 4), [1e-4, 1.0, 1e4]);
        assert_eq!(log_ticks(&(1.4..3.3), 9), [1.5, 2.0, 3.0]);
    }

    #[test]
    fn ranges_hold_what_has_a_place() {
        let log = Axis::log("").range([0.0, 3.0, f64::NAN, 200.0].into_iter());
        assert!(log.start > 2.0 && log.contains(&3.0) && log.contains(&200.0));
        let linear = Axis::linear("").range([3.0, 47.0].into_iter());
        assert!(linear.start == 0.0 && linear.contains(&47.0));
        assert!(!Axis::log("").range(std::iter::empty()).is_empty());
    }

    #[test]
    fn numbers_are_short() {
        let texts = [2e6, 0.05, 250_000.0, 1.0].map(short);
        assert_eq!(texts, ["2M", "0.05", "250k", "1"]);
    }
}
