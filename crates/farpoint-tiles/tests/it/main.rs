//! Sampling in tiles.

mod common;
mod exact;
mod faults;
mod random;
mod stores;
