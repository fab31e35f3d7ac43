//! Summary of the scans in the header of an E57 file.

use super::attributes::{joined, number_type};
use super::{SCAN, attribute_name, described, filled, opened, scale, scans};
use crate::bytes::panics::catch_panic;
use crate::cloud::Field;
use crate::cloud::column::NumberType;
use crate::cloud::crs::Crs;
use crate::cloud::summary::Summary;
use crate::error::ParseError;
use crate::format::Format;
use ::e57::{PointCloud, RecordDataType};
use std::collections::HashMap;
use std::fs::File;

/// Reads the description of the scans, not their points.
pub(crate) fn summary(file: &mut File, size: u64) -> Result<Summary, ParseError> {
    catch_panic("the file cannot be decoded", || {
        let reader = opened(file)?;
        let (scans, warnings) = scans(&reader, size)?;
        let points = scans.iter().map(|scan| scan.records).fold(0, u64::saturating_add);
        let mut summary = Summary::new(Format::E57, described(&scans), points);
        summary.warnings = warnings;
        summary.fields = fields(&scans);
        summary.bounds = bounds(&scans);
        summary.crs = reader.coordinate_metadata().and_then(Crs::from_wkt);
        summary.scale = scale(&scans);
        summary.software = reader.library_version().map(str::to_owned);
        let sensors = scans.iter().filter_map(|scan| scan.sensor_model.clone());
        summary.system =
            sensors.reduce(|all, one| if all == one { all } else { all + ", " + &one });
        Ok(summary)
    })
}

/// Returns the attributes of all scans, with their types if no value is missing.
fn fields(scans: &[PointCloud]) -> Vec<Field> {
    let field = |name: &str, kind| Field { name: name.to_owned(), kind, count: 1 };
    let mut kinds: Vec<(String, RecordDataType)> = Vec::new();
    let mut places = HashMap::new();
    for record in filled(scans).flat_map(|scan| &scan.prototype) {
        let Some(name) = attribute_name(&record.name) else { continue };
        let kind = &record.data_type;
        let place = *places.entry(name.clone()).or_insert(kinds.len());
        match kinds.get_mut(place) {
            Some((_, known)) => *known = joined(known, kind),
            None => kinds.push((name, kind.clone())),
        }
    }
    let coordinates = ["x", "y", "z"].map(|name| field(name, NumberType::F64));
    let mut fields = Vec::from(coordinates);
    fields.extend(kinds.iter().map(|(name, kind)| field(name, number_type(kind))));
    if scans.len() > 1 {
        fields.push(field(
            SCAN,
            if scans.len() <= 65535 { NumberType::U16 } else { NumberType::U32 },
        ));
    }
    fields
}

/// Returns the box around all scans; none if one of them states none, or is moved by a pose.
fn bounds(scans: &[PointCloud]) -> Option<[[f64; 3]; 2]> {
    let of_scan = |scan: &PointCloud| -> Option<[[f64; 3]; 2]> {
        let bounds = scan.cartesian_bounds.as_ref().filter(|_| scan.transform.is_none())?;
        let low = [bounds.x_min?, bounds.y_min?, bounds.z_min?];
        let high = [bounds.x_max?, bounds.y_max?, bounds.z_max?];
        (0..3).all(|axis| low[axis] <= high[axis]).then_some([low, high])
    };
    let boxes: Option<Vec<_>> = filled(scans).map(of_scan).collect();
    boxes?.into_iter().reduce(|[low, high], [other_low, other_high]| {
        [
            std::array::from_fn(|axis| low[axis].min(other_low[axis])),
            std::array::from_fn(|axis| high[axis].max(other_high[axis])),
        ]
    })
}
