//! A cloud on its way to a sampler: the points that are used, in their precision and unit.

pub(crate) mod choose;
pub(crate) mod length;
pub(crate) mod levels;
pub(crate) mod listed;
pub(crate) mod points;
pub(crate) mod selection;
