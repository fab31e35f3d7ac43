//! Opening a file for reading in parts.

use super::handle::Handle;
use super::{Content, Reader, starts};
use crate::cloud::layout::{Layout, Storage};
use crate::error::{Error, ParseError};
use crate::files::filter::Filter;
use crate::format::Format;
use crate::formats::{Head, functions};
use crate::{
    ReadOptions, bytes::load, bytes::load::read_at, bytes::memory, bytes::unpack, cloud::degrees,
    files::detect, files::input::check, files::input::decode,
};
use std::borrow::Cow;
use std::fs::File;
use std::io;
use std::path::Path;

/// Bytes of a file searched for its header, at first and at most.
const HEAD: u64 = 1 << 16;
const MAX_HEAD: u64 = 64 << 20;
/// Memory that reading a whole file takes at least, as a multiple of its bytes.
const MEMORY_FACTOR: u64 = 3;

impl Reader {
    /// Opens a file: reads its header, and its number of rows. A file that can't be read in parts is read whole if
    /// that takes no more than `memory` bytes, as far as its length shows. Text that would take more is read once to
    /// find its lines (unless `memory` is 0).
    ///
    /// # Errors
    /// Same as [`crate::read`]; [`Error::NotInParts`] if the file would have to be read whole and is too
    /// large for that.
    pub fn open(path: &Path, options: &ReadOptions, memory: Option<u64>) -> Result<Reader, Error> {
        let name = path.display().to_string();
        let fail = |source| Error::Read { name: name.clone(), source };
        if path == Path::new("-") {
            let cloud = crate::read(path, options)?;
            let format = cloud.format().unwrap_or(Format::Text);
            let name = "standard input".into();
            let content = Content::InMemory(cloud);
            return Ok(Reader {
                name,
                format,
                length: 0,
                content,
                inputs: Vec::new(),
                filter: Filter::default(),
            });
        }
        let mut file = File::open(path).map_err(fail)?;
        let info = file.metadata().map_err(fail)?;
        let length = info.len();
        if info.is_file() {
            let packed = packed(&mut file, length).map_err(fail)?;
            let (format, layout) = match packed {
                Some(_) => (Format::of_input(path).unwrap_or(Format::Text), None),
                None => in_parts(&mut file, length, &name, options)?,
            };
            if let Some(layout) = layout {
                let starts = starts(&layout);
                let content = Content::Parts { file: Handle::Open(file), layout, starts };
                let inputs = vec![name.clone()];
                return Ok(Reader {
                    name,
                    format,
                    length,
                    content,
                    inputs,
                    filter: Filter::default(),
                });
            }
            let needed = packed.unwrap_or(0).max(length).saturating_mul(MEMORY_FACTOR);
            if let Some(limit) = memory.filter(|&limit| needed > limit) {
                if limit > 0
                    && packed.is_none()
                    && let Some(layout) = in_lines(&mut file, length, format, &name, options)?
                {
                    let starts = starts(&layout);
                    let content = Content::Parts { file: Handle::Open(file), layout, starts };
                    let inputs = vec![name.clone()];
                    let filter = Filter::default();
                    return Ok(Reader { name, format, length, content, inputs, filter });
                }
                return Err(Error::NotInParts { name, format, needed, limit });
            }
        }
        memory::require(&name, length)?;
        let check = |start: &[u8]| check(start, &name, options);
        let bytes = load::read_all(&mut File::open(path).map_err(fail)?, length, &name, &check)?;
        let cloud = decode(Cow::Owned(bytes), &name, options)?;
        let format = cloud.format().unwrap_or(Format::Text);
        let inputs = vec![name.clone()];
        Ok(Reader {
            name,
            format,
            length,
            content: Content::InMemory(cloud),
            inputs,
            filter: Filter::default(),
        })
    }

    /// Creates a reader of rows that are assembled elsewhere.
    pub(crate) fn from_parts(
        name: String,
        format: Format,
        length: u64,
        layout: Layout,
        inputs: Vec<String>,
    ) -> Reader {
        let starts = starts(&layout);
        let content = Content::Parts { file: Handle::Elsewhere, layout, starts };
        Reader { name, format, length, content, inputs, filter: Filter::default() }
    }

    /// Closes the file, which is then open only while a part is read.
    pub(crate) fn closed(mut self) -> Reader {
        if let Content::Parts { file, .. } = &mut self.content
            && let Handle::Open(_) = file
        {
            *file = Handle::Closed(self.name.clone().into(), self.length);
        }
        self
    }

    /// Returns the bytes of memory held all the time: for a file that can't be read in parts.
    pub fn held(&self) -> u64 {
        match &self.content {
            Content::InMemory(_) => MEMORY_FACTOR * self.length,
            Content::Parts { layout, .. } => match &layout.rows {
                Storage::Parts(parts) => parts.held(),
                _ => 0,
            },
        }
    }

    /// Returns the length of the file in bytes.
    pub fn bytes(&self) -> u64 {
        self.length
    }
}

/// Returns the least size of the compressed content of a file; `None` if it is not compressed.
fn packed(file: &mut File, length: u64) -> io::Result<Option<u64>> {
    let mut start = [0; 3];
    if length < 18 {
        return Ok(None);
    }
    read_at(file, &mut start, 0)?;
    if !unpack::is_packed(&start) {
        return Ok(None);
    }
    let mut end = [0; 4];
    read_at(file, &mut end, length - 4)?;
    Ok(Some(unpack::stated_size(end)))
}

/// Returns the format of a file, and the places of its rows if they can be found.
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
        let head = Head { file, length, start: &start, name, options };
        match functions(format).layout.map_or(Ok(None), |layout| layout(head)) {
            // The header may be longer.
            Err(_) if size < length.min(MAX_HEAD) => size = length.min(4 * size),
            found => {
                let mut found = found.map_err(|error| error.named(name, format))?;
                if let Some(layout) = &mut found {
                    let head = &mut layout.head;
                    degrees::warn(head.crs.as_ref(), &mut head.warnings, || false);
                }
                return Ok((format, found));
            }
        }
    }
}

/// Locates the rows of a text file, in a pass over the file.
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
        let head = Head { file, length, start: &start, name, options };
        let found = functions(format).lines.map_or(Ok(None), |lines| lines(head));
        match found {
            // The header may be longer.
            Err(_) if size < length.min(MAX_HEAD) => size = length.min(16 * size),
            Err(ParseError { io: Some(source), .. }) => return Err(fail(source)),
            found => {
                let mut found = found.map_err(|error| error.named(name, format))?;
                if let Some(layout) = &mut found {
                    let head = &mut layout.head;
                    degrees::warn(head.crs.as_ref(), &mut head.warnings, || false);
                }
                return Ok(found);
            }
        }
    }
}
