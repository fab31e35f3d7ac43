//! Trains FastPoint's estimator on farthest point sampling curves of generated clouds, and prints
//! its error on others: `cargo run --release -p farpoint-baselines --example train_estimator [CLOUD.npy ..]`.
//!
//! The same seeds give the same weights on every machine. Clouds named on the command line are
//! little-endian `float32` rows of three (`.bin` of four, as KITTI's, `.pcd.bin` of five, as
//! nuScenes'); they are only tested on.

mod clouds;
mod curves;
mod training;

use curves::Example;
use farpoint_baselines::estimator::{INPUTS, Network, OUTPUTS, fitted};
use std::error::Error;

const WEIGHTS: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/src/fastpoint/estimator.bin");

/// Seeds of the clouds to train on, and of others to test on.
const SEEDS: [std::ops::Range<u64>; 2] = [0..16_000, 1_000_000..1_000_400];

/// Sample sizes of the clouds on the command line, as shares of their points.
const RATIOS: [f64; 4] = [0.05, 0.1, 0.25, 0.5];

fn main() -> Result<(), Box<dyn Error>> {
    let [learn, test] = SEEDS.map(curves::of_seeds);
    println!("{} curves to learn from, {} to test on", learn.len(), test.len());
    let network = training::trained(&learn, |pass, network| {
        println!("pass {pass}: {}, {}", errors(network, &learn), errors(network, &test));
    });
    let bytes: Vec<u8> = network.numbers.iter().flat_map(|x| x.to_le_bytes()).collect();
    std::fs::write(WEIGHTS, bytes)?;
    println!("mean error {} on curves learned from", errors(&network, &learn));
    println!("mean error {} on others", errors(&network, &test));
    for path in std::env::args().skip(1) {
        let examples = curves::of_cloud(&curves::read(&path)?, &RATIOS);
        let each = examples.iter().map(|one| errors(&network, std::slice::from_ref(one)));
        let each: Vec<String> = each.collect();
        println!("{path}: {}; {}", errors(&network, &examples), each.join(", "));
    }
    Ok(())
}

/// Returns the mean absolute percentage error of the network, and of the fit without weights.
fn errors(network: &Network, examples: &[Example]) -> String {
    let error = |curve: &[f64; OUTPUTS], example: &Example| {
        let off =
            curve.iter().zip(example.follows).map(|(found, truth)| (found / truth - 1.0).abs());
        100.0 * off.sum::<f64>() / OUTPUTS as f64
    };
    let mean = |curve: &dyn Fn(&Example) -> [f64; OUTPUTS]| {
        examples.iter().map(|e| error(&curve(e), e)).sum::<f64>() / examples.len() as f64
    };
    let (network, fit) = (mean(&|e| network.curve(&e.known, e.share)), mean(&|e| fitted(&e.known)));
    format!("{network:.2} % ({fit:.2} % by fit)")
}
