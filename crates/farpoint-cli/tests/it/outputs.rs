//! Outputs: none is an input or another output, whatever its name; what stands if one of them fails; and nothing is
//! created for a command that is refused.

use crate::common::Folder;
use std::fs;

#[test]
fn outputs_are_files_of_their_own() {
    let folder = Folder::new();
    folder.room("a.ply", 300);
    folder.ok("order a.ply -o b.npz");
    fs::create_dir(folder.path("d")).unwrap();
    folder.write("rows.txt", "1\n2\n3\n");
    folder.write("p.txt", "POLYGON((0 0, 9 0, 9 9, 0 9, 0 0))");
    folder.write("crs.txt", "LOCAL_CS[\"x\"]");
    folder.write("old.npy", "old");
    fs::hard_link(folder.path("old.npy"), folder.path("hard.npy")).unwrap();
    fs::copy(folder.path("a.ply"), folder.path("a.png")).unwrap();
    let mut cases = vec![
        ("sample a.ply -n 2 -o x.npy --indices ./x.npy", "two names"),
        ("sample a.ply -n 2 -o d/../x.npy --indices x.npy", "two names"),
        ("sample a.ply -n 2 -o old.npy --indices hard.npy", "two names"),
        ("sample a.ply -n 2 --rows rows.txt -o ./rows.txt", "the file of --rows"),
        ("sample a.ply -n 2 --mask rows.txt -o d/../rows.txt", "the file of --mask"),
        ("sample a.ply -n 2 --polygon p.txt -o ./p.txt", "the file of --polygon"),
        ("order a.ply --rows rows.txt -o ./rows.txt", "the file of --rows"),
        ("convert a.ply ./p.txt --polygon p.txt", "the file of --polygon"),
        ("convert d/../a.ply a.ply", "is the input"),
        ("neighbors b.npz -k 2 -o ./b.npz", "is the input"),
        ("chamfer a.png a.ply --input-format ply --per-point ./a.npy", "is the input"),
        (
            "sample a.ply --output-dir d -n 2 --format txt --polygon d/a.txt",
            "the file of --polygon",
        ),
    ];
    fs::copy(folder.path("p.txt"), folder.path("d/a.txt")).unwrap();
    #[cfg(unix)]
    {
        std::os::unix::fs::symlink("old.npy", folder.path("link.npy")).unwrap();
        std::os::unix::fs::symlink("d", folder.path("l")).unwrap();
        cases.push(("sample a.ply -n 2 -o old.npy --indices link.npy", "two names"));
        cases.push(("sample a.ply -n 2 -o l/x.npy --indices d/x.npy", "two names"));
    }
    let files = folder.files();
    for (arguments, words) in cases {
        folder.fails(arguments, &[words]);
        assert_eq!(folder.files(), files, "{arguments}");
    }
    // Names of two files.
    folder.ok("sample a.ply -n 2 -o d/x.npy --indices x.npy");
    folder.ok("sample a.ply -n 2 -o x.npy --indices d/x.npy --json=x.json");
}

#[cfg(unix)]
#[test]
fn an_error_names_the_outputs_that_stand() {
    let folder = Folder::new();
    folder.room("a.ply", 50_000);
    let limited = |limit: usize, arguments: &str| {
        let line =
            format!("ulimit -f {limit}; exec {} -q {arguments}", env!("CARGO_BIN_EXE_farpoint"));
        let output = std::process::Command::new("sh")
            .args(["-c", &line])
            .current_dir(folder.path("."))
            .output()
            .unwrap();
        assert_eq!(output.status.code(), Some(2), "{arguments}");
        String::from_utf8(output.stderr).unwrap()
    };
    // Rows take 400,000 bytes, points in LAZ less than half of that.
    let run =
        "sample a.ply --algorithm random -n 50000 --sorted --scale 5cm -o o.laz --indices i.npy";
    let kilobytes = |blocks: usize| blocks * 1024 / 512;
    let error = limited(kilobytes(300), run);
    assert!(
        error.contains("i.npy: cannot be written") && error.contains("; o.laz is written"),
        "{error}"
    );
    assert_eq!(folder.files(), ["a.ply", "o.laz"]);
    fs::remove_file(folder.path("o.laz")).unwrap();
    let error = limited(kilobytes(20), run);
    assert!(error.contains("o.laz: cannot be written") && !error.contains("is written"), "{error}");
    assert_eq!(folder.files(), ["a.ply"]);
}

#[test]
fn nothing_is_created_for_inputs_that_do_not_exist() {
    let folder = Folder::new();
    for arguments in [
        "sample missing --output-dir x -n 3",
        "sample missing.ply other.laz --output-dir x --ratio 0.5",
        "order missing.ply --output-dir x",
        "convert missing --output-dir x --to ply",
    ] {
        folder.fails(arguments, &["missing", "cannot be read"]);
        assert_eq!(folder.files(), [""; 0], "{arguments}");
    }
    // Of several, the others are done.
    folder.room("a.ply", 50);
    let output = folder.run("sample a.ply missing --output-dir x -n 3");
    assert_eq!(output.status, 3);
    output.names(&["missing: cannot be read"]);
    assert!(folder.path("x/a.ply").exists());
}

#[test]
fn a_spool_in_a_folder_of_others_is_refused() {
    let folder = Folder::new();
    folder.room("a.ply", 300);
    fs::create_dir(folder.path("own")).unwrap();
    folder.write("own/lock", "dear");
    let run = "sample a.ply -n 9 -o b.ply --spool own";
    for options in ["", " --resume"] {
        folder.fails(&format!("{run}{options}"), &["own: contains other files, such as 'lock'"]);
        assert_eq!(folder.read("own/lock"), b"dear");
    }
    fs::rename(folder.path("own/lock"), folder.path("own/letter.txt")).unwrap();
    folder.fails(run, &["'letter.txt'", "empty folder"]);
    assert!(!folder.path("own/lock").exists() && !folder.path("b.ply").exists());
    // Nothing is left of a run that could not begin, either.
    folder.fails("sample a.ply -n 999 -o b.ply --spool new", &["999"]);
    assert_eq!(folder.files(), ["a.ply", "own"]);
}

#[test]
#[cfg(target_os = "linux")]
fn names_that_are_no_unicode_are_escaped_in_the_manifest() {
    use std::os::unix::ffi::OsStrExt;
    let folder = Folder::new();
    folder.room("a.ply", 50);
    fs::create_dir(folder.path("in")).unwrap();
    for byte in [0xfe, 0xff] {
        let name = [b"in/\xe4 ", &[byte][..], b".ply"].concat();
        let to = folder.path(".").join(std::ffi::OsStr::from_bytes(&name));
        fs::copy(folder.path("a.ply"), to).unwrap();
    }
    let run = "sample in --output-dir out -n 3 --json";
    folder.ok(run);
    let lines = String::from_utf8(folder.read("out/farpoint.jsonl")).unwrap();
    let rows: Vec<serde_json::Value> =
        lines.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    let mut names: Vec<_> = rows.iter().map(|row| row["output"].as_str().unwrap()).collect();
    names.sort_unstable();
    assert_eq!(names, [r"\xE4 \xFE.ply", r"\xE4 \xFF.ply"]);
    // They are found again.
    folder.ok(run);
    assert!(folder.read("out/farpoint.jsonl") == lines.as_bytes());
}
