//! The formats: names and extensions.

use std::borrow::Cow;
use std::fmt;
use std::path::{Path, PathBuf};

/// Layout of a text file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum TextStyle {
    /// Values between spaces; a comment names the columns if there are more than x, y, z.
    Spaces,
    /// Values between commas under a header.
    Csv,
    /// PTS: the number of points, then `x y z intensity r g b` a line.
    Pts,
}

/// The formats that can be read.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Format {
    /// Polygon file format (Stanford).
    Ply,
    /// Point Cloud Library.
    Pcd,
    /// ASPRS laser scans.
    Las,
    /// LAS compressed by LASzip; COPC is LAZ.
    Laz,
    /// ASTM E57 laser scans.
    E57,
    /// One NumPy array.
    Npy,
    /// Several NumPy arrays in a zip archive.
    Npz,
    /// Float32 rows without a header (KITTI, nuScenes).
    Raw,
    /// Lines of numbers.
    Text,
    /// Leica PTX: text with a scanner position in front of every scan.
    Ptx,
    /// Wavefront OBJ; its vertices are read.
    Obj,
    /// Object file format; its vertices are read.
    Off,
    /// An MCAP file of ROS; one message of it is read, with the feature `mcap`.
    Mcap,
}

/// Names of a format, whose functions are those of [`crate::formats`].
struct Row {
    format: Format,
    name: &'static str,
    extensions: &'static [&'static str],
}

const fn row(format: Format, name: &'static str, extensions: &'static [&'static str]) -> Row {
    Row { format, name, extensions }
}

/// The formats, in the order of the enum.
const ROWS: [Row; 13] = [
    row(Format::Ply, "PLY", &["ply"]),
    row(Format::Pcd, "PCD", &["pcd"]),
    row(Format::Las, "LAS", &["las"]),
    row(Format::Laz, "LAZ", &["laz"]),
    row(Format::E57, "E57", &["e57"]),
    row(Format::Npy, "NPY", &["npy"]),
    row(Format::Npz, "NPZ", &["npz"]),
    row(Format::Raw, "raw float32", &["bin"]),
    row(Format::Text, "text", &["txt", "xyz", "csv", "pts", "asc"]),
    row(Format::Ptx, "PTX", &["ptx"]),
    row(Format::Obj, "OBJ", &["obj"]),
    row(Format::Off, "OFF", &["off"]),
    row(Format::Mcap, "MCAP", &["mcap"]),
];

// A format finds its row by its number.
const _: () = {
    let mut k = 0;
    while k < ROWS.len() {
        assert!(ROWS[k].format as usize == k);
        k += 1;
    }
};

impl Format {
    /// All formats.
    pub const ALL: [Format; ROWS.len()] = {
        let mut all = [Format::Ply; ROWS.len()];
        let mut k = 0;
        while k < ROWS.len() {
            all[k] = ROWS[k].format;
            k += 1;
        }
        all
    };

    /// The usual name.
    pub fn name(self) -> &'static str {
        self.row().name
    }

    /// The file name extensions, without the dot; the first is the usual one.
    pub fn extensions(self) -> &'static [&'static str] {
        self.row().extensions
    }

    fn row(self) -> &'static Row {
        &ROWS[self as usize]
    }

    /// The format of an input by its name, where `.gz` says that the file is packed.
    pub fn of_input(path: &Path) -> Option<Format> {
        Format::from_path(&plain_name(path))
    }

    /// The format that belongs to the extension of a file name.
    pub fn from_path(path: &Path) -> Option<Format> {
        let extension = path.extension()?.to_str()?.to_ascii_lowercase();
        Format::ALL.into_iter().find(|f| f.extensions().contains(&extension.as_str()))
    }
}

impl TextStyle {
    /// The layout that belongs to the extension of a file name.
    pub fn of(path: &Path) -> TextStyle {
        let extension = path.extension().and_then(|e| e.to_str()).unwrap_or_default();
        match extension.to_ascii_lowercase().as_str() {
            "csv" => TextStyle::Csv,
            "pts" => TextStyle::Pts,
            _ => TextStyle::Spaces,
        }
    }
}

impl fmt::Display for Format {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// A name without the ending of packed files.
pub(crate) fn plain_name(path: &Path) -> Cow<'_, Path> {
    match path.extension().is_some_and(|ending| ending.eq_ignore_ascii_case("gz")) {
        true => Cow::Owned(PathBuf::from(path.file_stem().unwrap_or_default())),
        false => Cow::Borrowed(path),
    }
}
