//! A file whose rows are read in parts, with memory for a part alone.

mod convert;
mod handle;
mod load;
mod open;
mod part;
mod read_filtered;
mod subset;
mod write;

pub use part::Rows;

use crate::bytes::share::Counter;
use crate::cloud::Cloud;
use crate::cloud::column::NumberType;
use crate::cloud::coordinates::Coordinates;
use crate::cloud::crs::Crs;
use crate::cloud::header::Header;
use crate::cloud::layout::{self, Layout};
use crate::cloud::lines::Piece;
use crate::error::{Error, ParseError};
use crate::files::filter::Filter;
use crate::format::Format;
use crate::{formats::las, formats::npy, formats::pcd, formats::ply, formats::text};
use handle::Handle;
use std::ops::Range;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Mutex, PoisonError};
use std::thread;

/// Bytes of the rows of a part, if that can be chosen.
const PART: usize = 1 << 20;

/// Bytes of memory of a line's place and coordinates.
const LINE: u64 = 40;

/// A file that can be read in parts: the number of its rows, and their places. LAS, LAZ (and so COPC), binary PLY and
/// PCD, NPY and raw files are read a part at a time; text, ascii PLY and PCD only if they are large, for that takes a
/// pass over the file first; files of other formats are held in memory.
///
/// ```no_run
/// use farpoint_io::{ReadOptions, Reader};
/// let reader = Reader::open("scan.laz".as_ref(), &ReadOptions::default(), None)?;
/// for part in 0..reader.parts() {
///     let rows = reader.read(part)?;
///     println!("rows from {}: {:?}", rows.first(), rows.coordinates()?.get(0));
/// }
/// # Ok::<(), farpoint_io::Error>(())
/// ```
#[derive(Debug)]
pub struct Reader {
    name: String,
    format: Format,
    /// Length of the file in bytes.
    length: u64,
    content: Content,
    /// The files of the rows.
    inputs: Vec<String>,
    /// Filter of the rows.
    filter: Filter,
}

#[derive(Debug)]
enum Content {
    Parts {
        file: Handle,
        layout: Layout,
        /// First row of each part, and the number of rows.
        starts: Vec<u64>,
    },
    InMemory(Cloud),
}

impl Reader {
    /// Returns the number of rows.
    pub fn len(&self) -> u64 {
        match &self.content {
            Content::Parts { layout, .. } => layout.count,
            Content::InMemory(cloud) => cloud.len() as u64,
        }
    }

    /// Returns whether there are no rows.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Returns the name of the file, as the user wrote it.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Returns the names of the files of the rows, as the user wrote them; none for standard input.
    pub fn inputs(&self) -> &[String] {
        &self.inputs
    }

    /// Leaves out rows: those that the filter does not use have NaN for coordinates.
    ///
    /// # Errors
    /// [`Error::Field`] if a field of the filter does not exist.
    pub fn filtered(self, filter: Filter) -> Result<Reader, Error> {
        filter.check(self.head(), &self.name)?;
        Ok(Reader { filter, ..self })
    }

    /// Returns the filter of the rows.
    pub fn filter(&self) -> &Filter {
        &self.filter
    }

    /// The format.
    pub fn format(&self) -> Format {
        self.format
    }

    /// The format as text, such as `LAZ 1.2, point format 3`.
    pub fn description(&self) -> String {
        self.head().description()
    }

    /// The coordinate reference system, if the file states one.
    pub fn crs(&self) -> Option<&Crs> {
        self.head().crs()
    }

    /// Returns the warnings of the reader, as far as they are known before the rows are read.
    pub fn warnings(&self) -> &[String] {
        self.head().warnings()
    }

    /// Returns a cloud without rows, with all other content of the file; with its rows if they are in memory.
    pub fn head(&self) -> &Cloud {
        match &self.content {
            Content::Parts { layout, .. } => &layout.head,
            Content::InMemory(cloud) => cloud,
        }
    }

    /// Returns the whole cloud, if the file can't be read in parts.
    pub fn cloud(&self) -> Option<&Cloud> {
        match &self.content {
            Content::Parts { .. } => None,
            Content::InMemory(cloud) => Some(cloud),
        }
    }

    /// Returns the minimum and maximum corner that the header states. Points may lie outside.
    pub fn bounds(&self) -> Option<[[f64; 3]; 2]> {
        match &self.content {
            Content::Parts { layout, .. } => layout.bounds,
            Content::InMemory(_) => None,
        }
    }

    /// Returns whether coordinates are float32; otherwise float64.
    pub fn is_single(&self) -> bool {
        self.head().coordinates().kind() == NumberType::F32
    }

    /// Returns scale and offset of each axis, if coordinates are stored as integers (LAS and LAZ): a coordinate is
    /// `f64::from(integer) * scale + offset`.
    pub fn transforms(&self) -> Option<[(f64, f64); 3]> {
        match (&self.content, &self.head().header) {
            (Content::Parts { .. }, Header::Las(header)) => Some(las::transforms(&header.raw)),
            _ => None,
        }
    }

    /// Returns the bytes of a stored row; `None` if rows differ, or are in memory.
    pub fn stride(&self) -> Option<usize> {
        match &self.content {
            Content::Parts { layout: Layout { rows: layout::Storage::Lines(_), .. }, .. } => None,
            Content::Parts { layout, .. } => Some(layout.stride),
            Content::InMemory(_) => None,
        }
    }

    /// Returns the number of parts.
    pub fn parts(&self) -> usize {
        match &self.content {
            Content::Parts { starts, .. } => starts.len() - 1,
            Content::InMemory(cloud) => cloud.len().div_ceil(part::ROWS),
        }
    }

