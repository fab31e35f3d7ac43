//! `farpoint chamfer`: the numbers are the library's, the points and the picture are written,
//! and what can't be done is refused.

use crate::common::{Folder, shared, text};
use farpoint::neighbors::reference;
use farpoint_io::{Coordinates, ReadOptions};

#[test]
fn json_equals_the_library() {
    let folder = Folder::new();
    let a = folder.room("a.ply", 3000);
    folder.ok("generate room -n 2500 --seed 4 -o b.npy");
    let b = farpoint_generate::room(2500, 4);
    let truth = reference(&a, &b).unwrap();
    let json = folder.ok("chamfer a.ply b.npy --threshold 0.05 --threads 1 --json").json();
    assert_eq!((&json["a_points"], &json["b_points"]), (&3000.into(), &2500.into()));
    for (side, nearest) in [("a_to_b", &truth.a_to_b), ("b_to_a", &truth.b_to_a)] {
        assert_eq!(json[side]["mean_squared"], nearest.mean(), "{side}");
        assert_eq!(json[side]["mean"], nearest.mean_distance(), "{side}");
        assert_eq!(json[side]["max"], f64::from(nearest.max_distance()), "{side}");
    }
    let score = truth.f_score(0.05);
    assert_eq!(json["chamfer"], truth.sum());
    assert_eq!(json["hausdorff"], f64::from(truth.hausdorff()));
    assert_eq!(json["f_score"], score.f_score);
    assert_eq!(
        (&json["precision"], &json["recall"]),
        (&score.precision.into(), &score.recall.into())
    );
    assert_eq!((&json["device"], &json["threads"]), (&"cpu".into(), &1.into()));
    assert!(json["seconds"].is_f64() && json["read_seconds"].is_f64());
    let plain = folder.ok("chamfer a.ply b.npy --json --device cpu").json();
    assert!(plain["f_score"].is_null() && plain["chamfer"] == json["chamfer"]);
}

#[test]
fn the_table_reads_well() {
    let folder = Folder::new();
    folder.write("a.xyz", "0 0 0\n3 4 0\nnan 1 1\n");
    folder.write("b.xyz", "0 0 0\n0 0 2\n");
    let output = folder.run("chamfer a.xyz b.xyz --threshold 1");
    assert!(output.err.contains("a.xyz: 1 of 3 rows hold NaN"), "{}", output.err);
    let table = output.text();
    for line in [
        "A to B",
        "mean squared    12.50    2.000",
        "within 1.000  50.00 %  50.00 %",
        "f-score       0.5000",
    ] {
        assert!(table.contains(line), "{line}: {table}");
    }
    assert!(
        table.contains("chamfer       14.50") && table.contains("hausdorff     5.000"),
        "{table}"
    );
}

#[test]
fn per_point_writes_the_cloud_and_a_picture() {
    let folder = Folder::new();
    folder.write("b.xyz", text(&farpoint_generate::room(500, 2)));
    folder.write("a.csv", "x,y,z,gain\n0,0,0,7\nnan,0,0,8\n1,1,0,9\n");
    let output = folder.run("chamfer a.csv b.xyz --per-point out.ply");
    assert_eq!(output.status, 0, "{}", output.err);
    assert_eq!(folder.files(), ["a.csv", "b.xyz", "out.ply", "out.png"]);
    assert_eq!(&folder.read("out.png")[..8], b"\x89PNG\r\n\x1a\n");
    let json = folder.ok("info out.ply --json").json();
    assert_eq!(json["points"], 2);
    let fields: Vec<_> =
        json["fields"].as_array().unwrap().iter().map(|field| field["name"].clone()).collect();
    assert!(fields.contains(&"gain".into()) && fields.contains(&"distance".into()), "{fields:?}");
}

/// Chairs were moved: in the picture they are bright, and nothing is where nothing changed.
#[test]
fn the_picture_shows_where_clouds_differ() {
    let folder = Folder::new();
    folder.ok("generate room -n 30000 --seed 1 -o room.ply");
    folder.ok("generate room -n 30000 --seed 2 -o later.ply");
    // Yellow is in the upper quarter of the colors; the color bar is below the scene.
    let bright = |name: &str| {
        let (wide, pixels) = picture(&folder.read(name));
        let scene = &pixels[..pixels.len() - 140 * wide];
        scene.iter().filter(|[r, g, b]| *r > 150 && *g > 150 && *b < 90).count()
    };
    let table =
        folder.ok("chamfer later.ply room.ply --threshold 0.1 --per-point moved.ply").text();
    assert!(table.lines().any(|line| line.ends_with("moved.ply and moved.png")), "{table}");
    assert!(bright("moved.png") > 300, "{}", bright("moved.png"));
    folder.ok("chamfer room.ply room.ply --threshold 0.1 --per-point same.ply");
    assert_eq!(bright("same.png"), 0);
    let json = folder.ok("chamfer room.ply room.ply --per-point same.ply --json").json();
    assert_eq!(json["picture"], "same.png");
}

