//! Files written in the input's format come back bit for bit, attributes and header included. (From one format into
//! another: `readers/matrix.py` of the command line's tests.)

use crate::cases::random;
use farpoint_io::{
    Cloud, Column, Coordinates, Encoding, Format, NumberType, ReadOptions, WriteOptions,
    read_bytes, write_bytes,
};
use proptest::prelude::*;

fn to(format: Format) -> WriteOptions {
    WriteOptions::default().format(format)
}

fn encoded(format: Format, encoding: Encoding) -> WriteOptions {
    WriteOptions::default().format(format).encoding(encoding)
}

fn open(bytes: &[u8], name: &str) -> Cloud {
    read_bytes(bytes, name, &ReadOptions::default()).unwrap_or_else(|e| panic!("{e}"))
}

fn written(cloud: &Cloud, rows: &[usize], options: &WriteOptions) -> Vec<u8> {
    write_bytes(cloud, rows, options).unwrap_or_else(|e| panic!("{e}")).0
}

/// A cloud with an attribute of every type.
fn rich(points: &[[f32; 3]]) -> Cloud {
    let n = points.len();
    let mut cloud = Cloud::new(Coordinates::F32(points.to_vec()));
    let seed =
        |i: usize, k: u64| (i as u64 + 1).wrapping_mul(0x9E37_79B9_7F4A_7C15).rotate_left(k as u32);
    cloud.add_column("i8", Column::I8((0..n).map(|i| seed(i, 1) as i8).collect()));
    cloud.add_column("u8", Column::U8((0..n).map(|i| seed(i, 2) as u8).collect()));
    cloud.add_column("i16", Column::I16((0..n).map(|i| seed(i, 3) as i16).collect()));
    cloud.add_column("u16", Column::U16((0..n).map(|i| seed(i, 4) as u16).collect()));
    cloud.add_column("i32", Column::I32((0..n).map(|i| seed(i, 5) as i32).collect()));
    cloud.add_column("u32", Column::U32((0..n).map(|i| seed(i, 6) as u32).collect()));
    cloud.add_column(
        "f32",
        Column::F32((0..n).map(|i| f32::from_bits(seed(i, 7) as u32)).collect()),
    );
    cloud.add_column("f64", Column::F64((0..n).map(|i| f64::from_bits(seed(i, 8))).collect()));
    cloud
}

fn some_points() -> Vec<[f32; 3]> {
    (0..20).map(|i| [i as f32 * 0.3, -(i as f32), 1e-7 * i as f32]).collect()
}

/// Returns every writable file this crate can make of a cloud, with a name.
fn files(cloud: &Cloud, rows: &[usize]) -> Vec<(&'static str, Vec<u8>)> {
    vec![
        ("a.ply", written(cloud, rows, &encoded(Format::Ply, Encoding::Ascii))),
        ("b.ply", written(cloud, rows, &encoded(Format::Ply, Encoding::Binary))),
        ("c.ply", written(cloud, rows, &encoded(Format::Ply, Encoding::BinaryBigEndian))),
        ("a.pcd", written(cloud, rows, &encoded(Format::Pcd, Encoding::Ascii))),
        ("b.pcd", written(cloud, rows, &encoded(Format::Pcd, Encoding::Binary))),
        ("c.pcd", written(cloud, rows, &encoded(Format::Pcd, Encoding::BinaryCompressed))),
        ("a.las", written(cloud, rows, &to(Format::Las))),
        ("a.laz", written(cloud, rows, &to(Format::Laz))),
        ("a.npy", written(cloud, rows, &to(Format::Npy))),
        ("a.txt", written(cloud, rows, &to(Format::Text))),
    ]
}

#[test]
fn all_rows_written_back_are_the_same_file() {
    let cloud = rich(&some_points());
    let all: Vec<usize> = (0..cloud.len()).collect();
    for (name, bytes) in files(&cloud, &all) {
        let read = open(&bytes, name);
        assert_eq!(read.len(), all.len(), "{name}");
        assert!(written(&read, &all, &WriteOptions::default()) == bytes, "{name}");
    }
}

