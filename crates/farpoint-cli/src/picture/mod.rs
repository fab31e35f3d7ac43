//! Pictures of point clouds, drawn in memory and written as PNG. No system font, no window.

mod canvas;
mod compare;
mod nearest;
mod view;

pub(crate) use compare::{Comparison, compare};
