use farpoint::{Algorithm, Cpu, Sampler};
use std::time::Instant;
fn main() {
    let sizes = [
        (256, 128),
        (512, 256),
        (1024, 512),
        (1024, 256),
        (1536, 512),
        (2048, 1024),
        (2048, 512),
        (4096, 1024),
    ];
    for (n, m) in sizes {
        let mut line = format!("{n} -> {m}:");
        for kind in ["room", "lidar", "cube"] {
            let cloud: Vec<[f32; 3]> = farpoint_generate::generate(kind.parse().unwrap(), n, 1);
            for (name, algorithm) in [("naive", Algorithm::Naive), ("tree", Algorithm::Tree)] {
                let cpu = Cpu::new().threads(1);
                let sampler = Sampler::count(m).algorithm(algorithm);
                let mut best = f64::INFINITY;
                let start = Instant::now();
                while start.elapsed().as_secs_f64() < 0.1 {
                    let t = Instant::now();
                    let s = sampler.on(&cpu).sample(&cloud).unwrap();
                    best = best.min(t.elapsed().as_secs_f64());
                    std::hint::black_box(&s);
                }
                line += &format!(" {kind} {name} {:.1}", best * 1e6);
            }
        }
        println!("{line}");
    }
}
