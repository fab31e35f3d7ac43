//! Names of attributes in a written file: those of the input, of the standard, or of an extension.

use crate::cloud::column::{Attribute, Column, NumberType};
use crate::cloud::header::E57Header;
use crate::cloud::unused;
use ::e57::{Extension, Record, RecordDataType, RecordName, RecordValue};
use std::collections::HashSet;

/// The extension for normals, and one for attributes outside the standard.
pub(super) const NORMALS: (&str, &str) =
    ("nor", "http://www.libe57.org/E57_NOR_surface_normals.txt");
pub(super) const OTHERS: (&str, &str) =
    ("farpoint", "https://github.com/farpoint/farpoint/attributes");

/// A column with its place in the file.
pub(super) struct Stored {
    pub(super) record: Record,
    pub(super) column: Column,
}

impl Stored {
    /// Zeroes values of points whose state says that they have no position: not every reader takes NaN.
    pub(super) fn clear(&mut self, states: &[u8]) {
        if states.iter().all(|&state| state == 0) {
            return;
        }
        let cleared = |row: usize| if states[row] == 0 { self.column.get(row) } else { 0.0 };
        let cleared = Column::F64((0..states.len()).map(cleared).collect());
        self.column = cleared.cast(self.column.kind());
    }

    /// Returns a value as it is stored; one outside the limits of its type becomes the limit.
    pub(super) fn value(&self, row: usize) -> RecordValue {
        let value = self.column.get(row);
        match self.record.data_type {
            RecordDataType::Single { .. } => RecordValue::Single(value as f32),
            RecordDataType::Double { .. } => RecordValue::Double(value),
            RecordDataType::ScaledInteger { min, max, scale, offset } => {
                let steps = ((value - offset) / scale).round() as i64;
                RecordValue::ScaledInteger(steps.clamp(min, max))
            }
            RecordDataType::Integer { min, max } => {
                RecordValue::Integer((value.round() as i64).clamp(min, max))
            }
        }
    }

    /// Returns a value as it is read back.
    pub(super) fn number(&self, row: usize) -> f64 {
        super::number(&self.value(row), &self.record.data_type)
    }
}

/// Returns the type in the file: whole numbers have the limits of their type, so that it is found again.
pub(super) fn kind(column: &Column) -> RecordDataType {
    let whole = |min, max| RecordDataType::Integer { min, max };
    match column.kind() {
        NumberType::I8 => whole(i8::MIN.into(), i8::MAX.into()),
        NumberType::U8 => whole(0, u8::MAX.into()),
        NumberType::I16 => whole(i16::MIN.into(), i16::MAX.into()),
        NumberType::U16 => whole(0, u16::MAX.into()),
        NumberType::I32 => whole(i32::MIN.into(), i32::MAX.into()),
        NumberType::U32 => whole(0, u32::MAX.into()),
        // Numbers beyond 2^53 are read as doubles by most.
        NumberType::I64 | NumberType::U64 | NumberType::F64 => {
            RecordDataType::Double { min: None, max: None }
        }
        NumberType::F32 => RecordDataType::Single { min: None, max: None },
    }
}

/// Gives attributes their E57 names and types: those of the input, if it is E57.
pub(super) fn named(attributes: Vec<Attribute>, input: Option<&E57Header>) -> Vec<Stored> {
    let has = |name: &str| attributes.iter().any(|a| a.name == name);
    // Readers take colors of whole numbers only.
    let whole = |name: &&str| {
        let color = attributes.iter().find(|a| a.name == **name);
        color.is_some_and(|a| matches!(a.column.kind(), NumberType::U8 | NumberType::U16))
    };
    let colors = ["red", "green", "blue"].iter().all(whole);
    let grid = has("row") && has("column");
    let returns = has("number_of_returns") && (has("return_number") || has("return_index"));
    let mut all = Vec::new();
    let (mut taken, mut names) = (HashSet::new(), HashSet::new());
    for attribute in attributes {
        let label = xml_name(&attribute.name);
        let kept = input.and_then(|header| kept(&attribute, header));
        let mut stored = kept.unwrap_or_else(|| {
            let Attribute { name, column } = attribute;
            let (name, column) = match name.as_str() {
                "intensity" => (RecordName::Intensity, column),
                "red" if colors => (RecordName::ColorRed, column),
                "green" if colors => (RecordName::ColorGreen, column),
                "blue" if colors => (RecordName::ColorBlue, column),
                "row" if grid => (RecordName::RowIndex, column),
                "column" if grid => (RecordName::ColumnIndex, column),
                "number_of_returns" if returns => (RecordName::ReturnCount, column),
                "return_index" if returns => (RecordName::ReturnIndex, column),
                // E57 counts returns from 0.
                "return_number" if returns && column.whole_within(1.0, 255.0) => {
                    let counted = (0..column.len()).map(|row| column.get(row) as u8 - 1).collect();
                    (RecordName::ReturnIndex, Column::U8(counted))
                }
                "time_stamp" => (RecordName::TimeStamp, column),
                "nx" | "ny" | "nz" => {
                    let axis = name[1..].to_ascii_uppercase();
                    (unknown(NORMALS.0, format!("normal{axis}")), column)
                }
                _ => (unknown(OTHERS.0, label.clone()), column),
            };
            Stored { record: Record { name, data_type: kind(&column) }, column }
        });
        // Names may differ in characters that XML has no place for.
        if taken.contains(&stored.record.name) {
            stored.record.name = unknown(OTHERS.0, unused(&label, &names));
        }
        if let RecordName::Unknown { name, .. } = &stored.record.name {
            names.insert(name.clone());
        }
        taken.insert(stored.record.name.clone());
        all.push(stored);
    }
    all
}

