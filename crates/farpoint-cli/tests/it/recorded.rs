//! A few hundred command lines, compared with recorded results: exit status, both streams
//! and the digests of all files written. `FARPOINT_RECORD=1` records them again.

use serde_json::Value;
use std::collections::VecDeque;
use std::fmt::Write as _;
use std::fs;
use std::path::Path;
use std::process::{Command, Stdio};
use std::sync::Mutex;

const RECORD: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/it/recorded.txt");
const FORMATS: [&str; 12] =
    ["ply", "pcd", "las", "laz", "copc.laz", "e57", "npy", "npz", "bin", "xyz", "csv", "pts"];

/// Command lines of many kinds beside the matrix of formats; inputs are in `../in`.
const LINES: &str = include_str!("recorded_lines.txt");

#[test]
#[cfg_attr(not(target_os = "linux"), ignore = "the texts of system errors differ")]
fn command_lines_match_recorded_results() {
    let folder = tempfile::tempdir().unwrap();
    let base = folder.path();
    inputs(base);
    let lines = lines();
    assert!(lines.len() > 300, "{}", lines.len());
    let found = all(base, &lines);
    if std::env::var_os("FARPOINT_RECORD").is_some() {
        fs::write(RECORD, found.concat()).unwrap();
    }
    let recorded = fs::read_to_string(RECORD).unwrap();
    let recorded: Vec<&str> = recorded.split_inclusive("\n\n").collect();
    for (found, recorded) in found.iter().zip(&recorded) {
        assert_eq!(found, recorded);
    }
    assert_eq!(found.len(), recorded.len());
}

fn lines() -> Vec<String> {
    let mut lines = Vec::new();
    for from in FORMATS {
        let input = format!("../in/scan.{from}");
        lines.push(format!("info {input}"));
        for to in FORMATS.into_iter().filter(|to| *to != "copc.laz") {
            lines.push(format!("convert {input} -o out.{to}"));
        }
        for to in [from, "ply", "copc.laz"] {
            lines.push(format!("sample {input} -o out.{to} --ratio 0.25 --json"));
        }
        lines.push(format!("order {input} -o out.{from}"));
        lines.push(format!("sample {input} --memory 64MiB --spool s -o out.{from} -n 40 --json"));
    }
    let written = LINES.lines().filter(|line| !line.is_empty() && !line.starts_with('#'));
    lines.extend(written.map(str::to_owned));
    lines
}

/// Writes the input clouds.
fn inputs(base: &Path) {
    let input = base.join("in");
    fs::create_dir(&input).unwrap();
    let mut text = String::from("x y z intensity red green blue classification\n");
    let mut state = 1u32;
    let mut next = |below: u32| {
        state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        (state >> 8) % below
    };
    for _ in 0..400 {
        let place = [next(4000), next(3000), next(500)].map(|v| f64::from(v) / 100.0);
        let [x, y, z] = place;
        let (i, r, g, b, c) = (next(65536), next(256), next(256), next(256), next(7));
        writeln!(text, "{x} {y} {z} {i} {r} {g} {b} {c}").unwrap();
    }
    fs::write(input.join("scan.xyz"), &text).unwrap();
    fs::write(input.join("bad.xyz"), "nan 1 2\n0 0 0\n1 2 3\n4 5 6\n0 0 0\n7 8 9\n").unwrap();
    fs::write(input.join("nan.xyz"), "nan nan nan\ninf 1 2\n").unwrap();
    fs::write(input.join("empty.ply"), "").unwrap();
    fs::write(input.join("broken.ply"), "ply\nformat ascii 1.0\nelement vertex 3\nend_header\n")
        .unwrap();
    fs::write(input.join("noise.las"), [7; 300]).unwrap();
    fs::write(input.join("cut.pcd"), "# .PCD v0.7\nFIELDS x y z\nSIZE 4 4 4\nTYPE F F F\n")
        .unwrap();
    fs::write(input.join("rows.txt"), "5\n3\n9\n120\n").unwrap();
    fs::write(input.join("mask.txt"), "1\n".repeat(200) + &"0\n".repeat(200)).unwrap();
    fs::create_dir(input.join("scans")).unwrap();
    for k in 0..3 {
        let from = 130 * k + 1;
        let some: Vec<&str> = text.lines().skip(from).take(130).collect();
        let header = text.lines().next().unwrap();
        let name = input.join("scans").join(format!("{k}.xyz"));
        fs::write(name, format!("{header}\n{}\n", some.join("\n"))).unwrap();
    }
    for to in FORMATS.into_iter().filter(|to| *to != "xyz") {
        let verb = if to == "copc.laz" { "order" } else { "convert" };
        let record_text = record(&input, &format!("{verb} scan.xyz -o scan.{to}"));
        assert!(record_text.contains("status 0"), "{record_text}");
    }
}

