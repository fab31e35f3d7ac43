//! Curves of farthest point samples, of generated clouds and of files.

use super::clouds::cloud;
use super::{INPUTS, OUTPUTS};
use farpoint::backend::SplitMix64;
use farpoint::{Cpu, NonFinite, Sampler};
use farpoint_baselines::estimator::{inputs, predicted};
use std::error::Error;
use std::ops::Range;

/// Number of sample sizes per cloud.
const SIZES: usize = 12;

/// Fewest samples of a curve.
const MIN_COUNT: usize = 320;

/// The known and the following part of a curve.
pub(crate) struct Example {
    /// The values up to a tenth of the samples.
    pub(crate) known: [f64; INPUTS],
    /// Share of the points that is sampled.
    pub(crate) share: f64,
    /// The values from a tenth of the samples on.
    pub(crate) follows: [f64; OUTPUTS],
}

/// Returns curves of the clouds of these seeds, in their order whatever the number of threads.
pub(crate) fn of_seeds(seeds: Range<u64>) -> Vec<Example> {
    let threads = std::thread::available_parallelism().map_or(1, usize::from);
    let seeds: Vec<u64> = seeds.collect();
    std::thread::scope(|scope| {
        let parts = seeds.chunks(seeds.len().div_ceil(threads)).map(|part| {
            scope.spawn(|| part.iter().flat_map(|&seed| of_seed(seed)).collect::<Vec<_>>())
        });
        let parts: Vec<_> = parts.collect();
        parts.into_iter().flat_map(|part| part.join().expect("curves of clouds")).collect()
    })
}

fn of_seed(seed: u64) -> Vec<Example> {
    let mut random = SplitMix64::new(seed);
    let cloud = cloud(seed, &mut random);
    // The sampler is meant for small samples.
    let ratios = [(); SIZES].map(|()| 0.02 + 0.58 * random.unit() * random.unit());
    of_cloud(&cloud, &ratios)
}

/// Returns the curves of samples of these shares of a cloud.
pub(crate) fn of_cloud(cloud: &[[f32; 3]], ratios: &[f64]) -> Vec<Example> {
    if cloud.len() < MIN_COUNT {
        return Vec::new();
    }
    let max_ratio = ratios.iter().fold(0.0f64, |a, b| a.max(*b));
    let sampler = Sampler::ratio(max_ratio).non_finite(NonFinite::Skip);
    let Ok(sample) = sampler.on(&Cpu::new().threads(1)).sample(cloud) else { return Vec::new() };
    let distances = sample.squared_distances[1..].iter().map(|d| f64::from(*d).sqrt());
    let distances: Vec<f64> = distances.collect();
    let example = |ratio: &f64| {
        let count = ((ratio * cloud.len() as f64) as usize).min(distances.len());
        if count < MIN_COUNT {
            return None;
        }
        let (known, _) = inputs(&distances[..count.div_ceil(10)], count)?;
        let share = count as f64 / cloud.len() as f64;
        Some(Example { known, share, follows: predicted(&distances, count)? })
    };
    ratios.iter().filter_map(example).collect()
}

/// Reads a cloud of raw `float32` rows.
pub(crate) fn read(path: &str) -> Result<Vec<[f32; 3]>, Box<dyn Error>> {
    let bytes = std::fs::read(path)?;
    let (start, columns) = match path {
        _ if path.ends_with(".pcd.bin") => (0, 5),
        _ if path.ends_with(".bin") => (0, 4),
        _ => (10 + usize::from(u16::from_le_bytes([bytes[8], bytes[9]])), 3),
    };
    let number = |bytes: &[u8]| bytes.try_into().map_or(f32::NAN, f32::from_le_bytes);
    let row = |row: &[u8]| std::array::from_fn(|a| number(&row[4 * a..4 * a + 4]));
    Ok(bytes[start..].chunks_exact(4 * columns).map(row).collect())
}
