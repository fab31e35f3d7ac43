//! Text from files and names on its way to a terminal; disks and files that refuse; streams without an end.

use crate::bag_fixtures::{OUSTER, ZSTD, cloud, drive};
use crate::common::Folder;

/// Fails if a control character reaches the terminal.
fn harmless(text: &str) {
    let acts = |c: char| c.is_control() && c != '\n';
    assert!(!text.contains(acts), "{text:?}");
}

const ESCAPE: &str = "\x1b[2J\x1b]0;title\x07";

#[test]
fn names_of_fields_do_nothing_on_a_terminal() {
    let folder = Folder::new();
    folder.write("a.csv", format!("x,y,z,{ESCAPE}\n1,2,3,4\n4,5,6,7\n"));
    folder.write(
        "a.pcd",
        format!(
            "VERSION .7\nFIELDS x y z {ESCAPE}\nSIZE 4 4 4 4\nTYPE F F F F\nCOUNT 1 1 1 1\nWIDTH 1\n\
             HEIGHT 1\nPOINTS 1\nDATA ascii\n1 2 3 4\n"
        ),
    );
    folder.write("b.csv", format!("a,b,{ESCAPE}\n1,2,3\n"));
    for name in ["a.csv", "a.pcd"] {
        let output = folder.run(&format!("info {name}"));
        assert_eq!(output.status, 0, "{}", output.err);
        harmless(&output.text());
        harmless(&output.err);
        output.names(&["\\u{1b}[2J", "control characters"]);
        let json = folder.run(&format!("info {name} --json")).json();
        assert_eq!(json["fields"][3]["name"], "_[2J_]0;title_", "{name}");
        let output = folder.run(&format!("sample {name} -n 1 -o b.pts"));
        harmless(&output.err);
        output.names(&["left out", "_[2J_]0;title_"]);
    }
    let output = folder.run("info b.csv");
    harmless(&output.err);
    output.names(&["b.csv", "\\u{1b}"]);
    let output = folder.run("sample a.csv -n 1 --keep ring=1");
    harmless(&output.err);
    output.names(&["ring", "_[2J_]0;title_"]);
}

#[test]
fn names_of_files_do_nothing_on_a_terminal() {
    let folder = Folder::new();
    // Brackets would make it a pattern.
    let name = "\x1bc\x07.xyz";
    folder.write(name, "1 2 3\n4 5 6\n");
    for arguments in [format!("info {name}"), format!("sample {name} -n 1 -o {name}.ply")] {
        let output = folder.run(&arguments);
        assert_eq!(output.status, 0, "{}", output.err);
        harmless(&output.text());
        harmless(&output.err);
    }
    let output = folder.run(&format!("sample {name} -n 9"));
    harmless(&output.err);
    output.names(&["\\u{1b}", "9"]);
    harmless(&folder.run(&format!("info no-{name}")).err);
    harmless(&folder.run(&format!("smaple {name}")).err);
    let json = folder.ok(&format!("info {name} --json")).json();
    assert_eq!(json["file"], name);
}

#[test]
fn texts_of_las_and_topics_do_nothing_on_a_terminal() {
    let folder = Folder::new();
    folder.write("a.xyz", "1 2 3\n4 5 6\n");
    folder.run("convert a.xyz -o a.las");
    let mut las = folder.read("a.las");
    // System identifier and generating software.
    las[26..26 + ESCAPE.len()].copy_from_slice(ESCAPE.as_bytes());
    las[58..58 + ESCAPE.len()].copy_from_slice(ESCAPE.as_bytes());
    folder.write("a.las", las);
    harmless(&folder.ok("info a.las").text());
    assert_eq!(folder.ok("info a.las --json").json()["software"], ESCAPE);
    let mut bag = drive(
        &crate::bag_fixtures::File { index: false, chunks: false, compression: None, ..ZSTD },
        "cdr",
        &[cloud(&OUSTER, 20, 0)],
    );
    // A topic of the same length.
    while let Some(at) = bag.windows(6).position(|w| w == b"/lidar") {
        bag[at..at + 6].copy_from_slice(b"/\x1b[2Jr");
    }
    folder.write("a.mcap", bag);
    let output = folder.run("info a.mcap");
    harmless(&output.text());
    harmless(&output.err);
    assert!(output.text().contains("/\\u{1b}[2Jr"), "{}", output.text());
    harmless(&folder.run("sample a.mcap --topic /other -n 5 -o b.mcap").err);
}

