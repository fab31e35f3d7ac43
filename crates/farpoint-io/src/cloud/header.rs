//! What formats keep of a file besides its rows, so that it can be written again. A cloud carries it;
//! only the module of the format looks inside.

use crate::TextStyle;
use crate::cloud::column::NumberType;
use crate::cloud::dtype::DType;
use ply_rs_bw::ply::Encoding as PlyEncoding;

/// What a format keeps besides the rows: its header.
#[derive(Clone, Debug)]
pub(crate) enum Header {
    None,
    Ply(PlyHeader),
    Pcd(PcdHeader),
    Las(Box<LasHeader>),
    Npy(NpyHeader),
    Text(TextHeader),
}

/// What is kept of a PLY header, to be written again.
#[derive(Clone, Debug)]
pub(crate) struct PlyHeader {
    pub(crate) encoding: PlyEncoding,
    pub(crate) lines: Vec<HeaderLine>,
    pub(crate) line_end: &'static [u8],
}

#[derive(Clone, Debug)]
pub(crate) enum HeaderLine {
    /// The magic, format and comment lines, and the properties of the points.
    Kept(Vec<u8>),
    /// `element vertex`, whose count changes.
    Vertex,
    /// Where the properties of the points end and added ones go.
    VertexEnd,
}

/// Storage of the points of a PCD file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum DataKind {
    Ascii,
    Binary,
    BinaryCompressed,
}

/// What is kept of a PCD header, to be written again.
#[derive(Clone, Debug)]
pub(crate) struct PcdHeader {
    pub(crate) lines: Vec<Vec<u8>>,
    pub(crate) data: DataKind,
}

/// What is kept of a LAS file before and after the points, to be written again.
#[derive(Clone, Debug)]
pub(crate) struct LasHeader {
    pub(crate) raw: las::raw::Header,
    /// Point format 0 to 10, without the compression bits.
    pub(crate) format: u8,
    pub(crate) records: Vec<Record>,
    /// Bytes between the last record and the first point.
    pub(crate) padding: Vec<u8>,
    /// Records after the points.
    pub(crate) extended: Vec<Record>,
    /// Where the first of them was: waveforms are found by their place in the file.
    pub(crate) extended_start: u64,
}

/// A variable length record, with its bytes as they are.
#[derive(Clone, Debug)]
pub(crate) struct Record {
    pub(crate) user: Vec<u8>,
    pub(crate) id: u16,
    /// Bytes of the record's own header, 54 or 60.
    pub(crate) head: usize,
    pub(crate) bytes: Vec<u8>,
}

impl Record {
    pub(crate) fn is(&self, user: &str, id: u16) -> bool {
        self.user == user.as_bytes() && self.id == id
    }

    pub(crate) fn data(&self) -> &[u8] {
        &self.bytes[self.head..]
    }

    /// Takes the record at `at`, whose length is 2 bytes wide, or 8 if extended.
    pub(crate) fn read(bytes: &[u8], at: usize, extended: bool) -> Option<Record> {
        let head = if extended { 60 } else { 54 };
        let start = bytes.get(at..at.checked_add(head)?)?;
        let length = match extended {
            false => usize::from(u16::from_le_bytes([start[20], start[21]])),
            true => usize::try_from(u64::from_le_bytes(start[20..28].try_into().ok()?)).ok()?,
        };
        let bytes = bytes.get(at..at.checked_add(head)?.checked_add(length)?)?.to_vec();
        let user = &start[2..18];
        let user = user[..user.iter().position(|&b| b == 0).unwrap_or(16)].to_vec();
        Some(Record { user, id: u16::from_le_bytes([start[18], start[19]]), head, bytes })
    }
}

/// What is kept of an NPY header, to be written again.
#[derive(Clone, Debug)]
pub(crate) struct NpyHeader {
    pub(crate) dtype: DType,
    /// The one type of all columns; `None` for a structured array.
    pub(crate) plain: Option<NumberType>,
}

/// What comes before the first point of a text.
#[derive(Clone, Debug)]
pub(crate) struct TextHeader {
    /// Comments, the count line and the header, as they were.
    pub(crate) preamble: Vec<u8>,
    /// Where in the preamble a line that only counts the points is (PTS).
    pub(crate) count: Option<(usize, usize)>,
    /// Where in the preamble the header ends, before its line end.
    pub(crate) names_end: Option<usize>,
    pub(crate) line_end: &'static [u8],
    /// What goes before an added value.
    pub(crate) split: u8,
    /// The layout that belongs to the file's name.
    pub(crate) style: TextStyle,
    /// The columns that the caller gave for x, y and z.
    pub(crate) xyz: Option<[String; 3]>,
}
