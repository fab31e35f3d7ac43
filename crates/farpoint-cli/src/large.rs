//! `farpoint sample` of a file through the disk: where memory is limited, or too little is free.

mod needed;

use crate::args::{self, Device, Method, SampleOutput};
use crate::merged::About;
use crate::messages::{note, warn};
use crate::output::{count, number, seconds};
use crate::progress::Progress;
use crate::report::Files;
use crate::text::lines;
use crate::{input, messages, report, units};

use anyhow::{Result, anyhow, bail, ensure};
use farpoint::Algorithm;
use farpoint::backend::granted;
use farpoint_io::{Error, Filter, Scan, memory};
use farpoint_pipeline::disk::{Event, Limits, Outputs, Sampled};
use serde_json::{Value, json};
use std::path::Path;
use std::sync::OnceLock;

/// Share of the free memory that is taken where nobody says how much.
const FREE: f64 = 0.75;
/// A file smaller than this share of the free memory fits, however well it is compressed.
const SMALL: u64 = 200;

/// What a program does before memory is limited.
static BEFORE: OnceLock<fn()> = OnceLock::new();

/// Sets what the program does before it samples a file through the disk: its allocator must give free
/// memory back, or more is taken than was allowed.
pub fn before_large(prepare: fn()) {
    BEFORE.get_or_init(|| prepare);
}

/// A file that is sampled through the disk.
pub(crate) struct Large {
    pub(crate) scan: Scan,
    pub(crate) memory: u64,
    /// What is told of several files that are one cloud.
    pub(crate) about: Option<About>,
}

/// The file, if it is sampled through the disk: if a spool is given, or if it takes more memory than is
/// allowed or free.
pub(crate) fn chosen(args: &args::Sample) -> Result<Option<Large>> {
    let (path, options) = (&args.input.input, args.input.reading.options());
    limit(args)?;
    let Method::Exact(_) = args.run.sampler.method else { return Ok(None) };
    let allowed = args.memory.map(|size| size.0);
    if path == Path::new("-") {
        ensure!(
            args.spool.is_none(),
            "--spool is for files, and the input is a pipe; save it first"
        );
        return Ok(None);
    }
    if allowed.is_none() && args.spool.is_none() {
        return too_large(args);
    }
    let memory = allowed.map_or_else(most, Ok)?;
    let scan = match farpoint_pipeline::disk::open(path, &options, memory) {
        Err(error @ farpoint_pipeline::disk::Error::Memory { .. }) => {
            let whole = needed::of_header(args);
            if args.spool.is_none() && whole.is_some_and(|whole| whole <= memory) {
                return Ok(None);
            }
            return Err(needed::least(args, whole, error).into());
        }
        found => found?.filtered(filter(args)?)?,
    };
    if args.spool.is_none() && needed::of(args, &scan) <= memory {
        return Ok(None);
    }
    Ok(Some(Large { scan, memory, about: None }))
}

fn filter(args: &args::Sample) -> Result<Filter> {
    args.filters.filter().map_err(|wrong| anyhow!(wrong))
}

/// The memory that is set by options.
pub(crate) fn limit(args: &args::Sample) -> Result<Option<u64>> {
    let Method::Exact(_) = args.run.sampler.method else {
        let given = args.memory.is_some() || args.spool.is_some();
        ensure!(!given, "--memory and --spool are for exact algorithms; leave them out");
        return Ok(None);
    };
    ensure!(
        args.spool.is_some() || !args.resume,
        "--resume goes on with a run whose files are kept; give their folder by --spool"
    );
    match args.memory {
        Some(size) => Ok(Some(size.0)),
        None => args.spool.as_ref().map(|_| most()).transpose(),
    }
}

/// The memory for sampling through the disk, if this is how a cloud is sampled.
pub(crate) fn asked(args: &args::Sample, scan: &Scan) -> Result<Option<u64>> {
    let needed = needed::of(args, scan);
    if let Some(memory) = limit(args)? {
        return Ok((args.spool.is_some() || needed > memory).then_some(memory));
    }
    let exact = matches!(args.run.sampler.method, Method::Exact(_));
    let Some(free) = memory::available().filter(|free| exact && needed > *free) else {
        return Ok(None);
    };
    if asks_for_more(args).is_some() {
        return Ok(None);
    }
    let memory = (free as f64 * FREE) as u64;
    tell(scan.name(), needed, free, memory);
    Ok(Some(memory))
}

