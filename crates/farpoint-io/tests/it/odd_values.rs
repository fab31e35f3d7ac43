//! One odd value leaves its column as it is: missing cells, NaN as other compilers print it, colors beyond their range,
//! points without a color. What is changed or left out is named in a warning, from each format to each.

use farpoint_io::{
    Cloud, Column, Coordinates, Error, Filter, Format, NumberType, ReadOptions, Reader, TextStyle,
    WriteOptions, read_bytes, write_bytes,
};

fn read(bytes: impl AsRef<[u8]>, name: &str) -> Cloud {
    let found = read_bytes(bytes.as_ref(), name, &ReadOptions::default());
    found.unwrap_or_else(|error| panic!("{error}"))
}

fn to(format: Format) -> WriteOptions {
    WriteOptions::default().format(format)
}

/// All rows in another format: the cloud that is read from it, and the warnings.
fn through(cloud: &Cloud, options: &WriteOptions, name: &str) -> (Cloud, Vec<String>) {
    let rows: Vec<usize> = (0..cloud.len()).collect();
    let (bytes, warnings) = write_bytes(cloud, &rows, options).unwrap();
    (read(bytes, name), warnings)
}

fn numbers(cloud: &Cloud, name: &str) -> Vec<f64> {
    let column = cloud.column(name).unwrap_or_else(|| panic!("{name}: {:?}", cloud.fields()));
    (0..column.len()).map(|row| column.get(row)).collect()
}

/// Equal, with NaN equal to NaN.
fn same(found: &[f64], expected: &[f64]) -> bool {
    let pairs = found.iter().zip(expected);
    found.len() == expected.len()
        && pairs.into_iter().all(|(a, b)| a == b || a.is_nan() && b.is_nan())
}

fn names(warnings: &[String], words: &[&str]) {
    let one = warnings.iter().any(|warning| words.iter().all(|word| warning.contains(word)));
    assert!(one, "no warning of {words:?} in {warnings:?}");
}

/// A name in each format whose attributes are kept.
const FORMATS: [(Format, &str); 6] = [
    (Format::Ply, "a.ply"),
    (Format::Pcd, "a.pcd"),
    (Format::Npy, "a.npy"),
    (Format::Las, "a.las"),
    (Format::E57, "a.e57"),
    (Format::Text, "a.csv"),
];

const MISSING: [&str; 6] = ["", "NA", "nan", "null", "-", "-nan(ind)"];

/// A text in which the second intensity and the third class are missing.
fn with_missing(cell: &str, split: &str) -> String {
    let lines = ["X,Y,Z,Intensity,Classification", "1,2,3,10,2", "4,5,6,?,7", "7,8,9,30,?"];
    lines.map(|line| line.replace(',', split).replace('?', cell)).join("\n") + "\n"
}

#[test]
fn a_missing_cell_is_nan_and_its_column_stays() {
    let folder = tempfile::tempdir().unwrap();
    for cell in MISSING {
        for split in [",", ";", "\t"].into_iter().take(if cell.is_empty() { 2 } else { 3 }) {
            let text = with_missing(cell, split);
            let cloud = read(&text, "a.csv");
            let (intensity, class) =
                (numbers(&cloud, "Intensity"), numbers(&cloud, "Classification"));
            assert!(same(&intensity, &[10.0, f64::NAN, 30.0]), "{cell:?} {intensity:?}");
            assert!(same(&class, &[2.0, 7.0, f64::NAN]), "{cell:?} {class:?}");
            let mask = |filter: Filter| filter.mask(&cloud, "a.csv").unwrap();
            let keep = Filter::default().keep("class=7".parse().unwrap());
            let drop = Filter::default().drop("intensity=20..".parse().unwrap());
            assert_eq!(mask(keep.clone()), [false, true, false], "{cell:?}");
            assert_eq!(mask(drop), [true, true, false], "{cell:?}");
            // In parts, the same.
            let path = folder.path().join("a.csv");
            std::fs::write(&path, &text).unwrap();
            let reader = Reader::open(&path, &ReadOptions::default(), Some(1)).unwrap();
            let reader = reader.filtered(keep).unwrap();
            let used = reader.read(0).unwrap().coordinates().unwrap();
            assert_eq!(
                (0..3).map(|row| used.get(row)[0].is_nan()).collect::<Vec<_>>(),
                [true, false, true]
            );
        }
    }
}

