//! Times the radius algorithm over resolutions, from which its default was chosen.
//!
//! `cargo run --release --example nvox -- room 100000 0,16,24,32` (0: the default).

use farpoint::{Algorithm, Cpu, RadiusOptions, Sampler};
use std::time::Instant;

fn main() {
    let mut words = std::env::args().skip(1);
    let mut word = || words.next().expect("a kind, a number of points, a list of nvox");
    let kind = word().parse().expect("a kind of cloud");
    let n = word().parse().expect("a number of points");
    let cloud = farpoint_generate::generate(kind, n, 1);
    println!("kind points nvox voxels seconds");
    for nvox in word().split(',').map(|nvox| nvox.parse().expect("a number")) {
        let radius = RadiusOptions::default().nvox(Some(nvox).filter(|n| *n > 0));
        let sampler = Sampler::ratio(0.25).algorithm(Algorithm::Radius(radius));
        let seconds = (0..3).map(|_| {
            let clock = Instant::now();
            sampler.on(&Cpu::new().threads(1)).sample(&cloud).expect("the cloud can be sampled");
            clock.elapsed().as_secs_f64()
        });
        let seconds = seconds.fold(f64::INFINITY, f64::min);
        let counted = sampler.statistics(true).sample(&cloud).expect("as before");
        let tested = counted.statistics.expect("statistics").regions_tested;
        println!("{kind} {n} {nvox} {} {seconds:.4}", tested / counted.indices.len() as u64);
    }
}
