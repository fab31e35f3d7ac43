//! Places of the rows of a raw file, without reading them.

use super::columns::Values;
use super::described;
use crate::ReadOptions;
use crate::cloud::Cloud;
use crate::cloud::coordinates::Coordinates;
use crate::cloud::header::Header;
use crate::cloud::layout::{Layout, Storage};
use crate::error::ParseError;
use crate::format::Format;
use std::io;

/// Locates the rows of a file of `length` bytes; `read` returns a number of bytes from an offset on.
pub(crate) fn layout(
    length: u64,
    read: impl FnMut(u64, usize) -> io::Result<Vec<u8>>,
    name: &str,
    options: &ReadOptions,
) -> Result<Option<Layout>, ParseError> {
    let values = Values::read(length, read).map_err(|error| ParseError::unread(&error))?;
    let found = described(&values, length, name, options)?;
    let stride = found.stride;
    let (table, description, warning) = found.table(Vec::new().into());
    let none = Coordinates::F32(Vec::new());
    let mut head = Cloud::from_table(Format::Raw, description, none, table, Header::None);
    head.warnings.extend(warning);
    let count = length / stride as u64;
    Ok(Some(Layout { head, rows: Storage::Stride(0), count, stride, bounds: None }))
}
