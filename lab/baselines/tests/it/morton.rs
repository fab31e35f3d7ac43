//! Even steps along a Morton curve.

use super::{clouds, sample};
use farpoint_baselines::Method;

/// Returns positions along the curve, by sorting whole codes bit by bit.
pub(crate) fn order(cloud: &[[f32; 3]], bits: u32) -> Vec<usize> {
    let end =
        |a: usize, f: fn(f64, f64) -> f64| cloud.iter().map(|p| f64::from(p[a])).reduce(f).unwrap();
    let low: [f64; 3] = std::array::from_fn(|a| end(a, f64::min));
    let longest = (0..3).map(|a| end(a, f64::max) - low[a]).fold(0.0, f64::max);
    let cell = longest / f64::from(1 << bits);
    let code = |k: &usize| {
        let at = |a: usize| {
            let at = (f64::from(cloud[*k][a]) - low[a]) / cell;
            if at.is_nan() { 0 } else { (at.floor() as u64).min((1 << bits) - 1) }
        };
        let bit = |k: u32| (at(0) >> k & 1) | (at(1) >> k & 1) << 1 | (at(2) >> k & 1) << 2;
        (0..bits).rev().fold(0, |code, k| code << 3 | bit(k))
    };
    let mut order: Vec<usize> = (0..cloud.len()).collect();
    order.sort_by_key(code);
    order
}

#[test]
fn morton_steps_evenly_along_the_whole_curve() {
    for (name, cloud) in clouds().into_iter().filter(|(name, _)| name != "huge") {
        for bits in [1, 10, 21] {
            let (along, n) = (order(&cloud, bits), cloud.len());
            for count in [1, n.div_ceil(3), n] {
                let expected: Vec<_> = (0..count).map(|i| along[i * n / count]).collect();
                let found = sample(Method::Morton { bits }, count, &cloud);
                assert_eq!(found.indices, expected, "{name}, {bits} bits, {count}");
            }
        }
    }
}
