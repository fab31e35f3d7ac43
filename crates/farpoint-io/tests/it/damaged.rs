//! Files that are damaged, odd or from elsewhere give an error or a warning, never a wrong cloud without a word, and
//! nothing in them acts on a terminal or breaks an output.

use farpoint_io::{
    Cloud, Column, Coordinates, Copc, Error, Format, ReadOptions, Reader, WriteOptions,
    check_output, read, read_bytes, write, write_bytes,
};

fn open(bytes: &[u8], name: &str) -> Result<Cloud, Error> {
    read_bytes(bytes, name, &ReadOptions::default())
}

fn refused(bytes: &[u8], name: &str) -> String {
    open(bytes, name).unwrap_err().to_string()
}

fn two() -> Cloud {
    Cloud::new(Coordinates::F64(vec![[1.0, 2.0, 3.0], [4.0, 5.0, 6.5]]))
}

fn as_format(cloud: &Cloud, format: Format) -> Result<(Vec<u8>, Vec<String>), Error> {
    let rows: Vec<usize> = (0..cloud.len()).collect();
    write_bytes(cloud, &rows, &WriteOptions::default().format(format))
}

/// LAZ whose coordinate system has these three bytes in its name.
fn with_name(three: &[u8]) -> Vec<u8> {
    let wkt = r#"GEOGCS["W#S",UNIT["degree",0.0174532925199433]]"#.replace('#', "@@@");
    let levels = Copc::new([f64::INFINITY, 1.0]).wkt(wkt);
    let options = WriteOptions::default().format(Format::Laz).copc(levels);
    let (mut bytes, _) = write_bytes(&two(), &[0, 1], &options).unwrap();
    let at = bytes.windows(3).position(|w| w == b"@@@").unwrap();
    bytes[at..at + 3].copy_from_slice(three);
    bytes
}

#[test]
fn las_states_farpoint_and_no_date() {
    let software = concat!("farpoint ", env!("CARGO_PKG_VERSION"), "\0").as_bytes();
    let (mut bytes, _) = as_format(&two(), Format::Las).unwrap();
    assert!(bytes[58..90].starts_with(software));
    bytes[58..90].copy_from_slice(b"PDAL 2.7.1 (Releas)\0\0\0\0\0\0\0\0\0\0\0\0\0");
    bytes[90..94].copy_from_slice(&[17, 0, 0xE8, 7]);
    let cloud = open(&bytes, "a.las").unwrap();
    let copc = WriteOptions::default().format(Format::Laz).copc(Copc::new([f64::INFINITY, 1.0]));
    for options in [
        WriteOptions::default().format(Format::Las),
        WriteOptions::default().format(Format::Laz),
        copc,
    ] {
        let (bytes, _) = write_bytes(&cloud, &[0, 1], &options).unwrap();
        assert!(bytes[58..90].starts_with(software), "{:?}", &bytes[58..90]);
        assert_eq!(bytes[90..94], [0; 4]);
    }
}

#[test]
fn e57_leaves_out_a_coordinate_system_that_xml_cannot_hold() {
    for bad in [&b"a\0b"[..], b"a\x1bb", "\u{fffe}".as_bytes(), b"]]>"] {
        let las = open(&with_name(bad), "a.laz").unwrap();
        let (bytes, warnings) = as_format(&las, Format::E57).unwrap();
        assert!(warnings.iter().any(|w| w.contains("coordinate system")), "{bad:?}: {warnings:?}");
        let back = open(&bytes, "a.e57").unwrap();
        assert_eq!((back.len(), back.crs()), (2, None), "{bad:?}");
    }
    let las = open(&with_name(b"a<b"), "a.laz").unwrap();
    let (bytes, warnings) = as_format(&las, Format::E57).unwrap();
    assert_eq!(warnings, [""; 0]);
    assert_eq!(open(&bytes, "a.e57").unwrap().crs(), las.crs());
}

