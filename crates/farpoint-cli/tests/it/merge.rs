//! Several files as one cloud, in memory and through the disk; filters; the order of what is written.

use crate::common::{Folder, indices};
use std::fs;

/// Writes tiles `a.ply`, `b.ply` and `c.ply` of a room, of which b repeats the last 50 rows of a; also the room as
/// one file, with these rows twice.
fn tiles(n: usize) -> Folder {
    let folder = Folder::new();
    fs::create_dir(folder.path("tiles")).unwrap();
    let room = farpoint_generate::room(n, 3);
    let text = |rows: &[[f32; 3]]| {
        let line = |row: &[f32; 3]| format!("{} {} {} {}\n", row[0], row[1], row[2], row[2] * 10.0);
        rows.iter().map(line).collect::<String>()
    };
    let (first, second) = (n / 3, n / 2);
    let parts = [&room[..first], &room[first - 50..second], &room[second..]];
    for (name, rows) in ["a", "b", "c"].iter().zip(parts) {
        folder.write(&format!("{name}.xyz"), format!("# x y z height\n{}", text(rows)));
        folder.ok(&format!("convert {name}.xyz tiles/{name}.ply"));
    }
    folder.write("all.xyz", format!("# x y z height\n{}", text(&parts.concat())));
    folder.ok("convert all.xyz all.ply");
    folder
}

#[test]
fn tiles_are_sampled_as_one_cloud() {
    let folder = tiles(3_000);
    folder.ok("sample all.ply -n 400 --indices one.npy -o one.ply");
    let output =
        folder.run("sample tiles --merge -n 400 --indices merged.npy -o merged.ply --json");
    assert_eq!(output.status, 0, "{}", output.err);
    output.names(&["50 rows"]);
    assert_eq!(folder.read("merged.npy"), folder.read("one.npy"));
    assert_eq!(folder.read("merged.ply"), folder.read("one.ply"));
    let object = output.json();
    assert_eq!((&object["equal_rows"], &object["points"]), (&50.into(), &3_050.into()));
    let firsts: Vec<_> =
        object["files"].as_array().unwrap().iter().map(|f| f["first_row"].clone()).collect();
    assert_eq!(firsts, [0, 1_000, 1_550]);
    // By a pattern, whatever order they are given in, and with an approximate sampler.
    folder.run("sample tiles/c.ply tiles/b.ply tiles/a.ply --merge -n 400 --indices again.npy");
    assert_eq!(folder.read("again.npy"), folder.read("one.npy"));
    folder.ok("sample all.ply --ratio 0.1 --algorithm random --indices one.npy");
    folder.run("sample tiles/*.ply --merge --ratio 0.1 --algorithm random --indices merged.npy");
    assert_eq!(folder.read("merged.npy"), folder.read("one.npy"));
    // Farthest first, too.
    folder.ok("order all.ply -o one.ply");
    folder.run("order tiles --merge -o merged.ply");
    assert_eq!(folder.read("merged.ply"), folder.read("one.ply"));
    // And written as one.
    folder.run("convert tiles --merge -o merged.ply");
    assert_eq!(folder.read("merged.ply"), folder.read("all.ply"));
}

#[test]
fn tiles_that_do_not_fit_go_through_the_disk() {
    let folder = tiles(30_000);
    folder.ok("sample all.ply --spacing 0.3 --indices one.npy -o one.ply");
    let output = folder.run("sample tiles --merge --spacing 0.3 --indices two.npy -o two.ply --memory 80MiB --spool s --json");
    assert_eq!(output.status, 0, "{}", output.err);
    assert_eq!(output.json()["algorithm"], "tiles", "{}", output.err);
    assert_eq!(output.json()["equal_rows"], 50);
    assert_eq!(folder.read("two.npy"), folder.read("one.npy"));
    assert_eq!(folder.read("two.ply"), folder.read("one.ply"));
    // Filters and the order of the input, both ways.
    let options = "--ratio 0.2 --keep height=2.. --drop x=1..2 --sorted";
    folder.run(&format!("sample all.ply {options} --indices one.npy -o one.ply"));
    folder.run(&format!(
        "sample tiles --merge {options} --indices two.npy -o two.ply --memory 80MiB --spool t"
    ));
    let chosen = indices(&folder.read("one.npy"));
    assert!(chosen.len() > 100 && chosen.is_sorted(), "{}", chosen.len());
    assert_eq!(folder.read("two.npy"), folder.read("one.npy"));
    assert_eq!(folder.read("two.ply"), folder.read("one.ply"));
}

#[test]
fn clouds_that_cannot_be_merged_are_an_error() {
    let folder = tiles(300);
    folder.fails("sample tiles --merge -n 10 --output-dir out", &["--merge", "--output-dir"]);
    folder.fails("sample tiles --merge -n 10 --jobs 2", &["--jobs", "--merge"]);
    folder.fails("sample tiles --merge -n 10 -o tiles/a.ply", &["is the input"]);
    folder.fails("sample tiles -n 10 -o out.ply", &["--output-dir", "--merge"]);
    folder.fails("sample nothing --merge -n 10", &["nothing"]);
    folder.write("tiles/bad.ply", "ply\nthis is none");
    folder.fails("sample tiles --merge -n 10", &["tiles/bad.ply"]);
}

