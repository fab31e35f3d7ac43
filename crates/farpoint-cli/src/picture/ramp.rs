//! Color ramp of distances: the upper three quarters of *viridis*, whose lightness rises evenly with the
//! value, for color-blind readers too. On dark paper the largest distances are the brightest.
//!
//! Viridis is by Stéfan van der Walt and Nathaniel Smith, given to the public domain under CC0
//! (<https://github.com/BIDS/colormap>).

use super::color::{Color, mix};

/// Viridis from 0.25 to 1 in equal steps.
const STOPS: [[u8; 3]; 17] = [
    [59, 82, 139],
    [53, 95, 141],
    [47, 107, 142],
    [42, 118, 142],
    [38, 130, 142],
    [34, 141, 141],
    [31, 152, 139],
    [32, 163, 134],
    [40, 174, 128],
    [56, 185, 119],
    [78, 195, 107],
    [103, 204, 92],
    [132, 212, 75],
    [162, 218, 55],
    [194, 223, 35],
    [226, 228, 24],
    [253, 231, 37],
];

/// The color of values beyond the end.
pub(super) const BEYOND: Color = [1.0, 1.0, 1.0];

/// Returns the color of a share of the scale, 0 to 1.
pub(super) fn ramp(share: f32) -> Color {
    if share > 1.0 {
        return BEYOND;
    }
    let at = share.max(0.0) * (STOPS.len() - 1) as f32;
    let k = (at as usize).min(STOPS.len() - 2);
    let stop = |k: usize| STOPS[k].map(|value| f32::from(value) / 255.0);
    mix(stop(k), stop(k + 1), at - k as f32)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::picture::color::PAPER;

    /// Linear RGB matrices of color vision without one kind of cones: G. M. Machado and others, "A
    /// Physiologically-based Model for Simulation of Color Vision Deficiency", 2009, severity 1.
    const EYES: [(&str, [[f32; 3]; 3]); 4] = [
        ("normal", [[1.0, 0.0, 0.0], [0.0, 1.0, 0.0], [0.0, 0.0, 1.0]]),
        (
            "protanopia",
            [
                [0.152_286, 1.052_583, -0.204_868],
                [0.114_503, 0.786_281, 0.099_216],
                [-0.003_882, -0.048_116, 1.051_998],
            ],
        ),
        (
            "deuteranopia",
            [
                [0.367_322, 0.860_646, -0.227_968],
                [0.280_085, 0.672_501, 0.047_413],
                [-0.011_820, 0.042_940, 0.968_881],
            ],
        ),
        (
            "tritanopia",
            [
                [1.255_528, -0.076_749, -0.178_779],
                [-0.078_411, 0.930_809, 0.147_602],
                [0.004_733, 0.691_367, 0.303_900],
            ],
        ),
    ];

    /// Returns the CIE L*a*b* color (D65) of an sRGB color as these eyes see it.
    fn lab(color: Color, eyes: &[[f32; 3]; 3]) -> [f32; 3] {
        let linear = color.map(|v| match v <= 0.040_45 {
            true => v / 12.92,
            false => ((v + 0.055) / 1.055).powf(2.4),
        });
        let times = |rows: &[[f32; 3]; 3], v: [f32; 3]| -> [f32; 3] {
            rows.map(|row| row[0] * v[0] + row[1] * v[1] + row[2] * v[2])
        };
        let seen = times(eyes, linear).map(|v| v.clamp(0.0, 1.0));
        let to_xyz = [
            [0.4124 / 0.9505, 0.3576 / 0.9505, 0.1805 / 0.9505],
            [0.2126, 0.7152, 0.0722],
            [0.0193 / 1.089, 0.1192 / 1.089, 0.9505 / 1.089],
        ];
        let [x, y, z] = times(&to_xyz, seen).map(|t| match t > 0.008_856 {
            true => t.cbrt(),
            false => 7.787 * t + 16.0 / 116.0,
        });
        [116.0 * y - 16.0, 500.0 * (x - y), 200.0 * (y - z)]
    }

    /// Lightness rises with every step for all kinds of color vision; eighths differ by more than
    /// twice the least visible difference (2.3).
    #[test]
    fn lightness_rises_for_everyone() {
        for (name, eyes) in &EYES {
            let steps: Vec<_> = (0..=64).map(|k| lab(ramp(k as f32 / 64.0), eyes)).collect();
            for pair in steps.windows(2) {
                assert!(pair[1][0] > pair[0][0] + 0.05, "{name}: {pair:?}");
            }
            let eighths: Vec<_> = steps.iter().step_by(8).collect();
            for pair in eighths.windows(2) {
                let squared_distance: f32 = (0..3).map(|k| (pair[1][k] - pair[0][k]).powi(2)).sum();
                assert!(squared_distance.sqrt() > 5.0, "{name}: {pair:?}");
            }
            let (last, beyond) = (steps[64], lab(BEYOND, eyes));
            assert!(beyond[0] > last[0] + 5.0, "{name}: {last:?} {beyond:?}");
        }
    }

    /// The smallest values can be seen, and the largest stand out most.
    #[test]
    fn every_value_stands_out_from_the_paper() {
        for (name, eyes) in &EYES {
            let paper = lab(PAPER, eyes)[0];
            let over = |share: f32| lab(ramp(share), eyes)[0] - paper;
            assert!(over(0.0) > 25.0 && over(1.0) > 75.0, "{name}: {} {}", over(0.0), over(1.0));
        }
    }
}
