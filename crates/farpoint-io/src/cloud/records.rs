//! Records of one length, assembled from stored rows and columns by all threads.

use crate::bytes::parallel;
use crate::cloud::column::Attribute;
use crate::cloud::table::{Store, Table};

/// Records that a thread takes at a time.
const BLOCK: usize = 1 << 13;

/// Appends a record for each of `count` rows: the stored row, if there are any, then its value of each column. Stored
/// rows must be records.
pub(crate) fn append(
    out: &mut Vec<u8>,
    stored: Option<(&Table, &[usize])>,
    count: usize,
    columns: &[Attribute],
    big_endian: bool,
) {
    let stored_size = stored.map_or(0, |(table, _)| match table.store {
        Store::Records { stride, .. } => stride,
        Store::Spans { .. } | Store::Lines { .. } => unreachable!("no records"),
    });
    let stride = stored_size + columns.iter().map(|a| a.column.kind().size()).sum::<usize>();
    if stride == 0 {
        return;
    }
    let start = out.len();
    // The system zeroes pages when they are touched, first by the thread of each block.
    let mut all = vec![0; start + count * stride];
    all[..start].copy_from_slice(out);
    *out = all;
    let blocks = out[start..].chunks_mut(BLOCK * stride).enumerate();
    parallel::each(blocks, |(block, records)| {
        let first = block * BLOCK;
        if let Some((table, rows)) = stored {
            for (record, &row) in records.chunks_exact_mut(stride).zip(&rows[first..]) {
                record[..stored_size].copy_from_slice(table.row(row));
            }
        }
        let mut at = stored_size;
        for a in columns {
            a.column.write_into(first, records, stride, at, big_endian);
            at += a.column.kind().size();
        }
    });
}
