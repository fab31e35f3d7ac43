//! `--rows` and `--mask`: some rows of a file.

use crate::common::{Folder, indices};
use e57::{E57Writer, Record, RecordValue, Transform, Translation};
use farpoint::{Sampler, Selected, Start};

/// Formats the rows as text, one per line.
fn listed(rows: &[usize]) -> String {
    rows.iter().map(|row| format!("{row}\n")).collect()
}

#[test]
fn rows_and_masks_are_those_of_the_library() {
    let folder = Folder::new();
    let room = folder.room("room.ply", 2000);
    let rows: Vec<usize> = (0..2000).filter(|row| row % 3 == 1).rev().collect();
    let ascending: Vec<usize> = rows.iter().rev().copied().collect();
    folder.write("rows.txt", listed(&rows));
    let mask: String = (0..2000).map(|row| if row % 3 == 1 { "1 " } else { "0 " }).collect();
    folder.write("mask.txt", mask);
    folder.write("some.npy", Vec::new());
    farpoint_io::write_indices(&folder.path("some.npy"), &rows).unwrap();
    let sampled =
        |options: &str| indices(&folder.ok(&format!("sample room.ply --indices - {options}")).out);
    let expected = |rows: &[usize], start: Start| {
        let some = Selected::rows(&room, rows).unwrap();
        Sampler::ratio(0.25).start(start).sample(&some).unwrap().indices
    };
    let of_list = expected(&rows, Start::First);
    assert_eq!(of_list[0], rows[0]);
    assert_eq!(sampled("--ratio 0.25 --rows rows.txt"), of_list);
    assert_eq!(sampled("--ratio 0.25 --rows some.npy"), of_list);
    assert_eq!(sampled("--ratio 0.25 --mask mask.txt"), expected(&ascending, Start::First));
    let from = sampled("--ratio 0.25 --rows rows.txt --start 4");
    assert_eq!(from, expected(&rows, Start::Index(4)));
    let random = sampled("--ratio 0.25 --rows rows.txt --start random --seed 3");
    assert_eq!(random, expected(&rows, Start::Random(3)));
    // Approximate samplers, too.
    let grid = sampled("--ratio 0.25 --mask mask.txt --algorithm grid");
    assert!(!grid.is_empty() && grid.iter().all(|row| row % 3 == 1));
    folder.ok(
        "sample room.ply -o mean.ply -n 50 --mask mask.txt --algorithm grid --keep-point centroid -q",
    );
    let output = folder.ok("sample room.ply -o few.ply -n 50 --rows rows.txt --json");
    assert_eq!((&output.json()["points"], &output.json()["samples"]), (&667.into(), &50.into()));
    folder.ok("order room.ply -o ordered.ply --mask mask.txt");
    let ordered = folder.ok("info ordered.ply --json").json();
    assert_eq!(ordered["points"], 667);
}

#[test]
fn invalid_rows_are_refused() {
    let folder = Folder::new();
    folder.room("room.ply", 100);
    folder.write("twice.txt", "3\n5\n3\n");
    folder.write("beyond.txt", "3, 100");
    folder.write("short.txt", "1 0 1");
    folder.write("words.txt", "1\ntwo\n");
    folder.write("two.txt", listed(&(0..100).collect::<Vec<_>>()));
    folder.write("five.txt", "5");
    let fails = |options: &str, words: &[&str]| {
        folder.fails(&format!("sample room.ply -n 2 --indices out.npy {options}"), words);
    };
    fails("--rows twice.txt", &["--rows twice.txt", "row 3", "places 0 and 2"]);
    fails("--rows beyond.txt", &["beyond.txt", "row 100 at place 1", "100 points"]);
    fails("--mask short.txt", &["short.txt", "3 values for 100 points"]);
    fails("--mask two.txt", &["two.txt", "value 2 at place 2", "--rows"]);
    fails("--rows words.txt", &["words.txt", "line 2", "'two'"]);
    fails("--rows none.txt", &["none.txt"]);
    fails("--rows five.txt --mask short.txt", &["--rows", "--mask"]);
    fails("--rows five.txt", &["2 samples", "1 points"]);
    fails("--rows twice.txt --start 4", &["twice.txt"]);
    folder.fails(
        "sample room.ply -n 1 --rows five.txt --start 4 --indices o.npy",
        &["--start 4", "--rows"],
    );
    folder.fails("sample . --output-dir . -n 2 --rows five.txt", &["--rows", "single file"]);
    folder.fails("sample room.ply -n 2 --rows five.txt --spool . -o o.ply", &["--rows", "memory"]);
    assert!(!folder.files().contains(&"out.npy".to_owned()));
}