/// Returns an attribute as it was in the input.
fn kept(attribute: &Attribute, input: &E57Header) -> Option<Stored> {
    let (_, name, kind) = input.attributes.iter().find(|(name, ..)| *name == attribute.name)?;
    let name = match name {
        RecordName::CartesianInvalidState | RecordName::SphericalInvalidState => return None,
        RecordName::Unknown { namespace, name } if !can_be_written(namespace, name, input) => {
            unknown(OTHERS.0, xml_name(name))
        }
        name => name.clone(),
    };
    let column = attribute.column.clone();
    let stored = Stored { record: Record { name, data_type: kind.clone() }, column };
    let same = match kind {
        RecordDataType::Integer { min, max } => {
            stored.column.whole_within(*min as f64, *max as f64)
        }
        RecordDataType::ScaledInteger { scale, .. } => (0..stored.column.len())
            .all(|row| (stored.number(row) - stored.column.get(row)).abs() <= 0.5001 * scale.abs()),
        RecordDataType::Single { .. } => stored.column.kind() == NumberType::F32,
        RecordDataType::Double { .. } => true,
    };
    same.then_some(stored)
}

/// Returns whether the name of an extension and that of its attribute are names in XML, and its address is known.
fn can_be_written(namespace: &str, name: &str, input: &E57Header) -> bool {
    let plain = |text: &str| {
        let mut chars = text.chars();
        let start = chars.next().is_some_and(|c| c.is_ascii_alphabetic() || c == '_');
        start
            && !text.to_ascii_lowercase().starts_with("xml")
            && chars.all(|c| c.is_ascii_alphanumeric() || c == '_' || c == '-')
    };
    let is = |extension: &Extension| {
        extension.namespace == namespace
            && !extension.url.contains(['"', '<', '&'])
            && !extension.url.contains(char::is_control)
    };
    // The names of ours belong to our addresses.
    let ours = |extension: &Extension| {
        [NORMALS, OTHERS]
            .iter()
            .all(|(name, url)| extension.namespace != *name || extension.url == *url)
    };
    plain(namespace)
        && plain(name)
        && input
            .extensions
            .iter()
            .find(|e| e.namespace == namespace)
            .is_some_and(|e| is(e) && ours(e))
}

/// Moves attributes to our extension that lack the type or the companions that the standard requires.
pub(super) fn satisfied(all: &mut [Stored]) {
    use RecordName as Name;
    let mut whole = |name: Name, limits: Option<(i64, i64)>| {
        let Some(stored) = all.iter_mut().find(|stored| stored.record.name == name) else {
            return false;
        };
        let Some((min, max)) = limits else {
            return matches!(stored.record.data_type, RecordDataType::Integer { .. });
        };
        stored.record.data_type = RecordDataType::Integer { min, max };
        stored.column.whole_within(min as f64, max as f64)
    };
    let state = Some((0, 1));
    let returns = whole(Name::ReturnCount, None) && whole(Name::ReturnIndex, None);
    let (row, column) = (whole(Name::RowIndex, None), whole(Name::ColumnIndex, None));
    let intensity_state = whole(Name::IsIntensityInvalid, state);
    let color_state = whole(Name::IsColorInvalid, state);
    let time_state = whole(Name::IsTimeStampInvalid, state);
    let has = |name: &Name| all.iter().any(|stored| stored.record.name == *name);
    let colors = [Name::ColorRed, Name::ColorGreen, Name::ColorBlue].iter().all(has);
    let (intensity, time) = (has(&Name::Intensity), has(&Name::TimeStamp));
    for stored in all {
        let (other, permitted) = match stored.record.name {
            Name::ReturnCount => ("number_of_returns", returns),
            Name::ReturnIndex => ("return_index", returns),
            Name::RowIndex => ("row", row),
            Name::ColumnIndex => ("column", column),
            Name::ColorRed => ("red", colors),
            Name::ColorGreen => ("green", colors),
            Name::ColorBlue => ("blue", colors),
            Name::IsColorInvalid => ("color_invalid", color_state && colors),
            Name::IsIntensityInvalid => ("intensity_invalid", intensity_state && intensity),
            Name::IsTimeStampInvalid => ("time_stamp_invalid", time_state && time),
            _ => continue,
        };
        if !permitted {
            let data_type = kind(&stored.column);
            stored.record = Record { name: unknown(OTHERS.0, other.into()), data_type };
        }
    }
}

fn unknown(namespace: &str, name: String) -> RecordName {
    RecordName::Unknown { namespace: namespace.into(), name }
}

/// Returns a name of letters, digits and underscores that does not begin as names of XML do.
fn xml_name(name: &str) -> String {
    let plain: String =
        name.chars().map(|c| if c.is_ascii_alphanumeric() { c } else { '_' }).collect();
    let start = plain.chars().next().is_some_and(|c| c.is_ascii_alphabetic());
    match start && !plain.to_ascii_lowercase().starts_with("xml") {
        true => plain,
        false => format!("a_{plain}"),
    }
}
