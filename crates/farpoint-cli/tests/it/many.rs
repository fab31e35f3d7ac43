//! Many files in one run: outputs, manifest, going on, bad files, interrupts, kills.

use crate::common::Folder;
use serde_json::Value;
use std::collections::BTreeMap;
use std::fs;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

/// Longest wait for a process of these tests.
const LIMIT: Duration = Duration::from_secs(300);

/// Returns the rows of the manifest, in its order.
fn rows(folder: &Folder, out: &str) -> Vec<Value> {
    let text = fs::read_to_string(folder.path(out).join("farpoint.jsonl")).unwrap();
    text.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

/// Returns all files below a folder with their bytes, but for the manifest.
fn tree(root: &Path) -> BTreeMap<String, Vec<u8>> {
    fn walk(root: &Path, folder: &Path, all: &mut BTreeMap<String, Vec<u8>>) {
        for entry in fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                walk(root, &path, all);
            } else if path.file_name().unwrap() != "farpoint.jsonl" {
                let name = path.strip_prefix(root).unwrap().to_str().unwrap().to_owned();
                all.insert(name, fs::read(&path).unwrap());
            }
        }
    }
    let mut all = BTreeMap::new();
    walk(root, root, &mut all);
    all
}

/// Creates a folder `scans` with this many files, some below it, all different.
fn scans(files: usize, points: usize) -> Folder {
    let folder = Folder::new();
    fs::create_dir_all(folder.path("scans/deep")).unwrap();
    for k in 0..files {
        let place = if k % 3 == 0 { "scans/deep" } else { "scans" };
        let rows: String = farpoint_generate::room(points + k, k as u64)
            .iter()
            .map(|[x, y, z]| format!("{x} {y} {z}\n"))
            .collect();
        folder.write(&format!("{place}/s{k}.xyz"), rows);
    }
    folder
}

const SAMPLE: &str = "sample scans --recursive --ratio 0.25 --output-dir thin";

#[test]
fn every_file_as_by_itself_and_the_tree_is_kept() {
    let folder = scans(5, 300);
    let output = folder.ok(&format!("{SAMPLE} --json"));
    let object = output.json();
    assert_eq!(
        (&object["files"], &object["done"], &object["failed"]),
        (&5.into(), &5.into(), &0.into())
    );
    for name in ["deep/s0.xyz", "s1.xyz", "s2.xyz", "deep/s3.xyz", "s4.xyz"] {
        folder.ok(&format!("sample scans/{name} --ratio 0.25 -o one.xyz"));
        assert_eq!(folder.read(&format!("thin/{name}")), folder.read("one.xyz"), "{name}");
    }
    let row = rows(&folder, "thin").into_iter().find(|row| row["output"] == "s1.xyz").unwrap();
    let alone = folder.ok("sample scans/s1.xyz --ratio 0.25 --json").json();
    assert_eq!(row["covering_radius"], alone["covering_radius"]);
    assert_eq!((&row["points"], &row["samples"]), (&alone["points"], &alone["samples"]));
    assert_eq!(row["size"], folder.read("scans/s1.xyz").len());
    assert_eq!(row["bytes"], folder.read("thin/s1.xyz").len());
    assert_eq!(row["input"], "scans/s1.xyz");
    // No list of tries is left, and no half file.
    assert_eq!(tree(&folder.path("thin")).len(), 5);
}