/// Returns width and pixels of a PNG file.
fn picture(bytes: &[u8]) -> (usize, Vec<[u8; 3]>) {
    let mut decoder = png::Decoder::new(std::io::Cursor::new(bytes));
    decoder.set_transformations(png::Transformations::EXPAND);
    let mut reader = decoder.read_info().unwrap();
    let mut pixels = vec![0; reader.output_buffer_size().unwrap()];
    let info = reader.next_frame(&mut pixels).unwrap();
    (info.width as usize, pixels.as_chunks().0.to_vec())
}

/// One point, equal points, a line far from the origin, numbers near the largest.
#[test]
fn any_cloud_can_be_drawn() {
    let folder = Folder::new();
    let line: String = (0..50).map(|k| format!("{}.25 0 0.001\n", 5_000_000 + k)).collect();
    for cloud in ["7 7 7\n", "7 7 7\n7 7 7\n", "1e38 0 -1e38\n0 0 0\n", &line] {
        folder.write("a.xyz", cloud);
        for (other, options) in [("a.xyz", ""), ("a.xyz", "--threshold 0"), ("b.xyz", "")] {
            folder.write("b.xyz", "1 2 3\n");
            let output =
                folder.run(&format!("chamfer a.xyz {other} --per-point out.ply {options}"));
            assert_eq!(output.status, 0, "{cloud}: {}", output.err);
            assert!(folder.read("out.png").starts_with(b"\x89PNG"));
        }
    }
}

#[test]
fn either_precision_and_stdin() {
    let folder = Folder::new();
    let room = folder.room("a.ply", 400);
    // Doubles against singles are compared in double.
    let rows: String =
        room.iter().map(|[x, y, z]| format!("{x} {y} {}\n", f64::from(*z) + 1e-9)).collect();
    let output = folder.pipe("chamfer a.ply - --json", rows.as_bytes());
    assert_eq!(output.status, 0, "{}", output.err);
    let worst = output.json()["hausdorff"].as_f64().unwrap();
    assert!((0.0..1e-6).contains(&worst), "{worst}");
}

#[test]
fn invalid_options_are_refused() {
    let folder = Folder::new();
    folder.fails("chamfer a.ply", &["B"]);
    // Before the input is read: there is no a.ply.
    folder.fails("chamfer a.ply b.ply --device cuda --threads 2", &["--threads", "--device cpu"]);
    folder.fails("chamfer a.ply b.ply --device cpu --gpu 1", &["--gpu", "--device cuda"]);
    folder.fails("chamfer a.ply b.ply --device cuda --gpu 99", &["--device cuda", "--device cpu"]);
    folder.fails("chamfer a.ply b.ply --threshold -1", &["--threshold -1"]);
    folder.fails("chamfer a.ply b.ply --threshold nan", &["--threshold NaN"]);
    folder.fails("chamfer a.ply b.ply --per-point out.doc", &["out.doc", "ply"]);
    folder.fails("chamfer a.ply b.ply --per-point a.ply", &["a.ply"]);
    folder.fails("chamfer a.ply b.ply --per-point no/where/b.ply", &["no/where"]);
    folder.fails("chamfer a.ply b.ply --threads 0", &["--threads", "0"]);
    folder.fails("chamfer - -", &["stdin"]);
    folder.fails("chamfer a.ply b.ply", &["a.ply"]);
    folder.room("a.ply", 10);
    folder.write("none.xyz", "");
    folder.write("bad.xyz", "nan 0 0\n");
    folder.fails("chamfer a.ply bad.xyz", &["bad.xyz", "none of the 1 rows"]);
    folder.ok("generate room -n 0 -o none.ply");
    folder.fails("chamfer a.ply none.ply", &["none.ply", "second cloud", "no usable point"]);
    assert_eq!(folder.files(), ["a.ply", "bad.xyz", "none.ply", "none.xyz"]);
}

