//! Choice of the next band's floor. Any floor gives the same sample; it affects the number of passes over the
//! points, of candidates that are not chosen, and of rounds.

use crate::Key;
use farpoint::Scalar;

/// Ratio of a thin band's floor to its largest distance (both squared).
const THIN: f64 = 0.85;

/// Ratio of a deep band: four times the samples on a surface.
pub(super) const DEEP: f64 = 0.25;

/// Ratio of the first sweep, where the points that it carries are limited.
const FIRST: f64 = 0.75;

/// Fraction of the room that a sweep aims to fill.
const TARGET_FILL: f64 = 0.6;

/// Approximate exponent with which carried points grow with the depth of a sweep.
const GROWTH: f64 = 1.5;

/// The last band aims this far beyond the sample: missing a few choices costs another band.
const OVERSHOOT: f64 = 0.99;

/// Progress of a run.
#[derive(Debug, Clone, Copy)]
pub(super) struct Progress {
    pub(super) samples: f64,
    /// Samples at the end, plus one for the covering radius.
    pub(super) goal: f64,
    /// The squared distance to stop at, or 0.
    pub(super) stop: f64,
}

/// Estimates how fast distances fall with the number of samples.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub(super) struct FloorRule {
    /// Samples and largest squared distance at the last band; zeros before it.
    pub(super) last: (f64, f64),
    /// `d log(samples) / d -log(squared distance)`, smoothed; 0 while it is not known.
    pub(super) slope: f64,
    /// Factor by which bands are thinner than usual, because they would have too many candidates.
    pub(super) thinning: f64,
}

impl FloorRule {
    /// Returns the floor of a band that begins at `largest`, which is above 0.
    pub(super) fn next<T: Scalar>(
        &mut self,
        largest: T,
        progress: Progress,
        deep: Option<f64>,
    ) -> T {
        let target = T::from_f64(largest.to_f64() * self.ratio(largest.to_f64(), progress, deep));
        match target {
            _ if !largest.is_finite() => T::MAX,
            // Subnormal numbers can round back.
            _ if target < largest => target,
            _ => largest.next_down(),
        }
    }

    fn ratio(&mut self, largest: f64, progress: Progress, deep: Option<f64>) -> f64 {
        let (before, distance) = std::mem::replace(&mut self.last, (progress.samples, largest));
        if before > 0.0 {
            let slope = (progress.samples / before).ln() / (distance / largest).ln();
            if slope.is_finite() && slope > 0.0 {
                self.slope = if self.slope > 0.0 { 0.5 * (self.slope + slope) } else { slope };
            }
        }
        let usual = deep.unwrap_or(THIN.powf(1.0 / self.thinning.max(1.0)));
        if self.slope == 0.0 && progress.stop == 0.0 {
            return usual;
        }
        let goal = match progress.stop {
            stop if stop > 0.0 => stop / largest,
            _ => (progress.samples / progress.goal).powf(1.0 / self.slope),
        };
        // Remaining bands, of equal depth.
        let bands = (goal * OVERSHOOT).ln() / usual.ln();
        let bands = if deep.is_some() { (bands - 0.1).ceil() } else { bands.round() };
        (goal * OVERSHOOT).powf(1.0 / bands.clamp(1.0, 1e6)).clamp(usual.min(0.5), 0.9999)
    }

    /// Adapts to the number of candidates of a thin band and its limit.
    pub(super) fn learn(&mut self, candidates: u64, max_candidates: u64) {
        let thinning = self.thinning.max(1.0);
        let change = (candidates as f64 / (0.7 * max_candidates as f64)).clamp(0.5, 4.0);
        self.thinning = (thinning * change).clamp(1.0, 1e4);
    }
}

/// Numbers of the last sweep.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub(super) struct Sweeps {
    /// Largest number of undecided points at a time, and all facts sent; 0 before the first sweep.
    pub(super) undecided: f64,
    pub(super) facts: f64,
    /// Largest squared distance at its begin, and the ratio of its floor to it.
    pub(super) largest: f64,
    pub(super) ratio: f64,
}

impl Sweeps {
    /// Updates the maxima after a tile.
    pub(super) fn add(&mut self, undecided: usize, facts: usize) {
        self.undecided = self.undecided.max(undecided as f64);
        self.facts = self.facts.max(facts as f64);
    }

    /// Returns the ratio of the next sweep, at least `deep`, such that it fits into most of
    /// the room: undecided points are those of shells along the borders of tiles, as wide as the largest
    /// distance; facts are samples in such shells, of which there are more the closer they lie.
    pub(super) fn depth(&self, largest: f64, deep: f64, room: u64) -> f64 {
        if room == u64::MAX {
            return deep;
        }
        if self.largest == 0.0 {
            return deep.max(FIRST);
        }
        let closer = largest / self.largest;
        let expected = self.undecided * closer.sqrt() + self.facts / 2.0 / closer;
        let deeper =
            (TARGET_FILL * room as f64 / expected.max(1.0)).powf(1.0 / GROWTH).clamp(0.2, 4.0);
        (1.0 - (1.0 - self.ratio) * deeper).min(0.97).max(deep)
    }
}

/// Returns the floor of all distances whose root is above a spacing, as samplers with a spacing compute it.
pub(super) fn of_spacing<T: Scalar>(spacing: f64) -> Key {
    let is_above = |bits: u64| T::from_sorting_bits(bits).sqrt().to_f64() > spacing;
    // The root is monotone: search the first distance above the spacing.
    let (mut low, mut high) = (0, T::INFINITY.sorting_bits());
    while low < high {
        let middle = low + (high - low) / 2;
        if is_above(middle) { high = middle } else { low = middle + 1 }
    }
    Key::new(T::from_sorting_bits(low.saturating_sub(1)), 0)
}

#[cfg(test)]
mod tests {
    use super::of_spacing;

    #[test]
    fn a_spacing_is_the_last_distance_that_is_refused() {
        for spacing in [0.0, 1e-30, 0.1, 0.3, 1.0, 7.3, 1e18] {
            let last: f32 = of_spacing::<f32>(spacing).value();
            assert!(
                f64::from(last.sqrt()) <= spacing && f64::from(last.next_up().sqrt()) > spacing
            );
            let last: f64 = of_spacing::<f64>(spacing).value();
            assert!(last.sqrt() <= spacing && last.next_up().sqrt() > spacing);
        }
    }
}
