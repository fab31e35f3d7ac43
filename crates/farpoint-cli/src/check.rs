//! Checks before an input is read: options that contradict each other, and names that can't be
//! written. Numbers out of range are found by the library.

mod outputs;

pub(crate) use outputs::{file, outputs, standing};

use crate::args::{
    self, Approximate, CellSize, Count, Device, DeviceOptions, Keep, Length, Method, Report, Run,
    SampleOutput, StartAt, Writing,
};
use crate::output::count;
use anyhow::{Result, anyhow, bail, ensure};
use farpoint::{Algorithm, Amount, DeviceKind, approximate};
use farpoint_io::{Copc, memory};
use std::path::{Path, PathBuf};

/// Checks the sampling options of `farpoint sample`, whatever the files.
pub(crate) fn sample_options(args: &args::Sample) -> Result<()> {
    let algorithm = args.run.algorithm;
    args.filters.filter().map_err(|error| anyhow!(error))?;
    let name = algorithm.name();
    if let Some(option) = grid_option(args).filter(|_| name != Method::GRID.name()) {
        bail!("{option} is for --algorithm grid, not {name}; remove it");
    }
    match algorithm {
        Method::Exact(algorithm) => exact(&args.run, &args.place, algorithm)?,
        Method::Approximate(method) => approximate(args, method)?,
    }
    if let Some(CellSize(size)) = args.amount.cell {
        size.into_iter().try_for_each(|size| amount(Amount::Cell(size.in_meters())))?;
    }
    amount(args.amount.requested()?.amount(1.0))
}

/// Checks the outputs and reports of `farpoint sample`, with these inputs.
pub(crate) fn sample_outputs(args: &args::Sample, inputs: &[PathBuf]) -> Result<()> {
    let inputs = &inputs.iter().map(PathBuf::as_path).collect::<Vec<_>>()[..];
    let SampleOutput { output, indices, writing, sorted } = &args.output;
    ensure!(
        !sorted || output.is_some() || indices.is_some(),
        "--sorted has no effect without --output or --indices; add one, or remove it"
    );
    let stdout = Path::new("-");
    let to_stdout = [output.as_deref() == Some(stdout), indices.as_deref() == Some(stdout)];
    ensure!(
        usize::from(args.report.prints())
            + to_stdout.iter().filter(|to_stdout| **to_stdout).count()
            <= 1,
        "only one of --output, --indices and --json can go to stdout; write the others to files"
    );
    match output {
        Some(path) if matches!(args.run.algorithm, Method::Exact(_)) => {
            farthest_first(path, inputs, writing)?;
        }
        Some(path) => cloud(path, inputs, writing)?,
        None => unused(writing, "--output")?,
    }
    if let Some(path) = indices {
        file("--indices", path, &["npy"])?;
    }
    let read = [args.filters.file(), args.run.selection.file(), writing.file()];
    let own = [("--output", output.as_deref()), ("--indices", indices.as_deref())];
    outputs(&args.report, &own, inputs, &read)
}

/// Checks the sampling options of `farpoint order`, whatever the files.
pub(crate) fn order_options(args: &args::Order) -> Result<()> {
    args.filters.filter().map_err(|error| anyhow!(error))?;
    exact_only(&args.run, &args.place)
}

/// Checks the outputs and reports of `farpoint order`, with these inputs.
pub(crate) fn order_outputs(args: &args::Order, inputs: &[PathBuf]) -> Result<()> {
    let inputs = &inputs.iter().map(PathBuf::as_path).collect::<Vec<_>>()[..];
    let args::OrderOutput { output: Some(output), writing } = &args.output else { return Ok(()) };
    farthest_first(output, inputs, writing)?;
    page_output(&args.page)?;
    stdout_once(output, &args.report)?;
    let read = [args.filters.file(), args.run.selection.file(), writing.file()];
    let own = [("--output", Some(output.as_path())), ("--view", args.page.view.as_deref())];
    outputs(&args.report, &own, inputs, &read)
}

/// Checks the map and the report of `farpoint info`.
pub(crate) fn info(args: &args::Info) -> Result<()> {
    if let Some(path) = &args.map {
        ensure!(path != Path::new("-"), "--map -: a map can't go to stdout; set a file name");
        file("--map", path, &["png"])?;
    }
    outputs(&args.report, &[("--map", args.map.as_deref())], &[&args.input], &[])
}

/// Maximum number of points of a page.
const MAX_PAGE_POINTS: usize = 5_000_000;

/// Checks all options of `farpoint view`.
pub(crate) fn view(args: &args::View) -> Result<()> {
    exact_only(&args.run, &args.place)?;
    page(args.points)?;
    file("--output", &args.output, &["html", "htm"])?;
    stdout_once(&args.output, &args.report)?;
    let read = [args.filters.file(), args.run.selection.file()];
    outputs(&args.report, &[("--output", Some(&args.output))], &[&args.input.input], &read)
}

