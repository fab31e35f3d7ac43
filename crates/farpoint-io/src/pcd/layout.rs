//! Where the rows of a PCD file are, without reading them.

use super::{axes, cloud, coordinates, parsed, slots, too_many};
use crate::error::Fault;
use crate::layout::{Layout, Rows};
use crate::table::{Store, Table};
use pcd_rs::DataKind;

/// Of a file of `length` bytes that starts so; `None` for text and for data compressed as a whole.
pub(crate) fn layout(start: &[u8], length: u64) -> Result<Option<Layout>, Fault> {
    let (lines, meta, at) = parsed(start)?;
    if meta.data != DataKind::Binary {
        return Ok(None);
    }
    let (slots, stride) = slots(&meta, false)?;
    let xyz = axes(&slots)?;
    let (count, at) = (meta.num_points, at as u64);
    let there = length.saturating_sub(at) / stride.max(1) as u64;
    if there < count {
        return Err(too_many(&meta, there as usize));
    }
    let store = Store::Records { bytes: Vec::new().into(), stride };
    let table = Table { slots, store, big_endian: false, xyz };
    let none = coordinates(&table, 0)?;
    let head = cloud(lines, &meta, none, table);
    Ok(Some(Layout { head, rows: Rows::Stride(at), count, stride, bounds: None }))
}
