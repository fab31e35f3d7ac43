//! Point cloud files for farpoint: reads a cloud from PLY, PCD, LAS, LAZ, E57, NPY, NPZ, raw
//! float32, text, OBJ or OFF, and writes chosen rows of it to PLY, PCD, LAS, LAZ, NPY or text. Where
//! the output has the input's format, every attribute of the kept points is kept bit for bit.
//!
//! Formats only: nothing here knows an algorithm, and nothing is printed. Input is never trusted: a
//! damaged file gives an [`Error`] that says what is wrong, where, and what to do.
//!
//! ```no_run
//! use farpoint_io::{ReadOptions, WriteOptions, read, write};
//! let cloud = read("scan.laz".as_ref(), &ReadOptions::default())?;
//! let rows: Vec<usize> = (0..cloud.len()).step_by(10).collect();
//! let warnings = write("thin.laz".as_ref(), &cloud, &rows, &WriteOptions::default())?;
//! # Ok::<(), farpoint_io::Error>(())
//! ```
#![forbid(unsafe_code)]

mod cloud;
mod column;
mod e57;
mod error;
mod format;
mod las;
mod lzf;
mod mesh;
mod npy;
mod output;
mod pcd;
mod ply;
mod quiet;
mod raw;
mod table;
mod text;

pub use cloud::{Cloud, Coordinates, Field};
pub use column::{Column, Scalar};
pub use error::{Error, Place};
pub use format::Format;
pub use output::{check_output, write, write_bytes, write_indices};

use std::io::Read;
use std::path::Path;

/// How to read. The default guesses everything.
#[derive(Clone, Debug, Default)]
pub struct ReadOptions {
    /// The format, where name and content must not decide.
    pub format: Option<Format>,
    /// Float32 values a row of a raw file (KITTI 4, nuScenes 5).
    pub columns: Option<usize>,
}

/// How the values of a PLY or PCD file are stored.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
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

/// How to write. The default takes the format from the output's name, and the encoding from the
/// input where that has the same format, else binary.
#[derive(Clone, Debug, Default)]
pub struct WriteOptions {
    /// The format, where the output's name must not decide.
    pub format: Option<Format>,
    /// The encoding of PLY and PCD; other formats have one only.
    pub encoding: Option<Encoding>,
}

/// Reads a cloud from a file; the path `-` is standard input.
///
/// # Errors
/// If the file cannot be read, its format is unknown, or its content is damaged.
pub fn read(path: &Path, options: &ReadOptions) -> Result<Cloud, Error> {
    let name = path.display().to_string();
    let fail = |source| Error::Read { name: name.clone(), source };
    if path == Path::new("-") {
        let mut bytes = Vec::new();
        std::io::stdin().lock().read_to_end(&mut bytes).map_err(fail)?;
        return read_bytes(&bytes, "standard input", options);
    }
    let bytes = std::fs::read(path).map_err(fail)?;
    read_bytes(&bytes, &name, options)
}

/// Reads a cloud from bytes in memory; `name` helps to guess the format and stands in messages.
///
/// # Errors
/// If the format is unknown or the content is damaged.
pub fn read_bytes(bytes: &[u8], name: &str, options: &ReadOptions) -> Result<Cloud, Error> {
    let format = format::detect(bytes, name, options)?;
    let cloud = match format {
        Format::Ply => ply::read(bytes),
        Format::Pcd => pcd::read(bytes),
        Format::Las | Format::Laz => las::read(bytes),
        Format::E57 => e57::read(bytes),
        Format::Npy => npy::read(bytes),
        Format::Npz => npy::read_archive(bytes),
        Format::Raw => raw::read(bytes, name, options.columns),
        Format::Text => text::read(bytes, name),
        Format::Obj => mesh::read_obj(bytes),
        Format::Off => mesh::read_off(bytes),
    };
    cloud.map_err(|fault| fault.named(name, format))
}

/// The examples of the README, which are tested as documentation.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct ReadmeExamples;
