//! `farpoint generate --labels`: scenes with classes, in one file and in the layouts of data sets, read back
//! here byte by byte.

use crate::common::Folder;
use farpoint_generate::{INDOOR_CLASSES, Labeled, Paint, Setting, UNLABELED, labeled};
use std::path::{Path, PathBuf};

/// Runs with an empty folder `out`, and returns the names of all files in it, sorted.
fn made(folder: &Folder, arguments: &str) -> Vec<String> {
    std::fs::create_dir(folder.path("out")).unwrap();
    folder.ok(&format!("{arguments} --labels -o out"));
    let root = folder.path("out");
    let mut names: Vec<_> = files(&root)
        .iter()
        .map(|path| path.strip_prefix(&root).unwrap().to_str().unwrap().to_owned())
        .collect();
    names.sort();
    names
}

fn files(folder: &Path) -> Vec<PathBuf> {
    let entries = std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
    entries.flat_map(|path| if path.is_dir() { files(&path) } else { vec![path] }).collect()
}

fn colors(scene: &Labeled) -> &[[u8; 3]] {
    match &scene.paint {
        Paint::Colors(colors) => colors,
        Paint::Intensity(_) => panic!("no colors"),
    }
}

fn float(bytes: &[u8]) -> f32 {
    f32::from_le_bytes(bytes[..4].try_into().unwrap())
}

fn text(folder: &Folder, name: &str) -> String {
    String::from_utf8(folder.read(name)).unwrap()
}

#[test]
fn rooms_of_s3dis_have_a_text_file_for_each_class() {
    let folder = Folder::new();
    let names = made(&folder, "generate indoor -n 3000 --seed 5 --layout s3dis --scenes 8");
    let rooms = [
        "Area_1/office_1",
        "Area_2/office_1",
        "Area_3/office_1",
        "Area_4/office_1",
        "Area_5/office_1",
        "Area_5/office_2",
        "Area_6/office_1",
        "Area_1/office_2",
    ];
    assert!(names.iter().all(|name| rooms.iter().any(|room| name.starts_with(room))), "{names:?}");
    // Seeds in the order of scenes: the first and the seventh are for validation.
    for (room, seed) in [("Area_5/office_1", 5), ("Area_1/office_1", 6), ("Area_5/office_2", 11)] {
        let scene = labeled(Setting::Indoor, 3000, seed);
        let mut rows = 0;
        for (class, name) in INDOOR_CLASSES.iter().enumerate() {
            let of_class: Vec<_> =
                (0..3000).filter(|&row| usize::from(scene.classes[row]) == class).collect();
            let file = format!("{room}/Annotations/{name}_1.txt");
            assert_eq!(names.contains(&file), !of_class.is_empty(), "{file}");
            if of_class.is_empty() {
                continue;
            }
            for (line, &row) in text(&folder, &format!("out/{file}")).lines().zip(&of_class) {
                let numbers: Vec<f32> = line.split(' ').map(|word| word.parse().unwrap()).collect();
                assert_eq!(numbers.len(), 6, "{file}: {line}");
                for (read, made) in numbers.iter().zip(&scene.points[row]) {
                    assert!((read - made).abs() < 0.000_51, "{file}: {line}");
                }
                assert_eq!(numbers[3..], colors(&scene)[row].map(f32::from), "{file}: {line}");
                rows += 1;
            }
        }
        assert_eq!(rows, 3000, "{room}");
        let whole = text(&folder, &format!("out/{room}/{}.txt", &room[7..]));
        assert_eq!(whole.lines().count(), 3000, "{room}");
    }
}

