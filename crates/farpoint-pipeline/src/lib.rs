//! Samples point cloud files by request: one in memory, one larger than memory ([`disk`]), or many, with an output
//! for each and a manifest (`farpoint.jsonl`) by which a run that was stopped or killed is resumed.
//!
//! The command line runs files concurrently on threads ([`run()`]), the Python package in processes that may be
//! killed, Ray on machines; all three share the inputs, the manifest and the work on a file. Nothing is printed.
//!
//! ```no_run
//! use farpoint_pipeline::{Batch, Concurrency, Executor, File, Notes, Request, Stop, SampleSize, DeviceOptions, expand, plan, run};
//! use std::path::Path;
//! use std::sync::{Mutex, atomic::AtomicBool};
//! let out = Path::new("thin");
//! let notes = Mutex::new(Notes::default());
//! let files = plan(expand(&["scans".into()], true, Some(out), &notes)?, out, Some("laz"))?;
//! let place = DeviceOptions { threads: Some(1), ..DeviceOptions::cpu() };
//! let request = Request { place, ..Request::new(SampleSize::Ratio(0.25)) };
//! let batch = Batch::open(files, out, &request.digest(), false)?;
//! let executor = Executor::new(request)?;
//! // Files that may have ended a process: here, they are tried in this one.
//! let isolated = |file: &File| {
//!     let never = AtomicBool::new(false);
//!     let stop = Stop::new(&never, None);
//!     let result = executor.sample(&file.input, &file.output, &stop, &mut Notes::default());
//!     Some((stop.seconds(), result))
//! };
//! let side = Concurrency { jobs: 8, threads: 1, memory: 8 << 30, fail_fast: false, limit: None };
//! run(&batch, &executor, &side, &AtomicBool::new(false), &|row, _| println!("{}", row.to_line()), &isolated)?;
//! batch.close();
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

#![forbid(unsafe_code)]

mod batch;
mod cloud;
mod device;
pub mod disk;
mod error;
mod executor;
mod in_memory;
mod memory;
mod merged;
mod notes;
mod plan;
mod request;
mod sampling;
mod stop;
pub mod text;
mod through_disk;

pub use batch::Batch;
pub use batch::inputs::{InputFile, expand, names_several};
pub use batch::manifest::{MANIFEST, Manifest, TRIES_MOST};
pub use batch::plan::{File, plan};
pub use batch::row::{Done, Row, answer, read_answer};
pub use batch::run::{Concurrency, Isolated, run};
pub use cloud::choose::{MANY_ZEROS, narrowed, prepare, zeros_kept};
pub use cloud::length::{Length, unit};
pub use cloud::listed::RowList;
pub use cloud::points::{Points, Rows, zeros};
pub use cloud::selection::{InputPoints, RowSelection};
pub use device::{Cards, Choice, DeviceOptions, Place};
pub use error::Error;
pub use executor::Executor;
pub use in_memory::{InMemory, SampledCloud, read};
pub use merged::{Joined, equal_rows, open_merged, read_merged};
pub use notes::{Kind, Notes, Stage, Watch};
pub use plan::Plan;
pub use request::{Files, Limits, Method, Request, SampleSize};
pub use sampling::{
    Chosen, Figure, Finished, Job, Observer, Outcome, RanOn, Tiles, covering_radius, named,
};
pub use stop::Stop;
pub use through_disk::ThroughDisk;
