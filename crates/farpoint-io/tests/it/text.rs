//! Text whose lines differ in separators or in their number of values: the output is read back with the same rows and
//! values, with lines kept if possible. Columns are found by their names, or as the caller states; if neither
//! decides, the file is refused.

use crate::cases::random;
use farpoint_io::{
    Cloud, Column, Coordinates, Format, ReadOptions, TextStyle, WriteOptions, read_bytes,
    write_bytes,
};
use proptest::prelude::*;

fn as_text() -> ReadOptions {
    ReadOptions::default().format(Format::Text)
}

fn open(bytes: &[u8]) -> Cloud {
    read_bytes(bytes, "a.txt", &as_text()).unwrap_or_else(|e| panic!("{e}"))
}

fn xyz(x: &str, y: &str, z: &str) -> [String; 3] {
    [x, y, z].map(str::to_owned)
}

/// Writes the rows as text and reads them again: the text, and whether there was a warning.
fn again(cloud: &Cloud, rows: &[usize]) -> (String, bool) {
    let (bytes, warnings) = write_bytes(cloud, rows, &WriteOptions::default()).unwrap();
    let text = String::from_utf8_lossy(&bytes).into_owned();
    let read = open(&bytes);
    assert_eq!(read.len(), rows.len(), "{text:?}");
    for (i, &row) in rows.iter().enumerate() {
        assert_eq!(
            read.coordinates().get(i),
            cloud.coordinates().get(row),
            "row {row} of {text:?}"
        );
    }
    (text, !warnings.is_empty())
}

fn with_spacing(mut cloud: Cloud) -> Cloud {
    cloud.add_column("spacing", Column::F32((0..cloud.len()).map(|i| i as f32).collect()));
    cloud
}

#[test]
fn a_name_added_to_a_header_makes_it_no_point() {
    // The header `,;2;3;4` with a name after it would be three numbers.
    let bytes = b"//X;Y;Z;I\r\n,;2;3;4\r\n4;;;67\r5\n";
    let cloud = read_bytes(bytes, "a.txt", &as_text().xyz(xyz("1", "2", "3"))).unwrap();
    assert_eq!(cloud.coordinates(), &Coordinates::F64(vec![[4.0, 67.0, 5.0]]));
    let (text, warned) = again(&with_spacing(cloud), &[0]);
    assert!(warned && text.ends_with("4 67 5 0\n"), "{text:?}");
}

#[test]
fn axes_are_not_those_of_a_shorter_line() {
    let cloud = open(b"# label x y z\n9 1 2 3\n8 4 5 6 7\n");
    assert_eq!(cloud.coordinates().get(1), [4.0, 5.0, 6.0]);
    let (text, warned) = again(&cloud, &[1, 0]);
    assert!(warned, "{text:?}");
    let (text, warned) = again(&cloud, &[0, 1]);
    assert!(!warned && text == "# label x y z\n9 1 2 3\n8 4 5 6 7\n");
}

#[test]
fn a_comment_names_columns_of_words_too() {
    let cloud = open(b"# label x y z\ncar 1 2 3\nvan 4 5 6\n");
    assert_eq!(cloud.coordinates(), &Coordinates::F64(vec![[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]]));
    let (text, warned) = again(&cloud, &[1]);
    assert!(!warned && text == "# label x y z\nvan 4 5 6\n", "{text:?}");
    // A line that is no point under those names is a header, as without a comment.
    assert_eq!(open(b"# label x y z\nz y x d\n1 2 3 4\n").coordinates().get(0), [3.0, 2.0, 1.0]);
}

#[test]
fn an_added_value_is_in_the_column_of_its_name() {
    let (text, warned) = again(&with_spacing(open(b"x y z\n1 2 3 9\n4 5 6 9\n")), &[1, 0]);
    assert!(warned && text == "# x y z column_4 spacing\n4 5 6 9 1\n1 2 3 9 0\n", "{text:?}");
    let (text, warned) = again(&with_spacing(open(b"x y z i\n1 2 3 9\n4 5 6\n")), &[0, 1]);
    assert!(warned, "{text:?}");
    let (text, warned) = again(&with_spacing(open(b"x,y,z,i\n1,2,3,9\n4,5,6,\n")), &[0, 1]);
    assert!(!warned && text == "x,y,z,i,spacing\n1,2,3,9,0\n4,5,6,,1\n", "{text:?}");
    let (text, warned) = again(&with_spacing(open(b"1, 2 3\n4 5, 6\n")), &[0, 1]);
    assert!(!warned && text == "1, 2 3 0\n4 5, 6 1\n", "{text:?}");
}

