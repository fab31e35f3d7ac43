//! Below the formats: bytes of files, loops that all threads share, memory that is free.

pub(crate) mod load;
pub mod memory;
pub(crate) mod parallel;
pub(crate) mod part;
pub(crate) mod pieces;
pub(crate) mod quiet;
pub(crate) mod sink;
pub mod temporary;
pub(crate) mod unpack;
