//! A file that may have ended an earlier run: in a process of its own, which is this program with the same
//! arguments and `--one`.

use crate::args::Many;
use crate::{interrupt, messages, output};
use anyhow::Result;
use farpoint_files::{Done, File, Notes, Stop, Worker};
use serde_json::{Value, json};
use std::ffi::OsString;
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::Instant;

/// Works on one file and prints what came of it, for the process that called this one.
pub(super) fn one(worker: &Worker, input: &Path, to: &Path, many: &Many) -> Result<()> {
    let mut notes = Notes::default();
    let stop = Stop::new(interrupt::gentle(), many.time_limit.map(|limit| limit.0));
    let result = worker.sample(input, to, &stop, &mut notes);
    messages::pass_on(&notes);
    let answer = match result {
        Ok(done) => json!([done.points, done.samples, done.radius, done.bytes]),
        Err(error) => error.into(),
    };
    output::print(&format!("{answer}\n"))
}

/// Has a process work on the file: seconds and what came of it, or `None` if it was killed.
pub(super) fn call(file: &File) -> Option<(f64, Result<Done, String>)> {
    let begin = Instant::now();
    let result = ended(file);
    result.map(|result| (begin.elapsed().as_secs_f64(), result))
}

fn ended(file: &File) -> Option<Result<Done, String>> {
    let name = file.input.display();
    let program = match std::env::current_exe() {
        Ok(program) => program,
        Err(error) => {
            return Some(Err(format!("{name}: no process can be started for it: {error}")));
        }
    };
    let mut call = Command::new(program);
    call.args(arguments(file)).stdin(Stdio::null()).stderr(Stdio::inherit());
    let output = match call.output() {
        Ok(output) => output,
        Err(error) => {
            return Some(Err(format!("{name}: no process can be started for it: {error}")));
        }
    };
    let status = output.status.code()?;
    let answer = serde_json::from_slice(&output.stdout).ok().and_then(|answer| read(&answer));
    Some(answer.unwrap_or_else(|| Err(format!("{name}: its process ended with status {status}"))))
}

fn read(answer: &Value) -> Option<Result<Done, String>> {
    if let Some(error) = answer.as_str() {
        return Some(Err(error.to_owned()));
    }
    Some(Ok(Done {
        points: answer.get(0)?.as_u64()?,
        samples: answer.get(1)?.as_u64()?,
        radius: answer.get(2)?.as_f64().unwrap_or(f64::INFINITY),
        bytes: answer.get(3)?.as_u64()?,
    }))
}

/// The arguments of this process, with `--one` behind the name of the command.
fn arguments(file: &File) -> Vec<OsString> {
    let mut arguments: Vec<_> = std::env::args_os().skip(1).collect();
    let command = arguments.iter().position(|argument| argument == "sample" || argument == "order");
    let one =
        ["--one".into(), file.input.clone().into_os_string(), file.output.clone().into_os_string()];
    let place = command.map_or(0, |command| command + 1);
    arguments.splice(place..place, one);
    arguments
}
