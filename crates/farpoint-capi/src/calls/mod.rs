//! Functions of the C interface, by subject, in the order of the header.

pub mod library;

pub mod sample;

pub mod approximate;

pub mod voxels;

pub mod index;

pub mod nearest;

pub mod chamfer;

pub mod search;

pub mod within;

pub mod gradients;

pub mod measure;

pub mod cuda;

mod pairs;
