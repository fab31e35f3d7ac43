//! Making a spool: the second pass over the input scatters its rows to tiles, then each tile is put in
//! order.

use crate::disk::error::Error;
use crate::disk::extents::Extents;
use crate::disk::grid::Tiles;
use crate::disk::order::{self, Item};
use crate::disk::place::write_at;
use crate::disk::rows::{Points, Stored, Use};
use crate::disk::spool::{PAGE, Place, ROW, Spool, encode_numbers, row_bytes};
use farpoint::Scalar;
use farpoint::backend::memory as fallible;
use farpoint_io::Scan;
use std::path::Path;

/// Bytes of pages that are written together.
const WRITTEN: usize = 1 << 20;

/// Everything that decides what goes where.
pub(crate) struct Build<'a> {
    pub(crate) scan: &'a Scan,
    pub(crate) rows: Use,
    pub(crate) stored: Stored,
    pub(crate) tiles: Tiles,
    /// Bytes of an extent.
    pub(crate) extent: usize,
    pub(crate) threads: usize,
}

impl Build<'_> {
    /// Writes the spool file at `path`.
    pub(crate) fn run(
        &self,
        path: &Path,
        going_on: &(dyn Fn() -> Result<(), Error> + Sync),
    ) -> Result<Spool, Error> {
        let extents = Extents::create(path, self.tiles.len(), self.extent)?;
        self.scan.for_each(self.threads, |_, read| {
            going_on()?;
            let points = Points::of(&read, self.stored)?;
            self.scatter(&points, read.first(), &extents)
        })?;
        let (file, mut end, runs) = extents.finish()?;
        let (path, stored) = (path.to_owned(), self.stored);
        let mut spool = Spool { file, path, extent: self.extent, stored, tiles: Vec::new() };
        let stride = spool.stride() as u64;
        for run in runs {
            going_on()?;
            let place = Place { points: run.length / stride, run, ..Place::default() };
            let place = match stored.is_single() {
                true => in_order::<f32>(&spool, place, &mut end)?,
                false => in_order::<f64>(&spool, place, &mut end)?,
            };
            spool.tiles.push(place);
        }
        let size = if stored.is_single() { 4 } else { 8 };
        for place in &mut spool.tiles {
            place.values = end;
            end += place.points * size;
        }
        Ok(spool)
    }

    /// Adds the points of a part to their tiles.
    fn scatter(&self, points: &Points, first: u64, extents: &Extents) -> Result<(), Error> {
        let mut tiles = vec![u32::MAX; points.len()];
        let mut ends = vec![0usize; self.tiles.len() + 1];
        for (row, tile) in tiles.iter_mut().enumerate() {
            let at = points.at(row);
            if self.rows.takes(at) {
                *tile = self.tiles.of(at, first + row as u64) as u32;
                ends[*tile as usize + 1] += 1;
            }
        }
        (1..ends.len()).for_each(|tile| ends[tile] += ends[tile - 1]);
        let mut next = ends.clone();
        let mut order = vec![0u32; ends[self.tiles.len()]];
        for (row, &tile) in tiles.iter().enumerate().filter(|(_, tile)| **tile != u32::MAX) {
            order[next[tile as usize]] = row as u32;
            next[tile as usize] += 1;
        }
        let mut bytes = Vec::new();
        for tile in 0..self.tiles.len() {
            bytes.clear();
            for &row in &order[ends[tile]..ends[tile + 1]] {
                points.push(row as usize, &mut bytes);
                bytes.extend(row_bytes(first + u64::from(row)));
            }
            if !bytes.is_empty() {
                extents.append(tile, &bytes)?;
            }
        }
        Ok(())
    }
}

/// Puts the points of a tile in order, where they are, and their boxes at the end of the file.
fn in_order<T: Scalar>(spool: &Spool, mut place: Place, end: &mut u64) -> Result<Place, Error> {
    let (stride, size) = (spool.stride(), spool.stored.size());
    let mut bytes = fallible::zeros(place.run.length as usize);
    let read = place.run.read(&spool.file, spool.extent, 0, &mut bytes);
    read.map_err(|source| Error::read(&spool.path, source))?;
    let mut items = items::<T>(spool, &bytes);
    order::into_pages(&mut items, PAGE);
    let mut corners: Vec<T> = Vec::with_capacity(place.pages() * 6);
    let mut written = 0;
    let mut out = Vec::with_capacity(WRITTEN + PAGE * stride);
    for (number, page) in items.chunks(PAGE).enumerate() {
        let start = out.len();
        for axis in 0..3 {
            for item in page {
                let at = item.from as usize * stride + axis * size;
                out.extend_from_slice(&bytes[at..at + size]);
            }
        }
        for item in page {
            let end = (item.from as usize + 1) * stride;
            out.extend_from_slice(&bytes[end - ROW..end]);
        }
        place.checks.push(crc32fast::hash(&out[start..]));
        let around = order::corners(page);
        corners.extend(around.low.iter().chain(&around.high));
        if out.len() >= WRITTEN || number + 1 == place.pages() {
            let done = place.run.write(&spool.file, spool.extent, written, &out);
            done.map_err(|source| Error::written(&spool.path, source))?;
            written += out.len() as u64;
            out.clear();
        }
    }
    encode_numbers(&corners, &mut out);
    place.corners = *end;
    place.corners_check = crc32fast::hash(&out);
    let done = write_at(&spool.file, &out, *end);
    done.map_err(|source| Error::written(&spool.path, source))?;
    *end += out.len() as u64;
    Ok(place)
}

/// The points of a tile as they were scattered.
fn items<T: Scalar>(spool: &Spool, bytes: &[u8]) -> Vec<Item<T>> {
    let (stride, size) = (spool.stride(), spool.stored.size());
    let columns = spool.stored.columns();
    let mut number = Vec::with_capacity(1);
    let mut coordinate = |axis: usize, bytes: &[u8]| {
        number.clear();
        columns[axis].decode(bytes, &mut number);
        number[0]
    };
    fallible::collected(bytes.chunks_exact(stride).zip(0..).map(|(record, from)| {
        let at =
            std::array::from_fn(|axis| coordinate(axis, &record[axis * size..(axis + 1) * size]));
        Item { at, from }
    }))
}
