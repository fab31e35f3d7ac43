//! Point cloud files for farpoint: reads a cloud from PLY, PCD, LAS, LAZ, E57, NPY, NPZ, raw
//! float32, text, PTX, OBJ or OFF, and writes chosen rows of it to PLY, PCD, LAS, LAZ, NPY or text. Where
//! the output has the input's format, every attribute of the kept points is kept bit for bit.
//!
//! The crate contains formats only, no algorithm, and prints nothing. Input is never trusted: a
//! damaged file gives an [`Error`] that says what is wrong, where, and what to do.
//!
//! ```no_run
//! use farpoint_io::{ReadOptions, WriteOptions, read, write};
//! let cloud = read("scan.laz".as_ref(), &ReadOptions::default())?;
//! let rows: Vec<usize> = (0..cloud.len()).step_by(10).collect();
//! let warnings = write("thin.laz".as_ref(), &cloud, &rows, &WriteOptions::default())?;
//! # Ok::<(), farpoint_io::Error>(())
//! ```
//!
//! With the feature `mcap`, `bag` reads and rewrites MCAP recordings of ROS.
#![forbid(unsafe_code)]

#[cfg(feature = "mcap")]
pub mod bag;
mod cloud;
mod column;
mod conversion;
mod coordinates;
mod copc;
mod crs;
mod degrees;
mod detect;
mod dtype;
mod e57;
mod error;
mod filter;
mod foreign;
mod format;
mod header;
mod las;
mod layout;
mod lines;
mod load;
mod lzf;
pub mod memory;
mod merge;
mod mesh;
mod npy;
mod numbers;
mod output;
mod parallel;
mod part;
mod pcd;
mod pieces;
mod ply;
mod precision;
mod ptx;
mod quiet;
mod raw;
mod records;
mod resolution;
mod scan;
mod sink;
mod summary;
mod table;
pub mod temporary;
mod text;
mod unpack;
mod whole;

pub use cloud::{Cloud, Field};
pub use column::{Column, Scalar};
pub use coordinates::Coordinates;
pub use copc::Copc;
pub use crs::Crs;
use error::Fault;
pub use error::{Error, Place};
pub use filter::{Condition, Filter};
pub use foreign::printable;
pub use format::Format;
pub use merge::{EqualRows, Merged, MergedFile};
pub use npy::{Array, Values};
pub use numbers::read_numbers;
pub use output::{
    check_output, write, write_arrays, write_bytes, write_file, write_indices,
    write_indices_in_blocks,
};
pub use scan::{Rows, Scan};
pub use summary::{Octree, Summary};

use std::borrow::Cow;
use std::fs::File;
use std::io::{Read, Seek};
use std::path::Path;

/// How to read. The default detects everything.
///
/// ```
/// use farpoint_io::{Format, ReadOptions};
/// let options = ReadOptions::default().format(Format::Raw).columns(5);
/// assert_eq!(options.columns, Some(5));
/// ```
#[derive(Clone, Debug, Default)]
#[non_exhaustive]
pub struct ReadOptions {
    /// The format; detected from content and name unless set.
    pub format: Option<Format>,
    /// Float32 values per row of a raw file (KITTI 4, nuScenes 5); guessed unless set.
    pub columns: Option<usize>,
    /// The columns of a text or raw file that hold x, y and z: names of its header, or numbers from
    /// 1. By the header's names unless set, or the first three where there is none.
    pub xyz: Option<[String; 3]>,
    /// The topic of a recording; may be left out where only one holds clouds.
    pub topic: Option<String>,
    /// Which message of the topic is the cloud, the first being 0: a recording has to be asked for one.
    pub message: Option<usize>,
}

impl ReadOptions {
    /// Sets the format.
    pub fn format(self, format: impl Into<Option<Format>>) -> Self {
        Self { format: format.into(), ..self }
    }

    /// Sets the number of float32 values per row of a raw file.
    pub fn columns(self, columns: impl Into<Option<usize>>) -> Self {
        Self { columns: columns.into(), ..self }
    }

    /// Sets the columns of a text or raw file that hold x, y and z, by name or by number from 1.
    pub fn xyz(self, xyz: impl Into<Option<[String; 3]>>) -> Self {
        Self { xyz: xyz.into(), ..self }
    }

    /// Sets the topic of a recording.
    pub fn topic(self, topic: impl Into<Option<String>>) -> Self {
        Self { topic: topic.into(), ..self }
    }

    /// Sets which message of a recording is the cloud.
    pub fn message(self, message: impl Into<Option<usize>>) -> Self {
        Self { message: message.into(), ..self }
    }
}

