//! Text whose lines differ in separators or in their number of values: what is written is read back
//! with the same rows and values, with lines kept where that is possible.

use farpoint_io::{
    Cloud, Column, Coordinates, Format, ReadOptions, WriteOptions, read_bytes, write_bytes,
};

fn as_text() -> ReadOptions {
    ReadOptions::default().format(Format::Text)
}

fn open(bytes: &[u8]) -> Cloud {
    read_bytes(bytes, "a.txt", &as_text()).unwrap_or_else(|e| panic!("{e}"))
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
    let cloud = open(b"//X;Y;Z;I\r\n,;2;3;4\r\n4;;;67\r5\n");
    assert_eq!(cloud.coordinates(), &Coordinates::F64(vec![[4.0, 67.0, 5.0]]));
    again(&cloud, &[0]);
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
    // What is no point under those names is a header, as without a comment.
    assert_eq!(open(b"# label x y z\na b c d\n1 2 3 4\n").len(), 1);
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
    let cloud = open(b"a b c d e\n1 2 3\n");
    assert_eq!(cloud.len(), 1);
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
