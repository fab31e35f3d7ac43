//! Point cloud files for farpoint: reads a cloud from PLY, PCD, LAS, LAZ, COPC, E57, NPY, NPZ, raw
//! float32, text, PTX, OBJ or OFF, and writes chosen rows of it to any of these but PTX, OBJ and OFF. Where
//! the output has the input's format, every attribute of the kept points is kept bit for bit.
//!
//! The crate contains formats only, no algorithm, and prints nothing. Input is never trusted: a damaged file gives an
//! [`Error`] that names the problem, its place, and what to do.
//!
//! ```no_run
//! use farpoint_io::{ReadOptions, WriteOptions, read, write};
//! let cloud = read("scan.laz".as_ref(), &ReadOptions::default())?;
//! let rows: Vec<usize> = (0..cloud.len()).step_by(10).collect();
//! let warnings = write("thin.laz".as_ref(), &cloud, &rows, &WriteOptions::default())?;
//! # Ok::<(), farpoint_io::Error>(())
//! ```
//!
//! With the feature `mcap`, `bag` reads and rewrites MCAP files of ROS.
#![forbid(unsafe_code)]

#[cfg(feature = "mcap")]
pub mod bag;
mod bytes;
mod cloud;
mod conversion;
mod error;
mod files;
mod format;
mod formats;
mod means;
mod options;
mod other_bags;

pub use cloud::column::{Column, NumberType};
pub use cloud::coordinates::Coordinates;
pub use cloud::crs::Crs;
pub use cloud::summary::{Octree, Summary};
pub use cloud::{Cloud, Field};
pub use error::remedy;
pub use files::area::Area;
pub use files::classes::class_name;
pub use files::filter::{Condition, Filter};
pub use files::merge::{EqualRows, Merged, MergedFile};
pub use files::reader::{Reader, Rows};

pub use bytes::identity::FileId;
pub use bytes::share::{Share, observe};
pub use bytes::{memory, temporary};
pub use error::untrusted::printable;
pub use error::{Error, Place, is_url, spelled};
pub use files::input::{read, read_bytes, read_for, summary};
pub use files::numbers::read_numbers;
pub use files::output::{
    check_output, write, write_arrays, write_bytes, write_file, write_indices,
    write_indices_in_blocks,
};
pub use format::{Format, TextStyle};
pub use formats::copc::Copc;
pub use formats::npy::{Array, Values};
pub use means::Groups;
pub use options::{Encoding, Precision, ReadOptions, WriteOptions};

/// The examples of the README, which are tested as documentation.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct ReadmeExamples;
