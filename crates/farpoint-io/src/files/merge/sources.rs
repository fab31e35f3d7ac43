//! The rows of all files, part by part, in the layout of the merged cloud.

use crate::cloud::layout::{Layout, Parts};
use crate::error::Error;
use crate::files::reader::{Reader, Rows};
use std::fmt::Debug;

/// Conversion of the rows of a file to those of the cloud.
pub(super) trait Recipe: Debug + Send + Sync {
    /// Returns the rows of a part of the file, `stride` bytes each.
    fn records(&self, file: &Reader, rows: &Rows<'_>, stride: usize) -> Result<Vec<u8>, Error>;
}

/// Rows as stored.
#[derive(Debug)]
pub(super) struct Same;

impl Recipe for Same {
    fn records(&self, _: &Reader, rows: &Rows<'_>, _: usize) -> Result<Vec<u8>, Error> {
        Ok(rows.records().unwrap_or_default().to_vec())
    }
}

#[derive(Debug)]
pub(super) struct Sources {
    files: Vec<(Reader, Box<dyn Recipe>)>,
    /// File and part in it, for each part of the cloud.
    parts: Vec<(usize, usize)>,
    /// Bytes of a row.
    stride: usize,
}

impl Sources {
    pub(super) fn new(
        readers: Vec<Reader>,
        recipes: Vec<Box<dyn Recipe>>,
        layout: &Layout,
    ) -> Sources {
        let all =
            |(file, reader): (usize, &Reader)| (0..reader.parts()).map(move |part| (file, part));
        let parts = readers.iter().enumerate().flat_map(all).collect();
        Sources { files: readers.into_iter().zip(recipes).collect(), parts, stride: layout.stride }
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
        let (reader, recipe) = &self.files[file];
        recipe.records(reader, &reader.read(part)?, self.stride)
    }

    fn memory(&self) -> u64 {
        let largest = (0..self.parts.len()).map(|part| self.rows_of(part)).max().unwrap_or(0);
        let read = self.files.iter().map(|(reader, _)| reader.memory_a_part()).max().unwrap_or(0);
        read + largest * (self.stride + size_of::<[f64; 3]>()) as u64
    }

    fn held(&self) -> u64 {
        self.files.iter().map(|(reader, _)| reader.held()).sum()
    }
}
