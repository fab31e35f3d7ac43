//! The outputs: chosen rows, and points with all their attributes.

use crate::cloud::levels::{SPACING, levels};
use crate::disk::error::Error;
use crate::disk::extents::read_at;
use crate::disk::folder::Folder;
use crate::disk::job::{Job, Outputs};
use crate::disk::memory::{self, Shares};
use crate::disk::sort::{CheckCanceled, PAIR, Records, Rows};
use crate::disk::spool::ROW;
use farpoint::backend::memory as fallible;
use farpoint_io::{Cloud, Column, Copc, Reader, WriteOptions, write_indices_in_blocks};
use rayon::prelude::*;
use std::fs::File;
use std::io::{BufReader, BufWriter, Read, Write};
use std::ops::Range;
use std::path::Path;

/// Rows that are written together.
const BLOCK: usize = 1 << 16;
/// Bytes of a chosen point in the log, and of its row in the list.
const LOGGED: usize = 16;
const LISTED: usize = 8;
/// Memory that rows in another format take, as a multiple of their stored bytes.
const CONVERTED: u64 = 8;

/// A run with all its inputs.
pub(crate) struct Work<'a> {
    pub(crate) reader: &'a Reader,
    pub(crate) job: &'a Job,
    pub(crate) shares: Shares,
    pub(crate) folder: Folder,
}

/// The chosen points.
#[derive(Clone, Copy)]
pub(crate) struct Found {
    pub(crate) count: u64,
    /// Largest error of their distances.
    pub(crate) error: f64,
    /// True if they are float32.
    pub(crate) single: bool,
}

/// Calls the given function with the row and the selection distance of all chosen points, in order.
pub(crate) type InputPoints<'a> = &'a mut dyn FnMut(
    &mut dyn FnMut(u64, f64) -> Result<(), farpoint_tiles::Error>,
) -> Result<(), farpoint_tiles::Error>;

/// Returns the bytes of memory for rows that are written in another format, as far as their number is known.
pub(crate) fn converting(reader: &Reader, job: &Job, outputs: &Outputs<'_>) -> Result<u64, Error> {
    let Some((path, options)) = outputs.points else { return Ok(0) };
    let held = reader.cloud().is_some();
    if job.spacing && held {
        let what =
            "holds its points in a way that they cannot be ordered through the disk".to_owned();
        let fix = "convert it to LAZ or PLY first, or allow more memory".to_owned();
        return Err(Error::Input { name: reader.name().to_owned(), what, fix });
    }
    let copies = held || !job.spacing && reader.copies_rows(path, options)?;
    if options.copc.is_none() && (copies || reader.writes_blocks(path, options)?) {
        return Ok(0);
    }
    // The number of rows of a spacing is not known before.
    let count = match job.amount {
        farpoint::Amount::Spacing(_) => 0,
        amount => amount.limit(reader.len() as usize).unwrap_or(0) as u64,
    };
    Ok(assembled(reader, options, count))
}

/// Returns the bytes of memory for `count` rows that are written at once.
fn assembled(reader: &Reader, options: &WriteOptions, count: u64) -> u64 {
    let levels = options.copc.as_ref().map_or(0, |_| Copc::memory(count as usize) + 32 * count);
    let rows = if reader.cloud().is_some() { 0 } else { CONVERTED * count * width(reader) as u64 };
    rows + levels
}

/// Returns the bytes in the folder of the run for `count` chosen rows and, if they are written, their records.
pub(crate) fn bytes(work: &Work<'_>, outputs: &Outputs<'_>, count: u64) -> u64 {
    let copc = outputs.points.is_some_and(|(_, options)| options.copc.is_some());
    let distances = copc || work.job.spacing && outputs.points.is_some();
    let list = LISTED * (1 + usize::from(work.job.sorted) + usize::from(distances));
    let records = outputs.points.filter(|_| work.reader.cloud().is_none());
    let record = records.map_or(0, |_| PAIR + ROW + width(work.reader));
    count * (LOGGED + list + record) as u64
}

/// Returns the approximate bytes of a stored row.
fn width(reader: &Reader) -> usize {
    let line = || reader.bytes().div_ceil(reader.len().max(1)) as usize;
    reader.stride().unwrap_or_else(line)
}

/// Writes the outputs, unless `check_canceled` cancels before a part; returns warnings.
pub(crate) fn outputs(
    work: &Work<'_>,
    outputs: &Outputs<'_>,
    found: Found,
    chosen: InputPoints<'_>,
    check_canceled: CheckCanceled<'_>,
) -> Result<Vec<String>, Error> {
    let (path, copc) =
        (work.folder.file("rows"), outputs.points.and_then(|(_, o)| o.copc.as_ref()));
    let spacing = work.job.spacing && outputs.points.is_some();
    let far = (spacing || copc.is_some()).then(|| work.folder.file("distances"));
    list(&path, far.as_deref(), chosen)?;
    let files = (path.as_path(), far.as_deref());
    // In the order of choice, whatever that of the output.
    let leveled = match (outputs.points, copc) {
        (Some(to), Some(_)) => Some(leveled_points(work, to, files, found, check_canceled)?),
        _ => None,
    };
    if work.job.sorted && !work.job.spacing {
        let sorted = work.folder.file("rows-sorted");
        sort_rows(&path, &sorted, work.reader.len(), work.shares.sorting)?;
        std::fs::rename(&sorted, &path).map_err(|source| Error::written(&path, source))?;
    }
    if let Some(indices) = outputs.indices {
        let mut rows = List::open(&path)?;
        write_indices_in_blocks(indices, found.count, || rows.next())?;
    }
    match (leveled, outputs.points) {
        (Some(warnings), _) => Ok(warnings),
        (None, None) => Ok(Vec::new()),
        (None, Some(to)) => points(work, to, files, found, check_canceled),
    }
}

