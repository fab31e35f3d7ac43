//! Isolated processes for files that may have ended an earlier run: this program with the same arguments
//! and `--one`.

use crate::args::Many;
use crate::{interrupt, invocation, messages, output};
use anyhow::Result;
use farpoint_pipeline::{Done, Executor, File, Notes, Stop, answer, read_answer};
use std::ffi::OsString;
use std::path::Path;
use std::process::Stdio;
use std::time::Instant;

/// Processes one file and prints the result for the parent process.
pub(super) fn run_one(executor: &Executor, input: &Path, to: &Path, many: &Many) -> Result<()> {
    let mut notes = Notes::default();
    let stop = Stop::new(interrupt::defer_exit(), many.time_limit.map(|limit| limit.0));
    let result = executor.sample(input, to, &stop, &mut notes);
    messages::print_notes(&notes);
    output::print(&format!("{}\n", answer(stop.seconds(), &result)))
}

/// Processes the file in a child process: seconds and result, or `None` if it was killed.
pub(super) fn run_isolated(file: &File) -> Option<(f64, Result<Done, String>)> {
    let (begin, name) = (Instant::now(), file.input.display());
    let failed =
        |reason: String| Some((begin.elapsed().as_secs_f64(), Err(format!("{name}: {reason}"))));
    let output = invocation::command().and_then(|mut command| {
        command.args(arguments(file)).stdin(Stdio::null()).stderr(Stdio::inherit()).output()
    });
    match output {
        Err(error) => failed(format!("cannot start a process for it: {error}")),
        Ok(output) => {
            let status = output.status.code()?;
            let answer = read_answer(&String::from_utf8_lossy(&output.stdout));
            answer.or_else(|| failed(format!("its process exited with status {status}")))
        }
    }
}

/// Returns the arguments of this process, with `--one` behind the name of the command.
fn arguments(file: &File) -> Vec<OsString> {
    let mut arguments = invocation::arguments().to_vec();
    let command = arguments.iter().position(|argument| {
        ["sample", "order", "convert"].iter().any(|command| argument == *command)
    });
    let one =
        ["--one".into(), file.input.clone().into_os_string(), file.output.clone().into_os_string()];
    let place = command.map_or(0, |command| command + 1);
    arguments.splice(place..place, one);
    arguments
}
