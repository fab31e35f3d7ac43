//! Many files, and files through the disk.

mod equal;
mod faults;
mod inputs;
