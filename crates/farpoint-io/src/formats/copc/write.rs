//! Assembles a COPC file: header, records, a chunk for each node, hierarchy.

use super::cube::CellGrid;
use super::hierarchy::{self, Entry};
use super::info::{self, Info};
use super::levels::{Key, Levels, Node};
use super::order::{self, time};
use super::spacing::Ordered;
use super::{Copc, extended, wkt};
use crate::WriteOptions;
use crate::bytes::memory;
use crate::bytes::panics::catch_panic;
use crate::bytes::parallel;
use crate::bytes::share::Counter;
use crate::cloud::Cloud;
use crate::cloud::coordinates::Coordinates;
use crate::cloud::header::{LasHeader, Record};
use crate::error::{ParseError, Place};
use crate::formats::las::{self, Counts, base_length, new_record, record_length};
use laz::laszip::ChunkTable;
use laz::{LazVlr, LazVlrBuilder, ParLasZipCompressor};
use rayon::prelude::*;
use std::io::{Cursor, Seek, SeekFrom};

/// Bytes that writing takes for each point, besides the cloud: an estimate from the arrays that are held.
pub(super) const MEMORY: usize = 120;
/// Share of a distance in single precision that may be rounding.
const SINGLE: f64 = 1e-6;

/// Writes the rows, which are in farthest-first order.
pub(crate) fn write(
    cloud: &Cloud,
    rows: &[usize],
    copc: &Copc,
    options: &WriteOptions,
    warnings: &mut Vec<String>,
) -> Result<Vec<u8>, ParseError> {
    check(rows, copc)?;
    memory::fits(rows.len() as u64, MEMORY)?;
    let ranks = ranks(cloud.len(), rows)?;
    let sorted: Vec<usize> = ranks.iter().map(|&rank| rows[rank as usize]).collect();
    let (mut header, records) = las::lay_out(cloud, &sorted, options, warnings)?;
    let records = extended::convert(&mut header, records, warnings);
    wkt::state(&mut header, cloud, copc, warnings);
    let grid = CellGrid::new(&header, &records, |i| cloud.coordinates.get(sorted[i]))?;
    let single = matches!(cloud.coordinates, Coordinates::F32(_)) || copc.error > 0.0;
    // The place of each rank among the records.
    let mut places = vec![0u32; ranks.len()];
    ranks.iter().enumerate().for_each(|(place, &rank)| places[rank as usize] = place as u32);
    drop(ranks);
    let cells = parallel::values(places.len(), |rank| grid.cells[places[rank] as usize]);
    let ordered = Ordered {
        distances: &copc.distances,
        cells: &cells,
        relative: if single { SINGLE } else { 0.0 },
        absolute: 2.0 * grid.max_error + copc.error,
    };
    let mut levels = Levels::new(&ordered, grid.cube.side, copc.node_points);
    drop(cells);
    // From ranks to records, in the order of the input.
    parallel::each(levels.nodes.iter_mut(), |Node { points, .. }| {
        points.iter_mut().for_each(|point| *point = places[*point as usize]);
        points.sort_unstable();
    });
    let info = Info {
        cube: grid.cube,
        spacing: levels.spacing,
        root: (0, 0),
        times: times(&records, &header),
    };
    assemble(header, &records, &levels.nodes, info)
}

fn check(rows: &[usize], copc: &Copc) -> Result<(), ParseError> {
    if let Some((what, fix)) = copc.wrong() {
        return Err(ParseError::new(what).fix(fix));
    }
    let distances = &copc.distances;
    if distances.len() != rows.len() {
        let what = format!("{} points have {} distances", rows.len(), distances.len());
        return Err(ParseError::new(what).fix("pass the selection distance of each row"));
    }
    let rises = |pair: &[f64]| pair[1] > pair[0] || pair[1].is_nan();
    let wrong = distances.windows(2).position(rises).map(|at| at + 1);
    let first = distances.first().is_some_and(|first| first.is_nan());
    if let Some(at) = wrong.or(first.then_some(0)).or(distances.iter().position(|d| *d < 0.0)) {
        let what = format!("distance {at} is {}, which is not a selection distance", distances[at]);
        return Err(ParseError::new(what).fix("pass the points farthest first"));
    }
    Ok(())
}

/// Returns for each of the rows, in the order of the cloud, its place in `rows`.
fn ranks(points: usize, rows: &[usize]) -> Result<Vec<u32>, ParseError> {
    let mut ranks = vec![u32::MAX; points];
    for (rank, &row) in rows.iter().enumerate() {
        if ranks[row] != u32::MAX {
            let what = "occurs twice, and COPC holds each point once";
            return Err(ParseError::new(what).at(Place::Point(row)).fix("list each row once"));
        }
        ranks[row] = rank as u32;
    }
    ranks.retain(|&rank| rank != u32::MAX);
    Ok(ranks)
}

/// Returns the minimum and maximum GPS time; zeros without one.
fn times(records: &[u8], header: &LasHeader) -> [f64; 2] {
    let stride = usize::from(header.raw.point_data_record_length);
    let none = [f64::INFINITY, f64::NEG_INFINITY];
    let wider = |[low, high]: [f64; 2], time: f64| [low.min(time), high.max(time)];
    let of_block = |block: &[u8]| block.chunks_exact(stride).map(time).fold(none, wider);
    let found = parallel::map(records.chunks(stride << 13), of_block);
    let found = found.into_iter().fold(none, |a, b| [a[0].min(b[0]), a[1].max(b[1])]);
    if found[0] <= found[1] { found } else { [0.0; 2] }
}