#[test]
fn copc_refuses_a_coordinate_system_with_control_characters() {
    let levels = Copc::new([f64::INFINITY, 1.0]).wkt("GEOGCS[\"a\0b\"]".to_owned());
    let options = WriteOptions::default().format(Format::Laz).copc(levels);
    assert!(write_bytes(&two(), &[0, 1], &options).is_err());
}

#[test]
fn errors_are_one_line_on_which_nothing_acts() {
    let name = "a\x1b[31m\n.ply";
    let error = refused(b"ply\nformat \x1b]0;x\x07\nend_header\n", name);
    assert!(!error.contains(char::is_control), "{error:?}");
    assert!(error.starts_with("a\\u{1b}[31m .ply: PLY, line 2"), "{error:?}");
    let (mut bytes, _) = as_format(&two(), Format::E57).unwrap();
    // The checksum of the page is wrong then, or the text that it holds.
    let at = bytes.windows(8).position(|w| w == b"ASTM E57").unwrap();
    bytes[at..at + 8].copy_from_slice(b"\n\n\x1b\n\n\n\n\n");
    let error = refused(&bytes, "a.e57");
    assert!(!error.contains(char::is_control), "{error:?}");
}

#[test]
fn lines_without_end_are_refused() {
    let line = "1 ".repeat(9 << 20);
    for name in ["a.xyz", "a.csv", "a.pts", "a.obj", "a.off", "a.ptx"] {
        let error = refused(line.as_bytes(), name);
        assert!(
            error.contains("longer than 16 MiB") && error.contains("byte 0"),
            "{name}: {error}"
        );
    }
    let later = format!("1 2 3\n{line}\n");
    assert!(refused(later.as_bytes(), "a.xyz").contains("byte 6"));
    let vertex =
        "element vertex 1\nproperty float x\nproperty float y\nproperty float z\nend_header\n";
    let ascii = "ply\nformat ascii 1.0\n";
    assert!(refused(format!("{ascii}{vertex}{line}").as_bytes(), "a.ply").contains("16 MiB"));
    let header = refused(format!("{ascii}comment {line}\n{vertex}1 2 3\n").as_bytes(), "a.ply");
    assert!(header.contains("end_header"), "{header}");
    let pcd = "VERSION .7\nFIELDS x y z\nSIZE 4 4 4\nTYPE F F F\nCOUNT 1 1 1\nWIDTH 1\nHEIGHT 1\n\
               POINTS 1\nDATA ascii\n";
    assert!(refused(format!("{pcd}{line}").as_bytes(), "a.pcd").contains("16 MiB"));
    let comment = pcd.replacen("FIELDS", &format!("# {line}\nFIELDS"), 1);
    assert!(refused(format!("{comment}1 2 3\n").as_bytes(), "a.pcd").contains("DATA"));
}

/// Twenty thousand columns and more: none of the formats takes the square of their number.
#[test]
fn thousands_of_columns_go_from_format_to_format() {
    const COLUMNS: usize = 20_003;
    let names: Vec<String> = (3..COLUMNS).map(|k| format!("c{k}")).collect();
    let row = |first: usize| -> String {
        let values: Vec<String> = (0..COLUMNS).map(|k| (first + k).to_string()).collect();
        values.join(",")
    };
    let text = format!("x,y,z,{}\n{}\n{}\n", names.join(","), row(0), row(7));
    let mut cloud = open(text.as_bytes(), "a.csv").unwrap();
    for format in [Format::Ply, Format::Pcd, Format::Npy, Format::Text] {
        let (bytes, warnings) = as_format(&cloud, format).unwrap();
        assert_eq!(warnings, [""; 0], "{format}");
        let name = format!("a.{}", format.extensions()[0]);
        cloud = open(&bytes, &name).unwrap();
        assert_eq!(cloud.fields().len(), COLUMNS, "{format}");
        let last = cloud.column(&format!("c{}", COLUMNS - 1)).unwrap();
        assert_eq!((last.get(0), last.get(1)), (20_002.0, 20_009.0), "{format}");
    }
    let options =
        WriteOptions::default().format(Format::Ply).encoding(farpoint_io::Encoding::Ascii);
    let (bytes, _) = write_bytes(&cloud, &[0, 1], &options).unwrap();
    let ascii = open(&bytes, "a.ply").unwrap();
    assert_eq!(ascii.column("c20002").unwrap().get(1), 20_009.0);
    let (bytes, _) = as_format(&ascii, Format::Npy).unwrap();
    assert_eq!(open(&bytes, "a.npy").unwrap().column("c20002").unwrap().get(1), 20_009.0);
}

