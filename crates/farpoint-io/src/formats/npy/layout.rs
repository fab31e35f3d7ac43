//! Places of the rows of an NPY file, without reading them.

use super::{cloud, is_half, parse, rows};
use crate::cloud::dtype::DType;
use crate::cloud::layout::{Layout, Storage};
use crate::cloud::table::Store;
use crate::error::ParseError;
use std::borrow::Cow;

/// Locates the rows of a file of `length` bytes by its start; `None` for columns one after another and for float16,
/// which are not stored as they are processed.
pub(crate) fn layout(start: &[u8], length: u64) -> Result<Option<Layout>, ParseError> {
    let parsed = parse(start)?;
    if parsed.fortran_order || matches!(&parsed.dtype, DType::Plain(kind) if is_half(kind)) {
        return Ok(None);
    }
    let (table, header) = rows(&parsed, Cow::Borrowed(&start[..parsed.start]), 0)?;
    let Store::Records { stride, .. } = table.store else { return Ok(None) };
    let count = parsed.shape[0] as u64;
    let room = length.saturating_sub(parsed.start as u64);
    let available = room / (stride as u64).max(1);
    if available < count {
        let what = format!("the shape declares {count} rows, the file has {available}");
        return Err(ParseError::truncated(what));
    }
    // The kinds of the columns alone decide between the two.
    let (coordinates, _) = super::coordinates(&table, 0, header.plain)?;
    let rows = Storage::Stride(parsed.start as u64);
    let head = cloud(&parsed, coordinates, table, header, room);
    Ok(Some(Layout { head, rows, count, stride, bounds: None }))
}
