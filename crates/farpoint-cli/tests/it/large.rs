//! `farpoint sample` through the disk: the bytes of sampling in memory, also after the process was killed.

use crate::common::Folder;
use std::process::{Command, Stdio};
use std::time::Duration;

#[test]
fn the_bytes_are_those_of_sampling_in_memory() {
    let folder = Folder::new();
    for name in ["room.ply", "room.laz", "room.npy"] {
        folder.ok(&format!("-q generate room -n 30000 --seed 3 -o {name}"));
        let other = name.replace("room", "other").replace("npy", "las");
        for (out, amount) in [(name.replace("room", "out"), "--ratio 0.25"), (other, "-n 500")] {
            let options = format!("{amount} --start 77");
            folder.ok(&format!("-q sample {name} -o memory-{out} --indices memory.npy {options}"));
            folder.ok(&format!(
                "-q sample {name} -o {out} --indices rows.npy {options} --memory 128MiB --spool spool"
            ));
            assert!(folder.read(&out) == folder.read(&format!("memory-{out}")), "{name} to {out}");
            assert!(folder.read("rows.npy") == folder.read("memory.npy"), "{name} to {out}");
            assert!(!folder.path("spool").exists());
        }
    }
}

/// The most memory that a process had, in MiB, as the system counts it.
#[cfg(all(target_os = "linux", target_env = "gnu"))]
fn peak(mut child: std::process::Child) -> f64 {
    let (status, mut most) = (format!("/proc/{}/status", child.id()), 0.0);
    while child.try_wait().unwrap().is_none() {
        let said = std::fs::read_to_string(&status).unwrap_or_default();
        let line = said.lines().find_map(|line| line.strip_prefix("VmHWM:"));
        let kibibytes = line.and_then(|line| line.trim().strip_suffix("kB")?.trim().parse().ok());
        most = kibibytes.unwrap_or(most);
        std::thread::sleep(Duration::from_millis(2));
    }
    assert!(child.wait().unwrap().success());
    most / 1024.0
}

#[cfg(all(target_os = "linux", target_env = "gnu"))]
#[test]
fn memory_is_kept() {
    let folder = Folder::new();
    folder.ok("-q generate room -n 3000000 --seed 3 -o room.ply");
    let mut command = Command::new(env!("CARGO_BIN_EXE_farpoint"));
    let options = "-q sample room.ply -o out.ply --ratio 0.25 --threads 2 --memory 96MiB";
    let command = command.args(options.split_whitespace()).current_dir(folder.path("."));
    let peak = peak(command.stdout(Stdio::null()).spawn().unwrap());
    assert!(peak > 10.0 && peak < 96.0 * 1.05, "{peak} MiB");
}

#[test]
fn reports_have_the_same_keys() {
    let folder = Folder::new();
    folder.room("room.ply", 3_000);
    let memory = folder.ok("sample room.ply -n 100 --json -o a.ply").json();
    let disk = folder.ok("sample room.ply -n 100 --json -o b.ply --spool spool").json();
    for key in ["points", "dropped", "samples", "covering_radius", "exact", "warnings"] {
        assert_eq!(memory[key], disk[key], "{key}");
    }
    assert!(disk["tiles"].as_u64() > Some(0) && disk["spool_bytes"].as_u64() > Some(3_000));
    let table = folder.ok("sample room.ply -n 100 -o c.ply --spool spool").text();
    assert!(table.contains("disk"), "{table}");
}

#[test]
fn a_small_file_stays_in_memory() {
    let folder = Folder::new();
    folder.room("room.ply", 3_000);
    let said = folder.ok("sample room.ply -n 100 -o a.ply --memory 1GiB --json").json();
    assert_ne!(said["algorithm"], "tiles");
    let said = folder.ok("sample room.ply -n 100 -o a.ply --memory 60MiB --json").json();
    assert_eq!(said["algorithm"], "tiles");
    assert_eq!(folder.files(), ["a.ply", "room.ply"]);
}

#[test]
fn options_that_do_not_fit_are_refused() {
    let folder = Folder::new();
    folder.room("room.ply", 3_000);
    let sample = "sample room.ply -n 100 -o a.ply";
    folder.fails(&format!("{sample} --resume"), &["--resume", "--spool"]);
    folder.fails(&format!("{sample} --spool s --algorithm tree"), &["--algorithm", "in memory"]);
    folder.fails(&format!("{sample} --spool s --algorithm random"), &["--memory and --spool"]);
    folder.fails(&format!("{sample} --spool s --memory 1MiB"), &["MiB"]);
    folder.fails(&format!("{sample} --spool s -n 4000"), &["--count"]);
    folder.fails(&format!("{sample} --memory lots"), &["8GiB"]);
    assert_eq!(folder.files(), ["room.ply"]);
}

#[test]
fn killed_at_any_time_and_resumed() {
    let folder = Folder::new();
    folder.ok("-q generate room -n 120000 --seed 3 -o room.laz");
    folder.ok("sample room.laz -o memory.laz --ratio 0.25");
    let options = "sample room.laz -o out.laz --ratio 0.25 --memory 128MiB --spool spool";
    let mut killed = 0;
    for milliseconds in [20, 60, 120, 240, 480, 960].into_iter().cycle().take(24) {
        let resume = if folder.path("spool").exists() { "--resume" } else { "--json" };
        let mut child = Command::new(env!("CARGO_BIN_EXE_farpoint"))
            .args(options.split_whitespace())
            .arg(resume)
            .current_dir(folder.path("."))
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn()
            .unwrap();
        std::thread::sleep(Duration::from_millis(milliseconds));
        if child.try_wait().unwrap().is_some() {
            break;
        }
        child.kill().unwrap();
        child.wait().unwrap();
        killed += 1;
        assert!(
            !folder.path("out.laz").exists() || folder.read("out.laz") == folder.read("memory.laz")
        );
    }
    assert!(killed > 0);
    if !folder.path("out.laz").exists() {
        folder.ok(&format!("{options} --resume"));
    }
    assert!(folder.read("out.laz") == folder.read("memory.laz"));
}

#[cfg(unix)]
#[test]
fn a_full_disk_leaves_no_output() {
    let folder = Folder::new();
    folder.room("room.ply", 100_000);
    // No file may be larger than that, and what is beyond is an error.
    let line = format!(
        "trap '' XFSZ; ulimit -f 1000; exec {} sample room.ply -n 1000 -o o.ply --spool spool",
        env!("CARGO_BIN_EXE_farpoint")
    );
    let mut command = Command::new("sh");
    let output = command.args(["-c", &line]).current_dir(folder.path(".")).output().unwrap();
    let err = String::from_utf8(output.stderr).unwrap();
    assert_eq!(output.status.code(), Some(2), "{err}");
    assert!(err.contains("spool") && err.contains("full"), "{err}");
    assert!(!folder.path("o.ply").exists());
}
