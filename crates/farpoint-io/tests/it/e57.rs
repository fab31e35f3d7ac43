//! E57 written again as E57, compared as it is stored, with the crate that decodes it.

use ::e57::{
    E57Reader, E57Writer, Extension, PointCloud, Quaternion, Record, RecordDataType, RecordName,
    RecordValue, Transform, Translation,
};
use farpoint_io::{
    Cloud, Coordinates, Format, Groups, ReadOptions, WriteOptions, read_bytes, write_bytes,
};
use std::io::Cursor;

const POINTS: usize = 200;

fn integer(min: i64, max: i64) -> RecordDataType {
    RecordDataType::Integer { min, max }
}

fn steps(min: i64, max: i64) -> RecordDataType {
    RecordDataType::ScaledInteger { min, max, scale: 0.001, offset: 0.5 }
}

fn extension(namespace: &str, name: &str) -> RecordName {
    RecordName::Unknown { namespace: namespace.into(), name: name.into() }
}

/// The columns of a scanner: colors of 10 bits, a grid, states, an extension.
fn prototype(axis: RecordDataType) -> Vec<Record> {
    use RecordName::*;
    let double = RecordDataType::Double { min: None, max: None };
    let single = RecordDataType::Single { min: Some(-1.0), max: Some(1.0) };
    let record = |(name, data_type)| Record { name, data_type };
    [
        (CartesianX, axis.clone()),
        (CartesianY, axis.clone()),
        (CartesianZ, axis),
        (CartesianInvalidState, integer(0, 2)),
        (RowIndex, integer(0, 19)),
        (ColumnIndex, integer(0, 9)),
        (ColorRed, integer(0, 1023)),
        (ColorGreen, integer(0, 1023)),
        (ColorBlue, integer(0, 1023)),
        (IsColorInvalid, integer(0, 1)),
        (Intensity, steps(-500, 500)),
        (TimeStamp, double),
        (IsTimeStampInvalid, integer(0, 1)),
        (ReturnIndex, integer(0, 3)),
        (ReturnCount, integer(1, 4)),
        (extension("abc", "height-2"), single),
        (extension("nor", "normalX"), RecordDataType::Single { min: None, max: None }),
    ]
    .map(record)
    .into()
}

fn value(record: &Record, row: usize) -> RecordValue {
    let n = row as i64;
    match (&record.name, &record.data_type) {
        (RecordName::CartesianInvalidState, _) => RecordValue::Integer(i64::from(n == 7) * 2),
        // Points without a position have none.
        (RecordName::CartesianX | RecordName::CartesianY | RecordName::CartesianZ, kind)
            if row == 7 =>
        {
            match kind {
                RecordDataType::Single { .. } => RecordValue::Single(0.0),
                RecordDataType::Double { .. } => RecordValue::Double(0.0),
                // Zero meters.
                _ => RecordValue::ScaledInteger(-500),
            }
        }
        (RecordName::RowIndex, _) => RecordValue::Integer(n / 10),
        (RecordName::ColumnIndex, _) => RecordValue::Integer(n % 10),
        (_, RecordDataType::Single { .. }) => RecordValue::Single((n as f32 * 0.37).sin()),
        (_, RecordDataType::Double { .. }) => RecordValue::Double((n as f64 * 0.37).sin()),
        (_, RecordDataType::Integer { min, max }) => {
            RecordValue::Integer(min + n * 31 % (max - min + 1))
        }
        (_, RecordDataType::ScaledInteger { min, max, .. }) => {
            RecordValue::ScaledInteger(min + n * 7919 % (max - min + 1))
        }
    }
}

/// A scan that looks to the left, so far from the origin.
fn pose(far: f64) -> Transform {
    let half = 0.6f64;
    let rotation = Quaternion { w: half.cos(), x: 0.0, y: 0.0, z: half.sin() };
    let translation = Translation { x: far * 683_012.25, y: far * 5_250_123.5, z: far * -401.75 };
    Transform { rotation, translation }
}

/// Writes scans, each of these records, with the distance of its pose if it has one.
fn file(scans: &[(Vec<Record>, Option<f64>)]) -> Vec<u8> {
    let mut bytes = Cursor::new(Vec::new());
    let mut file = E57Writer::new(&mut bytes, "{file}").unwrap();
    file.register_extension(Extension::new("abc", "https://example.org/abc")).unwrap();
    let normals = "http://www.libe57.org/E57_NOR_surface_normals.txt";
    file.register_extension(Extension::new("nor", normals)).unwrap();
    for (records, posed) in scans {
        let mut scan = file.add_pointcloud("{scan}", records.clone()).unwrap();
        scan.set_name(Some("Tower <2>".into()));
        scan.set_sensor_model(Some("A1".into()));
        scan.set_temperature(Some(21.5));
        scan.set_transform(posed.map(pose));
        for row in 0..POINTS {
            scan.add_point(records.iter().map(|record| value(record, row)).collect()).unwrap();
        }
        scan.finalize().unwrap();
    }
    file.finalize().unwrap();
    drop(file);
    bytes.into_inner()
}