#[test]
fn the_same_command_again_skips_finished_files() {
    let folder = scans(4, 200);
    folder.ok(SAMPLE);
    let before = rows(&folder, "thin");
    let again = folder.ok(&format!("{SAMPLE} --json")).json();
    assert_eq!((&again["done"], &again["skipped"]), (&0.into(), &4.into()));
    assert_eq!(rows(&folder, "thin"), before);
    let done = |arguments: &str| folder.ok(&format!("{arguments} --json")).json()["done"].clone();
    // Another algorithm is the same sample; other options are not.
    assert_eq!(done(&format!("{SAMPLE} --algorithm tree --jobs 3")), 0);
    assert_eq!(done("sample scans --recursive --ratio 0.5 --output-dir thin"), 4);
    assert_eq!(done(SAMPLE), 4);
    // A changed input, a changed or missing output.
    folder.write("scans/s1.xyz", "1 2 3\n4 5 6\n7 8 9\n1 1 1\n");
    folder.write("thin/s2.xyz", "1 2 3\n");
    fs::remove_file(folder.path("thin/deep/s0.xyz")).unwrap();
    assert_eq!(done(SAMPLE), 3);
    assert_eq!(done(&format!("{SAMPLE} --force")), 4);
    // A last line that was cut off is no line.
    fs::remove_dir_all(folder.path("thin")).unwrap();
    assert_eq!(done(SAMPLE), 4);
    let manifest = folder.read("thin/farpoint.jsonl");
    folder.write("thin/farpoint.jsonl", &manifest[..manifest.len() - 9]);
    assert_eq!(done(SAMPLE), 1);
    assert_eq!(done(SAMPLE), 0);
}

#[test]
fn a_bad_file_is_one_line_and_the_others_go_on() {
    let folder = scans(3, 200);
    folder.write("scans/bad.ply", "this is no cloud");
    let output = folder.run(SAMPLE);
    assert_eq!(output.status, 3, "{}", output.err);
    let lines: Vec<_> = output.err.lines().collect();
    assert_eq!(lines.len(), 2, "{}", output.err);
    assert!(lines[0].starts_with("farpoint: error: scans/bad.ply: "), "{}", output.err);
    assert!(lines[1].contains("1 of 4 files failed"), "{}", output.err);
    assert_eq!(tree(&folder.path("thin")).len(), 3);
    let bad = rows(&folder, "thin").into_iter().find(|row| row["output"] == "bad.ply").unwrap();
    assert!(bad["error"].as_str().unwrap().contains("scans/bad.ply"), "{bad}");
    // It is tried again, and done once it is good.
    assert_eq!(folder.run(SAMPLE).status, 3);
    folder.ok("generate room -n 40 -o scans/bad.ply");
    let object = folder.ok(&format!("{SAMPLE} --json")).json();
    assert_eq!((&object["done"], &object["skipped"]), (&1.into(), &3.into()));
}

#[test]
fn small_files_are_kept_whole() {
    let folder = scans(3, 200);
    folder.write("scans/small.xyz", "0 0 1\n5 0 1\n1 0 1\n");
    folder.write("scans/one.xyz", "1 2 3\n");
    let sample = "sample scans --recursive --output-dir";
    folder.ok(&format!("{sample} thin -n 20"));
    let samples = |name: &str| {
        let row = rows(&folder, "thin").into_iter().find(|row| row["output"] == name).unwrap();
        row["samples"].as_u64().unwrap()
    };
    assert_eq!(["s1.xyz", "small.xyz", "one.xyz"].map(samples), [20, 3, 1]);
    let kept = String::from_utf8(folder.read("thin/small.xyz")).unwrap();
    assert_eq!(kept, "0 0 1\n5 0 1\n1 0 1\n");
    for (k, algorithm) in ["random", "grid", "peak"].into_iter().enumerate() {
        let small = format!("sample scans/small.xyz --algorithm {algorithm}");
        folder.ok(&format!("{small} --output-dir of{k} --at-most 20"));
        folder.ok(&format!("{small} scans/one.xyz --merge -o all{k}.xyz -n 20"));
        let lines = |name: &str| folder.read(name).iter().filter(|byte| **byte == b'\n').count();
        assert_eq!(
            [format!("of{k}/small.xyz"), format!("all{k}.xyz")].map(|name| lines(&name)),
            [3, 4]
        );
        folder.fails(&format!("{small} -o b.xyz -n 20"), &["small.xyz", "20", "3"]);
    }
    let through_disk = "--merge -o disk.xyz -n 20 --spool s --memory 64MiB";
    folder.ok(&format!("sample scans/small.xyz scans/one.xyz {through_disk}"));
    assert_eq!(folder.read("disk.xyz").iter().filter(|byte| **byte == b'\n').count(), 4);
    folder.fails("sample scans/small.xyz --at-most 2 -n 2", &["--count"]);
}

