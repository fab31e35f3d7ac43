//! Nearest neighbors in both directions by a Rust library, timed.
//!
//! `peers-rs METHOD A B THREADS RUNS OUT`: A and B are raw float32 x y z, METHOD is `kiddo` or
//! one of farpoint's (auto, brute, tree), OUT gets the squared distances of A's points, then of
//! B's, as raw float32. Prints the seconds of each run, index build included, one a line.

use farpoint::{Chamfer, Cpu, Matcher};
use kiddo::{ImmutableKdTree, SquaredEuclidean};
use rayon::prelude::*;
use std::error::Error;
use std::time::Instant;

type Cloud = Vec<[f32; 3]>;

fn main() -> Result<(), Box<dyn Error>> {
    let words: Vec<String> = std::env::args().skip(1).collect();
    let [method, a, b, threads, runs, out] = &words[..] else {
        return Err("usage: peers-rs METHOD A B THREADS RUNS OUT".into());
    };
    let (a, b) = (read(a)?, read(b)?);
    let threads: usize = threads.parse()?;
    rayon::ThreadPoolBuilder::new().num_threads(threads).build_global()?;
    let mut found = Vec::new();
    for _ in 0..runs.parse()? {
        let start = Instant::now();
        found = match method.as_str() {
            "kiddo" => [kiddo(&a, &b, threads), kiddo(&b, &a, threads)].concat(),
            method => {
                let Chamfer { a_to_b, b_to_a } = Matcher::new()
                    .method(method.parse()?)
                    .on(&Cpu::new().threads(threads))
                    .chamfer(&a, &b)?;
                let seconds = start.elapsed().as_secs_f64();
                println!("{seconds}");
                found = [a_to_b.raw_distances, b_to_a.raw_distances].concat();
                continue;
            }
        };
        println!("{}", start.elapsed().as_secs_f64());
    }
    std::fs::write(out, found.iter().flat_map(|x| x.to_le_bytes()).collect::<Vec<u8>>())?;
    Ok(())
}

fn read(path: &str) -> Result<Cloud, Box<dyn Error>> {
    let number = |bytes: &[u8]| f32::from_le_bytes(bytes.try_into().expect("four bytes"));
    let rows = std::fs::read(path)?;
    let row = |row: &[u8]| std::array::from_fn(|axis| number(&row[4 * axis..4 * axis + 4]));
    Ok(rows.chunks_exact(12).map(row).collect())
}

fn kiddo(queries: &Cloud, targets: &Cloud, threads: usize) -> Vec<f32> {
    let tree = ImmutableKdTree::new_from_slice(targets).expect("a tree");
    let nearest = |query: &[f32; 3]| {
        tree.query(query).nearest_one::<SquaredEuclidean<f32>>().execute().distance
    };
    match threads {
        1 => queries.iter().map(nearest).collect(),
        _ => queries.par_iter().with_min_len(1024).map(nearest).collect(),
    }
}
