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

#[test]
fn an_order_has_the_bytes_of_one_in_memory() {
    let folder = Folder::new();
    folder.ok("-q generate room -n 20000 --seed 3 -o room.ply");
    for other in ["room.laz", "room.csv", "wide.npy --precision double"] {
        folder.ok(&format!("-q convert room.ply {other}"));
    }
    for (input, output) in [
        ("room.ply", "o.ply"),
        ("room.ply", "o.laz"),
        ("room.ply", "o.npz"),
        ("room.ply", "o.e57"),
        ("room.ply", "o.copc.laz"),
        ("room.laz", "o.laz"),
        ("room.laz --f32", "o.laz"),
        ("room.laz", "o.pcd"),
        ("room.laz --drop-zeros", "o.xyz"),
        ("room.csv", "o.csv"),
        ("wide.npy", "o.npy"),
        ("wide.npy", "o.copc.laz"),
    ] {
        let once = folder.run(&format!("order {input} -o memory-{output}"));
        let disk = "--memory 256MiB --spool spool";
        let disk = folder.run(&format!("order {input} -o {output} {disk}"));
        assert_eq!((once.status, disk.status), (0, 0), "{} {}", once.err, disk.err);
        assert!(disk.text().contains("tiles through the disk"), "{}", disk.text());
        assert!(
            folder.read(output) == folder.read(&format!("memory-{output}")),
            "{input} {output}"
        );
        assert_eq!(once.err.replace("memory-", ""), disk.err, "{input} to {output}");
        assert!(!folder.path("spool").exists());
    }
    let order = "order room.ply -o a.ply --spool spool";
    folder.fails(&format!("{order} --view a.html"), &["--view", "memory"]);
    folder.fails(&format!("{order} --memory 1MiB"), &["MiB"]);
    folder.fails("order room.ply -o a.ply --resume", &["--resume", "--spool"]);
    folder.ok("-q convert room.ply room.e57");
    folder.fails("order room.e57 -o a.ply --spool spool", &["room.e57", "convert it"]);
    assert!(!folder.path("a.ply").exists() && !folder.path("spool").exists());
}