#[test]
fn missing_cells_are_named_in_every_format() {
    let cloud = read(with_missing("NA", ","), "a.csv");
    for (format, name) in FORMATS.into_iter().filter(|(format, _)| *format != Format::Text) {
        let (back, warnings) = through(&cloud, &to(format), name);
        for (column, of) in [
            ("intensity", "'Intensity' has no number in 1"),
            ("classification", "'Classification' has no number in 1"),
        ] {
            names(&warnings, &[of]);
            let found =
                back.fields().into_iter().find(|field| field.name.eq_ignore_ascii_case(column));
            let found = numbers(
                &back,
                &found.unwrap_or_else(|| panic!("{format}: {:?}", back.fields())).name,
            );
            // The fields of LAS are whole numbers.
            let odd = if format == Format::Las { 0.0 } else { f64::NAN };
            let expected = if column == "intensity" { [10.0, odd, 30.0] } else { [2.0, 7.0, odd] };
            assert!(same(&found, &expected), "{format} {column}: {found:?}");
        }
        if format == Format::Las {
            names(&warnings, &["'intensity'", "0 there in LAS"]);
            names(&warnings, &["'classification'", "0 there in LAS"]);
        }
    }
}

#[test]
fn lines_that_are_too_short_lack_their_last_values() {
    for text in ["x,y,z,a,b\n1,2,3,4,5\n6,7,8,9\n1,1,1\n", "x y z a b\n1 2 3 4 5\n6 7 8 9\n1 1 1\n"]
    {
        let cloud = read(text, "a.txt");
        assert!(same(&numbers(&cloud, "a"), &[4.0, 9.0, f64::NAN]), "{text}");
        assert!(same(&numbers(&cloud, "b"), &[5.0, f64::NAN, f64::NAN]), "{text}");
    }
    // Also the first.
    let cloud = read("x,y,z,a,b\n6,7,8,9\n1,2,3,4,5\n", "a.csv");
    assert!(same(&numbers(&cloud, "b"), &[f64::NAN, 5.0]));
}

#[test]
fn nan_and_infinity_of_other_compilers_are_numbers_in_every_text() {
    let ply = "ply\nformat ascii 1.0\nelement vertex 2\nproperty float x\nproperty float y\nproperty float z\n\
               property uchar red\nproperty float a\nend_header\n";
    let pcd = "VERSION 0.7\nFIELDS x y z red a\nSIZE 4 4 4 1 4\nTYPE F F F U F\nCOUNT 1 1 1 1 1\nWIDTH 2\nHEIGHT 1\n\
               VIEWPOINT 0 0 0 1 0 0 0\nPOINTS 2\nDATA ascii\n";
    let spellings = ["-nan(ind)", "nan(0x8000)", "1.#QNAN", "-1.#IND", "-1.#IND00", "NaN", "-nan"];
    for nan in spellings {
        for (head, name) in [(ply, "a.ply"), (pcd, "a.pcd"), ("x y z red a\n", "a.xyz")] {
            let cloud = read(format!("{head}1 2 3 9 {nan}\n{nan} 5 6 {nan} -1.#INF\n"), name);
            assert!(same(&numbers(&cloud, "a"), &[f64::NAN, f64::NEG_INFINITY]), "{name} {nan}");
            assert!(same(&numbers(&cloud, "red"), &[9.0, f64::NAN]), "{name} {nan}");
            assert!(cloud.coordinates().get(1)[0].is_nan(), "{name} {nan}");
        }
        let ptx = "2\n1\n0 0 0\n1 0 0\n0 1 0\n0 0 1\n1 0 0 0\n0 1 0 0\n0 0 1 0\n0 0 0 1\n";
        let cloud = read(format!("{ptx}1 2 3 {nan}\n4 5 6 0.5\n"), "a.ptx");
        assert!(same(&numbers(&cloud, "intensity"), &[f64::NAN, 0.5]), "{nan}");
        let cloud = read(format!("v 1 2 3\nv 4 {nan} 6\n"), "a.obj");
        assert!(cloud.coordinates().get(1)[1].is_nan(), "{nan}");
    }
    // A value beyond its type is none, and the column is named.
    let cloud = read(format!("{ply}1 2 3 9 1\n4 5 6 300 1\n"), "a.ply");
    names(&through(&cloud, &to(Format::Npy), "a.npy").1, &["'red'", "left out"]);
}

