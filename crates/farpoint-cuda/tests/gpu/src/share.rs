//! A large cloud in host memory, on one GPU, on several, or partly in host memory, in turn: seconds of each stage.
//! Every run must return the indices and distances of the first.

use crate::clouds::Cloud;
use crate::large::LargeCloud;
use crate::machine::Machine;
use crate::spilled::MemoryLimit;
use anyhow::{Context, Result, ensure};
use farpoint::{Algorithm, Sample, Sampler};
use farpoint_cuda::{CudaScalar, Gpu, Gpus};
use std::time::Instant;

#[derive(clap::Args)]
pub(crate) struct Share {
    /// Points of the cloud
    #[arg(long, default_value_t = 100_000_000)]
    points: usize,
    /// Double precision
    #[arg(long)]
    double: bool,
    /// Runs of each way
    #[arg(long, default_value_t = 2)]
    runs: usize,
    /// Number of GPUs, and MiB of memory to use on each: 1, 2, 1:2800; all of its memory by default
    #[arg(long, default_values = ["1", "2"])]
    way: Vec<String>,
}

impl Share {
    pub(crate) fn run(&self) -> Result<bool> {
        println!("{}", Machine::detect());
        if self.double { self.sample::<f64>() } else { self.sample::<f32>() }
    }

    fn sample<T: CudaScalar>(&self) -> Result<bool> {
        let rows = LargeCloud::<T>::new(self.points);
        let cloud = rows.into_cloud();
        let count = self.points / 4;
        let mut first: Option<Sample<T>> = None;
        let mut passed = true;
        for turn in 0..self.runs {
            for way in &self.way {
                let begin = Instant::now();
                let sample = one(way, &cloud, count).with_context(|| way.clone())?;
                let seconds = begin.elapsed().as_secs_f64();
                let equal = first.as_ref().is_none_or(|first| {
                    first.indices == sample.indices
                        && first.squared_distances == sample.squared_distances
                });
                passed &= equal;
                let statistics = sample.statistics.as_ref().context("statistics")?;
                let s = &statistics.seconds;
                let verdict = if equal { "equal" } else { "DIFFERENT" };
                println!(
                    "turn {turn}, {way}: kernels {:.1} ms (build {:.1}, single {:.1}, solve {:.1}, update {:.1}), \
                     copy {:.2} s, all {seconds:.2} s, {:.2} GiB in host memory, {} bands; {verdict}",
                    s.kernels * 1e3,
                    s.build * 1e3,
                    s.single * 1e3,
                    s.solve * 1e3,
                    s.update * 1e3,
                    s.copy,
                    statistics.bytes.host as f64 / f64::from(1 << 30),
                    statistics.bands,
                );
                println!("  {:?}", statistics.counters);
                first.get_or_insert(sample);
            }
        }
        println!("{}", if passed { "all right" } else { "WRONG" });
        Ok(passed)
    }
}

/// One run.
fn one<T: CudaScalar>(way: &str, cloud: &Cloud<T>, samples: usize) -> Result<Sample<T>> {
    let (count, mib_text) = way.split_once(':').unwrap_or((way, ""));
    let count: usize = count.parse().context("a number of GPUs")?;
    let all = Gpu::all()?;
    ensure!(count >= 1 && count <= all.len(), "{count} of {} GPUs", all.len());
    let gpus = all[..count].to_vec();
    let _limit = match mib_text {
        "" => None,
        mib => Some(MemoryLimit::new(&gpus, mib.parse::<usize>().context("MiB")? << 20)),
    };
    let sampler = Sampler::count(samples).algorithm(Algorithm::peak()).statistics(true);
    Ok(match &gpus[..] {
        [gpu] => sampler.on(gpu).sample(cloud)?,
        _ => sampler.on(&Gpus::new(gpus.clone())?.sharing_from(0)).sample(cloud)?,
    })
}