#[test]
fn columns_that_a_format_has_no_room_for_are_refused() {
    let with = |columns: usize, column: Column| {
        let mut cloud = two();
        for k in 0..columns {
            cloud.add_column(&format!("c{k}"), column.clone());
        }
        cloud
    };
    // Eight bytes a value and three of a packet, which has 64 KiB.
    let doubles = Column::F64(vec![1.0, 2.5]);
    let (bytes, _) = as_format(&with(3000, doubles.clone()), Format::E57).unwrap();
    assert_eq!(open(&bytes, "a.e57").unwrap().column("c2999"), Some(doubles.clone()));
    let error = as_format(&with(6000, doubles), Format::E57).unwrap_err().to_string();
    assert!(error.contains("6004 columns") && error.contains("NPY"), "{error}");
    let bytes = Column::U8(vec![1, 2]);
    assert!(as_format(&with(341, bytes.clone()), Format::Las).is_ok());
    let error = as_format(&with(342, bytes), Format::Las).unwrap_err().to_string();
    assert!(error.contains("342 extra dimensions") && error.contains("341"), "{error}");
}

#[test]
fn texts_of_old_systems_end_lines_with_carriage_returns() {
    let expected = open(b"1 2 3\n4 5 6\n7 8 9\n", "a.xyz").unwrap();
    let returns = b"1 2 3\r4 5 6\r7 8 9\r";
    for name in ["a.xyz", "a", "a.txt"] {
        assert_eq!(open(returns, name).unwrap().coordinates(), expected.coordinates(), "{name}");
    }
    let csv = open(b"x,y,z,v\r1,2,3,4\r4,5,6,7\r", "a.csv").unwrap();
    assert_eq!((csv.len(), csv.column("v").unwrap().get(1)), (2, 7.0));
    assert_eq!(open(b"v 1 2 3\rv 4 5 6\r", "a.obj").unwrap().len(), 2);
    assert_eq!(open(b"v 1 2 3\rv 4 5 6\nv 7 8 9\r\n", "a.obj").unwrap().len(), 3);
    assert_eq!(open(b"OFF\r2 0 0\r0 0 0\r1 1 1\r", "a.off").unwrap().len(), 2);
    let (bytes, warnings) = as_format(&open(returns, "a.xyz").unwrap(), Format::Text).unwrap();
    assert_eq!((&bytes[..], warnings.len()), (&b"1 2 3\n4 5 6\n7 8 9\n"[..], 0));
    // If both kinds of ends occur, that of a line cannot be distinguished from a space.
    for mixed in [&b"1 2 3\r4 5 6\n7 8 9\n"[..], b"7 8 9\n1 2 3\r4 5 6\n"] {
        let error = refused(mixed, "a.xyz");
        assert!(error.contains("carriage return") && error.contains("line "), "{error}");
    }
    assert_eq!(open(b"1 2 3\r\n4 5 6\r\r\n", "a.xyz").unwrap().len(), 2);
    // Two numbers after a carriage return are no point, until a third is added.
    let mut cloud = open(b"1 2 3 4 5\n6 7 8\r9 10\n", "a.xyz").unwrap();
    cloud.add_column("spacing", Column::F32(vec![0.5; 2]));
    let (bytes, warnings) = as_format(&cloud, Format::Text).unwrap();
    assert_eq!(open(&bytes, "a.xyz").unwrap().coordinates(), cloud.coordinates());
    assert_eq!(warnings.len(), 1, "{warnings:?}");
}

