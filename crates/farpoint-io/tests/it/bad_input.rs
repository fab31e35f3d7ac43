//! Bad input never panics and never allocates absurd memory; every message names the problem and the remedy, on one
//! line.

use farpoint_io::{
    Cloud, Column, Coordinates, Encoding, Error, Format, ReadOptions, WriteOptions, check_output,
    read, read_bytes, write, write_bytes, write_indices,
};
use std::path::Path;

fn try_open(bytes: &[u8], name: &str) -> Result<Cloud, Error> {
    read_bytes(bytes, name, &ReadOptions::default())
}

fn message(bytes: &[u8], name: &str) -> String {
    let text = try_open(bytes, name).unwrap_err().to_string();
    assert!(!text.contains('\n'), "{text}");
    assert!(text.starts_with(name) && text.contains("; "), "{text}");
    text
}

fn small(format: Format, encoding: Option<Encoding>) -> Vec<u8> {
    let mut cloud =
        Cloud::new(Coordinates::F32(vec![[1.0, 2.0, 3.0], [4.0, 5.0, 6.0], [7.0, 8.0, 9.0]]));
    cloud.add_column("intensity", Column::U16(vec![1, 2, 3]));
    cloud.add_column("extra", Column::F64(vec![1.0, 2.0, 3.0]));
    write_bytes(&cloud, &[0, 1, 2], &WriteOptions::default().format(format).encoding(encoding))
        .unwrap()
        .0
}

const PTX: &[u8] = b"1\n2\n0 0 0\n1 0 0\n0 1 0\n0 0 1\n1 0 0 0\n0 1 0 0\n0 0 1 0\n0 0 0 1\n\
    1 2 3 0.5\n4 5 6 0.5\n";

fn all_small() -> Vec<(&'static str, Vec<u8>)> {
    use Encoding::{Ascii, Binary, BinaryBigEndian, BinaryCompressed};
    vec![
        ("a.ply", small(Format::Ply, Some(Ascii))),
        ("b.ply", small(Format::Ply, Some(Binary))),
        ("c.ply", small(Format::Ply, Some(BinaryBigEndian))),
        ("a.pcd", small(Format::Pcd, Some(Ascii))),
        ("b.pcd", small(Format::Pcd, Some(Binary))),
        ("c.pcd", small(Format::Pcd, Some(BinaryCompressed))),
        ("a.las", small(Format::Las, None)),
        ("a.laz", small(Format::Laz, None)),
        ("a.npy", small(Format::Npy, None)),
        ("a.txt", small(Format::Text, None)),
        ("a.off", b"OFF\n3 0 0\n0 0 0\n1 1 1\n2 2 2\n".to_vec()),
        ("c.off", b"CNOFF\n2 0 0\n0 0 0 0 0 1 1 2 3\n1 1 1 0 0 1 1 2 3\n".to_vec()),
        ("a.obj", b"v 0 0 0\nv 1 1 1\n".to_vec()),
        ("a.ptx", PTX.to_vec()),
        ("b.txt", b"id,East,North,Height\na,1,2,3\nb,4,5,6\n".to_vec()),
        ("a.pts", b"2\n1 2 3 4 5 6 7\n2 3 4 5 6 7 8\n".to_vec()),
    ]
}

#[test]
fn cut_at_every_length() {
    for (name, bytes) in all_small() {
        let whole = try_open(&bytes, name).unwrap().len();
        for length in 0..bytes.len() {
            match try_open(&bytes[..length], name) {
                Ok(cloud) => assert!(cloud.len() <= whole, "{name} at {length}"),
                Err(_) => {
                    message(&bytes[..length], name);
                }
            }
        }
    }
}

#[test]
fn binary_files_cut_short_are_refused() {
    for (name, bytes) in all_small()
        .into_iter()
        .filter(|(n, _)| ![".txt", ".pts", ".obj"].iter().any(|e| n.ends_with(e)))
    {
        // A cut last digit or line end leaves a text file whole; the points themselves may not be cut.
        let cut = bytes.len() - 8;
        assert!(try_open(&bytes[..cut], name).is_err(), "{name}");
    }
}

#[test]
fn every_single_byte_changed() {
    for (name, bytes) in all_small() {
        for at in 0..bytes.len() {
            for value in [0, 0xFF, bytes[at] ^ 1, bytes[at] ^ 0x80, b'9'] {
                let mut broken = bytes.clone();
                broken[at] = value;
                let _ = try_open(&broken, name);
            }
        }
    }
}