#[test]
fn fail_fast_begins_no_further_file() {
    let folder = scans(20, 100);
    // The largest comes first.
    folder.write("scans/bad.ply", vec![b'x'; 1 << 20]);
    let output = folder.run(&format!("{SAMPLE} --fail-fast --jobs 1 --json"));
    assert_eq!((output.status, &output.json()["not_tried"]), (3, &20.into()), "{}", output.err);
    assert_eq!(folder.run(SAMPLE).status, 3);
    assert_eq!(tree(&folder.path("thin")).len(), 20);
}

#[test]
fn invalid_options_are_refused_before_any_work() {
    let folder = scans(2, 50);
    fs::create_dir(folder.path("more")).unwrap();
    fs::copy(folder.path("scans/s1.xyz"), folder.path("more/s1.xyz")).unwrap();
    folder.fails(
        "sample scans/s1.xyz more/s1.xyz --ratio 0.5 --output-dir thin",
        &["s1.xyz", "also"],
    );
    folder.fails("sample scans --ratio 0.5 --output-dir scans", &["scans", "folder"]);
    folder.fails("sample scans/s1.xyz --ratio 0.5 --output-dir scans", &["s1.xyz", "input"]);
    folder.fails("sample scans --ratio 0.5 -o thin.xyz", &["scans", "--output-dir"]);
    folder.fails("sample scans more --ratio 0.5", &["--output-dir"]);
    folder.fails(
        "sample scans -o a.xyz --ratio 0.5 --output-dir thin",
        &["--output", "--output-dir"],
    );
    folder.fails("sample none/*.xyz --ratio 0.5 --output-dir thin", &["none/*.xyz"]);
    folder.fails("sample scans --ratio 1.5 --output-dir thin", &["--ratio 1.5"]);
    folder.fails("sample scans --ratio 0.5 --output-dir thin --indices a.npy", &["--indices"]);
    folder.fails("sample scans --ratio 0.5 --output-dir thin --to ptx", &["ptx", "ply"]);
    folder.fails("sample scans --ratio 0.5 --output-dir thin --to ply --scale 1mm", &["--scale"]);
    folder.fails("sample scans --ratio 0.5 --output-dir scans/s1.xyz", &["s1.xyz", "folder"]);
    folder.fails("sample scans --ratio 0.5 --output-dir thin --memory much", &["--memory", "8GiB"]);
    folder.fails("sample scans/s1.xyz --ratio 0.5 --jobs 2", &["--jobs", "--output-dir"]);
    // Trees of input folders are kept.
    let deep = "sample scans more --ratio 0.5 --output-dir thin";
    folder.fails(deep, &["s1.xyz", "the folder above both with --recursive"]);
    fs::copy(folder.path("more/s1.xyz"), folder.path("scans/s1.txt")).unwrap();
    let renamed = "sample scans --ratio 0.5 --output-dir thin --to ply";
    folder.fails(renamed, &["s1.ply", "rename one of them"]);
    assert!(!folder.path("thin").exists());
}

#[test]
fn another_format_and_several_kinds_of_inputs() {
    let folder = scans(3, 100);
    folder.write("list.txt", "# one\nscans/deep/s0.xyz\n");
    folder.ok("sample @list.txt scans/*.xyz --ratio 0.5 --output-dir thin --to ply:ascii");
    let names: Vec<_> = tree(&folder.path("thin")).into_keys().collect();
    assert_eq!(names, ["s0.ply", "s1.ply", "s2.ply"]);
    assert!(folder.read("thin/s0.ply").starts_with(b"ply\nformat ascii"));
}

#[test]
fn order_has_the_same() {
    let folder = scans(2, 80);
    folder.ok("order scans --recursive --output-dir ordered --to ply");
    folder.ok("order scans/s1.xyz -o one.ply");
    assert_eq!(folder.read("ordered/s1.ply"), folder.read("one.ply"));
    assert_eq!(rows(&folder, "ordered").len(), 2);
    folder.fails("order scans/s1.xyz", &["--output"]);
}

