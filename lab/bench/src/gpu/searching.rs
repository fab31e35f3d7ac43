//! Times of searches for several neighbors, of clouds in device memory.

use super::Common;
use super::words::milliseconds;
use crate::machine::Machine;
use anyhow::{Context, Result, bail, ensure};
use farpoint::{Method, Neighbors, Sampler, Searcher};
use farpoint_cuda::{
    Buffer, DeviceClouds, DeviceIndex, DeviceSearch, DeviceSearchGradients, Event, Gpu, Stream,
};
use farpoint_generate::{Kind, generate};
use farpoint_io::{Coordinates, ReadOptions, read};
use rayon::prelude::*;
use serde_json::json;
use std::fmt::Write;
use std::marker::PhantomData;
use std::path::Path;

/// Number of searches in a CUDA graph, so that the GPU need not wait for the host.
const CAPTURED: usize = 10;

/// Measure kNN and ball queries, with and without an index, and their gradients.
#[derive(Debug, clap::Args)]
pub(crate) struct Bench {
    #[command(flatten)]
    common: Common,
    /// Only these methods; may be repeated [default: auto].
    #[arg(long, value_name = "NAME")]
    method: Vec<Method>,
    /// Build indexes with this many blocks a cloud, too; may be repeated.
    #[arg(long, value_name = "BLOCKS")]
    team: Vec<u32>,
}

/// Source of clouds.
#[derive(Clone, Copy)]
enum Source {
    /// A turn of KITTI.
    Turn,
    Made(Kind),
}

/// A row of the table.
struct Row {
    name: &'static str,
    source: Source,
    clouds: usize,
    /// Rows of each cloud.
    rows: usize,
    /// Number of these that farthest point sampling chooses.
    chosen: usize,
    asks: Asks,
    job: fn() -> Searcher,
    /// Target time in milliseconds, and with an index.
    goals: [f64; 2],
}

/// Queries and searched clouds.
#[derive(Clone, Copy, PartialEq)]
enum Asks {
    Itself,
    ChosenAskAll,
    AllAskChosen,
}

const TURN: &str = "kitti/odometry_seq00_000000.bin";

const fn row(name: &'static str, source: Source, clouds: usize, rows: usize, asks: Asks) -> Row {
    let job = || Searcher::nearest(16);
    Row { name, source, clouds, rows, chosen: rows / 4, asks, job, goals: [f64::NAN; 2] }
}

fn table() -> Vec<Row> {
    let turn = |name, asks| row(name, Source::Turn, 1, 0, asks);
    let room = Source::Made(Kind::Room);
    let rooms = |name, asks| row(name, room, 8, 24_000, asks);
    let (itself, ball) = (Asks::Itself, Asks::ChosenAskAll);
    vec![
        Row {
            job: || Searcher::ball(0.3, 32),
            goals: [0.15, 0.03],
            ..turn("turn, ball r 0.3 k 32 of a quarter", ball)
        },
        Row {
            job: || Searcher::ball(0.1, 32),
            goals: [0.12, 0.02],
            ..rooms("8 x 24,000, ball r 0.1 k 32 of a quarter", ball)
        },
        Row { goals: [0.45, 0.15], ..turn("turn, k 16", itself) },
        Row { job: || Searcher::nearest(32), goals: [0.65, 0.3], ..turn("turn, k 32", itself) },
        Row { goals: [0.6, f64::NAN], ..rooms("8 x 24,000, k 16", itself) },
        Row {
            job: || Searcher::nearest(32),
            goals: [0.9, f64::NAN],
            ..rooms("8 x 24,000, k 32", itself)
        },
        Row {
            job: || Searcher::nearest(3),
            goals: [0.2, 0.12],
            ..turn("turn, 3 in its quarter", Asks::AllAskChosen)
        },
        Row {
            chosen: 512,
            job: || Searcher::ball(0.2, 32),
            goals: [0.012, f64::NAN],
            ..row("32 x 1,024, ball r 0.2 k 32 of 512", Source::Made(Kind::Object), 32, 1_024, ball)
        },
        row("64 x 4,096, k 16", Source::Made(Kind::Object), 64, 4_096, itself),
        row("1 x 4,096, k 16", Source::Made(Kind::Object), 1, 4_096, itself),
        row("8 x 2,048, k 16", Source::Made(Kind::Object), 8, 2_048, itself),
        row("8 x 1,024, k 16", Source::Made(Kind::Object), 8, 1_024, itself),
        row("1 x 2,048, k 16", Source::Made(Kind::Object), 1, 2_048, itself),
        Row {
            chosen: 1_024,
            job: || Searcher::ball(0.2, 32),
            ..row("8 x 4,096, ball r 0.2 k 32 of 1,024", Source::Made(Kind::Object), 8, 4_096, ball)
        },
        Row {
            chosen: 2_048,
            job: || Searcher::ball(0.1, 32),
            ..row("8 x 8,192, ball r 0.1 k 32 of 2,048", room, 8, 8_192, ball)
        },
        Row {
            chosen: 75_000,
            job: || Searcher::ball(0.1, 32),
            ..row("300,000, ball r 0.1 k 32 of a quarter", room, 1, 300_000, ball)
        },
        Row { job: || Searcher::nearest(64), ..row("20,000, k 64", room, 1, 20_000, itself) },
        Row {
            job: || Searcher::nearest(17).exclude_self(true),
            ..turn("turn, k 17 but itself", itself)
        },
    ]
}

