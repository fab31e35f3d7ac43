//! Headers: all that formats keep of a file besides its rows, so that it can be written again. A cloud carries its
//! header; only the module of the format looks inside.

use crate::TextStyle;
use crate::cloud::column::NumberType;
use crate::cloud::dtype::DType;
use e57::{Extension, PointCloud, RecordDataType, RecordName};
use ply_rs_bw::ply::Encoding as PlyEncoding;

/// Header of a file: all that its format keeps besides the rows.
#[derive(Clone, Debug)]
pub(crate) enum Header {
    None,
    Ply(PlyHeader),
    Pcd(PcdHeader),
    Las(Box<LasHeader>),
    Npy(NpyHeader),
    Text(TextHeader),
    E57(Box<E57Header>),
}

/// Parts of a PLY header that are written again.
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
    /// Position of added properties, after those of the points.
    VertexEnd,
}

/// Storage of the points of a PCD file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum DataKind {
    Ascii,
    Binary,
    BinaryCompressed,
}

/// Parts of a PCD header that are written again.
#[derive(Clone, Debug)]
pub(crate) struct PcdHeader {
    pub(crate) lines: Vec<Vec<u8>>,
    pub(crate) data: DataKind,
}

/// Parts of a LAS file before and after the points that are written again.
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
    /// Byte offset of the first of them: waveforms are found by their place in the file.
    pub(crate) extended_start: u64,
}

impl LasHeader {
    /// Returns the epoch of GPS times.
    pub(crate) fn gps_time(&self) -> &'static str {
        match (self.raw.global_encoding & 1, self.time_offset()) {
            (0, _) => "week",
            (_, None) => "adjusted standard",
            (_, Some(_)) => "offset standard",
        }
    }

    /// Returns what is taken off standard GPS times, in millions of seconds, if LAS 1.5 states it.
    pub(crate) fn time_offset(&self) -> Option<u16> {
        let states = self.raw.version.minor >= 5 && self.raw.global_encoding & 64 != 0;
        let bytes = self.raw.padding.get(16..18).filter(|_| states)?;
        Some(u16::from_le_bytes([bytes[0], bytes[1]]))
    }
}

/// A variable length record, with its stored bytes.
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

    /// Reads the record at `at`, whose length is 2 bytes wide, or 8 if extended.
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

/// Parts of an NPY header that are written again.
#[derive(Clone, Debug)]
pub(crate) struct NpyHeader {
    pub(crate) dtype: DType,
    /// The one type of all columns; `None` for a structured array.
    pub(crate) plain: Option<NumberType>,
}

/// The lines of a text file before the first point.
#[derive(Clone, Debug)]
pub(crate) struct TextHeader {
    /// Comments, the count line and the header, unchanged.
    pub(crate) preamble: Vec<u8>,
    /// Range in the preamble of a line that only counts the points (PTS).
    pub(crate) count: Option<(usize, usize)>,
    /// Offset in the preamble of the end of the header, before its line end.
    pub(crate) names_end: Option<usize>,
    pub(crate) line_end: &'static [u8],
    /// Separator in front of an added value.
    pub(crate) split: u8,
    /// The layout that belongs to the file's name.
    pub(crate) style: TextStyle,
    /// The columns that the caller gave for x, y and z.
    pub(crate) xyz: Option<[String; 3]>,
}

/// Parts of an E57 file that are written again.
#[derive(Clone, Debug)]
pub(crate) struct E57Header {
    /// The description of the scan, if it is the only one.
    pub(crate) scan: Option<PointCloud>,
    /// Number types of x, y and z before the pose of the scan; `None` if several scans have poses.
    pub(crate) axes: Option<[RecordDataType; 3]>,
    /// Name in the cloud, name in the file and number type of each attribute.
    pub(crate) attributes: Vec<(String, RecordName, RecordDataType)>,
    pub(crate) extensions: Vec<Extension>,
}
