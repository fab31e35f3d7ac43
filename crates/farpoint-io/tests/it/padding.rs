//! Padding is no column, data that a header does not account for is named, and odd line ends and names do no harm: the
//! same in memory and in parts.

use farpoint_io::{
    Cloud, Column, Coordinates, Encoding, Format, ReadOptions, Reader, WriteOptions, read,
    read_bytes, write_bytes,
};

const POINTS: [[f32; 3]; 4] =
    [[1.0, 2.0, 3.0], [4.0, 5.0, 6.0], [7.0, 8.0, 9.5], [-1.0, 0.5, 0.25]];

fn small() -> Cloud {
    let mut cloud = Cloud::new(Coordinates::F32(POINTS.to_vec()));
    cloud.add_column("ring", Column::U16(vec![1, 2, 3, 4]));
    cloud
}

fn encoded(format: Format, encoding: Option<Encoding>) -> Vec<u8> {
    let options = WriteOptions::default().format(format).encoding(encoding);
    write_bytes(&small(), &[0, 1, 2, 3], &options).unwrap().0
}

fn written(cloud: &Cloud, format: Format) -> (Vec<u8>, Vec<String>) {
    let rows: Vec<usize> = (0..cloud.len()).collect();
    write_bytes(cloud, &rows, &WriteOptions::default().format(format)).unwrap()
}

/// Reads a file whole and in parts; both give the same.
#[track_caller]
fn both(bytes: &[u8], name: &str) -> Cloud {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join(name);
    std::fs::write(&path, bytes).unwrap();
    let whole = read(&path, &ReadOptions::default()).unwrap_or_else(|e| panic!("{e}"));
    // So little memory that even lines are found in a pass; some files are read whole only.
    let options = ReadOptions::default();
    let reader =
        Reader::open(&path, &options, Some(1)).or_else(|_| Reader::open(&path, &options, None));
    let parts = reader.unwrap().load().unwrap();
    assert_eq!(parts.coordinates(), whole.coordinates(), "{name}");
    assert_eq!(parts.warnings(), whole.warnings(), "{name}");
    assert_eq!(parts.fields(), whole.fields(), "{name}");
    whole
}

fn names(cloud: &Cloud) -> Vec<String> {
    cloud.fields().into_iter().map(|field| field.name).collect()
}

/// PLY of the points with elements before and after them, in this encoding.
fn ply(encoding: &str, after: &str, body: &[u8]) -> Vec<u8> {
    let head = format!(
        "ply\nformat {encoding} 1.0\nelement vertex 4\nproperty float x\nproperty float y\nproperty float z\n{after}end_header\n"
    );
    [head.as_bytes(), body].concat()
}

fn floats() -> Vec<u8> {
    POINTS.iter().flatten().flat_map(|value| value.to_le_bytes()).collect()
}

fn npy(descr: &str, shape: &str, fortran: &str, body: &[u8]) -> Vec<u8> {
    let text = format!("{{'descr': {descr}, 'fortran_order': {fortran}, 'shape': {shape}, }}\n");
    [b"\x93NUMPY\x01\x00", &(text.len() as u16).to_le_bytes()[..], text.as_bytes(), body].concat()
}

