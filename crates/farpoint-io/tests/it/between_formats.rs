//! From one format into another, cases that the tests of the command line (`readers/matrix.py`, where other software
//! reads the files) do not cover: a precision, scale or style that is set, decimals of text, and fields of LAS that
//! do not hold the values.

use farpoint_io::{
    Cloud, Column, Coordinates, Error, Format, Precision, ReadOptions, TextStyle, WriteOptions,
    read_bytes, write_bytes,
};

/// A place on a map, in units of a centimeter.
const MAP: [[f64; 3]; 3] = [
    [637_012.34, 849_000.5, 406.26],
    [637_179.25, 849_497.75, 520.5],
    [637_100.01, 849_001.0, 500.0],
];

fn to(format: Format) -> WriteOptions {
    WriteOptions::default().format(format)
}

/// Writes all rows and reads them again.
fn through(cloud: &Cloud, options: &WriteOptions) -> (Cloud, Vec<String>) {
    let rows: Vec<usize> = (0..cloud.len()).collect();
    let (bytes, warnings) = write_bytes(cloud, &rows, options).unwrap();
    (read_bytes(&bytes, "file", &ReadOptions::default()).unwrap(), warnings)
}

/// The values of an attribute, as text shows them.
fn values(cloud: &Cloud, name: &str) -> Column {
    let field = cloud.fields().iter().position(|field| field.name == name);
    assert!(field.is_some(), "no {name} in {:?}", cloud.fields());
    let rows: Vec<usize> = (0..cloud.len()).collect();
    let (bytes, _) = write_bytes(cloud, &rows, &to(Format::Text)).unwrap();
    let text = String::from_utf8(bytes).unwrap();
    let mut lines = text.lines();
    let names: Vec<&str> = lines.next().unwrap().trim_start_matches("# ").split(' ').collect();
    let place = names.iter().position(|candidate| *candidate == name).unwrap();
    let of = |line: &str| line.split(' ').nth(place).unwrap().parse::<f64>().unwrap();
    Column::F64(lines.map(of).collect())
}

#[test]
fn ply_npy_and_pcd_have_the_requested_precision() {
    let cloud = Cloud::new(Coordinates::F64(MAP.to_vec()));
    let (back, warnings) = through(&cloud, &to(Format::Pcd).precision(Precision::Double));
    assert_eq!((back.coordinates(), warnings.len()), (cloud.coordinates(), 0));
    for format in [Format::Ply, Format::Npy] {
        let (double, warnings) = through(&cloud, &to(format));
        assert_eq!((double.coordinates(), warnings.len()), (cloud.coordinates(), 0));
        // Also where the input has the same format.
        let (single, warnings) = through(&double, &to(format).precision(Precision::Single));
        assert!(matches!(single.coordinates(), Coordinates::F32(_)), "{format}");
        assert_eq!(warnings.len(), 1, "{warnings:?}");
        let (wide, _) = through(&single, &to(format).precision(Precision::Double));
        assert!(matches!(wide.coordinates(), Coordinates::F64(_)), "{format}");
    }
}

#[test]
fn las_takes_the_step_of_the_numbers() {
    let cloud = Cloud::new(Coordinates::F64(MAP.to_vec()));
    let (back, warnings) = through(&cloud, &to(Format::Las));
    assert_eq!((back.scale(), warnings.len()), (Some([0.01; 3]), 0));
    let (coarse, warnings) = through(&cloud, &to(Format::Laz).scale(0.5));
    assert_eq!(coarse.scale(), Some([0.5; 3]));
    assert!(warnings[0].contains("multiples of 0.5"), "{warnings:?}");
    // An input of the same format is stored anew.
    let (coarse, _) = through(&back, &to(Format::Las).scale(0.25));
    assert_eq!(coarse.coordinates().get(0), [637_012.25, 849_000.5, 406.25]);
}

#[test]
fn text_shows_the_decimals_of_las() {
    let cloud =
        Cloud::new(Coordinates::F64(vec![[849_393.95, 0.1, -3.07], [849_393.96, 0.2, 7.0]]));
    let (las, _) = through(&cloud, &to(Format::Las));
    for style in [TextStyle::Spaces, TextStyle::Pts] {
        let (bytes, _) = write_bytes(&las, &[0], &to(Format::Text).style(style)).unwrap();
        let text = String::from_utf8(bytes).unwrap();
        assert!(text.lines().any(|line| line.starts_with("849393.95 0.1 -3.07")), "{text}");
    }
}

#[test]
fn a_scale_that_cannot_be_is_refused() {
    let cloud = Cloud::new(Coordinates::F64(MAP.to_vec()));
    let (las, _) = through(&cloud, &to(Format::Las));
    for scale in [1e-9, 0.0, f64::NAN] {
        for cloud in [&cloud, &las] {
            let error = write_bytes(cloud, &[0, 1, 2], &to(Format::Las).scale(scale)).unwrap_err();
            assert!(matches!(error, Error::Output { .. }), "{error}");
            assert!(error.to_string().contains(&scale.to_string()), "{error}");
        }
    }
}

#[test]
fn fields_of_las_that_do_not_hold_the_values_are_left_alone() {
    let mut cloud = Cloud::new(Coordinates::F32(vec![[0.0, 0.5, 1.0]; 2]));
    cloud.add_column("classification", Column::I32(vec![2, 300]));
    cloud.add_column("return_index", Column::U8(vec![0, 1]));
    cloud.add_column("Wavepacket_Index", Column::F32(vec![0.5, 1.5]));
    let (back, warnings) = through(&cloud, &to(Format::Laz));
    for (name, expected) in [
        ("original_classification", [2.0, 300.0]),
        ("classification", [0.0, 0.0]),
        ("return_number", [1.0, 2.0]),
        ("original_Wavepacket_Index", [0.5, 1.5]),
    ] {
        assert_eq!(values(&back, name), Column::F64(expected.to_vec()), "{name}");
    }
    assert_eq!(warnings.len(), 2, "{warnings:?}");
}
