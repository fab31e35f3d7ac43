//! A cloud that was read, on its way to a sampler: which of its points are used, in which precision and unit.

pub(crate) mod choose;
pub(crate) mod length;
pub(crate) mod levels;
pub(crate) mod listed;
pub(crate) mod points;
pub(crate) mod selection;