type Cloud = Vec<[f32; 3]>;

impl Row {
    /// Returns queries and searched clouds; `None` if a file is missing.
    fn clouds(&self, gpu: &Gpu, data: Option<&Path>) -> Result<Option<[Vec<Cloud>; 2]>> {
        let all: Vec<Cloud> = match self.source {
            Source::Turn => match turn(data)? {
                Some(cloud) => vec![cloud],
                None => return Ok(None),
            },
            Source::Made(kind) => (0..self.clouds as u64)
                .into_par_iter()
                .map(|seed| generate(kind, self.rows, seed))
                .collect(),
        };
        if self.asks == Asks::Itself {
            return Ok(Some([all.clone(), all]));
        }
        let chosen = |cloud: &Cloud| -> Result<Cloud> {
            let amount = if self.chosen == 0 { cloud.len() / 4 } else { self.chosen };
            let sample = Sampler::count(amount).on(gpu).sample(cloud)?;
            Ok(sample.indices.iter().map(|&index| cloud[index]).collect())
        };
        let chosen = all.iter().map(chosen).collect::<Result<Vec<_>>>()?;
        Ok(Some(if self.asks == Asks::ChosenAskAll { [chosen, all] } else { [all, chosen] }))
    }
}

/// Returns a turn of KITTI; `None` if its file is missing.
pub(super) fn turn(data: Option<&Path>) -> Result<Option<Cloud>> {
    let Some(path) = data.map(|folder| folder.join(TURN)).filter(|path| path.exists()) else {
        return Ok(None);
    };
    match read(&path, &ReadOptions::default())?.coordinates() {
        Coordinates::F32(rows) => Ok(Some(rows.clone())),
        _ => Ok(None),
    }
}

/// Median, fastest and slowest time in seconds.
type Times = [f64; 3];

/// A batch on the GPU, and the CPU's results.
struct Rig<'a> {
    gpu: &'a Gpu,
    stream: Stream,
    points: [Buffer<f32>; 2],
    index: Buffer<u8>,
    scratch: Buffer<u8>,
    distances: Buffer<f32>,
    indices: Buffer<i64>,
    counts: Buffer<i64>,
    request: DeviceSearch<f32>,
    truth: Vec<Neighbors<f32>>,
    events: [Event; 2],
    repeats: usize,
}

impl<'a> Rig<'a> {
    fn new(
        gpu: &'a Gpu,
        clouds: &[Vec<Cloud>; 2],
        job: &Searcher,
        itself: bool,
        repeats: usize,
    ) -> Result<Self> {
        let stream = Stream::new(gpu)?;
        let upload = |side: &[Cloud]| {
            Buffer::upload(&stream, side.concat().as_flattened(), "points of a benchmark")
        };
        let points = [upload(&clouds[0])?, upload(&clouds[1])?];
        let rows = clouds.each_ref().map(|side| side[0].len());
        let count = clouds[0].len();
        let y = DeviceClouds::padded(points[1].pointer(), rows[1], 3);
        let x = if itself { y } else { DeviceClouds::padded(points[0].pointer(), rows[0], 3) };
        let all = count * rows[0];
        let distances = Buffer::new(&stream, all * job.k, "distances of a benchmark")?;
        let indices = Buffer::new(&stream, all * job.k, "indices of a benchmark")?;
        let counts = Buffer::new(&stream, all, "counts of a benchmark")?;
        let request = DeviceSearch::new(x, y, count, 3).outputs(
            Some(distances.pointer()),
            Some(indices.pointer()),
            Some(counts.pointer()),
        );
        let bytes = gpu.index_bytes::<f32>(count, rows[1]);
        let index = Buffer::new(&stream, bytes, "index of a benchmark")?;
        let search = |(x, y)| job.search(x, y);
        let truth = clouds[0].par_iter().zip(&clouds[1]).map(search).collect::<Result<_, _>>()?;
        let scratch = Buffer::new(&stream, 0, "scratch memory")?;
        let events = [Event::new(gpu)?, Event::new(gpu)?];
        Ok(Self {
            gpu,
            stream,
            points,
            index,
            scratch,
            distances,
            indices,
            counts,
            request,
            truth,
            events,
            repeats,
        })
    }

