//! The work of every fuzz target on its bytes: read, write a few rows back, read those again.

use farpoint_io::bag::{Bag, Encoding, Kept, PointCloud2, Rewrite};
use farpoint_io::{Column, Format, ReadOptions, WriteOptions, read_bytes, write_bytes};
use std::sync::atomic::AtomicBool;

/// Reads the bytes as the format; whatever is read must be writable and readable again.
pub fn drive(data: &[u8], format: Format) {
    drive_with(data, &ReadOptions::default().format(format));
}

/// Like [`drive`], with all options.
///
/// # Panics
/// If the output cannot be read again.
pub fn drive_with(data: &[u8], options: &ReadOptions) {
    let Ok(mut cloud) = read_bytes(data, "fuzz", options) else { return };
    let all = cloud.len();
    let _ = (cloud.fields(), cloud.description());
    let rows: Vec<usize> = (0..all.min(4)).map(|i| all - 1 - i * (all / 5)).collect();
    // One of the six formats, with or without an added column: the bytes choose, so that a run is
    // short and repeatable.
    let choice =
        data.iter().fold(0usize, |sum, &b| sum.wrapping_mul(31).wrapping_add(usize::from(b)));
    if choice & 1 == 1 {
        cloud.add_column("spacing", Column::F32(vec![0.5; all]));
    }
    let input_format = cloud.format().filter(|f| f.can_write());
    let writable: Vec<Format> = Format::ALL.into_iter().filter(|f| f.can_write()).collect();
    let other = writable[choice / 2 % writable.len()];
    for format in input_format.into_iter().chain([other]) {
        let options = WriteOptions::default().format(format);
        // A coordinate that LAS cannot hold is refused, with a reason.
        let Ok((bytes, _)) = write_bytes(&cloud, &rows, &options) else { continue };
        // No rows without a header are no bytes, and every reader refuses an empty file.
        if bytes.is_empty() && rows.is_empty() {
            continue;
        }
        // Raw rows do not show their width.
        let width =
            (format == Format::Raw && !rows.is_empty()).then(|| bytes.len() / 4 / rows.len());
        let options = ReadOptions::default().format(format).columns(width);
        let again = read_bytes(&bytes, "again", &options);
        let again = match again {
            Ok(again) => again,
            // Few rows of a wide array look like a matrix.
            Err(_) if input_format == Some(format) && format == Format::Npy => continue,
            Err(error) => panic!("written as {format}: {error}"),
        };
        assert_eq!(again.len(), rows.len(), "written as {format}");
        // The lines that are points, and the places of their values, are a guess that must come out the same.
        if input_format == Some(format) && format == Format::Text {
            for (i, &row) in rows.iter().enumerate() {
                let (was, is) = (cloud.coordinates().get(row), again.coordinates().get(i));
                assert_eq!(was.map(f64::to_bits), is.map(f64::to_bits), "row {row}");
            }
        }
    }
}

/// Writes an MCAP file again with every other row of its clouds; the output must be whole.
///
/// # Panics
/// If the output can't be read again, or has other messages.
pub fn rewrite(data: &[u8]) {
    let Ok(bag) = Bag::from_bytes(data.to_vec(), "fuzz") else { return };
    let Ok(topic) = bag.contents().cloud_topic(None) else { return };
    let (topics, stop) = ([topic], AtomicBool::new(false));
    let rewrite = Rewrite::new(&topics, 1, 1 << 20, &stop);
    let choose = |message: &PointCloud2<'_>| {
        let (rows, [non_finite, zeros]) = message.usable(true);
        let rows = rows.into_iter().map(|row| row as usize).step_by(2).collect();
        Ok(Kept::new(rows, non_finite + zeros))
    };
    let mut messages = 0;
    let Ok(written) = rewrite.bytes(&bag, &choose, &mut |_| messages += 1) else { return };
    let again = Bag::from_bytes(written.expect("nobody stops it"), "again");
    let again = again.unwrap_or_else(|error| panic!("what was written: {error}"));
    assert!(again.contents().indexed, "{:?}", again.contents().warnings);
    let counted = again.contents().topics.iter().find(|found| found.channels == topic.channels);
    assert_eq!(counted.map_or(0, |found| found.messages), messages);
}

/// Reads the bytes as a message; with some of its rows it must be one again.
///
/// # Panics
/// If it is not.
pub fn message(encoding: Encoding, data: &[u8]) {
    let Ok(cloud) = PointCloud2::parse(encoding, data) else { return };
    let places = cloud.coordinates();
    let (usable, [non_finite, zeros]) = cloud.usable(true);
    assert_eq!((places.len(), usable.len() + non_finite + zeros), (cloud.len(), cloud.len()));
    let rows: Vec<usize> = usable.into_iter().map(|row| row as usize).rev().step_by(3).collect();
    let fewer = cloud.with_rows(&rows, true);
    let again =
        PointCloud2::parse(encoding, &fewer).unwrap_or_else(|error| panic!("cut down: {error}"));
    assert_eq!(again.len(), rows.len());
    for (k, row) in rows.into_iter().enumerate() {
        assert_eq!(again.row(k), cloud.row(row));
    }
    if let Some((bytes, ..)) = cloud.even() {
        assert_eq!(bytes.len(), cloud.len() * cloud.point_step());
    }
}
