//! Real signals to the real command: its status, and no output that is replaced after the signal.

use crate::common::Folder;
use std::io::{BufRead, BufReader, Read};
use std::process::{Child, Command, Stdio};
use std::time::Duration;

const SIGNALS: [(&str, i32); 3] = [("INT", 130), ("TERM", 143), ("HUP", 129)];

fn start(folder: &Folder, arguments: &str) -> Child {
    Command::new(env!("CARGO_BIN_EXE_farpoint"))
        .args(arguments.split_whitespace())
        .current_dir(folder.path("."))
        .stdout(Stdio::null())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap()
}

fn send(signal: &str, child: &Child) {
    let arguments = [format!("-{signal}"), child.id().to_string()];
    assert!(Command::new("kill").args(arguments).status().unwrap().success());
}

/// Waits for a line of the command that holds these words; then sends the signal. Returns the status, and what the
/// command printed after it besides stages.
fn stop_after(mut child: Child, words: &str, signal: &str) -> (i32, String) {
    let mut lines = BufReader::new(child.stderr.take().unwrap());
    let mut line = String::new();
    while !line.contains(words) {
        line.clear();
        assert!(lines.read_line(&mut line).unwrap() > 0, "no line with '{words}'");
    }
    send(signal, &child);
    let mut rest = String::new();
    lines.read_to_string(&mut rest).unwrap();
    let rest = rest.lines().filter(|line| !line.contains("stage: ")).collect();
    (child.wait().unwrap().code().expect("ended by the signal itself"), rest)
}

/// Waits until a run has taken its spool.
fn wait_for_spool(folder: &Folder) {
    while !folder.path("s/lock").exists() {
        std::thread::sleep(Duration::from_millis(1));
    }
}

#[test]
fn no_output_is_replaced_after_a_signal() {
    let folder = Folder::new();
    folder.room("a.ply", 200_000);
    folder.ok("-q convert a.ply a.laz");
    let (inputs, outputs) =
        (folder.files(), ["o.laz", "o.e57", "o.csv", "o.html", "o.png", "i.npy"]);
    for (k, (arguments, stage)) in [
        ("convert a.ply o.laz", "reading"),
        ("convert a.ply o.e57", "reading"),
        ("convert a.laz o.csv", "reading"),
        ("sample a.ply --algorithm random --ratio 0.9 -o o.laz --indices i.npy", "sampling"),
        ("sample a.laz --ratio 0.5 --memory 80MiB -o o.laz --indices i.npy", "reading"),
        ("chamfer a.ply a.laz --per-point o.laz", "drawing"),
        ("view a.ply --points 200k -o o.html", "reading"),
    ]
    .into_iter()
    .enumerate()
    {
        let (signal, status) = SIGNALS[k % SIGNALS.len()];
        // On a fast machine it may be done before.
        let stopped = (0..9).find_map(|_| {
            outputs.iter().for_each(|name| folder.write(name, name));
            let child = start(&folder, &format!("-v {arguments}"));
            let stopped = stop_after(child, &format!("stage: {stage}"), signal);
            (stopped.0 != 0).then_some(stopped)
        });
        assert_eq!(stopped, Some((status, String::new())), "{arguments}");
        for name in outputs {
            assert!(folder.read(name) == name.as_bytes(), "{arguments}: {name} was replaced");
            std::fs::remove_file(folder.path(name)).unwrap();
        }
        assert_eq!(folder.files(), inputs, "{arguments}");
    }
}

#[test]
fn a_run_that_is_stopped_while_it_reads_is_resumed() {
    let folder = Folder::new();
    folder.ok("-q generate room -n 300000 --seed 3 -o a.laz");
    folder.ok("sample a.laz -o memory.laz -n 2000");
    let run = "sample a.laz -o o.laz -n 2000 --memory 128MiB --spool s";
    for (k, (signal, status)) in SIGNALS.into_iter().enumerate() {
        let mut child = start(&folder, run);
        wait_for_spool(&folder);
        std::thread::sleep(Duration::from_millis(10 * k as u64));
        send(signal, &child);
        let mut text = String::new();
        child.stderr.take().unwrap().read_to_string(&mut text).unwrap();
        assert_eq!(child.wait().unwrap().code(), Some(status), "{text}");
        assert!(!folder.path("o.laz").exists() && !text.contains("error"), "{text}");
        let recorded = ["s/reading", "s/cloud"].map(|name| folder.path(name).exists());
        assert_ne!(recorded, [false; 2], "{signal}: {text}");
        // Without a word of a new run.
        folder.ok(&format!("{run} --resume"));
        assert!(folder.read("o.laz") == folder.read("memory.laz"));
        assert_eq!(folder.files(), ["a.laz", "memory.laz", "o.laz", "s"]);
        std::fs::remove_dir(folder.path("s")).unwrap();
        std::fs::remove_file(folder.path("o.laz")).unwrap();
    }
}

#[test]
fn a_second_signal_does_not_wait() {
    let folder = Folder::new();
    folder.ok("-q generate room -n 300000 --seed 3 -o a.laz");
    let child = start(&folder, "sample a.laz -o o.laz -n 2000 --memory 128MiB --spool s");
    wait_for_spool(&folder);
    send("INT", &child);
    let (status, _) = stop_after(child, "stopping at the next step", "TERM");
    assert!([130, 143].contains(&status), "{status}");
    assert!(!folder.path("o.laz").exists());
}

#[test]
#[cfg(target_os = "linux")]
fn signals_that_the_parent_ignores_are_ignored() {
    let folder = Folder::new();
    folder.room("a.ply", 100_000);
    let run = "sample a.ply --ratio 0.5 --algorithm reference -o o.ply";
    let line = format!("trap '' HUP INT; exec {} {run}", env!("CARGO_BIN_EXE_farpoint"));
    let mut child = Command::new("sh")
        .args(["-c", &line])
        .current_dir(folder.path("."))
        .stdout(Stdio::null())
        .spawn()
        .unwrap();
    // It needs minutes.
    for signal in ["HUP", "INT"] {
        std::thread::sleep(Duration::from_millis(300));
        send(signal, &child);
    }
    std::thread::sleep(Duration::from_millis(300));
    assert_eq!(child.try_wait().unwrap(), None);
    send("TERM", &child);
    assert_eq!(child.wait().unwrap().code(), Some(143));
    assert_eq!(folder.files(), ["a.ply"]);
}