#[test]
fn filters_refuse_fields_without_numbers() {
    let folder = tempfile::tempdir().unwrap();
    let list = "ply\nformat ascii 1.0\nelement vertex 2\nproperty float x\nproperty float y\nproperty float z\n\
                property list uchar float code\nend_header\n1 2 3 1 5\n4 5 6 0\n";
    let csv = "x,y,z,Code\n1,2,3,tree\n4,5,6,7\n".to_owned();
    // Words that begin only after the first part of a file.
    let late = "x,y,z,code\n".to_owned() + &"1,2,3,4\n".repeat(200_000) + "1,2,3,tree\n";
    for (name, text) in [("a.ply", list.to_owned()), ("a.csv", csv), ("late.csv", late)] {
        let path = folder.path().join(name);
        std::fs::write(&path, &text).unwrap();
        for filter in [
            Filter::default().keep("code=5".parse().unwrap()),
            Filter::default().drop("code=5".parse().unwrap()),
        ] {
            let refused = |error: Error| {
                assert!(matches!(error, Error::Field { .. }), "{name}: {error}");
                let text = error.to_string();
                assert!(
                    text.to_lowercase().contains("field 'code' holds lists or words"),
                    "{text}"
                );
            };
            refused(filter.mask(&read(&text, name), name).unwrap_err());
            let parts = Reader::open(&path, &ReadOptions::default(), Some(1));
            let Ok(reader) = parts else { continue };
            let found = reader.filtered(filter).and_then(|reader| {
                (0..reader.parts()).try_for_each(|part| reader.read(part)?.coordinates().map(drop))
            });
            refused(found.unwrap_err());
        }
    }
}

/// A cloud of floats as colors, under names of colors or of letters.
fn colored(channel: &[f64], names: [&str; 3], kind: NumberType) -> Cloud {
    let mut cloud = Cloud::new(Coordinates::F64(vec![[1.0, 2.0, 3.0]; channel.len()]));
    for name in names {
        cloud.add_column(
            name,
            match kind {
                NumberType::F32 => Column::F32(channel.iter().map(|&v| v as f32).collect()),
                NumberType::I32 => Column::I32(channel.iter().map(|&v| v as i32).collect()),
                _ => Column::F64(channel.to_vec()),
            },
        );
    }
    cloud
}

const RGB: [&str; 3] = ["red", "green", "blue"];

