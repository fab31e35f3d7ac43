//! The program and arguments of this process, with which it can start itself again.

use std::ffi::OsString;
use std::process::Command;
use std::sync::OnceLock;
use std::{env, io};

/// Program with its first arguments, and the arguments of the command line.
static STARTED: OnceLock<(Vec<OsString>, Vec<OsString>)> = OnceLock::new();

/// Keeps what [`command`] and [`arguments`] return. A program of no words is that of this process.
pub(crate) fn keep(program: Vec<OsString>, arguments: Vec<OsString>) {
    // The command line runs once in a process.
    let _ = STARTED.set((program, arguments));
}

/// Returns the command that starts this program, without arguments.
pub(crate) fn command() -> io::Result<Command> {
    match STARTED.get().and_then(|(program, _)| program.split_first()) {
        None => Ok(Command::new(env::current_exe()?)),
        Some((program, first)) => {
            let mut command = Command::new(program);
            command.args(first);
            Ok(command)
        }
    }
}

/// Returns the arguments of the command line.
pub(crate) fn arguments() -> &'static [OsString] {
    STARTED.get().map_or(&[], |(_, arguments)| arguments)
}
