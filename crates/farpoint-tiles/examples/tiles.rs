//! Samples a generated cloud in tiles and by `peak`, compares the indices, and reports what was counted.
//!
//! ```text
//! cargo run --release -p farpoint-tiles --example tiles -- KIND POINTS RATIO [key=value ...]
//! ```
//! Keys: `tiles=16`, `page=256`, `mode=rounds|sweep`, `resident=1`, `threads=1` (tiles side by side, 2: within a
//! tile), `deep=0.25`, `most=COUNT`, `narrow=COUNT`, `f64=1`, `runs=1`.

use farpoint::{Amount, Cpu, NonFinite, Sampler, Scalar, Start};
use farpoint_generate::{Kind, generate};
use farpoint_tiles::{Local, Mode, Plan, Statistics, Threads, TileOptions, Tiled, sample};
use std::time::Instant;

type AnyError = Box<dyn std::error::Error>;

struct Arguments(Vec<String>);

impl Arguments {
    fn get(&self, key: &str) -> Option<&str> {
        self.0.iter().find_map(|arg| arg.strip_prefix(key)?.strip_prefix('='))
    }

    fn number(&self, key: &str, or: f64) -> Result<f64, AnyError> {
        Ok(self.get(key).map_or(Ok(or), str::parse)?)
    }
}

fn main() -> Result<(), AnyError> {
    let args = Arguments(std::env::args().skip(1).collect());
    let [kind, points, ratio] = args.0.first_chunk().ok_or("KIND POINTS RATIO")?;
    let (kind, points, ratio) = (kind.parse::<Kind>()?, points.parse()?, ratio.parse()?);
    let cloud = generate(kind, points, 1);
    if args.number("f64", 0.0)? > 0.0 {
        let wide: Vec<[f64; 3]> = cloud.iter().map(|at| at.map(f64::from)).collect();
        return run(&wide, ratio, &args);
    }
    run(&cloud, ratio, &args)
}

fn run<T: Scalar>(cloud: &[[T; 3]], ratio: f64, args: &Arguments) -> Result<(), AnyError> {
    let threads = args.number("threads", 0.0)? as usize;
    let cpu = Cpu::new().threads(if threads == 0 { 1 } else { rayon::current_num_threads() });
    let tiles = args.number("tiles", 16.0)? as usize;
    let page = args.number("page", 256.0)? as usize;
    let mode = if args.get("mode") == Some("sweep") { Mode::Sweep } else { Mode::Rounds };
    let options = TileOptions::default()
        .resident(args.number("resident", 1.0)? > 0.0)
        .max_candidates(args.number("narrow", 1e6)? as usize)
        .threads(threads == 2);
    for _ in 0..args.number("runs", 1.0)? as usize {
        let clock = Instant::now();
        let truth = Sampler::ratio(ratio).on(&cpu).sample(cloud)?;
        let peak = clock.elapsed().as_secs_f64();
        let clock = Instant::now();
        let tiled = Tiled::new(cloud, NonFinite::Error, tiles, page)?;
        let cut = clock.elapsed().as_secs_f64();
        let plan = Plan::new(Amount::Ratio(ratio), tiled.starts(&Start::Index(0))?)
            .mode(mode)
            .deep(args.number("deep", 0.25)?)
            .max_candidates(args.number("most", 16e6)? as u64);
        let clock = Instant::now();
        let workers = tiled.workers(options);
        let found = match threads {
            1 => sample(plan, tiled.tiles(), &mut Threads(workers)),
            _ => sample(plan, tiled.tiles(), &mut Local(workers)),
        }?;
        let seconds = clock.elapsed().as_secs_f64();
        let equal = found.indices.iter().map(|&index| index as usize).eq(truth.indices);
        println!("peak {peak:.3} s, cut {cut:.3} s, tiles {seconds:.3} s, equal {equal}");
        report(&found.statistics, cloud.len(), found.indices.len());
    }
    Ok(())
}

/// The columns of the table in docs/development/tiles.md.
fn report(counts: &Statistics, points: usize, samples: usize) {
    let percent = |part: u64, of: f64| 100.0 * part as f64 / of;
    println!(
        "  bands {} ({} deep), rounds {} (most {}), candidates {:.2} N, undecided {:.1} %, told {:.0} + {:.0} % of M, \
         bounds {}, passes {:.1}, calls {}, cut {}",
        counts.bands,
        counts.deep_bands,
        counts.rounds,
        counts.most_rounds,
        counts.candidates as f64 / points as f64,
        percent(counts.undecided, counts.candidates as f64),
        percent(counts.sent_facts, samples as f64),
        percent(counts.sent_undecided, samples as f64),
        counts.told_bounds,
        counts.points_read as f64 / points as f64,
        counts.calls,
        counts.cut,
    );
}
