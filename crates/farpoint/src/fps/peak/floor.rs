//! Choice of the floor of the next band.
//!
//! Any floor below the largest distance gives the same sample; it is a matter of speed. A low one
//! means fewer passes over the cloud, but more candidates that are not chosen. Of the last band,
//! only the remaining choices are of use, so the floors are spaced so that it ends about with the
//! sample.

use crate::Scalar;

/// Best ratio of the floor to the largest distance (both squared), other things being equal;
/// measured, see docs/development/performance-log.md.
const GAMMA: f64 = 0.85;

/// The last band is aimed to go this far beyond the sample (in distance): missing a few
/// choices costs a band more.
const OVERSHOOT: f64 = 0.99;

/// Progress of a sample.
#[derive(Debug, Clone, Copy)]
pub(super) struct Progress {
    pub(super) samples: usize,
    /// Samples remaining, at most.
    pub(super) remaining: usize,
    /// Covering radius to stop at.
    pub(super) stop_radius: Option<f64>,
}

/// Estimate of the decrease of distances per sample.
#[derive(Debug, Default)]
pub(super) struct Floor {
    /// Samples and largest squared distance at the last band.
    last: Option<(f64, f64)>,
    /// `d log(samples) / d -log(squared distance)`: 1 on a surface, 1.5 in a volume, smoothed.
    slope: Option<f64>,
}

impl Floor {
    /// Returns the floor of the band that starts at this largest distance, which is above zero.
    pub(super) fn next<T: Scalar>(&mut self, largest: T, progress: Progress) -> T {
        let floor = T::from_f64(largest.to_f64() * self.ratio(largest.to_f64(), progress));
        match floor {
            _ if !largest.is_finite() => T::MAX,
            // Subnormal numbers can round back.
            _ if floor < largest => floor,
            _ => largest.next_down(),
        }
    }

    /// Returns the ratio of the floor to the largest distance, below 1.
    fn ratio(&mut self, largest: f64, progress: Progress) -> f64 {
        let samples = progress.samples as f64;
        if let Some((before, distance)) = self.last.replace((samples, largest)) {
            let slope = (samples / before).ln() / (distance / largest).ln();
            if slope.is_finite() && slope > 0.0 {
                self.slope = Some(self.slope.map_or(slope, |known| 0.5 * (known + slope)));
            }
        }
        let Some(slope) = self.slope else { return GAMMA };
        let goal = match progress.stop_radius {
            Some(radius) => radius * radius / largest,
            // One more than requested, for the covering radius.
            None => (samples / (samples + progress.remaining as f64 + 1.0)).powf(1.0 / slope),
        };
        let goal = goal * OVERSHOOT;
        // Number of bands left, of equal depth.
        let bands = (goal.ln() / GAMMA.ln()).round().clamp(1.0, 1e6);
        goal.powf(1.0 / bands).clamp(0.5, 0.999)
    }
}
