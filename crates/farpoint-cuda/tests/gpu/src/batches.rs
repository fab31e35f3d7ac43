//! Batches in every form return the results of their clouds one by one.

use crate::clouds::Cloud;
use crate::runner::Group;
use crate::tally::Tally;
use crate::truth::{job, on_cpu};
use crate::variants::{self, ALL};
use anyhow::Result;
use farpoint::backend::SplitMix64;
use farpoint::{Amount, NonFinite, Points, Sample, Sampler, Start};
use farpoint_cuda::{CudaScalar, Gpu, Gpus};
use farpoint_generate::Kind;

/// Clouds with a job for each.
pub(crate) struct Set<T> {
    name: &'static str,
    clouds: Vec<Cloud<T>>,
    amount: Amount,
    start: Start,
}

impl<T: CudaScalar> Set<T> {
    /// Clouds of all kinds in turn, of these sizes.
    fn of(name: &'static str, sizes: &[usize], amount: Amount) -> Self {
        let cloud = |(seed, &n): (usize, &usize)| {
            Cloud::of(Kind::ALL[seed % Kind::ALL.len()], n, seed as u64)
        };
        let clouds = (1..).zip(sizes).map(cloud).collect();
        Self { name, clouds, amount, start: Start::Index(0) }
    }

    fn from(self, start: Start) -> Self {
        Self { start, ..self }
    }
}

/// Sizes drawn below `end`.
fn random_sizes(count: usize, end: u64, seed: u64) -> Vec<usize> {
    let mut random = SplitMix64::new(seed);
    (0..count).map(|_| random.below(end) as usize).collect()
}

pub(crate) fn groups(quick: bool) -> Vec<Group> {
    let mixed = &[100, 1, 64, 0, 99, 100, 33, 1_000][..];
    let mut groups = vec![
        group(Set::<f32>::of("mixed and empty", mixed, Amount::Ratio(0.4))),
        group(Set::<f64>::of("mixed and empty", mixed, Amount::Ratio(0.4))),
        group(Set::<f32>::of("32 x 1,024 -> 512", &[1_024; 32], Amount::Count(512))),
        group(Set::<f32>::of("1,000 x 64 -> 16", &[64; 1_000], Amount::Count(16))),
        group(Set::<f32>::of("200 ragged", &random_sizes(200, 300, 1), Amount::Ratio(0.25))),
        group(Set::<f32>::of("spacing", &[700, 33, 1, 2_000], Amount::Spacing(0.3))),
        group(Set::<f64>::of("whole", &[300, 0, 1, 500], Amount::All)),
        group(starts::<f32>("random starts", Start::Random(3))),
        group(starts::<f64>("several starts", Start::Indices(vec![3, 0, 7]))),
        group(axes(2, "2 axes")),
        group(axes(5, "5 axes")),
    ];
    if !quick {
        let uneven = &[60_000, 5, 300, 0, 2_000, 30, 8_000, 1, 40_000][..];
        groups.extend([
            group(Set::<f32>::of("8 x 16,384 -> 4,096", &[16_384; 8], Amount::Count(4_096))),
            group(Set::<f64>::of("8 x 16,384 -> 4,096", &[16_384; 8], Amount::Count(4_096))),
            group(Set::<f32>::of("32 x 24,000 -> 6,000", &[24_000; 32], Amount::Count(6_000))),
            group(Set::<f32>::of("sizes far apart", uneven, Amount::Ratio(0.25))),
            group(Set::<f32>::of("300 x 3,000 -> 100", &[3_000; 300], Amount::Count(100))),
        ]);
    }
    groups
}

/// Batches in which each cloud takes several blocks.
pub(crate) fn several_blocks() -> Vec<Group> {
    let uneven = &[30_000, 5, 300, 0, 2_000, 8_000][..];
    vec![
        group(Set::<f32>::of("4 x 16,384 -> 4,096", &[16_384; 4], Amount::Count(4_096))),
        group(Set::<f64>::of("sizes apart", uneven, Amount::Ratio(0.25))),
    ]
}

