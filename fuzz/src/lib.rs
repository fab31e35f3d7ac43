//! What every fuzz target does with its bytes: read, write a few rows back, read those again.

use farpoint_io::{Column, Format, ReadOptions, WriteOptions, read_bytes, write_bytes};

/// Reads the bytes as the format; whatever is read must be writable and readable again.
pub fn drive(data: &[u8], format: Format) {
    drive_with(data, &ReadOptions::default().format(format));
}

/// As [`drive`], with all options.
///
/// # Panics
/// If what was written cannot be read again.
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
    let own = cloud.format().filter(|f| f.can_write());
    let writable: Vec<Format> = Format::ALL.into_iter().filter(|f| f.can_write()).collect();
    let other = writable[choice / 2 % writable.len()];
    for format in own.into_iter().chain([other]) {
        let options = WriteOptions::default().format(format);
        // A coordinate that LAS cannot hold is refused, with reason.
        let Ok((bytes, _)) = write_bytes(&cloud, &rows, &options) else { continue };
        let options = ReadOptions::default().format(format);
        let again = read_bytes(&bytes, "again", &options);
        let again = match again {
            Ok(again) => again,
            // Few rows of a wide array look like a matrix.
            Err(_) if own == Some(format) && format == Format::Npy => continue,
            Err(error) => panic!("written as {format}: {error}"),
        };
        assert_eq!(again.len(), rows.len(), "written as {format}");
        // Which lines are points, and where their values are, is a guess that must come out the same.
        if own == Some(format) && format == Format::Text {
            for (i, &row) in rows.iter().enumerate() {
                let (was, is) = (cloud.coordinates().get(row), again.coordinates().get(i));
                assert_eq!(was.map(f64::to_bits), is.map(f64::to_bits), "row {row}");
            }
        }
    }
}
