//! `farpoint generate --labels`: scenes with classes in one file, with columns for them.

use crate::common::Folder;
use farpoint_generate::{Labeled, Paint, Setting, labeled};

fn colors(scene: &Labeled) -> &[[u8; 3]] {
    match &scene.paint {
        Paint::Colors(colors) => colors,
        Paint::Intensity(_) => panic!("no colors"),
    }
}

fn text(folder: &Folder, name: &str) -> String {
    String::from_utf8(folder.read(name)).unwrap()
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
fn invalid_options_are_refused() {
    let folder = Folder::new();
    let fails = |arguments: &str, words: &[&str]| {
        folder.fails(&format!("generate {arguments}"), words);
    };
    fails("room -n 5 --labels -o a.ply", &["--labels", "indoor", "town", "room"]);
    fails("house -n 5 -o a.ply", &["house", "room", "indoor", "town"]);
    assert!(folder.files().is_empty());
}