/// How the values of a PLY or PCD file are stored.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Encoding {
    /// As text.
    Ascii,
    /// Binary, least significant byte first.
    Binary,
    /// Binary, most significant byte first (PLY only).
    BinaryBigEndian,
    /// Binary and compressed (PCD only).
    BinaryCompressed,
}

/// The type of the coordinates in an output that may hold either.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Precision {
    /// Float32. Where that would lose more than the step of the input, the minimum corner is
    /// subtracted first, and a warning gives it.
    Single,
    /// Float64.
    Double,
}

/// How a text is laid out.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum TextStyle {
    /// Values between spaces; a comment names the columns if there are more than x, y, z.
    Spaces,
    /// Values between commas under a header.
    Csv,
    /// PTS: the number of points, then `x y z intensity r g b` a line.
    Pts,
}

/// How to write. The default takes the format from the output's name, and the encoding from the
/// input if that has the same format, otherwise binary.
#[derive(Clone, Debug, Default)]
#[non_exhaustive]
pub struct WriteOptions {
    /// The format; by the output's name unless set.
    pub format: Option<Format>,
    /// The encoding of PLY and PCD; other formats have only one.
    pub encoding: Option<Encoding>,
    /// The layout of a text; by the output's extension unless set.
    pub style: Option<TextStyle>,
    /// The type of the coordinates in PLY, PCD and NPY. Unless set, PCD has float32, which is what its
    /// readers expect, and the others what the input has.
    pub precision: Option<Precision>,
    /// The step of the coordinates in LAS and LAZ. Unless set, it is that of the input, as far as 32
    /// bits reach.
    pub scale: Option<f64>,
    /// Levels: LAZ becomes COPC. An output that is called `.copc.laz` needs them, unless the format is set.
    pub copc: Option<Copc>,
}

impl WriteOptions {
    /// Sets the format.
    pub fn format(self, format: impl Into<Option<Format>>) -> Self {
        Self { format: format.into(), ..self }
    }

    /// Sets the encoding.
    pub fn encoding(self, encoding: impl Into<Option<Encoding>>) -> Self {
        Self { encoding: encoding.into(), ..self }
    }

    /// Sets the layout of a text.
    pub fn style(self, style: impl Into<Option<TextStyle>>) -> Self {
        Self { style: style.into(), ..self }
    }

    /// Sets the type of the coordinates in PLY, PCD and NPY.
    pub fn precision(self, precision: impl Into<Option<Precision>>) -> Self {
        Self { precision: precision.into(), ..self }
    }

    /// Sets the step of the coordinates in LAS and LAZ.
    pub fn scale(self, scale: impl Into<Option<f64>>) -> Self {
        Self { scale: scale.into(), ..self }
    }

    /// Sets the levels of COPC.
    pub fn copc(self, copc: impl Into<Option<Copc>>) -> Self {
        Self { copc: copc.into(), ..self }
    }
}

/// Reads a cloud from a file; the path `-` is standard input.
///
/// # Errors
/// [`Error::Read`] if the file cannot be read, [`Error::UnknownFormat`] if its format is unknown, and
/// [`Error::Malformed`] if its content is damaged.
pub fn read(path: &Path, options: &ReadOptions) -> Result<Cloud, Error> {
    let name = path.display().to_string();
    let fail = |source| Error::Read { name: name.clone(), source };
    if path == Path::new("-") {
        let name = "standard input";
        let bytes = load::stream(&mut std::io::stdin().lock(), name)?;
        return decode(Cow::Owned(bytes), name, options);
    }
    #[cfg(feature = "mcap")]
    if let Some(files) = bag::recordings(path)? {
        return bag::read_of(&name, &files, options);
    }
    let mut file = File::open(path).map_err(fail)?;
    let length = file.metadata().map_err(fail)?.len();
    #[cfg(feature = "mcap")]
    if detect::is_recording(&mut file, options).map_err(fail)? {
        return bag::read(&bag::Bag::open(path)?, options);
    }
    memory::require(&name, length)?;
    let bytes = load::whole(&mut file, length, &name)?;
    decode(Cow::Owned(bytes), &name, options)
}

/// As [`read`], for a filter: of a COPC file only those nodes are read that its boxes, and what it asks of x,
/// y and z, can use rows of. Rows keep their numbers; those of other nodes have NaN for coordinates and
/// 0 for all else. What a writer has to know of all rows (the corner of coordinates that become float32, the
/// range of colors) it still finds, for which it reads the rest if it must.
///
/// # Errors
/// As [`read`]; [`Error::Field`] if there is no field that the filter asks for.
pub fn read_for(path: &Path, options: &ReadOptions, filter: &Filter) -> Result<Cloud, Error> {
    if !filter.is_of_places() || !detect::is_copc(path, options) {
        return read(path, options);
    }
    match Scan::open(path, options, None)?.within(filter)? {
        Ok(Some(cloud)) => Ok(cloud),
        Ok(None) => read(path, options),
        Err(Fault { what, .. }) => {
            let mut cloud = read(path, options)?;
            cloud.warnings.push(format!("{what}, so all nodes were read"));
            Ok(cloud)
        }
    }
}