#[test]
fn data_after_the_last_point_is_named() {
    use Encoding::{Ascii, Binary, BinaryBigEndian, BinaryCompressed};
    let lines = "1 2 3\n4 5 6\n7 8 9.5\n-1 0.5 0.25\n";
    let of_edges = "element edge 2\nproperty int a\nproperty short b\n";
    let of_faces = "element face 1\nproperty list uchar int v\n";
    let halves = npy("'<f2'", "(4, 3)", "False", &[0; 24]);
    for (name, bytes, more, words) in [
        ("a.ply", encoded(Format::Ply, Some(Binary)), "abc", "3 bytes"),
        ("b.ply", encoded(Format::Ply, Some(BinaryBigEndian)), "\n", "1 bytes"),
        ("c.ply", encoded(Format::Ply, Some(Ascii)), "\n9 9 9 9\n8 8 8 8", "2 lines"),
        (
            "d.ply",
            ply("binary_little_endian", of_edges, &[&floats()[..], &[0; 12]].concat()),
            "ab",
            "2 bytes",
        ),
        (
            "e.ply",
            ply("ascii", of_edges, format!("{lines}1 2\n3 4\n").as_bytes()),
            "5 6\n",
            "1 lines",
        ),
        (
            "f.ply",
            ply("ascii", of_faces, format!("{lines}3 0 1 2\n").as_bytes()),
            "3 1 2 3\n",
            "1 lines",
        ),
        ("a.pcd", encoded(Format::Pcd, Some(Binary)), "abc", "3 bytes"),
        ("b.pcd", encoded(Format::Pcd, Some(BinaryCompressed)), "abcd", "4 bytes"),
        ("c.pcd", encoded(Format::Pcd, Some(Ascii)), "9 9 9 9\n\n", "1 lines"),
        ("a.npy", encoded(Format::Npy, None), "abc", "3 bytes"),
        ("b.npy", npy("'<f4'", "(4, 3)", "True", &floats()), "abc", "3 bytes"),
        ("c.npy", halves, "abc", "3 bytes"),
    ] {
        let named = |cloud: &Cloud, words: &str| cloud.warnings().iter().any(|w| w.contains(words));
        assert!(!named(&both(&bytes, name), "after the last point"), "{name}");
        let cloud = both(&[&bytes[..], more.as_bytes()].concat(), name);
        assert_eq!(cloud.len(), 4, "{name}");
        let words = format!("{words} after the last point");
        assert!(named(&cloud, &words), "{name} {:?}", cloud.warnings());
    }
    // Rows without a header.
    let raw = encoded(Format::Raw, None);
    assert!(read_bytes(&[&raw[..], b"abc"].concat(), "a.bin", &ReadOptions::default()).is_err());
    // Row numbers.
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("rows.npy");
    let numbers = npy("'<i8'", "(1,)", "False", &[7, 0, 0, 0, 0, 0, 0, 0]);
    std::fs::write(&path, &numbers).unwrap();
    assert_eq!(farpoint_io::read_numbers(&path).unwrap(), [7]);
    std::fs::write(&path, [&numbers[..], b"abc"].concat()).unwrap();
    let error = farpoint_io::read_numbers(&path).unwrap_err().to_string();
    assert!(error.contains("3 bytes follow"), "{error}");
}

#[test]
fn a_count_of_more_or_fewer_lines_says_both() {
    for (count, words) in [(2, "correct that number"), (4, "truncated")] {
        let text = format!("{count}\n1 2 3 5 1 2 3\n4 5 6 5 1 2 3\n7 8 9 5 1 2 3\n");
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a.pts");
        std::fs::write(&path, text).unwrap();
        let whole = read(&path, &ReadOptions::default()).unwrap_err().to_string();
        let parts = Reader::open(&path, &ReadOptions::default(), Some(1)).unwrap_err().to_string();
        let declared = format!("declares {count} points, the file has 3; ");
        assert!(whole.contains(&declared) && whole.contains(words), "{whole}");
        assert_eq!(parts, whole);
    }
}

#[test]
fn headers_end_their_lines_in_any_way() {
    use Encoding::{Ascii, Binary};
    for end in ["\r\n", "\n\r", "\r"] {
        for (name, format, last) in
            [("a.ply", Format::Ply, "end_header\n"), ("a.pcd", Format::Pcd, "DATA ")]
        {
            for encoding in [Binary, Ascii] {
                let bytes = encoded(format, Some(encoding));
                let text = |b: &[u8]| String::from_utf8(b.to_vec()).unwrap();
                let at = bytes.windows(last.len()).position(|w| w == last.as_bytes()).unwrap();
                let start = at + bytes[at..].iter().position(|&b| b == b'\n').unwrap() + 1;
                // A first comment of PCD hides what a file with other line ends is.
                let head = text(&bytes[..start])
                    .replace("# .PCD v0.7 - Point Cloud Data file format\n", "");
                let body = match encoding {
                    Ascii => text(&bytes[start..]).replace('\n', end).into_bytes(),
                    _ => bytes[start..].to_vec(),
                };
                let odd = [head.replace('\n', end).as_bytes(), &body].concat();
                let cloud = both(&odd, name);
                assert_eq!(
                    cloud.coordinates(),
                    &Coordinates::F32(POINTS.to_vec()),
                    "{name} {end:?}"
                );
                assert_eq!(cloud.warnings(), [""; 0], "{name} {end:?} {encoding:?}");
                let again = both(&written(&cloud, format).0, name);
                assert_eq!(again.coordinates(), cloud.coordinates(), "{name} {end:?}");
                assert_eq!(again.column("ring"), cloud.column("ring"), "{name} {end:?}");
            }
        }
    }
}

