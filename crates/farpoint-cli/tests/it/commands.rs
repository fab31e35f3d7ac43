//! The other commands: order, info, generate, demo, bench, --version, --help.

use crate::common::{Folder, indices};

#[test]
fn order_writes_the_whole_cloud_with_its_spacing() {
    let folder = Folder::new();
    let room = folder.room("room.ply", 500);
    folder.ok("order room.ply -o ordered.txt");
    let expected = farpoint::Sampler::whole().sample(&room).unwrap();
    let text = String::from_utf8(folder.read("ordered.txt")).unwrap();
    let rows: Vec<Vec<f32>> = text
        .lines()
        .filter_map(|line| line.split([' ', ',']).map(|word| word.parse().ok()).collect())
        .collect();
    assert_eq!(rows.len(), 500);
    for (k, row) in rows.iter().enumerate() {
        assert_eq!(row[..3], room[expected.indices[k]], "row {k}");
        assert_eq!(row[3], expected.distance(k), "row {k}");
    }
    assert_eq!(rows[0][3], f32::INFINITY);
}

#[test]
fn ordered_prefixes_are_samples() {
    let folder = Folder::new();
    folder.room("room.ply", 300);
    folder.ok("order room.ply -o ordered.ply");
    // In the ordered file a sample that starts at row 0 is the rows 0, 1, 2, ...
    let rows = indices(&folder.ok("sample ordered.ply -n 100 --indices -").out);
    assert_eq!(rows, (0..100).collect::<Vec<_>>());
    let info = folder.ok("info ordered.ply --json").json();
    let fields = info["fields"].as_array().unwrap();
    assert!(fields.iter().any(|field| field["name"] == "spacing"), "{info}");
}

#[test]
fn info_counts_rows() {
    let folder = Folder::new();
    folder.write("few.xyz", "0 0 0\n1 2 3\n1 2 3\nnan 1 1\n-1 5 2.5\n");
    let json = folder.ok("info few.xyz --points --json").json();
    assert_eq!(json["points"], 5);
    assert_eq!(json["not_finite"], 1);
    assert_eq!(json["zeros"], 1);
    assert_eq!(json["repeated"], 1);
    assert_eq!(json["min"], serde_json::json!([-1.0, 0.0, 0.0]));
    assert_eq!(json["max"], serde_json::json!([1.0, 5.0, 3.0]));
    let table = folder.ok("info few.xyz --points").text();
    assert!(table.contains("repeated rows  1 (20.00 %)"), "{table}");
}

#[test]
fn generate_makes_every_kind_in_every_format() {
    let folder = Folder::new();
    for kind in farpoint_generate::Kind::ALL {
        folder.ok(&format!("generate {kind} -n 100 --seed 2 -o cloud.npy"));
        assert_eq!(folder.ok("info cloud.npy --json").json()["points"], 100, "{kind}");
    }
    for name in ["a.ply", "a.pcd", "a.las", "a.laz", "a.npy", "a.xyz", "a.csv"] {
        let output = folder.run(&format!("generate room -n 50 -o {name}"));
        assert_eq!(output.status, 0, "{name}: {}", output.err);
        assert_eq!(folder.ok(&format!("info {name} --json")).json()["points"], 50, "{name}");
    }
    folder.ok("generate room -n 0 -o none.ply");
    assert_eq!(folder.ok("info none.ply --json").json()["points"], 0);
}

#[test]
fn generate_says_where_scenes_with_classes_are() {
    let folder = Folder::new();
    for kind in ["indoor", "town"] {
        folder.fails(&format!("generate {kind} -n 5 -o a.ply"), &[kind, "room", "lab/scenes"]);
    }
    folder.fails("generate room -n 5 --labels -o a.ply", &["--labels"]);
    assert!(folder.files().is_empty());
}

#[test]
fn demo_writes_a_cloud_and_a_picture() {
    let folder = Folder::new();
    std::fs::create_dir(folder.path("made")).unwrap();
    let output = folder.ok("demo --points 5k --ratio 25% --out-dir made");
    let text = output.text();
    for word in ["5,000", "1,250", "farthest point", "random", "covering radius", "spacing"] {
        assert!(text.contains(word), "{word}: {text}");
    }
    assert_eq!(folder.ok("info made/farpoint-demo.ply --json").json()["points"], 1250);
    let picture = folder.read("made/farpoint-demo.png");
    assert_eq!(&picture[..8], b"\x89PNG\r\n\x1a\n");
    let wide = u32::from_be_bytes(picture[16..20].try_into().unwrap());
    assert!(wide > 900, "{wide}");
}

#[test]
fn version_tells_simd_and_gpu() {
    let folder = Folder::new();
    let text = folder.ok("--version").text();
    assert!(text.starts_with(&format!("farpoint {}\n", env!("CARGO_PKG_VERSION"))), "{text}");
    match farpoint_cuda::Properties::all() {
        Ok(gpus) => assert!(text.contains(&format!("GPU: {}\n", gpus[0])), "{text}"),
        Err(error) => assert!(text.contains(&format!("GPU: none ({error})")), "{text}"),
    }
    assert!(text.contains(farpoint::Level::detect().name()), "{text}");
}

#[test]
fn help_has_examples() {
    let folder = Folder::new();
    for command in [
        "",
        "sample",
        "order",
        "chamfer",
        "neighbors",
        "info",
        "generate",
        "compare",
        "clean",
        "man",
        "completions",
    ] {
        let text = folder.ok(&format!("{command} --help")).text();
        assert!(text.contains("Example") && text.contains("farpoint "), "{command}: {text}");
    }
}

#[test]
#[cfg(unix)]
fn a_reader_that_goes_away_is_no_error() {
    let folder = Folder::new();
    folder.room("room.xyz", 20_000);
    for arguments in
        ["order room.xyz -o -", "sample room.xyz -n 9000 -o -", "--help", "info room.xyz"]
    {
        let mut child = std::process::Command::new(env!("CARGO_BIN_EXE_farpoint"))
            .args(arguments.split_whitespace())
            .current_dir(folder.path("."))
            .stdout(std::process::Stdio::piped())
            .stderr(std::process::Stdio::piped())
            .spawn()
            .unwrap();
        drop(child.stdout.take());
        let output = child.wait_with_output().unwrap();
        let err = String::from_utf8_lossy(&output.stderr);
        assert_eq!((output.status.code(), err.as_ref()), (Some(0), ""), "{arguments}");
    }
}
