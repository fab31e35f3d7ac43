//! Isolated processes for files that may have ended an earlier run: this program with the same arguments
//! and `--one`.

use crate::args::Many;
use crate::{interrupt, messages, output};
use anyhow::Result;
use farpoint_pipeline::{Done, Executor, File, Notes, Stop, answer, read_answer};
use std::ffi::OsString;
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::Instant;

/// Processes one file and prints the result for the parent process.
pub(super) fn one(executor: &Executor, input: &Path, to: &Path, many: &Many) -> Result<()> {
    let mut notes = Notes::default();
    let stop = Stop::new(interrupt::gentle(), many.time_limit.map(|limit| limit.0));
    let result = executor.sample(input, to, &stop, &mut notes);
    messages::pass_on(&notes);
    output::print(&format!("{}\n", answer(stop.seconds(), &result)))
}

/// Processes the file in a child process: seconds and result, or `None` if it was killed.
pub(super) fn call(file: &File) -> Option<(f64, Result<Done, String>)> {
    let (begin, name) = (Instant::now(), file.input.display());
    let failed =
        |what: String| Some((begin.elapsed().as_secs_f64(), Err(format!("{name}: {what}"))));
    let ended = std::env::current_exe().and_then(|program| {
        let mut call = Command::new(program);
        call.args(arguments(file)).stdin(Stdio::null()).stderr(Stdio::inherit()).output()
    });
    match ended {
        Err(error) => failed(format!("no process can be started for it: {error}")),
        Ok(ended) => {
            let status = ended.status.code()?;
            let answer = read_answer(&String::from_utf8_lossy(&ended.stdout));
            answer.or_else(|| failed(format!("its process ended with status {status}")))
        }
    }
}

/// Returns the arguments of this process, with `--one` behind the name of the command.
fn arguments(file: &File) -> Vec<OsString> {
    let mut arguments: Vec<_> = std::env::args_os().skip(1).collect();
    let command = arguments.iter().position(|argument| {
        ["sample", "order", "convert"].iter().any(|command| argument == *command)
    });
    let one =
        ["--one".into(), file.input.clone().into_os_string(), file.output.clone().into_os_string()];
    let place = command.map_or(0, |command| command + 1);
    arguments.splice(place..place, one);
    arguments
}