#[test]
fn arrays_of_s3dis_have_seven_columns() {
    let folder = Folder::new();
    let names = made(&folder, "generate indoor -n 700 --layout s3dis-npy --scenes 2");
    assert_eq!(names, ["Area_1_office_1.npy", "Area_5_office_1.npy"]);
    let bytes = folder.read("out/Area_1_office_1.npy");
    assert_eq!(&bytes[..8], b"\x93NUMPY\x01\x00");
    let start = 10 + usize::from(u16::from_le_bytes([bytes[8], bytes[9]]));
    assert_eq!(start % 64, 0);
    let header = std::str::from_utf8(&bytes[10..start]).unwrap();
    assert!(header.starts_with("{'descr': '<f4', 'fortran_order': False, 'shape': (700, 7), }"));
    assert!(header.ends_with('\n'));
    assert_eq!(bytes.len(), start + 700 * 28);
    let scene = labeled(Setting::Indoor, 700, 1);
    for (row, numbers) in bytes[start..].chunks_exact(28).enumerate() {
        let read: Vec<_> = numbers.chunks_exact(4).map(float).collect();
        assert_eq!(read[..3], scene.points[row]);
        assert_eq!(read[3..6], colors(&scene)[row].map(f32::from));
        assert_eq!(read[6], f32::from(scene.classes[row]));
    }
}

#[test]
fn scenes_of_scannet_have_two_meshes_and_lists() {
    let folder = Folder::new();
    let names = made(&folder, "generate indoor -n 900 --seed 2 --layout scannet --scenes 7");
    assert_eq!(names.len(), 16, "{names:?}");
    assert_eq!(text(&folder, "out/scannetv2_val.txt"), "scene0000_00\nscene0006_00\n");
    assert_eq!(text(&folder, "out/scannetv2_train.txt").lines().count(), 5);
    let scene = labeled(Setting::Indoor, 900, 8);
    let ids = [22, 2, 1, 38, 38, 9, 8, 5, 7, 10, 6, 30, 39];
    for (ending, size) in [("ply", 16), ("labels.ply", 18)] {
        let name = format!("out/scans/scene0006_00/scene0006_00_vh_clean_2.{ending}");
        let bytes = folder.read(&name);
        let end = bytes.windows(11).position(|word| word == b"end_header\n").unwrap() + 11;
        let header = std::str::from_utf8(&bytes[..end]).unwrap();
        assert!(header.contains("format binary_little_endian 1.0\n"), "{header}");
        assert!(header.contains("element vertex 900\n"), "{header}");
        assert_eq!(header.contains("property ushort label\n"), size == 18, "{header}");
        assert_eq!(bytes.len(), end + 900 * size, "{name}");
        for (row, vertex) in bytes[end..].chunks_exact(size).enumerate() {
            let point = [0, 4, 8].map(|at| float(&vertex[at..]));
            assert_eq!(point, scene.points[row]);
            assert_eq!(vertex[12..15], colors(&scene)[row]);
            if size == 18 {
                let label = u16::from_le_bytes([vertex[16], vertex[17]]);
                assert_eq!(label, ids[usize::from(scene.classes[row])]);
            }
        }
        // Our own reader says that it leaves out the faces.
        let said = folder.run(&format!("info {name} --json"));
        assert_eq!((said.status, &said.json()["points"]), (0, &900.into()), "{}", said.err);
    }
}

#[test]
fn turns_of_semantickitti_have_labels_beside() {
    let folder = Folder::new();
    let names = made(&folder, "generate town -n 2500 --layout semantickitti --scenes 8");
    let wanted: Vec<_> = ["00", "08"]
        .iter()
        .flat_map(|sequence| {
            let turns = if *sequence == "00" { 6 } else { 2 };
            ["labels", "velodyne"].into_iter().flat_map(move |kind| {
                let ending = if kind == "labels" { "label" } else { "bin" };
                (0..turns).map(move |k| format!("sequences/{sequence}/{kind}/{k:06}.{ending}"))
            })
        })
        .collect();
    assert_eq!(names, wanted);
    let ids = [10, 11, 15, 18, 20, 30, 31, 32, 40, 44, 48, 49, 50, 51, 70, 71, 72, 80, 81];
    // Scenes 6 and 7 are the second of validation and the sixth of training.
    for (seed, turn) in [(6, "08/#/000001"), (7, "00/#/000005")] {
        let scene = labeled(Setting::Town, 2500, seed);
        let Paint::Intensity(intensity) = &scene.paint else { panic!("no intensity") };
        let path = |kind: &str| format!("out/sequences/{}", turn.replace('#', kind));
        let points = folder.read(&(path("velodyne") + ".bin"));
        let labels = folder.read(&(path("labels") + ".label"));
        assert_eq!((points.len(), labels.len()), (2500 * 16, 2500 * 4));
        for row in 0..2500 {
            let read: Vec<_> = points[16 * row..][..16].chunks_exact(4).map(float).collect();
            assert_eq!(read[..3], scene.points[row]);
            assert_eq!(read[3], intensity[row]);
            let label = u32::from_le_bytes(labels[4 * row..][..4].try_into().unwrap());
            let class = scene.classes[row];
            let id = if class == UNLABELED { 0 } else { ids[usize::from(class)] };
            assert_eq!(label & 0xffff, id, "turn {turn}, row {row}");
        }
    }
}

