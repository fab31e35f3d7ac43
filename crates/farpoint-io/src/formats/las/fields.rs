//! Places of the attributes in a LAS point record.

use crate::cloud::column::NumberType;
use crate::cloud::table::Dimension;

use NumberType::{F32, F64, I8, I16, I32, U8, U16, U64};

/// Bytes of one description in the extra bytes record.
pub(super) const DESCRIPTION: usize = 192;

/// A description of extra bytes, with the attribute or attributes that it describes.
pub(crate) struct Extra<'a> {
    description: &'a [u8],
    pub(crate) dimensions: Vec<Dimension>,
}

impl Extra<'_> {
    /// Returns its bytes in a record.
    pub(crate) fn size(&self) -> usize {
        self.dimensions.iter().map(|s| s.kind.size() * s.count).sum()
    }

    /// Returns the description without the minimum and maximum value of one file.
    pub(crate) fn without_limits(&self) -> Vec<u8> {
        let mut bytes = self.description.to_vec();
        if bytes[2] != 0 {
            bytes[3] &= !6;
            bytes[64..112].fill(0);
        }
        bytes
    }
}

/// Returns the extra bytes that are described, as far as the records have them.
pub(crate) fn extras(format: u8, stride: usize, data: &[u8]) -> Vec<Extra<'_>> {
    let mut at = base_length(format);
    let mut extras = Vec::new();
    for description in data.chunks_exact(DESCRIPTION) {
        let extra = Extra { description, dimensions: described(description, at) };
        let size = extra.size();
        if size == 0 || at + size > stride {
            break;
        }
        extras.push(extra);
        at += size;
    }
    extras
}

/// Returns the attributes of a point format, then the described extra bytes, then the others.
pub(crate) fn dimensions(format: u8, stride: usize, extra: Option<&[u8]>) -> Vec<Dimension> {
    let mut dimensions = base(format);
    let mut at = base_length(format);
    for extra in extras(format, stride, extra.unwrap_or_default()) {
        at += extra.size();
        dimensions.extend(extra.dimensions);
    }
    if at < stride {
        dimensions.push(Dimension::new("extra_bytes", U8, at).count(stride - at));
    }
    dimensions
}

/// Returns the bytes of a record without extra bytes.
pub(crate) fn base_length(format: u8) -> usize {
    [20, 28, 26, 34, 57, 63, 30, 36, 38, 59, 67][usize::from(format.min(10))]
}