fn tell(name: &str, needed: u64, free: u64, memory: u64) {
    note(&format!(
        "{name}: would take about {} of memory, {} are free; sampled through the disk with {} (--memory and \
         --spool set how much and where)",
        bytes(needed),
        bytes(free),
        bytes(memory)
    ));
}

/// The memory that a run may take where nobody says how much.
fn most() -> Result<u64> {
    let free = memory::available();
    let free =
        free.ok_or_else(|| anyhow!("this system does not tell what is free; give --memory"))?;
    Ok((free as f64 * FREE) as u64)
}

/// The file if it does not fit in the memory that is free.
fn too_large(args: &args::Sample) -> Result<Option<Large>> {
    let path = &args.input.input;
    let (Some(free), Ok(about)) = (memory::available(), std::fs::metadata(path)) else {
        return Ok(None);
    };
    if !about.is_file() || about.len() < free / SMALL || asks_for_more(args).is_some() {
        return Ok(None);
    }
    // What can't be read in parts is left to those who read it whole, and say what is missing.
    let options = args.input.reading.options();
    let scan = match Scan::open(path, &options, Some(0)) {
        // Text is worth a pass over it only where it does not fit.
        Err(Error::NotInParts { needed, .. }) if needed > free => {
            Scan::open(path, &options, Some(free))
        }
        found => found,
    };
    let scan = match scan {
        Err(Error::NotInParts { .. }) => return Ok(None),
        found => found?.filtered(filter(args)?)?,
    };
    let needed = needed::of(args, &scan);
    if needed <= free {
        return Ok(None);
    }
    let memory = (free as f64 * FREE) as u64;
    tell(&input::name(path), needed, free, memory);
    Ok(Some(Large { scan, memory, about: None }))
}

fn bytes(size: u64) -> String {
    match size >> 30 {
        0 => format!("{} MiB", size >> 20),
        1..10 => format!("{:.1} GiB", size as f64 / f64::from(1u32 << 30)),
        large => format!("{large} GiB"),
    }
}

/// An option that sampling through the disk does not have.
fn asks_for_more(args: &args::Sample) -> Option<&'static str> {
    let algorithm = matches!(args.run.sampler.method, Method::Exact(Algorithm::Auto));
    let options = [
        (!algorithm, "--algorithm"),
        (args.place.device == Device::Cuda, "--device cuda"),
        (args.place.gpu.is_some(), "--gpu"),
        (args.place.simd.is_some(), "--simd"),
        (args.stats, "--stats"),
        (args.is_copc(), "COPC"),
    ];
    options.into_iter().find(|(given, _)| *given).map(|(_, option)| option)
}

/// Samples it, writes and reports.
pub(crate) fn run(args: &args::Sample, large: &Large) -> Result<()> {
    let name = large.scan.name().to_owned();
    let path = Path::new(&name);
    if let Some(option) = asks_for_more(args) {
        bail!("{name}: {option} is for clouds in memory; leave it out, or allow more --memory");
    }
    if let Some(prepare) = BEFORE.get() {
        prepare();
    }
    let scan = &large.scan;
    scan.warnings().iter().for_each(|warning| warn(&format!("{name}: {warning}")));
    let lengths = [("--spacing", args.wanted.spacing), ("--scale", args.output.writing.scale)];
    let unit = units::of(scan.head(), &name, &lengths)?;
    let (request, spool) = (args.request()?, args.spool.clone());
    let limits = Limits { memory: large.memory, spool, resume: args.resume };
    let (job, options) = (request.disk_job(unit, &limits), request.writing(unit));
    let SampleOutput { output, indices, .. } = &args.output;
    let points = output.as_deref().map(|path| (path, &options));
    let outputs = Outputs { points, indices: indices.as_deref() };
    let progress = Progress::start("sampling", &name);
    let sampled = on_threads(args, || {
        farpoint_pipeline::disk::sample(scan, &job, &outputs, &mut |event| {
            told(scan, args, event, &progress);
            true
        })
    });
    drop(progress);
    let whole = needed::of(args, scan);
    let sampled = sampled.map_err(|error| needed::least(args, Some(whole), error))?;
    for warning in &sampled.warnings {
        let to = output.as_deref().unwrap_or(path).display();
        warn(&format!("{to}: {warning}"));
    }
    report(args, large, &sampled)
}

