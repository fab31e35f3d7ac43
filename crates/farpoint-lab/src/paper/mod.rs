//! `farpoint-lab paper`: the figures and tables of the RadiusFPS paper (arXiv 2606.06255), measured
//! here. A figure is a file: it measures a cloud at a time into rows of a table, and makes plot,
//! readable table and findings from the table alone ([`mod@figure`]). Rows are kept in the output
//! folder as they come ([`state`]), so that an interrupted run goes on; [`html`] puts all on a page.

mod clouds;
mod cuda;
mod figure;
mod html;
mod prunings;
mod published;
mod quality;
mod sizes;
mod spacing;
mod state;
mod table;
mod timed;
mod updates;
mod voxels;

use crate::args::{self, Device, Which};
use crate::machine::Machine;
use crate::timing::Effort;
use anyhow::{Context as _, Result, anyhow, ensure};
use clouds::Cloud;
use farpoint_cli::csv::csv;
use farpoint_cli::output::{self, count, seconds};
use figure::{Context, Figure};
use indicatif::{ProgressBar, ProgressStyle};
use state::{State, Unit};
use std::fs;
use std::path::Path;
use std::time::Instant;
use table::Table;

fn figure(which: Which) -> Box<dyn Figure> {
    match which {
        Which::Figure2 => Box::new(spacing::Spacings),
        Which::Figure3 => Box::new(updates::Updates),
        Which::Table4 => Box::new(prunings::Prunings),
        Which::Figure14 => Box::new(sizes::Sizes),
        Which::Figure15 => Box::new(voxels::Voxels),
        Which::Table5 => Box::new(quality::Quality),
    }
}

/// A figure whose rows are all there.
struct Done {
    figure: Box<dyn Figure>,
    table: Table,
    /// Where and when it was measured.
    foot: String,
    /// Clouds measured now, and those kept from a run before.
    measured: usize,
    kept: usize,
    seconds: f64,
}

pub(crate) fn run(args: &args::Paper) -> Result<()> {
    let context = context(args)?;
    clouds::check(&args.data)?;
    let folder = &args.output;
    fs::create_dir_all(folder).with_context(|| {
        format!("--output {}: can't be made; name another folder", folder.display())
    })?;
    let clouds = clouds::all(&args.data, args.quick)?;
    output::print(&format!("{}\n{}", context.machine, clouds::described(&clouds)))?;
    let mut state = State::open(folder)?;
    let all = <Which as clap::ValueEnum>::value_variants();
    let wanted = |which: &&Which| args.only.is_empty() || args.only.contains(which);
    let figures: Vec<_> = all.iter().filter(wanted).map(|which| figure(*which)).collect();
    let progress = progress(figures.len() * clouds.len());
    let mut done = Vec::new();
    for figure in figures {
        let finished = measure(&context, &clouds, figure, &mut state, &progress)?;
        write(folder, &finished)?;
        progress.suspend(|| output::print(&said(&finished)))?;
        done.push(finished);
    }
    progress.finish_and_clear();
    let page = html::page(&context, &clouds, &done)?;
    let path = folder.join("report.html");
    output::write_file(&path, page.as_bytes())?;
    output::print(&format!("wrote {}\n", path.display()))
}

/// Where to run and how long, or what is wrong with that.
fn context(args: &args::Paper) -> Result<Context> {
    ensure!(
        args.gpu.is_none() || args.device != Device::Cpu,
        "--gpu is for --device cuda or auto, not cpu"
    );
    let open = || farpoint_cuda::Gpu::new(args.gpu.unwrap_or(0));
    let gpu = match args.device {
        Device::Cpu => None,
        Device::Auto => open().ok(),
        Device::Cuda => Some(open().map_err(|error| {
            anyhow!("--device cuda: {error}; use --device cpu or leave it out")
        })?),
    };
    let effort = match (args.quick, gpu.is_some()) {
        (true, _) => Effort { warm: 0, runs: 3, budget: 0.02 },
        (false, true) => Effort { warm: 0, runs: 3, budget: 0.4 },
        (false, false) => Effort { warm: 0, runs: 9, budget: 1.5 },
    };
    let here = Machine::here();
    let machine = match &gpu {
        Some(gpu) => format!("{}; {here}", gpu.properties()),
        None => here.to_string(),
    };
    Ok(Context { gpu, effort, quick: args.quick, machine, identity: here.identity() })
}

/// A bar on stderr; nothing where that is no terminal.
fn progress(clouds: usize) -> ProgressBar {
    let bar = ProgressBar::new(clouds as u64);
    let template = "{msg} [{bar:40}] {pos}/{len} clouds measured, {eta} left";
    match ProgressStyle::with_template(template) {
        Ok(style) => bar.with_style(style),
        Err(_) => bar,
    }
}

/// All rows of a figure: those kept from before, the others measured now.
fn measure(
    context: &Context,
    clouds: &[Cloud],
    figure: Box<dyn Figure>,
    state: &mut State,
    progress: &ProgressBar,
) -> Result<Done> {
    let start = Instant::now();
    let mut table = Table::new(figure.head());
    let (mut foot, mut measured, mut kept) = (context.machine.clone(), 0, 0);
    for cloud in clouds {
        progress.set_message(format!("{}, {}", figure.name(), cloud.name()));
        let key = format!("{} {}", figure.name(), cloud.name());
        let settings = format!("{} {:016x}", context.settings(), cloud.fingerprint);
        let unit = match state.find(&key, &settings) {
            Some(unit) => {
                kept += 1;
                unit
            }
            None => {
                let rows = figure.measure(context, cloud);
                let rows = rows.map_err(|error| anyhow!("{key}: {error}"))?;
                measured += 1;
                let unit = Unit { settings, machine: context.machine.clone(), rows };
                state.keep(key, unit.clone())?;
                unit
            }
        };
        foot = unit.machine;
        table.rows.extend(unit.rows);
        progress.inc(1);
    }
    let seconds = start.elapsed().as_secs_f64();
    Ok(Done { figure, table, foot, measured, kept, seconds })
}

/// The CSV and the plot.
fn write(folder: &Path, done: &Done) -> Result<()> {
    let name = done.figure.name();
    let table = csv(done.table.head, &done.table.rows);
    output::write_file(&folder.join(format!("{name}.csv")), table.as_bytes())?;
    let plot = done.figure.plot(&done.table, &done.foot).svg()?;
    output::write_file(&folder.join(format!("{name}.svg")), plot.as_bytes())
}

fn said(done: &Done) -> String {
    let Done { figure, measured, kept, .. } = done;
    let kept = if *kept > 0 { format!(", {} kept", count(*kept)) } else { String::new() };
    format!(
        "{:<9} {}: {} measured{kept}, {}\n",
        figure.name(),
        figure.title(),
        count(*measured),
        seconds(done.seconds)
    )
}
