//! The readers and writers.

mod bad_input;
#[cfg(feature = "mcap")]
mod bag;
#[cfg(feature = "mcap")]
mod bags;
mod between_formats;
#[path = "../../../farpoint/tests/it/cases.rs"]
mod cases;
mod copc;
mod damaged;
mod e57;
mod large_text;
mod las_formats;
mod las_headers;
mod means;
mod merge;
mod mesh;
mod nodes;
mod odd_values;
mod outputs;
mod padding;
mod poses;
mod ptx;
mod raw;
mod reader;
mod real_files;
mod round_trips;
mod summary;
mod text;
