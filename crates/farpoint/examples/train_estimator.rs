//! Trains FastPoint's estimator on farthest point sampling curves of generated clouds, and tells
//! the error it leaves on others: `cargo xtask train-estimator [CLOUD.npy ..]`.
//!
//! The same seeds give the same weights on every machine. Clouds named on the command line are
//! little-endian `float32` rows of three (`.bin` of four, as KITTI's); they are only tested on.

use farpoint::approximate::{INPUTS, Network, OUTPUTS, inputs, predicted};
use farpoint::{BadRows, Sampler, SplitMix64};
use farpoint_generate::{Kind, generate};
use std::error::Error;

const WEIGHTS: &str =
    concat!(env!("CARGO_MANIFEST_DIR"), "/src/approximate/fastpoint/estimator.bin");

/// Clouds to learn from, and others to test on.
const CLOUDS: [usize; 2] = [4000, 200];
/// Sample sizes that are learned from each.
const SIZES: usize = 12;
const PASSES: usize = 100;
const BATCH: usize = 32;
const RATE: f32 = 1e-3;

/// What is known of a curve, and what follows.
struct Example {
    known: [f64; INPUTS],
    follows: [f64; OUTPUTS],
}

fn main() -> Result<(), Box<dyn Error>> {
    let [learn, test] = [(0, CLOUDS[0]), (1_000_000, CLOUDS[1])].map(|(first, clouds)| {
        (first..first + clouds as u64).flat_map(curves_of_generated).collect::<Vec<_>>()
    });
    println!("{} curves to learn from, {} to test on", learn.len(), test.len());
    let mut network = started();
    let mut adam = Adam::new();
    let mut random = SplitMix64::new(2);
    let mut order: Vec<usize> = (0..learn.len()).collect();
    for pass in 0..PASSES {
        for k in 0..order.len() {
            let other = k + random.below((order.len() - k) as u64) as usize;
            order.swap(k, other);
        }
        // Down to a hundredth of the rate, in a straight line.
        let rate = RATE * (1.0 - 0.99 * pass as f32 / PASSES as f32);
        for batch in order.chunks(BATCH) {
            let mut slope = vec![0.0; Network::SIZE];
            batch.iter().for_each(|&k| descend(&network, &learn[k], &mut slope));
            adam.step(&mut network.numbers, &slope, rate);
        }
        if pass % 20 == 19 {
            println!("pass {}: {}, {}", pass + 1, error(&network, &learn), error(&network, &test));
        }
    }
    let bytes: Vec<u8> = network.numbers.iter().flat_map(|x| x.to_le_bytes()).collect();
    std::fs::write(WEIGHTS, bytes)?;
    println!(
        "mean error {} on curves learned from, {} on others",
        error(&network, &learn),
        error(&network, &test)
    );
    for path in std::env::args().skip(1) {
        let examples = curves(&read(&path)?, &[0.05, 0.1, 0.25, 0.5]);
        println!("{path}: {}", error(&network, &examples));
    }
    Ok(())
}

/// Curves of a cloud whose kind, size and shape depend on the seed.
fn curves_of_generated(seed: u64) -> Vec<Example> {
    let mut random = SplitMix64::new(seed);
    let kinds = [
        Kind::Room,
        Kind::Lidar,
        Kind::Lidar,
        Kind::Object,
        Kind::Sphere,
        Kind::Cube,
        Kind::Clusters,
    ];
    let kind = kinds[random.below(kinds.len() as u64) as usize];
    let points = 3000 + (57_000.0 * random.unit() * random.unit()) as usize;
    let mut cloud = generate(kind, points, seed);
    // Other shapes of the same kind: stretched, cut by a ball, thinned out by a grid.
    let stretch: [f32; 3] = std::array::from_fn(|_| (0.4 + 0.6 * random.unit()) as f32);
    cloud.iter_mut().for_each(|p| (0..3).for_each(|a| p[a] *= stretch[a]));
    if random.below(3) == 0 {
        let centre = cloud[random.below(points as u64) as usize];
        let far = |p: &[f32; 3]| (0..3).map(|a| (p[a] - centre[a]).powi(2)).sum::<f32>();
        let mut sorted: Vec<f32> = cloud.iter().map(far).collect();
        sorted.sort_by(f32::total_cmp);
        let reach = sorted[points / 2 + random.below(points as u64 / 2) as usize];
        cloud.retain(|p| far(p) <= reach);
    }
    if random.below(3) == 0 {
        use farpoint::approximate::{ApproximateSampler, Keep, Method};
        let thin = ApproximateSampler::ratio(
            Method::Grid { keep: Keep::First },
            0.3 + 0.6 * random.unit(),
        );
        let kept = thin.sample(&cloud).expect("generated clouds can be sampled").indices;
        cloud = kept.into_iter().map(|row| cloud[row]).collect();
    }
    let ratios: Vec<f64> =
        (0..SIZES).map(|_| 0.04 + 0.56 * random.unit() * random.unit()).collect();
    curves(&cloud, &ratios)
}

/// The curves of farthest point samples of these sizes.
fn curves(cloud: &[[f32; 3]], ratios: &[f64]) -> Vec<Example> {
    let most = ratios.iter().fold(0.0f64, |a, b| a.max(*b));
    let sampler = Sampler::ratio(most.min(1.0)).bad_rows(BadRows::Skip);
    let Ok(sample) = sampler.sample(cloud) else { return Vec::new() };
    let distances = sample.squared_distances[1..].iter().map(|d| f64::from(*d).sqrt());
    let distances: Vec<f64> = distances.collect();
    let example = |ratio: &f64| {
        let count = (ratio * cloud.len() as f64) as usize;
        let count = count.min(distances.len());
        if count < 320 {
            return None;
        }
        let (known, _) = inputs(&distances[..count.div_ceil(10)], count)?;
        Some(Example { known, follows: predicted(&distances, count)? })
    };
    ratios.iter().filter_map(example).collect()
}

