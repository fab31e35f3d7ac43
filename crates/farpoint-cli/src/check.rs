//! What can be refused before an input is read: options that contradict each other, and names that
//! can't be written. Numbers out of range are found by the library.

use crate::args::{self, Approximate, Device, Keep, Method, Run, StartAt};
use crate::device;
use crate::output::count;
use anyhow::{Result, anyhow, bail, ensure};
use farpoint::{Algorithm, Amount, approximate};
use farpoint_io::WriteOptions;
use std::path::Path;

/// All of `farpoint sample`.
pub(crate) fn sample(args: &args::Sample) -> Result<()> {
    let Run { sampler, .. } = &args.run;
    unfit(args, sampler.method.name())?;
    match sampler.method {
        Method::Exact(algorithm) => exact(&args.run, algorithm)?,
        Method::Approximate(method) => approximate(args, method)?,
    }
    amount(args.amount())?;
    let stdout = Path::new("-");
    let taken = [args.output.as_deref() == Some(stdout), args.indices.as_deref() == Some(stdout)];
    ensure!(
        usize::from(args.json) + taken.iter().filter(|taken| **taken).count() <= 1,
        "only one of --output, --indices and --json can go to stdout; write the others to files"
    );
    if let Some(path) = &args.output {
        output(path, &args.input.input)?;
    }
    if let Some(path) = &args.indices {
        indices(path, args)?;
    }
    Ok(())
}

/// All of `farpoint order`.
pub(crate) fn order(args: &args::Order) -> Result<()> {
    match args.run.sampler.method {
        Method::Exact(algorithm) => exact(&args.run, algorithm)?,
        Method::Approximate(method) => bail!(
            "--algorithm {method}: an approximate sampler, which can't put a cloud into \
             farthest-first order; choose an exact algorithm"
        ),
    }
    output(&args.output, &args.input.input)?;
    ensure!(
        !(args.json && args.output == Path::new("-")),
        "only one of --output and --json can go to stdout; write the points to a file"
    );
    Ok(())
}

/// Amounts that no cloud can give.
pub(crate) fn amount(amount: Amount) -> Result<()> {
    let Err(error) = amount.limit(usize::MAX) else { return Ok(()) };
    match amount {
        Amount::Ratio(given) => bail!("--ratio {given}: {error}"),
        Amount::Spacing(given) => bail!("--spacing {given}: {error}"),
        Amount::Cell(given) => bail!("--cell {given}: {error}"),
        _ => bail!("{error}"),
    }
}

/// As many points as a cloud may have.
const MOST: usize = u32::MAX as usize - 1;

/// Refuses what can't be an index, or won't fit in memory.
pub(crate) fn points(points: usize) -> Result<()> {
    ensure!(
        points <= MOST && Vec::<[f32; 3]>::new().try_reserve_exact(points).is_ok(),
        "{} points are too many for this machine or for a cloud (at most {}); ask for fewer",
        count(points),
        count(MOST)
    );
    Ok(())
}

/// Whether the output can be written, and is not the input.
pub(crate) fn output(path: &Path, input: &Path) -> Result<()> {
    farpoint_io::check_output(path, &[input], &WriteOptions::default())?;
    Ok(())
}

fn indices(path: &Path, args: &args::Sample) -> Result<()> {
    if path == Path::new("-") {
        return Ok(());
    }
    let name = path.display();
    let npy = path.extension().is_some_and(|extension| extension.eq_ignore_ascii_case("npy"));
    ensure!(npy, "--indices {name}: indices are written as .npy; give a name that ends so");
    ensure!(
        args.output.as_deref() != Some(path),
        "--indices {name}: --output names the same file; give two names"
    );
    output(path, &args.input.input)
}

fn exact(run: &Run, algorithm: Algorithm) -> Result<()> {
    let what = format!("--algorithm {algorithm}");
    device::check(&run.place, &what, &|kind| algorithm.check(kind))?;
    ensure!(
        run.seed.is_none() || run.start == Some(StartAt::Random),
        "--seed is for a random start; add --start random, or leave it out"
    );
    Ok(())
}

/// Refuses options of other approximate samplers than this one.
fn unfit(args: &args::Sample, name: &str) -> Result<()> {
    let Approximate { keep, bits, window, npdu_order, estimator, first_stage } = &args.approximate;
    let options = [
        (args.cell.is_some(), "--cell", "grid"),
        (keep.is_some(), "--keep", "grid"),
        (bits.is_some(), "--bits", "morton"),
        (window.is_some(), "--window", "npdu"),
        (npdu_order.is_some(), "--npdu-order", "npdu"),
        (estimator.is_some(), "--estimator", "fastpoint"),
        (first_stage.is_some(), "--first-stage", "fastpoint"),
    ];
    match options.into_iter().find(|(given, _, of)| *given && *of != name) {
        Some((_, option, of)) => {
            Err(anyhow!("{option} is for --algorithm {of}, not {name}; leave it out"))
        }
        None => Ok(()),
    }
}

fn approximate(args: &args::Sample, method: approximate::Method) -> Result<()> {
    let (run, name) = (&args.run, method.name());
    let exact_only = [
        (args.spacing.is_some(), "--spacing"),
        (run.place.device == Device::Cuda, "--device cuda"),
        (run.place.gpu.is_some(), "--gpu"),
        (run.place.simd.is_some(), "--simd"),
    ];
    if let Some((_, option)) = exact_only.into_iter().find(|(given, _)| *given) {
        bail!(
            "{option} is for exact algorithms, and --algorithm {name} is approximate; leave it out"
        );
    }
    ensure!(
        run.start.is_none() || method.has_start(),
        "--start is for exact algorithms, npdu and fastpoint, and --algorithm {name} starts \
         nowhere; leave it out"
    );
    let keep = args.approximate.keep;
    let random_start = run.start == Some(StartAt::Random);
    ensure!(
        run.seed.is_none() || name == "random" || keep == Some(Keep::Random) || random_start,
        "--seed is for --algorithm random, --keep random and --start random; leave it out"
    );
    if keep == Some(Keep::Centroid) {
        ensure!(
            args.indices.is_none(),
            "--keep centroid makes new points, which have no rows for --indices; leave it out"
        );
        ensure!(
            !args.input.f32,
            "--f32 moves the cloud, and --keep centroid would write it there; leave one out"
        );
    }
    Ok(())
}
