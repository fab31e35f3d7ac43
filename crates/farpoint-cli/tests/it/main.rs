//! The command, run in folders of its own.

#[path = "../../../farpoint-io/tests/it/bags.rs"]
mod bag_fixtures;
mod bags;
mod chamfer;
mod commands;
mod common;
mod compare;
mod copc;
mod density;
mod errors;
mod foreign;
mod grid;
mod hints;
mod large;
mod many;
mod memory;
mod merge;
mod neighbors;
mod options;
mod outputs;
mod real;
mod recorded;
mod rows;
mod sample;
#[cfg(unix)]
mod signals;
mod terminal;
mod view;
