//! Copies of a cloud to its pages, and of its sample from there.

use super::layout::{Offsets, Size};
use crate::gpus::join_or_run;
use crate::input::invalid_result;
use crate::pages::Pages;
use crate::{CudaScalar, Error, Stream, memory};
use farpoint::backend::memory as fallible;
use farpoint::backend::{PreparedCloud as Prepared, spawned};
use farpoint::{Algorithm, RanOn, Sample};

/// Number of rows gathered at a time if the coordinates lie row by row.
const ROWS: usize = 1 << 20;

/// Copies the cloud to its pages, to all GPUs concurrently, and zeroes the state.
pub(super) fn upload<T: CudaScalar>(
    pages: &Pages,
    streams: &[Stream],
    (layout, size): (&Offsets, Size),
    cloud: &Prepared<T>,
) -> Result<(), Error> {
    let starts: Vec<i64> = cloud.starts().iter().map(|&start| i64::from(start)).collect();
    let part = |part: usize, stream: &Stream| {
        let part_memory = pages.address() + (layout.own + part * layout.own_stride) as u64;
        // SAFETY: mapped, and nothing else uses it yet.
        unsafe { memory::set(stream, part_memory, 0, layout.own_stride)? };
        // The part's own memory is zeroed before anything is written there.
        stream.wait_only("cuStreamSynchronize")?;
        pages.write_part(stream, part, layout.starts, &starts)?;
        match size.copied {
            true => upload_axes(pages, (part, stream), layout, cloud),
            false => upload_rows(pages, (part, stream), layout, cloud),
        }
    };
    std::thread::scope(|scope| {
        let part = &part;
        let threads =
            streams.iter().enumerate().map(|(k, stream)| spawned(scope, move || part(k, stream)));
        let threads: Vec<_> = threads.collect();
        threads.into_iter().map(join_or_run).fold(Ok(()), Result::and)
    })
}

/// Uploads a copy of all coordinates for one part, axis by axis.
fn upload_axes<T: CudaScalar>(
    pages: &Pages,
    (part, stream): (usize, &Stream),
    layout: &Offsets,
    cloud: &Prepared<T>,
) -> Result<(), Error> {
    let start = layout.points + part * layout.points_stride;
    let axis = cloud.points() * size_of::<T>();
    (0..cloud.dims())
        .try_for_each(|a| pages.write_part(stream, part, start + a * axis, cloud.axis(a)))
}

/// Uploads one part's coordinates, row by row: in pieces, so that the host holds no second copy of them except of
/// those in host memory.
fn upload_rows<T: CudaScalar>(
    pages: &Pages,
    (part, stream): (usize, &Stream),
    layout: &Offsets,
    cloud: &Prepared<T>,
) -> Result<(), Error> {
    let (rows, dims) = (cloud.points(), cloud.dims());
    let mut piece = Vec::with_capacity(ROWS.min(rows) * dims);
    for begin in (0..rows).step_by(ROWS) {
        let end = (begin + ROWS).min(rows);
        let at = |row: usize| layout.points + row * dims * size_of::<T>();
        if !pages.has_part(part, at(begin)..at(end)) {
            continue;
        }
        piece.clear();
        piece.resize((end - begin) * dims, T::ZERO);
        for axis in 0..dims {
            let values = &cloud.axis(axis)[begin..end];
            let places = piece[axis..].iter_mut().step_by(dims);
            std::iter::zip(places, values).for_each(|(place, &value)| *place = value);
        }
        pages.write_part(stream, part, at(begin), &piece)?;
    }
    Ok(())
}

/// Downloads the sample once all kernels are done.
pub(super) fn download<T: CudaScalar>(
    pages: &Pages,
    streams: &[Stream],
    layout: &Offsets,
    cloud: &Prepared<T>,
    ordinal: usize,
) -> Result<Sample<T>, Error> {
    let (mut chosen, mut covering) = ([0i64], [T::ZERO]);
    pages.read(streams, layout.chosen, &mut chosen)?;
    pages.read(streams, layout.covering, &mut covering)?;
    // Never use a kernel's number as a size unchecked.
    let count = usize::try_from(chosen[0]).ok().filter(|&n| n <= cloud.max_samples());
    let count = count.ok_or_else(|| invalid_result("peak", chosen[0]))?;
    let (mut indices, mut values) = (fallible::zeros(count), fallible::filled(count, T::ZERO));
    pages.read(streams, layout.indices, &mut indices)?;
    pages.read(streams, layout.values, &mut values)?;
    let row = |&point: &i64| {
        let index = usize::try_from(point).ok().filter(|&point| point < cloud.points());
        index.map(|point| cloud.row(point)).ok_or_else(|| invalid_result("peak", point))
    };
    let rows = fallible::try_collected(indices.iter().map(row))?;
    let algorithm = Algorithm::peak();
    let mut sample = Sample::new(rows, values, covering[0], algorithm, RanOn::Gpu { ordinal });
    sample.starts = cloud.starts().len();
    sample.dropped = cloud.dropped();
    Ok(sample)
}