fn open(bytes: &[u8]) -> Cloud {
    read_bytes(bytes, "a.e57", &ReadOptions::default()).unwrap()
}

fn copied(bytes: &[u8], rows: &[usize]) -> Vec<u8> {
    let (copy, warnings) = write_bytes(&open(bytes), rows, &WriteOptions::default()).unwrap();
    assert_eq!(warnings, [""; 0]);
    copy
}

/// The one scan of a file with its stored values: for each record its name, type and values.
fn stored(bytes: &[u8]) -> (PointCloud, Vec<(String, Vec<RecordValue>)>) {
    let mut reader = E57Reader::new(Cursor::new(bytes)).unwrap();
    let scans = reader.pointclouds();
    assert_eq!(scans.len(), 1);
    let points: Vec<_> =
        reader.pointcloud_raw(&scans[0]).unwrap().map(|point| point.unwrap()).collect();
    let columns = scans[0].prototype.iter().enumerate();
    let columns = columns
        .map(|(i, record)| (format!("{record:?}"), points.iter().map(|p| p[i].clone()).collect()));
    (scans[0].clone(), columns.collect())
}

#[test]
fn copies_keep_names_types_and_values_as_they_are_stored() {
    let single = RecordDataType::Single { min: None, max: None };
    let double = RecordDataType::Double { min: None, max: None };
    for (axis, posed) in [
        (steps(-9000, 9000), Some(1.0)),
        (steps(-9000, 9000), None),
        (single.clone(), Some(1.0)),
        (single, None),
        (double, None),
    ] {
        let original = file(&[(prototype(axis), posed)]);
        let (scan, columns) = stored(&original);
        let rows: Vec<usize> = (0..POINTS).rev().step_by(3).chain([7]).collect();
        let copy = copied(&original, &rows);
        let (copied_scan, copied_columns) = stored(&copy);
        assert_eq!(copied_columns.len(), columns.len());
        for (name, values) in &columns {
            let expected: Vec<_> = rows.iter().map(|&row| values[row].clone()).collect();
            let found = copied_columns.iter().find(|(other, _)| other == name);
            let Some((_, found)) = found else { panic!("{name} of {copied_columns:?}") };
            assert_eq!(*found, expected, "{name}");
        }
        assert_eq!((copied_scan.name, copied_scan.temperature), (scan.name, scan.temperature));
        assert_eq!(copied_scan.sensor_model, scan.sensor_model);
        assert_eq!(format!("{:?}", copied_scan.transform), format!("{:?}", scan.transform));
        assert_eq!(copied_scan.original_guids, Some(vec!["{scan}".to_owned()]));
        // The same points again.
        let (first, second) = (open(&original), open(&copy));
        for (i, &row) in rows.iter().enumerate() {
            let (a, b) = (first.coordinates().get(row), second.coordinates().get(i));
            assert!(a == b || row == 7 && b[0].is_nan(), "{a:?} {b:?}");
        }
        assert!(copied(&original, &(0..POINTS).collect::<Vec<_>>()).len() <= original.len());
    }
}

/// Doubles near the origin do not lead back to all of their digits: the points stay, without the pose.
#[test]
fn points_are_more_important_than_their_encoding() {
    let double = RecordDataType::Double { min: None, max: None };
    let original = open(&file(&[(prototype(double), Some(0.0))]));
    let rows: Vec<usize> = (0..POINTS).collect();
    let (copy, _) = write_bytes(&original, &rows, &WriteOptions::default()).unwrap();
    let again = open(&copy);
    assert!(stored(&copy).0.transform.is_none());
    let same = |row| again.coordinates().get(row) == original.coordinates().get(row);
    assert!((0..POINTS).all(|row| row == 7 || same(row)));
    for name in ["red", "row", "column", "time_stamp", "height-2", "invalid_state"] {
        assert_eq!(again.column(name), original.column(name), "{name}");
    }
}

