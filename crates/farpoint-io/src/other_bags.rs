//! Bags in other formats than MCAP: refused with the command that converts them.

use crate::error::Error;
use std::fs::File;
use std::io::{Read, Seek};
use std::path::Path;

/// Refuses the bytes of a bag in another format.
pub(crate) fn refuse(bytes: &[u8], name: &str) -> Result<(), Error> {
    let what = match bytes {
        _ if bytes.starts_with(b"#ROSBAG") => "a bag of ROS 1, which cannot be read directly",
        _ if bytes.starts_with(b"SQLite format 3\0") => {
            "a SQLite file, as bags of ROS 2 are (.db3), which cannot be read directly"
        }
        _ => return Ok(()),
    };
    let (what, fix) = (format!("this is {what}"), to_mcap(Path::new(name)));
    Err(Error::UnknownFormat { name: name.to_owned(), what, fix })
}

/// Refuses a file that is a bag in another format before it is loaded, as bags may exceed the memory. It is left at its
/// start.
pub(crate) fn refuse_file(file: &mut File, name: &str) -> Result<(), Error> {
    let fail = |source| Error::Read { name: name.to_owned(), source };
    if !file.metadata().map_err(fail)?.is_file() {
        return Ok(());
    }
    let mut start = Vec::new();
    file.by_ref().take(16).read_to_end(&mut start).map_err(fail)?;
    file.rewind().map_err(fail)?;
    refuse(&start, name)
}

/// Returns the advice to convert a bag, with the command. The result is a folder, which is read as one bag.
pub(crate) fn to_mcap(bag: &Path) -> String {
    let folder = bag.with_extension("");
    let (bag, folder) = (bag.display(), folder.display());
    format!(
        "convert it with 'rosbags-convert --src {bag} --dst {folder}_mcap --dst-storage mcap' \
         ('pip install rosbags'), then read {folder}_mcap"
    )
}
