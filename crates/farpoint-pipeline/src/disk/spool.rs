//! The spool file: the points of all tiles, page by page, and room for their distances.
//!
//! A tile is a list of extents ([`crate::disk::extents`]). A page of it holds the x, then the y, then the z of
//! its points, then their rows in 5 bytes each. After the extents come the boxes of all pages, and after
//! these the distances, tile by tile, which are not there before they are written.

use crate::disk::error::Error;
use crate::disk::extents::{Run, read_at, write_at};
use crate::disk::rows::Stored;
use farpoint::Scalar;
use farpoint_tiles::{Column, Corners, Pages};
use std::fs::File;
use std::ops::Range;
use std::path::PathBuf;

/// Bytes of a row number.
pub(crate) const ROW: usize = 5;
/// Points of a page.
pub(crate) const PAGE: usize = 256;

/// A tile in the file.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Place {
    pub(crate) points: u64,
    pub(crate) run: Run,
    /// A checksum of each page.
    pub(crate) checks: Vec<u32>,
    /// Byte offset of the boxes of its pages, and their checksum.
    pub(crate) corners: u64,
    pub(crate) corners_check: u32,
    /// Byte offset of its distances.
    pub(crate) values: u64,
}

impl Place {
    /// Returns the number of pages.
    pub(crate) fn pages(&self) -> usize {
        (self.points as usize).div_ceil(PAGE)
    }
}

/// The spool file of a cloud.
pub(crate) struct Spool {
    pub(crate) file: File,
    pub(crate) path: PathBuf,
    /// Bytes of an extent.
    pub(crate) extent: usize,
    pub(crate) stored: Stored,
    pub(crate) tiles: Vec<Place>,
}

/// Encodes a row number.
pub(crate) fn row_bytes(row: u64) -> [u8; ROW] {
    let [a, b, c, d, e, ..] = row.to_le_bytes();
    [a, b, c, d, e]
}

/// Decodes a row number.
pub(crate) fn row_of([a, b, c, d, e]: [u8; ROW]) -> u64 {
    u64::from_le_bytes([a, b, c, d, e, 0, 0, 0])
}

impl Spool {
    /// Returns the bytes of a point.
    pub(crate) fn stride(&self) -> usize {
        3 * self.stored.size() + ROW
    }

    /// Returns the range of the points of a tile in these pages.
    fn points(&self, tile: usize, pages: &Range<usize>) -> Range<usize> {
        let count = self.tiles[tile].points as usize;
        (pages.start * PAGE).min(count)..(pages.end * PAGE).min(count)
    }

    fn changed(&self, tile: usize, page: usize) -> Error {
        let what = format!("page {page} of tile {tile} is damaged");
        Error::unusable(&self.path, what, "start again without `resume`")
    }

    /// Adds the points of these pages to `into`; `bytes` is scratch memory.
    pub(crate) fn read<T: Scalar>(
        &self,
        tile: usize,
        pages: Range<usize>,
        bytes: &mut Vec<u8>,
        into: &mut Pages<T>,
    ) -> Result<(), Error> {
        let (place, points) = (&self.tiles[tile], self.points(tile, &pages));
        let stride = self.stride();
        bytes.resize(points.len() * stride, 0);
        let at = (points.start * stride) as u64;
        let read = place.run.read(&self.file, self.extent, at, bytes);
        read.map_err(|source| Error::read(&self.path, source))?;
        let columns = self.stored.columns();
        for (page, bytes) in pages.zip(bytes.chunks(PAGE * stride)) {
            if crc32fast::hash(bytes) != place.checks[page] {
                return Err(self.changed(tile, page));
            }
            decode(bytes, columns, bytes.len() / stride, into);
        }
        Ok(())
    }

    /// Reads the boxes of a tile's pages.
    pub(crate) fn corners<T: Scalar>(&self, tile: usize) -> Result<Vec<Corners<T>>, Error> {
        let (place, size) = (&self.tiles[tile], size_of::<T>());
        let mut bytes = vec![0; place.pages() * 6 * size];
        let read = read_at(&self.file, &mut bytes, place.corners);
        read.map_err(|source| Error::read(&self.path, source))?;
        if crc32fast::hash(&bytes) != place.corners_check {
            return Err(self.changed(tile, 0));
        }
        let mut numbers = Vec::with_capacity(6 * place.pages());
        decode_numbers(&bytes, &mut numbers);
        let (boxes, _) = numbers.as_chunks::<6>();
        let corners = |n: &[T; 6]| Corners { low: [n[0], n[1], n[2]], high: [n[3], n[4], n[5]] };
        Ok(boxes.iter().map(corners).collect())
    }

    /// Adds the distances of these pages to `into`; `bytes` is scratch memory.
    pub(crate) fn read_values<T: Scalar>(
        &self,
        tile: usize,
        pages: Range<usize>,
        bytes: &mut Vec<u8>,
        checks: &[u32],
        into: &mut Vec<T>,
    ) -> Result<(), Error> {
        let (points, size) = (self.points(tile, &pages), size_of::<T>());
        bytes.resize(points.len() * size, 0);
        let at = self.tiles[tile].values + (points.start * size) as u64;
        let read = read_at(&self.file, bytes, at);
        read.map_err(|source| Error::read(&self.path, source))?;
        for (page, bytes) in pages.zip(bytes.chunks(PAGE * size)) {
            if crc32fast::hash(bytes) != checks[page] {
                return Err(self.changed(tile, page));
            }
        }
        decode_numbers(bytes, into);
        Ok(())
    }

    /// Writes distances from the first point of a page on, whole pages except the tile's last; keeps their checksums.
    pub(crate) fn write_values<T: Scalar>(
        &self,
        tile: usize,
        first: usize,
        values: &[T],
        bytes: &mut Vec<u8>,
        checks: &mut [u32],
    ) -> Result<(), Error> {
        bytes.clear();
        encode_numbers(values, bytes);
        let at = self.tiles[tile].values + (first * PAGE * size_of::<T>()) as u64;
        let written = write_at(&self.file, bytes, at);
        written.map_err(|source| Error::written(&self.path, source))?;
        let pages = bytes.chunks(PAGE * size_of::<T>());
        for (check, page) in checks[first..].iter_mut().zip(pages) {
            *check = crc32fast::hash(page);
        }
        Ok(())
    }
}

/// Decodes the points of a page.
fn decode<T: Scalar>(bytes: &[u8], columns: [Column; 3], points: usize, into: &mut Pages<T>) {
    let mut rest = bytes;
    for (column, into) in columns.into_iter().zip(&mut into.at) {
        let (axis, later) = rest.split_at(points * column.size());
        column.decode(axis, into);
        rest = later;
    }
    into.rows.extend(rest.as_chunks::<ROW>().0.iter().map(|&row| row_of(row)));
}

/// Decodes numbers of the working precision.
fn decode_numbers<T: Scalar>(bytes: &[u8], into: &mut Vec<T>) {
    let column = if size_of::<T>() == 4 { Column::F32 } else { Column::F64 };
    column.decode(bytes, into);
}

/// Encodes numbers of the working precision.
pub(crate) fn encode_numbers<T: Scalar>(numbers: &[T], into: &mut Vec<u8>) {
    match size_of::<T>() {
        4 => numbers.iter().for_each(|x| into.extend((x.to_f64() as f32).to_le_bytes())),
        _ => numbers.iter().for_each(|x| into.extend(x.to_f64().to_le_bytes())),
    }
}