#[test]
fn rows_keep_the_given_order_and_may_repeat() {
    let cloud = rich(&some_points());
    let all: Vec<usize> = (0..cloud.len()).collect();
    let rows = [7, 3, 3, 19, 0];
    for (name, bytes) in files(&cloud, &all) {
        let read = open(&bytes, name);
        let some = open(&written(&read, &rows, &WriteOptions::default()), name);
        for (i, &row) in rows.iter().enumerate() {
            assert_eq!(some.coordinates().get(i), read.coordinates().get(row), "{name}");
        }
        // The same rows straight from memory and by way of the file.
        let npy = |cloud: &Cloud, rows: &[usize]| written(cloud, rows, &to(Format::Npy));
        assert!(npy(&some, &[0, 1, 2, 3, 4]) == npy(&read, &rows), "{name}");
    }
}

#[test]
fn typed_formats_keep_every_type() {
    let cloud = rich(&some_points());
    let all: Vec<usize> = (0..cloud.len()).collect();
    for (name, bytes) in files(&cloud, &all).into_iter().filter(|(name, _)| !name.ends_with("txt"))
    {
        let fields = open(&bytes, name).fields();
        for kind in [
            NumberType::I8,
            NumberType::U8,
            NumberType::I16,
            NumberType::U16,
            NumberType::I32,
            NumberType::U32,
            NumberType::F32,
            NumberType::F64,
        ] {
            let field = fields.iter().find(|f| f.name == kind.name());
            assert_eq!(field.map(|f| f.kind), Some(kind), "{name}");
        }
    }
}

#[test]
fn an_added_column_is_written_by_every_format() {
    let cloud = rich(&some_points());
    let all: Vec<usize> = (0..cloud.len()).collect();
    for (name, bytes) in files(&cloud, &all) {
        let mut read = open(&bytes, name);
        let spacing: Vec<f64> = all.iter().map(|&i| 0.1 * i as f64).collect();
        read.add_column("spacing", Column::F64(spacing.clone()));
        let again = open(&written(&read, &[4, 2], &WriteOptions::default()), name);
        assert!(again.fields().iter().any(|f| f.name == "spacing"), "{name}: {:?}", again.fields());
        let text = written(&again, &[0, 1], &to(Format::Text));
        let text = String::from_utf8(text).unwrap();
        let last: Vec<f64> = text
            .lines()
            .filter(|l| !l.starts_with('#'))
            .map(|l| l.split(' ').next_back().unwrap().parse().unwrap())
            .collect();
        assert_eq!(last, [spacing[4], spacing[2]], "{name}");
    }
}

#[test]
fn a_name_that_is_taken_gets_a_number() {
    let mut cloud = Cloud::new(Coordinates::F64(vec![[0.0; 3]]));
    cloud.add_column("spacing", Column::F32(vec![1.0]));
    cloud.add_column("spacing", Column::F32(vec![2.0]));
    let names: Vec<String> = cloud.fields().into_iter().map(|f| f.name).collect();
    assert_eq!(names, ["x", "y", "z", "spacing", "spacing_2"]);
}

#[test]
fn ply_keeps_comments_lists_and_its_line_ends() {
    let head = "ply\r\nformat ascii 1.0\r\ncomment made by hand\r\nobj_info keep me\r\n";
    let text = format!(
        "{head}element vertex 3\r\nproperty double x\r\nproperty list uchar int near\r\nproperty double y\r\n\
         property double z\r\nelement face 1\r\nproperty list uchar int vertex_indices\r\nend_header\r\n\
         0.10 0 1 2\r\n3 2 7 8 4 nan\r\n5 1 9 6 7\r\n3 0 1 2\r\n"
    );
    let cloud = open(text.as_bytes(), "a.ply");
    assert_eq!(cloud.coordinates().get(2), [5.0, 6.0, 7.0]);
    assert!(cloud.coordinates().get(1)[2].is_nan());
    assert_eq!(cloud.warnings().len(), 1);
    let out = String::from_utf8(written(&cloud, &[2, 0], &WriteOptions::default())).unwrap();
    assert!(out.starts_with(&format!("{head}element vertex 2\r\n")), "{out}");
    assert!(out.ends_with("end_header\r\n5 1 9 6 7\r\n0.10 0 1 2\r\n"), "{out}");
    assert!(!out.contains("face"));
}

