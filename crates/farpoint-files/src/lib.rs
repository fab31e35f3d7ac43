//! Sampling many point cloud files: folders, patterns and lists of files, an output for each in a folder
//! that keeps their tree, and a manifest (`farpoint.jsonl`) by which a run that was stopped or killed goes on
//! where it was.
//!
//! The command line runs files side by side on threads ([`run()`]), the Python package in processes that may
//! be killed, Ray on machines; all three have the inputs, the manifest and the work on a file from here.
//! Nothing is printed.
//!
//! ```no_run
//! use farpoint_files::{Batch, File, Notes, On, Options, Side, Stop, Wanted, Worker, expand, plan, run};
//! use std::path::Path;
//! use std::sync::atomic::AtomicBool;
//! let out = Path::new("thin");
//! let files = plan(expand(&["scans".into()], true, Some(out))?, out, Some("laz"))?;
//! let options = Options::new(Wanted::Ratio(0.25));
//! let batch = Batch::open(files, out, &options.digest(), false)?;
//! let worker = Worker::new(options, On { threads: Some(1), ..On::default() })?;
//! // Files that may have ended a process: here, they are tried in this one.
//! let apart = |file: &File| {
//!     let never = AtomicBool::new(false);
//!     let stop = Stop::new(&never, None);
//!     let result = worker.sample(&file.input, &file.output, &stop, &mut Notes::default());
//!     Some((stop.seconds(), result))
//! };
//! let side = Side { jobs: 8, threads: 1, memory: 8 << 30, fail_fast: false, limit: None };
//! run(&batch, &worker, &side, &AtomicBool::new(false), &|row, _| println!("{}", row.to_line()), &apart)?;
//! batch.close();
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

#![forbid(unsafe_code)]

mod batch;
mod chosen;
mod error;
mod inputs;
mod length;
mod levels;
mod manifest;
mod notes;
mod options;
mod plan;
mod points;
mod row;
mod run;
mod stop;
pub mod text;
mod unit;
mod weight;
mod worker;

pub use batch::Batch;
pub use chosen::{Chosen, Used, choose, converted, tell_filtered};
pub use error::Error;
pub use inputs::{Found, expand, names_several};
pub use length::Length;
pub use levels::levels;
pub use manifest::{MANIFEST, Manifest, TRIES_MOST};
pub use notes::{Kind, Notes};
pub use options::{Method, Options, Wanted};
pub use plan::{File, plan};
pub use points::{Points, Rows, narrowed, prepare, tell_narrowed, tell_rows};
pub use row::{Done, Row, answer, read_answer};
pub use run::{Apart, Side, run};
pub use stop::Stop;
pub use unit::of as unit;
pub use worker::{On, Worker, add_spacing, centroid_cloud, covering_radius};
