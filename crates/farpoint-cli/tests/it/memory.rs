//! Too little memory: one line, status 2, no output. Limits by `ulimit -v`, which only Linux has.
#![cfg(target_os = "linux")]

use crate::common::Folder;
use std::fs::File;
use std::process::Command;

/// Runs `farpoint` with a limited address space in KiB; returns the status and stderr.
fn limited(folder: &Folder, kibibytes: usize, arguments: &str) -> (Option<i32>, String) {
    let program = env!("CARGO_BIN_EXE_farpoint");
    let line = format!("ulimit -v {kibibytes} && exec {program} {arguments}");
    let mut command = Command::new("sh");
    command.args(["-c", &line]).current_dir(folder.path("."));
    // Each thread reserves address space that it does not use.
    command.env("RAYON_NUM_THREADS", "2").env("MALLOC_ARENA_MAX", "1");
    let output = command.output().unwrap();
    (output.status.code(), String::from_utf8(output.stderr).unwrap())
}

fn one_line(err: &str) -> bool {
    err.starts_with("farpoint: error: ") && err.lines().count() == 1
}

#[test]
fn a_file_that_does_not_fit_is_refused_before_it_is_read() {
    let folder = Folder::new();
    let header = "ply\nformat binary_little_endian 1.0\nelement vertex 250000000\n\
                  property float x\nproperty float y\nproperty float z\nend_header\n";
    folder.write("big.ply", header);
    let file = File::options().write(true).open(folder.path("big.ply")).unwrap();
    // The points are a hole that takes no space on the disk.
    file.set_len(header.len() as u64 + 3_000_000_000).unwrap();
    let (status, err) = limited(&folder, 1_000_000, "order big.ply -o small.ply --algorithm naive");
    assert_eq!(status, Some(2), "{err}");
    assert!(one_line(&err) && err.contains("big.ply") && err.contains("2.8 GiB"), "{err}");
    assert_eq!(folder.files(), ["big.ply"]);
}

#[test]
fn info_describes_what_does_not_fit_by_its_header() {
    let folder = Folder::new();
    let text = "{'descr': '<f4', 'fortran_order': False, 'shape': (250000000, 3), }\n";
    let mut npy = b"\x93NUMPY\x01\0".to_vec();
    npy.extend((text.len() as u16).to_le_bytes());
    npy.extend(text.as_bytes());
    let ply = "ply\nformat binary_big_endian 1.0\nelement vertex 250000000\nproperty float x\n\
               property float y\nproperty float z\nend_header\n";
    let pcd = "VERSION .7\nFIELDS x y z\nSIZE 4 4 4\nTYPE F F F\nCOUNT 1 1 1\nWIDTH 250000000\n\
               HEIGHT 1\nPOINTS 250000000\nDATA binary\n";
    let files: [(&str, &[u8]); 4] = [
        ("big.ply", ply.as_bytes()),
        ("big.pcd", pcd.as_bytes()),
        ("big.npy", &npy),
        ("big.bin", &[]),
    ];
    for (name, header) in files {
        folder.write(name, header);
        let file = File::options().write(true).open(folder.path(name)).unwrap();
        file.set_len(header.len() as u64 + 3_000_000_000).unwrap();
        let columns = if name == "big.bin" { " --columns 3" } else { "" };
        for merge in ["", " --merge"] {
            let info = format!("info {name}{columns}{merge} > out.txt");
            let (status, err) = limited(&folder, 1_000_000, &info);
            assert_eq!(status, Some(0), "{name}{merge}: {err}");
            assert!(err.contains("note") && err.contains("the points were not read"), "{err}");
            let out = String::from_utf8(folder.read("out.txt")).unwrap();
            assert!(out.contains("250,000,000") && out.contains("x f32, y f32, z f32"), "{out}");
            let (status, err) = limited(&folder, 1_000_000, &format!("{info} --points"));
            assert!(status == Some(2) && err.contains("GiB of memory"), "{name}{merge}: {err}");
        }
    }
}

#[test]
fn info_reads_no_more_than_millions_of_points_for_bounds() {
    let folder = Folder::new();
    folder.ok("-q generate room -n 10 --seed 3 -o room.las");
    let mut bytes = folder.read("room.las");
    // The bounds, which some writers leave 0, and the number of points.
    bytes[179..227].fill(0);
    folder.write("few.las", &bytes);
    let json = folder.ok("info few.las --json").json();
    assert!(json["min"].is_array() && json["points_read"] == true, "{json}");
    bytes[247..255].copy_from_slice(&50_000_000u64.to_le_bytes());
    folder.write("many.las", &bytes);
    let file = File::options().write(true).open(folder.path("many.las")).unwrap();
    file.set_len(bytes.len() as u64 + 100 * 50_000_000).unwrap();
    let output = folder.run("info many.las --json");
    output.names(&["many.las", "no bounds", "--points"]);
    let json = output.json();
    assert!(json["min"].is_null() && json["points"] == 50_000_000, "{json}");
}

