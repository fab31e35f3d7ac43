//! Times of voxel downsampling, of clouds in device memory.

use super::words::milliseconds;
use super::{Common, searching};
use crate::machine::Machine;
use anyhow::{Result, ensure};
use farpoint::{Reduce, VoxelGrid, Voxels};
use farpoint_cuda::{
    Buffer, DeviceVoxelPoints, DeviceVoxels, Error, Event, Gpu, Stream, VoxelSummary,
};
use farpoint_generate::{Kind, generate};
use serde_json::json;
use std::fmt::Write;
use std::marker::PhantomData;
use std::path::Path;

/// Measure voxel downsampling: finding the voxels, their points, and both.
#[derive(Debug, clap::Args)]
pub(crate) struct Bench {
    #[command(flatten)]
    common: Common,
}

/// A row of the table.
struct Row {
    name: &'static str,
    /// Points of a generated cloud; 0 for a turn of KITTI.
    points: usize,
    kind: Kind,
    size: f64,
    sorted: bool,
    /// Target time of both steps in milliseconds.
    goal: f64,
}

const fn row(name: &'static str, kind: Kind, points: usize, size: f64) -> Row {
    Row { name, points, kind, size, sorted: false, goal: f64::NAN }
}

const ROWS: [Row; 10] = [
    Row { goal: 0.05, ..row("turn, 0.3 m", Kind::Lidar, 0, 0.3) },
    Row { goal: 0.05, ..row("turn, 0.05 m", Kind::Lidar, 0, 0.05) },
    Row { goal: 0.05, ..row("120,000 of a street, 0.3 m", Kind::Lidar, 120_000, 0.3) },
    Row { sorted: true, ..row("120,000 of a street, 0.3 m, sorted", Kind::Lidar, 120_000, 0.3) },
    row("1,000,000 of a room, 0.05 m", Kind::Room, 1_000_000, 0.05),
    Row { goal: 2.0, ..row("10,000,000 of a room, 0.02 m", Kind::Room, 10_000_000, 0.02) },
    Row {
        sorted: true,
        ..row("10,000,000 of a room, 0.02 m, sorted", Kind::Room, 10_000_000, 0.02)
    },
    // Neighboring rows lie far apart, and most points have a voxel of their own.
    Row { goal: 2.0, ..row("10,000,000 of a cube, 0.01", Kind::Cube, 10_000_000, 0.01) },
    row("10,000,000 of a cube, 0.001", Kind::Cube, 10_000_000, 0.001),
    row("1,000,000 of a cube, one voxel", Kind::Cube, 1_000_000, 2.0),
];

const REDUCTIONS: [(&str, Reduce); 4] = [
    ("first", Reduce::First),
    ("mean", Reduce::Mean),
    ("center", Reduce::Center),
    ("random", Reduce::Random(1)),
];

impl Row {
    fn job(&self, reduce: Reduce) -> VoxelGrid {
        VoxelGrid::new(self.size).reduce(reduce).sorted(self.sorted)
    }

    /// Returns the cloud; `None` if its file is missing.
    fn cloud(&self, data: Option<&Path>) -> Result<Option<Vec<[f32; 3]>>> {
        match self.points {
            0 => searching::turn(data),
            points => Ok(Some(generate(self.kind, points, 1))),
        }
    }
}

/// Median, fastest and slowest time in seconds.
type Times = [f64; 3];

/// A cloud on the GPU, and all outputs.
struct Rig<'a> {
    gpu: &'a Gpu,
    stream: Stream,
    points: Buffer<f32>,
    count: usize,
    summary: Buffer<i64>,
    scratch: Buffer<u8>,
    inverse: Buffer<i64>,
    counts: Buffer<i64>,
    rows: Buffer<i64>,
    coordinates: Buffer<f32>,
    cells: Buffer<i32>,
    events: [Event; 2],
    repeats: usize,
}

impl<'a> Rig<'a> {
    fn new(gpu: &'a Gpu, cloud: &[[f32; 3]], repeats: usize) -> Result<Self> {
        let (stream, count) = (Stream::new(gpu)?, cloud.len());
        let bytes = gpu.voxel_scratch_bytes(&VoxelGrid::new(1.0), count);
        Ok(Self {
            gpu,
            points: Buffer::upload(&stream, cloud.as_flattened(), "points of a benchmark")?,
            count,
            summary: Buffer::new(&stream, VoxelSummary::len(3), "summary")?,
            scratch: Buffer::new(&stream, bytes, "scratch memory")?,
            inverse: Buffer::new(&stream, count, "voxels of a benchmark")?,
            counts: Buffer::new(&stream, count, "counts of a benchmark")?,
            rows: Buffer::new(&stream, count, "rows of a benchmark")?,
            coordinates: Buffer::new(&stream, 3 * count, "coordinates of a benchmark")?,
            cells: Buffer::new(&stream, 3 * count, "cells of a benchmark")?,
            events: [Event::new(gpu)?, Event::new(gpu)?],
            repeats,
            stream,
        })
    }

    fn request(&self) -> DeviceVoxels<f32> {
        DeviceVoxels {
            points: self.points.pointer(),
            strides: [3, 1],
            clouds: 1,
            rows: self.count,
            dims: 3,
            offsets: None,
            lengths: None,
            summary: self.summary.pointer(),
            origins: None,
            scratch: (self.scratch.pointer(), self.scratch.len()),
            precision: PhantomData,
        }
    }

    fn find(&self, job: &VoxelGrid) -> Result<(), Error> {
        // SAFETY: all arrays are buffers of this rig, which outlive the stream's work.
        unsafe { self.gpu.enqueue_voxels(job, &self.stream, &self.request()) }
    }

