//! The formats, a folder or file each, and the table of their capabilities.

pub(crate) mod copc;
pub(crate) mod e57;
pub(crate) mod las;
pub(crate) mod mesh;
pub(crate) mod npy;
pub(crate) mod pcd;
pub(crate) mod ply;
pub(crate) mod ptx;
pub(crate) mod raw;
pub(crate) mod text;

use crate::bytes::load::read_at;
use crate::cloud::layout::Layout;
use crate::cloud::{Cloud, lines, summary::Summary};
use crate::error::ParseError;
use crate::format::Format;
use crate::options::{ReadOptions, WriteOptions};
use std::borrow::Cow;
use std::fs::File;

/// The bytes of a file.
pub(crate) struct Input<'a> {
    pub(crate) bytes: Cow<'a, [u8]>,
    pub(crate) name: &'a str,
    pub(crate) options: &'a ReadOptions,
}

/// The first bytes of a file that is read in chunks.
pub(crate) struct Head<'a> {
    pub(crate) file: &'a mut File,
    pub(crate) length: u64,
    pub(crate) start: &'a [u8],
    pub(crate) name: &'a str,
    pub(crate) options: &'a ReadOptions,
}

/// Rows of a cloud to write.
pub(crate) struct Output<'a> {
    pub(crate) name: &'a str,
    pub(crate) cloud: &'a Cloud,
    pub(crate) rows: &'a [usize],
    pub(crate) options: &'a WriteOptions,
    pub(crate) warnings: &'a mut Vec<String>,
}

type Read = fn(Input<'_>) -> Result<Cloud, ParseError>;
type Write = fn(Output<'_>) -> Result<Vec<u8>, ParseError>;
type Locate = fn(Head<'_>) -> Result<Option<Layout>, ParseError>;
type Summarize = fn(&mut File, u64) -> Result<Summary, ParseError>;

/// Functions of a format.
pub(crate) struct Functions {
    /// Reads a whole file.
    pub(crate) read: Read,
    /// Writes rows in their order.
    pub(crate) write: Option<Write>,
    /// Locates the rows of a file that is read in chunks, by its header.
    pub(crate) layout: Option<Locate>,
    /// Locates the rows of a text, in a pass over its lines.
    pub(crate) lines: Option<Locate>,
    /// Reads the facts about all points in the header.
    pub(crate) summary: Option<Summarize>,
}

/// A format that is only read.
const fn reader(read: Read) -> Functions {
    Functions { read, write: None, layout: None, lines: None, summary: None }
}

/// Returns the functions of a format: its row of the table.
pub(crate) fn functions(format: Format) -> Functions {
    match format {
        Format::Ply => Functions {
            write: Some(|to| ply::write(to.cloud, to.rows, to.options, to.warnings)),
            layout: Some(|head| ply::layout(head.start, head.length)),
            lines: Some(|head| ply::lines(head.file, head.start)),
            ..reader(|of| ply::read(of.bytes))
        },
        Format::Pcd => Functions {
            write: Some(|to| pcd::write(to.cloud, to.rows, to.options, to.warnings)),
            layout: Some(|head| pcd::layout(head.start, head.length)),
            lines: Some(|head| pcd::lines(head.file, head.start)),
            ..reader(|of| pcd::read(of.bytes))
        },
        Format::Las => Functions {
            write: Some(|to| las::write(to.cloud, to.rows, false, to.options, to.warnings)),
            layout: Some(|head| las::layout(head.file, head.length)),
            summary: Some(las::summary),
            ..reader(|of| las::read(of.bytes))
        },
        Format::Laz => Functions {
            write: Some(|to| match &to.options.copc {
                Some(levels) => copc::write(to.cloud, to.rows, levels, to.options, to.warnings),
                None => las::write(to.cloud, to.rows, true, to.options, to.warnings),
            }),
            ..functions(Format::Las)
        },
        Format::E57 => Functions {
            write: Some(|to| e57::write(to.cloud, to.rows, to.options, to.warnings)),
            summary: Some(|file, _| e57::summary(file)),
            ..reader(|of| e57::read(&of.bytes))
        },
        Format::Npy => Functions {
            write: Some(|to| npy::write(to.cloud, to.rows, to.options, to.warnings)),
            layout: Some(|head| npy::layout(head.start, head.length)),
            ..reader(|of| npy::read(of.bytes))
        },
        Format::Npz => Functions {
            write: Some(|to| npy::write_packed(to.cloud, to.rows, to.options, to.warnings)),
            ..reader(|of| npy::read_archive(&of.bytes))
        },
        Format::Raw => Functions {
            write: Some(|to| raw::write(to.name, to.cloud, to.rows, to.warnings)),
            layout: Some(|head| {
                let read = |at: u64, length: usize| {
                    let mut bytes = vec![0; length];
                    read_at(head.file, &mut bytes, at).map(|()| bytes)
                };
                raw::layout(head.length, read, head.name, head.options)
            }),
            ..reader(|of| raw::read(of.bytes, of.name, of.options))
        },
        Format::Text => Functions {
            write: Some(|to| text::write(to.cloud, to.rows, to.options.style, to.warnings)),
            lines: Some(|head| {
                let whole = head.start.len() as u64 == head.length;
                text::layout(head.file, head.start, whole, head.name, head.options)
            }),
            ..reader(|of| text::read(lines::with_feeds(of.bytes, true)?, of.name, of.options))
        },
        Format::Ptx => reader(|of| ptx::read(&lines::with_feeds(of.bytes, false)?)),
        Format::Obj => reader(|of| mesh::read_obj(&lines::with_feeds(of.bytes, false)?)),
        Format::Off => reader(|of| mesh::read_off(&lines::with_feeds(of.bytes, false)?)),
        Format::Mcap => reader(|_| {
            Err(ParseError::new("this build does not read bags")
                .fix("build farpoint-io with its feature mcap, or use the command farpoint"))
        }),
    }
}

impl Format {
    /// Returns whether this crate writes clouds in the format.
    pub fn can_write(self) -> bool {
        functions(self).write.is_some()
    }
}
