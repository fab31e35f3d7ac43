//! The rows of all files, part by part, in the layout of the merged cloud.

use super::columns::{self, Places};
use super::las::Records;
use crate::error::Error;
use crate::layout::{Layout, Parts};
use crate::scan::Scan;

/// How the rows of a file become those of the cloud.
#[derive(Debug)]
pub(super) enum Recipe {
    /// As they are stored.
    Same,
    /// Records of LAS.
    Las(Records),
    /// Columns of any file.
    Columns(Places),
}

#[derive(Debug)]
pub(super) struct Sources {
    files: Vec<(Scan, Recipe)>,
    /// A file and its part, for each part of the cloud.
    parts: Vec<(usize, usize)>,
    /// Bytes of a row.
    stride: usize,
}

impl Sources {
    pub(super) fn new(scans: Vec<Scan>, recipes: Vec<Recipe>, layout: &Layout) -> Sources {
        let all = |(file, scan): (usize, &Scan)| (0..scan.parts()).map(move |part| (file, part));
        let parts = scans.iter().enumerate().flat_map(all).collect();
        Sources { files: scans.into_iter().zip(recipes).collect(), parts, stride: layout.stride }
    }

    fn rows_of(&self, part: usize) -> u64 {
        let (file, part) = self.parts[part];
        let rows = self.files[file].0.rows(part);
        rows.end - rows.start
    }
}

impl Parts for Sources {
    fn points(&self) -> Vec<usize> {
        (0..self.parts.len()).map(|part| self.rows_of(part) as usize).collect()
    }

    fn read(&self, part: usize) -> Result<Vec<u8>, Error> {
        let (file, part) = self.parts[part];
        let (scan, recipe) = &self.files[file];
        let rows = scan.read(part)?;
        match recipe {
            Recipe::Same => Ok(rows.records().unwrap_or_default().to_vec()),
            Recipe::Las(records) => {
                let made = records.converted(rows.records().unwrap_or_default(), self.stride);
                made.map_err(|row| {
                    let what =
                        format!("row {} lies beyond what its header states", rows.first() + row);
                    let fix = "the tiles need a larger step: write them with --scale first";
                    Error::merge(scan.name(), &what, fix)
                })
            }
            Recipe::Columns(places) => columns::records(&rows, places, self.stride),
        }
    }

    fn memory(&self) -> u64 {
        let most = (0..self.parts.len()).map(|part| self.rows_of(part)).max().unwrap_or(0);
        let read = self.files.iter().map(|(scan, _)| scan.memory_a_part()).max().unwrap_or(0);
        read + most * (self.stride + size_of::<[f64; 3]>()) as u64
    }

    fn held(&self) -> u64 {
        self.files.iter().map(|(scan, _)| scan.held()).sum()
    }
}
