//! Every LAS point format comes back bit for bit, uncompressed and compressed, with its variable
//! length records before and after the points.

use farpoint_io::{
    Cloud, Column, Copc, Format, ReadOptions, WriteOptions, read_bytes, write_bytes,
};
use std::io::Cursor;

pub(crate) const POINTS: usize = 50;

/// A file of one point format as las itself writes it, with three bytes that nothing describes.
pub(crate) fn las_file(format: u8, version: (u8, u8)) -> (Vec<u8>, Vec<Vec<u8>>) {
    let mut builder = las::Builder::from(version);
    builder.point_format = las::point::Format::new(format).unwrap();
    builder.point_format.extra_bytes = 3;
    builder.transforms.x = las::Transform { scale: 0.001, offset: 5000.0 };
    let record = |id: u16, data: &[u8]| las::Vlr {
        user_id: "somebody".into(),
        record_id: id,
        description: "kept".into(),
        data: data.to_vec(),
    };
    builder.vlrs.push(record(1, b"before the points"));
    if version >= (1, 4) {
        builder.evlrs.push(record(2, b"after the points"));
    }
    let mut writer =
        las::Writer::new(Cursor::new(Vec::new()), builder.into_header().unwrap()).unwrap();
    let length = usize::from(writer.header().point_format().len());
    let mut state = 1u64;
    let mut records = Vec::new();
    for _ in 0..POINTS {
        let mut bytes = vec![0u8; length];
        for b in &mut bytes {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
            *b = (state >> 56) as u8;
        }
        // So must the places of waveforms.
        let wave = [(4, 28), (5, 34), (9, 30), (10, 38)];
        if let Some((_, at)) = wave.iter().find(|(f, _)| *f == format) {
            bytes[at + 3..at + 13].fill(0);
        }
        // las counts the returns, and old versions know five.
        bytes[14] = 0x49;
        // laz takes differences of coordinates and times as integers, which must not overflow in a
        // debug build.
        for axis in 0..3 {
            bytes[4 * axis + 2..4 * axis + 4].fill(0);
        }
        let time = 1e8 + records.len() as f64 * 0.125;
        match format {
            0 | 2 => {}
            1 | 3..=5 => bytes[20..28].copy_from_slice(&f64::to_le_bytes(time)),
            _ => bytes[22..30].copy_from_slice(&f64::to_le_bytes(time)),
        }
        records.push(bytes);
    }
    let points = las::PointDataBuilder::new().for_header(writer.header());
    writer.write_points(&points.build_from_bytes(records.concat()).unwrap()).unwrap();
    writer.close().unwrap();
    (writer.into_inner().unwrap().into_inner(), records)
}

pub(crate) fn versions(format: u8) -> Vec<(u8, u8)> {
    match format {
        0..=1 => vec![(1, 0), (1, 1), (1, 2), (1, 3), (1, 4)],
        2..=3 => vec![(1, 2), (1, 3), (1, 4)],
        4..=5 => vec![(1, 3), (1, 4)],
        _ => vec![(1, 4)],
    }
}

fn open(bytes: &[u8]) -> Cloud {
    read_bytes(bytes, "a.las", &ReadOptions::default()).unwrap_or_else(|e| panic!("{e}"))
}

fn write(cloud: &Cloud, rows: &[usize], format: Format) -> Vec<u8> {
    let options = WriteOptions::default().format(format);
    write_bytes(cloud, rows, &options).unwrap_or_else(|e| panic!("{e}")).0
}

#[test]
fn every_point_format_comes_back() {
    let rows: Vec<usize> = (0..POINTS).rev().collect();
    for format in 0..=10u8 {
        for version in versions(format) {
            let (bytes, records) = las_file(format, version);
            let cloud = open(&bytes);
            assert_eq!(cloud.len(), POINTS);
            // Compressed and decompressed again, the records are those that were written.
            let laz = open(&write(&cloud, &rows, Format::Laz));
            assert_eq!(laz.format(), Some(Format::Laz));
            let back = write(&laz, &rows, Format::Las);
            let start = u32::from_le_bytes(back[96..100].try_into().unwrap()) as usize;
            let all = records.concat();
            assert!(back[start..start + all.len()] == all[..], "format {format} {version:?}");
            for (text, is_present) in
                [("before the points", true), ("after the points", version >= (1, 4))]
            {
                let found = back.windows(text.len()).any(|w| w == text.as_bytes());
                assert_eq!(found, is_present, "format {format} {version:?}: {text}");
            }
            // las reads what was written, and finds the record behind the points.
            let reader = las::Reader::new(Cursor::new(back)).unwrap();
            assert_eq!(reader.header().number_of_points(), POINTS as u64);
            assert_eq!(reader.header().evlrs().len(), usize::from(version >= (1, 4)));
            assert_eq!(reader.header().transforms().x.offset, 5000.0);
        }
    }
}

