//! `farpoint-baselines`: samples a file by a sampler that the RadiusFPS paper compares with.

use anyhow::{Context, Result, ensure};
use clap::{Parser, Subcommand};
use farpoint::{Amount, Points, Start};
use farpoint_baselines::{Found, Job, Method, gpu, sample};
use farpoint_cuda::{CudaScalar, Gpu};
use farpoint_io::{Coordinates, ReadOptions, WriteOptions};
use serde_json::json;
use std::path::PathBuf;
use std::time::Instant;

/// Samplers that the RadiusFPS paper compares with.
#[derive(Parser)]
struct Cli {
    #[command(subcommand)]
    command: Command,
}

#[derive(Subcommand)]
enum Command {
    /// Samples a point cloud file
    Sample(Sample),
}

#[derive(clap::Args)]
struct Sample {
    /// A file that farpoint reads
    input: PathBuf,
    /// quick, fastpoint, npdu or morton, with options after a colon, such as npdu:order=morton,window=64
    #[arg(long)]
    algorithm: Method,
    /// Number of points to sample
    #[arg(short = 'n', long)]
    count: usize,
    /// First row
    #[arg(long, default_value_t = 0)]
    start: usize,
    /// cpu or cuda
    #[arg(long, default_value = "cpu")]
    device: String,
    /// Threads on the CPU; all unless set
    #[arg(long)]
    threads: Option<usize>,
    /// Write the rows to this .npy or text file
    #[arg(long, value_name = "FILE")]
    indices: Option<PathBuf>,
    /// Write the chosen points with all their attributes to this file
    #[arg(short, long, value_name = "FILE")]
    output: Option<PathBuf>,
    /// Print a report in JSON
    #[arg(long)]
    json: bool,
}

fn main() -> Result<()> {
    let Command::Sample(args) = Cli::parse().command;
    let cloud = farpoint_io::read(&args.input, &ReadOptions::default())?;
    match cloud.coordinates() {
        Coordinates::F32(points) => run(&args, &cloud, points),
        Coordinates::F64(points) => run(&args, &cloud, points),
    }
}

fn run<T: CudaScalar, P: Points<T>>(
    args: &Sample,
    cloud: &farpoint_io::Cloud,
    points: &P,
) -> Result<()> {
    let mut job = Job::new(args.algorithm, Amount::Count(args.count));
    job.threads = args.threads;
    job.non_finite = farpoint::NonFinite::Skip;
    if args.start != 0 {
        job.start = Start::Index(args.start);
    }
    let begin = Instant::now();
    let found: Found<T> = match args.device.as_str() {
        "cpu" => sample(&job, points)?,
        device => {
            let ordinal = device.strip_prefix("cuda").map(|rest| rest.trim_start_matches(':'));
            let ordinal = ordinal.with_context(|| format!("--device {device}: use cpu or cuda"))?;
            let ordinal = if ordinal.is_empty() { 0 } else { ordinal.parse()? };
            gpu::sample_on(&Gpu::new(ordinal)?, &job, points)?
        }
    };
    let seconds = begin.elapsed().as_secs_f64();
    if let Some(file) = &args.indices {
        farpoint_io::write_indices(file, &found.indices)?;
    }
    if let Some(file) = &args.output {
        farpoint_io::write(file, cloud, &found.indices, &WriteOptions::default())?;
    }
    let details = found.fastpoint.map(|details| {
        json!({ "prefix": details.prefix, "radii": details.radii, "found": details.found,
                "spacing": details.spacing, "covering_radius": details.covering_radius })
    });
    let (points, kept) = (points.len(), found.indices.len());
    ensure!(kept == args.count, "{kept} of {} points", args.count);
    if args.json {
        let report = json!({ "input": args.input, "algorithm": args.algorithm.name(), "points": points,
            "skipped": found.dropped, "kept": kept, "seconds": seconds, "window": found.window,
            "fastpoint": details });
        println!("{report:#}");
    } else {
        println!("{kept} of {points} points by {} in {seconds:.3} s", args.algorithm);
    }
    Ok(())
}
