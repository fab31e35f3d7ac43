//! farpoint for C: the shared library `libfarpoint` and its header `farpoint/farpoint.h`.
//!
//! The header is generated from this source by cbindgen, comments included; docs/c.md has the guide.

#![allow(non_camel_case_types, reason = "C's names, which the header has")]
#![expect(clippy::missing_safety_doc, reason = "the header is for C, where every call is unsafe")]

pub mod constants;

pub mod index;

pub mod points;

pub mod progress;

pub mod options;

pub mod gpu;

pub mod calls;

mod arguments;
mod handle;
mod run;
mod status;