#[test]
fn through_the_disk_carriage_returns_are_no_other_points() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("a.xyz");
    let opened = |bytes: &[u8]| {
        std::fs::write(&path, bytes).unwrap();
        Reader::open(&path, &ReadOptions::default(), Some(1))
    };
    let error = opened(b"1 2 3\r4 5 6\r").unwrap_err();
    assert!(matches!(error, Error::NotInParts { .. }), "{error}");
    let reader = opened(b"7 8 9\n1 2 3\r4 5 6\n").unwrap();
    let read = (0..reader.parts()).try_for_each(|part| reader.read(part)?.coordinates().map(drop));
    assert!(read.unwrap_err().to_string().contains("carriage return"));
}

const LISTS: &str = "ply\nformat ascii 1.0\nelement vertex 2\nproperty float x\nproperty float y\n\
                     property float z\nproperty list uchar int seen\nproperty float w\nend_header\n";

#[test]
fn lists_of_ascii_ply_are_as_long_as_they_say() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("a.ply");
    let good = format!("{LISTS}1 2 3 2 8 9 0.5\n4 5 6 0 1.5\n");
    assert_eq!(open(good.as_bytes(), "a.ply").unwrap().len(), 2);
    for line in ["1 2 3 5 8 9 0.5", "1 2 3 1 8 9 0.5", "1 2 3 2 8 9", "1 2 3 x 0.5", "1 2 3"] {
        let text = good.replacen("1 2 3 2 8 9 0.5", line, 1);
        let error = refused(text.as_bytes(), "a.ply");
        assert!(error.contains("line 10") && error.contains("'seen'"), "{line}: {error}");
        std::fs::write(&path, text).unwrap();
        let reader = Reader::open(&path, &ReadOptions::default(), Some(1)).unwrap();
        assert!(reader.read(0).is_err(), "{line}");
    }
}

#[test]
fn empty_files_are_errors_in_every_format() {
    let folder = tempfile::tempdir().unwrap();
    for format in Format::ALL {
        let path = folder.path().join(format!("a.{}", format.extensions()[0]));
        std::fs::write(&path, "").unwrap();
        for options in [ReadOptions::default(), ReadOptions::default().format(format)] {
            let error = read(&path, &options).unwrap_err().to_string();
            assert!(error.contains("empty") && error.contains("; "), "{error}");
            let error = Reader::open(&path, &options, Some(100)).unwrap_err().to_string();
            assert!(error.contains("empty"), "{error}");
        }
    }
    // The output of no points is no empty file, so that it can be read again.
    let (bytes, _) =
        write_bytes(&two(), &[], &WriteOptions::default().format(Format::Text)).unwrap();
    assert_eq!(bytes, b"# x y z\n");
    let text_cloud = open(b"1 2 3\n", "a.xyz").unwrap();
    assert_eq!(write_bytes(&text_cloud, &[], &WriteOptions::default()).unwrap().0, b"# x y z\n");
}

#[test]
fn raw_output_names_the_alternatives() {
    let cloud = Cloud::new(Coordinates::F64(vec![[637_012.345, 849_000.5, 0.1], [0.1, 0.2, 0.3]]));
    let (_, warnings) = as_format(&cloud, Format::Raw).unwrap();
    let rounded = warnings.iter().find(|w| w.contains("rounded")).unwrap();
    assert!(rounded.contains("NPY") && !rounded.contains("`precision"), "{rounded}");
}

#[test]
fn read_only_files_are_not_replaced() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("a.ply");
    std::fs::write(&path, "precious").unwrap();
    let mut permissions = std::fs::metadata(&path).unwrap().permissions();
    permissions.set_readonly(true);
    std::fs::set_permissions(&path, permissions).unwrap();
    let options = WriteOptions::default();
    for error in [
        check_output(&path, &[], &options).unwrap_err(),
        write(&path, &two(), &[0], &options).unwrap_err(),
    ] {
        assert!(error.to_string().contains("read-only"), "{error}");
    }
    assert_eq!(std::fs::read(&path).unwrap(), b"precious");
    assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 1);
}
