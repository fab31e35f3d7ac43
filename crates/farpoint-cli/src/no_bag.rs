//! Stands in for `bag` if the feature `bags` is off: nothing is a bag.

use crate::args::{self, Reading};
use anyhow::Result;
use std::path::Path;

pub(crate) enum Recording {}

pub(crate) fn is_partial(_: &anyhow::Error) -> bool {
    false
}

pub(crate) fn is_folder(_: &Path) -> Result<bool> {
    Ok(false)
}

pub(crate) fn recording(_: &Path, _: &Reading) -> Result<Option<Recording>> {
    Ok(None)
}

pub(crate) fn whole(_: &Path, _: &Reading, _: &args::Many) -> Result<Option<Recording>> {
    Ok(None)
}

pub(crate) fn info(_: &args::Info, recording: &Recording) -> Result<()> {
    match *recording {}
}

pub(crate) fn sample(_: &args::Sample, recording: &Recording) -> Result<()> {
    match *recording {}
}
