//! `farpoint compare`, and `farpoint sample` with approximate samplers.

use crate::common::{Folder, indices, shared, text};
use farpoint::approximate::{ApproximateSampler, Keep, Method};
use farpoint::measure::quality;
use farpoint::{Algorithm, Sampler};
use std::path::Path;

#[test]
fn approximate_samples_are_those_of_the_library() {
    let folder = Folder::new();
    let room = folder.room("room.ply", 3000);
    let cases = [
        ("random", Method::Random { seed: 0 }),
        ("random --seed 7", Method::Random { seed: 7 }),
        ("grid", Method::Grid { keep: Keep::Center }),
        ("grid --keep-point first", Method::Grid { keep: Keep::First }),
        ("grid --keep-point random --seed 3", Method::Grid { keep: Keep::Random(3) }),
    ];
    for (options, method) in cases {
        let output =
            folder.ok(&format!("sample room.ply -n 700 --indices - --algorithm {options}"));
        let expected = ApproximateSampler::count(method, 700).sample(&room).unwrap().indices;
        assert_eq!(indices(&output.out), expected, "{options}");
    }
    let output =
        folder.ok("sample room.ply --indices - --algorithm grid --cell 0.5 --keep-point first");
    let grid = Method::Grid { keep: Keep::First };
    assert_eq!(
        indices(&output.out),
        ApproximateSampler::cell(grid, 0.5).sample(&room).unwrap().indices
    );
    let exact = folder.ok("sample room.ply -n 700 --indices - --algorithm radius:nvox=3");
    assert_eq!(indices(&exact.out), Sampler::count(700).sample(&room).unwrap().indices);
}

#[test]
fn approximate_samples_say_so_and_keep_attributes() {
    let folder = Folder::new();
    let room = folder.room("room.ply", 2000);
    let table = folder.ok("-q sample room.ply -n 500 --algorithm random").text();
    assert!(table.contains("random (approximate)"), "{table}");
    let json = folder.ok("sample room.ply -n 500 --algorithm grid --json").json();
    assert_eq!((json["exact"].as_bool(), json["samples"].as_u64()), (Some(false), Some(500)));
    assert!(json["cell"].as_f64().unwrap() > 0.0 && json["cells"].as_u64().unwrap() >= 500);
    let grid = Method::Grid { keep: Keep::Center };
    let rows = ApproximateSampler::count(grid, 500).sample(&room).unwrap().indices;
    let truth = quality(&room, &rows).unwrap().coverage.max;
    assert_eq!(json["covering_radius"].as_f64().unwrap(), truth);
    assert_eq!(folder.ok("sample room.ply -n 5 --json").json()["exact"], true);
    folder.write("a.csv", "x,y,z,gain\n0,0,0,7\nnan,0,0,8\n1,1,0,9\n5,5,0,6\n");
    let output = folder.run("sample a.csv -n 2 --algorithm random -o b.csv");
    assert_eq!(output.status, 0, "{}", output.err);
    let text = String::from_utf8(folder.read("b.csv")).unwrap();
    assert!(text.contains("gain") && text.lines().count() == 3, "{text}");
}

#[test]
fn centroids_are_written_with_their_counts() {
    let folder = Folder::new();
    folder.write("a.xyz", text(&[[0.0, 0.0, 0.0], [1.0, 0.0, 0.0], [9.0, 9.0, 9.0]]));
    let output =
        folder.run("sample a.xyz --cell 4 --algorithm grid --keep-point centroid -o b.csv");
    assert_eq!(output.status, 0, "{}", output.err);
    assert!(output.text().contains("grid, centroids (approximate)"), "{}", output.text());
    let text = String::from_utf8(folder.read("b.csv")).unwrap();
    assert!(text.contains("points"), "{text}");
    let rows: Vec<Vec<f64>> = text
        .lines()
        .skip(1)
        .map(|line| line.split(',').map(|cell| cell.trim().parse().unwrap()).collect())
        .collect();
    assert_eq!(rows, [[0.5, 0.0, 0.0, 2.0], [9.0, 9.0, 9.0, 1.0]]);
}