#[test]
fn a_header_of_nothing_is_not_left_alone() {
    let options = as_text().xyz(xyz("1", "2", "4"));
    let cloud = read_bytes(b"9 a\n1 2 3 4\n", "a.txt", &options).unwrap();
    assert_eq!(cloud.coordinates().get(0), [1.0, 2.0, 4.0]);
    let (_, warned) = again(&cloud, &[]);
    assert!(warned);
    let (text, warned) = again(&open(b"x y z\n1 2 3\n"), &[]);
    assert!(!warned && text == "x y z\n");
}

#[test]
fn names_with_separators_stay_one_name() {
    let mut cloud = Cloud::new(Coordinates::F32(vec![[1.0, 2.0, 3.0]]));
    cloud.add_column("gps,time \"utc\"\nline", Column::F32(vec![0.5]));
    for name in ["csv", "txt"] {
        let path = std::env::temp_dir().join(format!("farpoint-{}.{name}", std::process::id()));
        farpoint_io::write(&path, &cloud, &[0], &WriteOptions::default()).unwrap();
        let read = read_bytes(&std::fs::read(&path).unwrap(), "a.txt", &as_text()).unwrap();
        std::fs::remove_file(&path).unwrap();
        assert_eq!((read.len(), read.fields().len()), (1, 4), "{name}");
    }
}

fn refused(text: &str, options: &ReadOptions) -> String {
    let error = read_bytes(text.as_bytes(), "a.txt", options).unwrap_err().to_string();
    assert!(!error.contains('\n') && error.contains("`xyz"), "{error}");
    error
}

#[test]
fn surveyors_names_are_understood() {
    for text in [
        "ID,Easting,Northing,Height\n7,1.5,2.5,3.5\n9,4,5,6\n",
        "Point,North,East,Elev,Code\nA,2.5,1.5,3.5,tree\nB,5,4,6,\n",
        "Punkt;Rechtswert;Hochwert;Hoehe\nP1;1.5;2.5;3.5\nP2;4;5;6\n",
        "E N H\n1.5 2.5 3.5\n4 5 6\n",
        "Point ID\tEast [m]\tNorth\tHeight\n7\t1.5\t2.5\t3.5\n9\t4\t5\t6\n",
        "# Point ID\tEast [m]\tNorth\tHeight\n7\t1.5\t2.5\t3.5\n9\t4\t5\t6\n",
        "X [m] Y [m] Z [m]\n1.5 2.5 3.5\n4 5 6\n",
        "X (m) Y (m) Z (m) R G B\n1.5 2.5 3.5 7 8 9\n4 5 6 7 8 9\n",
        "X [m] Y [m] Z [m]\n1.5 2.5 3.5 7 8 9\n4 5 6 7 8 9\n",
        "x,y,z\n1.5 2.5 3.5\n4 5 6\n",
        "Point ID,East,North,Height\n7,1.5,2.5,3.5,\n9,4,5,6,\n",
        "# Nr Y[m] X[m] Z[m]\nP1 2.5 1.5 3.5\nP2 5 4 6\n",
        "//X Y Z Classification\n1.5 2.5 3.5 2\n4 5 6 2\n",
        "\u{feff}X (m),Y (m),Z (m)\r\n1.5,2.5,3.5\r\n4,5,6\r\n",
        "\u{feff}1.5 2.5 3.5\n4 5 6\n",
    ] {
        let cloud = open(text.as_bytes());
        let expected = vec![[1.5, 2.5, 3.5], [4.0, 5.0, 6.0]];
        assert_eq!(cloud.coordinates(), &Coordinates::F64(expected), "{text:?}");
        assert!(cloud.warnings().is_empty(), "{text:?}");
        // Kept lines mean the same again, and all names with them.
        let (again, warned) = again(&cloud, &[1, 0]);
        assert!(!warned && open(again.as_bytes()).fields() == cloud.fields(), "{again:?}");
    }
}

