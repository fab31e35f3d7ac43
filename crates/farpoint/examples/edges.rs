//! Time of a sample of clouds at the limits of floating point, over that of a room scan of as many points, in
//! both precisions.
//!
//! `cargo run --release --example edges -- 277550 1 1 4` (points; the part of them that is taken; numbers of
//! threads; seconds for each line at most, but for the first run). `FARPOINT_ALGORITHM` names one other than `auto`.

use farpoint::backend::SplitMix64;
use farpoint::{Algorithm, Cpu, Measured, Points, Sample, Sampler, Scalar};
use farpoint_generate::{lattice, room};
use std::time::Instant;

fn main() {
    let mut words = std::env::args().skip(1);
    let mut word = || words.next().expect("points, part, threads, seconds a line");
    let points = word().parse().expect("a number of points");
    let part: f64 = word().parse().expect("a part of the points");
    let threads: Vec<usize> = word().split(',').map(|t| t.parse().expect("a number")).collect();
    let patience: f64 = word().parse().expect("seconds");
    let only: Vec<String> = words.collect();
    println!(
        "cloud precision threads algorithm ms over-room | of one run with statistics: distances and boxes a point, bands, ms of stages"
    );
    for threads in threads {
        let settings = Settings { part, threads, patience, only: &only };
        settings.lines("f32", clouds32(points));
        settings.lines("f64", clouds64(points));
    }
}

struct Settings<'a> {
    part: f64,
    threads: usize,
    patience: f64,
    only: &'a [String],
}

impl Settings<'_> {
    /// Prints a line for each cloud; the first is the baseline of the others.
    fn lines<T: Scalar>(&self, precision: &str, clouds: Vec<(&str, Vec<[T; 3]>)>)
    where
        [[T; 3]]: Points<T>,
    {
        let mut first = None;
        for (name, cloud) in clouds {
            if first.is_some() && !self.only.is_empty() && !self.only.iter().any(|o| o == name) {
                continue;
            }
            let (seconds, sample) = self.best(&cloud);
            let over = seconds / *first.get_or_insert(seconds);
            let (ms, threads, algorithm) = (seconds * 1e3, self.threads, sample.algorithm);
            let statistics = sample.statistics.expect("statistics");
            let stages = statistics.named().into_iter().filter_map(|(name, value)| match value {
                Measured::Seconds(s) => {
                    Some(format!("{} {:.1}", name.replace(" seconds", ""), s * 1e3))
                }
                _ => None,
            });
            let stages = stages.collect::<Vec<_>>().join(" ");
            let each = |count: u64| count as f64 / cloud.len() as f64;
            let [distances, boxes] =
                [statistics.distance_evaluations, statistics.regions_tested].map(each);
            let bands = statistics.bands;
            println!(
                "{name} {precision} {threads} {algorithm} {ms:.1} {over:.2} | \
                 {distances:.0} {boxes:.0} {bands} {stages}"
            );
        }
    }

    /// Returns the best time of several runs, and a sample with statistics.
    fn best<T: Scalar>(&self, cloud: &[[T; 3]]) -> (f64, Sample<T>)
    where
        [[T; 3]]: Points<T>,
    {
        let cpu = Cpu::new().threads(self.threads);
        let algorithm = std::env::var("FARPOINT_ALGORITHM").unwrap_or_else(|_| "auto".to_owned());
        let algorithm: Algorithm = algorithm.parse().expect("an algorithm");
        let run = |statistics| {
            let sampler = Sampler::ratio(self.part).algorithm(algorithm).statistics(statistics);
            let start = Instant::now();
            let sample = sampler.on(&cpu).sample(cloud).expect("a cloud");
            (start.elapsed().as_secs_f64(), sample)
        };
        let begin = Instant::now();
        let mut best = run(true);
        let mut runs = 0;
        while runs < 1 || (runs < 10 && begin.elapsed().as_secs_f64() < self.patience) {
            best.0 = best.0.min(run(false).0);
            runs += 1;
        }
        best
    }
}

