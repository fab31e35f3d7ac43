//! Running the laboratory in a folder of its own.

use farpoint_generate::{Kind, generate};
use farpoint_io::{Cloud, Coordinates, WriteOptions};
use std::path::PathBuf;
use std::process::Command;
use tempfile::TempDir;

/// Output of a run.
pub(crate) struct CommandOutput {
    pub(crate) status: i32,
    pub(crate) out: String,
    pub(crate) err: String,
}

/// A folder that is deleted with the test.
pub(crate) struct Folder(TempDir);

impl Folder {
    pub(crate) fn new() -> Self {
        Self(TempDir::new().unwrap())
    }

    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.0.path().join(name)
    }

    pub(crate) fn write(&self, name: &str, bytes: impl AsRef<[u8]>) {
        std::fs::write(self.path(name), bytes).unwrap();
    }

    pub(crate) fn read(&self, name: &str) -> String {
        std::fs::read_to_string(self.path(name)).unwrap()
    }

    /// Writes a file with a generated cloud.
    pub(crate) fn cloud(&self, name: &str, kind: Kind, points: usize) {
        let cloud = Cloud::new(Coordinates::F32(generate(kind, points, 5)));
        let rows: Vec<_> = (0..points).collect();
        farpoint_io::write(&self.path(name), &cloud, &rows, &WriteOptions::default()).unwrap();
    }

    /// Runs the laboratory here with arguments separated by spaces.
    pub(crate) fn run(&self, arguments: &str) -> CommandOutput {
        let output = Command::new(env!("CARGO_BIN_EXE_farpoint-lab"))
            .args(arguments.split_whitespace())
            .current_dir(self.0.path())
            .output()
            .unwrap();
        CommandOutput {
            status: output.status.code().expect("ended by a signal"),
            out: String::from_utf8(output.stdout).unwrap(),
            err: String::from_utf8(output.stderr).unwrap(),
        }
    }

    /// Runs and expects success without output on stderr; returns stdout.
    pub(crate) fn ok(&self, arguments: &str) -> String {
        let output = self.run(arguments);
        assert_eq!((output.status, output.err.as_str()), (0, ""), "farpoint-lab {arguments}");
        output.out
    }

    /// Runs and expects status 2 and an error that holds all these words.
    pub(crate) fn fails(&self, arguments: &str, words: &[&str]) {
        let output = self.run(arguments);
        assert_eq!(output.status, 2, "farpoint-lab {arguments}: {}", output.err);
        let last = output.err.lines().last().unwrap_or_default();
        assert!(last.starts_with("farpoint-lab: error: "), "{}", output.err);
        for word in words {
            assert!(last.contains(word), "farpoint-lab {arguments}: no '{word}' in: {last}");
        }
        assert!(!output.err.contains("panicked"), "{}", output.err);
    }
}