#[test]
fn info_has_the_same_inputs() {
    let folder = scans(3, 80);
    let object = folder.ok("info scans --recursive --json").json();
    let points: Vec<_> =
        object["files"].as_array().unwrap().iter().map(|file| &file["points"]).collect();
    assert_eq!(points, [80, 81, 82]);
    folder.write("scans/bad.ply", "no cloud");
    let output = folder.run("info scans/*.xyz scans/bad.ply");
    assert_eq!(output.status, 3, "{}", output.err);
    assert!(
        output.err.contains("scans/bad.ply") && output.err.contains("1 of 3 files failed"),
        "{}",
        output.err
    );
    assert!(output.text().contains("s1.xyz") && output.text().contains("s2.xyz"));
}

#[test]
fn a_small_memory_limit_and_many_jobs_change_nothing() {
    let folder = scans(9, 150);
    folder.ok(SAMPLE);
    folder.ok("sample scans --recursive --ratio 0.25 --output-dir b --jobs 7 --memory 1MB");
    folder.ok("sample scans --recursive --ratio 0.25 --output-dir c --jobs 1 --threads 3");
    assert_eq!(tree(&folder.path("thin")), tree(&folder.path("b")));
    assert_eq!(tree(&folder.path("thin")), tree(&folder.path("c")));
}

#[test]
fn a_file_that_takes_too_long_is_an_error() {
    let folder = scans(2, 50);
    folder.ok("generate room -n 60000 -o scans/large.ply");
    // The direct loop: seconds, and nothing for the small ones.
    let slow = "sample scans --recursive --ratio 0.9 --algorithm reference --output-dir thin";
    let output = folder.run(&format!("{slow} --time-limit 1"));
    assert_eq!(output.status, 3, "{}", output.err);
    output.names(&["large.ply", "1 s"]);
    assert_eq!(tree(&folder.path("thin")).len(), 2);
}

/// Starts `farpoint` in the folder.
fn start(folder: &Folder, arguments: &str) -> Child {
    Command::new(env!("CARGO_BIN_EXE_farpoint"))
        .args(arguments.split_whitespace())
        .current_dir(folder.path(""))
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()
        .unwrap()
}

/// Returns the exit status, `None` after a signal.
fn end(child: &mut Child) -> Option<i32> {
    let begin = Instant::now();
    loop {
        if let Some(status) = child.try_wait().unwrap() {
            return status.code();
        }
        if begin.elapsed() > LIMIT {
            child.kill().unwrap();
            panic!("took more than {LIMIT:?}");
        }
        std::thread::sleep(Duration::from_millis(5));
    }
}

fn wait_until(what: &str, condition: impl Fn() -> bool) {
    let begin = Instant::now();
    while !condition() {
        assert!(begin.elapsed() < LIMIT, "{what}: not within {LIMIT:?}");
        std::thread::sleep(Duration::from_millis(2));
    }
}

fn lines(folder: &Folder) -> usize {
    let text = fs::read(folder.path("thin/farpoint.jsonl")).unwrap_or_default();
    text.iter().filter(|byte| **byte == b'\n').count()
}

#[cfg(unix)]
#[test]
fn an_interrupt_leaves_whole_files_and_the_next_run_goes_on() {
    let folder = scans(150, 1500);
    for (signal, code) in [("-INT", 130), ("-TERM", 143)] {
        let before = lines(&folder);
        let mut child = start(&folder, &format!("{SAMPLE} --jobs 2"));
        wait_until("a few files are done", || lines(&folder) > before + 3);
        let sent = Command::new("kill").args([signal, &child.id().to_string()]).status().unwrap();
        assert!(sent.success());
        let status = end(&mut child);
        assert!(status == Some(code) || lines(&folder) == 150, "{status:?}");
        let outputs = tree(&folder.path("thin"));
        assert_eq!(outputs.len(), lines(&folder), "{:?}", outputs.keys());
    }
    folder.ok(SAMPLE);
    assert_eq!(tree(&folder.path("thin")).len(), 150);
}

/// Checks for the same outputs as those of an undisturbed run, a row for each, and nothing else.
fn is_whole(folder: &Folder, files: usize) {
    folder.ok(SAMPLE);
    folder.ok("sample scans --recursive --ratio 0.25 --output-dir undisturbed");
    let outputs = tree(&folder.path("thin"));
    assert_eq!(outputs.len(), files, "{:?}", outputs.keys());
    assert!(outputs == tree(&folder.path("undisturbed")));
    let rows = rows(folder, "thin");
    let mut names: Vec<_> = rows.iter().map(|row| row["output"].as_str().unwrap()).collect();
    names.sort_unstable();
    names.dedup();
    assert_eq!((names.len(), rows.len()), (files, files));
    assert!(rows.iter().all(|row| row["error"].is_null()), "{rows:?}");
}

