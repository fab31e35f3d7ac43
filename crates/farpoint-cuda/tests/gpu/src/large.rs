//! Clouds too large for a reference: a quarter of the points by `peak`, timed; every run must return
//! the same bits, and prefixes of the selection must be greedy.
//!
//! A prefix of k samples is greedy if sample k is the first of the points farthest from the k before it, at the
//! reported distance. The search for nearest points compares all points with the samples before.

use crate::clouds::Cloud;
use crate::machine::Machine;
use crate::truth::on_cpu;
use anyhow::{Result, ensure};
use farpoint::{Algorithm, Matcher, Sampler};
use farpoint_cuda::{Buffer, CudaScalar, DeviceBatch, DevicePairs, Event, Gpu, Stream};
use farpoint_generate::{Kind, generate};
use std::time::Instant;

/// Number of generated rows; a larger cloud repeats them, each time moved a little.
const GENERATED: usize = 250_000_000;
/// Rooms that they consist of, and the offset of a copy.
const ROOMS: usize = 16;
const OFFSET: f64 = 0.000_37;
/// Rows that are compared with a prefix at a time.
const CHUNK: usize = 1 << 26;

#[derive(clap::Args)]
pub(crate) struct Large {
    /// Points of the cloud
    #[arg(long, default_value_t = 100_000_000)]
    points: usize,
    /// Double precision
    #[arg(long)]
    double: bool,
    /// Timed runs
    #[arg(long, default_value_t = 3)]
    runs: usize,
    /// Prefixes that are checked, of lengths that grow by the same factor, up to all samples
    #[arg(long, default_value_t = 5)]
    prefixes: u32,
    /// Compare with the CPU, too
    #[arg(long)]
    cpu: bool,
}

impl Large {
    pub(crate) fn run(&self) -> Result<bool> {
        ensure!(self.points >= 4, "a quarter of {} points is none", self.points);
        println!("{}", Machine::detect());
        if self.double { self.sample::<f64>() } else { self.sample::<f32>() }
    }

    fn sample<T: CudaScalar>(&self) -> Result<bool> {
        let rows = LargeCloud::<T>::new(self.points);
        let gpu = Gpu::new(0)?;
        let stream = Stream::new(&gpu)?;
        let points = rows.upload(&stream)?;
        let count = rows.len / 4;
        let (samples, milliseconds) = self.measure(&gpu, &stream, &points, count)?;
        println!(
            "{} points, {} bits: {count} samples in {milliseconds:.1} ms",
            rows.len,
            8 * size_of::<T>()
        );
        let mut passed = samples.same;
        for step in 1..=self.prefixes {
            let share = f64::from(step) / f64::from(self.prefixes);
            let k = ((count - 1) as f64).powf(share) as usize;
            passed &= samples.is_greedy(&stream, &rows, &points, k.clamp(1, count - 1))?;
        }
        if self.cpu {
            passed &= samples.matches_cpu(&rows)?;
        }
        println!("{}", if passed { "all right" } else { "WRONG" });
        Ok(passed)
    }

    /// Returns the samples, and the median time of the runs after the first.
    fn measure<T: CudaScalar>(
        &self,
        gpu: &Gpu,
        stream: &Stream,
        points: &Buffer<T>,
        count: usize,
    ) -> Result<(Samples<T>, f64)> {
        let (len, mut times) = (points.len() / 3, Vec::new());
        let sampler = Sampler::count(count).algorithm(Algorithm::peak());
        let indices = Buffer::<i64>::new(stream, count, "indices of a test")?;
        let values = Buffer::<T>::new(stream, count, "values of a test")?;
        let bytes = gpu.sample_scratch_bytes::<T>(&sampler, 1, len, 3, count);
        let scratch = Buffer::<u8>::new(stream, bytes, "scratch memory of a test")?;
        let batch = DeviceBatch {
            values: Some(values.pointer()),
            scratch: Some((scratch.pointer(), scratch.len())),
            ..DeviceBatch::<T>::padded(points.pointer(), [1, len, 3], indices.pointer())
        };
        let events = [Event::new(gpu)?, Event::new(gpu)?];
        let mut samples: Option<Samples<T>> = None;
        for _ in 0..=self.runs {
            events[0].record(stream)?;
            // SAFETY: the arrays have the sizes given, and live until the stream was waited for.
            unsafe { gpu.enqueue_sample(&sampler, stream, &batch)? };
            events[1].record(stream)?;
            stream.synchronize()?;
            times.push(events[1].seconds_since(&events[0])? * 1e3);
            let (indices, values) = (indices.download(count)?, values.download(count)?);
            match &mut samples {
                None => samples = Some(Samples { indices, values, same: true }),
                Some(first) => first.same &= first.indices == indices && first.values == values,
            }
        }
        let samples = samples.expect("at least one run");
        println!(
            "{} runs {}",
            times.len(),
            if samples.same { "gave the same bits" } else { "DIFFER" }
        );
        if self.runs > 0 {
            times.remove(0);
        }
        times.sort_by(f64::total_cmp);
        Ok((samples, times[times.len() / 2]))
    }
}

/// A generated cloud.
pub(crate) struct LargeCloud<T> {
    base: Cloud<T>,
    len: usize,
}