    /// Times the work as a graph, after two warm-up runs.
    fn time(&self, work: impl Fn() -> Result<(), farpoint_cuda::Error>) -> Result<Times> {
        // The first call may load kernels, which can't be captured.
        work()?;
        let graph = self.stream.capture(|| (0..CAPTURED).try_for_each(|_| work()))?;
        let mut seconds = Vec::new();
        for run in 0..self.repeats + 2 {
            self.events[0].record(&self.stream)?;
            // SAFETY: what the work reads and writes lies in buffers of the caller.
            unsafe { graph.launch(&self.stream)? };
            self.events[1].record(&self.stream)?;
            self.stream.synchronize()?;
            if run >= 2 {
                seconds.push(self.events[1].seconds_since(&self.events[0])? / CAPTURED as f64);
            }
        }
        seconds.sort_by(f64::total_cmp);
        Ok([seconds[seconds.len() / 2], seconds[0], seconds[seconds.len() - 1]])
    }

    fn search(&mut self, job: &Searcher, indexed: bool) -> Result<Times> {
        let mut request = self.request;
        if indexed {
            let index = Some((self.index.pointer(), self.index.len()));
            request.y.index = index;
            let build = DeviceIndex::<f32>::new(request.y, request.clouds, 3);
            // SAFETY: clouds and index lie in buffers of this rig, which outlive the stream's work.
            unsafe { self.gpu.enqueue_index(&self.stream, &build)? };
        }
        let bytes = self.gpu.search_scratch_bytes(job, &request);
        self.scratch = Buffer::new(&self.stream, bytes, "scratch memory")?;
        request.scratch = Some((self.scratch.pointer(), bytes));
        self.counts.fill(0x55)?;
        self.indices.fill(0x55)?;
        // SAFETY: as above; the answers have the sizes that the search says.
        let times =
            self.time(|| unsafe { self.gpu.enqueue_search(job, &self.stream, &request) })?;
        self.check(job)?;
        Ok(times)
    }

    fn build(&self) -> Result<Times> {
        let index = Some((self.index.pointer(), self.index.len()));
        let of = DeviceClouds { index, ..self.request.y };
        let build = DeviceIndex::<f32>::new(of, self.request.clouds, 3);
        // SAFETY: clouds and index lie in buffers of this rig, which outlive the stream's work.
        self.time(|| unsafe { self.gpu.enqueue_index(&self.stream, &build) })
    }

    /// Times the gradients of the last search.
    fn gradients(&self, k: usize) -> Result<Times> {
        let (x, y) = (self.request.x, self.request.y);
        let rows = [x.rows, y.rows].map(|rows| rows * self.request.clouds);
        let out = [
            Buffer::<f32>::new(&self.stream, rows[0] * 3, "gradients")?,
            Buffer::<f32>::new(&self.stream, rows[1] * 3, "gradients")?,
        ];
        let request = DeviceSearchGradients::<f32> {
            x,
            y,
            dims: 3,
            clouds: self.request.clouds,
            k,
            offsets: None,
            indices: self.indices.pointer(),
            narrow: false,
            whole: false,
            norm: farpoint::Norm::Two,
            grads: self.distances.pointer(),
            gradients: out.each_ref().map(|buffer| Some(buffer.pointer())),
            scratch: None,
            precision: PhantomData,
        };
        // SAFETY: clouds and answers lie in buffers that outlive the stream's work.
        self.time(|| unsafe { self.gpu.enqueue_search_gradients(&self.stream, &request) })
    }