/// On as many threads as were asked for.
fn on_threads<R: Send>(args: &args::Sample, work: impl FnOnce() -> R + Send) -> R {
    let threads = args.place.threads.map(usize::from);
    let pool = threads.and_then(|threads| granted(threads, rayon::ThreadPoolBuilder::new));
    match pool {
        Some(pool) => pool.install(work),
        None => work(),
    }
}

/// Passes on what a user should see.
fn told(scan: &Scan, args: &args::Sample, event: Event, progress: &Progress) {
    let name = scan.name();
    match event {
        Event::Surveyed { rows: all, bad, zeros, corner } => {
            let [all, mut bad, zeros] = [all, bad, zeros].map(|n| n as usize);
            if !scan.filter().is_empty() {
                let kept = all - bad;
                note(&format!("{name}: {} of {} rows are used", count(kept), count(all)));
                bad = 0;
            }
            input::tell(name, args.input.rows, [all, bad, zeros]);
            if let (true, Some(folder)) = (args.resume, &args.spool) {
                let folder = folder.display();
                note(&format!("{folder}: holds no run to go on with; this one begins anew"));
            }
            if let Some(corner) = corner {
                input::tell_narrowed(name, corner);
            }
        }
        Event::Spooled { tiles, resumed } => {
            let done = if resumed { "the interrupted run's" } else { "made" };
            messages::stage(&format!("spool of {} tiles", count(tiles)), done);
        }
        Event::Band { samples, wanted, .. } => {
            let (samples, wanted) = (samples as usize, wanted as usize);
            progress.count(samples.min(wanted), wanted);
        }
        _ => {}
    }
}

fn report(args: &args::Sample, large: &Large, sampled: &Sampled) -> Result<()> {
    let output = args.output.output.as_deref();
    let files = Files { input: Path::new(large.scan.name()), output };
    let mut object = as_json(&files, large, sampled);
    let mut table = as_table(&files, large, sampled);
    large.about.iter().for_each(|about| about.report(&mut object, &mut table));
    report::sampled(args, object, &table)
}

fn as_json(files: &Files<'_>, large: &Large, sampled: &Sampled) -> Value {
    let [read, sample, write] = sampled.seconds;
    json!({
        "input": input::name(files.input),
        "output": files.output.map(|path| path.display().to_string()),
        "points": sampled.points,
        "dropped": sampled.dropped,
        "samples": sampled.samples,
        "algorithm": "tiles",
        "exact": true,
        "device": "cpu",
        "covering_radius": sampled.covering_radius,
        "memory": large.memory,
        "tiles": sampled.tiles,
        "bands": sampled.bands,
        "spool_bytes": sampled.spooled,
        "read_seconds": read,
        "sample_seconds": sample,
        "write_seconds": write,
    })
}

fn as_table(files: &Files<'_>, large: &Large, sampled: &Sampled) -> String {
    let [read, sample, write] = sampled.seconds;
    let rows = [
        ("input", input::name(files.input)),
        ("points", count(sampled.points as usize)),
        ("left out", count(sampled.dropped as usize)),
        ("samples", count(sampled.samples as usize)),
        (
            "algorithm",
            format!("{} tiles through the disk, {}", count(sampled.tiles), bytes(large.memory)),
        ),
        ("covering radius", number(sampled.covering_radius)),
        ("read", seconds(read)),
        ("sample", seconds(sample)),
        ("write", seconds(write)),
    ];
    lines(&rows, 20)
}
