//! The laboratory's command.

mod bench;
mod common;
mod errors;
mod paper;
