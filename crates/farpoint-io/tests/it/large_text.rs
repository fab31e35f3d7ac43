//! Texts large enough that several threads read and write them: the same rows in the same order, and
//! of several faults the first with its line.

use farpoint_io::{
    Cloud, Column, Coordinates, Encoding, Error, Format, ReadOptions, TextStyle, WriteOptions,
    read, read_bytes, write, write_bytes,
};

const ROWS: usize = 150_000;

fn cloud() -> Cloud {
    let points = (0..ROWS).map(|k| [k as f64 / 8.0, -(k as f64) - 0.5, 1e-3 * k as f64]);
    let mut cloud = Cloud::new(Coordinates::F64(points.collect()));
    cloud.add_column("intensity", Column::U16((0..ROWS).map(|k| k as u16).collect()));
    cloud
}

fn open(bytes: &[u8], name: &str) -> Result<Cloud, Error> {
    read_bytes(bytes, name, &ReadOptions::default())
}

/// Texts with their names.
fn texts() -> Vec<(&'static str, Vec<u8>)> {
    let rows: Vec<usize> = (0..ROWS).collect();
    let written = |format, style, encoding| {
        let options = WriteOptions::default().format(format).style(style).encoding(encoding);
        write_bytes(&cloud(), &rows, &options).unwrap().0
    };
    let ascii = Some(Encoding::Ascii);
    vec![
        ("a.csv", written(Format::Text, Some(TextStyle::Csv), None)),
        ("a.xyz", written(Format::Text, Some(TextStyle::Spaces), None)),
        ("a.pts", written(Format::Text, Some(TextStyle::Pts), None)),
        ("a.ply", written(Format::Ply, None, ascii)),
        ("a.pcd", written(Format::Pcd, None, ascii)),
        ("a.ptx", ptx()),
    ]
}

/// Two scans, of a third and of two thirds of the points.
fn ptx() -> Vec<u8> {
    let (mut text, cloud) = (String::new(), cloud());
    for (first, end) in [(0, ROWS / 3), (ROWS / 3, ROWS)] {
        let count = end - first;
        text += &format!("{count}\n1\n0 0 0\n1 0 0\n0 1 0\n0 0 1\n");
        text += "1 0 0 0\n0 1 0 0\n0 0 1 0\n0 0 0 1\n";
        for k in first..end {
            let [x, y, z] = cloud.coordinates().get(k);
            text += &format!("{x} {y} {z} 0.5\n");
        }
    }
    text.into_bytes()
}

/// The start of the line of this number, from 1.
fn line(text: &[u8], number: usize) -> usize {
    let ends = text.iter().enumerate().filter(|(_, b)| **b == b'\n').map(|(at, _)| at + 1);
    ends.take(number - 1).last().unwrap_or(0)
}

#[test]
fn rows_come_in_order() {
    let expected = cloud();
    for (name, text) in texts() {
        assert!(text.len() > 3 << 20, "{name} is too short to be shared out");
        let cloud = open(&text, name).unwrap();
        assert_eq!(cloud.len(), ROWS, "{name}");
        for row in 0..ROWS {
            let (read, expected_point) =
                (cloud.coordinates().get(row), expected.coordinates().get(row));
            // PCD holds float32.
            let near = (0..3).all(|axis| {
                (read[axis] - expected_point[axis]).abs() <= expected_point[axis].abs() * 1e-7
            });
            assert!(near, "{name}, row {row}: {read:?} {expected_point:?}");
        }
    }
}

#[test]
fn the_first_of_several_errors_is_reported() {
    for (name, text) in texts() {
        let mut damaged = text;
        for number in [140_003, 90_001, 90_500] {
            let start = line(&damaged, number);
            damaged[start] = b'?';
            damaged[start + 1] = b' ';
        }
        let error = open(&damaged, name).unwrap_err().to_string();
        assert!(error.contains("line 90001:"), "{name}: {error}");
    }
}

#[test]
fn files_are_read_by_parts() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("a.ply");
    let rows: Vec<usize> = (0..ROWS).rev().collect();
    let mut cloud = cloud();
    cloud.add_column("number", Column::U32((0..ROWS as u32).collect()));
    write(&path, &cloud, &rows, &WriteOptions::default()).unwrap();
    assert!(std::fs::metadata(&path).unwrap().len() > 4 << 20);
    let read = read(&path, &ReadOptions::default()).unwrap();
    let numbers = read.column("number").unwrap();
    for (k, &row) in rows.iter().enumerate() {
        assert_eq!(read.coordinates().get(k), cloud.coordinates().get(row));
        assert_eq!(numbers.get(k), row as f64);
    }
}