/// Returns the attributes that every record of a point format has.
pub(super) fn base(format: u8) -> Vec<Dimension> {
    let mut dimensions = vec![
        Dimension::new("x", I32, 0),
        Dimension::new("y", I32, 4),
        Dimension::new("z", I32, 8),
        Dimension::new("intensity", U16, 12),
    ];
    let bits = |name: &str, at: usize, first: u8, number: u8| {
        Dimension::new(name, U8, at).bits(first, number)
    };
    if format < 6 {
        dimensions.extend([
            bits("return_number", 14, 0, 3),
            bits("number_of_returns", 14, 3, 3),
            bits("scan_direction_flag", 14, 6, 1),
            bits("edge_of_flight_line", 14, 7, 1),
            bits("classification", 15, 0, 5),
            bits("synthetic", 15, 5, 1),
            bits("key_point", 15, 6, 1),
            bits("withheld", 15, 7, 1),
            Dimension::new("scan_angle_rank", I8, 16),
            Dimension::new("user_data", U8, 17),
            Dimension::new("point_source_id", U16, 18),
        ]);
    } else {
        dimensions.extend([
            bits("return_number", 14, 0, 4),
            bits("number_of_returns", 14, 4, 4),
            bits("synthetic", 15, 0, 1),
            bits("key_point", 15, 1, 1),
            bits("withheld", 15, 2, 1),
            bits("overlap", 15, 3, 1),
            bits("scanner_channel", 15, 4, 2),
            bits("scan_direction_flag", 15, 6, 1),
            bits("edge_of_flight_line", 15, 7, 1),
            Dimension::new("classification", U8, 16),
            Dimension::new("user_data", U8, 17),
            Dimension::new("scan_angle", I16, 18),
            Dimension::new("point_source_id", U16, 20),
        ]);
    }
    let (time, color, near, wave) = match format {
        0 => (None, None, None, None),
        1 => (Some(20), None, None, None),
        2 => (None, Some(20), None, None),
        3 => (Some(20), Some(28), None, None),
        4 => (Some(20), None, None, Some(28)),
        5 => (Some(20), Some(28), None, Some(34)),
        6 => (Some(22), None, None, None),
        7 => (Some(22), Some(30), None, None),
        8 => (Some(22), Some(30), Some(36), None),
        9 => (Some(22), None, None, Some(30)),
        _ => (Some(22), Some(30), Some(36), Some(38)),
    };
    dimensions.extend(time.map(|at| Dimension::new("gps_time", F64, at)));
    for (i, name) in ["red", "green", "blue"].into_iter().enumerate() {
        dimensions.extend(color.map(|at| Dimension::new(name, U16, at + 2 * i)));
    }
    dimensions.extend(near.map(|at| Dimension::new("nir", U16, at)));
    if let Some(at) = wave {
        dimensions.extend([
            Dimension::new("wave_packet_descriptor_index", U8, at),
            Dimension::new("wave_packet_offset", U64, at + 1),
            Dimension::new("wave_packet_size", NumberType::U32, at + 9),
            Dimension::new("wave_return_location", F32, at + 13),
            Dimension::new("wave_x_t", F32, at + 17),
            Dimension::new("wave_y_t", F32, at + 21),
            Dimension::new("wave_z_t", F32, at + 25),
        ]);
    }
    dimensions
}

/// Returns the attribute or attributes (of the withdrawn array types) of a description.
fn described(description: &[u8], at: usize) -> Vec<Dimension> {
    let (code, options) = (description[2], description[3]);
    let name = &description[4..36];
    let name = &name[..name.iter().position(|&b| b == 0).unwrap_or(32)];
    let name = String::from_utf8_lossy(name).into_owned();
    if code == 0 {
        return vec![Dimension::new(name, U8, at).count(usize::from(options))];
    }
    let kinds = [U8, I8, U16, I16, NumberType::U32, I32, U64, NumberType::I64, F32, F64];
    let index = usize::from(code - 1);
    let Some(&kind) = kinds.get(index % 10).filter(|_| index < 30) else {
        return Vec::new();
    };
    let mut dimension = Dimension::new(name, kind, at).count(index / 10 + 1);
    let number = |at: usize| -> f64 {
        f64::from_le_bytes(description[at..at + 8].try_into().unwrap_or_default())
    };
    let scale = if options & 8 != 0 { number(112) } else { 1.0 };
    let offset = if options & 16 != 0 { number(136) } else { 0.0 };
    if options & 24 != 0 {
        dimension.scale = Some((scale, offset));
    }
    vec![dimension]
}

/// Returns the description of an added attribute, or of `count` undescribed bytes if there is no type.
pub(super) fn description(name: &str, kind: Option<NumberType>, count: u8) -> Vec<u8> {
    let mut bytes = vec![0u8; DESCRIPTION];
    bytes[2] = match kind {
        None => 0,
        Some(U8) => 1,
        Some(I8) => 2,
        Some(U16) => 3,
        Some(I16) => 4,
        Some(NumberType::U32) => 5,
        Some(I32) => 6,
        Some(U64) => 7,
        Some(NumberType::I64) => 8,
        Some(F32) => 9,
        Some(F64) => 10,
    };
    if kind.is_none() {
        bytes[3] = count;
    }
    // Names are at most 32 bytes; a letter is not cut in two.
    let mut end = name.len().min(32);
    while !name.is_char_boundary(end) {
        end -= 1;
    }
    bytes[4..4 + end].copy_from_slice(&name.as_bytes()[..end]);
    bytes
}