/// Returns the peak memory of a process, in MiB, as the system counts it.
#[cfg(all(target_os = "linux", target_env = "gnu"))]
fn peak(mut child: std::process::Child) -> f64 {
    let (status, mut most) = (format!("/proc/{}/status", child.id()), 0.0);
    while child.try_wait().unwrap().is_none() {
        let output = std::fs::read_to_string(&status).unwrap_or_default();
        let line = output.lines().find_map(|line| line.strip_prefix("VmHWM:"));
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
    let output = folder.ok("sample room.ply -n 100 -o a.ply --memory 1GiB --json").json();
    assert_ne!(output["algorithm"], "tiles");
    let output = folder.ok("sample room.ply -n 100 -o a.ply --memory 30MiB --json").json();
    assert_ne!(output["algorithm"], "tiles");
    folder.room("large.ply", 600_000);
    let output = folder.ok("sample large.ply -n 100 -o a.ply --memory 60MiB --json").json();
    assert_eq!(output["algorithm"], "tiles");
    assert_eq!(folder.files(), ["a.ply", "large.ply", "room.ply"]);
}

/// Returns the memory that the error of a run names, in MiB.
fn named(folder: &Folder, arguments: &str) -> u64 {
    let output = folder.run(arguments);
    assert_eq!(output.status, 2, "{arguments}: {}", output.err);
    let (_, needed) = output.err.split_once(" needs ").expect(&output.err);
    needed.split_once(" MiB of memory").expect(&output.err).0.parse().unwrap()
}

#[test]
fn the_memory_that_is_named_suffices_and_no_less_does() {
    let folder = Folder::new();
    folder.ok("-q generate room -n 120000 --seed 3 -o room.ply");
    let others = ["room.laz", "room.e57", "room.xyz", "double.npy --precision double"];
    for other in others {
        folder.ok(&format!("-q convert room.ply {other}"));
    }
    for (input, output) in [
        ("room.ply", "out.ply"),
        ("room.laz", "out.laz"),
        ("room.e57", "out.e57"),
        ("room.xyz", "out.xyz"),
        ("room.xyz", "out.pcd --format pcd:compressed"),
        ("room.ply", "out.copc.laz"),
        ("double.npy", "out.npy"),
    ] {
        for spool in ["", " --spool spool"] {
            let run = format!("-q sample {input} -o {output} --ratio 0.25{spool} --memory");
            let least = named(&folder, &format!("{run} 1MiB"));
            assert_eq!(named(&folder, &format!("{run} {}MiB", least - 1)), least, "{run}");
            folder.ok(&format!("{run} {least}MiB"));
            // In memory they take less than through the disk at least.
            assert!(!spool.is_empty() || least < 59, "{run}: {least}");
        }
    }
}

#[test]
fn files_of_a_killed_run_are_removed_by_the_next() {
    let folder = Folder::new();
    folder.ok("-q generate room -n 600000 --seed 3 -o room.ply");
    let options = "-q sample room.ply -o out.ply --ratio 0.25 --memory 60MiB --json";
    let is_spool = |name: &String| name.starts_with(".farpoint-spool-");
    let mut remnant = None;
    for _ in 0..20 {
        let mut child = Command::new(env!("CARGO_BIN_EXE_farpoint"))
            .args(options.split_whitespace())
            .current_dir(folder.path("."))
            .stdout(Stdio::null())
            .spawn()
            .unwrap();
        while child.try_wait().unwrap().is_none() && remnant.is_none() {
            let spool = folder.files().into_iter().find(is_spool);
            remnant = spool.filter(|name| folder.path(name).join("points").exists());
        }
        let _ = child.kill();
        child.wait().unwrap();
        if remnant.as_ref().is_some_and(|name| folder.path(name).exists()) {
            break;
        }
        remnant = None;
    }
    assert!(remnant.is_some(), "never killed in time");
    // Another one that is at work stays.
    std::fs::create_dir(folder.path(".farpoint-spool-used")).unwrap();
    folder.write(".farpoint-spool-used/.lock", "");
    let used = folder.path(".farpoint-spool-used/.lock");
    let used = std::fs::File::options().write(true).open(used).unwrap();
    used.lock().unwrap();
    // The output was half-written, too.
    folder.write(".farpoint-out.ply.tmp", "half");
    let output = folder.run(&options.replace("-q ", ""));
    assert_eq!(output.json()["algorithm"], "tiles");
    output.names(&["note", &remnant.unwrap(), "MiB", "removed"]);
    assert_eq!(folder.files(), [".farpoint-spool-used", "out.ply", "room.ply"]);
}

#[test]
fn what_killed_runs_left_is_removed_by_clean() {
    let folder = Folder::new();
    assert!(folder.ok("clean").text().contains("nothing was left"));
    for name in [".farpoint-spool-left", ".farpoint-spool-used", "spool"] {
        std::fs::create_dir(folder.path(name)).unwrap();
        folder.write(&format!("{name}/points"), vec![0; 3 << 20]);
    }
    folder.write(".farpoint-spool-left/.lock", "");
    folder.write(".farpoint-spool-used/.lock", "");
    folder.write("spool/lock", "farpoint spool\n");
    folder.write("spool/cloud", "");
    folder.write(".farpoint-o.ply.tmp", "half");
    folder.write("o.ply.tmp", "of somebody else");
    let used = folder.path(".farpoint-spool-used/.lock");
    let used = std::fs::File::options().write(true).open(used).unwrap();
    used.lock().unwrap();
    let text = folder.ok("clean").text();
    let lines: Vec<&str> = text.lines().collect();
    assert_eq!(lines.len(), 3, "{text}");
    assert_eq!(lines[0], "removed   ./.farpoint-o.ply.tmp (0 MiB)");
    assert_eq!(lines[1], "removed   ./.farpoint-spool-left (3 MiB)");
    assert!(lines[2].starts_with("kept      ./spool (3 MiB): an interrupted run"), "{text}");
    assert_eq!(folder.files(), [".farpoint-spool-used", "o.ply.tmp", "spool"]);
    std::fs::remove_file(folder.path("spool/cloud")).unwrap();
    drop(used);
    let files = &folder.ok("clean spool --json").json()["files"];
    assert_eq!((&files[0]["path"], &files[0]["kept"]), (&"spool".into(), &serde_json::Value::Null));
    folder.ok("clean .");
    assert_eq!(folder.files(), ["o.ply.tmp"]);
    folder.fails("clean nowhere", &["nowhere", "folder"]);
}

#[test]
fn nothing_to_resume_prints_a_note() {
    let folder = Folder::new();
    folder.room("room.ply", 3_000);
    let output = folder.run("sample room.ply -n 100 -o a.ply --spool spool --resume");
    assert_eq!(output.status, 0, "{}", output.err);
    output.names(&["note", "spool", "starting a new one"]);
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
        // Killed early, there was nothing to resume: a note reports it.
        let output = folder.run(&format!("{options} --resume"));
        assert_eq!(output.status, 0, "{}", output.err);
    }
    assert!(folder.read("out.laz") == folder.read("memory.laz"));
}