/// Rows of a text with a class for each, `-` for NaN.
const CLASSES: &str = "x,y,z,classification,intensity\n0,0,0,2,10\n1,0,0,7,20\n2,0,5,2,30\n3,9,0,6,40\nnan,0,0,2,50\n4,0,0,6,60\n";

#[test]
fn filters_choose_rows_that_keep_their_numbers() {
    let folder = Folder::new();
    folder.write("a.csv", CLASSES);
    let rows = |options: &str| {
        let output =
            folder.run(&format!("sample a.csv --ratio 1 {options} --sorted --indices rows.npy"));
        assert_eq!(output.status, 0, "{options}: {}", output.err);
        indices(&folder.read("rows.npy"))
    };
    assert_eq!(rows(""), [0, 1, 2, 3, 5]);
    assert_eq!(rows("--keep classification=2,6"), [0, 2, 3, 5]);
    assert_eq!(rows("--keep class=2 --drop-zeros"), [2]);
    assert_eq!(rows("--drop classification=7,18"), [0, 2, 3, 5]);
    assert_eq!(rows("--keep intensity=20..40"), [1, 2, 3]);
    assert_eq!(rows("--keep intensity=20.. --keep classification=6"), [3, 5]);
    assert_eq!(rows("--box -1 -1 3.5 1"), [0, 1, 2]);
    assert_eq!(rows("--box3 -1 -1 -1 3.5 10 1"), [0, 1, 3]);
    assert_eq!(rows("--keep classification=99"), [0usize; 0]);
    assert_eq!(rows("--keep classification=building,low_noise"), [1, 3, 5]);
    assert_eq!(rows("--drop class=Ground"), [1, 3, 5]);
    // A square with a hole around (1, 0), and one around (3, 9): edges belong to them.
    folder.write("a.wkt", "MULTIPOLYGON (((0 -5, 3 -5, 3 5, 0 5), (.5 -1, 1.5 -1, 1.5 1, .5 1)), ((3 8, 4 8, 3 9)))\n");
    assert_eq!(rows("--polygon a.wkt"), [0, 2, 3]);
    let json = |geometry: &str| {
        format!(
            "{{\"type\":\"FeatureCollection\",\"features\":[{{\"type\":\"Feature\",\"geometry\":{geometry}}}]}}"
        )
    };
    let square = "{\"type\":\"Polygon\",\"coordinates\":[[[0,-5],[3,-5,7],[3,5],[0,5],[0,-5]],\
                  [[0.5,-1],[1.5,-1],[1.5,1],[0.5,1],[0.5,-1]]]}";
    folder.write("a.geojson", json(square));
    assert_eq!(rows("--polygon a.geojson --keep z=..3"), [0]);
    assert_eq!(rows("--polygon a.geojson"), [0, 2]);
    folder.write("line.json", json("{\"type\":\"LineString\",\"coordinates\":[[0,0],[1,1]]}"));
    folder.fails("sample a.csv -n 1 --polygon line.json", &["--polygon", "LineString", "Polygon"]);
    folder.write(
        "bad.json",
        json("{\"type\":\"Polygon\",\"coordinates\":[[[0,0],[1,\"a\"],[1,0]]]}"),
    );
    folder
        .fails("sample a.csv -n 1 --polygon bad.json", &["--polygon", "feature 1:", "coordinates"]);
    // Whatever is wrong with one of many features, its number and name are stated.
    for (geometry, words) in [
        ("{\"type\":\"Point\",\"coordinates\":[1,2]}", "'Point' is no area"),
        ("{\"type\":\"Polygon\",\"coordinates\":[[[0,0],[1,1]]]}", "2 corners"),
        ("{\"type\":\"MultiPolygon\",\"coordinates\":[[[0,0],[1,1],[1,0]]]}", "MultiPolygon"),
        (
            "{\"type\":\"GeometryCollection\",\"geometries\":[{\"type\":\"LineString\",\"coordinates\":[]}]}",
            "LineString",
        ),
    ] {
        for (names, named) in [
            ("\"id\":\"b7\"", "feature 2 (\"b7\"): "),
            ("\"properties\":{\"name\":\"lake\"}", "feature 2 (\"lake\"): "),
            ("\"properties\":null", "feature 2: "),
        ] {
            let feature =
                |geometry| format!("{{\"type\":\"Feature\",{names},\"geometry\":{geometry}}}");
            let all = [square, geometry].map(feature).join(",");
            folder.write(
                "b.json",
                format!("{{\"type\":\"FeatureCollection\",\"features\":[{all}]}}"),
            );
            folder.fails("sample a.csv -n 1 --polygon b.json", &["--polygon", named, words]);
        }
    }
    folder.fails("sample a.csv -n 1 --polygon none.json", &["--polygon", "none.json"]);
    folder.write("bad.wkt", "POINT (1 2)");
    folder.fails("sample a.csv -n 1 --polygon bad.wkt", &["--polygon", "MULTIPOLYGON"]);
    folder.fails("sample a.csv -n 1 --keep returns=first", &["return_number"]);
    folder.fails(
        "sample a.csv -n 1 --keep ring=1",
        &["no field 'ring'", "classification, intensity"],
    );
    folder.fails("sample a.csv -n 1 --keep class", &["--keep", "classification=2,6"]);
    folder.fails("sample a.csv -n 1 --box 5 0 1 1", &["--box", "lower corner"]);
    folder.fails("sample a.csv -n 1 --keep class=2 --start 1", &["--start 1", "filters"]);
    folder.fails("sample a.csv -n 9 --keep class=2", &["9", "2"]);
    folder.fails("sample a.csv --ratio 1 --sorted", &["--sorted"]);
    assert_eq!(
        folder
            .run("sample a.csv --cell 2 --algorithm grid --keep-point first --keep class=2,6 -o b.csv")
            .status,
        0
    );
    for command in ["order a.csv -o b.csv", "sample a.csv -n 2", "convert a.csv b.csv"] {
        folder.fails(&format!("{command} --keep first"), &["--keep-point first"]);
    }
    folder.run("order a.csv -o b.csv --keep class=2");
    assert_eq!(String::from_utf8(folder.read("b.csv")).unwrap().lines().count(), 3);
}