#[test]
fn one_file_has_columns_for_colors_and_classes() {
    let folder = Folder::new();
    folder.ok("generate indoor -n 400 --seed 3 --labels -o room.csv");
    let scene = labeled(Setting::Indoor, 400, 3);
    let text = text(&folder, "room.csv");
    let mut lines = text.lines();
    assert_eq!(lines.next(), Some("x,y,z,red,green,blue,label"));
    for (row, line) in lines.enumerate() {
        let numbers: Vec<f32> = line.split(',').map(|word| word.parse().unwrap()).collect();
        assert_eq!(numbers[..3], scene.points[row]);
        assert_eq!(numbers[3..6], colors(&scene)[row].map(f32::from));
        assert_eq!(numbers[6], f32::from(scene.classes[row]));
    }
    folder.ok("generate town -n 400 --labels -o turn.ply");
    let info = folder.ok("info turn.ply --json").json();
    let fields: Vec<_> =
        info["fields"].as_array().unwrap().iter().map(|field| field["name"].clone()).collect();
    assert_eq!(fields, ["x", "y", "z", "intensity", "label"]);
    // Without labels, points alone.
    folder.ok("generate town -n 400 -o bare.npy");
    assert_eq!(folder.ok("info bare.npy --json").json()["points"], 400);
}

#[test]
fn what_does_not_fit_is_refused() {
    let folder = Folder::new();
    std::fs::create_dir(folder.path("out")).unwrap();
    let fails = |arguments: &str, words: &[&str]| {
        folder.fails(&format!("generate {arguments}"), words);
    };
    fails("room -n 5 --labels -o a.ply", &["--labels", "indoor", "town", "room"]);
    fails("town -n 5 --labels --layout s3dis -o out", &["--layout s3dis", "indoor", "town"]);
    fails("indoor -n 5 --labels --layout semantickitti -o out", &["semantickitti", "town"]);
    fails("indoor -n 5 --layout s3dis -o out", &["--labels"]);
    fails("indoor -n 5 --labels --layout kitti -o out", &["kitti", "semantickitti"]);
    fails("indoor -n 5 --labels --scenes 2 -o a.ply", &["--layout"]);
    fails("indoor -n 5 --labels --layout s3dis --scenes 0 -o out", &["--scenes 0", "at least 1"]);
    fails("indoor -n 5 --labels --layout s3dis --format ply -o out", &["--format", "--layout"]);
    fails("indoor -n 5 --labels --layout s3dis -o no", &["no", "folder"]);
    let last = u64::MAX;
    fails(
        &format!("indoor -n 5 --seed {last} --labels --layout s3dis -o out"),
        &["--seed", "too large"],
    );
    assert_eq!(folder.files(), ["out"]);
    folder.write("out/notes.txt", "mine");
    fails("indoor -n 5 --labels --layout s3dis -o out", &["out", "not empty"]);
    assert_eq!(files(&folder.path("out")).len(), 1);
    fails("house -n 5 -o a.ply", &["house", "room", "indoor", "town"]);
}
