//! Files: detection, reading and writing whole or in parts, several as one cloud.

pub(crate) mod area;
pub(crate) mod classes;
pub(crate) mod detect;
pub(crate) mod filter;
pub(crate) mod input;
pub(crate) mod merge;
pub(crate) mod numbers;
pub(crate) mod output;
pub(crate) mod reader;
