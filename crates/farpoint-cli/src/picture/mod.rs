//! Pictures of point clouds, drawn in memory and written as PNG. No system font, no window.

mod canvas;
mod compare;
mod deviation;
mod nearest;
mod panels;
mod plan;
mod view;

pub(crate) use compare::{Comparison, compare};
pub(crate) use deviation::{Deviation, deviation};
pub(crate) use panels::{Panel, Panels, Picture, panels};