#[test]
fn options_that_do_not_fit_are_refused() {
    let folder = Folder::new();
    // Before the input is read: there is no a.ply.
    let keep = "sample a.ply -n 5 --algorithm random --keep-point first";
    folder.fails(keep, &["--keep-point", "--algorithm grid", "random"]);
    folder.fails("sample a.ply --cell 5 --algorithm random", &["--cell", "grid", "random"]);
    folder.fails("sample a.ply --cell 0 --algorithm grid", &["--cell 0"]);
    for moved in ["quick:height=3", "fastpoint", "npdu", "morton"] {
        let baselines = &[moved.split(':').next().unwrap(), "lab/baselines"];
        folder.fails(&format!("sample a.ply -n 5 --algorithm {moved}"), baselines);
        folder.fails(&format!("compare a.ply -n 5 --algorithms auto,{moved}"), baselines);
    }
    folder.fails("sample a.ply -n 5 --algorithm grid --seed 1", &["--seed", "--keep-point random"]);
    folder.fails(
        "sample a.ply -n 5 --algorithm random --start 3",
        &["--start", "exact", "--algorithm random"],
    );
    folder.fails("sample a.ply -n 5 --algorithm random --device cuda", &["--device cuda"]);
    folder.fails("sample a.ply -n 5 --algorithm random --stats", &["--stats", "approximate"]);
    folder.fails("sample a.ply --spacing 1 --algorithm random", &["--spacing", "approximate"]);
    folder.fails(
        "sample a.ply -n 5 --algorithm grid --keep-point centroid --indices a.npy",
        &["centroid"],
    );
    folder.fails("order a.ply -o b.ply --algorithm random", &["random", "exact"]);
    folder.fails("compare a.ply", &["--count", "--ratio"]);
    folder.fails("compare a.ply -n 0", &["--count 0"]);
    folder.fails("compare a.ply --ratio 2", &["--ratio 2"]);
    folder.fails("compare a.ply -n 5 --algorithms auto,gird", &["gird", "did you mean 'grid'?"]);
    folder.fails("compare a.ply -n 5 -o look.jpg", &["look.jpg", ".png"]);
    folder.fails("compare a.ply -n 5 --csv no/where/a.csv", &["no/where"]);
    folder.fails("compare a.ply -n 5 -o -", &["stdout"]);
    assert!(folder.files().is_empty());
    folder.room("a.ply", 10);
    folder.fails("compare a.ply -n 11", &["11", "10"]);
    folder.fails("sample a.ply -n 11 --algorithm random", &["11", "10"]);
    assert_eq!(folder.files(), ["a.ply"]);
}

const ALL: &str = "auto,reference,naive,radius,radius:nvox=9,tree,peak,grid,grid:first,grid:random,grid:center,\
grid:centroid,random";

#[test]
fn every_sampler_is_compared() {
    let folder = Folder::new();
    let room = folder.room("room.ply", 2000);
    let output = folder.ok(&format!(
        "compare room.ply --ratio 0.25 --algorithms {ALL} --csv a.csv --json=a.json -o a.png"
    ));
    let table = output.text();
    for name in ALL.split(',') {
        assert!(table.lines().any(|line| line.starts_with(&format!("{name} "))), "{name}: {table}");
    }
    assert!(folder.read("a.png").starts_with(b"\x89PNG"));
    let csv = String::from_utf8(folder.read("a.csv")).unwrap();
    assert_eq!(csv.lines().count(), 1 + ALL.split(',').count());
    assert!(csv.lines().all(|line| line.split(',').count() == 17), "{csv}");
    let json: serde_json::Value = serde_json::from_slice(&folder.read("a.json")).unwrap();
    let samplers = json["samplers"].as_array().unwrap();
    let exact = Sampler::count(500).sample(&room).unwrap();
    let truth = quality(&room, &exact.indices).unwrap();
    for (found, name) in samplers.iter().zip(ALL.split(',')) {
        assert_eq!(found["sampler"], name);
        let exact = name.parse::<Algorithm>().is_ok();
        assert_eq!(found["exact"], exact, "{name}");
        if exact {
            assert_eq!(found["covering_radius"], truth.coverage.max, "{name}");
            assert_eq!(found["spacing"]["mean"], truth.spacing.unwrap().mean, "{name}");
            assert!(found["ineffective"].as_f64().unwrap() > 0.0, "{name}");
        }
        assert_eq!(found["unique"], 1.0);
    }
}

