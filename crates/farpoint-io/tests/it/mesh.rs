//! Meshes are read as the cloud of their vertices; their other parts are counted or kept.

use farpoint_io::{
    Cloud, Coordinates, Format, NumberType, ReadOptions, WriteOptions, read_bytes, write_bytes,
};

fn open(text: &str, name: &str) -> Cloud {
    read_bytes(text.as_bytes(), name, &ReadOptions::default()).unwrap_or_else(|e| panic!("{e}"))
}

/// The attributes besides x, y and z, with a line of their values per point.
fn attributes(cloud: &Cloud) -> (Vec<(String, NumberType)>, String) {
    let fields = cloud.fields().into_iter().skip(3).map(|f| (f.name, f.kind)).collect();
    let rows: Vec<usize> = (0..cloud.len()).collect();
    let text = WriteOptions::default().format(Format::Text);
    let text = write_bytes(cloud, &rows, &text).unwrap().0;
    let text = String::from_utf8(text).unwrap();
    (fields, text.lines().filter(|l| !l.starts_with('#')).collect::<Vec<_>>().join("|"))
}

/// One warning names all that was left out.
fn loses(cloud: &Cloud, words: &[&str]) {
    let [warning] = cloud.warnings() else { panic!("{:?}", cloud.warnings()) };
    assert!(words.iter().all(|word| warning.contains(word)), "{warning}");
}

fn kinds(names: &[&str], kind: NumberType) -> Vec<(String, NumberType)> {
    names.iter().map(|name| ((*name).to_owned(), kind)).collect()
}

#[test]
fn dropped_parts_of_an_obj_are_counted() {
    let text = "# made by hand\nmtllib a.mtl\nv 0 0 0\nv 1 0 0\nv 0 1 0\nvn 0 0 1\nvt 0 0\nvt 1 0\nf 1 2 3\n";
    let cloud = open(text, "a.obj");
    assert_eq!(cloud.len(), 3);
    loses(&cloud, &["1 face", "1 normal", "2 texture"]);
    assert!(open("v 0 0 0\n", "a.obj").warnings().is_empty());
    // Colors stay parts of 1.
    let colored = open("v 0 0 0 1 0.5 0\nv 1 0 0 0 0 1\n", "a.obj");
    let (fields, values) = attributes(&colored);
    assert_eq!(fields, kinds(&["red", "green", "blue"], NumberType::F32));
    assert_eq!(values, "0 0 0 1 0.5 0|1 0 0 0 0 1");
}

#[test]
fn off_keeps_colors_and_normals_of_its_vertices() {
    let colors = ["red", "green", "blue"];
    let rgba = ["red", "green", "blue", "alpha"];
    let normal = kinds(&["nx", "ny", "nz"], NumberType::F64);
    for (text, fields, values) in [
        ("COFF\n1 0 0\n1 2 3 10 20 255\n", kinds(&colors, NumberType::U8), "1 2 3 10 20 255"),
        ("COFF\n1 0 0\n1 2 3 0 20 30 255\n", kinds(&rgba, NumberType::U8), "1 2 3 0 20 30 255"),
        ("COFF 1 0 0\n1 2 3 0.5 1 0 1\n", kinds(&rgba, NumberType::F32), "1 2 3 0.5 1 0 1"),
        ("COFF 1 0 0\n1 2 3 1 1 0 1\n", kinds(&rgba, NumberType::F32), "1 2 3 1 1 0 1"),
        ("NOFF 1 0 0\n1 2 3 0 0.6 0.8\n", normal.clone(), "1 2 3 0 0.6 0.8"),
        (
            "CNOFF 1 0 0\n1 2 3 0 0.6 0.8 10 20 30\n",
            [normal.clone(), kinds(&colors, NumberType::U8)].concat(),
            "1 2 3 0 0.6 0.8 10 20 30",
        ),
    ] {
        let cloud = open(text, "a.off");
        assert_eq!(cloud.coordinates(), &Coordinates::F64(vec![[1.0, 2.0, 3.0]]));
        assert_eq!(attributes(&cloud), (fields, values.to_owned()), "{text}");
        assert!(cloud.warnings().is_empty());
    }
}

#[test]
fn dropped_parts_of_an_off_are_counted() {
    let plain = open("OFF 1 0 0\n1 2 3 4 5 6\n", "a.off");
    assert_eq!(attributes(&plain), (Vec::new(), "1 2 3".to_owned()));
    loses(&plain, &["3 further values"]);
    let text = "STCNOFF\n2 1 0\n1 2 3 0 0 1 10 20 30 0.5 0.5\n4 5 6 0 1 0 40 50 60 0 1\n2 0 1\n";
    let cloud = open(text, "a.off");
    assert_eq!(attributes(&cloud).1, "1 2 3 0 0 1 10 20 30|4 5 6 0 1 0 40 50 60");
    loses(&cloud, &["1 face", "2 texture"]);
    let options = ReadOptions::default();
    let short = read_bytes(b"COFF 2 0 0\n1 2 3 10 20 30\n1 2 3 10 20\n", "a.off", &options);
    assert!(short.unwrap_err().to_string().contains("line 3"));
}
