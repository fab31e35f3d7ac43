//! Axes: where a number lies, and which ticks to show.

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
}

/// Where a number lies on an axis, 0 to 1, and the ticks.
pub(super) struct Scale {
    low: f64,
    high: f64,
    log: bool,
}

impl Scale {
    pub(super) fn new(values: impl Iterator<Item = f64> + Clone, log: bool) -> Self {
        let values = values.filter(|v| v.is_finite() && (!log || *v > 0.0));
        let low = values.clone().fold(f64::INFINITY, f64::min);
        let high = values.fold(f64::NEG_INFINITY, f64::max);
        if low > high {
            return Self { low: 1.0, high: 10.0, log };
        }
        if log {
            let (low, high) = (low.log10(), high.log10());
            let room = (0.06 * (high - low)).max(0.05);
            return Self { low: 10f64.powf(low - room), high: 10f64.powf(high + room), log };
        }
        // A linear axis starts at zero.
        let (low, high) = (low.min(0.0), high.max(0.0));
        Self { low, high: high + 0.06 * (high - low).max(1e-12), log }
    }

    /// Not finite where a number has no place: zero on a logarithmic axis.
    pub(super) fn at(&self, value: f64) -> f64 {
        if self.log {
            (value / self.low).ln() / (self.high / self.low).ln()
        } else {
            (value - self.low) / (self.high - self.low)
        }
    }

    /// As many ticks as have room, at most `most`.
    pub(super) fn ticks(&self, most: usize) -> Vec<f64> {
        if !self.log {
            return self.linear_ticks(most);
        }
        let (first, last) = (self.low.log10().floor() as i32, self.high.log10().ceil() as i32);
        let within = |every: usize, steps: &[f64]| -> Vec<f64> {
            let powers = (first..=last).filter(|e| e.rem_euclid(every as i32) == 0);
            let all = powers.flat_map(|e| steps.iter().map(move |s| s * 10f64.powi(e)));
            all.filter(|tick| (self.low..=self.high).contains(tick)).collect()
        };
        [&[1.0, 1.5, 2.0, 3.0, 5.0, 7.0][..], &[1.0, 2.0, 5.0], &[1.0, 3.0], &[1.0]]
            .into_iter()
            .map(|steps| within(1, steps))
            .find(|ticks| ticks.len() <= most)
            .unwrap_or_else(|| within((last - first) as usize / most + 1, &[1.0]))
    }

    fn linear_ticks(&self, most: usize) -> Vec<f64> {
        let rough = (self.high - self.low) / most.min(6) as f64;
        let size = 10f64.powf(rough.log10().floor());
        let step = [1.0, 2.0, 5.0, 10.0].map(|k| k * size).into_iter().find(|s| *s >= rough);
        let step = step.unwrap_or(rough);
        let first = (self.low / step).ceil() as i64;
        let last = (self.high / step).floor() as i64;
        (first..=last).map(|k| k as f64 * step).collect()
    }
}

/// A tick: 2000000 as 2M.
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
        let log = Scale::new([0.03, 200.0].into_iter(), true);
        assert_eq!(log.ticks(4), [0.1, 1.0, 10.0, 100.0]);
        assert!(log.ticks(12).len() > 4);
        assert_eq!(Scale::new([1e-6, 1e6].into_iter(), true).ticks(4), [1e-4, 1.0, 1e4]);
        let linear = Scale::new([3.0, 47.0].into_iter(), false);
        assert_eq!(linear.ticks(6), [0.0, 10.0, 20.0, 30.0, 40.0]);
        assert!(Scale::new(std::iter::empty(), true).ticks(5).len() > 1);
    }

    #[test]
    fn numbers_are_short() {
        assert_eq!(short(2_000_000.0), "2M");
        assert_eq!(short(0.05), "0.05");
        assert_eq!(short(250_000.0), "250k");
        assert_eq!(short(1.0), "1");
    }
}