/// No usable row is an error; a filter that leaves none gives a warning, and an error if a number is requested.
#[test]
fn no_row_is_the_same_in_memory_and_through_the_disk() {
    let folder = Folder::new();
    folder.write("nan.xyz", "nan 1 2 7\n".repeat(20));
    folder.write("zeros.xyz", "0 0 0 7\n".repeat(20));
    folder.write("some.csv", "x,y,z,class\n1,2,3,2\n4,5,6,2\n7,8,8,\n");
    for (input, status, words) in [
        ("nan.xyz", 2, "none of the 20 rows can be used"),
        ("zeros.xyz --drop-zeros", 2, "none of the 20 rows can be used"),
        ("some.csv --keep class=7", 0, "the filters leave no row with a position of 3"),
        ("some.csv --drop class=2 --keep class=0..", 0, "the filters leave no row"),
        ("some.csv --keep x=9..", 0, "the filters leave no row"),
    ] {
        for amount in ["--ratio 0.5", "--spacing 1", "-n 1"] {
            let command = format!("sample {input} {amount} -o");
            let once = folder.run(&format!("{command} memory.ply"));
            let disk = folder.run(&format!("{command} out.ply --spool spool"));
            assert_eq!(once.err.replace("memory.ply", "out.ply"), disk.err, "{command}");
            assert_eq!(once.status, if amount == "-n 1" { 2 } else { status }, "{command}");
            assert_eq!(disk.status, once.status, "{command}");
            assert!(once.err.contains(words), "{command}: {}", once.err);
            let files = ["memory.ply", "out.ply"].map(|name| folder.path(name).exists());
            assert_eq!(files, [once.status == 0; 2], "{command}");
            if once.status == 0 {
                assert!(folder.read("memory.ply") == folder.read("out.ply"), "{command}");
                std::fs::remove_file(folder.path("memory.ply")).unwrap();
                std::fs::remove_file(folder.path("out.ply")).unwrap();
            }
            let _ = std::fs::remove_dir_all(folder.path("spool"));
        }
    }
    for command in [
        "convert some.csv --keep class=7 -o out.ply",
        "order some.csv --keep class=7 -o out.ply",
        "sample some.csv --keep class=7 --algorithm grid --cell 1 -o out.ply",
    ] {
        let output = folder.run(command);
        output.names(&["warning", "the filters leave no row"]);
        assert_eq!(output.status, 0, "{command}: {}", output.err);
        assert!(folder.read("out.ply").windows(16).any(|text| text == b"element vertex 0"));
    }
}