    /// Returns the range of the rows of a part.
    ///
    /// # Panics
    /// If there is no such part.
    pub fn rows(&self, part: usize) -> Range<u64> {
        match &self.content {
            Content::Parts { starts, .. } => starts[part]..starts[part + 1],
            Content::InMemory(cloud) => {
                let first = part * part::ROWS;
                first as u64..cloud.len().min(first + part::ROWS) as u64
            }
        }
    }

    /// Returns the part that holds a row.
    ///
    /// # Panics
    /// If there is no such row.
    pub fn part_of(&self, row: u64) -> usize {
        assert!(row < self.len(), "row {row} of {}", self.len());
        match &self.content {
            Content::Parts { starts, .. } => starts.partition_point(|&start| start <= row) - 1,
            Content::InMemory(_) => row as usize / part::ROWS,
        }
    }

    /// Returns the bytes of memory that reading takes on each thread, at most.
    pub fn memory_a_part(&self) -> u64 {
        if let Content::Parts {
            layout: Layout { rows: layout::Storage::Lines(lines), .. }, ..
        } = &self.content
        {
            let size = |piece: &Piece| 2 * piece.length as u64 + LINE * piece.rows as u64;
            return lines.pieces.iter().map(size).max().unwrap_or(0);
        }
        if let Content::Parts {
            layout: Layout { rows: layout::Storage::Parts(parts), .. }, ..
        } = &self.content
        {
            return parts.memory();
        }
        let rows = (0..self.parts()).map(|part| self.rows(part)).map(|rows| rows.end - rows.start);
        let stride = self.stride().unwrap_or(0) + size_of::<[f64; 3]>();
        // Twice, for compressed bytes are read first.
        2 * rows.max().unwrap_or(0) * stride as u64
    }

    /// Calls `each` with every part, on `threads` threads, in any order. After the first error no more parts are
    /// begun.
    ///
    /// # Errors
    /// Same as [`Reader::read`], or errors of `each`.
    pub fn for_each<E: From<Error> + Send>(
        &self,
        threads: usize,
        each: impl Fn(usize, Rows<'_>) -> Result<(), E> + Sync,
    ) -> Result<(), E> {
        self.for_each_of(0..self.parts(), threads, each)
    }

    /// Like [`Reader::for_each`], for some parts.
    ///
    /// # Errors
    /// Same as [`Reader::read`], or errors of `each`.
    ///
    /// # Panics
    /// If there are no such parts.
    pub fn for_each_of<E: From<Error> + Send>(
        &self,
        parts: Range<usize>,
        threads: usize,
        each: impl Fn(usize, Rows<'_>) -> Result<(), E> + Sync,
    ) -> Result<(), E> {
        let (next, stop) = (AtomicUsize::new(parts.start), AtomicBool::new(false));
        let first_error: Mutex<Option<E>> = Mutex::new(None);
        let counter = Counter::new(parts.len());
        let work = || {
            while !stop.load(Ordering::Relaxed) {
                let part = next.fetch_add(1, Ordering::Relaxed);
                if part >= parts.end {
                    return;
                }
                let done = self.read(part).map_err(E::from).and_then(|rows| each(part, rows));
                counter.add(1);
                if let Err(error) = done {
                    stop.store(true, Ordering::Relaxed);
                    first_error.lock().unwrap_or_else(PoisonError::into_inner).get_or_insert(error);
                }
            }
        };
        thread::scope(|scope| {
            // If the system refuses a thread, the others do its share.
            (1..threads.min(parts.len()))
                .for_each(|_| drop(thread::Builder::new().spawn_scoped(scope, work)));
            work();
        });
        first_error.into_inner().unwrap_or_else(PoisonError::into_inner).map_or(Ok(()), Err)
    }

    fn malformed(&self, error: ParseError) -> Error {
        error.named(&self.name, self.format)
    }
}

/// Returns the coordinates of a table of this format.
fn coordinates(
    head: &Cloud,
    table: &crate::cloud::table::Table,
    count: usize,
) -> Result<Coordinates, ParseError> {
    match &head.header {
        Header::Las(header) => match &table.store {
            crate::cloud::table::Store::Records { bytes, stride } => {
                Ok(las::coordinates(&header.raw, bytes, *stride))
            }
            _ => Err(ParseError::new("points are not records")),
        },
        Header::Npy(header) => npy::coordinates(table, count, header.plain).map(|found| found.0),
        Header::Pcd(_) => pcd::coordinates(table, count),
        Header::Text(_) => text::coordinates(table, count),
        _ => ply::coordinates(table, count),
    }
}

/// Returns the first row of each part, and the number of rows.
fn starts(layout: &Layout) -> Vec<u64> {
    let mut starts = vec![0];
    match &layout.rows {
        layout::Storage::Stride(_) => {
            let rows = (PART / layout.stride.max(1)).clamp(1, part::ROWS) as u64;
            starts.extend((1..=layout.count.div_ceil(rows)).map(|k| layout.count.min(k * rows)));
        }
        layout::Storage::Chunks(chunks) => starts.extend(ends(chunks.points())),
        layout::Storage::Parts(parts) => starts.extend(ends(parts.points())),
        layout::Storage::Lines(lines) => {
            starts.extend(ends(lines.pieces.iter().map(|piece| piece.rows).collect()));
        }
    }
    starts
}

/// Returns the end of each part, from numbers of points.
fn ends(points: Vec<usize>) -> impl Iterator<Item = u64> {
    points.into_iter().scan(0, |at, points| {
        *at += points as u64;
        Some(*at)
    })
}