#[test]
fn absurd_promises_allocate_nothing() {
    let huge = 1u64 << 40;
    let ply = format!(
        "ply\nformat binary_little_endian 1.0\nelement vertex {huge}\nproperty float x\nproperty float y\nproperty float z\nend_header\n"
    );
    assert!(message(ply.as_bytes(), "a.ply").contains("1099511627776"));
    let ply = ply.replace("binary_little_endian", "ascii");
    assert!(message(ply.as_bytes(), "a.ply").contains("1099511627776"));
    for data in ["ascii", "binary", "binary_compressed"] {
        let pcd = format!(
            "VERSION 0.7\nFIELDS x y z\nSIZE 4 4 4\nTYPE F F F\nCOUNT 1 1 1\nWIDTH {huge}\nHEIGHT 1\nPOINTS {huge}\nDATA {data}\n12345678"
        );
        message(pcd.as_bytes(), "a.pcd");
    }
    for (name, at) in [("a.las", 247), ("a.laz", 247)] {
        let mut las =
            small(if at == 247 && name == "a.laz" { Format::Laz } else { Format::Las }, None);
        las[at..at + 8].copy_from_slice(&huge.to_le_bytes());
        assert!(message(&las, name).contains("1099511627776"));
    }
    let npy = |shape: &str| {
        let text = format!("{{'descr': '<f4', 'fortran_order': False, 'shape': {shape}, }}\n");
        [b"\x93NUMPY\x01\x00", &(text.len() as u16).to_le_bytes()[..], text.as_bytes()].concat()
    };
    message(&npy("(1099511627776, 3)"), "a.npy");
    message(&npy("(4611686018427387904, 4611686018427387904)"), "a.npy");
    message(&npy(&format!("{}1{}", "(".repeat(5000), ")".repeat(5000))), "a.npy");
    message(b"OFF\n1099511627776 0 0\n0 0 0\n", "a.off");
    message(b"1099511627776\n1 2 3\n", "a.pts");
}

#[test]
fn messages_say_where() {
    assert!(message(b"1 2 3\n4 5\n", "a.xyz").contains("line 2"));
    // Thousands, perhaps.
    for commas in [
        "1,500 2,500 30,500\n",
        "1,500 2,500 3,500\n1,500 2,500 3,500\n",
        "x;y;z\n1,250;2,250;3,250\n",
    ] {
        assert!(message(commas.as_bytes(), "a.csv").contains("decimal point"), "{commas}");
    }
    assert!(message(b"v 1 2 3\nv 1 b 3\n", "a.obj").contains("line 2"));
    assert!(
        message(
            b"ply\nformat ascii 1.0\nelement vertex 1\nproperty wrong x\nend_header\n",
            "a.ply"
        )
        .contains("line 4")
    );
    assert!(
        message(
            b"ply\nformat ascii 1.0\nelement vertex 1\nproperty float a\nend_header\n1\n",
            "a.ply"
        )
        .contains("[a]")
    );
    assert!(message(b"", "a.ply").contains("empty"));
    assert!(message(b"nonsense", "a.ply").contains("`input_format`"));
    assert!(message(b"\x00\x01\x02", "a.what").contains("format"));
    assert!(message(b"\x1f\x8b\x08\x00", "a.xyz.gz").contains("a.xyz.gz"));
    assert!(message(b"\x28\xB5\x2F\xFD", "a.las").contains("zstd"));
    assert!(message(&[0; 10], "a.bin").contains("10 bytes"));
    assert!(message(&[0; 24], "a.pcd.bin").contains("3, 6"));
    assert!(message(b"\x89MCAP0\r\n...", "a.mcap").contains("MCAP"));
    assert!(message(b"\xFF\xFE not text \x80", "a.txt").contains("text"));
}

#[test]
fn empty_clouds_are_clouds() {
    let cloud = Cloud::new(Coordinates::F32(Vec::new()));
    for format in Format::ALL.into_iter().filter(|f| f.can_write()) {
        let options = WriteOptions::default().format(format);
        let (bytes, _) = write_bytes(&cloud, &[], &options).unwrap();
        let name = format!("a.{}", format.extensions()[0]);
        match format {
            // Rows alone: without one there is no byte.
            Format::Raw => assert!(message(&bytes, &name).contains("empty")),
            _ => assert_eq!(try_open(&bytes, &name).unwrap().len(), 0, "{format}"),
        }
    }
}