/// The advice is about the error of the system.
#[cfg(target_os = "linux")]
#[test]
fn too_many_open_files_are_no_matter_of_permissions() {
    let folder = Folder::new();
    folder.room("room.ply", 100);
    folder.room("other.ply", 100);
    let farpoint = env!("CARGO_BIN_EXE_farpoint");
    // The first limits are those of the program itself.
    let run = |limit: usize| {
        let line = format!(
            "ulimit -n {limit}; exec {farpoint} sample --merge room.ply other.ply -n 5 -o o.ply"
        );
        let mut shell = Command::new("sh");
        let output = shell.args(["-c", &line]).current_dir(folder.path(".")).output().unwrap();
        String::from_utf8(output.stderr).unwrap()
    };
    let all: Vec<String> = (4..12).map(run).collect();
    assert!(
        all.iter().any(|err| err.contains("too many files are open: raise the limit")),
        "{all:?}"
    );
    assert!(!all.iter().any(|err| err.contains("permissions")), "{all:?}");
    folder.fails("info nowhere.ply", &["nowhere.ply", "check the path"]);
}

#[cfg(unix)]
#[test]
fn a_file_size_limit_is_an_error_that_leaves_nothing() {
    let folder = Folder::new();
    folder.room("room.ply", 600_000);
    for (options, name) in [
        // The spool, beside the output and in a folder of its own; the output.
        ("-n 1000 --memory 60MiB", ".farpoint-spool-"),
        ("-n 1000 --spool spool", "spool"),
        ("--ratio 1", "o.ply"),
    ] {
        // No file may be larger than that.
        let line = format!(
            "ulimit -f 1000; exec {} sample room.ply -o o.ply {options}",
            env!("CARGO_BIN_EXE_farpoint")
        );
        let mut command = Command::new("sh");
        let output = command.args(["-c", &line]).current_dir(folder.path(".")).output().unwrap();
        let err = String::from_utf8(output.stderr).unwrap();
        assert_eq!(output.status.code(), Some(2), "{options}: {err}");
        assert!(err.contains(name) && err.contains("free"), "{options}: {err}");
        let _ = std::fs::remove_dir_all(folder.path("spool"));
        assert_eq!(folder.files(), ["room.ply"], "{options}");
    }
}

/// Wherever the memory ends. Limits by `ulimit -v`, which only Linux has.
#[cfg(target_os = "linux")]
#[test]
fn nothing_is_left_where_memory_runs_out() {
    let folder = Folder::new();
    folder.ok("-q generate room -n 1000000 --seed 3 -o room.ply");
    let mut failed = 0;
    for kibibytes in (40_000..=64_000).step_by(4_000) {
        let line = format!(
            "ulimit -v {kibibytes}; exec {} sample room.ply -o o.ply -n 2000 --memory 90MiB --threads 2",
            env!("CARGO_BIN_EXE_farpoint")
        );
        let mut command = Command::new("sh");
        command.env("RAYON_NUM_THREADS", "2").env("MALLOC_ARENA_MAX", "1");
        let output = command.args(["-c", &line]).current_dir(folder.path(".")).output().unwrap();
        let err = String::from_utf8(output.stderr).unwrap();
        failed += usize::from(err.contains("out of memory"));
        if err.contains("fatal runtime error") {
            // The standard library has ended the process where it had no memory to start a thread. As after a kill,
            // the next run removes what is left.
            folder.ok("-q sample room.ply -o o.ply -n 2000 --memory 90MiB");
            std::fs::remove_file(folder.path("o.ply")).unwrap();
        }
        let left = folder.files().into_iter().find(|name| name.starts_with(".farpoint-"));
        assert_eq!(left, None, "{kibibytes}: {err}");
    }
    assert!(failed > 0);
}