/// E57 of two scans, the second moved by 10 along x, with these values of x; y and z are 0.
fn scans(first: &[f64], second: &[f64]) -> Vec<u8> {
    let mut bytes = std::io::Cursor::new(Vec::new());
    let mut file = E57Writer::new(&mut bytes, "{file}").unwrap();
    for (x, moved) in [(first, 0.0), (second, 10.0)] {
        let records = [Record::CARTESIAN_X_F64, Record::CARTESIAN_Y_F64, Record::CARTESIAN_Z_F64];
        let mut scan = file.add_pointcloud("{scan}", records.into()).unwrap();
        let translation = Translation { x: moved, y: 0.0, z: 0.0 };
        scan.set_transform(Some(Transform { translation, ..Transform::default() }));
        for &x in x {
            scan.add_point([x, 0.0, 0.0].map(RecordValue::Double).into()).unwrap();
        }
        scan.finalize().unwrap();
    }
    file.finalize().unwrap();
    drop(file);
    bytes.into_inner()
}

/// A pose moves zeros of the scanner away from the origin, and other points there.
#[test]
fn zeros_are_those_of_the_scanner_on_every_path() {
    let folder = Folder::new();
    folder.write("a.e57", scans(&[0.0, 10.0, 1.0], &[0.0, -10.0, 5.0, 0.0]));
    let matrix = "1 0 0 0\n0 1 0 0\n0 0 1 0\n10 0 0 1\n";
    let points = "-10 0 0 1\n0 0 0 1\n1 0 0 1\n";
    folder.write("b.ptx", format!("1\n3\n0 0 0\n1 0 0\n0 1 0\n0 0 1\n{matrix}{points}"));
    folder.write("c.xyz", "10 0 0\n0 0 0\n1 0 0\n");
    let merged = "--merge a.e57 b.ptx c.xyz";
    for (input, kept, zeros) in [
        ("a.e57", &[1, 2, 4, 5][..], 3),
        ("b.ptx", &[0, 2], 0),
        ("c.xyz", &[0, 2], 1),
        (merged, &[1, 2, 4, 5, 7, 9, 10, 12], 4),
    ] {
        for disk in ["", "--memory 256MiB --spool spool"] {
            let file = input.trim_start_matches("--merge ");
            let merge = if input == merged { "--merge" } else { "" };
            let options = format!("{file} {merge} --drop-zeros -o o.csv {disk}");
            let run = folder.run(&format!("sample {options} --ratio 100% --indices i.npy"));
            assert_eq!(run.status, 0, "{input} {disk}: {}", run.err);
            let mut rows = indices(&folder.read("i.npy"));
            rows.sort_unstable();
            assert_eq!(rows, kept, "{input} {disk}");
            if zeros > 0 {
                run.names(&[&format!("{zeros} of"), "are exactly (0, 0, 0) and are left out"]);
            }
            if !disk.is_empty() {
                continue;
            }
            assert_eq!(folder.run(&format!("order {options}")).status, 0, "{input}");
            let lines = String::from_utf8(folder.read("o.csv")).unwrap().lines().count();
            assert_eq!(lines, kept.len() + 1, "{input}");
        }
        if input != merged {
            assert_eq!(folder.run(&format!("info {input} --json")).json()["zeros"], zeros);
            assert_eq!(folder.run(&format!("convert {input} c.csv --drop-zeros")).status, 0);
            let lines = String::from_utf8(folder.read("c.csv")).unwrap().lines().count();
            // PTX's directions without an echo are rows, and the names a line.
            assert_eq!(lines, kept.len() + usize::from(input == "b.ptx") + 1, "{input}");
        }
    }
}
