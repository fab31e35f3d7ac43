//! Folders as data sets for segmentation publish them, of generated scenes.

mod s3dis;
mod scannet;
mod semantickitti;

use crate::output;
use anyhow::{Result, anyhow};
use clap::ValueEnum;
use farpoint_generate::{Labeled, Setting};
use std::path::{Path, PathBuf};

/// The layouts, by the names used on the command line.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum Layout {
    /// Area_5/office_1/Annotations/chair_1.txt: rows of x y z r g b.
    S3dis,
    /// Area_5_office_1.npy: float32 (N, 7), x y z r g b and the class.
    S3disNpy,
    /// scans/scene0000_00/scene0000_00_vh_clean_2.ply and .labels.ply, and the lists of the splits.
    Scannet,
    /// sequences/08/velodyne/000000.bin and labels/000000.label.
    Semantickitti,
}

impl Layout {
    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::S3dis => "s3dis",
            Self::S3disNpy => "s3dis-npy",
            Self::Scannet => "scannet",
            Self::Semantickitti => "semantickitti",
        }
    }

    /// The scenes whose classes the data set has.
    pub(crate) fn setting(self) -> Setting {
        match self {
            Self::Semantickitti => Setting::Town,
            _ => Setting::Indoor,
        }
    }

    /// Writes the files of a scene, each whole or not at all. The scenes 0, 6, 12, .. are for validation,
    /// the others for training.
    pub(crate) fn write(self, folder: &Path, number: usize, scene: &Labeled) -> Result<()> {
        let files = match self {
            Self::S3dis => s3dis::text(number, scene),
            Self::S3disNpy => s3dis::npy(number, scene),
            Self::Scannet => scannet::files(number, scene),
            Self::Semantickitti => semantickitti::files(number, scene),
        };
        files.into_iter().try_for_each(|file| file.write(folder))
    }

    /// Writes what tells of all scenes; last, so that it names none that is not there.
    pub(crate) fn finish(self, folder: &Path, scenes: usize) -> Result<()> {
        let files = match self {
            Self::Scannet => scannet::lists(scenes),
            _ => Vec::new(),
        };
        files.into_iter().try_for_each(|file| file.write(folder))
    }
}

/// Whether a scene is for validation.
fn held_out(number: usize) -> bool {
    number.is_multiple_of(6)
}

/// A file of a layout.
struct Part {
    /// Inside the data set's folder.
    path: PathBuf,
    bytes: Vec<u8>,
}

impl Part {
    fn new(path: impl Into<PathBuf>, bytes: impl Into<Vec<u8>>) -> Self {
        Self { path: path.into(), bytes: bytes.into() }
    }

    fn write(&self, folder: &Path) -> Result<()> {
        let path = folder.join(&self.path);
        if let Some(parent) = path.parent() {
            std::fs::create_dir_all(parent).map_err(|error| {
                anyhow!("{}: the folder cannot be made: {error}", parent.display())
            })?;
        }
        output::write_file(&path, &self.bytes)
    }
}

/// The colors of an indoor scene, black where there are none.
fn color(scene: &Labeled, row: usize) -> [u8; 3] {
    match &scene.paint {
        farpoint_generate::Paint::Colors(colors) => colors[row],
        farpoint_generate::Paint::Intensity(_) => [0; 3],
    }
}