/// Checks that a page may hold this many points.
fn page(points: Count) -> Result<()> {
    ensure!(
        (1..=MAX_PAGE_POINTS).contains(&points.0),
        "--points {}: a page holds 1 to {} points",
        count(points.0),
        count(MAX_PAGE_POINTS)
    );
    Ok(())
}

/// Checks the page that a command writes beside its output.
pub(crate) fn page_output(options: &args::PageOptions) -> Result<()> {
    let Some(path) = &options.view else { return Ok(()) };
    page(options.max_points())?;
    ensure!(
        path != Path::new("-"),
        "--view -: a page beside another output can't go to stdout; set a file name"
    );
    file("--view", path, &["html", "htm"])
}

/// Refuses options for several files if there is one.
pub(crate) fn one_file(many: &args::Many) -> Result<()> {
    let allowed = many.merge.then_some("--recursive");
    match many.set_option().filter(|option| allowed != Some(*option)) {
        Some(option) if many.merge => {
            bail!(
                "{option} cannot be used with --merge, which reads the files as one cloud; remove one"
            )
        }
        Some(option) => bail!("{option} is for several files; add --output-dir, or remove it"),
        None => Ok(()),
    }
}

/// Refuses amounts that no cloud can have.
pub(crate) fn amount(amount: Amount) -> Result<()> {
    ensure!(
        amount != Amount::Ratio(0.0),
        "--ratio 0: chooses no point; use a ratio above 0 (-n 0 writes a file without points)"
    );
    let Err(error) = amount.limit(usize::MAX) else { return Ok(()) };
    match amount {
        Amount::Ratio(value) if value > 1.0 && value <= 100.0 => {
            bail!("--ratio {value}: {error}; {value} percent are written {value}%")
        }
        Amount::Ratio(value) => bail!("--ratio {value}: {error}"),
        Amount::Spacing(value) => bail!("--spacing {value}: {error}"),
        Amount::Cell(value) => bail!("--cell {value}: {error}"),
        _ => bail!("{error}"),
    }
}

/// Maximum number of points of a cloud.
const MAX_POINTS: usize = u32::MAX as usize - 1;

/// Refuses to create more points than a cloud may have, or than fit in memory with their row numbers.
pub(crate) fn points(points: usize) -> Result<()> {
    ensure!(
        points <= MAX_POINTS,
        "{} points are too many for a cloud (at most {}); request fewer",
        count(points),
        count(MAX_POINTS)
    );
    let bytes = points * (size_of::<[f32; 3]>() + size_of::<usize>());
    ensure!(
        memory::available().is_none_or(|free| bytes as u64 <= free),
        "{} points need more memory than is free; request fewer",
        count(points)
    );
    Ok(())
}

/// Checks that a cloud can be written to `path` with these options.
pub(crate) fn cloud(path: &Path, inputs: &[&Path], writing: &Writing) -> Result<()> {
    ensure!(
        !writing.is_copc(path),
        "{}: COPC has levels, which come from a farthest-first order; use 'farpoint order', or 'sample' with an \
         exact algorithm",
        path.display()
    );
    if let Some(option) = writing.copc_option() {
        bail!("{option} is for COPC; use an output that ends in .copc.laz, or remove it");
    }
    cloud_output(path, inputs, writing, None)
}

/// Like [`cloud`], of points in farthest-first order: [`Writing::levels`] are written as COPC.
fn farthest_first(path: &Path, inputs: &[&Path], writing: &Writing) -> Result<()> {
    if !writing.is_copc(path) {
        return cloud(path, inputs, writing);
    }
    cloud_output(path, inputs, writing, Some(writing.levels()?.unwrap_or_else(|| Copc::new([]))))
}

fn cloud_output(
    path: &Path,
    inputs: &[&Path],
    writing: &Writing,
    levels: Option<Copc>,
) -> Result<()> {
    let options = writing.options(writing.scale.map(Length::in_meters)).copc(levels);
    let format = farpoint_io::check_output(path, inputs, &options)?;
    let error = writing.check(format).err();
    let stdout = Path::new("-");
    if error.is_some() && path == stdout && inputs == [stdout] && options.format.is_none() {
        bail!(
            "{}: add --format, because stdout has no name",
            writing.set_option().unwrap_or_default()
        );
    }
    error.map_or(Ok(()), |error| Err(anyhow!(error)))
}

/// Refuses options of an output that is not requested.
pub(crate) fn unused(writing: &Writing, output: &str) -> Result<()> {
    match writing.set_option() {
        Some(option) => {
            bail!("{option} is for the points written; add {output}, or remove it")
        }
        None => Ok(()),
    }
}

/// Checks that a folder for outputs exists. Only folders for outputs alone are created: those of --output-dir and
/// of 'man'.
pub(crate) fn folder(path: &Path) -> Result<()> {
    let name = path.display();
    ensure!(
        path.is_dir(),
        "{name}: the folder does not exist; create it first, or write elsewhere"
    );
    Ok(())
}

/// Refuses an output and an object that both go to stdout.
pub(crate) fn stdout_once(output: &Path, report: &Report) -> Result<()> {
    ensure!(
        !(report.prints() && output == Path::new("-")),
        "only one of --output and --json can go to stdout; write the other to a file"
    );
    Ok(())
}

