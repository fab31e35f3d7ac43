//! Clouds too large for the GPUs' memory: the rest lies in host memory. A GPU is limited to less of its memory than
//! it has.

use crate::clouds::Cloud;
use crate::runner::Group;
use crate::tally::Tally;
use crate::truth::{job, on_cpu};
use anyhow::Result;
use farpoint::{Algorithm, Amount, NonFinite, Sampler, Start};
use farpoint_cuda::{CudaScalar, Error, Gpu, Gpus};
use farpoint_generate::Kind;

/// Names of the GPUs that sample, and of the share of a cloud's memory that each has room for.
const WAYS: &[&str] =
    &["three quarters", "half", "a quarter", "half, one GPU twice", "half, all GPUs"];

/// Points of a cloud: its arrays are of some pages each, which are moved to host memory as a whole.
const N: usize = 2_000_000;

pub(crate) fn groups(quick: bool) -> Vec<Group> {
    let mut groups = vec![kinds::<f32>(&Kind::ALL[..4]), batches(), refused()];
    if !quick {
        groups.extend([kinds::<f32>(&Kind::ALL[4..]), kinds::<f64>(&Kind::ALL)]);
    }
    groups
}

/// Bytes of a cloud and its samples on a GPU, without host memory.
fn bytes<T: CudaScalar>(device: &Gpu, rows: usize, samples: usize) -> usize {
    let sampler = Sampler::count(samples).algorithm(Algorithm::peak());
    let scratch = device.sample_scratch_bytes::<T>(&sampler, 1, rows, 3, samples);
    scratch + 3 * size_of::<T>() * rows + (8 + size_of::<T>()) * samples
}

/// Limits the room of GPUs until dropped.
pub(crate) struct MemoryLimit(Vec<Gpu>);

impl MemoryLimit {
    pub(crate) fn new(gpus: &[Gpu], bytes: usize) -> Self {
        gpus.iter().for_each(|gpu| gpu.set_memory_limit(Some(bytes)));
        Self(gpus.to_vec())
    }
}

impl Drop for MemoryLimit {
    fn drop(&mut self) {
        self.0.iter().for_each(|gpu| gpu.set_memory_limit(None));
    }
}

/// Kinds of clouds, a quarter of the points and all of them.
fn kinds<T: CudaScalar>(kinds: &'static [Kind]) -> Group {
    let name = format!("spilled, {}, {} clouds", T::SUFFIX, kinds.len());
    Group::new(name, WAYS, move || {
        let clouds = kinds.iter().enumerate().map(|(k, kind)| {
            let cloud = Cloud::<T>::of(*kind, N, 21);
            let amount = if k == 1 { Amount::All } else { Amount::Ratio(0.25) };
            let sampler = job(amount, Start::Index(0), NonFinite::Error);
            let truth = on_cpu(sampler.clone(), N).sample(&cloud)?;
            Ok((kind.name(), cloud, sampler, truth))
        });
        let clouds = clouds.collect::<Result<Vec<_>>>()?;
        Ok(move |device: &Gpu, way: &str, tally: &mut Tally| {
            let gpus = match way.split_once(", ") {
                None => vec![device.clone()],
                Some((_, "one GPU twice")) => vec![device.clone(); 2],
                Some(_) => Gpu::all()?,
            };
            let quarters = match way.split(',').next() {
                Some("three quarters") => 3,
                Some("half") => 2,
                _ => 1,
            };
            for (name, cloud, sampler, truth) in &clouds {
                let full_bytes = bytes::<T>(device, N, truth.indices.len());
                // A GPU listed twice shares its room; several have a share of the cloud each.
                let sharing_gpus = if gpus[0] == gpus[gpus.len() - 1] { 1 } else { gpus.len() };
                let _limit = MemoryLimit::new(&gpus, full_bytes / 4 * quarters / sharing_gpus);
                let sampler = sampler.clone().algorithm(Algorithm::peak()).statistics(true);
                let found = match &gpus[..] {
                    [gpu] => sampler.on(gpu).sample(cloud),
                    _ => sampler.on(&Gpus::new(gpus.clone())?.sharing_from(0)).sample(cloud),
                };
                let host = found.as_ref().ok().and_then(|found| found.statistics.as_ref());
                let host = host.map_or(0, |statistics| statistics.bytes.host);
                tally.is(format!("{name}: {host} bytes of {full_bytes} in host memory"), host > 0);
                tally.sample(name, found, truth);
            }
            Ok(())
        })
    })
    .heavy()
}

/// A batch that does not fit at once, of clouds that fit except for the last.
fn batches() -> Group {
    Group::new("spilled, a batch", &[""], || {
        let mut clouds: Vec<_> =
            (0..5).map(|k| Cloud::<f32>::of(Kind::ALL[k % 3], 150_000, k as u64)).collect();
        clouds.push(Cloud::of(Kind::ALL[0], N, 9));
        let sampler = Sampler::ratio(0.25);
        let truth = (clouds.iter())
            .map(|cloud| on_cpu(sampler.clone(), cloud.data.len() / 3).sample(cloud))
            .collect::<Result<Vec<_>, _>>()?;
        Ok(move |device: &Gpu, _: &str, tally: &mut Tally| {
            let bytes_available = bytes::<f32>(device, N, N / 4) / 2;
            let _limit = MemoryLimit::new(std::slice::from_ref(device), bytes_available);
            let found =
                sampler.clone().algorithm(Algorithm::peak()).on(device).sample_batch(&clouds);
            tally.batch("a batch", found, &truth);
            Ok(())
        })
    })
}

/// A GPU without room for the arrays that can't be in host memory, and algorithms that need all of theirs on the GPU.
fn refused() -> Group {
    Group::new("spilled, refused", &[""], || {
        let cloud = Cloud::<f32>::of(Kind::ALL[0], 300_000, 3);
        let sampler = Sampler::ratio(0.25);
        let truth = on_cpu(sampler.clone(), 300_000).sample(&cloud)?;
        Ok(move |device: &Gpu, _: &str, tally: &mut Tally| {
            let peak = sampler.clone().algorithm(Algorithm::peak());
            let result = {
                let _limit = MemoryLimit::new(std::slice::from_ref(device), 1 << 20);
                peak.on(device).sample(&cloud)
            };
            tally.is("a limit of 1 MiB", matches!(result, Err(Error::OutOfMemory { .. })));
            tally.sample("the call after it", peak.on(device).sample(&cloud), &truth);
            Ok(())
        })
    })
}
