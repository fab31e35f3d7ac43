//! Scans with poses: points are moved and normals turned; zeros are those of the scanner; odd poses and scans without
//! points are named.

use ::e57::{
    E57Reader, E57Writer, Extension, Quaternion, Record, RecordDataType, RecordName, RecordValue,
    Transform, Translation,
};
use farpoint_io::{
    Cloud, Column, Coordinates, Format, Merged, ReadOptions, Reader, WriteOptions, read_bytes,
    summary, write_bytes,
};
use std::io::Cursor;

type Row = [f64; 6];

/// Quarter turn to the left: x becomes y.
const LEFT: [f64; 4] = [std::f64::consts::FRAC_1_SQRT_2, 0.0, 0.0, std::f64::consts::FRAC_1_SQRT_2];
const LEVEL: [f64; 4] = [1.0, 0.0, 0.0, 0.0];

/// Positions and normals of the scanner, and its pose.
struct Scan<'a> {
    rows: &'a [Row],
    pose: Option<([f64; 4], [f64; 3])>,
    /// Number of axes of the normals, and their type.
    normals: (usize, RecordDataType),
}

const DOUBLE: RecordDataType = RecordDataType::Double { min: None, max: None };
const SINGLE: RecordDataType = RecordDataType::Single { min: None, max: None };

fn of<'a>(rows: &'a [Row], pose: Option<([f64; 4], [f64; 3])>) -> Scan<'a> {
    Scan { rows, pose, normals: (3, SINGLE) }
}