/// A link to a device that is always full.
#[cfg(target_os = "linux")]
#[test]
fn a_full_disk_is_one_line_that_says_so() {
    let folder = Folder::new();
    folder.room("a.ply", 500);
    for name in ["o.npz", "o.html", "o.png", "o.csv", "o.json", "o.laz", "o.npy"] {
        std::os::unix::fs::symlink("/dev/full", folder.path(name)).unwrap();
    }
    for arguments in [
        "neighbors a.ply -k 4 -o o.npz",
        "view a.ply -o o.html",
        "compare a.ply -n 20 --output o.png",
        "compare a.ply -n 20 --no-picture --csv o.csv",
        "sample a.ply -n 20 --json=o.json",
        "sample a.ply -n 20 -o o.laz",
        "sample a.ply -n 20 --indices o.npy",
    ] {
        let output = folder.run(arguments);
        assert_eq!(output.status, 2, "{arguments}: {}", output.err);
        assert_eq!(output.err.lines().count(), 1, "{arguments}: {}", output.err);
        output.names(&["farpoint: error: o.", "No space left"]);
    }
}

#[test]
fn a_read_only_output_stays() {
    let folder = Folder::new();
    folder.room("a.ply", 50);
    for name in ["b.ply", "b.json", "b.html"] {
        folder.write(name, "precious");
        let mut permissions = std::fs::metadata(folder.path(name)).unwrap().permissions();
        permissions.set_readonly(true);
        std::fs::set_permissions(folder.path(name), permissions).unwrap();
    }
    folder.fails("sample a.ply -n 5 -o b.ply", &["b.ply", "read-only"]);
    folder.fails("sample a.ply -n 5 --json=b.json", &["b.json", "read-only"]);
    folder.fails("view a.ply -o b.html", &["b.html", "read-only"]);
    for name in ["b.ply", "b.json", "b.html"] {
        assert_eq!(folder.read(name), b"precious");
    }
}

#[test]
fn empty_files_of_a_folder_are_errors() {
    let folder = Folder::new();
    std::fs::create_dir(folder.path("in")).unwrap();
    for name in ["in/a.xyz", "in/b.laz", "in/c.bin", "in/d.csv"] {
        folder.write(name, "");
    }
    folder.write("in/e.xyz", "1 2 3\n4 5 6\n");
    let output = folder.run("sample in --output-dir out --ratio 0.5 --json");
    assert_eq!(output.status, 3, "{}", output.err);
    let json = output.json();
    assert_eq!((&json["done"], &json["failed"]), (&1.into(), &4.into()), "{json}");
    for name in ["a.xyz", "b.laz", "c.bin", "d.csv"] {
        output.names(&[name, "empty"]);
    }
}

/// Memory by `ulimit -v`, which only Linux has.
#[cfg(target_os = "linux")]
#[test]
fn a_stream_without_an_end_is_refused_before_memory_ends() {
    let folder = Folder::new();
    for (input, words) in [("/dev/zero", "a device"), ("- </dev/zero", "of memory")] {
        for command in ["info", "sample -n 5 -o b.ply"] {
            let (command, options) = command.split_once(' ').unwrap_or((command, ""));
            let program = env!("CARGO_BIN_EXE_farpoint");
            let line = format!(
                "ulimit -v 1500000 && exec {program} {command} {options} --input-format bin {input}"
            );
            let mut shell = std::process::Command::new("sh");
            shell.args(["-c", &line]).current_dir(folder.path("."));
            shell.env("RAYON_NUM_THREADS", "2").env("MALLOC_ARENA_MAX", "1");
            let output = shell.output().unwrap();
            let err = String::from_utf8(output.stderr).unwrap();
            assert_eq!(output.status.code(), Some(2), "{line}: {err}");
            assert!(err.lines().count() == 1 && err.contains(words), "{line}: {err}");
        }
    }
    assert!(folder.files().is_empty());
}
