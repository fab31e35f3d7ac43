//! Below the formats: bytes of files, parallel loops, free memory.

pub(crate) mod identity;
pub(crate) mod load;
pub mod memory;
pub(crate) mod panics;
pub(crate) mod parallel;
pub(crate) mod part;
pub(crate) mod pieces;
pub(crate) mod share;
pub(crate) mod sink;
pub mod temporary;
pub(crate) mod unpack;
