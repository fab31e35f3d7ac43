//! Axes: positions of values, ticks, and their labels.

use plotters::coord::ranged1d::{DefaultFormatting, KeyPointHint, Ranged};
use std::ops::Range;

/// One axis.
#[derive(Clone)]
pub(crate) struct Axis {
    /// Name and unit.
    pub(crate) label: String,
    scale: Scale,
    /// Values that it must include, so that panels can be compared.
    held: Vec<f64>,
}

#[derive(Clone, Copy)]
enum Scale {
    Log,
    /// Percent up to 100, as far from it as its logarithm: 0, 90, 99, 99.9.
    Nines,
}

/// A range of positions with its ticks.
pub(super) struct Ticked {
    range: Range<f64>,
    ticks: Vec<f64>,
}

impl Ticked {
    /// Returns the largest width of the labels at the ticks.
    pub(super) fn widest(&self, width: impl Fn(f64) -> i32) -> i32 {
        self.ticks.iter().map(|tick| width(*tick)).max().unwrap_or(0)
    }
}

impl Ranged for Ticked {
    type FormatOption = DefaultFormatting;
    type ValueType = f64;

    fn map(&self, place: &f64, (start, end): (i32, i32)) -> i32 {
        let share = (place - self.range.start) / (self.range.end - self.range.start);
        start + (f64::from(end - start) * share).round() as i32
    }

    fn key_points<Hint: KeyPointHint>(&self, _: Hint) -> Vec<f64> {
        self.ticks.clone()
    }

    fn range(&self) -> Range<f64> {
        self.range.clone()
    }
}

/// Maximum position of a share: 99.9999 %.
const MOST_NINES: f64 = 6.0;

impl Axis {
    pub(crate) fn log(label: &str) -> Self {
        Self::new(label, Scale::Log)
    }

    pub(crate) fn nines(label: &str) -> Self {
        Self::new(label, Scale::Nines)
    }

    fn new(label: &str, scale: Scale) -> Self {
        Self { label: label.into(), scale, held: Vec::new() }
    }

    /// Extends the axis to include these values.
    pub(crate) fn holding(self, values: impl IntoIterator<Item = f64>) -> Self {
        Self { held: values.into_iter().collect(), ..self }
    }

    /// Returns the position of a value; `None` if it has none.
    pub(super) fn place(&self, value: f64) -> Option<f64> {
        let place = match self.scale {
            Scale::Log => value.log10(),
            Scale::Nines => (-(1.0 - value / 100.0).log10()).min(MOST_NINES),
        };
        place.is_finite().then_some(place)
    }

    /// Returns the range of the positions of all values, with a little room.
    pub(super) fn range(&self, values: impl Iterator<Item = f64>) -> Range<f64> {
        let places = values.chain(self.held.iter().copied()).filter_map(|v| self.place(v));
        let (low, high) = places
            .fold((f64::INFINITY, f64::NEG_INFINITY), |(low, high), v| (low.min(v), high.max(v)));
        if low > high {
            return 0.0..1.0;
        }
        let room = (0.05 * (high - low)).max(0.05);
        low - room..high + room
    }

    /// Adds ticks at round numbers to a range, at most `max_ticks` of them.
    pub(super) fn ticked(&self, range: Range<f64>, max_ticks: usize) -> Ticked {
        let ticks = match self.scale {
            Scale::Log => log_ticks(&range, max_ticks),
            Scale::Nines => {
                let (first, last) = (range.start.ceil() as i32, range.end.floor() as i32);
                (first..=last).map(f64::from).collect()
            }
        };
        Ticked { range, ticks }
    }

    /// Returns the label at a position.
    pub(super) fn text(&self, place: f64) -> String {
        match self.scale {
            Scale::Log => short(10f64.powf(place)),
            Scale::Nines => {
                let digits = (place.round() as usize).saturating_sub(2);
                format!("{:.digits$}", 100.0 - 10f64.powf(2.0 - place))
            }
        }
    }
}

/// Returns the logarithms of round numbers.
fn log_ticks(range: &Range<f64>, max_ticks: usize) -> Vec<f64> {
    let (first, last) = (range.start.floor() as i32, range.end.ceil() as i32);
    let within = |every: i32, steps: &[f64]| -> Vec<f64> {
        let powers = (first..=last).filter(|e| e.rem_euclid(every) == 0);
        let all = powers.flat_map(|e| steps.iter().map(move |s| s.log10() + f64::from(e)));
        all.filter(|tick| range.contains(tick)).collect()
    };
    [&[1.0, 1.5, 2.0, 3.0, 5.0, 7.0][..], &[1.0, 2.0, 5.0], &[1.0, 3.0], &[1.0]]
        .into_iter()
        .map(|steps| within(1, steps))
        .find(|ticks| ticks.len() <= max_ticks)
        .unwrap_or_else(|| within((last - first) / max_ticks.max(1) as i32 + 1, &[1.0]))
}

/// Formats a number at a tick: 2000000 as 2M.
fn short(value: f64) -> String {
    let (scaled, unit) = match value.abs() {
        v if v > 0.9995e6 => (value / 1e6, "M"),
        v if v > 0.9995e3 => (value / 1e3, "k"),
        v if v > 0.9995e-3 || v == 0.0 => (value, ""),
        _ => return format!("{value:.0e}"),
    };
    let digits = format!("{scaled:.3}");
    format!("{}{unit}", digits.trim_end_matches('0').trim_end_matches('.'))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ticks(low: f64, high: f64, max_ticks: usize) -> Vec<String> {
        let axis = Axis::log("");
        let ticks = log_ticks(&(low.log10()..high.log10()), max_ticks);
        ticks.into_iter().map(|tick| axis.text(tick)).collect()
    }

    #[test]
    fn ticks_are_round_and_inside() {
        assert_eq!(ticks(0.02, 300.0, 4), ["0.1", "1", "10", "100"]);
        assert!(ticks(0.02, 300.0, 12).len() > 4);
        assert_eq!(ticks(5e-7, 2e6, 4), ["1e-4", "1", "10k"]);
        assert_eq!(ticks(1.4, 3.3, 9), ["1.5", "2", "3"]);
    }

    #[test]
    fn ranges_hold_what_has_a_place() {
        let log = Axis::log("").range([0.0, 3.0, f64::NAN, 200.0].into_iter());
        assert!(log.start > 0.3 && log.contains(&3f64.log10()) && log.contains(&200f64.log10()));
        assert!(!Axis::log("").range(std::iter::empty()).is_empty());
        assert!(Axis::log("").holding([1e3]).range([1.0].into_iter()).contains(&3.0));
    }

    #[test]
    fn nines_are_written_as_such() {
        let axis = Axis::nines("");
        let texts = [0.0, 1.0, 2.0, 3.0, 5.0].map(|place| axis.text(place));
        assert_eq!(texts, ["0", "90", "99", "99.9", "99.999"]);
        assert!((axis.place(99.0).unwrap() - 2.0).abs() < 1e-9);
        assert_eq!(axis.place(100.0), Some(MOST_NINES));
    }

    #[test]
    fn numbers_are_short() {
        let texts = [2e6, 0.05, 250_000.0, 1.0].map(short);
        assert_eq!(texts, ["2M", "0.05", "250k", "1"]);
    }
}