/// Refuses a device that is absent, or cannot do the job, before any work. `job` names it
/// in messages: `--algorithm tree`; `supports` checks a kind of device by the library's rules.
pub(crate) fn device(
    place: &DeviceOptions,
    job: &str,
    supports: &dyn Fn(DeviceKind) -> Result<(), farpoint::Error>,
) -> Result<()> {
    let check_kind = |kind| supports(kind).map_err(|error| anyhow!("{job}: {error}"));
    let placement = place.place();
    ensure!(
        place.gpu.is_none() || place.device.card.is_none(),
        "--device cuda:N and --gpu both name the GPU; remove one"
    );
    match place.device.kind {
        Device::Cpu => {
            ensure!(place.gpu.is_none(), "--gpu is for --device cuda or auto, not cpu; remove it");
            check_kind(DeviceKind::Cpu)
        }
        Device::Cuda => {
            check_kind(DeviceKind::Gpu)?;
            if let Some(option) = placement.cpu_option() {
                bail!("{option} is for the CPU; remove it, or use --device cpu");
            }
            placement
                .present()
                .map_err(|error| anyhow!("--device cuda: {error}; use --device cpu or remove it"))
        }
        Device::Auto if supports(DeviceKind::Cpu).is_err() => {
            // If neither device can do it, the CPU's reason is the relevant one.
            if supports(DeviceKind::Gpu).is_err() {
                return check_kind(DeviceKind::Cpu);
            }
            if let Some(option) = placement.cpu_option() {
                bail!("{option} is for the CPU, and {job} for GPUs");
            }
            let advice = "choose another one for the CPU";
            placement.present().map_err(|error| anyhow!("{job} is for GPUs: {error}; {advice}"))
        }
        Device::Auto if place.gpu.is_some() => {
            placement.present().map_err(|error| anyhow!("--gpu: {error}; remove it to use the CPU"))
        }
        Device::Auto => Ok(()),
    }
}

/// Refuses samplers that have no order.
fn exact_only(run: &Run, place: &DeviceOptions) -> Result<()> {
    match run.algorithm {
        Method::Exact(algorithm) => exact(run, place, algorithm),
        Method::Approximate(method) => bail!(
            "--algorithm {method}: an approximate sampler, which can't put a cloud into \
             farthest-first order; choose an exact algorithm"
        ),
    }
}

fn exact(run: &Run, place: &DeviceOptions, algorithm: Algorithm) -> Result<()> {
    let job = format!("--algorithm {algorithm}");
    device(place, &job, &|kind| algorithm.check(kind))?;
    ensure!(
        run.seed.is_none() || run.start == Some(StartAt::Random),
        "--seed is for a random start; add --start random, or remove it"
    );
    Ok(())
}

/// Chooses the grid if an option is set that is for it alone, and no sampler is chosen.
pub(crate) fn implied_sampler(args: &mut args::Sample) {
    if args.run.algorithm == Method::Exact(Algorithm::Auto) && grid_option(args).is_some() {
        args.run.algorithm = Method::GRID;
    }
}

/// Returns the option that is set of those for the grid alone, if any.
fn grid_option(args: &args::Sample) -> Option<&'static str> {
    let Approximate { keep_point, min_points } = &args.approximate;
    let options = [
        (args.amount.cell.is_some(), "--cell"),
        (keep_point.is_some(), "--keep-point"),
        (min_points.is_some(), "--min-points"),
    ];
    options.into_iter().find(|(is_set, _)| *is_set).map(|(_, option)| option)
}

fn approximate(args: &args::Sample, method: approximate::Method) -> Result<()> {
    let (run, name) = (&args.run, method.name());
    let exact_only = [
        (args.amount.spacing.is_some(), "--spacing"),
        (run.start.is_some(), "--start"),
        (args.stats, "--stats"),
        (args.place.device.kind == Device::Cuda, "--device cuda"),
        (args.place.gpu.is_some(), "--gpu"),
        (args.place.simd.is_some(), "--simd"),
    ];
    if let Some((_, option)) = exact_only.into_iter().find(|(is_set, _)| *is_set) {
        bail!("{option} is for exact algorithms, and --algorithm {name} is approximate; remove it");
    }
    ensure!(
        args.approximate.min_points.is_none() || args.amount.cell.is_some(),
        "--min-points is for cells of a size; use --cell in place of a number of points, or remove it"
    );
    let keep = args.approximate.keep_point;
    ensure!(
        run.seed.is_none() || name == "random" || keep == Some(Keep::Random),
        "--seed is for --algorithm random, --keep-point random and --start random; remove it"
    );
    if keep == Some(Keep::Centroid) {
        ensure!(
            args.output.indices.is_none(),
            "--keep-point centroid makes new points, which have no rows for --indices; remove it"
        );
        ensure!(
            !args.input.rows.f32,
            "--f32 shifts the cloud, and --keep-point centroid would write shifted positions; remove one"
        );
    }
    Ok(())
}
