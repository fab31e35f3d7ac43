//! Several files as one cloud: their rows one after another, in one layout.
//!
//! Tiles of a survey become one cloud in LAS: the finest scale and one offset, the union of the fields. Files of one
//! other format and layout are joined as stored. All else becomes columns of the types that hold the values of every
//! file.

mod columns;
mod crs;
mod decimal;
mod equal;
mod las;
mod sources;

pub use equal::EqualRows;

use crate::ReadOptions;
use crate::cloud::header::Header;
use crate::cloud::layout::{Layout, Storage};
use crate::cloud::table::Dimension;
use crate::error::Error;
use crate::files::filter::Filter;
use crate::files::reader::Reader;
use crate::format::Format;
use sources::{Recipe, Same, Sources};
use std::path::PathBuf;

/// Largest number of files kept open: a process may have about a thousand.
const OPEN: usize = 256;

/// A file of a [`Merged`] cloud.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct MergedFile {
    /// Name of the file, as the user wrote it.
    pub name: String,
    /// Number of its first row in the merged cloud.
    pub first: u64,
    /// Number of rows.
    pub rows: u64,
    /// The minimum and maximum corner that its header states.
    pub bounds: Option<[[f64; 3]; 2]>,
}

/// Several files as one cloud.
///
/// ```no_run
/// use farpoint_io::{Merged, ReadOptions};
/// let tiles = ["a.laz".into(), "b.laz".into()];
/// let merged = Merged::open(&tiles, &ReadOptions::default(), None)?;
/// merged.warnings().iter().for_each(|warning| eprintln!("{warning}"));
/// let cloud = merged.reader().load()?;
/// assert_eq!(merged.files()[1].first, merged.files()[0].rows);
/// # Ok::<(), farpoint_io::Error>(())
/// ```
#[derive(Debug)]
pub struct Merged {
    reader: Reader,
    files: Vec<MergedFile>,
}

impl Merged {
    /// Opens all files: reads their headers, and finds the layout that holds the rows of each. A file that can't be
    /// read in parts is read whole if all such files take no more than `memory` bytes.
    ///
    /// # Errors
    /// Same as [`Reader::open`]; [`Error::Merge`] if two files can't be in one cloud: different coordinate systems,
    /// coordinates that would change, fields of types that no type holds.
    pub fn open(
        paths: &[PathBuf],
        options: &ReadOptions,
        memory: Option<u64>,
    ) -> Result<Merged, Error> {
        let mut readers = Vec::with_capacity(paths.len());
        let mut held = 0;
        for path in paths {
            let remaining = memory.map(|memory| memory.saturating_sub(held));
            let reader = Reader::open(path, options, remaining)?;
            held += reader.held();
            readers.push(if readers.len() < OPEN { reader } else { reader.closed() });
        }
        let Some(first) = readers.first() else {
            let fix = "pass at least one";
            return Err(Error::merge("no file", "there is nothing to merge", fix));
        };
        let name = match readers.len() {
            1 => first.name().to_owned(),
            n => format!("{} and {} more", first.name(), n - 1),
        };
        let format = first.format();
        let files = files(&readers);
        let Plan { mut layout, recipes } = plan(&readers, &name)?;
        layout.head.scanners = scanners(&readers, &files);
        let bytes = readers.iter().map(Reader::bytes).sum();
        layout.count = readers.iter().map(Reader::len).sum();
        layout.bounds = files.iter().map(|file| file.bounds).reduce(joined).flatten();
        layout.rows = Storage::Parts(Box::new(Sources::new(readers, recipes, &layout)));
        let inputs = files.iter().map(|file| file.name.clone()).collect();
        Ok(Merged { reader: Reader::from_parts(name, format, bytes, layout, inputs), files })
    }

    /// Leaves out rows, like [`Reader::filtered`].
    ///
    /// # Errors
    /// [`Error::Field`] if a field of the filter does not exist.
    pub fn filtered(self, filter: Filter) -> Result<Merged, Error> {
        Ok(Merged { reader: self.reader.filtered(filter)?, ..self })
    }

    /// Returns all rows, as those of one file.
    pub fn reader(&self) -> &Reader {
        &self.reader
    }

    /// Converts into all rows, as those of one file.
    pub fn into_reader(self) -> Reader {
        self.reader
    }

    /// Returns the files in their order.
    pub fn files(&self) -> &[MergedFile] {
        &self.files
    }

    /// Returns the warnings: those of the readers, and about fields that not all files have.
    pub fn warnings(&self) -> &[String] {
        self.reader.warnings()
    }
}

/// Plan of the merged cloud. Rows, count and bounds of the layout are filled in later.
struct Plan {
    layout: Layout,
    recipes: Vec<Box<dyn Recipe>>,
}