#[test]
fn unknown_columns_are_not_guessed() {
    let default = as_text();
    let error = refused("id,row,value,kind\n1,2,3,4\n", &default);
    assert!(error.contains("1 'id', 2 'row', 3 'value', 4 'kind'"), "{error}");
    refused("made by hand\n1 2 3\n", &default);
    refused("x,y,intensity\n1,2,3\n", &default);
    // Five words over four values, and a name of two words under four.
    let error = refused("Point ID East North Height\n7 1.5 2.5 3.5\n", &default);
    assert!(error.contains("5 names for 4 values"), "{error}");
    refused("Name E N H\nPoint 7 1.5 2.5 3.5\n", &default);
    // PNEZD, with numbers that count or that do not, and names of points.
    let advice = |error: &str| assert!(error.contains("2,3,4; or 3,2,4"), "{error}");
    advice(&refused("1,5000,4000,100,CP\n2,5010,4010,101,EP\n3,5020,4020,102,\n", &default));
    advice(&refused("17 5000.1 4000.2 100.3\n4 5010 4010.5 101\n9 5020 4020 102\n", &default));
    advice(&refused(
        "3,5000,4000,100,tree\n9,5010,4010,101,tree\n4,5020,4020,102,tree\n",
        &default,
    ));
    advice(&refused("P1 5000.1 4000.2 100.3\nP2 5010 4010.5 101\n", &default));
    // Three columns, numbers with decimals, or a grid of whole numbers are points.
    for points in [
        "1 5000.1 4000.2\n2 5000.1 4000.2\n3 5000.1 4000.2\n",
        "1.0 5000.1 4000.2 7.5\n2.0 5000.1 4000.2 7.5\n3.0 5000.1 4000.2 7.5\n",
        "0 0 1.5 7.5\n0 1 1.5 7.5\n1 0 1.5 7.5\n",
        "3\n1 5000.1 4000.2 7.5\n2 5000.1 4000.2 7.5\n3 5000.1 4000.2 7.5\n",
    ] {
        assert_eq!(open(points.as_bytes()).len(), 3, "{points:?}");
    }
    // Chosen rows of such a grid must not turn into numbers of points.
    let grid = open(b"5 0 1 7\n1 0 1 7\n2 1 1 7\n3 4 1 7\n");
    let (text, warned) = again(&grid, &[1, 2, 3]);
    assert!(warned && text == "# x y z column_4\n1 0 1 7\n2 1 1 7\n3 4 1 7\n", "{text:?}");
}

#[test]
fn the_caller_decides_which_columns_are_x_y_and_z() {
    let pnezd = "1,20,10,30,CP\n2,50,40,60,\n";
    for (text, xyz_option) in [
        (pnezd, xyz("3", "2", "4")),
        ("id,a,b,Höhe [m],c\n1,20,10,30,\n2,50,40,60,\n", xyz("B", "a", "hoehe")),
        ("x,y,z,b\n1,20,30,10\n2,50,60,40\n", xyz("4", "y", " z ")),
        ("P1 20 10 30\nP2 50 40 60\n", xyz("3", "2", "4")),
        ("# a b c d\n1 20 10 30\n2 50 40 60\n", xyz("c", "b", "d")),
    ] {
        let options = as_text().xyz(xyz_option);
        let cloud = read_bytes(text.as_bytes(), "a.txt", &options).unwrap();
        let expected = vec![[10.0, 20.0, 30.0], [40.0, 50.0, 60.0]];
        assert_eq!(cloud.coordinates(), &Coordinates::F64(expected.clone()), "{text}");
        // The same lines, to be read with the same columns.
        let (kept, warnings) = write_bytes(&cloud, &[0, 1], &WriteOptions::default()).unwrap();
        assert!(warnings.is_empty() && kept == text.as_bytes(), "{warnings:?}");
        // In another layout x, y and z come first.
        let csv = WriteOptions::default().format(Format::Ply);
        let ply = write_bytes(&cloud, &[0, 1], &csv).unwrap().0;
        let ply = read_bytes(&ply, "a.ply", &ReadOptions::default()).unwrap();
        assert_eq!(ply.coordinates(), &Coordinates::F64(expected));
    }
    for (xyz_option, words) in [
        (xyz("2", "3", "6"), "column 6 of 5"),
        (xyz("2", "3", "0"), "column 0 of 5"),
        (xyz("2", "3", "2"), "twice"),
        (xyz("easting", "3", "2"), "'easting'"),
    ] {
        let options = as_text().xyz(xyz_option);
        let error = read_bytes(pnezd.as_bytes(), "a.txt", &options).unwrap_err().to_string();
        assert!(error.contains(words), "{error}");
    }
    let error = refused("id,a,b\n1,2,3\n", &as_text().xyz(xyz("a", "b", "q")));
    assert!(error.contains("'q'") && error.contains("1 'id', 2 'a', 3 'b'"), "{error}");
}

