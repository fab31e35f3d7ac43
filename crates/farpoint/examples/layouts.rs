//! Cost of reading coordinates from records instead of a dense array, and some rows instead of all: the
//! same sample of the same cloud from each layout, by turns.
//!
//! `cargo run --release --example layouts -- 4096 200 turn.bin` (samples, turns, a file of rows of four `f32`).
//! One thread. The least processor time of a run and the least time of its copy in microseconds, and the median
//! ratio of a run to the dense array's in the same turn. Linux only.

use farpoint::{Axes, Cpu, Points, RawLayout, RawPoints, Sampler, Selected};

/// Stride in bytes, true if the bytes of numbers are swapped, true if axes have offsets.
const LAYOUTS: [(usize, bool, bool); 8] = [
    (12, false, false),
    (16, false, false),
    (26, false, false),
    (26, true, false),
    (26, false, true),
    (32, false, false),
    (32, true, true),
    (48, false, false),
];

struct Layouts {
    job: Sampler,
    rows: Vec<Row>,
}

/// A layout, with the seconds of each run.
struct Row {
    name: String,
    runs: Vec<f64>,
    copies: Vec<f64>,
}

fn main() {
    let mut words = std::env::args().skip(1);
    let mut word = || words.next().expect("samples, turns, a file");
    let count = word().parse().expect("a number of samples");
    let turns: usize = word().parse().expect("a number of turns");
    let cloud = file(&word());
    let bytes = LAYOUTS.map(|(stride, swapped, _)| records(&cloud, stride, swapped));
    let columns: [Vec<f32>; 3] =
        std::array::from_fn(|axis| cloud.iter().map(|p| p[axis]).collect());
    let columns = columns.each_ref().map(Vec::as_slice);
    let all: Vec<usize> = (0..cloud.len()).collect();
    let mut layouts = Layouts { job: Sampler::count(count).statistics(true), rows: Vec::new() };
    for _ in 0..turns {
        layouts.run("dense array", &cloud);
        for (k, (stride, swapped, offsets)) in LAYOUTS.into_iter().enumerate() {
            let swap = if swapped { ", swapped" } else { "" };
            let by = if offsets { ", offsets" } else { "" };
            let layout = RawLayout::dense(cloud.len(), 3).point_stride(stride as isize);
            let layout = if offsets { layout.axis_offsets(&[0, 4, 8]) } else { layout };
            let raw = RawPoints::<f32>::new(&bytes[k], layout.byte_swapped(swapped));
            layouts.run(&format!("records of {stride}{swap}{by}"), &raw.expect("it fits"));
        }
        layouts.run("columns", &Axes::new(&columns).expect("one length"));
        layouts.run("all rows selected", &Selected::rows(&cloud, &all).expect("rows"));
    }
    layouts.show();
}

impl Layouts {
    fn run<P: Points<f32>>(&mut self, name: &str, points: &P) {
        let before = processor_seconds();
        let sample = self.job.on(&Cpu::new().threads(1)).sample(points).expect("a sample");
        let seconds = processor_seconds() - before;
        let k = self.rows.iter().position(|row| row.name == name).unwrap_or_else(|| {
            self.rows.push(Row { name: name.to_owned(), runs: Vec::new(), copies: Vec::new() });
            self.rows.len() - 1
        });
        self.rows[k].runs.push(seconds);
        self.rows[k].copies.push(sample.statistics.expect("statistics").seconds.copy);
    }

    fn show(&self) {
        println!("| layout | run, us | copy, us | ratio of runs |\n|---|---:|---:|---:|");
        let least = |of: &[f64]| of.iter().copied().fold(f64::INFINITY, f64::min) * 1e6;
        for row in &self.rows {
            let mut ratios: Vec<f64> = row
                .runs
                .iter()
                .zip(&self.rows[0].runs)
                .map(|(seconds, dense)| seconds / dense)
                .collect();
            ratios.sort_unstable_by(f64::total_cmp);
            let (run, copy) = (least(&row.runs), least(&row.copies));
            println!("| {} | {run:.0} | {copy:.0} | {:.3} |", row.name, ratios[ratios.len() / 2]);
        }
    }
}

/// Returns the processor time of this process so far.
#[cfg(target_os = "linux")]
fn processor_seconds() -> f64 {
    let mut time = libc::timespec { tv_sec: 0, tv_nsec: 0 };
    // SAFETY: `time` is there to be written.
    unsafe { libc::clock_gettime(libc::CLOCK_PROCESS_CPUTIME_ID, &raw mut time) };
    time.tv_sec as f64 + time.tv_nsec as f64 * 1e-9
}

#[cfg(not(target_os = "linux"))]
fn processor_seconds() -> f64 {
    0.0
}

/// Returns points in records of `stride` bytes.
fn records(cloud: &[[f32; 3]], stride: usize, swapped: bool) -> Vec<u8> {
    let mut bytes = vec![0u8; cloud.len() * stride];
    for (record, point) in bytes.chunks_exact_mut(stride).zip(cloud) {
        for (axis, x) in point.iter().enumerate() {
            let bits = if swapped { x.to_bits().swap_bytes() } else { x.to_bits() };
            record[axis * 4..][..4].copy_from_slice(&bits.to_ne_bytes());
        }
    }
    bytes
}

/// Reads the first three columns of a file of four.
fn file(path: &str) -> Vec<[f32; 3]> {
    let bytes = std::fs::read(path).expect("a file");
    let number = |bytes: &[u8]| f32::from_le_bytes(bytes.try_into().expect("four bytes"));
    let row = |row: &[u8]| [number(&row[..4]), number(&row[4..8]), number(&row[8..12])];
    bytes.chunks_exact(16).map(row).collect()
}