    /// Compares the results of the last search with the CPU's.
    fn check(&self, job: &Searcher) -> Result<()> {
        let distances = self.distances.download(self.distances.len())?;
        let indices = self.indices.download(self.indices.len())?;
        let counts = self.counts.download(self.counts.len())?;
        let rows = self.request.x.rows;
        for (cloud, truth) in self.truth.iter().enumerate() {
            let same = |row: &usize| {
                let at = (cloud * rows + row) * job.k;
                let (found, near) = (&indices[at..at + job.k], &distances[at..at + job.k]);
                let theirs = &truth.all_indices[row * job.k..][..job.k];
                let far = &truth.all_distances[row * job.k..][..job.k];
                let index = |(a, b): (&i64, &u32)| *a as i32 == *b as i32;
                let bits = |(a, b): (&f32, &f32)| a.to_bits() == b.to_bits();
                found.iter().zip(theirs).all(index)
                    && near.iter().zip(far).all(bits)
                    && counts[cloud * rows + row] == i64::from(truth.counts[*row])
            };
            if let Some(row) = (0..rows).find(|row| !same(row)) {
                let at = (cloud * rows + row) * job.k;
                bail!(
                    "row {row} of cloud {cloud}: {:?} and not {:?}",
                    &indices[at..at + job.k],
                    &truth.all_indices[row * job.k..][..job.k]
                );
            }
        }
        ensure!(self.points.iter().all(|points| !points.is_empty()), "points are kept until here");
        Ok(())
    }
}

impl Bench {
    pub(crate) fn run(&self) -> Result<bool> {
        let gpu = Gpu::new(0)?;
        let machine = Machine::with_gpus();
        println!("{machine}\n");
        let mut text = format!(
            "# Times of searches for several neighbors on a GPU\n\n{machine}\n\nMedians of CUDA events in milliseconds, the mean of {CAPTURED} searches of a CUDA graph; all results equal the CPU's.\n\n\
             | search | what | median | fastest | slowest | goal |\n|---|---|---:|---:|---:|---:|\n"
        );
        let (mut records, mut good) = (Vec::new(), true);
        for row in table().iter().filter(|row| self.common.wants(row.name)) {
            let Some(clouds) = row.clouds(&gpu, self.common.data.as_deref())? else {
                println!("{}: no such file, see --data", row.name);
                continue;
            };
            for (what, result) in self.measure(&gpu, row, &clouds)? {
                let goal = match what.as_str() {
                    "with an index" => row.goals[1],
                    "backward" => f64::NAN,
                    what if what.starts_with("building") => f64::NAN,
                    _ => row.goals[0],
                };
                match result {
                    Ok(times) => {
                        let [median, fastest, slowest] = times.map(milliseconds);
                        println!(
                            "{:<42} {what:<16} {median:>9} ({fastest} to {slowest})",
                            row.name
                        );
                        let goal = if goal.is_nan() { String::new() } else { goal.to_string() };
                        writeln!(
                            text,
                            "| {} | {what} | {median} | {fastest} | {slowest} | {goal} |",
                            row.name
                        )?;
                        records.push(json!({"row": row.name, "what": what, "seconds": times}));
                    }
                    Err(error) => {
                        good = false;
                        println!("{:<42} {what:<16} FAIL {error:#}", row.name);
                    }
                }
            }
        }
        self.common.output.write(&text, || json!({ "searches": records }))?;
        Ok(good)
    }

    fn measure(
        &self,
        gpu: &Gpu,
        row: &Row,
        clouds: &[Vec<Cloud>; 2],
    ) -> Result<Vec<(String, Result<Times>)>> {
        let job = (row.job)();
        let repeats = usize::from(self.common.repeats);
        let mut rig = Rig::new(gpu, clouds, &job, row.asks == Asks::Itself, repeats)
            .with_context(|| row.name.to_owned())?;
        let mut all = Vec::new();
        let methods = if self.method.is_empty() { vec![Method::Auto] } else { self.method.clone() };
        for method in methods {
            let job = job.clone().method(method);
            all.push((method.to_string(), rig.search(&job, false)));
        }
        let indexed = job.clone().method(Method::Tree);
        all.push(("with an index".into(), rig.search(&indexed, true)));
        all.push(("building one".into(), rig.build()));
        for &team in &self.team {
            gpu.set_tree_team(Some(team));
            all.push((format!("building, team {team}"), rig.build()));
            gpu.set_tree_team(None);
        }
        all.push(("backward".into(), rig.gradients(job.k)));
        Ok(all)
    }
}