/// Runs all command lines, each in a folder of its own, as many at once as there are cores.
fn all(base: &Path, lines: &[String]) -> Vec<String> {
    let remaining: Mutex<VecDeque<usize>> = Mutex::new((0..lines.len()).collect());
    let found = Mutex::new(vec![String::new(); lines.len()]);
    let cores = std::thread::available_parallelism().map_or(1, usize::from);
    std::thread::scope(|scope| {
        for _ in 0..cores {
            scope.spawn(|| {
                loop {
                    let Some(k) = remaining.lock().unwrap().pop_front() else { break };
                    let folder = base.join(k.to_string());
                    fs::create_dir(&folder).unwrap();
                    let text = record(&folder, &lines[k]);
                    found.lock().unwrap()[k] = text;
                }
            });
        }
    });
    found.into_inner().unwrap()
}

/// Runs a command line in a folder; returns its record.
fn record(folder: &Path, line: &str) -> String {
    let output = Command::new(env!("CARGO_BIN_EXE_farpoint"))
        .args(line.split_whitespace())
        .current_dir(folder)
        .env("RAYON_NUM_THREADS", "2")
        .stdin(Stdio::null())
        .output()
        .unwrap();
    let mut text = format!("$ farpoint {line}\nstatus {}\n", output.status.code().unwrap());
    let folder_name = folder.display().to_string();
    for (mark, bytes) in [("", &output.stdout), ("! ", &output.stderr)] {
        match std::str::from_utf8(bytes) {
            Ok(stream) if stream.len() < 6000 => {
                let stream = stream.replace(&folder_name, "FOLDER");
                let mut stream: Vec<_> =
                    stream.lines().filter(|line| !line.is_empty()).map(without_times).collect();
                // Files in parallel end in any order.
                if line.contains("--output-dir") {
                    stream.sort();
                }
                stream.iter().for_each(|line| writeln!(text, "{mark}{line}").unwrap());
            }
            _ => writeln!(text, "{mark}{} bytes {}", bytes.len(), digest(bytes)).unwrap(),
        }
    }
    files(folder, folder, &mut text);
    text.push('\n');
    text
}

/// Returns a line of a report without values that differ from run to run, or from machine to machine.
fn without_times(line: &str) -> String {
    if let Ok(mut object @ Value::Object(_)) = serde_json::from_str(line) {
        blank(&mut object);
        return object.to_string();
    }
    let words: Vec<&str> = line.split_whitespace().collect();
    let time = |pair: &[&str]| {
        matches!(pair[1].trim_end_matches(','), "us" | "ms" | "s" | "min")
            && pair[0].parse::<f64>().is_ok()
    };
    if words.windows(2).any(time) {
        return format!("{} ..", words[0]);
    }
    let on = [" on 1 thread", " on 2 threads"];
    match on.iter().find_map(|on| line.find(on)) {
        Some(at) => format!("{} ..", &line[..at]),
        None => line.to_owned(),
    }
}

/// Blanks the values of JSON that are times, counts of work or depend on the machine.
fn blank(value: &mut Value) {
    match value {
        Value::Object(object) => {
            for (name, value) in object {
                match name.as_str() {
                    "threads" | "simd" | "statistics" => *value = "..".into(),
                    name if name.ends_with("seconds") => *value = "..".into(),
                    _ => blank(value),
                }
            }
        }
        Value::Array(values) => values.iter_mut().for_each(blank),
        _ => {}
    }
}

/// Lists the files below a folder with their digests.
fn files(folder: &Path, base: &Path, text: &mut String) {
    let mut entries: Vec<_> = fs::read_dir(folder).unwrap().map(|e| e.unwrap().path()).collect();
    entries.sort();
    for path in entries {
        if path.is_dir() {
            files(&path, base, text);
            continue;
        }
        let bytes = fs::read(&path).unwrap();
        let name = path.strip_prefix(base).unwrap().display().to_string();
        match name.ends_with(".jsonl") || name.ends_with(".json") {
            true => writeln!(text, "> {name}").unwrap(),
            false => writeln!(text, "> {name} {} bytes {}", bytes.len(), digest(&bytes)).unwrap(),
        }
    }
}

/// Returns the FNV-1a digest of bytes.
fn digest(bytes: &[u8]) -> String {
    let step = |hash: u64, byte: &u8| (hash ^ u64::from(*byte)).wrapping_mul(0x100_0000_01b3);
    format!("{:016x}", bytes.iter().fold(0xcbf2_9ce4_8422_2325, step))
}