#[test]
fn content_decides_over_the_name() {
    let laz = small(Format::Laz, None);
    for name in ["a.las", "a.laz", "a", "a.txt"] {
        assert_eq!(try_open(&laz, name).unwrap().format(), Some(Format::Laz));
    }
    assert_eq!(try_open(b"1 2 3\n", "a").unwrap().format(), Some(Format::Text));
    let nuscenes = try_open(&[0; 40], "a.pcd.bin").unwrap();
    assert_eq!((nuscenes.format(), nuscenes.len()), (Some(Format::Raw), 2));
    let columns = ReadOptions::default().columns(6);
    assert_eq!(read_bytes(&[0; 48], "a.bin", &columns).unwrap().len(), 2);
}

#[test]
fn formats_have_names() {
    for format in Format::ALL {
        for extension in format.extensions() {
            for text in [(*extension).to_owned(), format!(".{}", extension.to_uppercase())] {
                assert_eq!(text.parse::<Format>().unwrap(), format);
            }
        }
    }
    assert_eq!("Text".parse::<Format>().unwrap(), Format::Text);
    assert_eq!("raw".parse::<Format>().unwrap(), Format::Raw);
    let error = "foo".parse::<Format>().unwrap_err().to_string();
    assert!(error.contains("'foo'") && error.contains("ply, pcd, las"), "{error}");
}

#[test]
fn outputs_are_checked_before_the_work() {
    let folder = tempfile::tempdir().unwrap();
    let input = folder.path().join("in.ply");
    std::fs::write(&input, small(Format::Ply, None)).unwrap();
    let refused = |path: &Path| {
        let error = check_output(path, &[&input], &WriteOptions::default()).unwrap_err();
        assert!(matches!(error, Error::Output { .. }), "{error}");
        error.to_string()
    };
    assert!(refused(&input).contains("input"));
    assert!(refused(&folder.path().join("no/out.ply")).contains("folder"));
    assert!(refused(&folder.path().join("out.ptx")).contains("PTX"));
    assert!(refused(&folder.path().join("out")).contains("format"));
    let link = folder.path().join("link.ply");
    #[cfg(unix)]
    std::os::unix::fs::symlink(&input, &link).unwrap();
    #[cfg(unix)]
    assert!(refused(&link).contains("input"));
    let good = check_output(&folder.path().join("out.LAZ"), &[&input], &WriteOptions::default());
    assert_eq!(good.unwrap(), Format::Laz);
    let stdout = check_output(Path::new("-"), &[&input], &WriteOptions::default());
    assert_eq!(stdout.unwrap(), Format::Ply);
}

#[test]
fn outputs_are_whole_or_not_there() {
    let folder = tempfile::tempdir().unwrap();
    let cloud = Cloud::new(Coordinates::F64(vec![[1.0, 2.0, f64::NAN]]));
    let out = folder.path().join("out.las");
    std::fs::write(&out, "before").unwrap();
    let error = write(&out, &cloud, &[0], &WriteOptions::default()).unwrap_err().to_string();
    assert!(error.contains("point 0") && error.contains("finite"), "{error}");
    assert_eq!(std::fs::read(&out).unwrap(), b"before");
    let row = write(&out, &cloud, &[1], &WriteOptions::default()).unwrap_err();
    assert!(matches!(row, Error::RowOutOfRange { row: 1, len: 1 }));
    let ply = folder.path().join("out.ply");
    write(&ply, &cloud, &[0], &WriteOptions::default()).unwrap();
    assert_eq!(read(&ply, &ReadOptions::default()).unwrap().len(), 1);
    write_indices(&folder.path().join("i.npy"), &[3, 1, 2]).unwrap();
    let indices = std::fs::read(folder.path().join("i.npy")).unwrap();
    assert_eq!(indices.len(), 128 + 24);
    assert!(
        indices[10..].starts_with(b"{'descr': '<i8', 'fortran_order': False, 'shape': (3,), }")
    );
    // Nothing else is left behind.
    assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 3);
}

/// Found by fuzzing: a parser that tried each bracket twice took half a minute.
#[test]
fn an_npy_header_of_open_brackets_is_refused_at_once() {
    let text =
        format!("{{'descr': '<f4', 'fortran_order': False, 'shape': (0, 3), {}", "{".repeat(14));
    let mut file = b"\x93NUMPY\x01\x00".to_vec();
    file.extend((text.len() as u16).to_le_bytes());
    file.extend(text.as_bytes());
    let options = farpoint_io::ReadOptions::default().format(farpoint_io::Format::Npy);
    let error = farpoint_io::read_bytes(&file, "brackets.npy", &options).unwrap_err();
    assert!(matches!(error, Error::Malformed { format: Format::Npy, .. }), "{error}");
}
