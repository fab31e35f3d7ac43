//! More than 2^31 numbers, in halves: rows are gathered into 4.4 GB, some of which are gathered from there again, and
//! the whole is used as gradients and as `add` of a maximum.

use super::numbers::{Half, Number};
use crate::runner::Group;
use crate::tally::Tally;
use anyhow::Result;
use farpoint::Cpu;
use farpoint::backend::SplitMix64;
use farpoint::values::{ValueShape, gather, gather_max};
use farpoint_cuda::{Buffer, DeviceRows, Gpu, GradientMemory, IndexKind, Stream, ValueKind};

const SHAPE: ValueShape =
    ValueShape { clouds: 1, rows: 1_000, places: 65_600, k: 32, channels: 1_040 };

/// Number of places whose results are checked.
const CHECKED: usize = 50;

pub(super) fn groups() -> Vec<Group> {
    vec![Group::new("values f16, 65,600 x 32 x 1,040", &[""], || {
        let mut random = SplitMix64::new(3);
        let values: Vec<u16> = (0..SHAPE.values()?)
            .map(|_| Half::raw((random.next_u64() >> 40) as f32 / (1 << 20) as f32 - 8.0))
            .collect();
        let count = SHAPE.indices()?;
        let indices: Vec<i32> =
            (0..count).map(|_| (random.next_u64() % SHAPE.rows as u64) as i32).collect();
        Ok(move |device: &Gpu, _: &str, tally: &mut Tally| run(device, &values, &indices, tally))
    })]
}

fn rows(shape: ValueShape, indices: &Buffer<i32>) -> DeviceRows {
    let (kind, index_kind) = (ValueKind::F16, IndexKind::I32);
    DeviceRows { shape, kind, indices: indices.pointer(), index_kind }
}

fn run(device: &Gpu, values: &[u16], indices: &[i32], tally: &mut Tally) -> Result<()> {
    let stream = Stream::new(device)?;
    let input = Buffer::upload(&stream, values, "values")?;
    let index_buffer = Buffer::upload(&stream, indices, "indices")?;
    let gathered = Buffer::<u16>::new(&stream, SHAPE.gathered()?, "gathered rows")?;
    let largest = Buffer::<u16>::new(&stream, SHAPE.reduced()?, "maxima")?;
    let gradients = Buffer::<u16>::new(&stream, SHAPE.values()?, "gradients")?;
    let all = rows(SHAPE, &index_buffer);
    let (from, add, to) = (input.pointer(), gathered.pointer(), largest.pointer());
    // SAFETY: all arrays have the sizes of the shape and outlive the work, which is waited for.
    unsafe {
        device.enqueue_gather(&stream, &all, from, add)?;
        device.enqueue_gather_max(&stream, &all, (from, Some(add)), to, None)?;
        let to = gradients.pointer();
        device.enqueue_gather_backward(&stream, &all, GradientMemory::Pool, add, to)?;
    }
    stream.synchronize()?;
    tally.check("rows", check_rows(device, &stream, &gathered, values, indices)?);
    tally.check("maxima", check_maxima(device, &stream, &largest, values, indices)?);
    let found = gradients.download(SHAPE.values()?)?;
    tally.check("gradients", check_gradients(&found, values, indices));
    Ok(())
}

/// Some rows of a large array, the last one among them.
fn pick(
    device: &Gpu,
    stream: &Stream,
    source: &Buffer<u16>,
    count: usize,
) -> Result<(Vec<usize>, Vec<u16>)> {
    let rows_read: Vec<usize> = (0..CHECKED).map(|k| count - 1 - k * (count / CHECKED)).collect();
    let indices: Vec<i32> = rows_read.iter().map(|&row| row as i32).collect();
    let indices = Buffer::upload(stream, &indices, "indices")?;
    let shape = ValueShape { rows: count, places: CHECKED, k: 1, ..SHAPE };
    let output = Buffer::<u16>::new(stream, shape.gathered()?, "rows")?;
    // SAFETY: both arrays have the sizes of the shape; the work is waited for by the download.
    unsafe {
        device.enqueue_gather(stream, &rows(shape, &indices), source.pointer(), output.pointer())?
    };
    Ok((rows_read, output.download(shape.gathered()?)?))
}

fn check_rows(
    device: &Gpu,
    stream: &Stream,
    gathered: &Buffer<u16>,
    values: &[u16],
    indices: &[i32],
) -> Result<Result<(), String>> {
    let (places, found) = pick(device, stream, gathered, indices.len())?;
    let truth: Vec<u16> = places
        .iter()
        .flat_map(|&flat| &values[indices[flat] as usize * SHAPE.channels..][..SHAPE.channels])
        .copied()
        .collect();
    Ok(Half::same("rows", &found, &truth))
}

fn check_maxima(
    device: &Gpu,
    stream: &Stream,
    largest: &Buffer<u16>,
    values: &[u16],
    indices: &[i32],
) -> Result<Result<(), String>> {
    let (places, found) = pick(device, stream, largest, SHAPE.places)?;
    let checked: Vec<i32> =
        places.iter().flat_map(|&place| &indices[place * SHAPE.k..][..SHAPE.k]).copied().collect();
    let (cpu, shape, values) =
        (Cpu::new(), ValueShape { places: CHECKED, ..SHAPE }, Half::wides(values));
    let add = gather(&cpu, &shape, &values, &checked)?;
    let truth = gather_max(&cpu, &shape, &values, &checked, Some(&add))?;
    Ok(Half::same("maxima", &found, &Half::raws(&truth.values)))
}

/// A row's gradient is its own values, as often as it is named.
fn check_gradients(found: &[u16], values: &[u16], indices: &[i32]) -> Result<(), String> {
    let mut counts = vec![0; SHAPE.rows];
    indices.iter().for_each(|&row| counts[row as usize] += 1);
    for (row, &count) in counts.iter().enumerate() {
        for channel in [0, 1, 519, 1_039] {
            let at = row * SHAPE.channels + channel;
            let sum = (0..count).fold(0f32, |sum, _| sum + Half::wide(values[at]));
            Half::same(&format!("row {row}"), &found[at..=at], &[Half::raw(sum)])?;
        }
    }
    Ok(())
}