#[test]
fn colors_a_little_outside_are_clamped_and_named() {
    let nan = f64::NAN;
    let outside = "outside of 0 to";
    for (channel, kind, bytes, words) in [
        (vec![1.0, 1.02, -0.01, 0.0], NumberType::F32, [255, 255, 0, 0], vec![outside]),
        (vec![1.0, 0.0, nan, 0.0], NumberType::F32, [255, 0, 0, 0], vec!["NaN become 0"]),
        (
            vec![1.0, f64::INFINITY, nan, 0.0],
            NumberType::F64,
            [255, 255, 0, 0],
            vec![outside, "NaN"],
        ),
        (vec![255.0, 260.0, -1.0, 7.0], NumberType::F32, [255, 255, 0, 7], vec![outside]),
        (vec![255.0, 256.0, -1.0, 7.0], NumberType::I32, [255, 255, 0, 7], vec![outside]),
        (vec![65535.0, 66_000.0, -1.0, 514.0], NumberType::F64, [255, 255, 0, 2], vec![outside]),
    ] {
        for names_of in [RGB, ["r", "g", "b"]] {
            let cloud = colored(&channel, names_of, kind);
            for (format, name) in [
                (Format::Ply, "a.ply"),
                (Format::E57, "a.e57"),
                (Format::Text, "a.pts"),
                (Format::Pcd, "a.pcd"),
                (Format::Las, "a.las"),
            ] {
                let options = match format {
                    Format::Text => to(format).style(TextStyle::Pts),
                    _ => to(format),
                };
                let (back, warnings) = through(&cloud, &options, name);
                let what = format!("{format} of {channel:?}: {warnings:?}");
                words
                    .iter()
                    .for_each(|word| names(&warnings, &[word, &format!("'{}'", names_of[0])]));
                let found = match format {
                    Format::Pcd => {
                        let packed = back.column("rgb").unwrap_or_else(|| panic!("{what}"));
                        (0..4).map(|row| (packed.get(row) as u32 >> 16) as u8).collect::<Vec<_>>()
                    }
                    // 16 bits.
                    Format::Las => {
                        numbers(&back, "red").iter().map(|v| (*v as u32 >> 8) as u8).collect()
                    }
                    _ => numbers(&back, "red").iter().map(|v| *v as u8).collect(),
                };
                assert_eq!(found, bytes, "{what}");
            }
        }
        // Formats with columns of any type keep what there is.
        let (back, warnings) = through(&colored(&channel, RGB, kind), &to(Format::Npy), "a.npy");
        assert_eq!(warnings, [""; 0]);
        assert!(same(&numbers(&back, "blue"), &numbers(&colored(&channel, RGB, kind), "blue")));
    }
}

#[test]
fn values_far_from_colors_are_kept_as_others() {
    let cloud = colored(&[-3.0, 0.5, 0.25], RGB, NumberType::F32);
    for (format, name) in FORMATS {
        let (back, warnings) = through(&cloud, &to(format), name);
        if matches!(format, Format::Npy | Format::Text) {
            assert_eq!(warnings, [""; 0], "{format}");
        } else {
            names(&warnings, &["'red', 'green', 'blue'", "not as colors"]);
        }
        assert!(same(&numbers(&back, "red"), &[-3.0, 0.5, 0.25]), "{format}");
        assert!(back.description().ends_with("format 6") || format != Format::Las);
    }
    // An alpha has a range of its own.
    let mut cloud = colored(&[1.0, 0.5, 0.0], RGB, NumberType::F32);
    cloud.add_column("alpha", Column::U8(vec![255, 128, 0]));
    let (back, _) = through(&cloud, &to(Format::Ply), "a.ply");
    assert_eq!(numbers(&back, "alpha"), [255.0, 128.0, 0.0]);
}

#[test]
fn intensity_a_little_outside_is_scaled_too() {
    for odd in [1.02, f64::NAN] {
        let mut cloud = Cloud::new(Coordinates::F64(vec![[1.0, 2.0, 3.0]; 3]));
        cloud.add_column("intensity", Column::F64(vec![0.5, odd, 0.0]));
        let (back, warnings) = through(&cloud, &to(Format::Las), "a.las");
        names(&warnings, &["'intensity': 1 values"]);
        names(&warnings, &["multiplied by 65535"]);
        let expected = if odd.is_nan() { 0.0 } else { 65535.0 };
        assert_eq!(numbers(&back, "intensity"), [32768.0, expected, 0.0]);
    }
}

