//! Where the rows of a file are and what is in them, known without reading them: what
//! [`crate::Scan`] is made of.

use crate::cloud::Cloud;
use crate::cloud::lines::Lines;
use crate::error::{Error, Fault};
use std::fmt::Debug;
use std::io;

/// Gives the next rows to be written, `None` after the last.
pub(crate) type Blocks<'a> = &'a mut dyn FnMut() -> io::Result<Option<Vec<u8>>>;

/// The rows of a file that can be read in parts.
#[derive(Debug)]
pub(crate) struct Layout {
    /// A cloud without rows, with all else: header, attributes, warnings.
    pub(crate) head: Cloud,
    pub(crate) rows: Storage,
    pub(crate) count: u64,
    /// Bytes of a row.
    pub(crate) stride: usize,
    /// The minimum and maximum corner that the header states.
    pub(crate) bounds: Option<[[f64; 3]; 2]>,
}

/// How the rows are stored.
#[derive(Debug)]
pub(crate) enum Storage {
    /// Records of one length, from this byte on.
    Stride(u64),
    /// Chunks that are decompressed.
    Chunks(Box<dyn Chunks>),
    /// Lines of text, of differing length.
    Lines(Lines),
    /// Parts that are put together elsewhere.
    Parts(Box<dyn Parts>),
}

/// Records that are read part by part, from wherever they are.
pub(crate) trait Parts: Debug + Send + Sync {
    /// How many points each part holds.
    fn points(&self) -> Vec<usize>;

    /// The records of a part.
    fn read(&self, part: usize) -> Result<Vec<u8>, Error>;

    /// Bytes of memory that reading a part takes.
    fn memory(&self) -> u64;

    /// Bytes of memory that are taken all the time.
    fn held(&self) -> u64;
}

/// Chunks of a file, each of which is read and decompressed alone.
pub(crate) trait Chunks: Debug + Send + Sync {
    /// How many points each holds.
    fn points(&self) -> Vec<usize>;

    /// Where a chunk is in the file, and its bytes.
    fn place(&self, chunk: usize) -> (u64, usize);

    /// The records of a chunk, whose bytes these are.
    fn decompress(&self, chunk: usize, bytes: &[u8]) -> Result<Vec<u8>, Fault>;
}
