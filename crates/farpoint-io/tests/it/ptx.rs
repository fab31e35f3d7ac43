//! PTX: scans with a place and a matrix each become one cloud in one frame.

use farpoint_io::{Cloud, Error, Format, ReadOptions, read_bytes};

const LEVEL: &str = "1 0 0 0\n0 1 0 0\n0 0 1 0\n0 0 0 1\n";

/// A scan of two columns and one row, with this matrix and these points.
fn scan(matrix: &str, points: &str) -> String {
    format!("2\n1\n7 8 9\n1 0 0\n0 1 0\n0 0 1\n{matrix}{points}")
}

fn open(text: &str, name: &str) -> Result<Cloud, Error> {
    read_bytes(text.as_bytes(), name, &ReadOptions::default())
}

#[test]
fn scans_are_moved_by_their_matrix() {
    // A quarter turn to the left, then a shift: the points are rows in front of the matrix.
    let turned = scan("0 1 0 0\n-1 0 0 0\n0 0 1 0\n100 200 300 1\n", "1 0 0 0.5\n0 2 0 0.25\n");
    let level = scan(LEVEL, "1 2 3 0.125\n0 0 0 0.5\n");
    let cloud = open(&format!("{turned}{level}"), "a.ptx").unwrap();
    assert_eq!((cloud.format(), cloud.len()), (Some(Format::Ptx), 4));
    assert_eq!(cloud.description(), "PTX, 2 scans");
    assert_eq!(cloud.coordinates().get(0), [100.0, 201.0, 300.0]);
    assert_eq!(cloud.coordinates().get(1), [98.0, 200.0, 300.0]);
    assert_eq!(cloud.coordinates().get(2), [1.0, 2.0, 3.0]);
    // A direction without an echo keeps its row.
    assert!(cloud.coordinates().get(3).iter().all(|v| v.is_nan()));
    assert!(cloud.warnings()[0].starts_with("2 scans"));
    assert!(cloud.warnings()[1].starts_with("1 directions"));
    let columns = cloud.fields().into_iter().map(|f| f.name).collect::<Vec<_>>();
    assert_eq!(columns, ["x", "y", "z", "intensity", "scan"]);
}

#[test]
fn colors_are_kept_and_the_content_decides() {
    let text = scan(LEVEL, "1 2 3 0.5 10 20 255\r\n0 0 0 0.5 0 0 0\r\n");
    for name in ["a.ptx", "a.txt", "a.pts", "unknown"] {
        let cloud = open(&text, name).unwrap();
        assert_eq!((cloud.format(), cloud.len()), (Some(Format::Ptx), 2), "{name}");
        let blue = cloud.fields().into_iter().find(|f| f.name == "blue").unwrap();
        assert_eq!(blue.kind, farpoint_io::NumberType::U8);
    }
    // Lines of points are no PTX.
    let points = "1 2 3\n".repeat(12);
    assert_eq!(open(&points, "unknown").unwrap().format(), Some(Format::Text));
}

#[test]
fn damage_is_found_with_its_line() {
    let good = scan(LEVEL, "1 2 3 0.5\n4 5 6 0.5\n");
    for (text, words) in [
        (good.replace("4 5 6 0.5\n", ""), "scan 0 declares 2"),
        (good.replace("4 5 6 0.5", "4 5 6"), "line 12"),
        (good.replace("4 5 6 0.5", "4 5 6 a"), "line 12"),
        (good.replace("7 8 9", "7 8"), "line 3"),
        (good.replace("2\n1\n7", "2000000000\n2000000000\n7"), "line 1"),
        (good.replace("2\n1\n7", "1000000000\n1000000000\n7"), "1000000000000000000"),
        (good.replace("2\n1\n7", "-2\n1\n7"), "line 1"),
        (format!("{good}2\n"), "ten lines"),
        ("\n".to_owned(), "ten lines"),
        (String::new(), "empty"),
    ] {
        let error = open(&text, "a.ptx").unwrap_err().to_string();
        assert!(error.contains(words) && error.contains("; "), "{error}");
    }
}
