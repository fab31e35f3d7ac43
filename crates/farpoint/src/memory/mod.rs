//! Memory for vectors and threads: aligned and growable arrays, padded by a vector at their end; arrays
//! written by several threads; checked loads and stores; fallible allocation.

#![allow(clippy::disallowed_methods, reason = "vectors are loaded and stored nowhere else")]

mod aligned;
pub mod fallible;
mod padded;
mod shared;
mod vectors;

pub(crate) use aligned::Aligned;
pub(crate) use fallible::{
    Zero, collected, extend, filled, out_of_memory, push, reserve, resize, try_collected,
    with_capacity, zeros,
};
pub(crate) use padded::Padded;
pub(crate) use shared::Shared;
pub(crate) use vectors::{MAX_LANES, load, store};