/// `FARPOINT_KILLS` sets another number of kills, a multiple of 30.
#[test]
fn kills_at_any_time_lose_and_double_nothing() {
    let thorough = std::env::var_os("FARPOINT_THOROUGH").is_some_and(|value| value == "1");
    let kills = std::env::var("FARPOINT_KILLS").ok().and_then(|n| n.parse().ok());
    let kills = kills.unwrap_or(if thorough { 60 } else { 30 });
    let (mut done, mut random) = (0, 7u64);
    while done < kills {
        let folder = scans(40, 400);
        for _ in 0..30 {
            let mut child = start(&folder, &format!("{SAMPLE} --jobs 2"));
            random = random
                .wrapping_mul(6_364_136_223_846_793_005)
                .wrapping_add(1_442_695_040_888_963_407);
            std::thread::sleep(Duration::from_micros(500 + (random >> 33) % 30_000));
            child.kill().unwrap();
            child.wait().unwrap();
            done += 1;
        }
        // Nothing half-written has the name of an output.
        for (name, bytes) in tree(&folder.path("thin")) {
            assert!(name.contains(".farpoint-") || bytes.ends_with(b"\n"), "{name}");
        }
        is_whole(&folder, 40);
    }
}

#[test]
fn two_runs_in_one_folder() {
    let folder = scans(60, 2500);
    let mut child = start(&folder, &format!("{SAMPLE} --jobs 1"));
    wait_until("the first run is at work", || lines(&folder) > 0);
    let output = folder.run(SAMPLE);
    let status = end(&mut child);
    // The second may have come too late to meet the first.
    let refused = output.status == 2 && output.err.contains("another run");
    assert!(refused || output.status == 0, "{}", output.err);
    assert_eq!(status, Some(0));
    is_whole(&folder, 60);
}

/// Returns the child processes of a process.
#[cfg(target_os = "linux")]
fn children(of: u32) -> Vec<String> {
    let path = format!("/proc/{of}/task/{of}/children");
    let text = fs::read_to_string(path).unwrap_or_default();
    text.split_whitespace().map(str::to_owned).collect()
}

#[cfg(target_os = "linux")]
#[test]
fn a_file_that_ends_its_process_is_an_error_the_third_time() {
    let folder = scans(3, 50);
    let made = Command::new("mkfifo").arg(folder.path("stuck.ply")).status().unwrap();
    assert!(made.success());
    let both = "sample stuck.ply scans --recursive --ratio 0.25 --output-dir thin --jobs 2";
    // Reading it never ends: this run is killed.
    let mut child = start(&folder, both);
    wait_until("all others are done", || lines(&folder) == 3);
    child.kill().unwrap();
    child.wait().unwrap();
    // In the next it has a process of its own, which is killed twice.
    let mut child = start(&folder, both);
    let ended = std::cell::Cell::new(None);
    wait_until("it is given up", || {
        for process in children(child.id()) {
            let _ = Command::new("kill").args(["-KILL", &process]).stderr(Stdio::null()).status();
        }
        std::thread::sleep(Duration::from_millis(20));
        let text = fs::read_to_string(folder.path("thin/farpoint.jsonl")).unwrap();
        ended.set(text.lines().last().map(str::to_owned));
        text.contains("stuck")
    });
    assert_eq!(end(&mut child), Some(3));
    let row: Value = serde_json::from_str(&ended.take().unwrap()).unwrap();
    assert_eq!((&row["output"], &row["killed"]), (&"stuck.ply".into(), &3.into()), "{row}");
    assert!(row["error"].as_str().unwrap().contains("`force=True`"), "{row}");
    // It is not tried any more, and the others are as they were.
    let output = folder.run(&format!("{both} --json"));
    assert_eq!(
        (output.status, &output.json()["skipped"], &output.json()["done"]),
        (3, &3.into(), &0.into())
    );
}
