//! Memory as vectors and threads want it: aligned arrays, and a pointer to share.

mod aligned;
mod shared;

pub(crate) use aligned::Aligned;
pub(crate) use shared::Shared;
