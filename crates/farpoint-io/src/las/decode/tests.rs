//! Against laz: the same bytes, for any records.

use super::Layout;
use laz::laszip::ChunkTableEntry;
use laz::{LasZipCompressor, LazVlr, LazVlrBuilder};
use std::io::Cursor;

/// Pseudo-random numbers (splitmix64).
struct Numbers(u64);

impl Numbers {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        z ^ (z >> 31)
    }

    /// Below `most`.
    fn below(&mut self, most: u64) -> u64 {
        self.next() % most
    }

    fn one_in(&mut self, most: u64) -> bool {
        self.below(most) == 0
    }
}

/// What changes from one record to the next.
#[derive(Clone, Copy, Debug)]
enum Kind {
    /// Nothing but noise.
    Noise,
    /// A scan: small steps, several returns, times in sequences, colors alike.
    Scan,
    /// All records are the same.
    Same,
}

/// `count` records of a point format with extra bytes after them.
fn records(format: u8, extra: usize, kind: Kind, count: usize) -> Vec<u8> {
    let mut numbers = Numbers(u64::from(format) << 8 | extra as u64);
    let stride = usize::from([20u8, 28, 26, 34][usize::from(format)]) + extra;
    let mut record = vec![0u8; stride];
    record.fill_with(|| numbers.next() as u8);
    let mut all = Vec::new();
    for _ in 0..count {
        match kind {
            Kind::Noise => record.fill_with(|| numbers.next() as u8),
            Kind::Scan => step(&mut record, format, &mut numbers),
            Kind::Same => {}
        }
        all.extend_from_slice(&record);
    }
    all
}

/// One step of a scan.
fn step(record: &mut [u8], format: u8, numbers: &mut Numbers) {
    for (axis, reach) in [(0, 300), (4, 20), (8, 5000)] {
        let old = i32::from_le_bytes(record[axis..axis + 4].try_into().unwrap());
        let step = numbers.below(reach) as i32 - reach as i32 / 2;
        let far = if numbers.one_in(500) { numbers.next() as i32 } else { 0 };
        record[axis..axis + 4]
            .copy_from_slice(&old.wrapping_add(step).wrapping_add(far).to_le_bytes());
    }
    for (at, often) in [(12, 2), (13, 20), (14, 3), (15, 9), (16, 7), (17, 50), (18, 90), (19, 300)]
    {
        if numbers.one_in(often) {
            record[at] = numbers.next() as u8;
        }
    }
    if format & 1 == 1 {
        time(&mut record[20..28], numbers);
    }
    if format >= 2 {
        let at = if format == 3 { 28 } else { 20 };
        color(&mut record[at..at + 6], numbers);
    }
    if numbers.one_in(3) {
        let at = record.len() - 1;
        record[at] = record[at].wrapping_add(1);
    }
}

/// Times that go on in even steps, by multiples of them, by far, and back.
fn time(time: &mut [u8], numbers: &mut Numbers) {
    let old = i64::from_le_bytes((&*time).try_into().unwrap());
    let step = match numbers.below(40) {
        0 => numbers.next() as i64,
        1 => (numbers.next() >> 36) as i64,
        2 => -5000,
        3 => 1000 * numbers.below(600) as i64,
        4 => -1000 * numbers.below(12) as i64,
        5..=9 => 0,
        _ => 1000 + numbers.below(3) as i64,
    };
    time.copy_from_slice(&old.wrapping_add(step).to_le_bytes());
}

fn color(color: &mut [u8], numbers: &mut Numbers) {
    let brighter = numbers.below(5) as u8;
    match numbers.below(6) {
        0 => color.fill_with(|| numbers.next() as u8),
        1 => {
            let gray = [numbers.next() as u8, 0];
            color.chunks_exact_mut(2).for_each(|channel| channel.copy_from_slice(&gray));
        }
        2 => {}
        _ => color.iter_mut().for_each(|byte| *byte = byte.wrapping_add(brighter)),
    }
}

/// One chunk as laz writes it.
fn compressed(format: u8, extra: usize, records: &[u8]) -> (LazVlr, Vec<u8>) {
    let builder = LazVlrBuilder::default().with_point_format(format, extra as u16).unwrap();
    let vlr = builder.with_fixed_chunk_size(1 << 30).build();
    let mut laz = LasZipCompressor::new(Cursor::new(Vec::new()), vlr.clone()).unwrap();
    laz.compress_many(records).unwrap();
    laz.done().unwrap();
    let bytes = laz.into_inner().into_inner();
    let end = i64::from_le_bytes(bytes[..8].try_into().unwrap()) as usize;
    (vlr, bytes[8..end].to_vec())
}

#[test]
fn the_records_of_laz() {
    for format in 0..=3 {
        for (extra, kind) in
            [(0, Kind::Noise), (0, Kind::Scan), (1, Kind::Scan), (5, Kind::Noise), (2, Kind::Same)]
        {
            for count in [1, 2, 3, 100, 20_000] {
                let records = records(format, extra, kind, count);
                let (vlr, chunk) = compressed(format, extra, &records);
                let layout = Layout::of(vlr.items()).unwrap();
                let mut out = vec![0; records.len()];
                layout.decompress(&chunk, &mut out).unwrap();
                let same = out == records;
                assert!(same, "format {format}, {extra} extra bytes, {kind:?}, {count} records");
            }
        }
    }
}

#[test]
fn chunks_cut_short_are_told_as_by_laz() {
    let records = records(3, 1, Kind::Scan, 2000);
    let (vlr, chunk) = compressed(3, 1, &records);
    let layout = Layout::of(vlr.items()).unwrap();
    let mut numbers = Numbers(7);
    for k in 0..100 {
        let cut = if k < 12 { k } else { numbers.below(chunk.len() as u64) as usize };
        let chunk = &chunk[..chunk.len() - cut];
        let mut out = vec![0; records.len()];
        let own = layout.decompress(chunk, &mut out).is_some();
        let entry = ChunkTableEntry { point_count: 2000, byte_count: chunk.len() as u64 };
        let theirs = laz::par_decompress(chunk, &mut vec![0; records.len()], &vlr, &[entry]);
        assert_eq!(own, theirs.is_ok(), "{cut} bytes cut off");
        assert!(!own || out == records);
    }
}

/// Other points or none, and no panic.
#[test]
fn damaged_chunks_end() {
    let records = records(3, 1, Kind::Scan, 2000);
    let (vlr, chunk) = compressed(3, 1, &records);
    let layout = Layout::of(vlr.items()).unwrap();
    let mut numbers = Numbers(8);
    let mut decoded = 0;
    for _ in 0..500 {
        let mut chunk = chunk.clone();
        for _ in 0..=numbers.below(3) {
            let at = numbers.below(chunk.len() as u64) as usize;
            chunk[at] = numbers.next() as u8;
        }
        let mut out = vec![0; records.len()];
        decoded += usize::from(layout.decompress(&chunk, &mut out).is_some());
    }
    assert!(decoded > 0);
}

#[test]
fn what_laz_has_to_do() {
    let items = |format, extra| {
        let builder = LazVlrBuilder::default().with_point_format(format, extra).unwrap();
        builder.build().items().clone()
    };
    for format in 4..=10 {
        assert_eq!(Layout::of(&items(format, 0)), None, "{format}");
    }
    assert_eq!(Layout::of(&[]), None);
    let layout = Layout::of(&items(3, 7)).unwrap();
    assert_eq!(layout.stride(), 41);
}
