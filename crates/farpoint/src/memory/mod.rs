//! Memory for vectors and threads: aligned and growable arrays, padded by a vector at their end; arrays
//! written by several threads; checked loads and stores; fallible allocation; working memory kept for later runs.

#![allow(clippy::disallowed_methods, reason = "vectors are loaded and stored nowhere else")]

mod aligned;
mod buffer;
pub mod fallible;
mod kept;
mod padded;
mod shared;
mod vectors;

pub(crate) use aligned::Aligned;
pub(crate) use buffer::Buffer;
pub(crate) use fallible::{
    Zero, collected, extend, filled, push, reserve, reserve_exact, resize, try_collected,
    with_capacity, zeros,
};
pub use kept::{set_kept_memory, trim_memory};
pub(crate) use padded::Padded;
pub(crate) use shared::Shared;
pub(crate) use vectors::{MAX_LANES, load, store};
