//! Training: the slope of the error of a batch, and the steps down it.

use super::{Example, INPUTS, Network, OUTPUTS};
use farpoint::backend::SplitMix64;

const PASSES: usize = 60;
const RATE: f32 = 1e-3;

/// Examples that are computed side by side, and groups of them, a thread each, that make a step.
const LANES: usize = 32;
const GROUPS: usize = 2;

/// A number of each of the examples side by side.
type Lanes = [f32; LANES];

/// Input and output of the network for an example.
struct Pair {
    features: [f32; INPUTS],
    target: [f32; OUTPUTS],
}

/// Trains a network on the examples. Reports its progress now and then.
pub(crate) fn trained(examples: &[Example], report: impl Fn(usize, &Network)) -> Network {
    let pair = |example: &Example| Pair {
        features: Network::features(&example.known, example.share),
        target: Network::target(&example.follows),
    };
    let pairs: Vec<Pair> = examples.iter().map(pair).collect();
    let mut network = started();
    let mut adam = Adam::new();
    let mut random = SplitMix64::new(2);
    let mut order: Vec<usize> = (0..pairs.len()).collect();
    let batches = pairs.len() / (LANES * GROUPS);
    for pass in 0..PASSES {
        for k in 0..order.len() {
            let other = k + random.below((order.len() - k) as u64) as usize;
            order.swap(k, other);
        }
        for (batch, rows) in order.chunks_exact(LANES * GROUPS).enumerate() {
            // Down to a thousandth of the rate, in a straight line.
            let done = (pass * batches + batch) as f32 / (PASSES * batches) as f32;
            let slope = slope(&network, &pairs, rows);
            adam.step(&mut network.numbers, &slope, RATE * (1.0 - 0.999 * done));
        }
        if pass % 20 == 19 {
            report(pass + 1, &network);
        }
    }
    network
}

/// Returns an initial network: random weights, no bias.
fn started() -> Network {
    let mut random = SplitMix64::new(1);
    let mut numbers = Vec::with_capacity(Network::SIZE);
    for (neurons, inputs) in Network::SHAPE {
        let limit = (6.0 / inputs as f64).sqrt();
        numbers.extend((0..neurons * inputs).map(|_| ((2.0 * random.unit() - 1.0) * limit) as f32));
        numbers.extend(std::iter::repeat_n(0.0, neurons));
    }
    // The last layer begins small: near the curve of a surface.
    let last = Network::SIZE - OUTPUTS * 129;
    numbers[last..].iter_mut().for_each(|x| *x *= 0.1);
    Network { numbers }
}

/// Returns the slope of the mean absolute percentage error of a batch.
fn slope(network: &Network, pairs: &[Pair], batch: &[usize]) -> Vec<f32> {
    let groups: Vec<Vec<f32>> = std::thread::scope(|scope| {
        let (first, rest) = batch.split_at(LANES);
        let rest: Vec<_> = rest
            .chunks_exact(LANES)
            .map(|rows| scope.spawn(move || slope_of_lanes(network, pairs, rows)))
            .collect();
        let first = slope_of_lanes(network, pairs, first);
        let rest = rest.into_iter().map(|group| group.join().expect("a slope"));
        std::iter::once(first).chain(rest).collect()
    });
    let share = 1.0 / (batch.len() * OUTPUTS) as f32;
    (0..Network::SIZE).map(|k| groups.iter().map(|g| g[k]).sum::<f32>() * share).collect()
}

/// Returns the summed slope of the errors of as many examples as there are lanes.
fn slope_of_lanes(network: &Network, pairs: &[Pair], rows: &[usize]) -> Vec<f32> {
    let layers = forward(network, |i| std::array::from_fn(|l| pairs[rows[l]].features[i]));
    // Of |out - expected| / (1 + expected), which is the error of the curve itself.
    let of_error = |(k, out): (usize, &Lanes)| -> Lanes {
        std::array::from_fn(|l| {
            let expected = pairs[rows[l]].target[k];
            (out[l] - expected).signum() / (1.0 + expected)
        })
    };
    let mut back: Vec<Lanes> =
        layers[Network::SHAPE.len()].iter().enumerate().map(of_error).collect();
    let mut slope = vec![0.0; Network::SIZE];
    let mut end = Network::SIZE;
    for (layer, (neurons, inputs)) in Network::SHAPE.into_iter().enumerate().rev() {
        let start = end - neurons * (inputs + 1);
        let weights = &network.numbers[start..][..neurons * inputs];
        let (of_weights, of_biases) = slope[start..end].split_at_mut(neurons * inputs);
        let values = &layers[layer];
        let mut below = vec![[0.0; LANES]; inputs];
        for (neuron, back) in back.iter().enumerate() {
            of_biases[neuron] = sum(back);
            let row = neuron * inputs..(neuron + 1) * inputs;
            let slopes = of_weights[row.clone()].iter_mut().zip(&weights[row]);
            for ((slope, weight), (value, below)) in slopes.zip(values.iter().zip(&mut below)) {
                *slope = sum(&std::array::from_fn(|l| back[l] * value[l]));
                (0..LANES).for_each(|l| below[l] += back[l] * weight);
            }
        }
        // Neurons that were cut off at 0 have no slope.
        for (below, value) in below.iter_mut().zip(values) {
            (0..LANES).for_each(|l| below[l] = if value[l] > 0.0 { below[l] } else { 0.0 });
        }
        back = below;
        end = start;
    }
    slope
}

/// Returns the values of every layer, like `Network::layers` for one example.
fn forward(network: &Network, feature: impl Fn(usize) -> Lanes) -> Vec<Vec<Lanes>> {
    let mut layers: Vec<Vec<Lanes>> = vec![(0..INPUTS).map(feature).collect()];
    let mut rest = &network.numbers[..];
    for (layer, (neurons, inputs)) in Network::SHAPE.into_iter().enumerate() {
        let (weights, after) = rest.split_at(neurons * inputs);
        let (biases, after) = after.split_at(neurons);
        rest = after;
        let neuron = |(weights, bias): (&[f32], &f32)| {
            let mut sum = [*bias; LANES];
            for (weight, value) in weights.iter().zip(&layers[layer]) {
                (0..LANES).for_each(|l| sum[l] += weight * value[l]);
            }
            let last = layer + 1 == Network::SHAPE.len();
            if last { sum } else { sum.map(|sum| sum.max(0.0)) }
        };
        let next = weights.chunks_exact(inputs).zip(biases).map(neuron).collect();
        layers.push(next);
    }
    layers
}

/// Returns the sum of all lanes: halves on top of each other, until one is left.
fn sum(lanes: &Lanes) -> f32 {
    let mut sums = *lanes;
    let mut half = LANES / 2;
    while half > 0 {
        (0..half).for_each(|l| sums[l] += sums[l + half]);
        half /= 2;
    }
    sums[0]
}

/// The Adam optimizer (Kingma, Ba 2015).
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
            self.mean[k] = KEEP[0] * self.mean[k] + (1.0 - KEEP[0]) * slope;
            self.square[k] = KEEP[1] * self.square[k] + (1.0 - KEEP[1]) * slope * slope;
            let mean = self.mean[k] / (1.0 - self.shrunk[0]);
            let square = self.square[k] / (1.0 - self.shrunk[1]);
            numbers[k] -= rate * mean / (square.sqrt() + 1e-8);
        }
    }
}