/// Writes the points in the order of the list, with their distances if there is a file of these.
fn points(
    work: &Work<'_>,
    (to, options): (&Path, &WriteOptions),
    (list, far): (&Path, Option<&Path>),
    found: Found,
    check_canceled: CheckCanceled<'_>,
) -> Result<Vec<String>, Error> {
    if let Some(cloud) = work.reader.cloud() {
        let rows: Vec<usize> = all(list, found.count, |row| row as usize)?;
        return Ok(farpoint_io::write(to, cloud, &rows, options)?);
    }
    let (count, width) = (found.count, width(work.reader));
    let copies = far.is_none() && work.reader.copies_rows(to, options)?;
    let blocks = !copies && count > 0 && work.reader.writes_blocks(to, options)?;
    if !copies && !blocks {
        work.check_assembled(options, count)?;
    }
    let sorting = match blocks {
        // A range is written at a time.
        true => work.shares.sorting.min(2 * work.shares.converting / CONVERTED),
        false => work.shares.sorting / 2,
    };
    let mut rows = Rows::new(work.reader, &work.folder.file("by-row"), count, sorting)?;
    let mut list = List::open(list)?;
    while let Some(block) = list.next()? {
        block.into_iter().try_for_each(|row| rows.push(row))?;
    }
    let (readers, records) = (work.shares.readers, work.folder.file("records"));
    let records = rows.fetch(&records, width, sorting, readers, check_canceled)?;
    let read_range = |range| check_canceled().and_then(|()| records.range(range));
    let spacing = |places| far.map(|path| spacing(path, places, found.single)).transpose();
    if blocks {
        let counts = (count, records.ranges(), readers);
        return work.reader.write_blocks(to, options, counts, |range| {
            Ok::<_, Error>((read_range(range)?, spacing(records.places(range))?))
        });
    }
    let mut range = 0;
    let next = || {
        let found = (range < records.ranges()).then(|| read_range(range)).transpose()?;
        range += 1;
        Ok::<_, Error>(found)
    };
    if copies {
        return work.reader.write_stored(to, options, count, next);
    }
    let mut cloud = work.assemble(&records, (count, width), check_canceled)?;
    if let Some((name, column)) = spacing(0..count)? {
        cloud.add_column(name, column);
    }
    let rows: Vec<usize> = fallible::collected(0..cloud.len());
    Ok(farpoint_io::write(to, &cloud, &rows, options)?)
}

/// Reads the column `spacing` of the points at these places of the output.
fn spacing(path: &Path, places: Range<u64>, single: bool) -> Result<(&'static str, Column), Error> {
    let mut bytes = fallible::zeros((places.end - places.start) as usize * 8);
    let read = File::open(path).and_then(|file| read_at(&file, &mut bytes, places.start * 8));
    read.map_err(|source| Error::read(path, source))?;
    let distances = bytes.as_chunks().0.iter().map(|bytes| f64::from_le_bytes(*bytes));
    Ok((
        SPACING,
        match single {
            true => Column::F32(fallible::collected(distances.map(|distance| distance as f32))),
            false => Column::F64(fallible::collected(distances)),
        },
    ))
}

impl Work<'_> {
    /// Returns an error if there is not enough memory to write `count` rows at once.
    fn check_assembled(&self, options: &WriteOptions, count: u64) -> Result<(), Error> {
        let needed = assembled(self.reader, options, count);
        if needed <= self.shares.converting {
            return Ok(());
        }
        let total = memory::least_converting(self.reader.held(), needed);
        Err(Error::converting(self.reader.name(), total, self.job.memory))
    }

    /// Returns the cloud of all records, of about `width` bytes each.
    fn assemble(
        &self,
        records: &Records,
        (count, width): (u64, usize),
        check_canceled: CheckCanceled<'_>,
    ) -> Result<Cloud, Error> {
        let mut all = fallible::with_capacity(count as usize * width);
        for range in 0..records.ranges() {
            check_canceled()?;
            fallible::extend(&mut all, records.range(range)?);
        }
        Ok(self.reader.some(all, self.shares.readers)?)
    }
}