/// The GPU's numbers are the CPU's; without a GPU the error gives the reason.
#[test]
fn a_gpu_says_the_same() {
    let folder = Folder::new();
    let Ok(gpus) = farpoint_cuda::Properties::all() else {
        let why = farpoint_cuda::device_count().unwrap_err().to_string();
        folder.fails("chamfer a.ply b.ply --device cuda", &["--device cuda", &why, "--device cpu"]);
        folder.fails("chamfer a.ply b.ply --gpu 0", &["--gpu", &why]);
        return;
    };
    folder.room("a.ply", 3000);
    folder.ok("generate room -n 2500 --seed 4 -o b.npy");
    let mut cpu = folder.ok("chamfer a.ply b.npy --device cpu --threshold 0.05 --json").json();
    let mut gpu = folder.ok("chamfer a.ply b.npy --device cuda --threshold 0.05 --json").json();
    assert_eq!((&gpu["device"], &gpu["gpu"]), (&"cuda".into(), &gpus[0].name.as_str().into()));
    for json in [&mut cpu, &mut gpu] {
        for key in ["device", "gpu", "threads", "seconds", "read_seconds"] {
            json.as_object_mut().unwrap().remove(key);
        }
    }
    assert_eq!(cpu, gpu);
}

/// Real pairs: the command's numbers are those of the obvious loop, whatever the threads.
#[test]
fn real_pairs() {
    let folder = Folder::new();
    let points = |path: &std::path::Path| -> Vec<[f32; 3]> {
        let cloud = farpoint_io::read(path, &ReadOptions::default()).unwrap();
        match cloud.coordinates() {
            Coordinates::F32(points) => points.clone(),
            Coordinates::F64(points) => points.iter().map(|row| row.map(|x| x as f32)).collect(),
        }
    };
    let pairs = [
        ("stanford/bun_zipper_res3.ply", "stanford/dragon_vrip_res3.ply"),
        ("stanford/bun_zipper.ply", "stanford/bun_zipper_res3.ply"),
    ];
    for (a, b) in pairs {
        let (Some(a), Some(b)) = (shared(a), shared(b)) else { continue };
        let truth = reference(&points(&a), &points(&b)).unwrap();
        for threads in [1, 2] {
            let (a, b) = (a.display(), b.display());
            let output = folder.run(&format!("chamfer {a} {b} --json --threads {threads}"));
            assert_eq!(output.status, 0, "{}", output.err);
            let json = output.json();
            assert_eq!(json["chamfer"], truth.sum());
            assert_eq!(json["hausdorff"], f64::from(truth.hausdorff()));
        }
    }
}

#[test]
fn folders_are_compared_file_by_file() {
    let folder = Folder::new();
    for place in ["a", "b", "a/deep", "b/deep"] {
        std::fs::create_dir(folder.path(place)).unwrap();
    }
    for (k, name) in ["one", "two", "deep/three"].into_iter().enumerate() {
        folder.ok(&format!("generate room -n 300 --seed {k} -o a/{name}.ply"));
        folder.ok(&format!("generate room -n 200 --seed 7{k} -o b/{name}.pcd"));
    }
    let output = folder.ok("chamfer a b --recursive --json --threshold 0.5");
    let object = output.json();
    let pairs = object["pairs"].as_array().unwrap();
    assert_eq!((pairs.len(), object["errors"].as_array().unwrap().len()), (3, 0));
    let alone = folder.ok("chamfer a/two.ply b/two.pcd --json --threshold 0.5").json();
    let pair = pairs.iter().find(|pair| pair["a"] == "a/two.ply").unwrap();
    for what in ["b", "chamfer", "hausdorff", "f_score", "a_to_b"] {
        assert_eq!(pair[what], alone[what], "{what}");
    }
    let table = folder.run("chamfer a b");
    table.names(&["a: 1 subfolder is skipped; --recursive"]);
    table.names(&["b: 1 subfolder"]);
    let table = table.text();
    assert!(table.contains("chamfer") && table.contains("one") && !table.contains("three"));
    // Files without a partner, or unreadable ones, print an error; the others go on.
    folder.write("b/more.ply", "no cloud");
    folder.write("a/two.ply", "no cloud");
    let output = folder.run("chamfer a b --json");
    assert_eq!(output.status, 3, "{}", output.err);
    output.names(&["b/more.ply"]);
    output.names(&["2 of 3 files"]);
    assert_eq!(output.json()["pairs"].as_array().unwrap().len(), 1);
    folder.fails("chamfer a b --per-point c.ply", &["--per-point"]);
    folder.fails("chamfer a/one.ply b/one.pcd --recursive", &["--recursive"]);
}