#[test]
fn comparisons_can_be_printed_and_drawn_as_svg() {
    let folder = Folder::new();
    folder.room("room.ply", 500);
    let output = folder.ok("compare room.ply -n 50 --algorithms peak,random --json -o a.svg");
    assert_eq!(output.json()["samplers"].as_array().unwrap().len(), 2);
    let svg = String::from_utf8(folder.read("a.svg")).unwrap();
    assert!(svg.starts_with("<svg") && svg.contains("data:image/png;base64,iVBOR"));
    assert_eq!(folder.files(), ["a.svg", "room.ply"]);
}

#[test]
fn a_picture_is_drawn_unless_it_is_not_wanted() {
    let folder = Folder::new();
    folder.room("room.ply", 500);
    let output = folder.ok("compare room.ply -n 50 --algorithms random --no-picture");
    assert!(!output.text().contains("picture"), "{}", output.text());
    assert_eq!(folder.files(), ["room.ply"]);
    let output = folder.ok("compare room.ply -n 50 --algorithms random");
    assert!(output.text().ends_with("\npicture: farpoint-compare.png\n"), "{}", output.text());
    assert_eq!(folder.files(), ["farpoint-compare.png", "room.ply"]);
    folder.fails("compare room.ply -n 50 --no-picture -o a.png", &["--no-picture"]);
}

/// One point, equal points, a line far from the origin, numbers near the largest.
#[test]
fn the_up_axis_of_a_picture_can_be_set() {
    let folder = Folder::new();
    folder.room("a.ply", 2000);
    folder.ok("generate room -n 2000 --seed 4 -o b.ply");
    let mut pictures = Vec::new();
    for up in ["", "--up z", "--up x"] {
        folder.ok(&format!("chamfer a.ply b.ply --per-point out.ply {up}"));
        let chamfer = folder.read("out.png");
        folder.ok(&format!("compare a.ply -n 200 --algorithms random -o out2.png {up}"));
        pictures.push([chamfer, folder.read("out2.png")]);
    }
    // A room has z up, which is guessed.
    let head = |picture: &[u8]| picture[..8] == *b"\x89PNG\r\n\x1a\n";
    assert!(pictures.iter().flatten().all(|picture| head(picture)));
    assert!(pictures[0] == pictures[1] && pictures[1][0] != pictures[2][0]);
    assert!(pictures[1][1] != pictures[2][1]);
    folder.fails("chamfer a.ply b.ply --up z", &["--per-point"]);
    folder.fails("compare a.ply -n 200 --up w", &["--up", "x, y, z"]);
}

#[test]
fn any_cloud_can_be_compared() {
    let folder = Folder::new();
    let line: String = (0..50).map(|k| format!("{}.25 0 0.001\n", 5_000_000 + k)).collect();
    let edge = "1e38 0 -1e38\n0 0 0\n";
    for cloud in ["7 7 7\n", "7 7 7\n7 7 7\n", edge, "0 0 0\nnan 0 0\n", &line] {
        folder.write("a.xyz", cloud);
        let output = folder.run(&format!("compare a.xyz -n 1 --algorithms {ALL} -o a.png"));
        assert_eq!(output.status, 0, "{cloud}: {}", output.err);
        assert!(folder.read("a.png").starts_with(b"\x89PNG"));
    }
}

#[test]
fn a_real_scan_is_compared() {
    if let Some(path) = shared("kitti/odometry_seq00_000000.bin") {
        scan_is_compared(&Folder::new(), &path);
    }
}

#[test]
fn a_generated_scan_is_compared() {
    let folder = Folder::new();
    folder.ok("generate lidar -n 20000 -o lidar.ply");
    scan_is_compared(&folder, &folder.path("lidar.ply"));
}

fn scan_is_compared(folder: &Folder, path: &Path) {
    let path = path.display();
    let output = folder.ok(&format!("compare {path} --ratio 0.25 -o a.png --json=a.json"));
    assert!(output.text().contains("grid:centroid"), "{}", output.text());
    let json: serde_json::Value = serde_json::from_slice(&folder.read("a.json")).unwrap();
    let radius = |k: usize| json["samplers"][k]["covering_radius"].as_f64().unwrap();
    assert!((1..5).all(|k| radius(k) > radius(0)), "farthest point sampling covers best");
    assert!(radius(4) > 10.0 * radius(0), "random leaves holes");
}
