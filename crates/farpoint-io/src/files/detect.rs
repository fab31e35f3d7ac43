//! Detection of a file's format: by its content first, then by its name; and formats by the names that users give.

use crate::ReadOptions;
use crate::bytes::load::read_at;
use crate::error::Error;
use crate::format::Format;
use crate::formats::text::looks_like_points;
use crate::other_bags;
#[cfg(feature = "mcap")]
use std::fs::File;
#[cfg(feature = "mcap")]
use std::io::{self, Read, Seek};
use std::path::Path;
use std::str::FromStr;

const ADVICE: &str = "if the name is wrong, set the format with `input_format`";

impl FromStr for Format {
    type Err = Error;

    /// Parses a format by its name or by one of its extensions, in upper or lower case: `ply`, `.LAZ`, `text`.
    fn from_str(text: &str) -> Result<Format, Error> {
        let requested = text.trim().trim_start_matches('.').to_ascii_lowercase();
        let called = |f: &Format| match f {
            Format::Raw => requested == "raw",
            _ => f.name().eq_ignore_ascii_case(&requested),
        };
        let named = |f: &Format| called(f) || f.extensions().contains(&requested.as_str());
        Format::ALL.into_iter().find(named).ok_or_else(|| Error::UnknownFormat {
            name: format!("'{text}'"),
            what: "no such format".into(),
            fix: format!("use one of {}", Format::ALL.map(|f| f.extensions()[0]).join(", ")),
        })
    }
}

/// Returns whether a file can be read and starts like COPC.
pub(crate) fn is_copc(path: &Path, options: &ReadOptions) -> bool {
    let las_allowed =
        options.format.is_none_or(|format| matches!(format, Format::Las | Format::Laz));
    let starts = || -> std::io::Result<bool> {
        let file = std::fs::File::open(path)?;
        let (mut start, mut name) = ([0; 96], [0; 4]);
        read_at(&file, &mut start, 0)?;
        // The first record follows the header, and its name two reserved bytes.
        read_at(&file, &mut name, u64::from(start[94]) + (u64::from(start[95]) << 8) + 2)?;
        Ok(start.starts_with(b"LASF") && &name == b"copc")
    };
    las_allowed && path != Path::new("-") && starts().unwrap_or(false)
}

/// Decides the format of `bytes`, which came from a file called `name`.
pub(crate) fn detect(bytes: &[u8], name: &str, options: &ReadOptions) -> Result<Format, Error> {
    if bytes.is_empty() {
        return Err(Error::UnknownFormat {
            name: name.to_owned(),
            what: "the file is empty".into(),
            fix: "download or export it again".into(),
        });
    }
    refuse_compressed(bytes, name, options)?;
    if let Some(format) = options.format {
        return Ok(match format {
            // The two differ by one bit of the header only, so either name reads both.
            Format::Las | Format::Laz if bytes.starts_with(b"LASF") => las_or_laz(bytes),
            format => format,
        });
    }
    if let Some(format) = from_content(bytes) {
        return Ok(format);
    }
    refuse_known_formats(bytes, name)?;
    let by_name = Format::from_path(Path::new(name));
    match by_name {
        Some(Format::Raw | Format::Text | Format::Ptx | Format::Obj) => {}
        // An OFF file may start with a comment; the other formats always start with their signature.
        Some(format @ Format::Off) => return Ok(format),
        Some(format) => {
            return Err(Error::UnknownFormat {
                name: name.to_owned(),
                what: format!("the name says {format}, the content does not"),
                fix: format!("{ADVICE}; otherwise download the file again"),
            });
        }
        None => {}
    }
    match by_name {
        Some(Format::Raw) if options.columns.is_none() && looks_like_points(bytes) => {
            Ok(Format::Text)
        }
        Some(format) => Ok(format),
        None if options.columns.is_some() => Ok(Format::Raw),
        None if looks_like_points(bytes) => Ok(Format::Text),
        None => Err(Error::UnknownFormat {
            name: name.to_owned(),
            what: "unknown format, by name and by content".into(),
            fix: format!("{ADVICE}; formats read: {}", readable()),
        }),
    }
}

/// Returns whether the caller states that rows have no signature.
pub(crate) fn is_raw(options: &ReadOptions) -> bool {
    options.format == Some(Format::Raw) || options.columns.is_some()
}