#[test]
fn degrees_beside_lengths_are_warned_of() {
    let named = open(b"latitude,longitude,elevation\n47.25,8.5,400\n-3,170,0\n");
    assert_eq!(named.coordinates().get(0), [8.5, 47.25, 400.0]);
    let bare = open(b"-94.683 31.036 39\n-94.661 31.047 78\n");
    for cloud in [named, bare] {
        assert!(cloud.warnings()[0].contains("degrees"), "{:?}", cloud.warnings());
        assert_eq!(cloud.warnings().len(), 1);
    }
}

/// The cloud as a text of this style, with the warnings.
fn styled(cloud: &Cloud, style: TextStyle) -> (String, Vec<String>) {
    let rows: Vec<usize> = (0..cloud.len()).collect();
    let options = WriteOptions::default().format(Format::Text).style(style);
    let (bytes, warnings) = write_bytes(cloud, &rows, &options).unwrap();
    (String::from_utf8(bytes).unwrap(), warnings)
}

fn cloud_of(columns: &[(&str, Column)]) -> Cloud {
    let mut cloud = Cloud::new(Coordinates::F64(vec![[0.5, 1.0, 2.0], [3.0, 4.0, -5.25]]));
    for (name, column) in columns {
        cloud.add_column(name, column.clone());
    }
    cloud
}

#[test]
fn pts_holds_what_its_readers_expect() {
    let byte = |a, b| Column::U8(vec![a, b]);
    let colors = [("red", byte(1, 255)), ("green", byte(2, 0)), ("blue", byte(3, 7))];
    let none: Vec<String> = Vec::new();
    let pts = |columns: &[(&str, Column)]| styled(&cloud_of(columns), TextStyle::Pts);
    assert_eq!(pts(&[]), ("2\n0.5 1 2\n3 4 -5.25\n".into(), none.clone()));
    let intensity = ("Intensity", Column::I16(vec![-2048, 2047]));
    let four = "2\n0.5 1 2 -2048\n3 4 -5.25 2047\n";
    assert_eq!(pts(std::slice::from_ref(&intensity)), (four.into(), none.clone()));
    let seven = "2\n0.5 1 2 0 1 2 3\n3 4 -5.25 0 255 0 7\n";
    assert_eq!(pts(&colors), (seven.into(), none.clone()));
    // In any order; attributes without a place are named.
    let [r, g, b] = colors;
    let (text, warnings) = pts(&[("gps_time", Column::F64(vec![0.0; 2])), b, g, intensity, r]);
    assert_eq!(text, "2\n0.5 1 2 -2048 1 2 3\n3 4 -5.25 2047 255 0 7\n");
    assert!(warnings.len() == 1 && warnings[0].contains("'gps_time'"), "{warnings:?}");
}

#[test]
fn colors_of_pts_are_bytes() {
    let pts = |column: fn([f64; 2]) -> Column, values: [f64; 2]| {
        let columns = ["red", "green", "blue"].map(|name| (name, column(values)));
        let (text, warnings) = styled(&cloud_of(&columns), TextStyle::Pts);
        let last = |line: &str| line.split(' ').next_back().unwrap().parse::<u32>().unwrap();
        (text.lines().skip(1).map(last).collect::<Vec<_>>(), warnings.len())
    };
    let wide = |v: [f64; 2]| Column::U16(v.map(|v| v as u16).to_vec());
    let parts = |v: [f64; 2]| Column::F32(v.map(|v| v as f32).to_vec());
    assert_eq!(pts(wide, [65535.0, 256.0]), (vec![255, 1], 0));
    assert_eq!(pts(wide, [65534.0, 300.0]), (vec![255, 1], 1));
    assert_eq!(pts(wide, [255.0, 7.0]), (vec![255, 7], 0));
    assert_eq!(pts(parts, [1.0, 0.2]), (vec![255, 51], 0));
    assert_eq!(pts(parts, [255.0, 1.0]), (vec![255, 1], 0));
}

