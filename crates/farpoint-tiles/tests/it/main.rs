//! Sampling in tiles.

#[path = "../../../farpoint/tests/it/cases.rs"]
mod cases;
mod common;
mod exact;
mod faults;
mod random;
mod stores;
