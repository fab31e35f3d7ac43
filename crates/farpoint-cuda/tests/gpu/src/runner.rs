//! Groups of checks as tests of `libtest-mimic`: references are computed on all cores ahead of them,
//! the checks run one after another on the GPU.

use crate::report::{Line, Report};
use crate::tally::Tally;
use anyhow::Result;
use farpoint_cuda::Gpu;
use libtest_mimic::{Arguments, Failed, Trial};
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::sync::{Arc, Mutex, OnceLock, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

/// A part of a group on the GPU, usually an algorithm.
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
    /// Creates a group; `prepare` makes clouds and references, and returns the check to run for each part.
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

    /// Uses the GPU as a card of this compute capability (75 for 7.5), and adds it to the name.
    pub(crate) fn on_card(self, capability: u32) -> Self {
        let Self { name, parts, prepare, heavy } = self;
        let prepare: Prepare = Box::new(move || {
            let run = prepare()?;
            Ok(Box::new(move |gpu: &Gpu, part: &str, tally: &mut Tally| {
                run(&Gpu::with_capability(gpu.ordinal(), capability)?, part, tally)
            }))
        });
        let name = format!("as {}.{}: {name}", capability / 10, capability % 10);
        Self { name, parts, prepare, heavy }
    }

    fn test_name(&self, part: &str) -> String {
        if part.is_empty() { self.name.clone() } else { format!("{}, {part}", self.name) }
    }
}

/// Options of a run.
pub(crate) struct Options {
    /// Arguments of libtest: filters, `--list`, the format.
    pub(crate) libtest: Arguments,
    /// Only the tests whose name contains one of these texts.
    pub(crate) only: Vec<String>,
    /// Seconds after which a check counts as hanging, which ends the run.
    pub(crate) limit: u64,
    /// Set if references are computed and nothing runs on a GPU.
    pub(crate) references: bool,
}

impl Options {
    fn selects(&self, name: &str) -> bool {
        let only = |text: &String| name.contains(text.as_str());
        let trial = Trial::test(name, || Ok(()));
        (self.only.is_empty() || self.only.iter().any(only))
            && !self.libtest.is_filtered_out(&trial)
    }

    /// Keeps the selected parts.
    fn filter(&self, groups: &mut Vec<Group>) {
        for group in groups.iter_mut() {
            let parts = std::mem::take(&mut group.parts);
            group.parts =
                parts.into_iter().filter(|part| self.selects(&group.test_name(part))).collect();
        }
        groups.retain(|group| !group.parts.is_empty());
    }
}

/// Runs all groups; `finish` is called with the report at the end, also if a check hangs.
pub(crate) fn run(
    mut groups: Vec<Group>,
    options: Options,
    report: Report,
    finish: impl Fn(&Report) + Send + Sync + 'static,
) -> Result<bool> {
    options.filter(&mut groups);
    let report = Arc::new(Mutex::new(report));
    let finish = Arc::new(finish);
    let watch = watchdog(options.limit, Arc::clone(&report), Arc::clone(&finish));
    let begin = Instant::now();
    let mut tasks = Vec::new();
    let mut trials = Vec::new();
    for group in groups {
        let prepared = Arc::new(PreparedRun::new());
        for &part in &group.parts {
            let check = Check {
                group: group.name.clone(),
                part,
                prepared: Arc::clone(&prepared),
                report: Arc::clone(&report),
                watch: watch.clone(),
                on_gpu: !options.references,
            };
            trials.push(Trial::test(group.test_name(part), move || check.run()));
        }
        tasks.push((group.heavy, group.prepare, prepared));
    }
    // There is one GPU: its tests run one by one.
    let libtest = Arguments { test_threads: Some(1), ..options.libtest };
    if libtest.list {
        return Ok(!libtest_mimic::run(&libtest, trials).has_failed());
    }
    if !options.references {
        Gpu::new(0)?;
    }
    prepare(tasks);
    let conclusion = libtest_mimic::run(&libtest, trials);
    let mut report = report.lock().unwrap_or_else(PoisonError::into_inner);
    report.seconds = begin.elapsed().as_secs_f64();
    report.panicked = conclusion.num_failed as usize - report.failed();
    finish(&report);
    Ok(!conclusion.has_failed())
}

/// Result of a group's preparation, once available.
type PreparedRun = OnceLock<Result<Mutex<Run>, String>>;

/// One test.
struct Check {
    group: String,
    part: &'static str,
    prepared: Arc<PreparedRun>,
    report: Arc<Mutex<Report>>,
    watch: Sender<Option<String>>,
    on_gpu: bool,
}

