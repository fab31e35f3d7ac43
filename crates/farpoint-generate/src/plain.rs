//! Clouds without a scene: simple ones, and those that are hard for samplers (ties
//! everywhere, repeats, no extent, very uneven density).

use crate::random::Random;

/// Generates points uniform in the unit cube.
pub fn cube(n: usize, seed: u64) -> Vec<[f32; 3]> {
    let mut random = Random::new(seed, 1);
    (0..n).map(|_| std::array::from_fn(|_| random.unit() as f32)).collect()
}

/// Generates the first `n` points of the smallest integer grid of equal sides that holds `n`, x
/// fastest: nearly every choice is tied.
pub fn lattice(n: usize) -> Vec<[f32; 3]> {
    let side = (1..).find(|side: &usize| side.saturating_pow(3) >= n).unwrap_or(1);
    (0..n).map(|i| [i % side, i / side % side, i / side / side].map(|k| k as f32)).collect()
}

/// Generates `n` points along x, at a distance of 1.
pub fn line(n: usize) -> Vec<[f32; 3]> {
    (0..n).map(|i| [i as f32, 0.0, 0.0]).collect()
}

/// Generates one point, `n` times.
pub fn equal(n: usize) -> Vec<[f32; 3]> {
    vec![[0.5, -1.25, 2.0]; n]
}

/// Generates points uniform in the unit cube, every point two to four times (once if `n` is 1), in random
/// order.
pub fn duplicated(n: usize, seed: u64) -> Vec<[f32; 3]> {
    let mut random = Random::new(seed, 2);
    let mut cloud = Vec::with_capacity(n);
    while cloud.len() < n {
        let remaining = n - cloud.len();
        let copies = match (2 + random.below(3)).min(remaining) {
            2 if remaining == 3 => 3,
            copies if remaining - copies == 1 => copies - 1,
            copies => copies,
        };
        let point = std::array::from_fn(|_| random.unit() as f32);
        cloud.extend(std::iter::repeat_n(point, copies));
    }
    random.shuffle(&mut cloud);
    cloud
}

/// Generates thirty-two clusters of sizes from 0.001 to 1 in a box of side 100; one point in a hundred lies
/// anywhere in the box.
pub fn clusters(n: usize, seed: u64) -> Vec<[f32; 3]> {
    let mut random = Random::new(seed, 3);
    let centers: [([f64; 3], f64); 32] = std::array::from_fn(|k| {
        let size = [0.001, 0.01, 0.1, 1.0][k % 4];
        (std::array::from_fn(|_| random.between(0.0, 100.0)), size)
    });
    (0..n)
        .map(|_| {
            if random.below(100) == 0 {
                return std::array::from_fn(|_| random.between(0.0, 100.0) as f32);
            }
            let (center, size) = centers[random.below(centers.len())];
            center.map(|c| (c + size * random.normal()) as f32)
        })
        .collect()
}

/// Generates points uniform on the unit sphere.
pub fn sphere(n: usize, seed: u64) -> Vec<[f32; 3]> {
    let mut random = Random::new(seed, 4);
    (0..n).map(|_| random.direction().to_f32()).collect()
}