#[test]
fn pcd_fields_of_count_0_are_not_there() {
    let head = |data: &str| {
        format!(
            "VERSION 0.7\nFIELDS x y z _ ring _ gone _\nSIZE 4 4 4 1 2 1 4 1\nTYPE F F F U U U F U\n\
             COUNT 1 1 1 4 1 0 0 15\nWIDTH 4\nHEIGHT 1\nVIEWPOINT 0 0 0 1 0 0 0\nPOINTS 4\nDATA {data}\n"
        )
    };
    let record = |(k, point): (usize, &[f32; 3])| {
        let mut record: Vec<u8> = point.iter().flat_map(|value| value.to_le_bytes()).collect();
        record.extend([9; 4]);
        record.extend((k as u16).to_le_bytes());
        record.extend([9; 15]);
        record
    };
    let records: Vec<u8> = POINTS.iter().enumerate().flat_map(record).collect();
    let line = |(k, [x, y, z]): (usize, &[f32; 3])| {
        format!("{x} {y} {z} 9 9 9 9 {k}{}\n", " 9".repeat(15))
    };
    let lines: String = POINTS.iter().enumerate().map(line).collect();
    let binary = [head("binary").as_bytes(), &records].concat();
    let compressed =
        WriteOptions::default().format(Format::Pcd).encoding(Encoding::BinaryCompressed);
    let compressed = write_bytes(&both(&binary, "a.pcd"), &[0, 1, 2, 3], &compressed).unwrap().0;
    for bytes in [binary, [head("ascii").as_bytes(), lines.as_bytes()].concat(), compressed] {
        let cloud = both(&bytes, "a.pcd");
        assert_eq!(cloud.coordinates(), &Coordinates::F32(POINTS.to_vec()));
        assert_eq!(cloud.column("ring").unwrap(), Column::U16(vec![0, 1, 2, 3]));
        assert!(!names(&cloud).contains(&"gone".into()));
        // A copy has them no more: readers before PCL 1.13 take them for fields.
        let copy = written(&cloud, Format::Pcd).0;
        assert!(String::from_utf8_lossy(&copy).contains("\nCOUNT 1 1 1 4 1 15\n"));
        assert_eq!(both(&copy, "a.pcd").coordinates(), cloud.coordinates());
        assert_eq!(
            names(
                &read_bytes(&written(&cloud, Format::Ply).0, "a.ply", &ReadOptions::default())
                    .unwrap()
            ),
            ["x", "y", "z", "ring"]
        );
    }
    let warned = both(&[head("binary").as_bytes(), &records].concat(), "a.pcd");
    assert_eq!(warned.warnings(), ["the field 'gone' has COUNT 0 and is left out"]);
    let axis = head("binary").replace("COUNT 1 1", "COUNT 1 0");
    let error = read_bytes(&[axis.as_bytes(), &records].concat(), "a.pcd", &ReadOptions::default());
    assert!(error.unwrap_err().to_string().contains("there are no fields x, y and z"));
}

#[test]
fn npy_fields_without_a_name_are_padding() {
    let descr = "[('x', '<f4'), ('y', '<f4'), ('z', '<f4'), ('', '|V4'), ('ring', '<u2'), ('', '|V2', (3,)), ('own', '|V2')]";
    let record = |(k, point): (usize, &[f32; 3])| {
        let mut record: Vec<u8> = point.iter().flat_map(|value| value.to_le_bytes()).collect();
        record.extend([9; 4]);
        record.extend((k as u16).to_le_bytes());
        record.extend([9; 8]);
        record
    };
    let records: Vec<u8> = POINTS.iter().enumerate().flat_map(record).collect();
    let bytes = npy(descr, "(4,)", "False", &records);
    let cloud = both(&bytes, "a.npy");
    assert_eq!(names(&cloud), ["x", "y", "z", "ring", "own"]);
    assert_eq!(cloud.coordinates(), &Coordinates::F32(POINTS.to_vec()));
    assert_eq!(cloud.column("ring").unwrap(), Column::U16(vec![0, 1, 2, 3]));
    // Records are copied as they are.
    let copy = written(&cloud, Format::Npy).0;
    assert!(copy.ends_with(&records));
    assert_eq!(names(&both(&copy, "a.npy")), names(&cloud));
    let text = String::from_utf8(written(&cloud, Format::Text).0).unwrap();
    assert!(text.starts_with("# x y z ring own_0 own_1\n"), "{text}");
}

