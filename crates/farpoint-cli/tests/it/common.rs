//! Running the command line in a folder of its own.

use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use tempfile::TempDir;

/// Result of a run.
pub(crate) struct CommandOutput {
    pub(crate) status: i32,
    pub(crate) out: Vec<u8>,
    pub(crate) err: String,
}

impl CommandOutput {
    pub(crate) fn text(&self) -> String {
        String::from_utf8(self.out.clone()).unwrap()
    }

    /// Panics unless a line on stderr holds all these words.
    pub(crate) fn names(&self, words: &[&str]) {
        let matches = |line: &str| words.iter().all(|word| line.contains(word));
        assert!(self.err.lines().any(matches), "no line with {words:?} in: {}", self.err);
    }

    pub(crate) fn json(&self) -> serde_json::Value {
        serde_json::from_slice(&self.out).unwrap()
    }
}

/// A temporary folder, removed with the test.
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

    pub(crate) fn read(&self, name: &str) -> Vec<u8> {
        std::fs::read(self.path(name)).unwrap()
    }

    /// Returns the names of all files, temporary ones too.
    pub(crate) fn files(&self) -> Vec<String> {
        let entries = std::fs::read_dir(self.0.path()).unwrap();
        let mut names: Vec<_> =
            entries.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
        names.sort();
        names
    }

    /// Writes a generated room of `n` points.
    pub(crate) fn room(&self, name: &str, n: usize) -> Vec<[f32; 3]> {
        self.ok(&format!("generate room -n {n} --seed 3 -o {name}"));
        farpoint_generate::room(n, 3)
    }

    /// Adds well-known text to a LAS file as its coordinate system.
    pub(crate) fn add_crs(&self, name: &str, wkt: &str) {
        self.add_record(name, 2112, wkt.as_bytes());
    }

    /// Adds a record of the coordinate system to a LAS file.
    pub(crate) fn add_record(&self, name: &str, id: u16, data: &[u8]) {
        let mut bytes = self.read(name);
        // A record of the public header block, placed before the points.
        let number = |at: usize| u32::from_le_bytes(bytes[at..at + 4].try_into().unwrap());
        let (start, records) = (number(96), number(100));
        let mut record = vec![0u8; 54];
        record[2..17].copy_from_slice(b"LASF_Projection");
        record[18..20].copy_from_slice(&id.to_le_bytes());
        record[20..22].copy_from_slice(&(data.len() as u16).to_le_bytes());
        record.extend(data);
        let moved = start + record.len() as u32;
        bytes[96..100].copy_from_slice(&moved.to_le_bytes());
        bytes[100..104].copy_from_slice(&(records + 1).to_le_bytes());
        bytes.splice(start as usize..start as usize, record);
        self.write(name, bytes);
    }

    /// Runs `farpoint` here with arguments separated by spaces.
    pub(crate) fn run(&self, arguments: &str) -> CommandOutput {
        self.pipe(arguments, b"")
    }

    /// Like `run`, with bytes on stdin.
    pub(crate) fn pipe(&self, arguments: &str, input: &[u8]) -> CommandOutput {
        let mut child = Command::new(env!("CARGO_BIN_EXE_farpoint"))
            .args(arguments.split_whitespace())
            .current_dir(self.0.path())
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        let mut stdin = child.stdin.take().unwrap();
        let input = input.to_vec();
        let writer = std::thread::spawn(move || {
            // It may end without having read everything.
            let _ = stdin.write_all(&input);
        });
        let output = child.wait_with_output().unwrap();
        writer.join().unwrap();
        CommandOutput {
            status: output.status.code().expect("ended by a signal"),
            out: output.stdout,
            err: String::from_utf8(output.stderr).unwrap(),
        }
    }

    /// Runs and expects success without a word on stderr.
    pub(crate) fn ok(&self, arguments: &str) -> CommandOutput {
        let output = self.run(arguments);
        assert_eq!((output.status, output.err.as_str()), (0, ""), "farpoint {arguments}");
        output
    }

    /// Runs and expects status 2 and one line on stderr that holds all these words.
    pub(crate) fn fails(&self, arguments: &str, words: &[&str]) {
        let output = self.run(arguments);
        let err = &output.err;
        assert_eq!(output.status, 2, "farpoint {arguments}: {err}");
        let last = err.lines().last().unwrap_or_default();
        assert!(last.starts_with("farpoint: error: "), "farpoint {arguments}: {err}");
        assert_eq!(err.matches("farpoint: error").count(), 1, "farpoint {arguments}: {err}");
        for word in words {
            assert!(last.contains(word), "farpoint {arguments}: no '{word}' in: {err}");
        }
        assert!(!err.contains("panicked"), "{err}");
    }
}

/// Returns the numbers of a one-dimensional int64 .npy file.
pub(crate) fn indices(npy: &[u8]) -> Vec<usize> {
    assert_eq!(&npy[..6], b"\x93NUMPY");
    let start = 10 + usize::from(u16::from_le_bytes([npy[8], npy[9]]));
    let header = std::str::from_utf8(&npy[10..start]).unwrap();
    assert!(header.contains("'<i8'"), "{header}");
    npy[start..]
        .chunks_exact(8)
        .map(|k| i64::from_le_bytes(k.try_into().unwrap()) as usize)
        .collect()
}

/// Formats a cloud as text, one row per line.
pub(crate) fn text(rows: &[[f32; 3]]) -> String {
    rows.iter().map(|[x, y, z]| format!("{x} {y} {z}\n")).collect()
}

/// Returns a file of the shared real clouds; prints a line and returns `None` where they are missing.
pub(crate) fn shared(name: &str) -> Option<PathBuf> {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../shared/data").join(name);
    if path.exists() {
        return Some(path);
    }
    println!("skipped: {name} is not there (shared/data is not part of the repository)");
    None
}