/// A network to begin with: random weights, no bias.
fn started() -> Network {
    let mut random = SplitMix64::new(1);
    let mut numbers = Vec::with_capacity(Network::SIZE);
    for (neurons, inputs) in Network::SHAPE {
        let most = (6.0 / inputs as f64).sqrt();
        numbers.extend((0..neurons * inputs).map(|_| ((2.0 * random.unit() - 1.0) * most) as f32));
        numbers.extend(std::iter::repeat_n(0.0, neurons));
    }
    // The last layer begins small: near the curve of a surface.
    let last = Network::SIZE - OUTPUTS * 129;
    numbers[last..].iter_mut().for_each(|x| *x *= 0.1);
    Network { numbers }
}

/// Adds the slope of the mean absolute percentage error of one example.
fn descend(network: &Network, example: &Example, slope: &mut [f32]) {
    let layers = network.layers(&Network::features(&example.known));
    let wanted = Network::target(&example.follows);
    let out = layers.last().expect("layers");
    // Of |out - wanted| / (1 + wanted), which is the error of the curve itself.
    let mut back: Vec<f32> = out
        .iter()
        .zip(wanted)
        .map(|(out, wanted)| (out - wanted).signum() / (1.0 + wanted))
        .collect();
    let mut end = Network::SIZE;
    for (layer, (neurons, inputs)) in Network::SHAPE.into_iter().enumerate().rev() {
        let start = end - neurons * (inputs + 1);
        let weights = &network.numbers[start..][..neurons * inputs];
        let (of_weights, of_biases) = slope[start..end].split_at_mut(neurons * inputs);
        let values = &layers[layer];
        let mut below = vec![0.0; inputs];
        for (neuron, &back) in back.iter().enumerate().filter(|(_, back)| **back != 0.0) {
            let row = neuron * inputs..(neuron + 1) * inputs;
            of_biases[neuron] += back;
            for (slope, value) in of_weights[row.clone()].iter_mut().zip(values) {
                *slope += back * value;
            }
            for (below, weight) in below.iter_mut().zip(&weights[row]) {
                *below += back * weight;
            }
        }
        // Neurons that were cut off at 0 have no slope.
        back = below.iter().zip(values).map(|(b, v)| if *v > 0.0 { *b } else { 0.0 }).collect();
        end = start;
    }
}

/// The Adam optimiser (Kingma, Ba 2015).
struct Adam {
    mean: Vec<f32>,
    square: Vec<f32>,
    shrunk: [f32; 2],
}

impl Adam {
    fn new() -> Self {
        let [mean, square] = [vec![0.0; Network::SIZE], vec![0.0; Network::SIZE]];
        Self { mean, square, shrunk: [1.0; 2] }
    }

    fn step(&mut self, numbers: &mut [f32], slope: &[f32], rate: f32) {
        const KEEP: [f32; 2] = [0.9, 0.999];
        self.shrunk = [self.shrunk[0] * KEEP[0], self.shrunk[1] * KEEP[1]];
        for (k, &slope) in slope.iter().enumerate() {
            let slope = slope / (BATCH * OUTPUTS) as f32;
            self.mean[k] = KEEP[0] * self.mean[k] + (1.0 - KEEP[0]) * slope;
            self.square[k] = KEEP[1] * self.square[k] + (1.0 - KEEP[1]) * slope * slope;
            let mean = self.mean[k] / (1.0 - self.shrunk[0]);
            let square = self.square[k] / (1.0 - self.shrunk[1]);
            numbers[k] -= rate * mean / (square.sqrt() + 1e-8);
        }
    }
}

/// The mean absolute percentage error of the network, and of the fit without weights.
fn error(network: &Network, examples: &[Example]) -> String {
    let off = |curve: &[f64; OUTPUTS], example: &Example| {
        let off =
            curve.iter().zip(example.follows).map(|(found, truth)| (found / truth - 1.0).abs());
        100.0 * off.sum::<f64>() / OUTPUTS as f64
    };
    let mean = |curve: &dyn Fn(&Example) -> [f64; OUTPUTS]| {
        examples.iter().map(|e| off(&curve(e), e)).sum::<f64>() / examples.len() as f64
    };
    format!(
        "{:.2} % ({:.2} % by fit)",
        mean(&|e| network.curve(&e.known)),
        mean(&|e| farpoint::approximate::fitted(&e.known))
    )
}

/// A cloud of raw `float32` rows: of four numbers in .bin files, else three.
fn read(path: &str) -> Result<Vec<[f32; 3]>, Box<dyn Error>> {
    let bytes = std::fs::read(path)?;
    let (start, columns) = match path.ends_with(".npy") {
        true => (10 + usize::from(u16::from_le_bytes([bytes[8], bytes[9]])), 3),
        false => (0, 4),
    };
    let number = |bytes: &[u8]| bytes.try_into().map_or(f32::NAN, f32::from_le_bytes);
    let row = |row: &[u8]| std::array::from_fn(|a| number(&row[4 * a..4 * a + 4]));
    Ok(bytes[start..].chunks_exact(4 * columns).map(row).collect())
}
