//! Writing raw float32: the input's rows unchanged, unless nuScenes needs others, or x, y, z, intensity, and for nuScenes
//! the ring.

use crate::cloud::Cloud;
use crate::cloud::column::{Attribute, Column, NumberType, named_axes};
use crate::cloud::precision::output_coordinates_single;
use crate::cloud::records;
use crate::cloud::table::{Store, Table};
use crate::conversion::{self, Target};
use crate::error::{ParseError, listed};
use crate::format::Format;

/// Writes the rows; the name decides between the two layouts.
pub(crate) fn write(
    name: &str,
    cloud: &Cloud,
    rows: &[usize],
    warnings: &mut Vec<String>,
) -> Result<Vec<u8>, ParseError> {
    let mut out = Vec::new();
    let expected = super::columns_by_name(name);
    let columns = |table: &Table| table.dimensions.len() + cloud.added.len();
    if let (Some(Format::Raw), Some(table)) = (cloud.format, &cloud.table)
        && matches!(table.store, Store::Records { .. })
        && (expected == super::KITTI
            || table.dimensions.len() == expected && cloud.added.is_empty())
        && table
            .dimensions
            .iter()
            .all(|dimension| dimension.kind == NumberType::F32 && dimension.count == 1)
    {
        if columns(table) != expected {
            let what = "values are kept as they are, which the name does not tell";
            warnings
                .push(format!("rows of {0} {what}: read it with `columns={0}`", columns(table)));
        }
        let added = cloud
            .added(rows)
            .into_iter()
            .map(|a| Attribute { column: a.column.cast(NumberType::F32), ..a });
        records::append(
            &mut out,
            Some((table, rows)),
            rows.len(),
            &added.collect::<Vec<_>>(),
            false,
        );
        return Ok(out);
    }
    let mut attributes = conversion::attributes(cloud, rows, Target::Npy, warnings);
    let keep = "PLY, NPY or LAS keeps them as they are";
    let mut all = named_axes(output_coordinates_single(cloud, rows, keep, warnings).axes);
    for field in &super::NAMES[3..expected] {
        let index = attributes.iter().position(|a| a.name.eq_ignore_ascii_case(field));
        let column = match index {
            Some(index) => attributes.remove(index).column.cast(NumberType::F32),
            None => {
                warnings.push(format!("there is no '{field}'; its column holds 0"));
                Column::F32(vec![0.0; rows.len()])
            }
        };
        all.push(Attribute { name: (*field).into(), column });
    }
    if !attributes.is_empty() {
        let names = listed(attributes.iter().map(|a| a.name.as_str()));
        warnings.push(format!("raw float32 has no place for {names}"));
    }
    records::append(&mut out, None, rows.len(), &all, false);
    Ok(out)
}