impl Check {
    fn run(self) -> Result<(), Failed> {
        let check_run =
            self.prepared.wait().as_ref().map_err(|reason| format!("preparing: {reason}"))?;
        if !self.on_gpu {
            return Ok(());
        }
        let run = check_run.lock().unwrap_or_else(PoisonError::into_inner);
        let watchdog_guard = Watched::new(&self.watch, format!("{}, {}", self.group, self.part));
        let begin = Instant::now();
        let mut tally = Tally::new(self.part);
        // A lost GPU is opened again here, for the tests that follow.
        let result =
            Gpu::new(0).map_err(Into::into).and_then(|gpu| run(&gpu, self.part, &mut tally));
        drop(watchdog_guard);
        if let Err(error) = result {
            match error.downcast_ref() {
                Some(error) => tally.error("stopped", error),
                None => tally.fail("stopped", format!("{error:#}")),
            }
        }
        let failure = tally.failure();
        let Self { group, part, .. } = self;
        let line = Line { group, part, tally, seconds: begin.elapsed().as_secs_f64() };
        self.report.lock().unwrap_or_else(PoisonError::into_inner).lines.push(line);
        failure.map_or(Ok(()), |text| Err(text.into()))
    }
}

/// Prepares all groups in the background: those that take long first, the others in order.
fn prepare(mut tasks: Vec<(bool, Prepare, Arc<PreparedRun>)>) {
    tasks.sort_by_key(|(heavy, ..)| !heavy);
    let tasks = Arc::new(Mutex::new(tasks.into_iter()));
    // One core is left to the GPU.
    let threads = thread::available_parallelism().map_or(1, |cores| (cores.get() - 1).max(1));
    for _ in 0..threads {
        let tasks = Arc::clone(&tasks);
        thread::spawn(move || {
            loop {
                let task = tasks.lock().unwrap_or_else(PoisonError::into_inner).next();
                let Some((_, prepare, cell)) = task else { return };
                // A panic must not leave the tests waiting.
                let prepared = thread::spawn(prepare).join();
                let prepared =
                    prepared.unwrap_or_else(|_| Err(anyhow::anyhow!("a panic, see above")));
                let _ = cell.set(prepared.map(Mutex::new).map_err(|error| format!("{error:#}")));
            }
        });
    }
}

/// A check under the watchdog, also if it panics.
struct Watched<'a>(&'a Sender<Option<String>>);

impl<'a> Watched<'a> {
    fn new(watch: &'a Sender<Option<String>>, name: String) -> Self {
        let _ = watch.send(Some(name));
        Self(watch)
    }
}

impl Drop for Watched<'_> {
    fn drop(&mut self) {
        let _ = self.0.send(None);
    }
}

/// A kernel that never ends can't be stopped: if the name of a check was sent and then nothing for
/// `limit` seconds, the program ends, after writing the report.
fn watchdog(
    limit: u64,
    report: Arc<Mutex<Report>>,
    finish: Arc<impl Fn(&Report) + Send + Sync + 'static>,
) -> Sender<Option<String>> {
    let (sender, receiver): (_, Receiver<Option<String>>) = channel();
    thread::spawn(move || {
        while let Ok(name) = receiver.recv() {
            let Some(group) = name else { continue };
            let received = receiver.recv_timeout(Duration::from_secs(limit));
            if let Err(RecvTimeoutError::Timeout) = received {
                println!("HANGS: {group}: nothing for {limit} s; the run ends here");
                let mut report = report.lock().unwrap_or_else(PoisonError::into_inner);
                let mut tally = Tally::default();
                tally.fail("hangs", format!("nothing for {limit} s"));
                report.lines.push(Line { group, part: "", tally, seconds: limit as f64 });
                finish(&report);
                std::process::exit(1);
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

    fn options(only: &[&str]) -> Options {
        let only = only.iter().map(|text| text.to_string()).collect();
        Options { libtest: Arguments::default(), only, limit: 1, references: true }
    }

    #[test]
    fn only_selected_groups_remain() {
        let names = |options: Options| {
            let mut groups = vec![group("room f32", &["naive", "peak"]), group("devices", &[""])];
            options.filter(&mut groups);
            groups.iter().flat_map(|g| g.parts.iter().map(|p| g.test_name(p))).collect::<Vec<_>>()
        };
        assert_eq!(names(options(&[])), ["room f32, naive", "room f32, peak", "devices"]);
        assert_eq!(names(options(&["peak"])), ["room f32, peak"]);
        assert_eq!(names(options(&["dev", "f32, n"])), ["room f32, naive", "devices"]);
        assert!(names(options(&["lidar"])).is_empty());
        let libtest = Arguments { skip: vec!["peak".into()], ..Arguments::default() };
        assert_eq!(names(Options { libtest, ..options(&["room"]) }), ["room f32, naive"]);
    }

    #[test]
    fn preparation_may_fail_or_panic() {
        let references = |groups| run(groups, options(&[]), Report::new(String::new()), |_| {});
        assert!(references(vec![group("good", &["peak"])]).unwrap());
        let failing = || {
            Group::new("bad", &["peak"], || {
                Err::<fn(&Gpu, &str, &mut Tally) -> Result<()>, _>(anyhow::anyhow!("no"))
            })
        };
        assert!(!references(vec![group("good", &["peak"]), failing()]).unwrap());
        let panics = Group::new("bad", &["peak"], || -> Result<Run> { panic!("no") });
        assert!(!references(vec![panics]).unwrap());
    }

    /// Every name is unique, so that records can be compared.
    #[test]
    fn names_are_unique() {
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