/// Batches for the sanitizer.
pub(crate) fn small() -> Vec<Group> {
    let mixed = &[100, 1, 64, 0, 300, 33][..];
    vec![
        group(Set::<f32>::of("mixed and empty", mixed, Amount::Ratio(0.4))),
        group(Set::<f32>::of("5 x 1,024 -> 64", &[1_024; 5], Amount::Count(64))),
    ]
}

fn starts<T: CudaScalar>(name: &'static str, start: Start) -> Set<T> {
    Set::of(name, &[700, 9, 33, 2_000, 150], Amount::Ratio(0.5)).from(start)
}

fn axes(dims: usize, name: &'static str) -> Set<f32> {
    let sizes = [500, 0, 77, 900];
    let clouds = sizes.map(|n| Cloud::random(n, dims, (n == 77).then_some(4), n as u64));
    let amount = Amount::Ratio(0.3);
    Set { name, clouds: clouds.into(), amount, start: Start::Index(0) }
}

/// A batch in all forms that the host side supports.
struct Forms<T> {
    set: Set<T>,
    padded: Vec<T>,
    shape: [usize; 3],
    lengths: Vec<usize>,
    ragged: Vec<T>,
    offsets: Vec<usize>,
    sampler: Sampler,
    truth: Vec<Sample<T>>,
}

impl<T: CudaScalar> Forms<T> {
    fn new(set: Set<T>) -> Result<Self> {
        let lengths: Vec<_> = set.clouds.iter().map(|cloud| cloud.len()).collect();
        let (d, longest) = (set.clouds[0].dims, *lengths.iter().max().unwrap_or(&0));
        let row = longest * d;
        // Padding holds values that would be noticed.
        let mut padded = vec![T::INFINITY; set.clouds.len() * row];
        for (cloud, place) in set.clouds.iter().zip(padded.chunks_mut(row)) {
            place[..cloud.data.len()].copy_from_slice(&cloud.data);
        }
        let ragged = set.clouds.iter().flat_map(|cloud| cloud.data.iter().copied()).collect();
        let offsets = (0..=lengths.len()).map(|end| lengths[..end].iter().sum()).collect();
        let sampler = job(set.amount, set.start.clone(), NonFinite::Error);
        let truth = on_cpu(sampler.clone(), longest).sample_batch(&set.clouds)?;
        let shape = [set.clouds.len(), longest, d];
        Ok(Self { set, padded, shape, lengths, ragged, offsets, sampler, truth })
    }

    fn compare(&self, device: &Gpu, part: &str, tally: &mut Tally) {
        let d = self.shape[2];
        for (index, variant) in variants::all(part).into_iter().enumerate() {
            let (sampler, name) = (variant.of(self.sampler.clone()), &variant.name);
            let batch = sampler.on(device).sample_batch(&self.set.clouds);
            tally.batch(format!("{name}, batch"), batch, &self.truth);
            if index > 0 {
                continue;
            }
            let lengths = Some(&self.lengths[..]);
            let padded = sampler.on(device).sample_padded(&self.padded, self.shape, lengths);
            tally.batch(format!("{name}, padded"), padded, &self.truth);
            let ragged = sampler.on(device).sample_ragged(&self.ragged, d, &self.offsets);
            tally.batch(format!("{name}, ragged"), ragged, &self.truth);
            // One GPU twice: two threads, two streams.
            let twice = Gpus::new(vec![device.clone(), device.clone()]);
            let spread = twice.and_then(|twice| sampler.on(&twice).sample_batch(&self.set.clouds));
            tally.batch(format!("{name}, across"), spread, &self.truth);
            for (k, (cloud, truth)) in self.set.clouds.iter().zip(&self.truth).enumerate().take(40)
            {
                // A random start depends on the cloud alone, not on its position in the batch.
                let single = sampler.on(device).sample(cloud);
                tally.sample(format!("{name}, cloud {k} alone"), single, truth);
            }
        }
    }
}

fn group<T: CudaScalar>(set: Set<T>) -> Group {
    Group::new(format!("batch {}, {}", T::SUFFIX, set.name), ALL, move || {
        let forms = Forms::new(set)?;
        Ok(move |device: &Gpu, part: &str, tally: &mut Tally| {
            forms.compare(device, part, tally);
            Ok(())
        })
    })
}