fn file(scans: &[Scan<'_>]) -> Vec<u8> {
    let mut bytes = Cursor::new(Vec::new());
    let mut file = E57Writer::new(&mut bytes, "{file}").unwrap();
    let url = "http://www.libe57.org/E57_NOR_surface_normals.txt";
    file.register_extension(Extension::new("nor", url)).unwrap();
    for Scan { rows, pose, normals: (axes, kind) } in scans {
        use RecordName::{CartesianX, CartesianY, CartesianZ};
        let normal = |axis: &str| RecordName::Unknown {
            namespace: "nor".into(),
            name: format!("normal{axis}"),
        };
        let points = [CartesianX, CartesianY, CartesianZ].map(|name| (name, DOUBLE));
        let normals = ["X", "Y", "Z"].map(|axis| (normal(axis), kind.clone()));
        let records = points.into_iter().chain(normals.into_iter().take(*axes));
        let records: Vec<_> = records.map(|(name, data_type)| Record { name, data_type }).collect();
        let mut scan = file.add_pointcloud("{scan}", records.clone()).unwrap();
        scan.set_transform(pose.map(|([w, x, y, z], to)| Transform {
            rotation: Quaternion { w, x, y, z },
            translation: Translation { x: to[0], y: to[1], z: to[2] },
        }));
        for row in *rows {
            let values = records.iter().zip(row).map(|(record, &value)| match record.data_type {
                RecordDataType::Single { .. } => RecordValue::Single(value as f32),
                RecordDataType::Integer { .. } => RecordValue::Integer(value as i64),
                RecordDataType::ScaledInteger { scale, .. } => {
                    RecordValue::ScaledInteger((value / scale).round() as i64)
                }
                RecordDataType::Double { .. } => RecordValue::Double(value),
            });
            scan.add_point(values.collect()).unwrap();
        }
        scan.finalize().unwrap();
    }
    file.finalize().unwrap();
    drop(file);
    bytes.into_inner()
}

fn open(bytes: &[u8], name: &str) -> Cloud {
    read_bytes(bytes, name, &ReadOptions::default()).unwrap_or_else(|e| panic!("{e}"))
}

fn written(cloud: &Cloud, format: Format) -> Vec<u8> {
    let rows: Vec<usize> = (0..cloud.len()).collect();
    write_bytes(cloud, &rows, &WriteOptions::default().format(format)).unwrap().0
}

fn points(cloud: &Cloud) -> Vec<[f64; 3]> {
    (0..cloud.len()).map(|row| cloud.coordinates().get(row)).collect()
}

fn normals(cloud: &Cloud, names: [&str; 3]) -> Vec<[f64; 3]> {
    let axes = names.map(|name| cloud.column(name).unwrap_or_else(|| panic!("{name}")));
    (0..cloud.len()).map(|row| axes.each_ref().map(|axis| axis.get(row))).collect()
}

#[track_caller]
fn near(found: &[[f64; 3]], expected: &[[f64; 3]]) {
    let close = |(a, b): (&[f64; 3], &[f64; 3])| (0..3).all(|i| (a[i] - b[i]).abs() < 1e-6);
    assert!(found.len() == expected.len(), "{found:?} {expected:?}");
    assert!(found.iter().zip(expected).all(close), "{found:?} {expected:?}");
}

const ROWS: [Row; 2] = [[1.0, 2.0, 3.0, 1.0, 0.0, 0.0], [-4.0, 5.0, 0.5, 0.0, 0.6, 0.8]];
/// The same, turned to the left.
const TURNED: [[f64; 3]; 2] = [[-2.0, 1.0, 3.0], [-5.0, -4.0, 0.5]];
const TURNED_NORMALS: [[f64; 3]; 2] = [[0.0, 1.0, 0.0], [-0.6, 0.0, 0.8]];
const NORMALS: [&str; 3] = ["normalX", "normalY", "normalZ"];

fn at(points: [[f64; 3]; 2], [x, y, z]: [f64; 3]) -> [[f64; 3]; 2] {
    points.map(|[a, b, c]| [a + x, b + y, c + z])
}

#[test]
fn quaternions_of_any_length_are_rotations_and_those_of_none_are_named() {
    let place = [100.0, -200.0, 300.0];
    let local = ROWS.map(|[x, y, z, ..]| [x, y, z]);
    let (tiny, huge) = (f64::MIN_POSITIVE, f64::MAX);
    for (rotation, expected, warned) in [
        (LEFT, TURNED, false),
        (LEFT.map(|part| part * 2.0), TURNED, false),
        (LEFT.map(|part| part * -0.001), TURNED, false),
        (LEFT.map(|part| part * (1.0 + 1e-7)), TURNED, false),
        (LEVEL, local, false),
        ([0.0; 4], local, true),
        ([tiny, 0.0, tiny, 0.0], local, true),
        ([huge, huge, 0.0, 0.0], local, true),
        ([f64::NAN, 0.0, 0.0, 1.0], local, true),
    ] {
        let bytes = file(&[of(&ROWS, Some((rotation, place)))]);
        let cloud = open(&bytes, "a.e57");
        near(&points(&cloud), &at(expected, place));
        let known =
            cloud.warnings().iter().any(|w| w.contains("the rotation in the pose of scan 0"));
        assert_eq!((known, cloud.warnings().len()), (warned, usize::from(warned)), "{rotation:?}");
        // A copy has the pose that was meant, for readers that take it as it is.
        let copy = written(&cloud, Format::E57);
        let scan = E57Reader::new(Cursor::new(&copy)).unwrap().pointclouds().remove(0);
        let q = scan.transform.unwrap().rotation;
        let square = q.w * q.w + q.x * q.x + q.y * q.y + q.z * q.z;
        assert!((square - 1.0).abs() < 1e-12, "{rotation:?} {q:?}");
        let again = open(&copy, "a.e57");
        near(&points(&again), &points(&cloud));
        assert!(again.warnings().is_empty());
        let folder = tempfile::tempdir().unwrap();
        std::fs::write(folder.path().join("a.e57"), &bytes).unwrap();
        let header = summary(&folder.path().join("a.e57"), &ReadOptions::default()).unwrap();
        assert_eq!(header.unwrap().warnings, cloud.warnings());
    }
}

#[test]
fn matrices_of_ptx_without_a_rotation_are_named() {
    let scan = |matrix: &str| format!("1\n1\n0 0 0\n1 0 0\n0 1 0\n0 0 1\n{matrix}1 2 3 0.5\n");
    for (rotation, expected, warned) in [
        ("0 1 0 0\n-1 0 0 0\n0 0 1 0\n", [8.0, 11.0, 13.0], false),
        // Millimeters to meters.
        ("0.001 0 0 0\n0 0.001 0 0\n0 0 0.001 0\n", [10.001, 10.002, 10.003], false),
        ("0 0 0 0\n0 0 0 0\n0 0 0 0\n", [11.0, 12.0, 13.0], true),
        ("1 0 0 0\n0 1 0 0\n0 0 0 0\n", [11.0, 12.0, 13.0], true),
    ] {
        let cloud = open(scan(&format!("{rotation}10 10 10 1\n")).as_bytes(), "a.ptx");
        near(&points(&cloud), &[expected]);
        assert_eq!(cloud.warnings().len(), usize::from(warned), "{:?}", cloud.warnings());
    }
    let bytes = scan("nan 0 0 0\n0 1 0 0\n0 0 1 0\n10 10 10 1\n");
    let error = read_bytes(bytes.as_bytes(), "a.ptx", &ReadOptions::default()).unwrap_err();
    assert!(error.to_string().contains("line 7: the head of a scan has 4 numbers"), "{error}");
}

#[test]
fn normals_turn_with_their_scan() {
    let place = [10.0, 20.0, 30.0];
    let local = ROWS.map(|[.., x, y, z]| [x, y, z]);
    let scaled = RecordDataType::ScaledInteger { min: -1000, max: 1000, scale: 0.001, offset: 0.0 };
    let whole = RecordDataType::Integer { min: -1, max: 1 };
    for kind in [SINGLE, DOUBLE, scaled, whole] {
        let stored: Vec<Row> = match kind {
            RecordDataType::Integer { .. } => ROWS.map(|row| row.map(f64::round)).to_vec(),
            _ => ROWS.to_vec(),
        };
        let scan = |pose| Scan { rows: &stored, pose, normals: (3, kind.clone()) };
        let turned: Vec<[f64; 3]> = stored.iter().map(|row| [-row[4], row[3], row[5]]).collect();
        let own: Vec<[f64; 3]> = stored.iter().map(|row| [row[3], row[4], row[5]]).collect();
        let one = open(&file(&[scan(Some((LEFT, place)))]), "a.e57");
        near(&normals(&one, NORMALS), &turned);
        for format in [Format::Ply, Format::Npy, Format::E57, Format::Text] {
            let again = open(&written(&one, format), &format!("a.{}", format.extensions()[0]));
            let names = if format == Format::E57 { NORMALS } else { ["nx", "ny", "nz"] };
            near(&normals(&again, names), &turned);
        }
        // A copy with the pose holds normals of the scanner, as they were.
        let copy = written(&one, Format::E57);
        let mut reader = E57Reader::new(Cursor::new(&copy)).unwrap();
        let scans = reader.pointclouds();
        if scans[0].transform.is_some() {
            let names: Vec<_> =
                scans[0].prototype.iter().map(|r| format!("{:?}", r.name)).collect();
            let place = |axis: &str| names.iter().position(|name| name.contains(axis)).unwrap();
            let axes = ["normalX", "normalY", "normalZ"].map(place);
            let number = |value: &RecordValue| match value {
                RecordValue::Single(value) => f64::from(*value),
                RecordValue::Double(value) => *value,
                RecordValue::ScaledInteger(steps) => *steps as f64 * 0.001,
                RecordValue::Integer(value) => *value as f64,
            };
            let raw = reader.pointcloud_raw(&scans[0]).unwrap().map(|point| point.unwrap());
            let found: Vec<_> = raw.map(|point| axes.map(|axis| number(&point[axis]))).collect();
            near(&found, &own);
        }
        // Scans with and without a rotation.
        let three = [scan(None), scan(Some((LEFT, place))), scan(Some((LEVEL, place)))];
        let all = open(&file(&three), "a.e57");
        near(&normals(&all, NORMALS), &[&own[..], &turned, &own].concat());
    }
    near(&TURNED_NORMALS, &local.map(|[x, y, z]| [-y, x, z]));
}

#[test]
fn normals_without_an_axis_are_named() {
    for (axes, rotation, warned) in [(1, LEFT, true), (2, LEFT, true), (2, LEVEL, false)] {
        let pose = Some((rotation, [0.0; 3]));
        let cloud = open(&file(&[Scan { rows: &ROWS, pose, normals: (axes, SINGLE) }]), "a.e57");
        let known = cloud.warnings().iter().any(|w| w.contains("normals of scan 0 lack an axis"));
        assert_eq!(known, warned, "{:?}", cloud.warnings());
        assert_eq!(cloud.column("normalX").unwrap().get(0), 1.0);
    }
}

/// Zeros of two scanners, and points that their poses move to the origin, or to the other scanner.
fn with_zeros() -> (Vec<u8>, [bool; 7]) {
    let row = |[x, y, z]: [f64; 3]| [x, y, z, 1.0, 0.0, 0.0];
    let first = [[0.0; 3], [10.0, 0.0, 0.0], [1.0, 1.0, 1.0]].map(row);
    let second = [[0.0; 3], [-10.0, 0.0, 0.0], [5.0, 0.0, 0.0], [0.0, -0.0, 0.0]].map(row);
    let scans = [of(&first, None), of(&second, Some((LEVEL, [10.0, 0.0, 0.0])))];
    (file(&scans), [true, false, false, true, false, false, true])
}

#[test]
fn zeros_are_those_of_the_scanner() {
    let (bytes, expected) = with_zeros();
    let cloud = open(&bytes, "a.e57");
    let found: Vec<bool> = points(&cloud)
        .into_iter()
        .enumerate()
        .map(|(row, at)| cloud.is_zero(row as u64, at))
        .collect();
    assert_eq!(found, expected);
    // Together with a file that has no scanners, in parts and whole.
    let folder = tempfile::tempdir().unwrap();
    let [e57, xyz] = ["a.e57", "b.xyz"].map(|name| folder.path().join(name));
    std::fs::write(&e57, &bytes).unwrap();
    std::fs::write(&xyz, "10 0 0\n0 0 0\n").unwrap();
    let both = [&[false, true], &expected[..], &[false, true]].concat();
    let paths = [xyz.clone(), e57, xyz];
    let merged = Merged::open(&paths, &ReadOptions::default(), None).unwrap();
    assert_eq!(zeros(merged.reader()), both);
    let whole = merged.reader().load().unwrap();
    let found: Vec<bool> = points(&whole)
        .into_iter()
        .enumerate()
        .map(|(row, at)| whole.is_zero(row as u64, at))
        .collect();
    assert_eq!(found, both);
    // PTX: zeros are no points, and a point that is moved to the origin is one.
    let ptx = "1\n3\n0 0 0\n1 0 0\n0 1 0\n0 0 1\n1 0 0 0\n0 1 0 0\n0 0 1 0\n5 0 0 1\n-5 0 0 1\n0 0 0 1\n1 2 3 1\n";
    let cloud = open(ptx.as_bytes(), "a.ptx");
    assert_eq!(points(&cloud)[0], [0.0; 3]);
    assert!(points(&cloud).into_iter().enumerate().all(|(row, at)| !cloud.is_zero(row as u64, at)));
}

fn zeros(reader: &Reader) -> Vec<bool> {
    let mut all = Vec::new();
    for part in 0..reader.parts() {
        let rows = reader.read(part).unwrap();
        let points = rows.coordinates().unwrap();
        all.extend((0..rows.len()).map(|row| rows.is_zero(row, points.get(row))));
    }
    all
}

/// Sets the places of the sections of scans without points to 0, as libE57Format does.
fn without_sections(bytes: Vec<u8>) -> Vec<u8> {
    let scans = E57Reader::new(Cursor::new(&bytes)).unwrap().pointclouds();
    scans.iter().filter(|scan| scan.records == 0).fold(bytes, |bytes, scan| {
        let place = format!("fileOffset=\"{}\"", scan.file_offset);
        let zeros = place.replace(|c: char| c.is_ascii_digit(), "0");
        patched(bytes, &place, &zeros)
    })
}

/// Replaces a text by one of the same length.
fn patched(mut bytes: Vec<u8>, from: &str, to: &str) -> Vec<u8> {
    const PAGE: usize = 1024;
    assert_eq!(from.len(), to.len());
    let plain: Vec<u8> = bytes.chunks(PAGE).flat_map(|page| page[..PAGE - 4].to_vec()).collect();
    let first = plain.windows(from.len()).position(|w| w == from.as_bytes()).unwrap();
    for (at, &byte) in (first..).zip(to.as_bytes()) {
        bytes[at / (PAGE - 4) * PAGE + at % (PAGE - 4)] = byte;
    }
    for page in bytes.chunks_mut(PAGE) {
        let sum = checksum(&page[..PAGE - 4]).to_be_bytes();
        page[PAGE - 4..].copy_from_slice(&sum);
    }
    bytes
}

/// CRC-32C.
fn checksum(bytes: &[u8]) -> u32 {
    !bytes.iter().fold(!0u32, |sum, &byte| {
        (0..8).fold(sum ^ u32::from(byte), |sum, _| (sum >> 1) ^ (0x82F6_3B78 * (sum & 1)))
    })
}

#[test]
fn scans_without_points_leave_the_others() {
    let scaled = |min, max| RecordDataType::ScaledInteger { min, max, scale: 0.5, offset: 0.0 };
    let place = Some((LEFT, [10.0, 0.0, 0.0]));
    let empty = || Scan { rows: &[], pose: place, normals: (3, scaled(-9, 9)) };
    for (scans, expected) in [
        (vec![empty()], vec![]),
        (vec![empty(), empty()], vec![]),
        (vec![of(&ROWS, None), empty(), of(&ROWS, None)], vec![0.0, 0.0, 2.0, 2.0]),
        (vec![empty(), of(&ROWS, None)], vec![1.0, 1.0]),
        (vec![of(&ROWS, place), empty()], vec![0.0, 0.0]),
    ] {
        let bytes = without_sections(file(&scans));
        let cloud = open(&bytes, "a.e57");
        assert_eq!(cloud.len(), expected.len());
        for (number, _) in scans.iter().enumerate().filter(|(_, scan)| scan.rows.is_empty()) {
            let note = format!("scan {number} has no points");
            assert!(cloud.warnings().contains(&note), "{:?}", cloud.warnings());
        }
        if scans.len() > 1 {
            let numbers = cloud.column("scan").unwrap();
            assert_eq!(numbers, Column::U16(expected.iter().map(|&n| n as u16).collect()));
        }
        if cloud.is_empty() {
            continue;
        }
        // An empty scan decides no type.
        assert!(matches!(cloud.column("normalX"), Some(Column::F32(_))));
        let folder = tempfile::tempdir().unwrap();
        std::fs::write(folder.path().join("a.e57"), &bytes).unwrap();
        let header = summary(&folder.path().join("a.e57"), &ReadOptions::default());
        let header = header.unwrap().unwrap();
        assert_eq!((header.fields, &header.warnings[..]), (cloud.fields(), cloud.warnings()));
        assert_eq!(points(&open(&written(&cloud, Format::Ply), "a.ply")), points(&cloud));
    }
    // Sections that are there stay readable.
    let there = file(&[of(&ROWS, None), empty()]);
    assert_eq!(
        open(&there, "a.e57").coordinates(),
        &Coordinates::F64(ROWS.map(|r| [r[0], r[1], r[2]]).into())
    );
}

#[test]
fn points_that_a_header_does_not_count_are_named() {
    let many: Vec<Row> = (0..300).map(|k| [f64::from(k), 0.0, 0.0, 0.0, 0.0, 1.0]).collect();
    let scan = || of(&many, None);
    for (scans, fewer, number) in [
        (vec![scan()], "299", 0),
        (vec![scan()], "007", 0),
        (vec![scan(), of(&ROWS, None)], "200", 0),
        (vec![of(&ROWS, None), scan()], "200", 1),
    ] {
        let whole = file(&scans);
        let short =
            patched(whole.clone(), "recordCount=\"300\"", &format!("recordCount=\"{fewer}\""));
        let warned = |cloud: &Cloud| {
            cloud.warnings().contains(&format!(
                "scan {number} has more points than its header counts, which are left out"
            ))
        };
        assert!(!warned(&open(&whole, "a.e57")));
        let cloud = open(&short, "a.e57");
        assert!(warned(&cloud), "{fewer} {:?}", cloud.warnings());
        let others = if scans.len() > 1 { ROWS.len() } else { 0 };
        assert_eq!(cloud.len(), fewer.parse::<usize>().unwrap() + others);
    }
}
