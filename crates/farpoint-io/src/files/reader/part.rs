//! Some rows of a file.

use super::{Content, Reader, coordinates};
use crate::cloud::Cloud;
use crate::cloud::coordinates::Coordinates;
use crate::cloud::layout;
use crate::cloud::table::{Store, Table};
use crate::error::{Error, ParseError};
use std::borrow::Cow;
use std::ops::Range;

/// Largest number of rows of a part, if that can be chosen.
pub(super) const ROWS: usize = 1 << 16;

/// The rows of a part of a [`Reader`].
pub struct Rows<'a> {
    reader: &'a Reader,
    rows: Range<u64>,
    pub(super) table: Option<Cow<'a, Table>>,
    /// Number of rows of the table before the first of these.
    skip: usize,
}

impl std::fmt::Debug for Rows<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Rows({:?} of {})", self.rows, self.reader.name)
    }
}

impl Reader {
    /// Reads a part. Several threads may read at once.
    ///
    /// # Errors
    /// [`Error::Read`] if the file cannot be read, [`Error::Malformed`] if its content is damaged.
    ///
    /// # Panics
    /// If there is no such part.
    pub fn read(&self, part: usize) -> Result<Rows<'_>, Error> {
        let rows = self.rows(part);
        let (table, skip) = match &self.content {
            Content::Parts { .. } => (self.table(part)?.map(Cow::Owned), 0),
            Content::InMemory(cloud) => {
                (cloud.table.as_ref().map(Cow::Borrowed), rows.start as usize)
            }
        };
        Ok(Rows { reader: self, rows, table, skip })
    }

    /// Reads the stored rows of a part.
    fn table(&self, part: usize) -> Result<Option<Table>, Error> {
        let Content::Parts { file, layout, starts } = &self.content else { return Ok(None) };
        let read = |at: u64, length: usize| {
            let mut bytes = vec![0; length];
            file.read_at(&mut bytes, at)
                .map_err(|source| Error::Read { name: self.name.clone(), source })?;
            Ok(bytes)
        };
        if let layout::Storage::Lines(lines) = &layout.rows {
            let piece = lines.pieces[part];
            let table = layout.head.table.as_ref();
            let Some(head) = table else { return Ok(None) };
            let rows = lines.table(head, read(piece.at, piece.length)?);
            let rows = rows.map_err(|error| self.malformed(error.after(starts[part])))?;
            let found = match &rows.store {
                Store::Lines { spans, .. } => spans.len(),
                _ => piece.rows,
            };
            if found != piece.rows {
                let what = "the file was changed while it was read";
                return Err(self.malformed(ParseError::new(what).fix("read it again")));
            }
            return Ok(Some(rows));
        }
        let bytes = match &layout.rows {
            layout::Storage::Stride(start) => {
                let rows = (starts[part + 1] - starts[part]) as usize;
                read(start + starts[part] * layout.stride as u64, rows * layout.stride)?
            }
            layout::Storage::Chunks(chunks) => {
                let (at, length) = chunks.place(part);
                chunks
                    .decompress(part, &read(at, length)?)
                    .map_err(|error| self.malformed(error))?
            }
            layout::Storage::Lines(_) => Vec::new(),
            layout::Storage::Parts(parts) => parts.read(part)?,
        };
        Ok(layout.head.table.as_ref().map(|head| Table {
            dimensions: head.dimensions.clone(),
            store: Store::Records { bytes: bytes.into(), stride: layout.stride },
            big_endian: head.big_endian,
            xyz: head.xyz,
        }))
    }
}