#[test]
fn what_has_no_end_is_refused() {
    let folder = Folder::new();
    folder.room("room.ply", 10);
    for format in ["ply", "pcd", "npy", "las", "e57", "xyz", "raw --columns 3"] {
        for command in ["info", "convert", "sample -n 3"] {
            let output = if command == "info" { "" } else { "out.ply" };
            let option = if command.starts_with("sample") { "-o" } else { "" };
            let line = format!("{command} /dev/zero {option} {output} --input-format {format}");
            folder.fails(&line, &["/dev/zero", "device", "no end"]);
        }
    }
    folder.fails("sample room.ply -n 3 -o out.ply --rows /dev/zero", &["/dev/zero", "device"]);
    for format in ["ply", "pcd", "npy"] {
        let mut command = Command::new(env!("CARGO_BIN_EXE_farpoint"));
        command.args(["info", "-", "--input-format", format]);
        let endless = File::open("/dev/zero").unwrap();
        let output = command.stdin(endless).output().unwrap();
        let err = String::from_utf8(output.stderr).unwrap();
        assert!(output.status.code() == Some(2) && one_line(&err), "{format}: {err}");
        assert!(err.contains("standard input"), "{err}");
    }
}

#[test]
fn a_cloud_that_does_not_fit_is_refused() {
    let folder = Folder::new();
    folder.room("room.ply", 4_000_000);
    // The coordinates beside the file; what sampling takes beside both.
    for kibibytes in [110_000, 150_000] {
        let sample = "sample room.ply -n 10 --algorithm naive -o small.ply";
        let (status, err) = limited(&folder, kibibytes, sample);
        assert_eq!(status, Some(2), "{kibibytes}: {err}");
        assert!(
            one_line(&err) && err.contains("room.ply") && err.contains("MiB"),
            "{kibibytes}: {err}"
        );
    }
    assert_eq!(folder.files(), ["room.ply"]);
}

#[test]
fn a_cloud_that_does_not_fit_is_sampled_through_the_disk() {
    let folder = Folder::new();
    folder.room("room.ply", 4_000_000);
    let (status, err) = limited(&folder, 8_000_000, "sample room.ply -n 1000 -o whole.ply");
    assert_eq!((status, err.as_str()), (Some(0), ""));
    let (status, err) = limited(&folder, 200_000, "sample room.ply -n 1000 -o small.ply");
    assert_eq!(status, Some(0), "{err}");
    assert!(err.contains("room.ply") && err.contains("344 MiB"), "{err}");
    let bytes = |name| std::fs::read(folder.path(name)).unwrap();
    assert!(bytes("small.ply") == bytes("whole.ply"));
    assert_eq!(folder.files(), ["room.ply", "small.ply", "whole.ply"]);
}

#[test]
fn an_allocation_that_fails_is_one_line() {
    let folder = Folder::new();
    // What a text needs isn't known before it is read.
    let row = "1.25 2.5 3.75\n";
    folder.write("big.xyz", row.repeat(1_500_000));
    let (status, err) = limited(&folder, 140_000, "sample big.xyz -n 10 -o small.ply");
    assert_eq!(status, Some(2), "{err}");
    assert!(one_line(&err) && err.contains("out of memory"), "{err}");
    assert_eq!(folder.files(), ["big.xyz"]);
}

#[test]
fn more_points_than_fit_are_not_generated() {
    let folder = Folder::new();
    let (status, err) = limited(&folder, 1_000_000, "generate room -n 1e9 -o big.ply");
    assert_eq!(status, Some(2), "{err}");
    assert!(one_line(&err) && err.contains("1,000,000,000 points"), "{err}");
    assert!(folder.files().is_empty());
}

/// Runs `farpoint` as a user who may have one process, which root is not held to.
fn alone(folder: &Folder, arguments: &str) -> (Option<i32>, String) {
    let line = format!("ulimit -u 1 && exec {} {arguments}", env!("CARGO_BIN_EXE_farpoint"));
    let root = Command::new("id").arg("-u").output().unwrap().stdout == b"0\n";
    let mut command = Command::new(if root { "setpriv" } else { "bash" });
    if root {
        command.args(["--reuid=54321", "--regid=54321", "--clear-groups", "bash"]);
    }
    command.args(["-c", &line]).current_dir(folder.path(".")).env("RAYON_NUM_THREADS", "4");
    let output = command.output().unwrap();
    (output.status.code(), String::from_utf8(output.stderr).unwrap())
}

#[test]
fn threads_that_are_refused_are_fewer() {
    use std::os::unix::fs::PermissionsExt;
    let folder = Folder::new();
    folder.room("room.ply", 100_000);
    std::fs::create_dir(folder.path("scans")).unwrap();
    std::fs::copy(folder.path("room.ply"), folder.path("scans/a.ply")).unwrap();
    for path in [".", "scans"] {
        let open = std::fs::Permissions::from_mode(0o777);
        std::fs::set_permissions(folder.path(path), open).unwrap();
    }
    let (status, err) = limited(&folder, 8_000_000, "sample room.ply -n 1000 -o all.ply");
    assert_eq!(status, Some(0), "{err}");
    for arguments in [
        "sample room.ply -n 1000 -o one.ply",
        "sample room.ply -n 1000 -o four.ply --threads 4",
        "chamfer all.ply room.ply",
        "convert room.ply -o room.laz",
        "compare all.ply -n 100 -o all.png",
        "sample scans --output-dir thin -n 1000 --jobs 2",
    ] {
        let (status, err) = alone(&folder, arguments);
        assert_eq!(status, Some(0), "{arguments}: {err}");
        let notes = err.lines().filter(|line| line.contains("the system granted 1 of")).count();
        assert_eq!(notes, 1, "{arguments}: {err}");
    }
    for other in ["one.ply", "four.ply", "thin/a.ply"] {
        assert_eq!(folder.read("all.ply"), folder.read(other), "{other}");
    }
}
