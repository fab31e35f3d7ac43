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
