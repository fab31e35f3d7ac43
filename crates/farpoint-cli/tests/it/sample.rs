//! `farpoint sample` on generated clouds: what it writes, prints and warns of.

use crate::common::{Folder, indices, text};
use farpoint::{Sampler, Start};

#[test]
fn indices_are_those_of_the_library() {
    let folder = Folder::new();
    let room = folder.room("room.ply", 3000);
    folder.ok("sample room.ply --ratio 0.25 --indices rows.npy --start 5");
    let expected = Sampler::ratio(0.25).start(Start::Index(5)).sample(&room).unwrap();
    assert_eq!(indices(&folder.read("rows.npy")), expected.indices);
}

#[test]
fn every_algorithm_thread_count_and_level_gives_the_same() {
    let folder = Folder::new();
    folder.room("room.npy", 2000);
    let all = |options: &str| {
        let output = folder.ok(&format!("sample room.npy -n 500 --indices - {options}"));
        indices(&output.out)
    };
    let expected = all("--algorithm reference");
    assert_eq!(expected.len(), 500);
    for options in [
        "",
        "--algorithm naive --threads 1",
        "--algorithm naive --threads 3",
        "--algorithm tree",
        "--algorithm peak --threads 2 --simd portable",
        "--algorithm radius:nvox=7",
        "--algorithm radius:radius-pruning=off",
        "--algorithm radius:point_skip=false,radius-pruning=off",
        "--device cpu",
        "--device auto --algorithm auto",
    ] {
        assert_eq!(all(options), expected, "{options}");
    }
}

#[test]
fn json_has_its_keys() {
    let folder = Folder::new();
    let room = folder.room("room.pcd", 1000);
    let output = folder.ok("sample room.pcd -o small.ply -n 100 --json --threads 1");
    let json = output.json();
    assert_eq!(json["points"], 1000);
    assert_eq!(json["dropped"], 0);
    assert_eq!(json["samples"], 100);
    assert_eq!(json["device"], "cpu");
    assert_eq!(json["threads"], 1);
    assert!(json["algorithm"].is_string() && json["algorithm"] != "auto");
    for key in ["read_seconds", "sample_seconds", "write_seconds"] {
        assert!(json[key].as_f64().unwrap() >= 0.0, "{key}");
    }
    let expected = Sampler::count(100).sample(&room).unwrap().covering_radius();
    assert_eq!(json["covering_radius"].as_f64().unwrap(), f64::from(expected));
    assert!(json.get("statistics").is_none());
    assert_eq!(output.text().lines().count(), 1);
}

#[test]
fn statistics_on_request() {
    let folder = Folder::new();
    folder.room("room.ply", 1000);
    let output = folder.ok("sample room.ply -n 10 --json --stats --algorithm naive");
    let statistics = &output.json()["statistics"];
    assert!(statistics["distance_evaluations"].as_u64().unwrap() >= 9000, "{statistics}");
    assert!(statistics["effective_updates"].is_u64());
    assert_eq!(statistics["effective_by_step"].as_array().unwrap().len(), 10);
    let table = folder.ok("-q sample room.ply -n 10 --stats").text();
    assert!(table.contains("distance evaluations"), "{table}");
}

#[test]
fn without_outputs_a_table_is_printed() {
    let folder = Folder::new();
    folder.room("room.ply", 1000);
    let table = folder.ok("-q sample room.ply --ratio 0.1").text();
    for word in ["points", "1,000", "samples", "100", "covering radius", "auto"] {
        // The algorithm that ran is named, not auto.
        assert_eq!(table.contains(word), word != "auto", "{word}: {table}");
    }
    assert_eq!(folder.files(), ["room.ply"]);
}

#[test]
fn spacing_stops_at_the_covering_radius() {
    let folder = Folder::new();
    folder.room("room.ply", 2000);
    let json = folder.ok("sample room.ply --spacing 0.5 --json").json();
    let samples = json["samples"].as_u64().unwrap();
    assert!(json["covering_radius"].as_f64().unwrap() <= 0.5);
    let fewer = folder.ok(&format!("sample room.ply -n {} --json", samples - 1)).json();
    assert!(fewer["covering_radius"].as_f64().unwrap() > 0.5);
}

#[test]
fn output_holds_the_rows_in_order() {
    let folder = Folder::new();
    let room = folder.room("room.xyz", 400);
    folder.ok("sample room.xyz -o small.xyz -n 40 --indices rows.npy");
    let rows = indices(&folder.read("rows.npy"));
    let written = String::from_utf8(folder.read("small.xyz")).unwrap();
    let written: Vec<Vec<f32>> = written
        .lines()
        .filter(|line| !line.starts_with(['#', 'x', '/']))
        .map(|line| line.split_whitespace().map(|word| word.parse().unwrap()).collect())
        .collect();
    let expected: Vec<_> = rows.iter().map(|row| room[*row].to_vec()).collect();
    assert_eq!(written, expected);
}

