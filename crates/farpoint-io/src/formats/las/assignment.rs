//! Assignment of attributes of another format to the standard fields of a LAS record, or to extra dimensions.
//!
//! An extra dimension must not have the name of a standard field: readers then refuse the file.

use super::fields::base;
use crate::cloud::column::{Attribute, Column, NumberType};
use crate::cloud::table::Dimension;
use crate::cloud::unused;
use crate::conversion::key;
use std::collections::HashSet;

/// Whole numbers up to this are exact as doubles.
const EXACT: f64 = (1u64 << 53) as f64;
/// Longest name of an extra dimension in bytes.
const LONGEST: usize = 32;

/// Names of standard fields in the point formats that are not written, and other names that readers
/// use for them.
const OTHER_FIELDS: [&str; 12] = [
    "x",
    "y",
    "z",
    "scan_angle_rank",
    "bit_fields",
    "raw_classification",
    "wavepacket_index",
    "wavepacket_offset",
    "wavepacket_size",
    "x_t",
    "y_t",
    "z_t",
];

/// The attributes of a record.
pub(super) struct Fields {
    /// Attributes in standard fields.
    pub(super) known: Vec<(Dimension, Column)>,
    /// Attributes in extra dimensions, under names that are free.
    pub(super) added: Vec<Attribute>,
}

impl Fields {
    /// Assigns attributes to the fields of a point format.
    pub(super) fn assign(
        attributes: Vec<Attribute>,
        format: u8,
        warnings: &mut Vec<String>,
    ) -> Fields {
        let base = base(format);
        let taken: HashSet<String> = attributes.iter().map(|a| a.name.clone()).collect();
        let mut fields = Fields { known: Vec::new(), added: Vec::new() };
        let own = |attribute: &Attribute| {
            let named = base.iter().skip(3).find(|dimension| dimension.name == attribute.name);
            named.filter(|dimension| holds(dimension, &attribute.column)).cloned()
        };
        for attribute in attributes {
            let attribute = standard(attribute, &taken);
            if let Some(dimension) = own(&attribute) {
                fields.known.push((dimension, attribute.column));
                continue;
            }
            // Whole numbers have no NaN.
            let missing = attribute.column.nans();
            let zeros = (missing > 0).then(|| standard(zeroed(&attribute), &taken));
            let found = zeros.and_then(|zeros| Some((own(&zeros)?, zeros.column)));
            let Some(found) = found else {
                fields.added.push(attribute);
                continue;
            };
            fields.known.push(found);
            let name = &attribute.name;
            warnings.push(format!("'{name}' is NaN in {missing} points and 0 there in LAS"));
        }
        name_dimensions(&mut fields.added, &base, warnings);
        fields
    }
}

/// Returns an attribute with zeros in place of NaN.
fn zeroed(attribute: &Attribute) -> Attribute {
    let column = &attribute.column;
    let value = |row| Some(column.get(row)).filter(|value| !value.is_nan()).unwrap_or(0.0);
    let column = Column::F64((0..column.len()).map(value).collect());
    Attribute { name: attribute.name.clone(), column }
}

/// Converts attributes that LAS has in another form.
fn standard(attribute: Attribute, taken: &HashSet<String>) -> Attribute {
    let Attribute { name, column } = &attribute;
    let values = || (0..column.len()).map(|i| column.get(i));
    let free = |field: &str| !taken.contains(field);
    let made = |name: &str, column: Column| Attribute { name: name.into(), column };
    match name.as_str() {
        // The scan of an E57 file is the source of a point in LAS.
        "scan" if free("point_source_id") && column.whole_within(0.0, 65535.0) => {
            made("point_source_id", column.cast(NumberType::U16))
        }
        // E57 counts returns from 0.
        "return_index" if free("return_number") && column.whole_within(0.0, 14.0) => {
            made("return_number", Column::U8(values().map(|v| v as u8 + 1).collect()))
        }
        // Older point formats store whole degrees, those from 6 on units of 0.006.
        "scan_angle_rank" if free("scan_angle") && column.whole_within(-180.0, 180.0) => {
            made("scan_angle", Column::I16(values().map(|v| (v / 0.006).round() as i16).collect()))
        }
        _ => attribute,
    }
}

/// Returns whether the record's own field for an attribute holds all its values.
fn holds(dimension: &Dimension, column: &Column) -> bool {
    match (dimension.bits, dimension.kind) {
        (Some((_, number)), _) => column.whole_within(0.0, f64::from((1u16 << number) - 1)),
        (None, NumberType::U8) => column.whole_within(0.0, 255.0),
        (None, NumberType::U16) => column.whole_within(0.0, 65535.0),
        (None, NumberType::I8) => column.whole_within(-128.0, 127.0),
        (None, NumberType::I16) => column.whole_within(-32768.0, 32767.0),
        (None, NumberType::F64) => {
            column.kind().fits_in(NumberType::F64) || column.whole_within(-EXACT, EXACT)
        }
        _ => false,
    }
}

/// Gives extra dimensions names that no standard field and no other dimension has.
fn name_dimensions(added: &mut [Attribute], base: &[Dimension], warnings: &mut Vec<String>) {
    let standard: HashSet<String> =
        base.iter().map(|dimension| dimension.name.as_str()).chain(OTHER_FIELDS).map(key).collect();
    let mut taken = HashSet::new();
    for attribute in added {
        let mut name = attribute.name.clone();
        if standard.contains(&key(&name)) {
            name = format!("original_{name}");
            warnings.push(format!(
                "'{}' does not fit into the field of LAS and becomes the extra dimension '{name}'",
                attribute.name
            ));
        }
        // Room for a number if a cut name is taken.
        let mut end = name.len().min(if name.len() > LONGEST { LONGEST - 4 } else { LONGEST });
        while !name.is_char_boundary(end) {
            end -= 1;
        }
        attribute.name = unused(&name[..end], &taken);
        taken.insert(attribute.name.clone());
    }
}
