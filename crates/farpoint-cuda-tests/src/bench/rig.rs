//! Timing runs on clouds that lie in device memory, with scratch memory given.

use crate::variants::Variant;
use anyhow::Result;
use farpoint_cuda::{Buffer, Device, DeviceBatch, Event, Sampler, Stream};

/// Sets of clouds of one shape in device memory.
pub(crate) struct Rig<'a> {
    device: &'a Device,
    stream: Stream,
    shape: [usize; 3],
    sets: Vec<Buffer<f32>>,
    indices: Buffer<i64>,
    events: [Event; 2],
}

/// What a measurement gave.
#[derive(Clone)]
pub(crate) struct Timing {
    /// Median of the runs, in seconds; extrapolated if fewer samples were taken than wanted.
    pub(crate) seconds: f64,
    pub(crate) fastest: f64,
    pub(crate) slowest: f64,
    pub(crate) runs: usize,
    /// Samples of a cloud that were taken.
    pub(crate) samples: usize,
    pub(crate) wanted: usize,
    pub(crate) scratch: usize,
    pub(crate) checksum: u64,
}

impl Timing {
    pub(crate) fn extrapolated(&self) -> bool {
        self.samples < self.wanted
    }
}

/// How much time a measurement may take.
#[derive(Clone, Copy)]
pub(crate) struct Budget {
    /// Above this many seconds a run takes fewer samples.
    pub(crate) longest: f64,
    /// Runs that are not counted, and those that are.
    pub(crate) warm: usize,
    pub(crate) repeats: usize,
}

/// Samples by which the time of a run is guessed.
const PROBE: usize = 256;

impl<'a> Rig<'a> {
    pub(crate) fn new(
        device: &'a Device,
        shape: [usize; 3],
        sets: &[Vec<f32>],
        wanted: usize,
    ) -> Result<Self> {
        let stream = Stream::new(device)?;
        let upload = |set: &Vec<f32>| Buffer::upload(&stream, set, "points of a benchmark");
        let sets = sets.iter().map(upload).collect::<Result<_, _>>()?;
        let indices = Buffer::new(&stream, shape[0] * wanted, "indices of a benchmark")?;
        let events = [Event::new(device)?, Event::new(device)?];
        Ok(Self { device, stream, shape, sets, indices, events })
    }

    pub(crate) fn sets(&self) -> usize {
        self.sets.len()
    }

    /// Bytes of scratch memory of a run.
    fn scratch_bytes(&self, sampler: &Sampler, samples: usize) -> usize {
        let [b, n, d] = self.shape;
        sampler.scratch_bytes::<f32>(self.device, b, n, d, samples)
    }

    /// Seconds of one run on the device.
    fn once(&self, sampler: &Sampler, set: usize, scratch: &Buffer<u8>) -> Result<f64> {
        let (points, indices) = (self.sets[set].pointer(), self.indices.pointer());
        let batch = DeviceBatch {
            scratch: Some((scratch.pointer(), scratch.len())),
            ..DeviceBatch::<f32>::padded(points, self.shape, indices)
        };
        self.events[0].record(&self.stream)?;
        // SAFETY: the buffers have the sizes told, and the stream is waited for.
        unsafe { sampler.enqueue(self.device, &self.stream, &batch)? };
        self.events[1].record(&self.stream)?;
        self.stream.synchronize()?;
        Ok(self.events[1].seconds_since(&self.events[0])?)
    }

    /// The median time for `wanted` samples; `check` sees the indices of each set once.
    pub(crate) fn measure(
        &self,
        variant: &Variant,
        wanted: usize,
        budget: Budget,
        mut check: impl FnMut(usize, usize, &[i64]) -> Result<()>,
    ) -> Result<Timing> {
        let samples = self.affordable(variant, wanted, budget)?;
        let sampler = variant.of(Sampler::count(samples));
        let bytes = self.scratch_bytes(&sampler, samples);
        let scratch = Buffer::new(&self.stream, bytes, "scratch memory of a benchmark")?;
        let mut checksum = 0xcbf2_9ce4_8422_2325;
        let mut times = Vec::new();
        for set in 0..self.sets() {
            times.push(self.once(&sampler, set, &scratch)?);
            let indices = self.indices.download(self.shape[0] * samples)?;
            checksum = indices.iter().fold(checksum, |hash: u64, &index| {
                (hash ^ index as u64).wrapping_mul(0x0000_0100_0000_01b3)
            });
            check(set, samples, &indices)?;
        }
        // Slow runs differ little: those that were checked count too.
        let (warm, repeats) = match times[0] {
            0.5.. => (0, budget.repeats.min(3).saturating_sub(times.len())),
            _ => {
                times.clear();
                (budget.warm, budget.repeats)
            }
        };
        let run = |time: usize| self.once(&sampler, time % self.sets(), &scratch);
        (0..warm).try_for_each(|time| run(time).map(drop))?;
        times.extend((0..repeats).map(run).collect::<Result<Vec<_>>>()?);
        times.sort_by(f64::total_cmp);
        let repeats = times.len();
        let scale = wanted as f64 / samples.max(1) as f64;
        Ok(Timing {
            seconds: times[repeats / 2] * scale,
            fastest: times[0] * scale,
            slowest: times[repeats - 1] * scale,
            runs: repeats,
            samples,
            wanted,
            scratch: self.scratch_bytes(&variant.of(Sampler::count(wanted)), wanted),
            checksum,
        })
    }

    /// As many samples as the budget allows, by the time of the first few.
    fn affordable(&self, variant: &Variant, wanted: usize, budget: Budget) -> Result<usize> {
        let probe = wanted.min(PROBE);
        let sampler = variant.of(Sampler::count(probe));
        let bytes = self.scratch_bytes(&sampler, probe);
        let scratch = Buffer::new(&self.stream, bytes, "scratch memory of a benchmark")?;
        // The first run loads the kernel.
        self.once(&sampler, 0, &scratch)?;
        let seconds = self.once(&sampler, 0, &scratch)?;
        let guess = seconds * wanted as f64 / probe.max(1) as f64;
        if guess <= budget.longest {
            return Ok(wanted);
        }
        Ok(((wanted as f64 * budget.longest / guess) as usize).clamp(probe, wanted))
    }
}
