//! The attributes of all scans, under one name each.

use super::attribute_name;
use crate::cloud::column::{Column, NumberType};
use crate::cloud::pose::Pose;
use crate::cloud::{Cloud, unused};
use crate::conversion;
use ::e57::{PointCloud, RecordDataType, RecordName};
use std::collections::{HashMap, HashSet};

/// The attributes of all scans under their names.
#[derive(Default)]
pub(super) struct Attributes {
    /// In file order.
    all: Vec<Attribute>,
    /// Index of the attribute of each name.
    places: HashMap<String, usize>,
}

/// One attribute.
struct Attribute {
    name: String,
    record: RecordName,
    kind: RecordDataType,
    values: Vec<f64>,
}

/// Returns the type that holds the values.
pub(super) fn number_type(kind: &RecordDataType) -> NumberType {
    match *kind {
        RecordDataType::Single { .. } => NumberType::F32,
        RecordDataType::Integer { min: 0.., max: ..=255 } => NumberType::U8,
        RecordDataType::Integer { min: 0.., max: ..=65535 } => NumberType::U16,
        RecordDataType::Integer { min, max }
            if i32::try_from(min).is_ok() && i32::try_from(max).is_ok() =>
        {
            NumberType::I32
        }
        _ => NumberType::F64,
    }
}

/// Returns the type in a file that holds the values of both.
pub(super) fn joined(a: &RecordDataType, b: &RecordDataType) -> RecordDataType {
    use RecordDataType::{Double, Integer, ScaledInteger, Single};
    match (a, b) {
        (Integer { min, max }, Integer { min: low, max: high }) => {
            Integer { min: *min.min(low), max: *max.max(high) }
        }
        (
            ScaledInteger { min, max, scale, offset },
            ScaledInteger { min: low, max: high, scale: other, offset: start },
        ) if scale == other && offset == start => ScaledInteger {
            min: *min.min(low),
            max: *max.max(high),
            scale: *scale,
            offset: *offset,
        },
        (Single { .. }, Single { .. }) => Single { min: None, max: None },
        _ => Double { min: None, max: None },
    }
}

impl Attributes {
    /// Returns places of the values of a point, each with the index of its attribute, which is filled up to row
    /// `first`: an earlier scan may lack it.
    pub(super) fn columns(&mut self, scan: &PointCloud, first: usize) -> Vec<(usize, usize)> {
        let mut columns = Vec::new();
        let mut taken = HashSet::new();
        for (i, record) in scan.prototype.iter().enumerate() {
            let Some(name) = attribute_name(&record.name) else { continue };
            // Two extensions may use one name.
            let name = unused(&name, &taken);
            taken.insert(name.clone());
            let (place, kind) = match self.places.get(&name) {
                Some(&place) => (place, joined(&self.all[place].kind, &record.data_type)),
                None => (self.all.len(), record.data_type.clone()),
            };
            if place == self.all.len() {
                self.places.insert(name.clone(), place);
                let record = record.name.clone();
                self.all.push(Attribute { name, record, kind: kind.clone(), values: Vec::new() });
            }
            let attribute = &mut self.all[place];
            attribute.kind = kind;
            attribute.fill(first);
            columns.push((i, place));
        }
        columns
    }

    /// Appends the values of a point.
    pub(super) fn push(&mut self, columns: &[(usize, usize)], values: &[f64]) {
        for &(i, place) in columns {
            if let Some(&value) = values.get(i) {
                self.all[place].values.push(value);
            }
        }
    }

    /// Turns the normals of rows from `first` on, which have these columns, like their points; returns false if normals
    /// lack an axis and stay.
    pub(super) fn turn(&mut self, columns: &[(usize, usize)], first: usize, pose: &Pose) -> bool {
        let names = columns.iter().map(|(_, place)| self.all[*place].name.as_str());
        let places = match conversion::normals(names) {
            [Some(x), Some(y), Some(z)] => [x, y, z].map(|axis| columns[axis].1),
            axes => return axes == [None; 3],
        };
        for row in first..self.all[places[0]].values.len() {
            let normal = pose.turned(places.map(|place| self.all[place].values[row]));
            for (place, value) in places.into_iter().zip(normal) {
                self.all[place].values[row] = value;
            }
        }
        for place in places {
            let kind = &mut self.all[place].kind;
            if let RecordDataType::Integer { .. } = kind {
                *kind = RecordDataType::Double { min: None, max: None };
            }
        }
        true
    }

    /// Adds the columns to the cloud; returns their names there, those in the file, and types.
    pub(super) fn add_to(self, cloud: &mut Cloud) -> Vec<(String, RecordName, RecordDataType)> {
        let (mut columns, mut records) = (Vec::new(), Vec::new());
        for mut attribute in self.all {
            attribute.fill(cloud.len());
            let Attribute { name, record, mut kind, values } = attribute;
            let single = matches!(kind, RecordDataType::Single { .. });
            if !single && values.iter().any(|value| value.is_nan()) {
                kind = RecordDataType::Double { min: None, max: None };
            }
            columns.push((name, Column::F64(values).cast(number_type(&kind))));
            records.push((record, kind));
        }
        let first = cloud.added.len();
        cloud.add_columns(columns);
        let names = cloud.added[first..].iter().map(|added| added.name.clone());
        names.zip(records).map(|(name, (record, kind))| (name, record, kind)).collect()
    }
}

impl Attribute {
    /// Fills rows up to `end`: points of a scan without states are valid.
    fn fill(&mut self, end: usize) {
        let state = matches!(
            self.record,
            RecordName::CartesianInvalidState
                | RecordName::SphericalInvalidState
                | RecordName::IsIntensityInvalid
                | RecordName::IsColorInvalid
                | RecordName::IsTimeStampInvalid
        );
        self.values.resize(end, if state { 0.0 } else { f64::NAN });
    }
}
