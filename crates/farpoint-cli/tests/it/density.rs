//! `farpoint info --density`: densities of files and folders, and the map.

use crate::common::Folder;

const METERS: &str = r#"PROJCS["grid",GEOGCS["base"],UNIT["metre",1]]"#;
const FEET: &str = r#"PROJCS["grid",GEOGCS["base"],UNIT["foot",0.3048]]"#;

/// Writes a square of 20 m with points every 0.25 m, of which every other is a first return, from this x on; one `unit`
/// is this many meters.
fn tile(folder: &Folder, name: &str, x: f64, unit: f64, wkt: &str) {
    let mut lines = "x,y,z,return_number\n".to_owned();
    for k in 0..6400 {
        let (column, row) = (f64::from(k % 80), f64::from(k / 80));
        let [x, y] = [x + column * 0.25 + 0.125, row * 0.25 + 0.125].map(|meters| meters / unit);
        lines += &format!("{x},{y},0,{}\n", 1 + k % 2);
    }
    folder.write("tile.csv", lines);
    folder.ok(&format!("convert tile.csv -o {name} --scale 1e-6 --quiet"));
    folder.add_crs(name, wkt);
}

/// Tests that a number is within a thousandth.
fn near(found: &serde_json::Value, expected: f64) {
    let found = found.as_f64().unwrap();
    assert!((found / expected - 1.0).abs() < 1e-3, "{found} {expected}");
}

#[test]
fn densities_are_per_square_meter_whatever_the_unit() {
    let folder = Folder::new();
    for (name, unit, wkt) in [("m.las", 1.0, METERS), ("ft.las", 0.3048, FEET)] {
        tile(&folder, name, 0.0, unit, wkt);
        let density = &folder.ok(&format!("info {name} --density --json")).json()["density"];
        assert_eq!((&density["unit"], &density["cell"]), (&"m".into(), &1.0.into()));
        assert_eq!(density["cells"], 400);
        near(&density["mean"], 16.0);
        near(&density["percentiles"]["5"], 16.0);
        near(&density["first_returns"], 8.0);
        near(&density["spacing"]["mean"], 0.25);
        near(&density["coverage"], 1.0);
    }
    let text = folder.ok("info ft.las --density").text();
    assert!(text.contains("16.00 points per m² of occupied cells"), "{text}");
    assert!(folder.ok("info m.las --json").json()["density"].is_null());
    // A text states its unit in the names of its columns.
    let feet = String::from_utf8(folder.read("tile.csv")).unwrap();
    folder.write("ft.csv", feet.replace("x,y,z", "X_ft,Y_ft,Z_ft"));
    let density = &folder.ok("info ft.csv --density --json").json()["density"];
    assert_eq!((&density["unit"], &density["cells"]), (&"m".into(), &400.into()));
    near(&density["mean"], 16.0);
}

#[test]
fn a_folder_has_a_total_and_a_map() {
    let folder = Folder::new();
    std::fs::create_dir(folder.path("tiles")).unwrap();
    tile(&folder, "tiles/a.las", 0.0, 1.0, METERS);
    tile(&folder, "tiles/b.las", 30.0, 1.0, METERS);
    let report = folder.ok("info tiles --density --map map.png --json").json();
    assert_eq!(report["files"].as_array().unwrap().len(), 2);
    let total = &report["density"];
    assert_eq!((&total["files"], &total["points"]), (&2.into(), &12_800.into()));
    near(&total["mean"], 16.0);
    near(&total["area"], 800.0);
    let map = folder.read("map.png");
    let number = |at: usize| u32::from_be_bytes(map[at..at + 4].try_into().unwrap());
    assert_eq!(&map[1..4], b"PNG");
    assert!(number(16) == 976 && (500..900).contains(&number(20)), "{}", number(20));
}

