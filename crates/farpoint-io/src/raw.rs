//! Raw rows of little-endian float32 without a header, as in KITTI (4 per row) and nuScenes (5).

use crate::ReadOptions;
use crate::cloud::{Cloud, Coordinates};
use crate::column::Scalar;
use crate::error::Fault;
use crate::format::Format;
use crate::header::Header;
use crate::table::{Slot, Store, Table};

/// Reads all rows. The options' columns count; unless set, the name decides between 4 and 5.
pub(crate) fn read(bytes: &[u8], name: &str, options: &ReadOptions) -> Result<Cloud, Fault> {
    let guess = match name.to_ascii_lowercase().ends_with(".pcd.bin") {
        true => 5,
        false => 4,
    };
    let columns = options.columns.unwrap_or(guess);
    if columns < 3 {
        return Err(Fault::new(format!("{columns} columns a row hold no x, y, z"))
            .fix("give --columns 3 or more"));
    }
    let stride = columns.checked_mul(4).ok_or_else(|| {
        Fault::new(format!("{columns} columns a row are too many")).fix("give --columns 3 or more")
    })?;
    if !bytes.len().is_multiple_of(stride) {
        return Err(misfit(bytes.len(), columns));
    }
    let names = ["x", "y", "z", "intensity", "ring"];
    let known = columns == 4 || columns == 5;
    let slot = |i: usize| match names.get(i) {
        Some(name) if i < 3 || known => Slot::new(*name, Scalar::F32, 4 * i),
        _ => Slot::new(format!("column_{}", i + 1), Scalar::F32, 4 * i),
    };
    let table = Table {
        slots: (0..columns).map(slot).collect(),
        store: Store::Records { bytes: bytes.to_vec(), stride },
        big_endian: false,
        xyz: [0, 1, 2],
    };
    let value = |row: &[u8], at: usize| {
        f32::from_le_bytes([row[at], row[at + 1], row[at + 2], row[at + 3]])
    };
    let points = bytes.chunks_exact(stride).map(|r| [value(r, 0), value(r, 4), value(r, 8)]);
    let coordinates = Coordinates::F32(points.collect());
    let description = format!("raw float32 x {columns}");
    Ok(Cloud::from_table(Format::Raw, description, coordinates, table, Header::None))
}

fn misfit(size: usize, columns: usize) -> Fault {
    let fits: Vec<String> =
        (3..=16).filter(|c| size.is_multiple_of(4 * c)).map(|c| c.to_string()).collect();
    let fix = match fits.is_empty() {
        true => "no number of columns from 3 to 16 fits: the file is cut short or not raw float32"
            .into(),
        false => format!("give --columns: {} would fit", fits.join(", ")),
    };
    Fault::new(format!("{size} bytes are not whole rows of {columns} float32 values")).fix(fix)
}