#[test]
fn scans_of_one_encoding_become_one_scan_of_it() {
    let lacks_states: Vec<Record> = prototype(steps(-9000, 9000))
        .into_iter()
        .filter(|record| record.name != RecordName::CartesianInvalidState)
        .collect();
    let original = file(&[(prototype(steps(-2000, 9500)), None), (lacks_states, None)]);
    let cloud = open(&original);
    let rows: Vec<usize> = (0..2 * POINTS).collect();
    let (copy, _) = write_bytes(&cloud, &rows, &WriteOptions::default()).unwrap();
    let (_, columns) = stored(&copy);
    let types: Vec<&str> = columns.iter().map(|(name, _)| name.as_str()).collect();
    assert!(types[0].contains("min: -9000, max: 9500, scale: 0.001"), "{types:?}");
    let scan = types.iter().position(|name| name.contains("\"farpoint\", name: \"scan\""));
    assert_eq!(columns[scan.unwrap()].1[POINTS..], vec![RecordValue::Integer(1); POINTS]);
    assert_eq!(open(&copy).column("invalid_state"), cloud.column("invalid_state"));
}

#[test]
fn centroids_are_rounded_to_the_steps_of_the_input() {
    let cloud = open(&file(&[(prototype(steps(-9000, 9000)), Some(1.0))]));
    let (a, b) = (cloud.coordinates().get(0), cloud.coordinates().get(1));
    let center = [0, 1, 2].map(|axis| (a[axis] + b[axis]) / 2.0);
    let groups = Groups::new(&[2], &[0, 0], |row| row);
    let mean = cloud.means(&groups, Coordinates::F64(vec![center]));
    let (bytes, _) = write_bytes(&mean, &[0], &WriteOptions::default()).unwrap();
    let again = open(&bytes);
    let found = again.coordinates().get(0);
    assert!((0..3).all(|axis| (found[axis] - center[axis]).abs() < 0.001), "{found:?} {center:?}");
    assert_eq!(again.scale(), Some([0.001; 3]));
}

/// Readers such as pye57 expect a state for every point, and a range of intensities.
#[test]
fn new_files_have_states_and_ranges() {
    let mut cloud = Cloud::new(Coordinates::F32(vec![[0.0; 3], [f32::NAN; 3], [2.0; 3]]));
    cloud.add_column("intensity", farpoint_io::Column::F32(vec![0.25, f32::NAN, 3.0]));
    cloud.add_column("row", farpoint_io::Column::U16(vec![4, 5, 6]));
    cloud.add_column("column", farpoint_io::Column::F32(vec![4.5, 5.0, 6.0]));
    let options = WriteOptions::default().format(Format::E57);
    let (scan, columns) = stored(&write_bytes(&cloud, &[0, 1, 2], &options).unwrap().0);
    let limits = scan.intensity_limits.unwrap();
    assert_eq!(limits.intensity_min, Some(RecordValue::Single(0.25)));
    assert_eq!(limits.intensity_max, Some(RecordValue::Single(3.0)));
    let values = |name: &str| &columns.iter().find(|(c, _)| c.contains(name)).unwrap().1;
    assert_eq!(*values("CartesianInvalidState"), [0, 2, 0].map(RecordValue::Integer));
    assert_eq!(*values("RowIndex"), [4, 5, 6].map(RecordValue::Integer));
    // An index is whole.
    assert_eq!(*values("name: \"column\""), [4.5, 5.0, 6.0].map(RecordValue::Single));
    let all_valid = write_bytes(&cloud, &[0, 2], &options).unwrap().0;
    let (ply, _) =
        write_bytes(&open(&all_valid), &[0], &WriteOptions::default().format(Format::Ply)).unwrap();
    assert!(!String::from_utf8_lossy(&ply).contains("invalid_state"));
}

/// CRC-32C, as pages of E57 have it.
fn checksum(page: &[u8]) -> [u8; 4] {
    let shifted = |crc: u32, _| (crc >> 1) ^ if crc & 1 == 1 { 0x82F6_3B78 } else { 0 };
    let crc = page.iter().fold(!0u32, |crc, &byte| (0..8).fold(crc ^ u32::from(byte), shifted));
    (!crc).to_be_bytes()
}

/// Returns the file with another text in its XML, which is at its end.
fn edited(bytes: &[u8], old: &str, new: &str) -> Vec<u8> {
    let mut content: Vec<u8> =
        bytes.chunks_exact(1024).flat_map(|page| page[..1020].to_vec()).collect();
    let at = content.windows(old.len()).position(|window| window == old.as_bytes()).unwrap();
    content.splice(at..at + old.len(), new.bytes());
    let length = u64::from_le_bytes(content[32..40].try_into().unwrap());
    let length = length + new.len() as u64 - old.len() as u64;
    content[32..40].copy_from_slice(&length.to_le_bytes());
    content.resize(content.len().next_multiple_of(1020), 0);
    let file_length = content.len() as u64 / 1020 * 1024;
    content[16..24].copy_from_slice(&file_length.to_le_bytes());
    content.chunks_exact(1020).flat_map(|page| [page, &checksum(page)].concat()).collect()
}

