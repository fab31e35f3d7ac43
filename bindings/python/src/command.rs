//! The command `farpoint` in the process of a Python interpreter.

use pyo3::prelude::*;
use std::ffi::OsString;
use std::panic::catch_unwind;

pub(crate) fn add(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add_function(wrap_pyfunction!(run_command, module)?)
}

/// Exit status of a Rust program that panicked.
const PANICKED: u8 = 101;

/// Runs the command; returns its exit status. It takes over Ctrl-C and may end the process, so that nothing else
/// should run in it. `program`: the interpreter and its arguments with which the command starts itself again.
#[pyfunction]
fn run_command(py: Python<'_>, program: Vec<OsString>, arguments: Vec<OsString>) -> u8 {
    py.detach(|| catch_unwind(|| farpoint_cli::run(program, arguments)).unwrap_or(PANICKED))
}
