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
    /// Locates the rows of a text file, in a pass over its lines.
    pub(crate) lines: Option<Locate>,
    /// Reads the facts about all points in the header.
    pub(crate) summary: Option<Summarize>,
}

/// A format that is only read.
const fn from_reader(read: Read) -> Functions {
    Functions { read, write: None, layout: None, lines: None, summary: None }
}

/// Returns the functions of a format: its row of the table.
pub(crate) fn functions(format: Format) -> Functions {
    match format {
        Format::Ply => Functions {
            write: Some(|out| ply::write(out.cloud, out.rows, out.options, out.warnings)),
            layout: Some(|head| ply::layout(head.start, head.length)),
            lines: Some(|head| ply::lines(head.file, head.start)),
            ..from_reader(|input| ply::read(input.bytes))
        },
        Format::Pcd => Functions {
            write: Some(|out| pcd::write(out.cloud, out.rows, out.options, out.warnings)),
            layout: Some(|head| pcd::layout(head.start, head.length)),
            lines: Some(|head| pcd::lines(head.file, head.start)),
            ..from_reader(|input| pcd::read(input.bytes))
        },
        Format::Las => Functions {
            write: Some(|out| las::write(out.cloud, out.rows, false, out.options, out.warnings)),
            layout: Some(|head| las::layout(head.file, head.length)),
            summary: Some(las::summary),
            ..from_reader(|input| las::read(input.bytes))
        },
        Format::Laz => Functions {
            write: Some(|out| match &out.options.copc {
                Some(levels) => copc::write(out.cloud, out.rows, levels, out.options, out.warnings),
                None => las::write(out.cloud, out.rows, true, out.options, out.warnings),
            }),
            ..functions(Format::Las)
        },
        Format::E57 => Functions {
            write: Some(|out| e57::write(out.cloud, out.rows, out.options, out.warnings)),
            summary: Some(e57::summary),
            ..from_reader(|input| e57::read(&input.bytes))
        },
        Format::Npy => Functions {
            write: Some(|out| npy::write(out.cloud, out.rows, out.options, out.warnings)),
            layout: Some(|head| npy::layout(head.start, head.length)),
            ..from_reader(|input| npy::read(input.bytes))
        },
        Format::Npz => Functions {
            write: Some(|out| npy::write_packed(out.cloud, out.rows, out.options, out.warnings)),
            ..from_reader(|input| npy::read_archive(&input.bytes))
        },
        Format::Raw => Functions {
            write: Some(|out| raw::write(out.name, out.cloud, out.rows, out.warnings)),
            layout: Some(|head| {
                let read = |at: u64, length: usize| {
                    let mut bytes = vec![0; length];
                    read_at(head.file, &mut bytes, at).map(|()| bytes)
                };
                raw::layout(head.length, read, head.name, head.options)
            }),
            ..from_reader(|input| raw::read(input.bytes, input.name, input.options))
        },
        Format::Text => Functions {
            write: Some(|out| text::write(out.cloud, out.rows, out.options.style, out.warnings)),
            lines: Some(|head| {
                let whole = head.start.len() as u64 == head.length;
                text::layout(head.file, head.start, whole, head.name, head.options)
            }),
            ..from_reader(|input| {
                text::read(lines::with_feeds(input.bytes, true)?, input.name, input.options)
            })
        },
        Format::Ptx => from_reader(|input| ptx::read(&lines::with_feeds(input.bytes, false)?)),
        Format::Obj => from_reader(|input| mesh::read_obj(&lines::with_feeds(input.bytes, false)?)),
        Format::Off => from_reader(|input| mesh::read_off(&lines::with_feeds(input.bytes, false)?)),
        Format::Mcap => from_reader(|_| {
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
