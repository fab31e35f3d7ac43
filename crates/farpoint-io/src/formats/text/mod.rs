//! Text: one point per line, its numbers separated by spaces, commas or semicolons, with or without a header. Kept
//! rows are written back as the very bytes of their lines, if those would be read as the same points again.

mod commas;
mod head;
mod label;
mod layout;
mod lines;
mod names;
mod pts;
mod write;

pub(crate) use layout::{coordinates, layout};
pub(crate) use lines::looks_like_points;
pub(crate) use write::write;

use crate::bytes::parallel;
use crate::bytes::part::Part;
use crate::bytes::pieces::{joined, line_number, pieces};
use crate::cloud::Cloud;
use crate::cloud::column::NumberType;
use crate::cloud::coordinates::Coordinates;
use crate::cloud::degrees;
use crate::cloud::header::Header;
use crate::cloud::table::{Dimension, Split, Store, Table};
use crate::error::{ParseError, Place};
use crate::format::Format;
use crate::{ReadOptions, TextStyle};
use head::Head;
use lines::{bad_line, check_returns, is_comment, point, spans, spans_within};
use std::borrow::Cow;
use std::ops::Range;
use std::path::Path;

/// Reads every line as a point.
pub(crate) fn read(
    bytes: Cow<'_, [u8]>,
    name: &str,
    options: &ReadOptions,
) -> Result<Cloud, ParseError> {
    let commas = commas::are_decimal(&bytes);
    let bytes = if commas { commas::with_points(bytes) } else { bytes };
    let mut head = head::find(&bytes, options.xyz.as_ref())?;
    head.header.style = TextStyle::of(Path::new(name));
    let (points, rows) = points(&bytes, &head)?;
    check_count(&head, points.len())?;
    let lines = rows.iter().map(|&(start, end)| &bytes[start..end]);
    if head.is_guess && head.is_pts() {
        head.names = pts::names(lines, head.columns);
    } else if head.is_guess {
        label::refuse(lines.clone(), head.columns)?;
        head.names = pts::colors(lines, head.columns);
    }
    let whole = 0..bytes.len();
    let store = Store::Lines { bytes: Part::new(bytes, whole), spans: rows, split: Split::Any };
    let xyz = head.axes.columns;
    let table = Table { dimensions: dimensions(&head), store, big_endian: false, xyz };
    let mut cloud = cloud_of(head, Coordinates::F64(points), table);
    if commas {
        cloud.warnings.push("decimal commas are read, and written as points".into());
    }
    Ok(cloud)
}

/// Returns an error if the first line declares another number of points.
fn check_count(head: &Head, count: usize) -> Result<(), ParseError> {
    match head.declared.filter(|&declared| declared != count) {
        None => Ok(()),
        Some(declared) => {
            let what = format!("the first line declares {declared} points, the file has {count}");
            let error = match declared < count {
                true => ParseError::new(what).fix("correct that number, or remove the line"),
                false => ParseError::truncated(what),
            };
            Err(error.at(Place::Line(1)))
        }
    }
}

fn dimensions(head: &Head) -> Vec<Dimension> {
    let dimensions = head.dimension_names().into_iter().enumerate();
    dimensions.map(|(i, name)| Dimension::new(name, NumberType::F64, i)).collect()
}

fn cloud_of(head: Head, coordinates: Coordinates, table: Table) -> Cloud {
    let description = match head.header.style {
        TextStyle::Pts => "text (PTS)".into(),
        _ => format!("text, {} columns", head.columns),
    };
    let units = head.names.as_ref().map_or([None; 3], |names| names::units(names, &head.axes));
    let renamed = renamed(&head, &table.dimensions);
    let header = Header::Text(head.header);
    let mut cloud = Cloud::from_table(Format::Text, description, coordinates, table, header);
    cloud.warnings.extend(renamed);
    cloud.unit = units[0].filter(|_| units[0] == units[1]);
    cloud.warnings.extend(degrees::mixed(units));
    if head.axes.degrees {
        cloud.warnings.push(degrees::WARNING.into());
    }
    cloud
}

/// Returns a warning if the header has a name twice, also that of an axis.
fn renamed(head: &Head, dimensions: &[Dimension]) -> Option<String> {
    let names = head.names.iter().flatten().zip(dimensions);
    let mut other = names.filter(|(name, d)| !name.is_empty() && **name != d.name);
    let (name, dimension) = other.next()?;
    let more = match other.count() {
        0 => String::new(),
        count => format!(", and {count} more likewise"),
    };
    Some(format!("a second column '{name}' becomes '{}'{more}", dimension.name))
}

/// Returns the ranges of lines that are points, without their line ends.
fn points_among(bytes: &[u8]) -> Vec<(usize, usize)> {
    let lines = spans_within(bytes, 0..bytes.len());
    lines.filter(|&(start, end)| !is_comment(&bytes[start..end])).collect()
}

/// The points of all lines, with the ranges of those.
type PlacedPoints = (Vec<[f64; 3]>, Vec<(usize, usize)>);

fn points(bytes: &[u8], head: &Head) -> Result<PlacedPoints, ParseError> {
    let Some((start, _)) = spans(bytes).nth(head.lines) else { return Ok(PlacedPoints::default()) };
    let pieces = pieces(bytes, start..bytes.len()).into_iter();
    let found = parallel::try_map(pieces, |piece| points_of(bytes, piece, head))?;
    let places: Vec<&[[f64; 3]]> = found.iter().map(|(points, _)| &points[..]).collect();
    let rows: Vec<&[(usize, usize)]> = found.iter().map(|(_, rows)| &rows[..]).collect();
    Ok((joined(&places), joined(&rows)))
}

/// Returns the points of a piece of whole lines.
fn points_of(bytes: &[u8], piece: Range<usize>, head: &Head) -> Result<PlacedPoints, ParseError> {
    let (mut points, mut rows) = PlacedPoints::default();
    for (start, end) in spans_within(bytes, piece) {
        let line = &bytes[start..end];
        if is_comment(line) {
            continue;
        }
        let Some(point) = point(line, head.axes.columns) else {
            return Err(bad_line(line_number(bytes, start), line, head.axes.columns));
        };
        check_returns(line, || Place::Line(line_number(bytes, start)))?;
        points.push(point);
        rows.push((start, end));
    }
    Ok((points, rows))
}
