//! Random sampling without replacement.

use farpoint::approximate::{ApproximateSampler, Method};
use farpoint::backend::SplitMix64;
use farpoint_generate::{Kind, generate};

#[test]
fn random_is_a_shuffle() {
    let cloud = generate(Kind::Cube, 1000, 1);
    let sample = |seed, count| {
        ApproximateSampler::count(Method::Random { seed }, count).sample(&cloud).unwrap().indices
    };
    let mut random = SplitMix64::new(5);
    let mut cards: Vec<usize> = (0..1000).collect();
    for k in 0..1000 {
        let other = k + random.below(1000 - k as u64) as usize;
        cards.swap(k, other);
    }
    assert_eq!(sample(5, 1000), cards);
    // Every prefix is a sample, and every point as likely as another.
    assert_eq!(sample(5, 10), cards[..10]);
    let mut counts = [0; 4];
    (0..400).for_each(|seed| sample(seed, 10).iter().for_each(|&k| counts[k / 250] += 1));
    assert!(counts.iter().all(|&n| (900..1100).contains(&n)), "{counts:?}");
}
