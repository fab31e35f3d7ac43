//! Options of reading and writing.

use crate::{Copc, Format, TextStyle};

/// Options of reading. The default detects everything.
///
/// ```
/// use farpoint_io::{Format, ReadOptions};
/// let options = ReadOptions::default().format(Format::Raw).columns(5);
/// assert_eq!(options.columns, Some(5));
/// ```
#[derive(Clone, Debug, Default)]
#[non_exhaustive]
pub struct ReadOptions {
    /// The format; detected from content and name unless set.
    pub format: Option<Format>,
    /// Float32 values per row of a raw file (KITTI 4, nuScenes 5); guessed unless set.
    pub columns: Option<usize>,
    /// The columns of a text or raw file that hold x, y and z: names of its header, or numbers from 1. Found by the
    /// names of the header unless set, or the first three if there is none.
    pub xyz: Option<[String; 3]>,
    /// The topic of an MCAP file; may be left out if only one holds clouds.
    pub topic: Option<String>,
    /// Index of the message of the topic that is the cloud, from 0; required for an MCAP file.
    pub message: Option<usize>,
}

impl ReadOptions {
    /// Sets the format.
    pub fn format(self, format: impl Into<Option<Format>>) -> Self {
        Self { format: format.into(), ..self }
    }

    /// Sets the number of float32 values per row of a raw file.
    pub fn columns(self, columns: impl Into<Option<usize>>) -> Self {
        Self { columns: columns.into(), ..self }
    }

    /// Sets the columns of a text or raw file that hold x, y and z, by name or by number from 1.
    pub fn xyz(self, xyz: impl Into<Option<[String; 3]>>) -> Self {
        Self { xyz: xyz.into(), ..self }
    }

    /// Sets the topic of an MCAP file.
    pub fn topic(self, topic: impl Into<Option<String>>) -> Self {
        Self { topic: topic.into(), ..self }
    }

    /// Sets the index of the message of an MCAP file that is the cloud.
    pub fn message(self, message: impl Into<Option<usize>>) -> Self {
        Self { message: message.into(), ..self }
    }
}

/// Encoding of the values of a PLY or PCD file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Encoding {
    /// Text.
    Ascii,
    /// Binary, least significant byte first.
    Binary,
    /// Binary, most significant byte first (PLY only).
    BinaryBigEndian,
    /// Binary and compressed (PCD only).
    BinaryCompressed,
}

/// The type of the coordinates in an output that may hold either.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Precision {
    /// Float32. If that would lose more than the scale of the input and a tenth of a millimeter, the minimum corner is
    /// subtracted first, and a warning states it.
    Single,
    /// Float64.
    Double,
}

/// Options of writing. The default takes the format from the output's name, and the encoding from the input if that
/// has the same format, otherwise binary.
#[derive(Clone, Debug, Default)]
#[non_exhaustive]
pub struct WriteOptions {
    /// The format; from the output's name unless set.
    pub format: Option<Format>,
    /// The encoding of PLY and PCD; other formats have only one.
    pub encoding: Option<Encoding>,
    /// The layout of a text file; from the output's extension unless set.
    pub style: Option<TextStyle>,
    /// The type of the coordinates in PLY, PCD and NPY. Unless set, that of the input, and for PCD of another format
    /// float32, as its readers expect, if that keeps the coordinates to a tenth of a millimeter.
    pub precision: Option<Precision>,
    /// The scale of the coordinates in LAS and LAZ. Unless set, that of the input, as far as 32 bits reach.
    pub scale: Option<f64>,
    /// Levels: LAZ becomes COPC. Required for an output named `.copc.laz`, unless the format is set.
    pub copc: Option<Copc>,
}

impl WriteOptions {
    /// Sets the format.
    pub fn format(self, format: impl Into<Option<Format>>) -> Self {
        Self { format: format.into(), ..self }
    }

    /// Sets the encoding.
    pub fn encoding(self, encoding: impl Into<Option<Encoding>>) -> Self {
        Self { encoding: encoding.into(), ..self }
    }

    /// Sets the layout of a text file.
    pub fn style(self, style: impl Into<Option<TextStyle>>) -> Self {
        Self { style: style.into(), ..self }
    }

    /// Sets the type of the coordinates in PLY, PCD and NPY.
    pub fn precision(self, precision: impl Into<Option<Precision>>) -> Self {
        Self { precision: precision.into(), ..self }
    }

    /// Sets the scale of the coordinates in LAS and LAZ.
    pub fn scale(self, scale: impl Into<Option<f64>>) -> Self {
        Self { scale: scale.into(), ..self }
    }

    /// Sets the levels of COPC.
    pub fn copc(self, copc: impl Into<Option<Copc>>) -> Self {
        Self { copc: copc.into(), ..self }
    }
}
