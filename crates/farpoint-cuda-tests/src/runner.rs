//! Runs the checks: references on all cores ahead of them, one after another on the GPU.

use crate::report::{Line, Outcome, Report};
use crate::tally::Tally;
use anyhow::Result;
use farpoint_cuda::Gpu;
use std::any::Any;
use std::io::Write;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::sync::{Arc, Condvar, Mutex, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

/// A part of a group on the GPU: an algorithm, most often.
pub(crate) type Run = Box<dyn Fn(&Gpu, &str, &mut Tally) -> Result<()> + Send>;
type Prepare = Box<dyn FnOnce() -> Result<Run> + Send>;

/// Checks that share clouds and references.
pub(crate) struct Group {
    pub(crate) name: String,
    pub(crate) parts: Vec<&'static str>,
    prepare: Prepare,
    /// Prepared before others, as it takes long.
    heavy: bool,
}

impl Group {
    /// `prepare` makes clouds and references, and gives what then runs once for each part.
    pub(crate) fn new<R>(
        name: impl Into<String>,
        parts: &[&'static str],
        prepare: impl FnOnce() -> Result<R> + Send + 'static,
    ) -> Self
    where
        R: Fn(&Gpu, &str, &mut Tally) -> Result<()> + Send + 'static,
    {
        let prepare = Box::new(|| prepare().map(|run| Box::new(run) as Run));
        Self { name: name.into(), parts: parts.to_vec(), prepare, heavy: false }
    }

    pub(crate) fn heavy(self) -> Self {
        Self { heavy: true, ..self }
    }

    /// The same on the device as if it were a card of this compute capability (75 for 7.5), with a
    /// name that says so.
    pub(crate) fn on_card(self, capability: u32) -> Self {
        let Self { name, parts, prepare, heavy } = self;
        let prepare: Prepare = Box::new(move || {
            let run = prepare()?;
            Ok(Box::new(move |device: &Gpu, part: &str, tally: &mut Tally| {
                run(&Gpu::with_capability(device.ordinal(), capability)?, part, tally)
            }))
        });
        let name = format!("as {}.{}: {name}", capability / 10, capability % 10);
        Self { name, parts, prepare, heavy }
    }

    fn line(&self, part: &str) -> String {
        if part.is_empty() { self.name.clone() } else { format!("{}, {part}", self.name) }
    }
}

/// How to run.
pub(crate) struct Options {
    /// Only the lines that hold one of these texts.
    pub(crate) only: Vec<String>,
    /// Seconds after which a check counts as hanging, which ends the run.
    pub(crate) limit: u64,
}

/// Keeps the parts that are wanted.
pub(crate) fn filter(groups: &mut Vec<Group>, only: &[String]) {
    if only.is_empty() {
        return;
    }
    for group in groups.iter_mut() {
        let wanted = |part: &&str| {
            let line = group.line(part);
            only.iter().any(|text| line.contains(text.as_str()))
        };
        group.parts = group.parts.iter().copied().filter(wanted).collect();
    }
    groups.retain(|group| !group.parts.is_empty());
}

/// Makes all references and runs nothing on a GPU; whether all could be made.
pub(crate) fn references(mut groups: Vec<Group>, only: &[String]) -> bool {
    filter(&mut groups, only);
    let begin = Instant::now();
    let names: Vec<_> = groups.iter().map(|group| group.name.clone()).collect();
    let prepared = prepare(groups);
    let mut good = true;
    for (at, name) in names.iter().enumerate() {
        if let Err(reason) = prepared.take(at) {
            println!("{name}: {reason}");
            good = false;
        }
    }
    println!("references of {} groups in {:.1} s", names.len(), begin.elapsed().as_secs_f64());
    good
}

/// Runs all groups; `finish` is called with the report at the end, also if a check hangs.
pub(crate) fn run(
    mut groups: Vec<Group>,
    options: &Options,
    report: Report,
    finish: impl Fn(&Report) + Send + Sync + 'static,
) -> Result<bool> {
    filter(&mut groups, &options.only);
    let begin = Instant::now();
    let mut device = Gpu::new(0)?;
    let report = Arc::new(Mutex::new(report));
    let finish = Arc::new(finish);
    let watch = watchdog(options.limit, Arc::clone(&report), Arc::clone(&finish));
    let names: Vec<_> = groups
        .iter()
        .map(|group| {
            let lines: Vec<_> = group.parts.iter().map(|part| group.line(part)).collect();
            (group.name.clone(), group.parts.clone(), lines)
        })
        .collect();
    let prepared = prepare(groups);
    for (at, (group, parts, lines)) in names.into_iter().enumerate() {
        let run = prepared.take(at);
        for (part, line) in parts.into_iter().zip(lines) {
            print!("{line:<58} ");
            std::io::stdout().flush()?;
            let _ = watch.send(Some(line));
            let (outcome, lost) = check(&run, &device, part);
            let _ = watch.send(None);
            println!("{outcome}");
            let line = Line { group: group.clone(), part, outcome };
            report.lock().unwrap_or_else(PoisonError::into_inner).lines.push(line);
            if lost {
                device = reopen(device)?;
            }
        }
    }
    let mut report = report.lock().unwrap_or_else(PoisonError::into_inner);
    report.seconds = begin.elapsed().as_secs_f64();
    finish(&report);
    Ok(report.passed())
}

/// A context that a kernel has damaged is of no use to the checks after.
fn reopen(device: Gpu) -> Result<Gpu> {
    drop(device);
    println!("the device was lost; it is opened anew");
    Ok(Gpu::new(0)?)
}

fn check(run: &Result<Run, String>, device: &Gpu, part: &str) -> (Outcome, bool) {
    let begin = Instant::now();
    let mut tally = Tally::new(part);
    match run {
        Err(reason) => tally.fail("preparing", reason),
        Ok(run) => match catch_unwind(AssertUnwindSafe(|| run(device, part, &mut tally))) {
            Ok(Ok(())) => {}
            Ok(Err(error)) => match error.downcast_ref() {
                Some(error) => tally.error("stopped", error),
                None => tally.fail("stopped", format!("{error:#}")),
            },
            Err(panic) => tally.fail("stopped", text_of(panic.as_ref())),
        },
    }
    let lost = tally.lost;
    (Outcome::new(tally, begin.elapsed().as_secs_f64()), lost)
}

fn text_of(panic: &(dyn Any + Send)) -> String {
    let text = panic.downcast_ref::<String>().cloned();
    let text = text.or_else(|| panic.downcast_ref::<&str>().map(|text| (*text).to_owned()));
    format!("panic: {}", text.unwrap_or_default())
}

/// What was prepared, by group.
struct Prepared {
    ready: Mutex<Vec<Option<Result<Run, String>>>>,
    arrived: Condvar,
}

impl Prepared {
    /// Waits for a group's preparation.
    fn take(&self, at: usize) -> Result<Run, String> {
        let mut ready = self.ready.lock().unwrap_or_else(PoisonError::into_inner);
        loop {
            if let Some(run) = ready[at].take() {
                return run;
            }
            ready = self.arrived.wait(ready).unwrap_or_else(PoisonError::into_inner);
        }
    }
}

/// Prepares all groups in the background: those that take long first, the others in order.
fn prepare(groups: Vec<Group>) -> Arc<Prepared> {
    let ready = groups.iter().map(|_| None).collect();
    let prepared = Arc::new(Prepared { ready: Mutex::new(ready), arrived: Condvar::new() });
    let mut tasks: Vec<_> = groups.into_iter().enumerate().collect();
    tasks.sort_by_key(|(at, group)| (!group.heavy, *at));
    tasks.reverse();
    let tasks = Arc::new(Mutex::new(tasks));
    // One core is left to the GPU.
    let threads = thread::available_parallelism().map_or(1, |cores| (cores.get() - 1).max(1));
    for _ in 0..threads {
        let (tasks, prepared) = (Arc::clone(&tasks), Arc::clone(&prepared));
        thread::spawn(move || {
            loop {
                let task = tasks.lock().unwrap_or_else(PoisonError::into_inner).pop();
                let Some((at, group)) = task else { return };
                let run = match catch_unwind(AssertUnwindSafe(group.prepare)) {
                    Ok(run) => run.map_err(|error| format!("{error:#}")),
                    Err(panic) => Err(text_of(panic.as_ref())),
                };
                prepared.ready.lock().unwrap_or_else(PoisonError::into_inner)[at] = Some(run);
                prepared.arrived.notify_all();
            }
        });
    }
    prepared
}

/// A kernel that never ends can't be stopped: whoever sends the name of a check and then
/// nothing for `limit` seconds ends the program, with the report written.
fn watchdog(
    limit: u64,
    report: Arc<Mutex<Report>>,
    finish: Arc<impl Fn(&Report) + Send + Sync + 'static>,
) -> Sender<Option<String>> {
    let (sender, receiver): (_, Receiver<Option<String>>) = channel();
    thread::spawn(move || {
        loop {
            let name = match receiver.recv() {
                Ok(Some(name)) => name,
                Ok(None) => continue,
                Err(_) => return,
            };
            match receiver.recv_timeout(Duration::from_secs(limit)) {
                Ok(_) => {}
                Err(RecvTimeoutError::Disconnected) => return,
                Err(RecvTimeoutError::Timeout) => {
                    println!("HANGS: nothing for {limit} s; the run ends here");
                    let mut report = report.lock().unwrap_or_else(PoisonError::into_inner);
                    let mut tally = Tally::default();
                    tally.fail("hangs", format!("nothing for {limit} s"));
                    let outcome = Outcome::new(tally, limit as f64);
                    report.lines.push(Line { group: name, part: "", outcome });
                    finish(&report);
                    std::process::exit(1);
                }
            }
        }
    });
    sender
}

#[cfg(test)]
mod tests {
    use super::*;

    fn group(name: &str, parts: &[&'static str]) -> Group {
        Group::new(name, parts, || Ok(|_: &Gpu, _: &str, _: &mut Tally| Ok(())))
    }

    #[test]
    fn only_what_is_wanted_stays() {
        let all = || vec![group("room f32", &["naive", "peak"]), group("devices", &[""])];
        let names = |only: &[&str]| {
            let mut groups = all();
            filter(&mut groups, &only.iter().map(|text| text.to_string()).collect::<Vec<_>>());
            groups.iter().flat_map(|g| g.parts.iter().map(|p| g.line(p))).collect::<Vec<_>>()
        };
        assert_eq!(names(&[]), ["room f32, naive", "room f32, peak", "devices"]);
        assert_eq!(names(&["peak"]), ["room f32, peak"]);
        assert_eq!(names(&["dev", "f32, n"]), ["room f32, naive", "devices"]);
        assert!(names(&["lidar"]).is_empty());
    }

    #[test]
    fn preparing_may_fail_or_panic() {
        let mut groups = vec![group("good", &["peak"])];
        assert!(references(vec![group("good", &["peak"])], &[]));
        groups.push(Group::new("bad", &["peak"], || {
            Err::<fn(&Gpu, &str, &mut Tally) -> Result<()>, _>(anyhow::anyhow!("no"))
        }));
        assert!(!references(groups, &[]));
    }

    /// Every name is there once, so that records can be compared.
    #[test]
    fn names_differ() {
        for quick in [true, false] {
            let mut names: Vec<_> =
                crate::groups(quick).into_iter().map(|group| group.name).collect();
            names.sort();
            let all = names.len();
            names.dedup();
            assert_eq!(names.len(), all);
        }
    }
}
