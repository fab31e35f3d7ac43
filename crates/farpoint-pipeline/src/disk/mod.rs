//! Exact farthest point sampling of point cloud files larger than memory, through a spool on the disk.
//!
//! The input is read twice: to find the extent of its rows, and to write them, cut into tiles, to one file. Then
//! [`farpoint_tiles`] samples tile after tile, and one more pass over the input fetches the records of the chosen
//! rows. The result is that of sampling in memory, to the last byte.
//!
//! ```no_run
//! use farpoint::Amount;
//! use farpoint_io::{ReadOptions, WriteOptions};
//! use farpoint_pipeline::disk::{Job, Outputs, open, sample};
//! let job = Job::new(Amount::Ratio(0.25), 8 << 30);
//! let reader = open("big.laz".as_ref(), &ReadOptions::default(), job.memory)?;
//! let options = WriteOptions::default();
//! let outputs = Outputs { points: Some(("thin.laz".as_ref(), &options)), indices: None };
//! let sampled = sample(&reader, &job, &outputs, &mut |_| true)?;
//! println!("{} of {} points", sampled.samples, sampled.points);
//! # Ok::<(), farpoint_pipeline::disk::Error>(())
//! ```
#![forbid(unsafe_code)]

mod build;
mod error;
mod extents;
mod folder;
mod grid;
mod job;
mod log;
mod memory;
mod numbers;
mod reading;
mod rows;
mod run;
mod sort;
mod spool;
mod stamp;
mod state;
mod store;
mod survey;
mod write;

pub use error::Error;
pub use folder::{Leftover, clean};
pub use job::{Event, Job, Outputs, Sampled, Sizes};
pub(crate) use memory::PROCESS;
pub(crate) use run::beside;
pub use run::{open, sample, write_rows};