    fn write(&self, job: &VoxelGrid, output: &DeviceVoxelPoints) -> Result<(), Error> {
        // SAFETY: the same; there is room for as many voxels as rows.
        unsafe { self.gpu.enqueue_voxel_points(job, &self.stream, &self.request(), output) }
    }

    /// Times the work, after two warm-up runs.
    fn time(&self, work: impl Fn() -> Result<(), Error>) -> Result<Times> {
        let mut seconds = Vec::new();
        for run in 0..self.repeats + 2 {
            self.events[0].record(&self.stream)?;
            work()?;
            self.events[1].record(&self.stream)?;
            self.stream.synchronize()?;
            if run >= 2 {
                seconds.push(self.events[1].seconds_since(&self.events[0])?);
            }
        }
        seconds.sort_by(f64::total_cmp);
        Ok([seconds[seconds.len() / 2], seconds[0], seconds[seconds.len() - 1]])
    }

    /// Times of the first step, of the second, and of both without the time to read the number of voxels, which is
    /// known from the first run.
    fn measure(&self, job: &VoxelGrid, truth: &Voxels<f32>) -> Result<[Times; 3]> {
        self.find(job)?;
        let summary = VoxelSummary::new(3, &self.summary.download(self.summary.len())?);
        ensure!(summary.voxels == truth.len(), "{} voxels, not {}", summary.voxels, truth.len());
        let bytes = self.gpu.voxel_points_scratch_bytes::<f32>(job, self.count, truth.len());
        let scratch = Buffer::<u8>::new(&self.stream, bytes, "scratch memory")?;
        let output = DeviceVoxelPoints {
            room: truth.len(),
            inverse: Some(self.inverse.pointer()),
            counts: Some(self.counts.pointer()),
            rows: Some(self.rows.pointer()),
            coordinates: Some(self.coordinates.pointer()),
            cells: Some(self.cells.pointer()),
            starts: None,
            narrow: false,
            whole: true,
            ranges: summary.ranges,
            scratch: Some((scratch.pointer(), bytes)),
        };
        let times = [
            self.time(|| self.find(job))?,
            self.time(|| self.write(job, &output))?,
            self.time(|| {
                self.find(job)?;
                self.write(job, &output)
            })?,
        ];
        self.check(truth)?;
        Ok(times)
    }

    /// Compares the last results with the CPU's.
    fn check(&self, truth: &Voxels<f32>) -> Result<()> {
        let same = |found: Vec<i64>, truth: &[u32]| {
            found.iter().zip(truth).position(|(&found, &truth)| found as u32 != truth)
        };
        let voxels = truth.len();
        let inverse = same(self.inverse.download(self.count)?, &truth.inverse);
        ensure!(inverse.is_none(), "another voxel of row {inverse:?}");
        let counts = same(self.counts.download(voxels)?, &truth.counts);
        ensure!(counts.is_none(), "another count of voxel {counts:?}");
        let rows = same(self.rows.download(voxels)?, &truth.rows);
        ensure!(rows.is_none(), "another row of voxel {rows:?}");
        ensure!(self.cells.download(3 * voxels)? == truth.cells, "other cells");
        let bits = |numbers: &[f32]| -> Vec<u32> { numbers.iter().map(|x| x.to_bits()).collect() };
        let coordinates = self.coordinates.download(3 * voxels)?;
        ensure!(bits(&coordinates) == bits(&truth.coordinates), "other coordinates");
        Ok(())
    }
}

impl Bench {
    pub(crate) fn run(&self) -> Result<bool> {
        let gpu = Gpu::new(0)?;
        let machine = Machine::with_gpus();
        println!("{machine}\n");
        let mut text = format!(
            "# Times of voxel downsampling on a GPU\n\n{machine}\n\n`farpoint-lab gpu bench-voxels`\n\nMedians of CUDA \
             events; all results equal the CPU's. `find` numbers the voxels, `points` writes the voxel of each row and \
             count, cell, row and coordinates of each voxel; `both` does not read the number of voxels in between.\n\n\
             | cloud | voxels | point | find | points | both | goal |\n|---|---:|---|---:|---:|---:|---:|\n"
        );
        let (mut records, mut good) = (Vec::new(), true);
        for row in ROWS.iter().filter(|row| self.common.wants(row.name)) {
            let Some(cloud) = row.cloud(self.common.data.as_deref())? else {
                println!("{}: no such file, see --data", row.name);
                continue;
            };
            let rig = Rig::new(&gpu, &cloud, usize::from(self.common.repeats))?;
            for (name, reduce) in REDUCTIONS {
                let job = row.job(reduce);
                let truth = job.downsample(&cloud)?;
                match rig.measure(&job, &truth) {
                    Ok(times) => {
                        let [find, points, both] = times.map(|times| milliseconds(times[0]));
                        let (label, voxels) = (row.name, truth.len());
                        println!(
                            "{label:<40} {name:<8} {voxels:>10} {find:>9} {points:>9} {both:>9}"
                        );
                        let goal = if row.goal.is_nan() {
                            String::new()
                        } else {
                            format!("{} ms", row.goal)
                        };
                        writeln!(
                            text,
                            "| {label} | {voxels} | {name} | {find} | {points} | {both} | {goal} |"
                        )?;
                        records.push(json!({
                            "row": label, "point": name, "voxels": voxels, "seconds": times,
                        }));
                    }
                    Err(error) => {
                        good = false;
                        println!("{:<40} {name:<8} FAIL {error:#}", row.name);
                    }
                }
            }
        }
        self.common.output.write(&text, || json!({ "voxels": records }))?;
        Ok(good)
    }
}