/// Refuses files that are compressed as a whole, whatever their content.
fn refuse_compressed(bytes: &[u8], name: &str, options: &ReadOptions) -> Result<(), Error> {
    let raw = is_raw(options);
    let packers: [(&[u8], &str, &str); 3] = [
        (b"\x1f\x8b\x08", "gzip twice", "gunzip"),
        (b"\x28\xB5\x2F\xFD", "zstd", "unzstd"),
        (b"\xFD7zXZ\0", "xz", "unxz"),
    ];
    match packers.into_iter().find(|(magic, _, _)| bytes.starts_with(magic)) {
        Some((_, packer, unpacker)) if !raw => Err(Error::UnknownFormat {
            name: name.to_owned(),
            what: format!("the file is compressed by {packer}"),
            fix: format!("unpack it first: {unpacker} --keep {name}"),
        }),
        _ => Ok(()),
    }
}

/// Bytes at the start of a file that identify LAS, LAZ and E57.
pub(crate) const SIGNATURE: u64 = 105;

/// Returns the format of a file by its start, if its header describes all points.
pub(crate) fn with_header(start: &[u8], options: &ReadOptions) -> Option<Format> {
    let las = || start.starts_with(b"LASF").then(|| las_or_laz(start));
    let e57 = || start.starts_with(b"ASTM-E57").then_some(Format::E57);
    match options.format {
        None => las().or_else(e57),
        Some(Format::Las | Format::Laz) => las(),
        Some(Format::E57) => e57(),
        Some(_) => None,
    }
}

/// Returns whether a file is MCAP, which is not read into memory whole. It is left at its start.
#[cfg(feature = "mcap")]
pub(crate) fn is_mcap(file: &mut File, options: &ReadOptions) -> io::Result<bool> {
    if options.format.is_some_and(|format| format != Format::Mcap) || !file.metadata()?.is_file() {
        return Ok(false);
    }
    let mut start = Vec::new();
    file.by_ref().take(MCAP.len() as u64).read_to_end(&mut start)?;
    file.rewind()?;
    Ok(start == MCAP)
}

/// Magic bytes of an MCAP file.
const MCAP: &[u8] = b"\x89MCAP0\r\n";

/// Returns the format identified by the first bytes. Raw rows, text and OBJ have no signature.
fn from_content(bytes: &[u8]) -> Option<Format> {
    let start = bytes.trim_ascii_start();
    let head = &start[..start.len().min(2048)];
    match bytes {
        _ if bytes.starts_with(b"LASF") => Some(las_or_laz(bytes)),
        _ if bytes.starts_with(b"ASTM-E57") => Some(Format::E57),
        _ if bytes.starts_with(b"\x93NUMPY") => Some(Format::Npy),
        _ if bytes.starts_with(MCAP) => Some(Format::Mcap),
        _ if bytes.starts_with(b"PK\x03\x04") || bytes.starts_with(b"PK\x05\x06") => {
            Some(Format::Npz)
        }
        _ if bytes.starts_with(b"ply\n") || bytes.starts_with(b"ply\r") => Some(Format::Ply),
        _ if pcd_header(head) => Some(Format::Pcd),
        _ if crate::formats::mesh::off_keyword(head).is_some() => Some(Format::Off),
        _ if crate::formats::ptx::looks_like_scans(bytes) => Some(Format::Ptx),
        _ => None,
    }
}

/// Bit 7 of the point format indicates LASzip.
fn las_or_laz(bytes: &[u8]) -> Format {
    match bytes.get(104) {
        Some(format) if format & 0xC0 != 0 => Format::Laz,
        _ => Format::Las,
    }
}

fn pcd_header(head: &[u8]) -> bool {
    let mut lines = head.split(|&b| b == b'\n').map(<[u8]>::trim_ascii);
    let line = lines.find(|l| !l.is_empty() && !l.starts_with(b"#")).unwrap_or_default();
    let starts = |word: &[u8]| line.starts_with(word) && line.get(word.len()) == Some(&b' ');
    starts(b"VERSION") || starts(b"FIELDS") || starts(b"COLUMNS")
}

/// Refuses known formats that hold clouds but are not read, with advice.
fn refuse_known_formats(bytes: &[u8], name: &str) -> Result<(), Error> {
    other_bags::refuse(bytes, name)?;
    let (what, fix) = match bytes {
        _ if bytes.starts_with(b"\x89HDF\r\n") => {
            ("an HDF5 file, not a point cloud file", "save the array of points as NPY")
        }
        _ if bytes.starts_with(b"glTF") => {
            ("a glTF model, not a point cloud file", "convert it to PLY")
        }
        _ => return Ok(()),
    };
    let (what, fix) = (format!("this is {what}"), fix.to_owned());
    Err(Error::UnknownFormat { name: name.to_owned(), what, fix })
}

fn readable() -> String {
    let names: Vec<String> = Format::ALL
        .iter()
        .map(|f| format!("{} (.{})", f.name(), f.extensions().join(", .")))
        .collect();
    names.join(", ")
}
