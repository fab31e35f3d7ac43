//! Clouds at the limits of floating point beside a room of as many points: the time of a sample on the GPU over that
//! of the room's. The example `edges` of farpoint is the same for the CPU.

use crate::clouds::{Cloud, any_exponent};
use crate::machine::Machine;
use crate::truth::Truth;
use anyhow::Result;
use farpoint::{Points, Sample, Sampler, Start, Statistics};
use farpoint_cuda::{Buffer, CudaScalar, DeviceBatch, Event, Gpu, Stream};
use farpoint_generate::Kind;
use std::thread;

#[derive(clap::Args)]
pub(crate) struct Edges {
    /// Points of each cloud
    #[arg(long, default_value_t = 277_550)]
    points: usize,
    /// Fractions of the points to sample
    #[arg(long, value_delimiter = ',', default_value = "0.25,1")]
    parts: Vec<f64>,
    /// Timed runs; the fastest counts
    #[arg(long, default_value_t = 5)]
    runs: usize,
    /// Compare with the CPU, too
    #[arg(long)]
    cpu: bool,
    /// Only these clouds, and the room
    only: Vec<String>,
}

type Named<T> = (&'static str, Cloud<T>);

impl Edges {
    pub(crate) fn run(&self) -> Result<bool> {
        println!("{}", Machine::detect());
        println!(
            "cloud precision part ms over-room | of one run with statistics: bands, ms of stages, counts"
        );
        Ok(self.lines::<f32>()? & self.lines::<f64>()?)
    }

    /// Prints a line for each cloud; the first is the baseline of the others.
    fn lines<T: CudaScalar>(&self) -> Result<bool> {
        let mut clouds = clouds::<T>(self.points);
        clouds.retain(|(name, _)| {
            *name == "room" || self.only.is_empty() || self.only.iter().any(|only| only == name)
        });
        let max_samples = self.parts.iter().fold(0.0, |a: f64, &b| a.max(b)) * self.points as f64;
        let truths: Vec<_> = thread::scope(|scope| {
            let truth = |cloud| Truth::new(cloud, &Start::Index(0), max_samples as usize);
            let clouds = clouds.iter().filter(|_| self.cpu);
            let threads: Vec<_> =
                clouds.map(|(_, cloud)| scope.spawn(move || truth(cloud))).collect();
            threads.into_iter().map(|t| t.join().expect("no truth panics")).collect()
        });
        let truths = truths.into_iter().collect::<Result<Vec<_>>>()?;
        let (gpu, mut passed) = (Gpu::new(0)?, true);
        for part in &self.parts {
            let samples = (*part * self.points as f64) as usize;
            let mut first = None;
            for (k, (name, cloud)) in clouds.iter().enumerate() {
                let ms = self.time(&gpu, cloud, samples)?;
                let sample = Sampler::count(samples).statistics(true).on(&gpu).sample(cloud)?;
                let comparison = truths.get(k).map(|truth| truth.compare(&sample, samples));
                passed &= !matches!(comparison, Some(Err(_)));
                let comparison =
                    comparison.map_or(String::new(), |comparison| format!("{comparison:?}"));
                let (over, rest) = (ms / *first.get_or_insert(ms), counted(&sample));
                println!("{name} {} {part} {ms:.2} {over:.2} | {rest} {comparison}", T::SUFFIX);
            }
        }
        Ok(passed)
    }

    /// Returns the least time of a run on the device after the first, in ms.
    fn time<T: CudaScalar>(&self, gpu: &Gpu, cloud: &Cloud<T>, samples: usize) -> Result<f64> {
        let stream = Stream::new(gpu)?;
        let (sampler, len) = (Sampler::count(samples), cloud.len());
        let points = Buffer::upload(&stream, &cloud.data, "points of a test")?;
        let indices = Buffer::<i64>::new(&stream, samples, "indices of a test")?;
        let bytes = gpu.sample_scratch_bytes::<T>(&sampler, 1, len, 3, samples);
        let scratch = Buffer::<u8>::new(&stream, bytes, "scratch memory of a test")?;
        let batch = DeviceBatch {
            scratch: Some((scratch.pointer(), scratch.len())),
            ..DeviceBatch::<T>::padded(points.pointer(), [1, len, 3], indices.pointer())
        };
        let events = [Event::new(gpu)?, Event::new(gpu)?];
        let mut best = f64::INFINITY;
        for run in 0..=self.runs {
            events[0].record(&stream)?;
            // SAFETY: the arrays have the sizes given, and live until the stream was waited for.
            unsafe { gpu.enqueue_sample(&sampler, &stream, &batch)? };
            events[1].record(&stream)?;
            stream.synchronize()?;
            if run > 0 || self.runs == 0 {
                best = best.min(events[1].seconds_since(&events[0])? * 1e3);
            }
        }
        Ok(best)
    }
}

fn counted<T>(sample: &Sample<T>) -> String {
    let Some(Statistics { seconds, bands, band_points, counters, .. }) = &sample.statistics else {
        return String::new();
    };
    let stages = [seconds.build, seconds.single, seconds.solve, seconds.update];
    let stages = stages.map(|stage| format!("{:.2}", stage * 1e3)).join(" ");
    format!("{bands} bands of {band_points}, {stages}, {counters:?}")
}

/// Replaces one row in `every` by those of another cloud.
fn damaged<T: CudaScalar>(mut cloud: Cloud<T>, every: usize, by: &Cloud<T>) -> Cloud<T> {
    for row in (every / 2..cloud.len()).step_by(every) {
        cloud.data[3 * row..3 * row + 3].copy_from_slice(&by.data[3 * row..3 * row + 3]);
    }
    cloud
}

/// A room, and clouds with difficult coordinates.
pub(crate) fn clouds<T: CudaScalar>(n: usize) -> Vec<Named<T>> {
    let single = T::SUFFIX == "f32";
    let room = || Cloud::<T>::of(Kind::Room, n, 1);
    let cube = || Cloud::<T>::of(Kind::Cube, n, 1);
    let (low, high) = if single { (-149, 127) } else { (-1074, 1023) };
    let garbage = any_exponent::<T>(n, low, high, 7);
    let far = |x: f64| Cloud { data: vec![T::from_f64(x); 3 * n], dims: 3 };
    let (end, distance) = if single { (1e30, 1e5) } else { (1e300, 1e9) };
    let large = if single { 1e30 } else { 1e200 };
    let mut two_places = room();
    for row in (0..n).step_by(2) {
        two_places.data[3 * row..3 * row + 3]
            .iter_mut()
            .for_each(|x| *x = *x + T::from_f64(distance));
    }
    vec![
        ("room", room()),
        ("cube", cube()),
        ("lidar", Cloud::of(Kind::Lidar, n, 1)),
        ("outlier", damaged(room(), n, &far(end))),
        ("cube-outlier", damaged(cube(), n, &far(end))),
        ("outlier-1e9", damaged(room(), n, &far(1e9))),
        ("outlier-1e4", damaged(room(), n, &far(1e4))),
        ("outliers", damaged(room(), 1000, &garbage)),
        ("one-in-ten", damaged(room(), 10, &garbage)),
        ("two-places", two_places),
        ("garbage", garbage),
        ("overflow", room().times(large)),
        ("lattice", Cloud::of(Kind::Lattice, n, 1)),
        ("duplicated", Cloud::of(Kind::Duplicated, n, 1)),
        ("line", Cloud::of(Kind::Line, n, 1)),
    ]
}
