//! Identity of files: the same for all names that lead to one file.

use crate::bytes::sink::folder_of;
use std::ffi::OsString;
use std::fs::{self, Metadata};
use std::path::Path;

/// Identity of a file, equal for all names that lead to it: through links, and before it is created.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct FileId {
    /// The file, or the folder in which it would be.
    place: Place,
    /// Its name in that folder; `None` if it is there.
    name: Option<OsString>,
}

#[cfg(unix)]
type Place = (u64, u64);
#[cfg(not(unix))]
type Place = std::path::PathBuf;

/// True where names in upper and lower case lead to one file, usually.
const IGNORES_CASE: bool = cfg!(any(windows, target_vendor = "apple"));

impl FileId {
    /// Returns the identity of the file at `path`; `None` for standard input and output, for pipes and devices, and if
    /// its folder does not exist.
    pub fn of(path: &Path) -> Option<FileId> {
        if path == Path::new("-") {
            return None;
        }
        if let Ok(about) = fs::metadata(path) {
            let stored = about.is_file() || about.is_dir();
            return stored.then(|| Some(FileId { place: place(path, &about)?, name: None }))?;
        }
        // A link to nothing is replaced by an output, like a file.
        let (folder, name) = (folder_of(path), path.file_name()?);
        let name = if IGNORES_CASE {
            name.to_string_lossy().to_lowercase().into()
        } else {
            name.to_owned()
        };
        let place = place(&folder, &fs::metadata(&folder).ok()?)?;
        Some(FileId { place, name: Some(name) })
    }
}

#[cfg(unix)]
fn place(_: &Path, about: &Metadata) -> Option<Place> {
    use std::os::unix::fs::MetadataExt;
    Some((about.dev(), about.ino()))
}

#[cfg(not(unix))]
fn place(path: &Path, _: &Metadata) -> Option<Place> {
    fs::canonicalize(path).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_file_has_one_identity_under_all_names() {
        let folder = tempfile::tempdir().unwrap();
        let at = |name: &str| folder.path().join(name);
        fs::create_dir(at("d")).unwrap();
        fs::write(at("a"), "a").unwrap();
        fs::write(at("b"), "a").unwrap();
        fs::hard_link(at("a"), at("hard")).unwrap();
        let same = |one: &str, other: &str| {
            let [one, other] = [one, other].map(|name| FileId::of(&at(name)).unwrap());
            one == other
        };
        for (one, other) in [("a", "./a"), ("a", "d/../a"), ("a", "hard"), ("new", "d/../new")] {
            assert!(same(one, other), "{one} {other}");
        }
        for (one, other) in [("a", "b"), ("new", "a"), ("new", "newer"), ("new", "d/new")] {
            assert!(!same(one, other), "{one} {other}");
        }
        assert_eq!(same("new", "NEW"), IGNORES_CASE);
        assert_eq!([FileId::of(Path::new("-")), FileId::of(&at("no/where"))], [None, None]);
        #[cfg(unix)]
        {
            std::os::unix::fs::symlink(at("a"), at("link")).unwrap();
            std::os::unix::fs::symlink(at("d"), at("l")).unwrap();
            assert!(same("link", "a") && same("l/new", "d/new") && !same("l/new", "new"));
            assert_eq!(FileId::of(Path::new("/dev/null")), None);
        }
    }
}
