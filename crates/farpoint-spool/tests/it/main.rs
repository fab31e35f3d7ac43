//! Sampling through the disk.

mod equal;
mod faults;