#[test]
fn npy_that_numpy_refuses_is_refused() {
    let of = |field: &str| {
        let descr = format!("[('x', '<f4'), ('y', '<f4'), ('z', '<f4'), ('a', '|u1'){field}]");
        npy(&descr, "(2,)", "False", &[0; 64])
    };
    assert_eq!(both(&of(", ('b', '<u4'), ('', '|V1'), ('', '|V1')"), "a.npy").len(), 2);
    for (bytes, says) in [
        (of(", ('b', '|u0')"), "'b' does not have a simple type"),
        (of(", ('b', '<i3')"), "'b' does not have a simple type"),
        (of(", ('b', '<f3')"), "'b' does not have a simple type"),
        (of(", ('b', '<c3')"), "'b' does not have a simple type"),
        (of(", ('b', '|b2')"), "'b' does not have a simple type"),
        (of(", ('a', '|u1')"), "two fields have the name 'a'"),
        (of(", ('x', '<f4')"), "two fields have the name 'x'"),
    ] {
        let error = read_bytes(&bytes, "a.npy", &ReadOptions::default()).unwrap_err().to_string();
        assert!(error.contains(says), "{error}");
    }
}

#[test]
fn unknown_versions_are_refused() {
    for (format, at, versions) in [
        (Format::Ply, 32, &["9.0", "1.7", "0.9"][..]),
        (Format::Pcd, 51, &["9.9", "0.8", "1.7"]),
        (Format::Npy, 6, &["\0\0", "\x04\0", "\x01\x07"]),
        (Format::Las, 24, &["\x01\x06", "\x02\0", "\0\x04"]),
        (Format::Laz, 24, &["\x01\x06", "\x02\0", "\0\x04"]),
    ] {
        for version in versions {
            let mut bytes = encoded(format, None);
            bytes[at..at + version.len()].copy_from_slice(version.as_bytes());
            let name = format!("a.{}", format.extensions()[0]);
            let error = read_bytes(&bytes, &name, &ReadOptions::default()).unwrap_err();
            assert!(error.to_string().contains("version "), "{name} {version:?}: {error}");
        }
    }
}

#[test]
fn names_that_occur_twice_are_named() {
    let cloud = both(b"x,y,z,a,x,a,a\n1,2,3,4,5,6,7\n", "a.csv");
    assert_eq!(names(&cloud), ["x", "y", "z", "a", "x_2", "a_2", "a_3"]);
    assert_eq!(cloud.warnings(), ["a second column 'x' becomes 'x_2', and 2 more likewise"]);
    assert_eq!(both(b"x,y,z,a,,\n1,2,3,4,5,6\n", "a.csv").warnings(), [""; 0]);
}

/// Files with this name for a column, `#` where it stands.
fn named(name: &str) -> Vec<(&'static str, Vec<u8>)> {
    let csv = "x,y,z,#\n1,2,3,4\n5,6,7,8\n".replace('#', name);
    let xyz = "//X Y Z #\n1 2 3 4\n5 6 7 8\n".replace('#', name);
    let escaped = format!("{:02x}", name.bytes().find(u8::is_ascii_control).unwrap());
    let python = name.replace(char::is_control, &format!("\\x{escaped}"));
    let descr = format!("[('x', '<f4'), ('y', '<f4'), ('z', '<f4'), ('{python}', '<f4')]");
    let values: Vec<u8> = (1..9).flat_map(|value| (value as f32).to_le_bytes()).collect();
    let raw = npy(&descr.replace(&python, name), "(2,)", "False", &values);
    let ply = format!(
        "ply\nformat ascii 1.0\nelement vertex 2\nproperty float x\nproperty float y\nproperty float z\nproperty float {name}\nend_header\n1 2 3 4\n5 6 7 8\n"
    );
    let pcd = format!(
        "VERSION 0.7\nFIELDS x y z {name}\nSIZE 4 4 4 4\nTYPE F F F F\nCOUNT 1 1 1 1\nWIDTH 2\nHEIGHT 1\nPOINTS 2\nDATA ascii\n1 2 3 4\n5 6 7 8\n"
    );
    vec![
        ("a.csv", csv.into_bytes()),
        ("a.xyz", xyz.into_bytes()),
        ("a.npy", npy(&descr, "(2,)", "False", &values)),
        ("b.npy", raw),
        ("a.ply", ply.into_bytes()),
        ("a.pcd", pcd.into_bytes()),
    ]
}

