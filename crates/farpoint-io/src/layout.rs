//! Where the rows of a file are and what is in them, known without reading them: what
//! [`crate::Scan`] is made of.

use crate::cloud::Cloud;
use crate::las::Pieces;

/// The rows of a file that can be read in parts.
#[derive(Debug)]
pub(crate) struct Layout {
    /// A cloud without rows, with all else: header, attributes, warnings.
    pub(crate) head: Cloud,
    pub(crate) rows: Rows,
    pub(crate) count: u64,
    /// Bytes of a row.
    pub(crate) stride: usize,
    /// The minimum and maximum corner that the header states.
    pub(crate) bounds: Option<[[f64; 3]; 2]>,
}

/// How the rows are stored.
#[derive(Debug)]
pub(crate) enum Rows {
    /// Records of one length, from this byte on.
    Stride(u64),
    /// Chunks of LAZ.
    Pieces(Pieces),
}
