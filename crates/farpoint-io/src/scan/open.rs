//! Opening a file for reading in parts.

use super::place::read_at;
use super::{Scan, Source, starts};
use crate::error::{Error, Fault};
use crate::format::Format;
use crate::layout::Layout;
use crate::{ReadOptions, decode, degrees, detect, las, load, memory, npy, pcd, ply, raw, text};
use std::borrow::Cow;
use std::fs::File;
use std::path::Path;

/// Bytes in which a header is looked for first, and at most.
const HEAD: u64 = 1 << 16;
const LONGEST: u64 = 64 << 20;
/// Memory that reading a whole file takes, as a multiple of its bytes, at least.
const WHOLE: u64 = 3;

impl Scan {
    /// Opens a file: reads its header, and how many rows it has. A file that can't be read in parts is
    /// read whole if that takes no more than `memory` bytes, as far as its length tells. Text that would take more
    /// is read once to see where its lines are (unless `memory` is 0).
    ///
    /// # Errors
    /// As [`crate::read`]; [`Error::NotInParts`] if the file would have to be read whole and is too
    /// large for that.
    pub fn open(path: &Path, options: &ReadOptions, memory: Option<u64>) -> Result<Scan, Error> {
        let name = path.display().to_string();
        let fail = |source| Error::Read { name: name.clone(), source };
        if path == Path::new("-") {
            let cloud = crate::read(path, options)?;
            let format = cloud.format().unwrap_or(Format::Text);
            let name = "standard input".into();
            return Ok(Scan { name, format, length: 0, source: Source::Whole(cloud) });
        }
        let mut file = File::open(path).map_err(fail)?;
        let about = file.metadata().map_err(fail)?;
        let length = about.len();
        if about.is_file() {
            let (format, layout) = in_parts(&mut file, length, &name, options)?;
            if let Some(layout) = layout {
                let starts = starts(&layout);
                let source = Source::Parts { file, layout, starts };
                return Ok(Scan { name, format, length, source });
            }
            let needed = length.saturating_mul(WHOLE);
            if let Some(limit) = memory.filter(|&limit| needed > limit) {
                if limit > 0
                    && let Some(layout) = in_lines(&mut file, length, format, &name, options)?
                {
                    let starts = starts(&layout);
                    let source = Source::Parts { file, layout, starts };
                    return Ok(Scan { name, format, length, source });
                }
                return Err(Error::NotInParts { name, format, needed, limit });
            }
        }
        memory::require(&name, length)?;
        let bytes = load::whole(&mut File::open(path).map_err(fail)?, length).map_err(fail)?;
        let cloud = decode(Cow::Owned(bytes), &name, options)?;
        let format = cloud.format().unwrap_or(Format::Text);
        Ok(Scan { name, format, length, source: Source::Whole(cloud) })
    }

    /// Bytes of the file.
    pub fn bytes(&self) -> u64 {
        self.length
    }
}

/// The format of a file, and where its rows are if that can be told.
fn in_parts(
    file: &mut File,
    length: u64,
    name: &str,
    options: &ReadOptions,
) -> Result<(Format, Option<Layout>), Error> {
    let fail = |source| Error::Read { name: name.to_owned(), source };
    let mut size = HEAD.min(length);
    loop {
        let mut start = vec![0; size as usize];
        read_at(file, &mut start, 0).map_err(fail)?;
        let format = detect::detect(&start, name, options)?;
        match layout(file, length, &start, format, name, options) {
            // The header may go on.
            Err(_) if size < length.min(LONGEST) => size = length.min(4 * size),
            found => {
                let mut found = found.map_err(|fault| fault.named(name, format))?;
                if let Some(layout) = &mut found {
                    warn_of_degrees(layout);
                }
                return Ok((format, found));
            }
        }
    }
}

fn layout(
    file: &mut File,
    length: u64,
    start: &[u8],
    format: Format,
    name: &str,
    options: &ReadOptions,
) -> Result<Option<Layout>, Fault> {
    match format {
        Format::Las | Format::Laz => las::layout(file, length),
        Format::Ply => ply::layout(start, length),
        Format::Pcd => pcd::layout(start, length),
        Format::Npy => npy::layout(start, length),
        Format::Raw => {
            let read = |at: u64, length: usize| {
                let mut bytes = vec![0; length];
                read_at(file, &mut bytes, at).map(|()| bytes)
            };
            raw::layout(length, read, name, options)
        }
        _ => Ok(None),
    }
}

/// Where the rows of a text are, found in a pass over the file.
fn in_lines(
    file: &mut File,
    length: u64,
    format: Format,
    name: &str,
    options: &ReadOptions,
) -> Result<Option<Layout>, Error> {
    let fail = |source| Error::Read { name: name.to_owned(), source };
    let mut size = HEAD.min(length);
    loop {
        let mut start = vec![0; size as usize];
        read_at(file, &mut start, 0).map_err(fail)?;
        let found = match format {
            Format::Text => text::layout(file, &start, size == length, name, options),
            Format::Ply => ply::lines(file, &start),
            Format::Pcd => pcd::lines(file, &start),
            _ => Ok(None),
        };
        match found {
            // The header may go on.
            Err(_) if size < length.min(LONGEST) => size = length.min(16 * size),
            Err(Fault { io: Some(source), .. }) => return Err(fail(source)),
            found => {
                let mut found = found.map_err(|fault| fault.named(name, format))?;
                if let Some(layout) = &mut found {
                    warn_of_degrees(layout);
                }
                return Ok(found);
            }
        }
    }
}

/// As [`crate::read`] does.
fn warn_of_degrees(layout: &mut Layout) {
    let geographic = layout.head.crs().is_some_and(|crs| crs.geographic);
    if geographic && !layout.head.warnings.iter().any(|warning| warning == degrees::WARNING) {
        layout.head.warnings.push(degrees::WARNING.into());
    }
}