#[test]
fn binary_ply_with_lists_keeps_its_rows() {
    let head = b"ply\nformat binary_big_endian 1.0\nelement other 2\nproperty list uchar short v\nelement vertex 2\n\
        property list ushort uchar bytes\nproperty float x\nproperty float y\nproperty float z\nend_header\n";
    let mut bytes = head.to_vec();
    bytes.extend([1, 0, 5, 0]);
    let row = |list: &[u8], x: f32| {
        let mut row = (list.len() as u16).to_be_bytes().to_vec();
        row.extend_from_slice(list);
        [x, 2.0, 3.0].iter().for_each(|v: &f32| row.extend(v.to_be_bytes()));
        row
    };
    let rows = [row(&[9, 8, 7], 1.5), row(&[], -2.0)];
    bytes.extend(rows.concat());
    let cloud = open(&bytes, "a.ply");
    assert_eq!(cloud.coordinates(), &Coordinates::F32(vec![[1.5, 2.0, 3.0], [-2.0, 2.0, 3.0]]));
    let out = written(&cloud, &[1, 0], &WriteOptions::default());
    assert!(out.ends_with(&[rows[1].clone(), rows[0].clone()].concat()));
}

#[test]
fn pcd_keeps_viewpoint_padding_and_becomes_unorganized() {
    let text = "# .PCD v.7 - Point Cloud Data file format\nVERSION .7\nFIELDS x y z _ normal\nSIZE 4 4 4 1 4\n\
        TYPE F F F U F\nCOUNT 1 1 1 4 3\nWIDTH 2\nHEIGHT 2\nVIEWPOINT 1 2 3 1 0 0 0\nPOINTS 4\nDATA ascii\n\
        1 2 3 0 0 0 0 .1 .2 .3\nnan nan nan 0 0 0 0 0 0 1\n4 5 6 0 1 2 3 1 0 0\n7 8 9 0 0 0 0 0 1 0\n";
    let cloud = open(text.as_bytes(), "a.pcd");
    assert_eq!(cloud.description(), "PCD ascii, organized 2 x 2");
    assert!(cloud.coordinates().get(1)[0].is_nan());
    let out = String::from_utf8(written(&cloud, &[2, 0], &WriteOptions::default())).unwrap();
    for line in ["WIDTH 2\nHEIGHT 1\nVIEWPOINT 1 2 3 1 0 0 0\nPOINTS 2\n", "COUNT 1 1 1 4 3\n"] {
        assert!(out.contains(line), "{out}");
    }
    assert!(out.ends_with("4 5 6 0 1 2 3 1 0 0\n1 2 3 0 0 0 0 .1 .2 .3\n"), "{out}");
    let binary = written(&cloud, &[2, 0], &encoded(Format::Pcd, Encoding::Binary));
    let again = open(&binary, "a.pcd");
    assert_eq!(again.coordinates().get(1), [1.0, 2.0, 3.0]);
    assert!(again.fields().iter().any(|f| f.name == "normal_2"));
}

#[test]
fn text_keeps_lines_header_and_count() {
    for (name, text, expected) in [
        (
            "a.csv",
            "x, y, z, Point Name\n1, 2, 3, \"a b\"\n4,5,6,\n",
            "x, y, z, Point Name\n4,5,6,\n1, 2, 3, \"a b\"\n",
        ),
        ("a.pts", "2\n1 2 3 -9\n4  5 6 8\n", "2\n4  5 6 8\n1 2 3 -9\n"),
        ("a.txt", "//X;Y;Z;I\r\n1;2;3;4\r\n4;5;6;7\r\n", "//X;Y;Z;I\r\n4;5;6;7\r\n1;2;3;4\r\n"),
        (
            "a.xyz",
            "# made by hand\n\n1e0\t2\t3\n4.00 5 6",
            "# made by hand\n\n4.00 5 6\n1e0\t2\t3\n",
        ),
        ("a.asc", "1, 2 3\n4 5, 6\n", "4 5, 6\n1, 2 3\n"),
    ] {
        let cloud = open(text.as_bytes(), name);
        let out = String::from_utf8(written(&cloud, &[1, 0], &WriteOptions::default())).unwrap();
        assert_eq!(out, expected);
        assert_eq!(cloud.coordinates(), &Coordinates::F64(vec![[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]]));
    }
}

