//! The places of the rows of a file and their content, known without reading them: the base of [`crate::Reader`].

use crate::cloud::Cloud;
use crate::cloud::lines::Lines;
use crate::error::{Error, ParseError};
use std::fmt::Debug;
use std::io;

/// Returns the next rows to be written, `None` after the last.
pub(crate) type Blocks<'a> = &'a mut dyn FnMut() -> io::Result<Option<Vec<u8>>>;

/// The rows of a file that can be read in parts.
#[derive(Debug)]
pub(crate) struct Layout {
    /// A cloud without rows, but with header, attributes and warnings.
    pub(crate) head: Cloud,
    pub(crate) rows: Storage,
    pub(crate) count: u64,
    /// Bytes of a row.
    pub(crate) stride: usize,
    /// The minimum and maximum corner that the header states.
    pub(crate) bounds: Option<[[f64; 3]; 2]>,
}

/// Storage of the rows.
#[derive(Debug)]
pub(crate) enum Storage {
    /// Records of one length, from this byte on.
    Stride(u64),
    /// Chunks that are decompressed.
    Chunks(Box<dyn Chunks>),
    /// Lines of text, of differing length.
    Lines(Lines),
    /// Parts that are assembled elsewhere.
    Parts(Box<dyn Parts>),
}

/// Records that are read part by part, from any source.
pub(crate) trait Parts: Debug + Send + Sync {
    /// Returns the number of points of each part.
    fn points(&self) -> Vec<usize>;

    /// Reads the records of a part.
    fn read(&self, part: usize) -> Result<Vec<u8>, Error>;

    /// Returns the bytes of memory that reading a part takes.
    fn memory(&self) -> u64;

    /// Returns the bytes of memory that are held all the time.
    fn held(&self) -> u64;
}

/// Chunks of a file, each of which is read and decompressed alone.
pub(crate) trait Chunks: Debug + Send + Sync {
    /// Returns the number of points of each chunk.
    fn points(&self) -> Vec<usize>;

    /// Returns the byte offset of a chunk in the file, and its length.
    fn place(&self, chunk: usize) -> (u64, usize);

    /// Decompresses the records of a chunk from its bytes.
    fn decompress(&self, chunk: usize, bytes: &[u8]) -> Result<Vec<u8>, ParseError>;
}