#[test]
fn points_without_a_color_do_not_take_those_of_others() {
    let obj = "v 1 2 3 1 0.5 0\nv 4 5 6\nv 7 8 9 0 0 1\n".to_owned();
    let ptx = "3\n1\n0 0 0\n1 0 0\n0 1 0\n0 0 1\n1 0 0 0\n0 1 0 0\n0 0 1 0\n0 0 0 1\n\
               1 2 3 0.5 255 128 0\n4 5 6 0.5\n7 8 9 0.5 0 0 255\n";
    for (text, name) in [(obj, "a.obj"), (ptx.to_owned(), "a.ptx")] {
        let cloud = read(text, name);
        names(cloud.warnings(), &["1 of 3 points have no color"]);
        assert!(numbers(&cloud, "red")[1].is_nan());
        let (back, warnings) = through(&cloud, &to(Format::Ply), "a.ply");
        names(&warnings, &["'red', 'green', 'blue'", "3 values", "NaN"]);
        assert_eq!(numbers(&back, "red"), [255.0, 0.0, 0.0], "{name}");
        assert_eq!(numbers(&back, "green"), [128.0, 0.0, 0.0], "{name}");
    }
    for (text, name, word) in [
        ("v 1 2 3 0.5\nv 4 5 6\n", "a.obj", "1 further value"),
        ("OFF 1 0 0\n1 2 3 255 0 0\n", "a.off", "3 further values"),
    ] {
        names(read(text, name).warnings(), &[word]);
    }
    // A color that PTX has no range for is kept, and not cut off.
    let ptx = "1\n1\n0 0 0\n1 0 0\n0 1 0\n0 0 1\n1 0 0 0\n0 1 0 0\n0 0 1 0\n0 0 0 1\n1 2 3 0.5 0.25 0.5 1\n";
    let (back, _) = through(&read(ptx, "a.ptx"), &to(Format::Ply), "a.ply");
    assert_eq!(numbers(&back, "red"), [64.0]);
}

#[test]
fn names_that_are_equal_in_a_format_stay_apart() {
    let mut cloud = Cloud::new(Coordinates::F64(vec![[1.0, 2.0, 3.0]; 2]));
    for (k, name) in ["a b", "a_b", "a?b"].into_iter().enumerate() {
        cloud.add_column(name, Column::F64(vec![k as f64; 2]));
    }
    for (format, name) in FORMATS {
        let (back, _) = through(&cloud, &to(format), name);
        let fields = back.fields();
        let values: Vec<f64> = fields.iter().skip(3).map(|f| numbers(&back, &f.name)[0]).collect();
        let own: Vec<f64> = values.into_iter().rev().take(3).rev().collect();
        assert_eq!(own, [0.0, 1.0, 2.0], "{format}: {fields:?}");
    }
}

#[test]
fn counts_that_are_wrong_say_in_which_direction() {
    for (text, name, words, fix) in [
        (
            "2\n1 2 3\n4 5 6\n7 8 9\n",
            "a.pts",
            "declares 2 points, the file has 3",
            "correct that number",
        ),
        ("4\n1 2 3\n4 5 6\n7 8 9\n", "a.pts", "declares 4 points, the file has 3", "truncated"),
        (
            "1\n1\n0 0 0\n1 0 0\n0 1 0\n0 0 1\n1 0 0 0\n0 1 0 0\n0 0 1 0\n0 0 0 1\n1 2 3 1\n4 5 6 1\n",
            "a.ptx",
            "more points follow",
            "correct the number",
        ),
    ] {
        let error =
            read_bytes(text.as_bytes(), name, &ReadOptions::default()).unwrap_err().to_string();
        assert!(error.contains(words) && error.contains(fix), "{error}");
        assert_eq!(error.contains("truncated"), fix == "truncated", "{error}");
    }
}