#[test]
fn text_columns_are_found_by_name_and_get_types() {
    let named = open(b"name x y z\nfoo 1 2 3\nb 4 5 6\n", "a.txt");
    assert_eq!(named.coordinates().get(1), [4.0, 5.0, 6.0]);
    let text = "id,Z,Y,X,red\n7,3,2,1,255\n8,6,5,4,0\n";
    let cloud = open(text.as_bytes(), "a.csv");
    assert_eq!(cloud.coordinates(), &Coordinates::F64(vec![[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]]));
    let ply = written(&cloud, &[0, 1], &to(Format::Ply));
    let fields = open(&ply, "a.ply").fields();
    let kind = |name: &str| fields.iter().find(|f| f.name == name).map(|f| f.kind);
    assert_eq!((kind("id"), kind("red")), (Some(NumberType::I32), Some(NumberType::U8)));
}

#[test]
fn npy_keeps_byte_order_type_and_columns() {
    let header = |descr: &str, order: &str, shape: &str| {
        let mut text =
            format!("{{'descr': {descr}, 'fortran_order': {order}, 'shape': {shape}, }}");
        while (text.len() + 11) % 64 != 0 {
            text.push(' ');
        }
        text.push('\n');
        [b"\x93NUMPY\x01\x00", &(text.len() as u16).to_le_bytes()[..], text.as_bytes()].concat()
    };
    // Big-endian int16, columns first.
    let values: Vec<u8> =
        [1i16, 5, 2, 6, 3, 7, 4, 8].iter().flat_map(|v| v.to_be_bytes()).collect();
    let cloud = open(&[header("'>i2'", "True", "(2, 4)"), values].concat(), "a.npy");
    assert_eq!(cloud.coordinates(), &Coordinates::F64(vec![[1.0, 2.0, 3.0], [5.0, 6.0, 7.0]]));
    let expected: Vec<u8> = [5i16, 6, 7, 8].iter().flat_map(|v| v.to_be_bytes()).collect();
    let out = written(&cloud, &[1], &WriteOptions::default());
    assert_eq!(out, [header("'>i2'", "False", "(1, 4)"), expected].concat());
    // Half precision is widened, which is exact.
    let halves: Vec<u8> =
        [0x3C00u16, 0xC000, 0x0001].iter().flat_map(|v| v.to_le_bytes()).collect();
    let cloud = open(&[header("'<f2'", "False", "(1, 3)"), halves].concat(), "a.npy");
    assert_eq!(cloud.coordinates(), &Coordinates::F32(vec![[1.0, -2.0, 2f32.powi(-24)]]));
    // A structured array keeps its names, and gets one more for an added column.
    let descr = "[('tag', '|S2'), ('X', '<f4'), ('Y', '<f4'), ('Z', '<f4'), ]";
    let row = [b"ab", &1f32.to_le_bytes()[..], &2f32.to_le_bytes(), &3f32.to_le_bytes()].concat();
    let mut cloud = open(&[header(descr, "False", "(1,)"), row.clone()].concat(), "a.npy");
    assert_eq!(
        written(&cloud, &[0], &WriteOptions::default()),
        [header(descr, "False", "(1,)"), row].concat()
    );
    cloud.add_column("spacing", Column::F32(vec![0.5]));
    let out = written(&cloud, &[0], &WriteOptions::default());
    assert!(String::from_utf8_lossy(&out).contains("('spacing', '<f4')"));
}

