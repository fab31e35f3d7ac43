//! The `farpoint` command line: parses arguments, runs one command, turns errors into one line
//! and an exit status. The commands are implemented in the module of their name.
//!
//! A library so that the Python package contains the command, and the laboratory (`farpoint-lab`, not published) reads
//! files and prints numbers the same way. Its interface may change with every release.

#![forbid(unsafe_code)]
#![doc(hidden)]

mod args;
#[cfg_attr(not(feature = "bags"), path = "no_bag.rs")]
mod bag;
mod chamfer;
mod check;
mod clean;
mod compare;
mod convert;
pub mod csv;
mod demo;
mod generate;
mod hints;
mod info;
pub mod input;
pub mod interrupt;
mod invocation;
mod manual;
mod many;
mod messages;
mod neighbors;
mod order;
pub mod output;
mod picture;
mod progress;
mod report;
mod request;
mod sample;
mod text;
mod view;

pub use farpoint_pipeline::each_precision;
pub use sample::before_large;

use args::{Args, Command};
use clap::FromArgMatches;
use clap::error::ErrorKind;
use std::ffi::OsString;
use std::process::ExitCode;
use std::{env, io, iter};

const SUCCESS: u8 = 0;

/// Exit status of bad input, as of bad usage.
pub const BAD_INPUT: u8 = 2;

/// Runs the program with the arguments of the process.
pub fn main() -> ExitCode {
    ExitCode::from(run(Vec::new(), env::args_os().skip(1).collect()))
}

/// Runs the program with these arguments; returns the exit status of the process, which it may also end itself.
/// `program` is the program and the arguments with which it starts itself again: the program of this process if empty.
pub fn run(program: Vec<OsString>, arguments: Vec<OsString>) -> u8 {
    let words = iter::once("farpoint".into()).chain(arguments.iter().cloned());
    let matches = args::command().try_get_matches_from(words);
    let args = matches.and_then(|matches| Args::from_arg_matches(&matches));
    invocation::keep(program, arguments);
    let args = match args {
        Ok(args) => args,
        Err(error) => return usage(&error),
    };
    messages::set_verbosity(args.messages.verbosity());
    interrupt::install();
    farpoint::backend::start();
    let result = match args.command {
        Command::Sample(mut args) => {
            check::implied_sampler(&mut args);
            sample::run(&args)
        }
        Command::Order(args) => order::run(&args),
        Command::Convert(args) => convert::run(&args),
        Command::Chamfer(args) => chamfer::run(&args),
        Command::Neighbors(args) => neighbors::run(&args),
        Command::Compare(args) => compare::run(&args),
        Command::View(args) => view::run(&args),
        Command::Info(args) => info::run(&args),
        Command::Generate(args) => generate::run(&args),
        Command::Demo(args) => demo::run(&args),
        Command::Clean(args) => clean::run(&args),
        Command::Completions(args) => manual::completions(&args),
        Command::Man(args) => manual::man(&args),
    };
    if interrupt::is_pending() {
        interrupt::end();
    }
    if let Some([requested, granted]) = farpoint::backend::granted_of() {
        messages::note(&format!(
            "the system granted {granted} of {requested} threads; the result is the same, the work takes longer"
        ));
    }
    match result {
        Ok(()) => SUCCESS,
        Err(error) if is_broken_pipe(&error) => SUCCESS,
        Err(error) => {
            let standing =
                if error.is::<many::Failed>() { String::new() } else { check::standing() };
            messages::complain("error", &format!("{error}{standing}"));
            match bag::is_partial(&error) {
                true => many::SOME_FAILED,
                false => many::status(&error),
            }
        }
    }
}

/// Returns whether the reader of stdout is gone, which is no error (`farpoint ... | head`).
fn is_broken_pipe(error: &anyhow::Error) -> bool {
    error
        .chain()
        .filter_map(|cause| cause.downcast_ref::<io::Error>())
        .any(|cause| cause.kind() == io::ErrorKind::BrokenPipe)
}

/// Prints help and version as they are, a usage error as one line.
fn usage(error: &clap::Error) -> u8 {
    let version = error.kind() == ErrorKind::DisplayVersion;
    let text = if version { args::version() } else { error.render().to_string() };
    if matches!(error.kind(), ErrorKind::DisplayHelp | ErrorKind::DisplayVersion) {
        // A reader that went away is no error here either.
        let _ = output::print(&text);
        return SUCCESS;
    }
    if error.kind() == ErrorKind::DisplayHelpOnMissingArgumentOrSubcommand {
        messages::complain("error", "no command given; 'farpoint --help' lists them");
        return BAD_INPUT;
    }
    let message = hints::sentence(error, &text, invocation::arguments());
    messages::complain("error", &format!("{message} --help shows the usage"));
    BAD_INPUT
}