fn as_f64(cloud: &[[f32; 3]]) -> Vec<[f64; 3]> {
    cloud.iter().map(|row| row.map(f64::from)).collect()
}

/// Returns the cloud times a number.
fn scaled(cloud: &[[f32; 3]], scale: f64) -> Vec<[f64; 3]> {
    as_f64(cloud).into_iter().map(|row| row.map(|x| x * scale)).collect()
}

fn as_f32(cloud: &[[f64; 3]]) -> Vec<[f32; 3]> {
    cloud.iter().map(|row| row.map(|x| x as f32)).collect()
}

/// Returns the cloud with one row in `every` replaced.
fn damaged<T: Copy>(
    cloud: &[[T; 3]],
    every: usize,
    mut row: impl FnMut() -> [T; 3],
) -> Vec<[T; 3]> {
    let rows = cloud.iter().enumerate();
    rows.map(|(k, &good)| if k % every == every / 2 { row() } else { good }).collect()
}

fn clouds32(points: usize) -> Vec<(&'static str, Vec<[f32; 3]>)> {
    let good = room(points, 1);
    let mut random = SplitMix64::new(7);
    let mut number = || loop {
        let x = f32::from_bits(random.below(1 << 32) as u32);
        if x.is_finite() {
            return x;
        }
    };
    let mut garbage = || [number(), number(), number()];
    let mut clouds = vec![
        ("room", good.clone()),
        ("garbage", (0..points).map(|_| garbage()).collect()),
        ("overflow", as_f32(&scaled(&good, 1e30))),
        ("around-overflow", as_f32(&scaled(&good, 4e18))),
        ("equal-huge", vec![[1e30, -1e30, 1e30]; points]),
        ("underflow", as_f32(&scaled(&good, 1e-24))),
        ("around-underflow", as_f32(&scaled(&good, 1e-20))),
        ("subnormal", as_f32(&scaled(&good, 1e-43))),
        ("outlier", damaged(&good, points, || [1e30; 3])),
        ("outlier-1e9", damaged(&good, points, || [1e9, 0.0, 0.0])),
        ("outliers", damaged(&good, 1000, &mut garbage)),
        ("one-in-ten", damaged(&good, 10, &mut garbage)),
    ];
    let far =
        good.iter().enumerate().map(|(k, row)| row.map(|x| if k % 2 == 0 { x } else { x + 1e5 }));
    clouds.push(("two-places", far.collect()));
    clouds.push(("lattice", lattice(points)));
    clouds
}

fn clouds64(points: usize) -> Vec<(&'static str, Vec<[f64; 3]>)> {
    let good = room(points, 1);
    let mut random = SplitMix64::new(7);
    let mut number = || loop {
        let x = f64::from_bits(random.below(1 << 32) << 32 | random.below(1 << 32));
        if x.is_finite() {
            return x;
        }
    };
    let mut garbage = || [number(), number(), number()];
    let wide_room = as_f64(&good);
    let mut clouds = vec![
        ("room", wide_room.clone()),
        ("garbage", (0..points).map(|_| garbage()).collect()),
        ("overflow", scaled(&good, 1e200)),
        ("around-overflow", scaled(&good, 4e153)),
        ("equal-huge", vec![[1e300, -1e300, 1e300]; points]),
        ("underflow", scaled(&good, 1e-164)),
        ("around-underflow", scaled(&good, 1e-159)),
        ("subnormal", scaled(&good, 1e-322)),
        ("outlier", damaged(&wide_room, points, || [1e300; 3])),
        ("outlier-1e9", damaged(&wide_room, points, || [1e9, 0.0, 0.0])),
        ("outliers", damaged(&wide_room, 1000, &mut garbage)),
        ("one-in-ten", damaged(&wide_room, 10, &mut garbage)),
    ];
    let far = wide_room.iter().enumerate();
    let far = far.map(|(k, row)| row.map(|x| if k % 2 == 0 { x } else { x + 1e9 }));
    clouds.push(("two-places", far.collect()));
    clouds.push(("lattice", as_f64(&lattice(points))));
    clouds
}
