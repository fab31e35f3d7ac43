//! Stands in for `bag` if the feature `bags` is off: nothing is a bag.

use crate::args::{self, Reading};
use anyhow::Result;
use std::path::Path;

pub(crate) enum BagInput {}

pub(crate) fn is_partial(_: &anyhow::Error) -> bool {
    false
}

pub(crate) fn is_folder(_: &Path) -> Result<bool> {
    Ok(false)
}

pub(crate) fn find(_: &Path, _: &Reading) -> Result<Option<BagInput>> {
    Ok(None)
}

pub(crate) fn find_only(_: &Path, _: &Reading, _: &args::Many) -> Result<Option<BagInput>> {
    Ok(None)
}

pub(crate) fn info(_: &args::Info, bag_input: &BagInput) -> Result<()> {
    match *bag_input {}
}

pub(crate) fn sample(_: &args::Sample, bag_input: &BagInput) -> Result<()> {
    match *bag_input {}
}