impl Rows<'_> {
    /// Returns the number of the first row in the file.
    pub fn first(&self) -> u64 {
        self.rows.start
    }

    /// Returns the number of rows.
    pub fn len(&self) -> usize {
        (self.rows.end - self.rows.start) as usize
    }

    /// Returns whether there are no rows.
    pub fn is_empty(&self) -> bool {
        self.rows.is_empty()
    }

    /// Returns the stored bytes of row `row` of these: a record, or a line without its end. Empty if the format keeps
    /// no rows.
    ///
    /// # Panics
    /// If there is no such row.
    pub fn stored(&self, row: usize) -> &[u8] {
        self.table.as_ref().map_or(&[], |table| table.row(self.skip + row))
    }

    /// Returns all stored rows, one after another; `None` if they differ in length.
    pub(crate) fn records(&self) -> Option<&[u8]> {
        match &self.table.as_ref()?.store {
            Store::Records { bytes, stride } => {
                Some(&bytes[self.skip * stride..(self.skip + self.len()) * stride])
            }
            _ => None,
        }
    }

    /// Returns the rows with their attributes, without coordinates; of a file that is held whole, all of its rows and
    /// the range of these.
    pub(crate) fn cloud(&self) -> (Cow<'_, Cloud>, Range<usize>) {
        match self.reader.cloud() {
            Some(cloud) => (Cow::Borrowed(cloud), self.skip..self.skip + self.len()),
            None => {
                let table = self.table.as_deref().cloned();
                let cloud = Cloud { table, ..self.reader.head().clone() };
                (Cow::Owned(cloud), 0..self.len())
            }
        }
    }

    /// Returns the coordinates, in the precision of the file; NaN in rows that the filter does not use.
    ///
    /// # Errors
    /// [`Error::Malformed`] if one is no number, [`Error::Field`] if a value that the filter needs is none.
    pub fn coordinates(&self) -> Result<Coordinates, Error> {
        let mut points = self.places()?;
        let filter = &self.reader.filter;
        if filter.is_empty() {
            return Ok(points);
        }
        let (cloud, range) = self.cloud();
        let rows: Vec<usize> = range.collect();
        let used = filter.mask_rows(&cloud, &rows, &points, &self.reader.name)?;
        for (row, _) in used.into_iter().enumerate().filter(|(_, used)| !used) {
            match &mut points {
                Coordinates::F32(points) => points[row] = [f32::NAN; 3],
                Coordinates::F64(points) => points[row] = [f64::NAN; 3],
            }
        }
        Ok(points)
    }

    /// Returns the coordinates of all rows.
    pub(super) fn places(&self) -> Result<Coordinates, Error> {
        if let Some(cloud) = self.reader.cloud() {
            return Ok(self.coordinates_in(cloud));
        }
        let Some(table) = &self.table else {
            return Ok(Coordinates::F64(Vec::new()));
        };
        let found = coordinates(self.reader.head(), table, self.len());
        let malformed = |error: ParseError| self.reader.malformed(error.after(self.first()));
        found.map_err(malformed)
    }

    /// Returns whether the point `at` of row `row` of these was (0, 0, 0) to its scanner, like [`Cloud::is_zero`].
    pub fn is_zero(&self, row: usize, at: [f64; 3]) -> bool {
        self.reader.head().is_zero(self.first() + row as u64, at)
    }

    /// Returns the integers that LAS stores, from which [`Reader::transforms`] makes coordinates; `None` for other
    /// formats.
    pub fn integers(&self) -> Option<Vec<[i32; 3]>> {
        self.reader.transforms()?;
        let axis = |record: &[u8], at: usize| {
            record[at..].first_chunk().map_or(0, |bytes| i32::from_le_bytes(*bytes))
        };
        let point = |row: usize| {
            let record = self.stored(row);
            [axis(record, 0), axis(record, 4), axis(record, 8)]
        };
        Some((0..self.len()).map(point).collect())
    }

    fn coordinates_in(&self, cloud: &Cloud) -> Coordinates {
        let rows = self.rows.start as usize..self.rows.end as usize;
        match cloud.coordinates() {
            Coordinates::F32(points) => Coordinates::F32(points[rows].to_vec()),
            Coordinates::F64(points) => Coordinates::F64(points[rows].to_vec()),
        }
    }
}