fn assemble(
    mut header: LasHeader,
    records: &[u8],
    nodes: &[Node],
    mut info: Info,
) -> Result<Vec<u8>, ParseError> {
    let vlr = describe(&mut header)?;
    let mut counts = Counts::new(&header);
    counts.add(records);
    counts.state(&mut header);
    let start = las::before_points(&header)?;
    let stride = usize::from(header.raw.point_data_record_length);
    let begin = start.len();
    let (mut out, sizes) = compressed(start, records, stride, nodes, vlr)?;
    let after = out.len() as u64;
    let entries = entries(nodes, &sizes, begin as u64 + 8);
    if let Some(large) = entries.iter().find(|entry| entry.bytes > i32::MAX as u64) {
        let what = format!("a node of {} points takes more than 2 GiB", large.points);
        return Err(
            ParseError::new(what).fix("leave out duplicates, or set a smaller `node_points`")
        );
    }
    let pages = hierarchy::pages(&entries, after + 60);
    info.root = (after + 60, pages.root);
    header.extended.insert(0, extended_record(&pages.bytes));
    las::move_extended(&mut header, after);
    header.extended.iter().for_each(|record| out.extend_from_slice(&record.bytes));
    let head = las::header_bytes(&header.raw)?;
    out[..head.len()].copy_from_slice(&head);
    out[info::AT..info::AT + info::LENGTH].copy_from_slice(&info.bytes());
    Ok(out)
}

/// Puts the records of COPC and of LASzip before the others, and states the lengths of all.
fn describe(header: &mut LasHeader) -> Result<LazVlr, ParseError> {
    let stride = usize::from(header.raw.point_data_record_length);
    let extra = record_length(stride - base_length(header.format))?;
    let vlr = LazVlrBuilder::default()
        .with_point_format(header.format, extra)
        .map_err(|e| ParseError::new(format!("cannot be compressed: {e}")).fix("write LAS"))?
        .with_variable_chunk_size()
        .build();
    let mut data = Vec::new();
    vlr.write_to(&mut data).map_err(|e| ParseError::new(format!("the LASzip record: {e}")))?;
    let laszip = new_record(LazVlr::USER_ID, LazVlr::RECORD_ID, LazVlr::DESCRIPTION, &data);
    // Its content is known when the points are written.
    let copc = new_record("copc", 1, "COPC info VLR", &[0; info::LENGTH]);
    header.records.splice(0..0, [copc, laszip]);
    let raw = &mut header.raw;
    raw.point_data_record_format = header.format | 0x80;
    raw.number_of_variable_length_records = header.records.len() as u32;
    let head = las::header_bytes(raw)?.len();
    if head + 54 != info::AT {
        return Err(ParseError::new(format!("the header takes {head} bytes, and COPC has 375")));
    }
    let records: usize = header.records.iter().map(|r| r.bytes.len()).sum();
    raw.header_size = head as u16;
    raw.offset_to_point_data = u32::try_from(head + records)
        .map_err(|_| ParseError::new("the records before the points exceed 4 GiB"))?;
    Ok(vlr)
}

/// Appends a chunk for each node, and the table of chunks; returns the bytes of each.
fn compressed(
    out: Vec<u8>,
    records: &[u8],
    stride: usize,
    nodes: &[Node],
    vlr: LazVlr,
) -> Result<(Vec<u8>, Vec<u64>), ParseError> {
    let failed = |e: String| ParseError::new(format!("the points cannot be compressed: {e}"));
    catch_panic("the points cannot be compressed", || {
        let start = out.len() as u64;
        let mut cursor = Cursor::new(out);
        cursor.set_position(start);
        let mut laz =
            ParLasZipCompressor::new(cursor, vlr.clone()).map_err(|e| failed(e.to_string()))?;
        let filled: Vec<&Node> = nodes.iter().filter(|node| !node.points.is_empty()).collect();
        let counter = Counter::new(filled.len());
        let chunk = |node: &Node| {
            counter.add(1);
            order::smallest(records, stride, &node.points, &vlr)
        };
        let chunks = filled.into_par_iter().with_max_len(1).map(chunk);
        laz.compress_chunks(chunks).map_err(|e| failed(e.to_string()))?;
        laz.done().map_err(|e| failed(e.to_string()))?;
        let mut cursor = laz.into_inner();
        cursor.seek(SeekFrom::Start(start)).map_err(|e| failed(e.to_string()))?;
        let table = ChunkTable::read_from(&mut cursor, &vlr).map_err(|e| failed(e.to_string()))?;
        let sizes = table.as_ref().iter().map(|entry| entry.byte_count).collect();
        Ok((cursor.into_inner(), sizes))
    })
}

/// Returns the place of the points of each node, whose chunks follow one another from `at` on.
fn entries(nodes: &[Node], sizes: &[u64], mut at: u64) -> Vec<Entry> {
    let mut sizes = sizes.iter();
    let mut entry = |node: &Node| {
        let points = node.points.len() as u64;
        // Only the root of a file without points has none, and no chunk.
        let bytes = if points == 0 { 0 } else { sizes.next().copied().unwrap_or(0) };
        let offset = if points == 0 { 0 } else { at };
        at += bytes;
        Entry { key: node.key, offset, bytes, points }
    };
    debug_assert_eq!(nodes.first().map(|node| node.key), Some(Key::ROOT));
    nodes.iter().map(&mut entry).collect()
}

/// Returns the hierarchy as a record after the points.
fn extended_record(data: &[u8]) -> Record {
    let mut bytes = vec![0; 60];
    bytes[2..6].copy_from_slice(b"copc");
    bytes[18..20].copy_from_slice(&1000u16.to_le_bytes());
    bytes[20..28].copy_from_slice(&(data.len() as u64).to_le_bytes());
    bytes[28..42].copy_from_slice(b"EPT hierarchy\0");
    bytes.extend_from_slice(data);
    Record { user: b"copc".to_vec(), id: 1000, head: 60, bytes }
}