#[test]
fn an_added_column_is_described_after_bytes_that_are_not() {
    for format in 0..=10u8 {
        let (bytes, _) = las_file(format, (1, 4));
        let mut cloud = open(&bytes);
        let spacing: Vec<f32> = (0..POINTS).map(|i| i as f32).collect();
        cloud.add_column("spacing", Column::F32(spacing));
        for kind in [Format::Las, Format::Laz] {
            let again = open(&write(&cloud, &[9, 4], kind));
            let names: Vec<String> = again.fields().into_iter().map(|f| f.name).collect();
            assert_eq!(names[names.len() - 2..], ["undescribed", "spacing"], "format {format}");
            let text = String::from_utf8(write(&again, &[0, 1], Format::Text)).unwrap();
            let last: Vec<&str> =
                text.lines().skip(1).filter_map(|l| l.split(' ').next_back()).collect();
            assert_eq!(last, ["9", "4"], "format {format}");
        }
    }
}

/// Every point format becomes one that COPC has, with all that both have.
#[test]
fn copc_has_the_attributes_of_every_point_format() {
    let rows: Vec<usize> = (0..POINTS).rev().collect();
    let distances: Vec<f64> = (0..POINTS).map(|i| 1e9 / (i as f64)).collect();
    let options = WriteOptions::default().format(Format::Laz).copc(Copc::new(distances));
    for format in 0..=10u8 {
        for version in versions(format) {
            let (bytes, records) = las_file(format, version);
            let cloud = open(&bytes);
            let (copc, warnings) = write_bytes(&cloud, &rows, &options).unwrap();
            let waves = warnings.iter().any(|warning| warning.contains("waveforms"));
            assert_eq!(waves, matches!(format, 4 | 5 | 9 | 10), "{warnings:?}");
            let expected_format = [6, 6, 7, 7, 6, 7, 6, 7, 8, 6, 8][usize::from(format)];
            assert_eq!(copc[104] & 0x3f, expected_format);
            for (text, is_present) in
                [("before the points", true), ("after the points", version >= (1, 4))]
            {
                assert_eq!(copc.windows(text.len()).any(|w| w == text.as_bytes()), is_present);
            }
            // One node, whose points have an order of their own.
            let node = open(&copc);
            let place = |row| cloud.coordinates().get(row);
            let is_at = |place| (0..POINTS).find(|&row| node.coordinates().get(row) == place);
            let order: Vec<usize> = (0..POINTS).map(|row| is_at(place(row)).unwrap()).collect();
            let again = open(&write(&node, &order, Format::Las));
            assert_eq!(again.coordinates(), cloud.coordinates());
            for field in cloud.fields() {
                let (old, new) = (cloud.column(&field.name), again.column(&field.name));
                let old = old.unwrap();
                match field.name.as_str() {
                    "scan_angle_rank" => {
                        let angle = again.column("scan_angle").unwrap();
                        for i in 0..POINTS {
                            assert_eq!(angle.get(i), (old.get(i) / 0.006).round(), "{format}");
                        }
                    }
                    name if name.starts_with("wave_") => assert_eq!(new, None),
                    name => assert_eq!(new.as_ref(), Some(&old), "format {format}: {name}"),
                }
            }
            // The bytes that nothing describes are behind all others.
            let back = write(&again, &(0..POINTS).collect::<Vec<_>>(), Format::Las);
            let length = usize::from(u16::from_le_bytes([back[105], back[106]]));
            let start = u32::from_le_bytes(back[96..100].try_into().unwrap()) as usize;
            for (new, old) in back[start..].chunks_exact(length).zip(&records) {
                assert_eq!(new[length - 3..], old[old.len() - 3..]);
            }
        }
    }
}