#[test]
fn control_characters_in_names_are_replaced_or_refused() {
    for name in ["a\0b", "a\x1bb", "a\x7fb", "\x01"] {
        for (file, bytes) in named(name) {
            let Ok(cloud) = read_bytes(&bytes, file, &ReadOptions::default()) else {
                assert!(file.ends_with("ply"), "{file} {name:?}");
                continue;
            };
            both(&bytes, file);
            let plain = name.replace(char::is_control, "_");
            assert_eq!(names(&cloud)[3], plain, "{file}");
            assert_eq!(cloud.column(&plain).unwrap().get(1), 8.0, "{file}");
            let warning = format!("becomes '{plain}'");
            assert!(
                cloud.warnings().iter().any(|w| w.contains(&warning)),
                "{:?}",
                cloud.warnings()
            );
            for format in Format::ALL.into_iter().filter(|f| f.can_write()) {
                let (out, _) = written(&cloud, format);
                let target = format!("a.{}", format.extensions()[0]);
                let again = read_bytes(&out, &target, &ReadOptions::default()).unwrap();
                assert!(
                    !names(&again).iter().any(|n| n.contains(char::is_control)),
                    "{file} {format}"
                );
                if format == Format::Npy {
                    // Python refuses a header with NUL.
                    let length = usize::from(u16::from_le_bytes([out[8], out[9]]));
                    assert!(out[10..9 + length].iter().all(|b| b.is_ascii_graphic() || *b == b' '));
                }
            }
        }
    }
    // Names that become equal stay two.
    let cloud = both(b"x,y,z,a\0b,a\x01b,a_b\n1,2,3,4,5,6\n", "a.csv");
    assert_eq!(names(&cloud), ["x", "y", "z", "a_b_2", "a_b_3", "a_b"]);
}

#[test]
fn rows_of_nuscenes_have_five_values() {
    let rows = |columns: usize| -> Vec<u8> {
        (0..4 * columns).flat_map(|k| (k as f32 / 4.0).to_le_bytes()).collect()
    };
    let folder = tempfile::tempdir().unwrap();
    let write = |cloud: &Cloud, name: &str| {
        let path = folder.path().join(name);
        let warnings =
            farpoint_io::write(&path, cloud, &[0, 1, 2, 3], &WriteOptions::default()).unwrap();
        (std::fs::read(&path).unwrap(), warnings)
    };
    let ring = "there is no 'ring'; its column holds 0";
    let intensity = "there is no 'intensity'; its column holds 0";
    for (columns, name, stride, words) in [
        (4, "o.bin", 4, &[][..]),
        (5, "o.pcd.bin", 5, &[]),
        (4, "o.pcd.bin", 5, &[ring]),
        (4, "O.PCD.BIN", 5, &[ring]),
        (3, "o.pcd.bin", 5, &[intensity, ring]),
        (
            6,
            "o.pcd.bin",
            5,
            &[intensity, ring, "raw float32 has no place for column_4, column_5, column_6"],
        ),
        (5, "o.bin", 5, &["`columns=5`"]),
        (3, "o.bin", 3, &["`columns=3`"]),
    ] {
        let bytes = rows(columns);
        let cloud = read_bytes(&bytes, "a.bin", &ReadOptions::default().columns(columns)).unwrap();
        let (out, warnings) = write(&cloud, name);
        assert_eq!(out.len(), 4 * 4 * stride, "{columns} {name}");
        let read = ReadOptions::default().columns(stride);
        let again = read_bytes(&out, name, &read).unwrap();
        assert_eq!(again.coordinates(), cloud.coordinates());
        assert_eq!(warnings.len(), words.len(), "{columns} {name} {warnings:?}");
        for (warning, words) in warnings.iter().zip(words) {
            assert!(warning.contains(words), "{columns} {name} {warnings:?}");
        }
        if (columns, stride) == (4, 5) {
            assert_eq!(again.column("ring").unwrap(), Column::F32(vec![0.0; 4]));
            assert_eq!(again.column("intensity"), cloud.column("intensity"));
        }
    }
    // An added column is no ring.
    let mut cloud = read_bytes(&rows(4), "a.bin", &ReadOptions::default().columns(4)).unwrap();
    cloud.add_column("spacing", Column::F32(vec![7.0; 4]));
    let (out, warnings) = write(&cloud, "o.pcd.bin");
    assert_eq!((out.len(), &out[16..20]), (80, &[0; 4][..]));
    assert!(warnings[1].contains("no place for spacing"), "{warnings:?}");
}
