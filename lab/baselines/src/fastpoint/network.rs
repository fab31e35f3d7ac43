//! The estimator: a network of three layers that predicts a curve, and its committed weights.
//!
//! `cargo run --release -p farpoint-baselines --example train_estimator` retrains the weights; docs/development/measurements.md has the errors it leaves.
//! Everything is single precision, one operation after another: the same bits everywhere.

use super::curve::{FRACTIONS, INPUTS, OUTPUTS};
use std::sync::LazyLock;

/// Neurons of each layer and inputs of each neuron.
const SHAPE: [(usize, usize); 3] = [(128, INPUTS), (128, 128), (OUTPUTS, 128)];

/// Number of parameters: the weights of each neuron one after another, then the biases.
const NUMBERS: usize = {
    let (mut sum, mut layer) = (0, 0);
    while layer < SHAPE.len() {
        sum += SHAPE[layer].0 * (SHAPE[layer].1 + 1);
        layer += 1;
    }
    sum
};

/// Largest share of the points in the training data; larger ones count as this one.
const MAX_SHARE: f64 = 0.6;

/// The committed weights, little endian.
static WEIGHTS: &[u8; 4 * NUMBERS] = include_bytes!("estimator.bin");

/// Weights and inference. Public for training alone.
#[derive(Debug, Clone, PartialEq)]
pub struct Network {
    /// See [`Network::SIZE`].
    pub numbers: Vec<f32>,
}

impl Network {
    /// Number of parameters.
    pub const SIZE: usize = NUMBERS;

    /// Neurons of each layer, and the inputs of each neuron.
    pub const SHAPE: [(usize, usize); 3] = SHAPE;

    /// Returns the trained network.
    pub fn trained() -> &'static Self {
        static TRAINED: LazyLock<Network> = LazyLock::new(|| {
            let numbers = WEIGHTS.chunks_exact(4);
            let number = |bytes: &[u8]| bytes.try_into().map_or(0.0, f32::from_le_bytes);
            Network { numbers: numbers.map(number).collect() }
        });
        &TRAINED
    }

    /// Returns the features: the known values relative to those of a surface. The last one is 1, as
    /// on every surface; the share of sampled points takes its place, as the curve of a scan
    /// steepens if only the points along its lines are left.
    pub fn features(inputs: &[f64; INPUTS], share: f64) -> [f32; INPUTS] {
        let surface = |i: usize| ((i + 1) as f64 / INPUTS as f64).sqrt();
        let mut features = std::array::from_fn(|i| (inputs[i] / surface(i) - 1.0) as f32);
        features[INPUTS - 1] = share.min(MAX_SHARE).sqrt() as f32;
        features
    }

    /// Returns the outputs for a curve: its values relative to those of a surface.
    pub fn target(curve: &[f64; OUTPUTS]) -> [f32; OUTPUTS] {
        std::array::from_fn(|k| (curve[k] / (10.0 * FRACTIONS[k]).sqrt() - 1.0) as f32)
    }

    /// Returns the values of every layer, the features first.
    pub fn layers(&self, features: &[f32; INPUTS]) -> Vec<Vec<f32>> {
        let mut layers = vec![features.to_vec()];
        let mut rest = &self.numbers[..];
        for (layer, (neurons, inputs)) in SHAPE.into_iter().enumerate() {
            let (weights, after) = rest.split_at(neurons * inputs);
            let (biases, after) = after.split_at(neurons);
            rest = after;
            let values = &layers[layer];
            let neuron = |(weights, bias): (&[f32], &f32)| {
                let sum = weights.iter().zip(values).fold(*bias, |sum, (w, x)| sum + w * x);
                if layer + 1 == SHAPE.len() || sum > 0.0 { sum } else { 0.0 }
            };
            let next = weights.chunks_exact(inputs).zip(biases).map(neuron).collect();
            layers.push(next);
        }
        layers
    }

    /// Returns the predicted curve of a sample of this share of the points.
    pub fn curve(&self, inputs: &[f64; INPUTS], share: f64) -> [f64; OUTPUTS] {
        let layers = self.layers(&Self::features(inputs, share));
        let out = &layers[SHAPE.len()];
        std::array::from_fn(|k| (1.0 + f64::from(out[k])) * (10.0 * FRACTIONS[k]).sqrt())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_share_goes_in_last() {
        let surface = std::array::from_fn(|i| ((i + 1) as f64 / INPUTS as f64).sqrt());
        let features = Network::features(&surface, 0.25);
        assert_eq!((features[..INPUTS - 1].to_vec(), features[INPUTS - 1]), (vec![0.0; 31], 0.5));
        let curve = |share| Network::trained().curve(&surface, share);
        assert_ne!(curve(0.1), curve(0.5));
        assert_eq!(curve(0.6), curve(1.0));
    }

    /// Not exactly: a cloud has edges, and its curve bends.
    #[test]
    fn predictions_on_a_surface_follow_its_power_law() {
        let surface = std::array::from_fn(|i| ((i + 1) as f64 / INPUTS as f64).sqrt());
        let curve = Network::trained().curve(&surface, 0.1);
        for (found, fraction) in curve.iter().zip(FRACTIONS) {
            let off = found / (10.0 * fraction).sqrt() - 1.0;
            assert!(off.abs() < 0.1, "{off} at {fraction}");
        }
    }
}
