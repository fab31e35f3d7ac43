//! Curve of inverse selection distances: its known and its predicted part.
//!
//! With `d(x)` the selection distance of the sample at the fraction `x` of all, the curve is
//! `v(x) = d(0.1) / d(x)`: the scale of the cloud cancels, and `v(0.1) = 1`. Its values are known
//! at [`INPUTS`] fractions up to 0.1, and predicted at [`OUTPUTS`] fractions from there to 1. Samples on
//! a surface give `v(x)` near `sqrt(10 x)`.

/// Number of known values, at `i / 320` for `i` from 1 on.
pub const INPUTS: usize = 32;

/// Number of predicted values.
pub const OUTPUTS: usize = 64;

/// Fractions of the predicted values: from 0.1 to 1 in even steps.
pub(super) const FRACTIONS: [f64; OUTPUTS] = {
    let (mut fractions, mut k) = ([0.1; OUTPUTS], 0);
    while k < OUTPUTS {
        fractions[k] += 0.9 * k as f64 / (OUTPUTS - 1) as f64;
        k += 1;
    }
    fractions
};

/// Returns the known values of a curve of `count` samples, and `d(0.1)`. `distances[k]` is the selection
/// distance of sample `k + 1`; there must be a tenth of `count` of them. `None` if a required one
/// is 0 or infinite.
pub fn inputs(distances: &[f64], count: usize) -> Option<([f64; INPUTS], f64)> {
    let inverse = |fraction: f64| value(distances, fraction * count as f64);
    let scale = 1.0 / inverse(0.1)?;
    let mut values = [0.0; INPUTS];
    for (i, value) in values.iter_mut().enumerate() {
        *value = inverse((i + 1) as f64 / 320.0)? * scale;
    }
    (scale.is_finite() && values.iter().all(|value| value.is_finite())).then_some((values, scale))
}

/// Returns the predicted values of a whole curve, for training: `distances` must reach to `count`.
pub fn predicted(distances: &[f64], count: usize) -> Option<[f64; OUTPUTS]> {
    let (_, scale) = inputs(distances, count)?;
    let mut values = [0.0; OUTPUTS];
    for (value_at, fraction) in values.iter_mut().zip(FRACTIONS) {
        *value_at = value(distances, fraction * count as f64)? * scale;
    }
    values.iter().all(|value| value.is_finite()).then_some(values)
}

/// Returns the inverse distance of a sample between two, the first being number 1.
fn value(distances: &[f64], sample: f64) -> Option<f64> {
    let sample = sample.max(1.0);
    let (k, share) = (sample.floor(), sample - sample.floor());
    let inverse = |k: f64| {
        let distance = distances[(k as usize - 1).min(distances.len() - 1)];
        (distance > 0.0 && distance.is_finite()).then(|| 1.0 / distance)
    };
    let below = inverse(k)?;
    Some(if share > 0.0 { below + share * (inverse(k + 1.0)? - below) } else { below })
}

/// Returns a predicted curve at a fraction of at least 0.1, interpolated linearly between its knots.
pub(super) fn at(curve: &[f64; OUTPUTS], fraction: f64) -> f64 {
    let place = (fraction - 0.1) / 0.9 * (OUTPUTS - 1) as f64;
    let k = (place.max(0.0) as usize).min(OUTPUTS - 2);
    let share = place - k as f64;
    curve[k] + share * (curve[k + 1] - curve[k])
}

/// A prediction without weights: `v^p = a + b x` for the whole power `p` from 1 to 3 (samples on
/// a line, a surface, in a volume) that fits the known values best. Needs nothing but products,
/// quotients and square roots: the same bits everywhere.
pub fn fitted(inputs: &[f64; INPUTS]) -> [f64; OUTPUTS] {
    let mut best = (f64::INFINITY, [1.0; OUTPUTS]);
    for power in 1..=3 {
        let (a, b) = line(inputs, power);
        let root = |x: f64| root((a + b * x).max(0.0), power);
        let off = |i: usize| root((i + 1) as f64 / 320.0) - inputs[i];
        let error: f64 = (INPUTS / 2..INPUTS).map(|i| off(i) * off(i)).sum();
        if error < best.0 {
            best = (error, FRACTIONS.map(root));
        }
    }
    best.1
}

/// Returns the least-squares line through the powers of the later half of the known values.
fn line(inputs: &[f64; INPUTS], power: i32) -> (f64, f64) {
    let half = INPUTS / 2..INPUTS;
    let n = half.len() as f64;
    let x = |i: usize| (i + 1) as f64 / 320.0;
    let y = |i: usize| (1..power).fold(inputs[i], |y, _| y * inputs[i]);
    let mean_x = half.clone().map(x).sum::<f64>() / n;
    let mean_y = half.clone().map(y).sum::<f64>() / n;
    let covariance: f64 = half.clone().map(|i| (x(i) - mean_x) * (y(i) - mean_y)).sum();
    let variance: f64 = half.map(|i| (x(i) - mean_x) * (x(i) - mean_x)).sum();
    let b = covariance / variance;
    (mean_y - b * mean_x, b)
}

/// Returns the square or cube root of a number that is not negative, or the number itself.
fn root(value: f64, power: i32) -> f64 {
    match power {
        1 => value,
        2 => value.sqrt(),
        // Newton's method from above; the libraries' cube roots differ in the last bit.
        _ => (0..60).fold(value.max(1.0), |y, _| y - (y - value / (y * y)) / 3.0),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Distances that fall like those of samples on a line, a surface, in a volume.
    fn distances(power: f64) -> Vec<f64> {
        (1..=5000).map(|k| 7.0 * f64::from(k).powf(-1.0 / power)).collect()
    }

    #[test]
    fn scale_cancels() {
        let (near, scale) = inputs(&distances(2.0)[..500], 5000).unwrap();
        let far: Vec<f64> = distances(2.0).iter().map(|d| d * 1e6).collect();
        let (same, larger) = inputs(&far[..500], 5000).unwrap();
        assert!(near.iter().zip(same).all(|(a, b)| (a - b).abs() < 1e-12));
        assert!((larger / scale - 1e6).abs() < 1e-3);
        assert!((near[INPUTS - 1] - 1.0).abs() < 1e-12);
    }

    #[test]
    fn fits_follow_pure_curves() {
        for power in [1.0, 2.0, 3.0] {
            let all = distances(power);
            let (known, _) = inputs(&all[..500], 5000).unwrap();
            let (fit, truth) = (fitted(&known), predicted(&all, 5000).unwrap());
            for (fit, truth) in fit.iter().zip(truth) {
                assert!((fit / truth - 1.0).abs() < 1e-6, "{power}: {fit} for {truth}");
            }
            assert!((at(&fit, 1.0) - 10f64.powf(1.0 / power)).abs() < 1e-5);
        }
    }

    #[test]
    fn no_curve_where_distances_end() {
        assert_eq!(inputs(&[3.0, 2.0, 0.0, 0.0], 40), None);
        assert_eq!(inputs(&[f64::INFINITY, 2.0, 1.0, 0.5], 40), None);
    }
}
