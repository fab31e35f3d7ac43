//! Building a spool: the second pass over the input scatters its rows to tiles, then each tile is put in order.

use crate::disk::error::Error;
use crate::disk::extents::{Extents, write_at};
use crate::disk::grid::Tiles;
use crate::disk::rows::{Points, Stored, Use};
use crate::disk::spool::{PAGE, Place, ROW, Spool, encode_numbers, row_bytes};
use farpoint::Scalar;
use farpoint::backend::memory as fallible;
use farpoint_io::Reader;
use farpoint_tiles::Corners;
use std::ops::Range;
use std::path::Path;

/// Bytes of pages that are written together.
const WRITE_BYTES: usize = 1 << 20;
/// Points from which two threads share the work.
const PARALLEL_POINTS: usize = 1 << 15;

/// Inputs of the build, which decide the layout of the spool.
pub(crate) struct Build<'a> {
    pub(crate) reader: &'a Reader,
    pub(crate) rows: Use,
    pub(crate) stored: Stored,
    pub(crate) tiles: Tiles,
    /// Bytes of an extent.
    pub(crate) extent: usize,
    pub(crate) threads: usize,
}

impl Build<'_> {
    /// Returns the bytes of the spool file of `points` points, with their distances.
    pub(crate) fn bytes(&self, points: u64) -> u64 {
        let number = if self.stored.is_single() { 4 } else { 8 };
        let pages = points.div_ceil(PAGE as u64) + self.tiles.len() as u64;
        let point = (3 * self.stored.size() + ROW) as u64 + number;
        points * point + pages * 6 * number + (self.tiles.len() * self.extent) as u64
    }

    /// Adds the rows of some parts to their tiles.
    pub(crate) fn read(&self, parts: Range<usize>, extents: &Extents) -> Result<(), Error> {
        self.reader.for_each_of(parts, self.threads, |_, read| {
            let points = Points::of(&read, self.stored)?;
            self.scatter(&points, read.first(), extents)
        })
    }

    /// Puts each tile in order.
    pub(crate) fn finish(&self, path: &Path, extents: Extents) -> Result<Spool, Error> {
        let (file, mut end, runs) = extents.finish()?;
        let (path, stored) = (path.to_owned(), self.stored);
        let mut spool = Spool { file, path, extent: self.extent, stored, tiles: Vec::new() };
        let stride = spool.stride() as u64;
        for run in runs {
            let place = Place { points: run.length / stride, run, ..Place::default() };
            let place = match stored.is_single() {
                true => sort_into_pages::<f32>(&spool, place, &mut end)?,
                false => sort_into_pages::<f64>(&spool, place, &mut end)?,
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
    fn scatter(&self, points: &Points<'_>, first: u64, extents: &Extents) -> Result<(), Error> {
        let mut tiles = vec![u32::MAX; points.len()];
        let mut ends = vec![0usize; self.tiles.len() + 1];
        for (row, tile) in tiles.iter_mut().enumerate() {
            if self.rows.takes(points, row) {
                *tile = self.tiles.of(points.at(row), first + row as u64) as u32;
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

/// Puts the points of a tile in order, in place, and their boxes at the end of the file.
fn sort_into_pages<T: Scalar>(
    spool: &Spool,
    mut place: Place,
    end: &mut u64,
) -> Result<Place, Error> {
    let (stride, size) = (spool.stride(), spool.stored.size());
    let mut bytes = fallible::zeros(place.run.length as usize);
    let read = place.run.read(&spool.file, spool.extent, 0, &mut bytes);
    read.map_err(|source| Error::read(&spool.path, source))?;
    let mut items = items::<T>(spool, &bytes);
    into_pages(&mut items, PAGE);
    let mut boxes: Vec<T> = Vec::with_capacity(place.pages() * 6);
    let mut written = 0;
    let mut out = Vec::with_capacity(WRITE_BYTES + PAGE * stride);
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
        let page_box = corners(page);
        boxes.extend(page_box.low.iter().chain(&page_box.high));
        if out.len() >= WRITE_BYTES || number + 1 == place.pages() {
            let done = place.run.write(&spool.file, spool.extent, written, &out);
            done.map_err(|source| Error::written(&spool.path, source))?;
            written += out.len() as u64;
            out.clear();
        }
    }
    encode_numbers(&boxes, &mut out);
    place.corners = *end;
    place.corners_check = crc32fast::hash(&out);
    let done = write_at(&spool.file, &out, *end);
    done.map_err(|source| Error::written(&spool.path, source))?;
    *end += out.len() as u64;
    Ok(place)
}

/// Decodes the points of a tile as they were scattered.
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

/// A point and its origin.
#[derive(Clone, Copy)]
pub(crate) struct Item<T> {
    pub(crate) at: [T; 3],
    pub(crate) from: u32,
}

/// Orders points so that each run of `page` of them lies close together. All but the last are full.
pub(crate) fn into_pages<T: Scalar>(points: &mut [Item<T>], page: usize) {
    let pages = points.len().div_ceil(page);
    if pages < 2 {
        return;
    }
    let corners = corners(points);
    let width = |axis: usize| corners.high[axis].to_f64() - corners.low[axis].to_f64();
    let axis = (0..3).max_by(|&a, &b| width(a).total_cmp(&width(b))).unwrap_or(0);
    let middle = pages / 2 * page;
    points.select_nth_unstable_by(middle, |a, b| {
        let order = a.at[axis].partial_cmp(&b.at[axis]).unwrap_or(std::cmp::Ordering::Equal);
        order.then(a.from.cmp(&b.from))
    });
    let (low, high) = points.split_at_mut(middle);
    if low.len() < PARALLEL_POINTS {
        into_pages(low, page);
        into_pages(high, page);
    } else {
        rayon::join(|| into_pages(low, page), || into_pages(high, page));
    }
}

/// Returns the box of points.
pub(crate) fn corners<T: Scalar>(points: &[Item<T>]) -> Corners<T> {
    let mut corners = Corners::none();
    points.iter().for_each(|point| corners.add(point.at));
    corners
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pages_are_close_together() {
        let room = farpoint_generate::room(70_003, 5);
        let mut points: Vec<Item<f32>> =
            room.iter().zip(0..).map(|(&at, from)| Item { at, from }).collect();
        into_pages(&mut points, 64);
        assert!(points.iter().all(|point| room[point.from as usize] == point.at));
        let mut all: Vec<u32> = points.iter().map(|point| point.from).collect();
        all.sort_unstable();
        assert!(all.into_iter().eq(0..70_003));
        let widths = points.chunks(64).map(|page| corners(page).width());
        let mean = widths.sum::<f64>() / 1094.0;
        assert!(mean < corners(&points).width() / 8.0, "{mean}");
    }
}