#[test]
fn pts_columns_have_names() {
    let names = |text: &str, name: &str| -> Vec<String> {
        let cloud = read_bytes(text.as_bytes(), name, &as_text()).unwrap();
        cloud.fields().into_iter().skip(3).map(|f| f.name).collect()
    };
    let seven = "1\n1 2 3 -5 10 20 255\n";
    assert_eq!(names(seven, "a.pts"), ["intensity", "red", "green", "blue"]);
    assert_eq!(names(seven, "a.txt"), ["intensity", "red", "green", "blue"]);
    assert_eq!(names("1 2 3 10 20 255\n", "a.pts"), ["red", "green", "blue"]);
    assert_eq!(names("1 2 3 0.5\n", "a.pts"), ["intensity"]);
    // Normals are no colors.
    assert_eq!(
        names("1 2 3 0 0 1\n1 2 3 0 0.6 0.8\n", "a.pts"),
        ["column_4", "column_5", "column_6"]
    );
    let colors = ["red", "green", "blue"];
    assert_eq!(names("1 2 3 10 20 255\n4 5 6 0 0 0\n", "a.xyz"), colors);
    assert_eq!(names("1.5,2,3,10,20,255\n", "a.csv"), colors);
    for none in
        ["1 2 3 0 0 1\n", "1 2 3 10 20 256\n", "1 2 3 10 20 5.5\n", "1 2 3 1 2 3\n4 5 6 7 8\n"]
    {
        assert_eq!(names(none, "a.xyz"), ["column_4", "column_5", "column_6"], "{none}");
    }
    let cloud = read_bytes(b"1 2 3 10 20 255\n", "a.xyz", &as_text()).unwrap();
    let ply = write_bytes(&cloud, &[0], &WriteOptions::default().format(Format::Ply)).unwrap().0;
    assert!(String::from_utf8_lossy(&ply).contains("property uchar red"));
    let cloud = read_bytes(seven.as_bytes(), "a.pts", &as_text()).unwrap();
    let ply = write_bytes(&cloud, &[0], &WriteOptions::default().format(Format::Ply)).unwrap().0;
    let ply = String::from_utf8_lossy(&ply);
    assert!(
        ply.contains("property uchar red\nproperty uchar green\nproperty uchar blue\n"),
        "{ply}"
    );
}

#[test]
fn decimal_commas_are_read_and_written_as_points() {
    for (text, expected) in [
        ("1,5 2,5 -3,25\n4 5 6\n", "1.5 2.5 -3.25\n4 5 6\n"),
        ("X;Y;Z\n0;0;0\n1,5;2,125;3\n", "X;Y;Z\n0;0;0\n1.5;2.125;3\n"),
        ("1250,125\t2,250\t,5\n1\t2\t3\n", "1250.125\t2.250\t.5\n1\t2\t3\n"),
        ("1 2 3,5e-3\n1 2 3\n", "1 2 3.5e-3\n1 2 3\n"),
    ] {
        let cloud = read_bytes(text.as_bytes(), "a.txt", &as_text()).unwrap();
        assert!(cloud.warnings()[0].contains("decimal commas"), "{text:?}");
        let rows: Vec<usize> = (0..cloud.len()).collect();
        let (written, _) = write_bytes(&cloud, &rows, &WriteOptions::default()).unwrap();
        assert_eq!(String::from_utf8(written).unwrap(), expected);
    }
    // Commas that separate stay separators.
    for text in ["1,5,2,5\n", "1, 2, 3,5\n", "1 2 3\n1,2,3\n", "CP,1,2,3\n"] {
        let warned = read_bytes(text.as_bytes(), "a.txt", &as_text()).map(|c| c.warnings().len());
        assert!(!matches!(warned, Ok(1..)), "{text:?}");
    }
    // A file that could be read in parts.
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("a.csv");
    std::fs::write(&path, "x;y;z\n".to_owned() + &"0,5;1,5;2,5\n".repeat(5000)).unwrap();
    let cloud = farpoint_io::Reader::open(&path, &ReadOptions::default(), None).unwrap();
    assert_eq!(cloud.len(), 5000);
}

