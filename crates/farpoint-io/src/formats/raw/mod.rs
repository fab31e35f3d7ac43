//! Raw rows of little-endian float32 without a header, as in KITTI (4 per row) and nuScenes (5).

mod columns;
mod layout;
mod write;

use crate::ReadOptions;
use crate::bytes::part::Part;
use crate::cloud::Cloud;
use crate::cloud::column::NumberType;
use crate::cloud::coordinates::Coordinates;
use crate::cloud::header::Header;
use crate::cloud::table::{Dimension, Store, Table};
use crate::error::ParseError;
use crate::format::Format;
use columns::Values;
use std::borrow::Cow;

pub(crate) use layout::layout;
pub(crate) use write::write;

/// Reads all rows. The options' columns count; unless set, the name decides between 4 and 5, which is checked by the
/// values.
pub(crate) fn read(
    bytes: Cow<'_, [u8]>,
    name: &str,
    options: &ReadOptions,
) -> Result<Cloud, ParseError> {
    let length = bytes.len() as u64;
    let found = described(&Values::from_bytes(&bytes), length, name, options)?;
    let rows = bytes.len() / found.stride;
    let bytes = Part::new(bytes, 0..rows * found.stride);
    let (table, description, warning) = found.table(bytes);
    let coordinates = table.float_coordinates().unwrap_or(Coordinates::F32(Vec::new()));
    let mut cloud = Cloud::from_table(Format::Raw, description, coordinates, table, Header::None);
    cloud.warnings.extend(warning);
    Ok(cloud)
}

/// Layout of a row.
struct Described {
    columns: usize,
    stride: usize,
    xyz: [usize; 3],
    warning: Option<String>,
}

fn described(
    values: &Values,
    length: u64,
    name: &str,
    options: &ReadOptions,
) -> Result<Described, ParseError> {
    let columns = options.columns.unwrap_or_else(|| columns_by_name(name));
    if columns < 3 {
        return Err(ParseError::new(format!("{columns} columns a row hold no x, y, z"))
            .fix("set `columns` to 3 or more"));
    }
    let stride = columns.checked_mul(4).ok_or_else(|| {
        ParseError::new(format!("{columns} columns a row are too many"))
            .fix("set `columns` to 3 or more")
    })?;
    if !length.is_multiple_of(stride as u64) {
        return Err(size_mismatch(values, length, columns));
    }
    let xyz = match &options.xyz {
        Some(xyz) => axes(xyz, columns)?,
        None => [0, 1, 2],
    };
    let warning = match options.columns {
        Some(_) => None,
        None => columns::check(values, columns, xyz)?,
    };
    Ok(Described { columns, stride, xyz, warning })
}

/// Returns the values per row by the name of a file: nuScenes has 5, KITTI 4.
fn columns_by_name(name: &str) -> usize {
    if name.to_ascii_lowercase().ends_with(".pcd.bin") { 5 } else { KITTI }
}

/// Values of a row of KITTI.
const KITTI: usize = 4;

impl Described {
    /// Returns the table of these rows, the format as text, and a warning.
    fn table(self, bytes: Part) -> (Table, String, Option<String>) {
        let Described { columns, stride, xyz, warning } = self;
        let dimensions = (0..columns).map(|i| dimension(i, columns, xyz)).collect();
        let store = Store::Records { bytes, stride };
        let table = Table { dimensions, store, big_endian: false, xyz };
        (table, format!("raw float32 x {columns}"), warning)
    }
}

const NAMES: [&str; 5] = ["x", "y", "z", "intensity", "ring"];

/// Returns a dimension with its name in KITTI and nuScenes if the rows can be theirs; otherwise with a number.
fn dimension(i: usize, columns: usize, xyz: [usize; 3]) -> Dimension {
    let known = xyz == [0, 1, 2] && (columns == 4 || columns == 5);
    let name = match xyz.iter().position(|&column| column == i) {
        Some(axis) => NAMES[axis].to_owned(),
        None if known => NAMES[i].to_owned(),
        None => format!("column_{}", i + 1),
    };
    Dimension::new(name, NumberType::F32, 4 * i)
}

/// Returns the columns that the options name, which have no names except those of this reader.
fn axes(xyz: &[String; 3], columns: usize) -> Result<[usize; 3], ParseError> {
    let fix = format!("use three column numbers from 1 to {columns}, or more `columns`");
    let mut out = [0; 3];
    for (place, name) in out.iter_mut().zip(xyz) {
        let named = NAMES[..3].iter().position(|n| n.eq_ignore_ascii_case(name.trim()));
        let number = name.trim().parse::<usize>().ok().filter(|n| (1..=columns).contains(n));
        *place = named.or(number.map(|n| n - 1)).ok_or_else(|| {
            ParseError::new(format!("there is no column '{name}' of {columns}")).fix(&fix)
        })?;
    }
    let [x, y, z] = out;
    if x == y || y == z || x == z {
        return Err(ParseError::new(format!("'{}' names a column twice", xyz.join(","))).fix(fix));
    }
    Ok(out)
}

fn size_mismatch(values: &Values, size: u64, columns: usize) -> ParseError {
    let fits: Vec<String> =
        (3..=16u64).filter(|c| size.is_multiple_of(4 * c)).map(|c| c.to_string()).collect();
    let fix = match (fits.is_empty(), columns::likely(values)) {
        (true, _) => {
            "no number of columns from 3 to 16 fits: the file is truncated or not raw float32"
                .into()
        }
        (false, Some(likely)) => {
            format!("set `columns={likely}`, as its values look ({} would fit)", fits.join(", "))
        }
        (false, None) => format!("set `columns`: {} would fit", fits.join(", ")),
    };
    ParseError::new(format!("{size} bytes are not whole rows of {columns} float32 values")).fix(fix)
}