/// Strips of one scan that overlap: the ground counts once, in the same cells for all, whatever the options.
#[test]
fn strips_that_overlap() {
    let folder = Folder::new();
    tile(&folder, "a.las", 0.0, 1.0, METERS);
    tile(&folder, "b.las", 10.0, 1.0, METERS);
    let report = folder.ok("info a.las b.las --density --json").json();
    let total = &report["density"];
    near(&total["area"], 600.0);
    near(&total["mean"], 12_800.0 / 600.0);
    near(&total["min"], 16.0);
    near(&total["first_returns"], 6_400.0 / 600.0);
    let merged = folder.run("info a.las b.las --merge --density --json").json();
    for key in ["cell", "cells", "area", "mean", "coverage", "percentiles", "first_returns"] {
        assert_eq!(total[key], merged["density"][key], "{key}");
        for file in report["files"].as_array().unwrap() {
            assert!(!file["density"][key].is_null(), "{key}");
        }
    }
    // Sparse points need larger cells, and all files have these.
    folder.write("c.csv", "x,y,z\n0,0,0\n400,0,0\n0,400,0\n400,400,0\n");
    folder.ok("convert c.csv -o c.las");
    folder.add_crs("c.las", METERS);
    let report = folder.ok("info a.las b.las c.las --density --json").json();
    for file in report["files"].as_array().unwrap() {
        assert_eq!(file["density"]["cell"], report["density"]["cell"]);
    }
    // One of the four lies on the first tile.
    near(&report["density"]["area"], 603.0);
}

/// A row a file, unless more is requested; numbers as the file's scale states them.
#[test]
fn tables_of_files() {
    let folder = Folder::new();
    tile(&folder, "a.las", 277_750.0, 1.0, METERS);
    tile(&folder, "b.las", 277_760.0, 1.0, METERS);
    let text = folder.ok("info a.las b.las --density").text();
    let rows: Vec<&str> = text.lines().collect();
    assert!(
        rows[0].starts_with("file") && rows[0].contains("density") && rows[0].contains("CRS"),
        "{text}"
    );
    assert!(rows[1].starts_with("a.las") && rows[1].contains("16.00 per m²"), "{text}");
    assert!(rows[2].starts_with("b.las") && rows[3].is_empty(), "{text}");
    for words in [
        "21.33 points per m² of occupied cells, by file 16.00 to 16.00",
        "600.0 m²: 600 cells of 1.000 m",
    ] {
        assert!(text.contains(words), "{text}");
    }
    assert_eq!(folder.ok("info a.las b.las").text().lines().count(), 3);
    for long in ["info a.las b.las --density --verbose", "info a.las b.las --points", "info a.las"]
    {
        let text = folder.run(long).text();
        assert!(text.contains("minimum        277750.125000  0.125000  0.000000\n"), "{text}");
    }
    // A float32 of a text has no scale.
    folder.write("c.csv", "x,y,z\n0.1,2,3\n");
    assert!(folder.ok("info c.csv").text().contains("minimum        0.1  2  3\n"));
}

/// Files that cannot share a map are named.
#[test]
fn other_systems_have_no_total() {
    let folder = Folder::new();
    tile(&folder, "a.las", 0.0, 1.0, METERS);
    tile(&folder, "b.las", 0.0, 1.0, &METERS.replacen("grid", "lattice", 1));
    folder.ok("convert b.las -o c.csv --quiet");
    for (other, words) in [
        ("b.las", ["a.las in grid", "b.las in lattice"]),
        ("c.csv", ["a.las in grid", "c.csv without"]),
    ] {
        let output = folder.run(&format!("info a.las {other} --density --json"));
        output.names(&words);
        let report = output.json();
        assert!(report["density"].is_null());
        for file in report["files"].as_array().unwrap() {
            near(&file["density"]["mean"], 16.0);
        }
        folder.fails(
            &format!("info a.las {other} --density --map m.png"),
            &["m.png", "coordinate systems"],
        );
        assert!(!folder.files().contains(&"m.png".to_owned()));
    }
}

#[test]
fn what_has_no_density_is_refused() {
    let folder = Folder::new();
    tile(&folder, "d.las", 0.0, 1.0, r#"GEOGCS["WGS 84",UNIT["degree",0.0174532925]]"#);
    folder.fails("info d.las --density", &["degrees of WGS 84", "project"]);
    folder.write("none.xyz", "nan 0 0\n");
    assert!(folder.ok("info none.xyz --density --json").json()["density"].is_null());
    folder.fails("info none.xyz --density --map a.png", &["a.png", "no map"]);
    folder.fails("info none.xyz --density --map -", &["stdout"]);
    folder.fails("info none.xyz --density --map a.svg", &[".png"]);
    assert!(!folder.files().contains(&"a.png".to_owned()));
}