/// What the header of a file tells without its points being read, however many there are; `None` for
/// formats other than LAS, LAZ and E57, whose headers tell little, and for standard input.
///
/// # Errors
/// As [`read`]. Damage behind the header is not found.
pub fn summary(path: &Path, options: &ReadOptions) -> Result<Option<Summary>, Error> {
    if path == Path::new("-") {
        return Ok(None);
    }
    let name = path.display().to_string();
    let fail = |source| Error::Read { name: name.clone(), source };
    let mut file = File::open(path).map_err(fail)?;
    let length = file.metadata().map_err(fail)?;
    if !length.is_file() {
        // A pipe can be read once only.
        return Ok(None);
    }
    let mut start = Vec::new();
    file.by_ref().take(detect::SIGNATURE).read_to_end(&mut start).map_err(fail)?;
    let Some(format) = detect::with_header(&start, options) else { return Ok(None) };
    file.rewind().map_err(fail)?;
    let summary = match format {
        Format::E57 => e57::summary(&mut file),
        _ => las::summary(&mut file, length.len()),
    };
    summary.map(Some).map_err(|fault| fault.named(&name, format))
}

/// Reads a cloud from bytes in memory; `name` helps to detect the format and appears in messages.
///
/// # Errors
/// [`Error::UnknownFormat`] if the format is unknown, [`Error::Malformed`] if the content is damaged.
pub fn read_bytes(bytes: &[u8], name: &str, options: &ReadOptions) -> Result<Cloud, Error> {
    decode(Cow::Borrowed(bytes), name, options)
}

/// Readers that keep most of a file as it is take its memory.
fn decode(bytes: Cow<'_, [u8]>, name: &str, options: &ReadOptions) -> Result<Cloud, Error> {
    let named = format::plain_name(Path::new(name)) != Path::new(name);
    if unpack::is_packed(&bytes) && (named || !detect::is_raw(options)) {
        let plain = unpack::unpacked(&bytes, name)?;
        drop(bytes);
        let inner = format::plain_name(Path::new(name)).display().to_string();
        let mut cloud = decode_plain(Cow::Owned(plain), &inner, options)
            .map_err(|error| error.renamed(name))?;
        cloud.description.push_str(", packed by gzip");
        return Ok(cloud);
    }
    decode_plain(bytes, name, options)
}

fn decode_plain(bytes: Cow<'_, [u8]>, name: &str, options: &ReadOptions) -> Result<Cloud, Error> {
    let format = detect::detect(&bytes, name, options)?;
    #[cfg(feature = "mcap")]
    if format == Format::Mcap {
        return bag::read(&bag::Bag::from_bytes(bytes.into_owned(), name)?, options);
    }
    let bytes = match format {
        Format::Text => lines::with_feeds(bytes, true),
        Format::Ptx | Format::Obj | Format::Off => lines::with_feeds(bytes, false),
        _ => Ok(bytes),
    };
    let bytes = bytes.map_err(|fault| fault.named(name, format))?;
    let cloud = match format {
        Format::Ply => ply::read(bytes),
        Format::Pcd => pcd::read(bytes),
        Format::Las | Format::Laz => las::read(bytes),
        Format::E57 => e57::read(&bytes),
        Format::Npy => npy::read(bytes),
        Format::Npz => npy::read_archive(&bytes),
        Format::Raw => raw::read(bytes, name, options),
        Format::Text => text::read(bytes, name, options),
        Format::Ptx => ptx::read(&bytes),
        Format::Obj => mesh::read_obj(&bytes),
        Format::Off => mesh::read_off(&bytes),
        Format::Mcap => Err(Fault::new("this build does not read recordings")
            .fix("build farpoint-io with its feature mcap, or use the command farpoint")),
    };
    let mut cloud = cloud.map_err(|fault| fault.named(name, format))?;
    let warned = cloud.warnings.iter().any(|warning| warning == degrees::WARNING);
    let geographic = || cloud.crs().is_some_and(|crs| crs.geographic);
    if !warned && (geographic() || degrees::beside_lengths(&cloud.coordinates)) {
        cloud.warnings.push(degrees::WARNING.into());
    }
    Ok(cloud)
}

/// The examples of the README, which are tested as documentation.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct ReadmeExamples;
