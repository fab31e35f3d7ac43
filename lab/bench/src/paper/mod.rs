//! `farpoint-lab paper`: the figures and tables of the RadiusFPS paper (arXiv 2606.06255), measured
//! here, in two steps. Measuring: a figure is a file that measures a cloud at a time into rows of a
//! table ([`mod@figure`]); rows are saved in the output folder immediately ([`state`]), so that an
//! interrupted run can be resumed. Reporting: plots, page and verdicts are made from the tables alone
//! ([`record`], [`report`]), in the same run or later.

mod claim;
mod clouds;
mod coverage;
mod cuda;
mod figure;
mod html;
mod prunings;
mod published;
mod quality;
mod record;
mod report;
mod rule;
mod sizes;
mod spacing;
mod state;
mod statements;
mod table;
mod timed;
mod updates;
mod voxels;

use crate::args::{self, Device, Which};
use crate::machine::Machine;
use crate::timing::Effort;
use anyhow::{Context as _, Result, anyhow, ensure};
use clouds::Cloud;
use farpoint_cli::output::{self, count, seconds};
use figure::{Context, Figure};
use indicatif::{ProgressBar, ProgressStyle};
use record::{About, Part, Record};
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

/// Returns these figures, or all, in the paper's order.
fn figures(only: &[Which]) -> Vec<Box<dyn Figure>> {
    let all = <Which as clap::ValueEnum>::value_variants();
    let is_selected = |which: &&Which| only.is_empty() || only.contains(which);
    all.iter().filter(is_selected).map(|which| figure(*which)).collect()
}

pub(crate) fn run(args: &args::Paper) -> Result<()> {
    let folder = &args.output;
    let record = match &args.from {
        Some(from) => Record::read(from, &args.only)?,
        None => measured(args)?,
    };
    made(folder)?;
    record.write(folder)?;
    report::write(&record, folder)?;
    let page = folder.join("report.html");
    output::print(&format!("{}\nwrote {}\n", statements::summary(&record), page.display()))
}

fn made(folder: &Path) -> Result<()> {
    fs::create_dir_all(folder).with_context(|| {
        format!("--output {}: can't be made; name another folder", folder.display())
    })
}

/// Measures the rows that are missing in the output folder.
fn measured(args: &args::Paper) -> Result<Record> {
    let context = context(args)?;
    clouds::check(&args.data)?;
    made(&args.output)?;
    let clouds = clouds::all(&args.data, args.quick)?;
    output::print(&format!("{}\n{}", context.machine, clouds::described(&clouds)))?;
    let mut state = State::open(&args.output)?;
    let figures = figures(&args.only);
    let progress = progress(figures.len() * clouds.len());
    let mut parts = Vec::new();
    for figure in figures {
        let start = Instant::now();
        let (part, kept) = measure(&context, &clouds, figure, &mut state, &progress)?;
        part.write(&args.output)?;
        let line = summary(&part, clouds.len(), kept, start.elapsed().as_secs_f64());
        progress.suspend(|| output::print(&line))?;
        parts.push(part);
    }
    progress.finish_and_clear();
    let about = |cloud: &Cloud| About {
        name: cloud.name().to_owned(),
        points: cloud.points().len(),
        note: cloud.note.clone(),
    };
    Ok(Record { machine: context.machine, clouds: clouds.iter().map(about).collect(), parts })
}

/// Returns device and effort, or an error in the arguments.
fn context(args: &args::Paper) -> Result<Context> {
    ensure!(
        args.gpu.is_none() || args.device != Device::Cpu,
        "--gpu is for --device cuda or auto, not cpu"
    );
    let open = || farpoint_cuda::Gpu::new(args.gpu.unwrap_or(0));
    let gpu =
        match args.device {
            Device::Cpu => None,
            Device::Auto => open().ok(),
            Device::Cuda => Some(open().map_err(|error| {
                anyhow!("--device cuda: {error}; use --device cpu or remove it")
            })?),
        };
    let effort = match (args.quick, gpu.is_some()) {
        (true, _) => Effort { warm: 0, runs: 3, budget: 0.02 },
        (false, true) => Effort { warm: 0, runs: 3, budget: 0.4 },
        (false, false) => Effort { warm: 0, runs: 9, budget: 1.5 },
    };
    let this_machine = Machine::current();
    let machine = match &gpu {
        Some(gpu) => format!("{}; {this_machine}", gpu.properties()),
        None => this_machine.to_string(),
    };
    Ok(Context { gpu, effort, quick: args.quick, machine, identity: this_machine.identity() })
}

/// A progress bar on stderr; hidden if that is no terminal.
fn progress(clouds: usize) -> ProgressBar {
    let bar = ProgressBar::new(clouds as u64);
    let template = "{msg} [{bar:40}] {pos}/{len} clouds measured, {eta} left";
    match ProgressStyle::with_template(template) {
        Ok(style) => bar.with_style(style),
        Err(_) => bar,
    }
}

/// Returns all rows of a figure, and the number of clouds with saved rows; the others are measured.
fn measure(
    context: &Context,
    clouds: &[Cloud],
    figure: Box<dyn Figure>,
    state: &mut State,
    progress: &ProgressBar,
) -> Result<(Part, usize)> {
    let mut table = Table::new(figure.head());
    let (mut foot, mut kept) = (context.machine.clone(), 0);
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
                let unit = Unit { settings, machine: context.machine.clone(), rows };
                state.keep(key, unit.clone())?;
                unit
            }
        };
        foot = unit.machine;
        table.rows.extend(unit.rows);
        progress.inc(1);
    }
    Ok((Part { figure, table, foot }, kept))
}

fn summary(part: &Part, clouds: usize, kept: usize, took: f64) -> String {
    let measured = count(clouds - kept);
    let kept = if kept > 0 { format!(", {} kept", count(kept)) } else { String::new() };
    let (name, title) = (part.figure.name(), part.figure.title());
    format!("{name:<9} {title}: {measured} measured{kept}, {}\n", seconds(took))
}
