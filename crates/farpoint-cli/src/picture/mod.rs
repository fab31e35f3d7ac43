//! Pictures of point clouds, drawn in memory and written as PNG. No system font, no window.

mod canvas;
mod color;
mod demo;
mod deviation;
mod legend;
mod open;
mod palette;
mod panels;
mod ramp;
mod scene;
mod shape;
mod still;
#[cfg(test)]
mod tests;
mod tiles;
mod unit;
mod vector;
mod view;

pub(crate) use demo::{Candidate, Comparison, compare};
pub(crate) use deviation::{Deviation, deviation};
pub(crate) use panels::{Panel, Panels, Picture, panels};
pub(crate) use shape::Up;
pub(crate) use still::still;
pub(crate) use tiles::{Extent, Raster, Tiles, tiles};
pub(crate) use unit::Unit;
