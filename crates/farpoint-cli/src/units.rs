//! Lengths such as `5cm` in the unit of a file.

use crate::args::Length;
use crate::messages;
use anyhow::{Result, anyhow};
use farpoint_io::Cloud;
use farpoint_pipeline::Notes;

/// The unit of a file in meters, as far as a length among `given` has a unit of its own; the names of
/// the options are for messages.
pub(crate) fn of(cloud: &Cloud, name: &str, given: &[(&str, Option<Length>)]) -> Result<f64> {
    let mut notes = Notes::default();
    let unit = farpoint_pipeline::unit(cloud, name, given, &mut notes);
    messages::pass_on(&notes);
    unit.map_err(|error| anyhow!(error))
}
