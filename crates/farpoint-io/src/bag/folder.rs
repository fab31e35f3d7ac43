//! A bag in several files: a folder with a `metadata.yaml` that lists them.

use crate::error::Error;
use crate::other_bags;
use std::fs::File;
use std::path::{Path, PathBuf};

/// Name of the file that lists the files of a folder.
const METADATA: &str = "metadata.yaml";

/// Returns the files of a bag in order, if `path` is a folder with one.
///
/// # Errors
/// [`Error::Read`] if the list can't be read, [`Error::UnknownFormat`] if the files are of a kind that is
/// not read.
pub fn bag_files(path: &Path) -> Result<Option<Vec<PathBuf>>, Error> {
    let list = path.join(METADATA);
    if !path.is_dir() || !list.is_file() {
        return Ok(None);
    }
    let name = path.display().to_string();
    let text = std::fs::read_to_string(&list)
        .map_err(|source| Error::Read { name: list.display().to_string(), source })?;
    let refuse = |what: String, fix: String| Error::UnknownFormat { name: name.clone(), what, fix };
    let files = listed(&text);
    if files.iter().any(|file| file.ends_with(".db3")) {
        return Err(refuse("a bag in SQLite (.db3)".into(), other_bags::to_mcap(path)));
    }
    if let Some(file) = files.iter().find(|file| !file.ends_with(".mcap")) {
        return Err(refuse(
            format!("{METADATA} lists {file}, which is not an .mcap file"),
            "unpack or convert it first ('unzstd', 'ros2 bag convert')".into(),
        ));
    }
    match files.is_empty() {
        true => Err(refuse(
            format!("{METADATA} lists no files"),
            "'ros2 bag reindex' rebuilds it".into(),
        )),
        false => Ok(Some(files.iter().map(|file| path.join(file)).collect())),
    }
}

/// Refuses a file that is a bag in another format than MCAP.
///
/// # Errors
/// [`Error::UnknownFormat`] with the command that converts it; [`Error::Read`] if it can't be read.
pub fn refuse_other_bag(path: &Path) -> Result<(), Error> {
    let name = path.display().to_string();
    let mut file = File::open(path).map_err(|source| Error::Read { name: name.clone(), source })?;
    other_bags::refuse_file(&mut file, &name)
}

/// The entries of `relative_file_paths`, which ROS writes one a line.
fn listed(text: &str) -> Vec<String> {
    let mut lines = text.lines().skip_while(|line| line.trim() != "relative_file_paths:").skip(1);
    let entry = |line: &str| {
        let entry = line.trim().strip_prefix('-')?.trim();
        let plain = entry.trim_matches(['"', '\'']);
        (!plain.contains(": ")).then(|| plain.to_owned())
    };
    lines.by_ref().map_while(entry).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    const TEXT: &str = "rosbag2_bagfile_information:\n  version: 9\n  storage_identifier: mcap\n  \
        relative_file_paths:\n    - drive_0.mcap\n    - 'drive_1.mcap'\n  files:\n    - path: drive_0.mcap\n";

    #[test]
    fn files_in_order() {
        assert_eq!(listed(TEXT), ["drive_0.mcap", "drive_1.mcap"]);
        assert!(listed("version: 9\n").is_empty());
    }

    #[test]
    fn folders() {
        let folder = tempfile::tempdir().unwrap();
        assert!(bag_files(folder.path()).unwrap().is_none());
        let write = |text: &str| std::fs::write(folder.path().join(METADATA), text).unwrap();
        write(TEXT);
        let files = bag_files(folder.path()).unwrap().unwrap();
        assert_eq!(files, ["drive_0.mcap", "drive_1.mcap"].map(|file| folder.path().join(file)));
        for (text, part) in [
            (TEXT.replace(".mcap", ".db3"), "_mcap --dst-storage mcap'"),
            (TEXT.replace(".mcap", ".mcap.zstd"), "unzstd"),
            ("version: 9\n".into(), "reindex"),
        ] {
            write(&text);
            let error = bag_files(folder.path()).unwrap_err().to_string();
            assert!(error.contains(part), "{error}");
        }
    }
}