#[test]
fn a_text_takes_the_layout_of_its_output() {
    let open = |text: &str, name: &str| read_bytes(text.as_bytes(), name, &as_text()).unwrap();
    let csv = open("x,y,z,intensity,note\n1.50,2,3,7,a\n", "a.csv");
    let xyz = open("# x y z intensity\n1.50 2 3 7\n", "a.xyz");
    let pts = open("1\n1.50 2 3 7\n", "a.pts");
    for (cloud, style, expected) in [
        // The same layout: the very bytes.
        (&csv, TextStyle::Csv, "x,y,z,intensity,note\n1.50,2,3,7,a\n"),
        (&xyz, TextStyle::Spaces, "# x y z intensity\n1.50 2 3 7\n"),
        (&pts, TextStyle::Pts, "1\n1.50 2 3 7\n"),
        (&csv, TextStyle::Spaces, "# x y z intensity\n1.5 2 3 7\n"),
        (&csv, TextStyle::Pts, "1\n1.5 2 3 7\n"),
        (&xyz, TextStyle::Csv, "x,y,z,intensity\n1.5,2,3,7\n"),
        (&xyz, TextStyle::Pts, "1\n1.5 2 3 7\n"),
        (&pts, TextStyle::Csv, "x,y,z,intensity\n1.5,2,3,7\n"),
        (&pts, TextStyle::Spaces, "# x y z intensity\n1.5 2 3 7\n"),
    ] {
        assert_eq!(styled(cloud, style).0, expected);
    }
    // Added columns have no place in PTS.
    let (text, warnings) = styled(&with_spacing(pts), TextStyle::Pts);
    assert_eq!(text, "1\n1.50 2 3 7\n");
    assert!(warnings.len() == 1 && warnings[0].contains("'spacing'"), "{warnings:?}");
}

/// Lines of few kinds of words, so that headers, counts, labels and points come up often.
fn any_text() -> impl Strategy<Value = String> {
    let word = prop::sample::select(vec![
        "1", "2", "3", "4", "10", "-0.5", "2.25", "7.5", "nan", "1e3", "a", "P1", "x", "y", "z",
        "E", "N", "height", "lon", "\"q\"", "#", "//", "",
    ]);
    let separator = prop::sample::select(vec![" ", " ", ",", ";", "\t", ", "]);
    let line = prop::collection::vec((word, separator), 0..7).prop_map(|parts| {
        let text: String = parts.iter().flat_map(|(word, separator)| [*word, *separator]).collect();
        text.trim_end_matches([',', ' ']).to_owned()
    });
    (prop::collection::vec(line, 1..7), prop::sample::select(vec!["\n", "\r\n"]))
        .prop_map(|(lines, end)| lines.join(end))
}

proptest! {
    #![proptest_config(random(256))]

    /// The output is read as the same points, with the same columns given, or with none if the lines had to be
    /// written anew.
    #[test]
    fn any_text_that_is_read_comes_back(
        text in any_text(),
        xyz_option in prop::option::of(prop::sample::select(vec!["2,3,4", "1,2,3", "3,1,2", "x,y,z", "N,E,3"])),
        name in prop::sample::select(vec!["a.txt", "a.csv", "a.pts"]),
        style in prop::option::of(prop::sample::select(vec![
            TextStyle::Spaces, TextStyle::Csv, TextStyle::Pts,
        ])),
        picks in prop::collection::vec(any::<prop::sample::Index>(), 0..5),
        spaced in any::<bool>(),
    ) {
        let xyz_option = xyz_option.map(|g| {
            let mut names = g.split(',');
            [(); 3].map(|()| names.next().unwrap().to_owned())
        });
        let Ok(cloud) = read_bytes(text.as_bytes(), name, &as_text().xyz(xyz_option.clone())) else {
            return Ok(());
        };
        let cloud = if spaced { with_spacing(cloud) } else { cloud };
        let rows: Vec<usize> = match cloud.is_empty() {
            true => Vec::new(),
            false => picks.iter().map(|p| p.index(cloud.len())).collect(),
        };
        let options = WriteOptions::default().style(style);
        let (bytes, _) = write_bytes(&cloud, &rows, &options).unwrap();
        let output = match style {
            None => name,
            Some(TextStyle::Csv) => "b.csv",
            Some(TextStyle::Pts) => "b.pts",
            Some(_) => "b.txt",
        };
        let as_written = |xyz| read_bytes(&bytes, output, &as_text().xyz(xyz));
        let same = |read: &Cloud| {
            let point = |c: &Cloud, row| c.coordinates().get(row).map(f64::to_bits);
            read.len() == rows.len()
                && rows.iter().enumerate().all(|(i, &row)| point(read, i) == point(&cloud, row))
        };
        let found = [xyz_option, None].into_iter().filter_map(|xyz| as_written(xyz).ok()).any(|r| same(&r));
        prop_assert!(found, "{:?}", String::from_utf8_lossy(&bytes));
    }
}
