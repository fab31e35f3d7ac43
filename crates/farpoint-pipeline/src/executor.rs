//! The work on one of many files, in memory.

use crate::notes::{Kind, Watch};
use crate::{Choice, Done, Files, Method, Notes, Request, SampleSize, Stop};
use farpoint::DeviceKind;
use farpoint_io::Copc;
use std::fs;
use std::path::Path;
use std::sync::{Mutex, PoisonError};

/// Works on files, one after another or several concurrently.
#[derive(Debug)]
pub struct Executor {
    request: Request,
}

/// Keeps the notes on a file, and stops in time.
struct NoteCollector<'a> {
    stop: &'a Stop<'a>,
    notes: Mutex<&'a mut Notes>,
}

impl Watch for NoteCollector<'_> {
    fn report(&self, kind: Kind, text: &str) {
        self.notes.lock().unwrap_or_else(PoisonError::into_inner).add(kind, text);
    }

    fn should_continue(&self) -> bool {
        !self.stop.is_wanted()
    }
}

impl Executor {
    /// Returns an executor of this request; [`Choice::Auto`] is the CPU, since concurrent files leave nothing for a
    /// GPU to gain.
    ///
    /// # Errors
    /// A text, if the sampler can't run there.
    pub fn new(mut request: Request) -> Result<Self, String> {
        let place = &mut request.place;
        if place.device == Choice::Auto {
            place.device = Choice::Cpu;
        }
        let on_gpu = place.device == Choice::Cuda;
        if on_gpu {
            place.present().map_err(|error| error.to_string())?;
        }
        let kind = if on_gpu { DeviceKind::Gpu } else { DeviceKind::Cpu };
        match request.method {
            Method::Exact(algorithm) => algorithm.check(kind).map_err(|error| error.to_string())?,
            _ if on_gpu => return Err("a GPU is for exact algorithms".into()),
            _ => {}
        }
        Ok(Self { request: Request { command: false, ..request } })
    }

    /// Returns the request.
    pub fn request(&self) -> &Request {
        &self.request
    }

    /// Reads `input`, samples it, and writes `output` whole or not at all, in a folder that is created if missing.
    /// Stops when `stop` says so, but not while a file is read or written.
    ///
    /// # Errors
    /// A text that names the file and describes the problem.
    pub fn sample(
        &self,
        input: &Path,
        output: &Path,
        stop: &Stop<'_>,
        notes: &mut Notes,
    ) -> Result<Done, String> {
        let name = input.display().to_string();
        let before = fs::metadata(input).map_err(|source| {
            farpoint_io::Error::Read { name: name.clone(), source }.to_string()
        })?;
        self.check_output(output, &name)?;
        let inputs = [input.to_owned()];
        let files = Files { inputs: &inputs, merge: false, output: Some(output), indices: None };
        let watch = NoteCollector { stop, notes: Mutex::new(notes) };
        let sampled = self.request.in_memory(files, &watch).and_then(|plan| plan.sample(&watch));
        let sampled = sampled.map_err(|error| stop.reason(&name).unwrap_or(error.to_string()))?;
        stop.check(&name)?;
        let finished = sampled.write(&watch).map_err(|error| error.to_string())?;
        let changed = fs::metadata(input).is_ok_and(|now| {
            before.len() != now.len() || before.modified().ok() != now.modified().ok()
        });
        if changed {
            // The output may be half of the old file and half of the new one.
            let _ = fs::remove_file(output);
            return Err(format!("{name}: changed while it was read; sample it again"));
        }
        let warnings = notes.iter().filter(|(kind, _)| *kind == Kind::Warning);
        let warnings = warnings.map(|(_, text)| text.to_owned()).collect();
        Ok(Done { warnings, ..Done::of(&finished, output)? })
    }

    /// Refuses an output before the input is read.
    fn check_output(&self, output: &Path, name: &str) -> Result<(), String> {
        let folder =
            output.parent().filter(|folder| *folder != Path::new("")).unwrap_or(Path::new("."));
        fs::create_dir_all(folder)
            .map_err(|error| format!("{name}: {}: {error}", folder.display()))?;
        let request = &self.request;
        let has_order =
            matches!(request.method, Method::Exact(_)) && request.size != SampleSize::All;
        let copc = request.is_copc(output).then(|| request.copc.clone().unwrap_or(Copc::new([])));
        if let (Some(_), false) = (&copc, has_order) {
            let problem = "COPC has levels, which come from a farthest-first order";
            let fix = "order or sample with an exact algorithm, or write to another format";
            return Err(format!("{name}: {problem}; {fix}"));
        }
        let writing = request.writing.clone().copc(copc);
        let checked = farpoint_io::check_output(output, &[], &writing);
        checked.map(drop).map_err(|error| format!("{name}: {error}"))
    }
}
