//! Headers agree with the result of reading the whole file.

use farpoint_io::{
    Cloud, Column, Coordinates, Format, ReadOptions, Summary, WriteOptions, read, read_bytes,
    summary, write_bytes,
};
use std::path::{Path, PathBuf};

fn las() -> Vec<u8> {
    let points = (0..500).map(|i| [f64::from(i), f64::from(i % 7), 2.5]).collect();
    let mut cloud = Cloud::new(Coordinates::F64(points));
    cloud.add_column("intensity", Column::U16((0..500).collect()));
    cloud.add_column("extra", Column::F32((0..500).map(|i| i as f32).collect()));
    let rows: Vec<usize> = (0..500).collect();
    write_bytes(&cloud, &rows, &WriteOptions::default().format(Format::Las)).unwrap().0
}

/// The summary of a file of these bytes.
fn of(bytes: &[u8]) -> Result<Option<Summary>, farpoint_io::Error> {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("cloud.las");
    std::fs::write(&path, bytes).unwrap();
    summary(&path, &ReadOptions::default())
}

fn box_of(cloud: &Cloud) -> [[f64; 3]; 2] {
    let rows = (0..cloud.len()).map(|row| cloud.coordinates().get(row));
    let rows = rows.filter(|row| row.iter().all(|value| value.is_finite()));
    rows.fold([[f64::INFINITY; 3], [f64::NEG_INFINITY; 3]], |[low, high], row| {
        [
            std::array::from_fn(|axis| low[axis].min(row[axis])),
            std::array::from_fn(|axis| high[axis].max(row[axis])),
        ]
    })
}

fn agrees(summary: &Summary, cloud: &Cloud, name: &str) {
    assert_eq!(Some(summary.format), cloud.format(), "{name}");
    assert_eq!(summary.description, cloud.description(), "{name}");
    assert_eq!(summary.points, cloud.len() as u64, "{name}");
    assert_eq!(summary.fields, cloud.fields(), "{name}");
    assert_eq!(summary.crs.as_ref(), cloud.crs(), "{name}");
    assert_eq!(summary.scale, cloud.scale(), "{name}");
    let Some(bounds) = summary.bounds else { return };
    let found = box_of(cloud);
    for (stated, found) in bounds.iter().flatten().zip(found.iter().flatten()) {
        // Writers round stated numbers.
        assert!((stated - found).abs() <= 1e-6 * found.abs().max(1.0), "{name}: {stated} {found}");
    }
}

#[test]
fn a_header_agrees_with_the_cloud() {
    let bytes = las();
    let header_summary = of(&bytes).unwrap().unwrap();
    agrees(
        &header_summary,
        &read_bytes(&bytes, "cloud.las", &ReadOptions::default()).unwrap(),
        "made",
    );
    let software = concat!("farpoint ", env!("CARGO_PKG_VERSION"));
    assert!(
        header_summary.bounds.is_some() && header_summary.software.as_deref() == Some(software),
        "{header_summary:?}"
    );
}

#[test]
fn real_headers() {
    let data = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../shared/data");
    let files = ["las", "e57"].map(|folder| std::fs::read_dir(data.join(folder)));
    let files: Vec<PathBuf> =
        files.into_iter().flatten().flatten().map(|entry| entry.unwrap().path()).collect();
    if files.is_empty() {
        println!("skipped: headers of real files (shared/data is not part of the repository)");
        return;
    }
    for path in files {
        let name = path.display().to_string();
        let options = ReadOptions::default();
        let header_summary = summary(&path, &options).unwrap().expect(&name);
        agrees(&header_summary, &read(&path, &options).unwrap(), &name);
    }
}

#[test]
fn other_formats_tell_nothing() {
    assert_eq!(of(b"1 2 3\n4 5 6\n").unwrap(), None);
    assert_eq!(of(b"").unwrap(), None);
    assert!(summary("nowhere.las".as_ref(), &ReadOptions::default()).is_err());
    assert_eq!(summary("-".as_ref(), &ReadOptions::default()).unwrap(), None);
}

#[test]
fn damaged_headers_are_errors() {
    let bytes = las();
    // Without its last byte the file holds fewer points than the header declares.
    for length in (4..2000).step_by(37).chain([bytes.len() - 1]) {
        let error = of(&bytes[..length.min(bytes.len() - 1)]).unwrap_err().to_string();
        assert!(error.contains("cloud.las") && error.contains("LAS"), "{length}: {error}");
    }
    for at in 0..375 {
        let mut damaged = bytes.clone();
        damaged[at] ^= 0xFF;
        // Any answer but a panic, or memory for the size in a damaged number.
        let _ = of(&damaged);
    }
}
