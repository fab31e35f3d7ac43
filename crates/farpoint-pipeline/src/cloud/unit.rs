//! Lengths such as `5cm` in the unit of a file.

use crate::{Length, Notes, text::number};
use farpoint_io::Cloud;

/// The unit of a file in meters, as far as a length among `given` has a unit of its own; the names of
/// the options are for messages. A file that states no unit is taken to be in meters.
///
/// # Errors
/// A text, if the coordinates are degrees.
pub fn of(
    cloud: &Cloud,
    name: &str,
    given: &[(&str, Option<Length>)],
    notes: &mut Notes,
) -> Result<f64, String> {
    let lengths = given.iter().filter_map(|(option, length)| Some((*option, (*length)?)));
    let Some((option, length)) = lengths.into_iter().find(|(_, length)| length.has_unit()) else {
        return Ok(1.0);
    };
    let Some(crs) = cloud.crs() else { return Ok(1.0) };
    if crs.geographic {
        return Err(format!(
            "{name}: {option} {length}: the coordinates are degrees ({}); give a number of degrees, or \
             project the cloud first",
            crs.name
        ));
    }
    match crs.meters {
        Some(meters) if (meters - 1.0).abs() > 1e-9 => {
            let here = number(length.in_units_of(meters));
            let unit = number(meters);
            notes.note(format!("{name}: {option} {length} is {here} in its unit of {unit} m"));
            Ok(meters)
        }
        Some(_) => Ok(1.0),
        None => {
            let here = length.in_meters();
            notes.warn(format!(
                "{name}: {option} {length} is taken as {here}, for meters; the file does not state \
                 the unit of {}; give a number without a unit if it is another",
                crs.name
            ));
            Ok(1.0)
        }
    }
}