impl<T: CudaScalar> LargeCloud<T> {
    pub(crate) fn new(len: usize) -> Self {
        let copies = len.div_ceil(GENERATED);
        let base = len.div_ceil(copies);
        let each = base.div_ceil(ROOMS);
        let room = |k: usize| {
            let rows = generate(
                Kind::Room,
                each.min(base - (k * each).min(base)),
                (k as u64 + 1) << 32 | 1,
            );
            rows.as_flattened().iter().map(|&x| T::from_f64(f64::from(x))).collect::<Vec<_>>()
        };
        let parts: Vec<_> = std::thread::scope(|scope| {
            let room = &room;
            let threads: Vec<_> = (0..ROOMS).map(|k| scope.spawn(move || room(k))).collect();
            threads.into_iter().map(|t| t.join().expect("no generator panics")).collect()
        });
        Self { base: Cloud { data: parts.concat(), dims: 3 }, len }
    }

    /// Returns coordinate number `at` of all, row by row.
    fn number(&self, at: usize) -> T {
        let copy = at / self.base.data.len();
        self.base.data[at % self.base.data.len()] + T::from_f64(copy as f64 * OFFSET)
    }

    /// Returns the whole cloud in host memory.
    pub(crate) fn into_cloud(self) -> Cloud<T> {
        if self.base.data.len() == 3 * self.len {
            return self.base;
        }
        let mut data = Vec::with_capacity(3 * self.len);
        while data.len() < 3 * self.len {
            let moved = T::from_f64((data.len() / self.base.data.len()) as f64 * OFFSET);
            let rest = self.base.data.len().min(3 * self.len - data.len());
            data.extend(self.base.data[..rest].iter().map(|&x| x + moved));
        }
        Cloud { data, dims: 3 }
    }

    fn upload(&self, stream: &Stream) -> Result<Buffer<T>> {
        let (all, each) = (3 * self.len, self.base.data.len());
        let mut points = Buffer::<T>::new(stream, all, "points of a test")?;
        for begin in (0..all).step_by(each) {
            let moved = T::from_f64((begin / each) as f64 * OFFSET);
            let rest = &self.base.data[..each.min(all - begin)];
            for (k, part) in rest.chunks(CHUNK).enumerate() {
                let part: Vec<T> = part.iter().map(|&x| x + moved).collect();
                points.write(begin + k * CHUNK, &part)?;
            }
        }
        Ok(points)
    }
}

/// Samples of a cloud.
struct Samples<T> {
    indices: Vec<i64>,
    values: Vec<T>,
    /// Set if all runs agreed.
    same: bool,
}

impl<T: CudaScalar> Samples<T> {
    /// Returns whether sample `k` is the textbook loop's choice after those before it.
    fn is_greedy(
        &self,
        stream: &Stream,
        rows: &LargeCloud<T>,
        points: &Buffer<T>,
        k: usize,
    ) -> Result<bool> {
        let begin = Instant::now();
        let chosen: Vec<T> = (self.indices[..k].iter())
            .flat_map(|&row| (0..3).map(move |axis| rows.number(3 * row as usize + axis)))
            .collect();
        let chosen = Buffer::upload(stream, &chosen, "samples of a test")?;
        let distances = Buffer::<T>::new(stream, CHUNK.min(rows.len), "distances of a test")?;
        let (mut farthest, mut first) = (T::from_f64(-1.0), 0);
        for row in (0..rows.len).step_by(CHUNK) {
            let count = CHUNK.min(rows.len - row);
            let from = points.pointer() + (3 * row * size_of::<T>()) as u64;
            let pairs = DevicePairs::<T>::padded([from, chosen.pointer()], 1, [count, k], 3)
                .outputs([Some(distances.pointer()), None], [None, None]);
            // SAFETY: the arrays have the sizes given, and `download` waits.
            unsafe { stream.gpu().enqueue_nearest(&Matcher::new(), stream, &pairs)? };
            for (i, &d) in distances.download(count)?.iter().enumerate() {
                if d > farthest {
                    (farthest, first) = (d, row + i);
                }
            }
        }
        let (index, value) = (self.indices[k] as usize, self.values[k]);
        let right = (first, farthest) == (index, value);
        let seconds = begin.elapsed().as_secs_f64();
        println!(
            "sample {k}: row {index} at {value}; farthest is row {first} at {farthest}: {} ({seconds:.1} s)",
            if right { "right" } else { "WRONG" }
        );
        Ok(right)
    }

    /// Returns whether the CPU chooses the same.
    fn matches_cpu(&self, rows: &LargeCloud<T>) -> Result<bool> {
        let data = (0..3 * rows.len).map(|at| rows.number(at)).collect();
        let job = on_cpu(Sampler::count(self.indices.len()), rows.len);
        let truth = job.sample(&Cloud { data, dims: 3 })?;
        let same = truth.indices.iter().map(|&row| row as i64).eq(self.indices.iter().copied());
        println!("the CPU's: {}", if same { "equal" } else { "DIFFERENT" });
        Ok(same)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_row_is_generated_once_and_copies_are_moved() {
        for len in [4, 40, 1_003] {
            assert_eq!(LargeCloud::<f64>::new(len).base.data.len(), 3 * len);
        }
        let base = Cloud { data: vec![1.0, 2.0, 3.0], dims: 3 };
        let rows = LargeCloud { base, len: 2 };
        let numbers: Vec<f64> = (0..6).map(|at| rows.number(at)).collect();
        assert_eq!(numbers, [1.0, 2.0, 3.0, 1.0 + OFFSET, 2.0 + OFFSET, 3.0 + OFFSET]);
    }
}