#[test]
fn pipes_work_both_ways() {
    let folder = Folder::new();
    let rows = text(&farpoint_generate::cube(300, 1));
    let output = folder.pipe("sample - -o - -n 30", rows.as_bytes());
    assert_eq!((output.status, output.err.as_str()), (0, ""));
    let kept = output.text();
    assert!(kept.lines().filter(|line| !line.starts_with('#')).count() >= 30, "{kept}");
    assert!(!kept.contains("covering"), "the table got into the data");
}

#[test]
fn random_start_depends_on_the_seed_alone() {
    let folder = Folder::new();
    let room = folder.room("room.ply", 1000);
    let rows = |seed: u64| {
        let options = format!("--start random --seed {seed} --indices -");
        indices(&folder.ok(&format!("sample room.ply -n 5 {options}")).out)
    };
    assert_eq!(rows(1), rows(1));
    assert_ne!(rows(1), rows(2));
    let expected = Sampler::count(5).start(Start::Random(1)).sample(&room).unwrap();
    assert_eq!(rows(1), expected.indices);
}

#[test]
fn several_starts_go_on_from_a_sample() {
    let folder = Folder::new();
    folder.room("room.ply", 1000);
    let first = indices(&folder.ok("sample room.ply -n 50 --indices -").out);
    let given: Vec<_> = first[..20].iter().map(ToString::to_string).collect();
    let options = format!("--start {} --indices -", given.join(","));
    assert_eq!(indices(&folder.ok(&format!("sample room.ply -n 50 {options}")).out), first);
}

#[test]
fn rows_with_nan_are_left_out_and_counted() {
    let folder = Folder::new();
    folder.write("bad.xyz", "nan 0 0\n0 0 1\n1 2 3\n4 inf 6\n7 8 9\n");
    let output = folder.run("sample bad.xyz -n 3 --indices rows.npy --json");
    assert_eq!(output.status, 0, "{}", output.err);
    assert!(
        output.err.contains("warning: bad.xyz: 2 of 5 rows hold NaN or infinity"),
        "{}",
        output.err
    );
    assert_eq!(output.json()["dropped"], 2);
    assert_eq!(output.json()["points"], 5);
    // The first row that can be used is the start; indices count the file's rows.
    assert_eq!(indices(&folder.read("rows.npy")), [1, 4, 2]);
}

#[test]
fn rows_of_zeros_print_a_warning_and_are_dropped_on_request() {
    let folder = Folder::new();
    folder.write("zeros.xyz", "0 0 0\n1 0 0\n5 0 0\n0 0 0\n3 0 0\n");
    let output = folder.run("sample zeros.xyz -n 3 --json");
    output.names(&["2 of 5 rows", "--drop-zeros"]);
    assert_eq!(output.json()["dropped"], 0);
    let output = folder.run("sample zeros.xyz -n 3 --json --drop-zeros --indices rows.npy");
    assert_eq!(output.status, 0, "{}", output.err);
    assert_eq!(output.json()["dropped"], 2);
    assert_eq!(indices(&folder.read("rows.npy")), [1, 2, 4]);
    folder.fails("sample zeros.xyz -n 2 --drop-zeros --start 3", &["--start 3", "--drop-zeros"]);
}

#[test]
fn doubles_are_narrowed_only_on_request() {
    let folder = Folder::new();
    let corner = 4_800_000.0;
    let rows: Vec<_> = (0..50).map(|k| corner + f64::from(k * k % 53) * 0.01).collect();
    let lines: String = rows.iter().map(|x| format!("{x:.2} 0.25 0.5\n")).collect();
    folder.write("wide.xyz", lines);
    let wide = folder.ok("sample wide.xyz -n 20 --indices -").out;
    let output = folder.run("sample wide.xyz -n 20 --indices - --f32");
    assert!(
        output.err.contains("single precision") && output.err.contains("4800000"),
        "{}",
        output.err
    );
    // A hundredth is seen in both; a plain cast to single precision would have made most equal.
    assert_eq!(indices(&wide).len(), 20);
    assert_eq!(indices(&output.out).len(), 20);
    let far = |rows_: &[usize]| rows_.iter().map(|row| rows[*row]).fold(f64::INFINITY, f64::min);
    assert_eq!(far(&indices(&wide)), far(&indices(&output.out)));
}
