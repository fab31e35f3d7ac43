//! A large cloud in host memory, on one GPU, on several, or partly in host memory, in turn: seconds of each stage.
//! Every run must return the indices and distances of the first.

use crate::clouds::Cloud;
use crate::large::LargeCloud;
use crate::machine::Machine;
use crate::spilled::Room;
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
    /// Turns
    #[arg(long, default_value_t = 2)]
    runs: usize,
    /// GPUs, and how many MiB of each may be used: 1, 2, 1:2800; all of its memory unless given
    #[arg(long, default_values = ["1", "2"])]
    way: Vec<String>,
}

impl Share {
    pub(crate) fn run(&self) -> Result<bool> {
        println!("{}", Machine::here());
        if self.double { self.sample::<f64>() } else { self.sample::<f32>() }
    }

    fn sample<T: CudaScalar>(&self) -> Result<bool> {
        let rows = LargeCloud::<T>::new(self.points);
        let cloud = rows.whole();
        let wanted = self.points / 4;
        let mut first: Option<Sample<T>> = None;
        let mut good = true;
        for turn in 0..self.runs {
            for way in &self.way {
                let begin = Instant::now();
                let sample = one(way, &cloud, wanted).with_context(|| way.clone())?;
                let seconds = begin.elapsed().as_secs_f64();
                let equal = first.as_ref().is_none_or(|first| {
                    first.indices == sample.indices
                        && first.squared_distances == sample.squared_distances
                });
                good &= equal;
                let told = sample.statistics.as_ref().context("statistics")?;
                let s = &told.seconds;
                let said = if equal { "equal" } else { "DIFFERENT" };
                println!(
                    "turn {turn}, {way}: kernels {:.1} ms (build {:.1}, single {:.1}, solve {:.1}, update {:.1}), \
                     copy {:.2} s, all {seconds:.2} s, {:.2} GiB in host memory, {} bands; {said}",
                    s.kernels * 1e3,
                    s.build * 1e3,
                    s.single * 1e3,
                    s.solve * 1e3,
                    s.update * 1e3,
                    s.copy,
                    told.bytes.host as f64 / f64::from(1 << 30),
                    told.bands,
                );
                println!("  {:?}", told.counters);
                first.get_or_insert(sample);
            }
        }
        println!("{}", if good { "all right" } else { "WRONG" });
        Ok(good)
    }
}

/// One run.
fn one<T: CudaScalar>(way: &str, cloud: &Cloud<T>, wanted: usize) -> Result<Sample<T>> {
    let (count, room) = way.split_once(':').unwrap_or((way, ""));
    let count: usize = count.parse().context("a number of GPUs")?;
    let all = Gpu::all()?;
    ensure!(count >= 1 && count <= all.len(), "{count} of {} GPUs", all.len());
    let gpus = all[..count].to_vec();
    let _room = match room {
        "" => None,
        mib => Some(Room::new(&gpus, mib.parse::<usize>().context("MiB")? << 20)),
    };
    let sampler = Sampler::count(wanted).algorithm(Algorithm::peak()).statistics(true);
    Ok(match &gpus[..] {
        [gpu] => sampler.on(gpu).sample(cloud)?,
        _ => sampler.on(&Gpus::new(gpus.clone())?.sharing_from(0)).sample(cloud)?,
    })
}