#[test]
fn filters_in_folders_are_those_of_each_file() {
    let folder = Folder::new();
    fs::create_dir(folder.path("in")).unwrap();
    for name in ["a", "b"] {
        folder.write(&format!("in/{name}.csv"), CLASSES);
    }
    let output = folder.run("sample in --output-dir out --ratio 1 --keep class=2 --sorted");
    assert_eq!(output.status, 0, "{}", output.err);
    folder.run("sample in/a.csv -o one.csv --ratio 1 --keep class=2 --sorted");
    assert_eq!(folder.read("out/b.csv"), folder.read("one.csv"));
    let again = folder.run("sample in --output-dir out --ratio 1 --keep class=6 --sorted --json");
    assert_eq!(again.json()["done"], 2);
    let output = folder.run("sample in --output-dir other --ratio 1 --keep ring=2");
    assert_eq!(output.status, 3);
    output.names(&["in/a.csv", "'ring'"]);
}

#[test]
fn files_are_converted_in_their_order() {
    let folder = Folder::new();
    folder.write("a.csv", CLASSES);
    folder.ok("convert a.csv a.ply");
    folder.ok("convert a.ply back.csv");
    assert_eq!(folder.read("back.csv"), folder.read("a.csv"));
    folder.run("convert a.ply some.csv --keep class=2,7");
    let text = String::from_utf8(folder.read("some.csv")).unwrap();
    assert_eq!(
        text,
        "x,y,z,classification,intensity\n0,0,0,2,10\n1,0,0,7,20\n2,0,5,2,30\nNaN,0,0,2,50\n"
            .replace("NaN", "nan")
    );
    folder.fails("convert a.csv", &["no output"]);
    folder.fails("convert a.csv b.csv c.csv", &["--merge", "--output-dir"]);
    folder.fails("convert a.csv a.csv", &["is the input"]);
    folder.fails("convert a.csv b.xxx", &["format"]);
    fs::create_dir(folder.path("in")).unwrap();
    folder.ok("convert a.csv in/a.csv");
    folder.ok("convert a.csv in/b.ply");
    folder.write("in/bad.ply", "nothing");
    let output = folder.run("convert in --output-dir out --to npz");
    assert_eq!(output.status, 3, "{}", output.err);
    let mut names: Vec<_> =
        fs::read_dir(folder.path("out")).unwrap().map(|e| e.unwrap().file_name()).collect();
    names.sort();
    assert_eq!(names, ["a.npz", "b.npz", "farpoint.jsonl"]);
}

#[test]
fn info_of_merged_tiles() {
    let folder = tiles(300);
    let object = folder.run("info tiles --merge --json --points").json();
    assert_eq!((&object["points"], &object["repeated"]), (&350.into(), &50.into()));
    assert_eq!(object["equal_rows"], 50);
    for name in ["a", "b"] {
        folder.run(&format!("convert {name}.xyz tiles/{name}.las --scale 0.0001"));
    }
    let output = folder.ok("info tiles/a.las tiles/b.las --merge --json");
    let object = output.json();
    assert_eq!((&object["points"], &object["scale"][0]), (&200.into(), &0.0001.into()));
    assert_eq!(
        (&object["points_read"], object["files"].as_array().unwrap().len()),
        (&false.into(), 2)
    );
    let whole = folder.ok("info all.ply --json --points").json();
    assert!(object["max"][0].as_f64().unwrap() <= whole["max"][0].as_f64().unwrap() + 1e-4);
}