#[test]
fn las_counts_and_bounds_follow_the_kept_points() {
    let points = vec![[0.0, 0.0, 0.0], [1.0, 2.0, 3.0], [10.0, -20.0, 30.0]];
    let cloud = Cloud::new(Coordinates::F64(points));
    let cloud = open(&written(&cloud, &[0, 1, 2], &to(Format::Las)), "a.las");
    for format in [Format::Las, Format::Laz] {
        let bytes = written(&cloud, &[0, 1], &to(format));
        let header = las::raw::Header::read_from(&bytes[..]).unwrap();
        let large = header.large_file.unwrap();
        assert_eq!(large.number_of_point_records, 2);
        assert_eq!(large.number_of_points_by_return[0], 2);
        assert_eq!([header.max_x, header.max_y, header.max_z], [1.0, 2.0, 3.0]);
        assert_eq!([header.min_x, header.min_y, header.min_z], [0.0, 0.0, 0.0]);
        assert_eq!(open(&bytes, "a.las").len(), 2);
    }
}

#[test]
fn integers_of_64_bits_are_kept_or_warned_of() {
    let mut cloud = Cloud::new(Coordinates::F64(vec![[0.1, 0.2, 1.0 / 3.0], [1e3, 0.0, 0.0]]));
    cloud.add_column("id", Column::I64(vec![i64::MAX, 1]));
    let warnings = |format| write_bytes(&cloud, &[0, 1], &to(format)).unwrap().1;
    assert!(warnings(Format::Ply)[0].contains("'id'"));
    for format in [Format::Npy, Format::Pcd, Format::Text] {
        assert_eq!(warnings(format), [""; 0], "{format}");
    }
}

proptest! {
    #![proptest_config(random(256))]

    #[test]
    fn any_cloud_comes_back(
        bits in prop::collection::vec(any::<[u32; 3]>(), 0..30),
        picks in prop::collection::vec(any::<prop::sample::Index>(), 0..10),
    ) {
        let points: Vec<[f32; 3]> = bits.iter().map(|b| b.map(f32::from_bits)).collect();
        let cloud = rich(&points);
        let rows: Vec<usize> = match points.is_empty() {
            true => Vec::new(),
            false => picks.iter().map(|p| p.index(points.len())).collect(),
        };
        for (format, encoding) in [
            (Format::Ply, Encoding::Binary),
            (Format::Ply, Encoding::BinaryBigEndian),
            (Format::Pcd, Encoding::Binary),
            (Format::Pcd, Encoding::BinaryCompressed),
            (Format::Npy, Encoding::Binary),
        ] {
            let bytes = written(&cloud, &rows, &encoded(format, encoding));
            let Coordinates::F32(back) = open(&bytes, format.extensions()[0]).coordinates().clone() else {
                panic!("{format} changed the precision");
            };
            let back: Vec<[u32; 3]> = back.iter().map(|p| p.map(f32::to_bits)).collect();
            let expected: Vec<[u32; 3]> = rows.iter().map(|&r| bits[r]).collect();
            prop_assert_eq!(back, expected);
        }
    }

    #[test]
    fn any_finite_cloud_comes_back_from_text(
        points in prop::collection::vec(any::<[f32; 3]>(), 1..20),
    ) {
        prop_assume!(points.iter().flatten().all(|v| v.is_finite()));
        let cloud = Cloud::new(Coordinates::F32(points.clone()));
        let rows: Vec<usize> = (0..points.len()).collect();
        for options in [encoded(Format::Ply, Encoding::Ascii), encoded(Format::Pcd, Encoding::Ascii)] {
            let back = open(&written(&cloud, &rows, &options), "a");
            prop_assert_eq!(back.coordinates(), &Coordinates::F32(points.clone()));
        }
        // Text is read as f64, of which the f32 is the nearest.
        let back = open(&written(&cloud, &rows, &to(Format::Text)), "a.xyz");
        for (i, p) in points.iter().enumerate() {
            prop_assert_eq!(back.coordinates().get(i).map(|v| v as f32), *p);
        }
    }
}