fn plan(readers: &[Reader], name: &str) -> Result<Plan, Error> {
    let mut warnings = Vec::new();
    let crs = crs::common(readers, &mut warnings)?;
    let unit = crs::common_unit(readers)?;
    for reader in readers {
        let more = reader.warnings().iter().map(|warning| format!("{}: {warning}", reader.name()));
        // Warnings name their file; the name of all precedes them.
        warnings.extend(more);
    }
    let las = |reader: &Reader| matches!(reader.head().header, Header::Las(_));
    if readers.iter().all(las) {
        return las::plan(readers, crs, name, warnings);
    }
    if readers.iter().all(|reader| same_layout(&readers[0], reader)) {
        let head = readers[0].head().clone();
        let head = crate::Cloud { crs, unit, warnings, ..head };
        let stride = readers[0].stride().unwrap_or(0);
        let layout = Layout { head, rows: Storage::Stride(0), count: 0, stride, bounds: None };
        return Ok(Plan {
            layout,
            recipes: readers.iter().map(|_| Box::new(Same) as Box<dyn Recipe>).collect(),
        });
    }
    let mut plan = columns::plan(readers, crs, warnings)?;
    plan.layout.head.unit = unit;
    Ok(plan)
}

/// Returns whether rows of both have the same layout.
fn same_layout(a: &Reader, b: &Reader) -> bool {
    let (Some(x), Some(y)) = (&a.head().table, &b.head().table) else { return false };
    let kinds = |reader: &Reader| std::mem::discriminant(&reader.head().header);
    a.stride().is_some()
        && a.stride() == b.stride()
        && a.format() == b.format()
        && kinds(a) == kinds(b)
        && (x.big_endian, x.xyz) == (y.big_endian, y.xyz)
        && same_dimensions(&x.dimensions, &y.dimensions)
        && a.is_single() == b.is_single()
        && written_alike(a, b)
}

/// Returns whether both would be written with the same header: arrays of one type and records differ.
fn written_alike(a: &Reader, b: &Reader) -> bool {
    match (&a.head().header, &b.head().header) {
        (Header::Npy(a), Header::Npy(b)) => a.dtype == b.dtype,
        (Header::Ply(a), Header::Ply(b)) => a.encoding == b.encoding,
        (Header::Pcd(a), Header::Pcd(b)) => a.data == b.data,
        _ => true,
    }
}

fn same_dimensions(a: &[Dimension], b: &[Dimension]) -> bool {
    let same = |(a, b): (&Dimension, &Dimension)| {
        (&a.name, a.kind, a.count, a.offset) == (&b.name, b.kind, b.count, b.offset)
            && (a.list, a.bits, a.scale) == (b.list, b.bits, b.scale)
    };
    a.len() == b.len() && a.iter().zip(b).all(same)
}

/// Returns the files with the numbers of their rows.
fn files(readers: &[Reader]) -> Vec<MergedFile> {
    let mut first = 0;
    let file = |reader: &Reader| {
        let (name, rows) = (reader.name().to_owned(), reader.len());
        first += rows;
        MergedFile { name, first: first - rows, rows, bounds: reader.bounds() }
    };
    readers.iter().map(file).collect()
}

/// Returns the places of the scanners of all files; none if all are at the origin.
fn scanners(readers: &[Reader], files: &[MergedFile]) -> Vec<(u64, [f64; 3])> {
    if readers.iter().all(|reader| reader.head().scanners.is_empty()) {
        return Vec::new();
    }
    let of_file = |(reader, file): (&Reader, &MergedFile)| {
        let stated = &reader.head().scanners;
        let stated = if stated.is_empty() { vec![(0, [0.0; 3])] } else { stated.clone() };
        let first = file.first;
        stated.into_iter().map(move |(row, place)| (first + row, place))
    };
    readers.iter().zip(files).flat_map(of_file).collect()
}

/// Returns the union of two boxes; unknown if one is.
fn joined(a: Option<[[f64; 3]; 2]>, b: Option<[[f64; 3]; 2]>) -> Option<[[f64; 3]; 2]> {
    let ([a, b], [c, d]) = (a?, b?);
    Some([
        std::array::from_fn(|axis| a[axis].min(c[axis])),
        std::array::from_fn(|axis| b[axis].max(d[axis])),
    ])
}

/// Lists the formats, each once.
fn formats(readers: &[Reader]) -> Vec<Format> {
    let mut all: Vec<Format> = Vec::new();
    for reader in readers {
        if !all.contains(&reader.format()) {
            all.push(reader.format());
        }
    }
    all
}
