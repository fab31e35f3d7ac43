//! Progress on a terminal: no line is wider than it. A terminal is made by script(1), where that is.
#![cfg(target_os = "linux")]

use crate::common::Folder;
use std::process::Command;

#[test]
fn progress_fits_into_the_terminal() {
    let folder = Folder::new();
    let name = "a-cloud-with-quite-a-long-name-that-would-not-fit-into-a-narrow-terminal.npy";
    folder.room(name, 300_000);
    for columns in [40, 80, 120] {
        // The run needs minutes; the bar is drawn after a second, on a busy machine later.
        let mut runs = [3, 10, 60].iter().map(|seconds| drawn(&folder, name, columns, *seconds));
        let has_bar = |drawn: &Option<String>| drawn.as_ref().is_none_or(|d| d.contains("left"));
        let Some(drawn) = runs.find(has_bar).expect("a bar is drawn within a minute") else {
            println!("skipped: progress on a terminal (there is no script(1))");
            return;
        };
        let lines: Vec<String> = drawn.split(['\r', '\n']).map(plain).collect();
        let widest = lines.iter().map(|line| line.chars().count()).max().unwrap_or(0);
        assert!(drawn.contains("sampling") && drawn.contains("left"), "{columns}: {drawn:?}");
        assert!(widest <= columns, "{columns}: {widest} in {drawn:?}");
        // Nothing wraps: no frame needs the cursor to go up.
        assert!(!drawn.contains("\x1b[1A"), "{columns}: {drawn:?}");
        // At 40 columns "sampling ...rminal.npy": the end of the name stays.
        assert!(drawn.contains("rminal.npy"), "{columns}: {drawn:?}");
    }
}

/// Reading and writing show a share, each step under its own name.
#[test]
fn files_have_a_share() {
    let folder = Folder::new();
    let lines: String = (0..400_000).map(|k| format!("{k}.25 {} 7.125\n", k % 1000)).collect();
    folder.write("a.xyz", lines.repeat(8));
    let mut drawn = String::new();
    // A fast machine is done before anything is drawn.
    for output in ["o.e57", "o.laz", "o.csv"] {
        let Some(run) = on_terminal(&folder, &format!("convert a.xyz -o {output}"), 120, 300)
        else {
            println!("skipped: shares on a terminal (there is no script(1))");
            return;
        };
        drawn += &run;
        assert!(folder.files().contains(&output.to_owned()), "{run}");
    }
    let shares = drawn.split(['\r', '\n']).map(plain).filter(|line| line.contains('%'));
    let known = ["reading", "decoding", "encoding", "writing", "sampling", "opening"];
    let shares: Vec<String> = shares.collect();
    assert!(
        shares.iter().all(|line| known.iter().any(|verb| line.starts_with(verb))),
        "{shares:?}"
    );
    match shares.is_empty() {
        true => println!(
            "skipped: shares on a terminal (the files are read and written within a second)"
        ),
        false => assert!(shares.iter().any(|line| !line.contains(" 0%")), "{shares:?}"),
    }
}

/// Returns what a run draws on a terminal of `columns` until it is ended; `None` without script(1).
fn drawn(folder: &Folder, name: &str, columns: usize, seconds: u32) -> Option<String> {
    let run = format!("sample {name} --ratio 0.5 --json --algorithm reference");
    on_terminal(folder, &run, columns, seconds)
}

/// Returns what a command draws on a terminal; `None` without script(1).
fn on_terminal(folder: &Folder, command: &str, columns: usize, seconds: u32) -> Option<String> {
    let program = env!("CARGO_BIN_EXE_farpoint");
    let run = format!("stty rows 24 cols {columns}; timeout {seconds} {program} {command}");
    let mut script = Command::new("script");
    script.args(["-qec", &run, "/dev/null"]).current_dir(folder.path("."));
    let output = script.env("TERM", "xterm").stdin(std::process::Stdio::null()).output().ok()?;
    Some(String::from_utf8_lossy(&output.stdout).into_owned())
}

/// Removes the sequences that move the cursor or clear a line.
fn plain(line: &str) -> String {
    let mut text = String::new();
    let mut rest = line.chars();
    while let Some(letter) = rest.next() {
        match letter {
            '\x1b' => {
                let _ = rest.by_ref().skip(1).find(char::is_ascii_alphabetic);
            }
            letter => text.push(letter),
        }
    }
    text
}