#[test]
fn a_count_that_no_file_holds_is_refused_by_every_reader() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("a.e57");
    let options = ReadOptions::default();
    let scans = [(prototype(steps(-9000, 9000)), None), (prototype(steps(-9000, 9000)), None)];
    let bytes = file(&scans);
    for (count, is_possible) in [(200u64, true), (9_000_000, false), (i64::MAX as u64, false)] {
        let stated = format!("recordCount=\"{count}\"");
        std::fs::write(&path, edited(&bytes, "recordCount=\"200\"", &stated)).unwrap();
        let found = [
            farpoint_io::read(&path, &options).map(|cloud| cloud.len() as u64),
            farpoint_io::Reader::open(&path, &options, None).map(|reader| reader.len()),
            farpoint_io::summary(&path, &options).map(|summary| summary.unwrap().points),
        ];
        for found in found {
            match found {
                Ok(points) => assert!(is_possible && points == 400, "{count}: {points}"),
                Err(error) => {
                    let error = error.to_string();
                    let words = format!("{count} points are declared, more than the file can hold");
                    assert!(!is_possible && error.contains(&words), "{error}");
                }
            }
        }
    }
}

/// Replaces the XML of a file: pages of 1020 bytes, each with its CRC-32C.
fn with_xml(bytes: &[u8], edit: impl Fn(String) -> String) -> Vec<u8> {
    let number = |at: usize| u64::from_le_bytes(bytes[at..at + 8].try_into().unwrap()) as usize;
    let (start, length) = (number(24) / 1024 * 1020 + number(24) % 1024, number(32));
    let mut all: Vec<u8> = bytes.chunks(1024).flat_map(|page| &page[..1020]).copied().collect();
    let xml = edit(String::from_utf8(all[start..start + length].to_vec()).unwrap());
    all.splice(start.., xml.bytes());
    all.resize(all.len().next_multiple_of(1020), 0);
    all[32..40].copy_from_slice(&(xml.len() as u64).to_le_bytes());
    let pages = all.len() as u64 / 1020;
    all[16..24].copy_from_slice(&(pages * 1024).to_le_bytes());
    let crc = |page: &[u8]| {
        let bit = |crc: u32, _| (crc >> 1) ^ (0x82f6_3b78 * (crc & 1));
        !page.iter().fold(!0, |crc, &b| (0..8).fold(crc ^ u32::from(b), bit))
    };
    all.chunks(1020).flat_map(|page| [page, &crc(page).to_be_bytes()].concat()).collect()
}

/// Thousands of attributes would take a parser of XML minutes.
#[test]
fn thousands_of_xml_attributes_are_refused() {
    let bytes = file(&[(prototype(RecordDataType::F64), None)]);
    assert_eq!(open(&with_xml(&bytes, |xml| xml)).len(), POINTS);
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("a.e57");
    for (name, element) in [("a", "<e57Root"), ("xmlns:a", "<e57Root"), ("a", "<data3D")] {
        let some = |count: usize| {
            let all: String = (0..count).map(|k| format!(" {name}{k}='>{k}'")).collect();
            with_xml(&bytes, |xml| xml.replacen(element, &format!("{element}{all}"), 1))
        };
        assert_eq!(open(&some(20)).len(), POINTS, "{name} {element}");
        let many = some(100_000);
        std::fs::write(&path, &many).unwrap();
        for error in [
            read_bytes(&many, "a.e57", &ReadOptions::default()).err().unwrap(),
            farpoint_io::summary(&path, &ReadOptions::default()).err().unwrap(),
        ] {
            let error = error.to_string();
            assert!(error.contains("attributes or namespaces"), "{error}");
        }
    }
    // A comment or text may hold any number of quotes.
    let quotes = format!("<!-- {} --><e57Root", "a='1' ".repeat(10_000));
    let commented = with_xml(&bytes, |xml| xml.replacen("<e57Root", &quotes, 1));
    assert_eq!(open(&commented).len(), POINTS);
}

/// Equal names of fields, which an attribute each is made of, take no quadratic time.
#[test]
fn many_fields_of_one_name_are_read() {
    let mut records = prototype(RecordDataType::F64);
    for space in ["abc", "nor"] {
        records.push(Record { name: extension(space, "same"), data_type: integer(0, 1) });
    }
    let fields = open(&file(&[(records, None)])).fields();
    let found: Vec<_> = fields.iter().filter(|field| field.name.starts_with("same")).collect();
    assert_eq!(found.len(), 2, "{fields:?}");
    assert_eq!(found[1].name, "same_2");
}
