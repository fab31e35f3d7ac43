//! How to read and to write.

use crate::{Copc, Format, TextStyle};

/// How to read. The default detects everything.
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
    /// The columns of a text or raw file that hold x, y and z: names of its header, or numbers from
    /// 1. By the header's names unless set, or the first three where there is none.
    pub xyz: Option<[String; 3]>,
    /// The topic of a recording; may be left out where only one holds clouds.
    pub topic: Option<String>,
    /// Which message of the topic is the cloud, the first being 0: a recording has to be asked for one.
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

    /// Sets the topic of a recording.
    pub fn topic(self, topic: impl Into<Option<String>>) -> Self {
        Self { topic: topic.into(), ..self }
    }

    /// Sets which message of a recording is the cloud.
    pub fn message(self, message: impl Into<Option<usize>>) -> Self {
        Self { message: message.into(), ..self }
    }
}

/// How the values of a PLY or PCD file are stored.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Encoding {
    /// As text.
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
    /// Float32. Where that would lose more than the step of the input, the minimum corner is
    /// subtracted first, and a warning gives it.
    Single,
    /// Float64.
    Double,
}

/// How to write. The default takes the format from the output's name, and the encoding from the
/// input if that has the same format, otherwise binary.
#[derive(Clone, Debug, Default)]
#[non_exhaustive]
pub struct WriteOptions {
    /// The format; by the output's name unless set.
    pub format: Option<Format>,
    /// The encoding of PLY and PCD; other formats have only one.
    pub encoding: Option<Encoding>,
    /// The layout of a text; by the output's extension unless set.
    pub style: Option<TextStyle>,
    /// The type of the coordinates in PLY, PCD and NPY. Unless set, PCD has float32, which is what its
    /// readers expect, and the others what the input has.
    pub precision: Option<Precision>,
    /// The step of the coordinates in LAS and LAZ. Unless set, it is that of the input, as far as 32
    /// bits reach.
    pub scale: Option<f64>,
    /// Levels: LAZ becomes COPC. An output that is called `.copc.laz` needs them, unless the format is set.
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

    /// Sets the layout of a text.
    pub fn style(self, style: impl Into<Option<TextStyle>>) -> Self {
        Self { style: style.into(), ..self }
    }

    /// Sets the type of the coordinates in PLY, PCD and NPY.
    pub fn precision(self, precision: impl Into<Option<Precision>>) -> Self {
        Self { precision: precision.into(), ..self }
    }

    /// Sets the step of the coordinates in LAS and LAZ.
    pub fn scale(self, scale: impl Into<Option<f64>>) -> Self {
        Self { scale: scale.into(), ..self }
    }

    /// Sets the levels of COPC.
    pub fn copc(self, copc: impl Into<Option<Copc>>) -> Self {
        Self { copc: copc.into(), ..self }
    }
}