/// Writes COPC, whose levels are built of all chosen rows at once. The cloud of these has the order of the input, which
/// is that of the points of a node.
fn leveled_points(
    work: &Work<'_>,
    (to, options): (&Path, &WriteOptions),
    (list, far): (&Path, Option<&Path>),
    found: Found,
    check_canceled: CheckCanceled<'_>,
) -> Result<Vec<String>, Error> {
    work.check_assembled(options, found.count)?;
    let mut rows: Vec<usize> = all(list, found.count, |row| row as usize)?;
    let options = match (&options.copc, far) {
        (Some(copc), Some(far)) if copc.distances.is_empty() => {
            let distances: Vec<f64> = all(far, found.count, f64::from_bits)?;
            &options.clone().copc(levels(copc, &distances, found.error))
        }
        _ => options,
    };
    if let Some(cloud) = work.reader.cloud() {
        return Ok(farpoint_io::write(to, cloud, &rows, options)?);
    }
    let mut order: Vec<u32> = fallible::collected(0..rows.len() as u32);
    order.par_sort_unstable_by_key(|&k| rows[k as usize]);
    let (width, sorting) = (width(work.reader), work.shares.sorting / 2);
    let mut by_row = Rows::new(work.reader, &work.folder.file("by-row"), found.count, sorting)?;
    for (place, &k) in order.iter().enumerate() {
        by_row.push(rows[k as usize] as u64)?;
        rows[k as usize] = place;
    }
    drop(order);
    let (readers, records) = (work.shares.readers, work.folder.file("records"));
    let records = by_row.fetch(&records, width, sorting, readers, check_canceled)?;
    let cloud = work.assemble(&records, (found.count, width), check_canceled)?;
    Ok(farpoint_io::write(to, &cloud, &rows, options)?)
}

/// Reads all numbers of a list.
fn all<T>(path: &Path, count: u64, number: impl Fn(u64) -> T) -> Result<Vec<T>, Error> {
    let (mut numbers, mut list) = (fallible::with_capacity(count as usize), List::open(path)?);
    while let Some(more) = list.next()? {
        fallible::extend(&mut numbers, more.into_iter().map(&number));
    }
    Ok(numbers)
}

/// Writes the chosen rows, 8 bytes each, to a file of their own, and their distances to another one if requested.
fn list(path: &Path, distances: Option<&Path>, chosen: InputPoints<'_>) -> Result<(), Error> {
    let failed = |source| Error::written(path, source);
    let create = |path: &Path| File::create(path).map(BufWriter::new).map_err(failed);
    let (mut out, mut far) = (create(path)?, distances.map(create).transpose()?);
    let mut write_error = None;
    let result = chosen(&mut |row, distance| {
        let distance = far.as_mut().map(|out| out.write_all(&distance.to_le_bytes()));
        let done = distance.unwrap_or(Ok(())).and_then(|()| out.write_all(&row.to_le_bytes()));
        done.map_err(|source| {
            write_error = Some(failed(source));
            farpoint_tiles::Error::Mismatch("the list of rows cannot be written".into())
        })
    });
    match write_error {
        Some(error) => Err(error),
        None => {
            result?;
            far.as_mut().map_or(Ok(()), Write::flush).and_then(|()| out.flush()).map_err(failed)
        }
    }
}

/// Writes the rows of a list again in ascending order: a bit for each row of the input, in as many passes over the
/// list as the memory for the bits requires.
fn sort_rows(from: &Path, to: &Path, rows: u64, memory: u64) -> Result<(), Error> {
    let failed = |source| Error::written(to, source);
    let mut out = BufWriter::new(File::create(to).map_err(failed)?);
    let words = (memory / 8).clamp(1, rows.div_ceil(64).max(1));
    let mut bits: Vec<u64> = fallible::zeros(words as usize);
    for first in (0..rows).step_by((words * 64) as usize) {
        bits.fill(0);
        let mut list = List::open(from)?;
        while let Some(block) = list.next()? {
            let offsets = block.into_iter().filter_map(|row| row.checked_sub(first));
            offsets
                .filter(|row| row / 64 < words)
                .for_each(|row| bits[(row / 64) as usize] |= 1 << (row % 64));
        }
        for (word, mut remaining) in (0..).zip(bits.iter().copied()) {
            while remaining != 0 {
                let row = first + word * 64 + u64::from(remaining.trailing_zeros());
                out.write_all(&row.to_le_bytes()).map_err(failed)?;
                remaining &= remaining - 1;
            }
        }
    }
    out.flush().map_err(failed)
}

/// Reads the rows of a list, block by block.
struct List<'a> {
    file: BufReader<File>,
    path: &'a Path,
}

impl<'a> List<'a> {
    fn open(path: &'a Path) -> Result<List<'a>, Error> {
        let file = File::open(path).map_err(|source| Error::read(path, source))?;
        Ok(List { file: BufReader::new(file), path })
    }

    fn next(&mut self) -> Result<Option<Vec<u64>>, Error> {
        let mut bytes = Vec::with_capacity(8 * BLOCK);
        let read = self.file.by_ref().take(8 * BLOCK as u64).read_to_end(&mut bytes);
        read.map_err(|source| Error::read(self.path, source))?;
        let rows = bytes.as_chunks().0.iter().map(|row| u64::from_le_bytes(*row));
        Ok((!bytes.is_empty()).then(|| rows.collect()))
    }
}
