//! One coordinate system for all files.

use crate::cloud::crs::Crs;
use crate::error::Error;
use crate::files::reader::Reader;

/// Returns the coordinate system of all files that state one.
///
/// # Errors
/// If two state different ones.
pub(super) fn common(readers: &[Reader], warnings: &mut Vec<String>) -> Result<Option<Crs>, Error> {
    let Some(first) = readers.iter().find(|reader| reader.crs().is_some()) else { return Ok(None) };
    let Some(crs) = first.crs() else { return Ok(None) };
    let mut without_crs = Vec::new();
    for reader in readers {
        match reader.crs() {
            None => without_crs.push(reader.name()),
            Some(other) if same(crs, other) => {}
            Some(other) => {
                let what = format!(
                    "is in the coordinate system {}, and {} in {}",
                    other.name,
                    first.name(),
                    crs.name
                );
                let fix = "transform both to the same system, or remove one";
                return Err(Error::merge(reader.name(), &what, fix));
            }
        }
    }
    if let Some(name) = without_crs.first() {
        let others = match without_crs.len() {
            1 => String::new(),
            n => format!(" and {} more", n - 1),
        };
        warnings.push(format!(
            "{name}{others}: no coordinate system is stated; taken to be that of {} ({})",
            first.name(),
            crs.name
        ));
    }
    Ok(Some(crs.clone()))
}

/// Returns the unit of all texts whose columns state one.
///
/// # Errors
/// If two state different ones.
pub(super) fn common_unit(readers: &[Reader]) -> Result<Option<f64>, Error> {
    let mut stated = readers.iter().filter_map(|reader| Some((reader, reader.head().unit?)));
    let Some((first, unit)) = stated.next() else { return Ok(None) };
    match stated.find(|(_, other)| *other != unit) {
        None => Ok(Some(unit)),
        Some((reader, other)) => {
            let what = format!("is in units of {other} m, and {} of {unit} m", first.name());
            Err(Error::merge(reader.name(), &what, "convert one to the unit of the other"))
        }
    }
}

/// Returns whether two systems are equal, by their codes, or else by all that is stated.
fn same(a: &Crs, b: &Crs) -> bool {
    let text = |crs: &Crs| {
        let wkt = crs.wkt.as_deref().unwrap_or_default();
        wkt.chars().filter(|c| !c.is_whitespace()).collect::<String>()
    };
    if a.vertical.is_some() && b.vertical.is_some() && a.vertical != b.vertical {
        return false;
    }
    match (a.epsg, b.epsg) {
        (Some(a), Some(b)) => a == b,
        _ => a.name == b.name && a.meters == b.meters && text(a) == text(b),
    }
}
